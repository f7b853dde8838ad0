"""Animation clips ("animation sets"): channels of keys for the joints and morph targets of one model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, Unpack

import numpy.typing as npt

from . import _block, _core
from ._arguments import check_model, instance, path_of, whole
from ._notebook import Shown
from ._text import quoted
from ._types import Array, Floats, Loop, PathLike
from .clips.channel import Channel, read_channels
from .clips.events import Event, Motion, Overlay, checked_event, read_events, read_motion, sorted_events
from .pose import Pose

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ._options import ClipFileOptions, PageFileOptions, PageOptions
    from .clips.mirror import Pairs
    from .clips.root_motion import RootMotion
    from .kinds import UVAnimation
    from .model import Model
    from .models.pickling import Keys
    from .posing.kinematics import AxisLike, JointLike
    from .render import Camera
    from .view import Page

__all__ = ["Channel", "Clip"]

#: A clip of a model: its name, the block that holds it, and its index in that block.
_MAX_INDEX = 2**32 - 1  # of a clip in a block

Entry = tuple[str, _core.Block, int]


class Clip(Shown, _core.Clip):
    """One animation clip.

    `Model.clips` has the clips of a model, and `Clip.from_arrays` makes clips from arrays. Clips never
    change: methods that edit a clip return a new one. A pickle of a clip has the skeleton of its model, but
    not the vertices, unless it has the model, too; docs/saving.md says more.

    Examples
    --------
    >>> walk = skinpy.character().clips["walk"]
    >>> walk
    <Clip 'walk': 1.000 s, 21 channels>
    >>> walk.trim(0.0, 0.5).add_event(0.25, "left foot").events
    (Event(time=0.25, name='left foot'),)
    """

    _block: _core.Block
    _index: int
    _model: Model | None
    _record: Any
    _name: str
    _duration: float
    _error: float | None = None
    _overlay: Overlay = Overlay()
    _number: int | None = None  # the index among the clips of the model, of a clip that is one of these
    _keys: Callable[[], Keys | None] = staticmethod(lambda: None)  # a weak reference: see models.pickling

    def __new__(
        cls, block: _core.Block, index: int, model: Model | None = None, name: str | None = None
    ) -> Clip:
        instance("block", block, _core.Block, "a block")
        if model is not None:
            check_model("model", model)
        number = whole("index", index, 0, _MAX_INDEX)
        self = super().__new__(cls, block, number, None if model is None else model._block)
        self._block = block
        self._index = index
        self._model = model
        self._record = _block.section(block, "CLIPS")[index, ...]
        self._name = _block.text(block, self._record["name"]) if name is None else name
        self._duration = float(self._record["duration"])
        return self

    def __init__(self, *_: Any, **__: Any) -> None:
        """Do nothing: __new__ has taken the arguments."""

    def __setattr__(self, name: str, value: object) -> None:
        if not name.startswith("_"):
            raise AttributeError(f"clips never change: {name!r} cannot be set")
        super().__setattr__(name, value)

    @classmethod
    def from_arrays(
        cls,
        name: str,
        *,
        fps: float | None = None,
        times: npt.ArrayLike | None = None,
        joints: Sequence[str] | None = None,
        translation: npt.ArrayLike | None = None,
        rotation: npt.ArrayLike | None = None,
        scale: npt.ArrayLike | None = None,
        targets: Sequence[str] = (),
        weights: npt.ArrayLike | None = None,
        interpolation: str = "linear",
    ) -> Clip:
        """Make a clip from arrays of keys.

        The clip has N keys for J joints and M morph targets. It is bound to no model: `Model.add_clips`
        returns a model that has it. Exactly one of `fps` and `times` is given, and at least one array of
        keys. Components without an array have no channels.

        Parameters
        ----------
        name : str
            Name of the clip.
        fps : float, keys per second, optional
            Key n is at n / fps seconds.
        times : array_like, shape (N,), seconds, optional
            Times of the keys, increasing. The clip lasts until the last key.
        joints : sequence of str, optional
            Names of the J joints, by which the clip is bound to a model. Without names joint j of the clip is
            joint j of the model.
        translation : array_like, shape (N, J, 3), optional
            Translations relative to the parent.
        rotation : array_like, shape (N, J, 4), x y z w, optional
            Rotations relative to the parent, as quaternions of any length but 0.
        scale : array_like, shape (N, J, 3), optional
            Scales.
        targets : sequence of str, default ()
            Names of the M morph targets.
        weights : array_like, shape (N, M), optional
            Weights of the morph targets.
        interpolation : {"linear", "step"}, default "linear"
            How values between two keys are found.

        Returns
        -------
        Clip
            A clip that is bound to no model.

        Raises
        ------
        ValueError
            If a shape is wrong, times do not increase, a number is not finite, a quaternion has length 0,
            there are no keys, not exactly one of `fps` and `times` is given, or an option is unknown.
        TypeError
            If an argument has the wrong type.

        Examples
        --------
        >>> nod = skinpy.Clip.from_arrays(
        ...     "nod", times=[0.0, 1.0], joints=["Head"], rotation=[[[0, 0, 0, 1]], [[0.1, 0, 0, 1]]]
        ... )
        >>> skinpy.character().add_clips(nod).clips.names
        ('walk', 'run', 'wave', 'nod')
        """
        from .clips.arrays import clip_block

        keys = {"translation": translation, "rotation": rotation, "scale": scale, "weights": weights}
        return cls(clip_block(name, fps, times, joints, targets, keys, interpolation), 0)

    @classmethod
    def from_smpl(
        cls,
        source: PathLike | Mapping[str, npt.ArrayLike],
        *,
        name: str | None = None,
        fps: float | None = None,
        up: str = "+Z",
        height: float | None = None,
        joints: npt.ArrayLike | None = None,
    ) -> Clip:
        """Make a clip from parameters of SMPL, SMPL-H or SMPL-X, as AMASS has them, for any humanoid.

        The clip is bound to a stick figure in meters, with +Y up, that has the joints of the body model and
        stands as a T at rest. ``skinpy.retarget(clip, clip.model, character, "auto")`` plays it on another
        character. Body models are not needed, and what deforms only them (betas, dmpls, expressions) is not
        read. docs/howto-retarget.md has an example.

        Parameters
        ----------
        source : str, path-like or mapping of str to array_like
            An .npz file or its arrays: "poses" (N, 66, 72, 156 or 165), or "root_orient" (N, 3), "pose_body"
            (N, 63), and, where there are any, "pose_hand" (N, 90), "pose_jaw" (N, 3) and "pose_eye" (N, 6);
            "trans" (N, 3); and "mocap_framerate" or "mocap_frame_rate". The names of the package smplx are
            known too ("global_orient", "body_pose", "transl", ...).
        name : str, optional
            Name of the clip. By default it is the stem of the file's name, or "smpl".
        fps : float, frames per second, optional
            Takes the place of the rate of the source, which may have none.
        up : str, default "+Z"
            The axis of the source that is up: "+Z" for AMASS, "+Y" for BEAT2 and AIST++, for instance.
        height : float, meters, from 0.001 to 10,000, optional
            Height of the stick figure. By default it is the one with which its feet are on the ground in most
            frames, or 1.7 if that is not between 1.2 and 2.2.
        joints : array_like, shape (J, 3), meters, optional
            Where the joints of the shaped body are in the zero pose, from those who have the body model.

        Returns
        -------
        Clip
            The clip, in a model of its own.

        Raises
        ------
        LoadError
            If the file is not an .npz file, or is one without these arrays. Pickles are never read.
        ValueError
            If an array of a mapping is missing, has the wrong shape or a number that is not finite, or an
            option is out of range.
        TypeError
            If an argument has the wrong type.
        OSError
            If the file cannot be read.

        Warns
        -----
        SkinpyWarning
            If the figure lies on average, which it may do, and does if `up` is wrong.

        Notes
        -----
        Rotations are exact. The pelvis is at "trans" plus where the body model has it in its zero pose; this
        is ``joints[0]``, or about 0.13 (0.2 for SMPL-X) of the height below the model's origin. Fingers are
        rotated from the flat hand, as in AMASS; to values that are relative to MANO's mean pose
        (``flat_hand_mean=False``), add that first.

        Examples
        --------
        >>> motion = {"poses": np.zeros((2, 66)), "trans": [[0, 0.9, 0], [0, 0.9, 0.1]], "fps": 30}
        >>> clip = skinpy.Clip.from_smpl(motion, up="+Y")
        >>> clip.model.skeleton.names[:3]
        ('pelvis', 'left_hip', 'right_hip')
        """
        from .clips.smpl import clip_from_smpl

        return clip_from_smpl(source, name, fps, up, height, joints)

    @property
    def name(self) -> str:
        """The name of the clip."""
        return self._name

    @property
    def model(self) -> Model | None:
        """The model whose joints the channels move, or None for a clip that is bound to no model.

        A clip from a pickle that does not have its model has a model without vertices; docs/saving.md says
        more.
        """
        return self._model

    @property
    def duration(self) -> float:
        """The length of the clip in seconds; 0 for a clip that is a single pose."""
        return self._duration

    @property
    def ticks_per_second(self) -> float:
        """The number of ticks of the file in a second.

        skinpy has all times in seconds; this is for programs that need the unit of the file.
        """
        return float(self._record["ticks_per_second"])

    @property
    def kind(self) -> Literal["keyed", "rigid", "skinned"]:
        """The kind of animation.

        "keyed" means that all channels are weights of morph targets and no joint moves. "rigid" means that
        joints move and every vertex of the model follows a single joint rigidly. All other clips, and clips
        without a model, are "skinned".
        """
        paths = self._channel_records["path"]
        paths = paths[paths <= _block.WEIGHT_PATH]
        if len(paths) and (paths == _block.WEIGHT_PATH).all():
            return "keyed"
        return "rigid" if self._model is not None and self._model._is_rigid else "skinned"

    def sample(self, time: npt.ArrayLike, out: Pose | None = None, *, loop: Loop = "wrap") -> Pose:
        """Return the pose of the clip at one time or at many, as `Model.pose` does.

        Parameters
        ----------
        time : array_like, shape (...), seconds
            Times at which the clip is sampled.
        out : Pose, optional
            A pose of the same model with leading axes (...) that is overwritten and returned.
        loop : {"wrap", "clamp", "pingpong", "once"}, default "wrap"
            What happens outside the clip; see `Model.pose`.

        Returns
        -------
        Pose
            The pose with leading axes (...): `out` if it is given, otherwise a new pose.

        Raises
        ------
        ValueError
            If the clip is bound to no model, a time is not finite, `loop` is unknown, or `out` is a pose of
            another model or other leading axes.
        TypeError
            If `out` is not a Pose or `time` does not hold real numbers.
        """
        pose = self._bound_model().pose(self, time, loop=loop)
        if out is None:
            return pose
        if not isinstance(out, Pose):
            raise TypeError(f"out is of type {type(out).__name__}; expected a Pose")
        if out._block.rig is not pose._block.rig or out.translation.shape != pose.translation.shape:
            raise ValueError(
                f"out has translations of shape {out.translation.shape}; expected {pose.translation.shape} "
                "for this time, and the model of the clip"
            )
        out.translation, out.rotation, out.scale = pose.translation, pose.rotation, pose.scale
        out.morph_weights = pose.morph_weights
        return out

    def trim(self, start: float = 0.0, end: float | None = None) -> Clip:
        """Return the section of the clip between two times as a new clip, bound to the same model.

        The new clip shows exactly this section: each channel gets keys at both ends, and cubic channels have
        the slopes there that they had before.

        Parameters
        ----------
        start : float, seconds, default 0.0
            Where the section begins.
        end : float, seconds, optional
            Where the section ends. By default it is the end of the clip.

        Returns
        -------
        Clip
            The new clip.

        Raises
        ------
        ValueError
            Unless 0 <= `start` < `end` <= duration.
        TypeError
            If `start` or `end` is not a number.
        """
        from .clips.edit import trimmed

        return trimmed(self, start, end)

    def resample(self, fps: float) -> Clip:
        """Return the clip with evenly spaced keys as a new clip, bound to the same model.

        Channels that move get keys at 0, 1 / fps, 2 / fps, ... seconds and at the end. Cubic channels become
        linear, step channels stay step channels, and channels of one key stay as they are. What happens
        between two of the new times is lost.

        Parameters
        ----------
        fps : float, keys per second
            A positive number.

        Returns
        -------
        Clip
            The new clip.

        Raises
        ------
        ValueError
            If `fps` is not positive and finite, or the clip would have more keys than `Limits` allows.
        TypeError
            If `fps` is not a number.
        """
        from .clips.edit import resampled

        return resampled(self, fps)

    def additive(self, reference: Literal["first", "rest"] | float = "first") -> Clip:
        """Return the differences of the clip from one pose as a new clip, bound to the same model.

        A layer of the controller with ``additive=True`` adds the differences to other poses. `Model.pose`
        returns the differences themselves; joints without a channel have no difference, which is translation
        0, rotation 0 0 0 1, scale 1 and weight 0. The new clip keeps the events and has neither root motion
        nor channels of visibility and materials. docs/clips.md has examples.

        Parameters
        ----------
        reference : {"first", "rest"} or float, seconds, default "first"
            The pose from which the differences are taken: the pose of the clip at 0 seconds, the rest pose of
            the model, or the pose of the clip at this time.

        Returns
        -------
        Clip
            An additive clip.

        Raises
        ------
        ValueError
            If the clip is additive already, `reference` is "rest" and the clip is bound to no model, the time
            lies outside the clip, or the reference has a scale of 0.
        TypeError
            If `reference` is neither a str nor a number.

        Notes
        -----
        With v a value of a channel and r its value in the reference pose, the differences are ``v - r`` for
        translations and weights, ``v * conj(r)`` for rotations and ``v / r`` for scales.
        """
        from .clips.additive import difference

        return difference(self, reference)

    def mirror(self, *, axis: AxisLike | None = None, pairs: Pairs | None = None) -> Clip:
        """Return the clip with left and right swapped as a new clip, bound to the same model.

        Each joint moves from its rest pose as the mirror image of its partner does. Morph targets and events
        with a side in their names are swapped too. Mirroring twice restores the clip. docs/retargeting.md
        has examples.

        Parameters
        ----------
        axis : str or array_like, shape (3,), scene space, optional
            The normal of the mirror plane: "x", "y", "z" or a vector. By default it is the direction,
            perpendicular to `Model.up`, in which partners lie apart at rest.
        pairs : mapping of str to str, or sequence of two str each, optional
            Names of partners. By default partners are joints whose names differ only in left and right. A
            joint without a partner is its own.

        Returns
        -------
        Clip
            The new clip.

        Raises
        ------
        ValueError
            If the clip is bound to no model or is additive, `pairs` repeats a joint, or `axis` is not given
            and no names have sides.
        KeyError
            If the model has no joint of a name in `pairs`. The message has the closest names.
        """
        from .clips.mirror import mirrored

        return mirrored(self, axis, pairs)

    def transform(self, matrix: npt.ArrayLike) -> Clip:
        """Return the clip in another position, direction or size as a new clip, bound to the same model.

        ``result.model.globals(result, t)`` is ``matrix @ model.globals(clip, t)``. The transform is in the
        keys of the root joints, which may be step, linear and cubic. Root motion leads in the new direction.
        docs/clips.md has examples.

        Parameters
        ----------
        matrix : array_like, shape (4, 4), scene space
            A rotation, a translation in scene units and a uniform scale.

        Returns
        -------
        Clip
            The new clip, with the same name.

        Raises
        ------
        ValueError
            If `matrix` is a reflection, has a shear or an uneven scale, or is not finite; if the clip is
            bound to no model or is additive; or if a root has a rest matrix with shear.
        TypeError
            If `matrix` does not hold real numbers.
        """
        from .clips.transforming import transformed

        return transformed(self, matrix)

    def reverse(self) -> Clip:
        """Return the clip backward in time as a new clip, bound to the same model.

        With d the duration, the new clip shows at time t what this one shows at d - t. Its events are at
        d - t too, and its root motion leads back along the same way.

        Returns
        -------
        Clip
            The new clip, with the same name. Reversing twice restores the clip.

        Notes
        -----
        The values of a step channel begin at their keys, so they would end there in a reversed clip. To show
        the same value at a key's own time, step keys lie 2e-4 ticks later.
        """
        from .clips.timing import reversed_clip

        return reversed_clip(self)

    def speed(self, factor: float) -> Clip:
        """Return the clip faster or slower as a new clip, bound to the same model.

        All times are divided by the factor, those of keys, events and root motion; slopes and
        `ticks_per_second` are multiplied by it.

        Parameters
        ----------
        factor : float
            A positive number. 2.0 plays twice as fast.

        Returns
        -------
        Clip
            The new clip, with the same name.

        Raises
        ------
        ValueError
            If `factor` is not positive and finite, or key times are no longer finite or apart.
        TypeError
            If `factor` is not a number.
        """
        from .clips.timing import sped

        return sped(self, factor)

    def cut(self, events: str | float | Iterable[str | float]) -> list[Clip]:
        """Cut the clip at events or times into clips that are bound to the same model.

        Each new clip is as from `trim`. An event at a cut goes to the clip that begins there. Events at the
        start and at the end of the clip cut nothing off. `concatenate` joins the clips again.

        Parameters
        ----------
        events : str, float or iterable of both
            Names of events, each of which cuts wherever it happens, and times in seconds.

        Returns
        -------
        list of Clip
            The clips in order, named after this one: "walk 1", "walk 2", ...

        Raises
        ------
        KeyError
            If the clip has no event of a name. The message has the closest names.
        ValueError
            If a time lies outside the clip.
        TypeError
            If `events` holds anything but names and numbers.
        """
        from .clips.timing import pieces

        return pieces(self, events)

    @staticmethod
    def concatenate(clips: Iterable[Clip], *, name: str | None = None) -> Clip:
        """Return clips of one model, one after another, as one clip.

        Each clip begins where the one before ends, and at that time the new clip shows the start of the
        later one. Joints, morph targets and materials that only some clips move hold their rest in the
        others. Events keep their clips' offsets. Each root motion continues where the one before has led;
        clips without one stand still. docs/clips.md says what happens at the joints.

        Parameters
        ----------
        clips : iterable of Clip
            The clips. A clip may occur more than once.
        name : str, optional
            Name of the new clip. By default it is the names of all clips with "+" between them.

        Returns
        -------
        Clip
            The new clip, bound to the model of the first.

        Raises
        ------
        ValueError
            If there are no clips, a clip is bound to no model or to another model than the first, or only
            some are additive.
        TypeError
            If `clips` holds anything but clips, or `name` is not a str.

        Examples
        --------
        >>> clips = skinpy.character().clips
        >>> skinpy.Clip.concatenate([clips["walk"], clips["run"]]).name
        'walk+run'
        """
        from .clips.joining import concatenated

        return concatenated(clips, name)

    def compress(self, max_error: float | None = None) -> Clip:
        """Return the clip with as few keys as an error allows as a new clip, bound to the same model.

        The new clip has the same length and is never larger. docs/storage.md has measurements.

        Parameters
        ----------
        max_error : float, model units, optional
            The largest distance by which a vertex or the origin of a joint may be off. By default it is 1e-4
            of the size, which is the longest side of the box around what the clip shows at its start.

        Returns
        -------
        Clip
            The new clip. Its `error` is the largest distance that was found.

        Raises
        ------
        ValueError
            If the clip is bound to no model or is additive, its model came out of a pickle without its
            vertices, or `max_error` is negative or not finite.
        TypeError
            If `max_error` is not a number.

        Notes
        -----
        Distances are measured in float32 at every key and at three times between any two keys, at no more
        than 4096 times in all. Channels that hardly move keep one key or none. Step channels stay step
        channels. Cubic channels stay cubic or become linear, whichever takes less memory.
        """
        from .storage.compress import compressed

        return compressed(self, max_error)

    @property
    def error(self) -> float | None:
        """The error in model units that `compress` measured when it made this clip; None for other clips."""
        return self._error

    @property
    def events(self) -> tuple[Event, ...]:
        """The events of the clip, sorted by time; events of one time are in the order of being added."""
        own = self._overlay.events
        return self._stored_events if isinstance(own, EllipsisType) else own

    def add_event(self, time: float, name: str) -> Clip:
        """Return the clip with one more event as a new clip, which shares the keys of this one.

        Parameters
        ----------
        time : float, seconds
            When the event happens, from 0 to the duration.
        name : str
            Name of the event; not empty.

        Returns
        -------
        Clip
            The new clip.

        Raises
        ------
        ValueError
            If `time` is not finite or lies outside the clip.
        TypeError
            If `time` is not a number, or `name` is not a str or is empty.
        """
        return self._with(events=sorted_events([*self.events, checked_event(time, name, self.duration)]))

    def contacts(self, joints: Sequence[str] | None = None) -> dict[str, Array]:
        """Return when feet, or other joints, stand on the ground.

        A joint has contact while a point of it (a vertex that it moves, with the joints below it) is low and
        slow. docs/feet.md has the thresholds and examples.

        Parameters
        ----------
        joints : sequence of str, optional
            Names of joints, such as feet and hands. Of a foot that is listed with its toes, the heel counts
            alone. By default these are the feet and the toes of `Model.humanoid`, or, for other figures, the
            ends of the limbs on which the rest pose stands.

        Returns
        -------
        dict of str to (n, 2) float64 ndarray, seconds
            By joint, the start and the end of each contact, in order, from 0 to the duration. Two contacts of
            a looping clip are one if one ends with the clip and the other begins with it.

        Raises
        ------
        ValueError
            If the clip is bound to no model or is additive, its model came out of a pickle without its
            vertices, all joints are in one point, or `joints` is empty.
        KeyError
            If the model has no joint of a name. The message has the closest names.
        TypeError
            If `joints` is not a sequence of str.

        Examples
        --------
        >>> skinpy.character().clips["walk"].contacts(["LeftFoot"])["LeftFoot"].round(2)
        array([[0.  , 0.62],
               [0.98, 1.  ]])
        """
        from .planting.contacts import contacts

        return contacts(self, joints)

    def add_contact_events(self, joints: Sequence[str] | None = None) -> Clip:
        """Return the clip with an event at the start and at the end of each contact.

        Parameters
        ----------
        joints : sequence of str, optional
            Names of joints, as in `contacts`.

        Returns
        -------
        Clip
            The new clip, which shares the keys of this one. Its new events are called "LeftFoot down" and
            "LeftFoot up", with the names of the joints. A contact that goes on over the end of a looping clip
            has no events there.

        Raises
        ------
        ValueError, KeyError, TypeError
            As in `contacts`.
        """
        from .planting.contacts import with_contact_events

        return with_contact_events(self, joints)

    def _with(
        self,
        *,
        events: tuple[Event, ...] | EllipsisType = ...,
        motion: Motion | EllipsisType | None = ...,
    ) -> Clip:
        """A copy that shares the block and has other events (sorted) or another root motion.

        ``...`` keeps what the clip has, and a motion of None stands for no root motion.
        """
        copy = Clip(self._block, self._index, self._model, self._name)
        copy._error = self._error
        copy._overlay = Overlay(
            self._overlay.events if isinstance(events, EllipsisType) else events,
            self._overlay.motion if isinstance(motion, EllipsisType) else motion,
        )
        return copy

    @cached_property
    def _stored_events(self) -> tuple[Event, ...]:
        """The events of the block."""
        return read_events(self._block, self._record)

    @property
    def _motion(self) -> Motion | None:
        """The keys of the root motion, or None for a clip without root motion."""
        own = self._overlay.motion
        return read_motion(self._block, self._record) if isinstance(own, EllipsisType) else own

    @property
    def is_additive(self) -> bool:
        """Whether the channels hold differences that are added to another pose; see `additive`."""
        return bool(self._record["flags"] & _block.ADDITIVE)

    @cached_property
    def root_motion(self) -> RootMotion | None:
        """How the clip moves its character through the scene in addition to its channels, or None."""
        from .clips.root_motion import RootMotion

        keys = self._motion
        return None if keys is None else RootMotion(keys.times, keys.values[:, :3], keys.values[:, 3:])

    def extract_root_motion(
        self,
        joint: JointLike | None = None,
        translation: Literal["ground", "all"] | None = "ground",
        yaw: bool = True,
    ) -> Clip:
        """Move the travel of one joint into the root motion of a new clip, bound to the same model.

        The joint no longer travels in the new clip, and `root_motion` of the new clip has its trajectory. All
        is in scene space, so the motion of the joint's ancestors counts too. docs/root-motion.md has
        examples.

        Parameters
        ----------
        joint : str or int, optional
            Name or index of the joint. By default it is the joint that carries the character;
            docs/root-motion.md has the rule.
        translation : {"ground", "all", None}, default "ground"
            What is extracted of the translation: the two axes perpendicular to `Model.up`, all three axes, or
            nothing.
        yaw : bool, default True
            Whether the rotation about `Model.up` is extracted.

        Returns
        -------
        Clip
            The new clip.

        Raises
        ------
        ValueError
            If the clip is bound to no model, is additive or has root motion already; if its model came out of
            a pickle without its vertices; if there is nothing to extract; if an ancestor has a scale of 0, or
            an uneven scale that would shear the joint; or if hundreds of moving ancestors have thousands of
            keys.
        KeyError
            If the model has no joint of this name. The message has the closest names.
        IndexError
            If the model has no joint of this index.
        TypeError
            If an argument has the wrong type.

        Notes
        -----
        For the joint and all its descendants ``model.globals(clip, t)`` equals
        ``root_motion.sample(t) @ model.globals(result, t)`` within 1e-5 of the size of the model. float32
        adds 1e-6 of the distance from the origin.
        """
        from .clips.root_extract import extracted

        return extracted(self, joint, translation, yaw)

    def root_motion_from_feet(self, feet: Sequence[str] | None = None) -> Clip:
        """Return a copy of an in-place clip with root motion estimated from the planted feet.

        The root motion is level and has a constant velocity: `skinpy.render.ground_velocity` explains the
        method. A clip that does not walk gets a root motion that stays in one position.

        Parameters
        ----------
        feet : sequence of str, optional
            Names of joints that may touch the ground, together with their descendants. By default all may.

        Returns
        -------
        Clip
            The new clip, which shares the keys of this one.

        Raises
        ------
        ValueError
            If `feet` is empty, the clip is bound to no model, is additive or has root motion already, or its
            model came out of a pickle without its vertices.
        KeyError
            If the model has no joint of a name. The message has the closest names.
        TypeError
            If `feet` is not a sequence of str.
        """
        from .clips.root_extract import from_feet

        return from_feet(self, feet)

    def save(
        self,
        path: PathLike,
        *,
        time: float | None = None,
        fps: float | None = None,
        size: tuple[int, int] = (640, 480),
        turntable: bool = False,
        camera: Camera | None = None,
        joint: JointLike | None = None,
        **options: Unpack[ClipFileOptions],
    ) -> Path:
        """Write the motion of the clip, or draw it; the file extension selects what is written.

        The file appears whole or not at all. .bvh is the motion of the joints for other programs;
        docs/saving.md says what it has. All others are drawn: this needs the extra "view", and .mp4 needs an
        ffmpeg or the extra "video". docs/films.md has examples.

        Parameters
        ----------
        path : str or path-like
            The file to write. .bvh is motion; .png, .jpg, .tif and .bmp are a picture; .apng, .gif, .webp and
            .mp4 are a film of one loop of the clip; .html is a page as from `to_html`.
        time : float, seconds, optional
            The time of a picture, by default 0.
        fps : float, frames per second, optional
            The rate of a film or a page, by default 30; or that of BVH, by default the rate of the clip's
            keys if they are evenly spaced, otherwise 30.
        size : tuple of 2 int, pixels, default (640, 480)
            Width and height.
        turntable : bool, default False
            Whether the camera goes once around the model during a film. The film then lasts at least 4
            seconds, with as many loops of the clip as that takes.
        camera : Camera, optional
            The camera. By default the whole clip is in the picture.
        joint : str or int, optional
            Of .bvh: the joint that is the root of the file, such as the hips, which has this joint and all
            below it. By default it has all joints.
        **options
            Options of `skinpy.render.Renderer`: background, floor, samples and uv; and overlays as in
            `Renderer.frame <skinpy.render.Renderer.frame>`.

        Returns
        -------
        Path
            The path of the file.

        Raises
        ------
        ValueError
            If the clip is bound to no model, the file extension is unknown, a size is 0, or an option does
            not fit the kind of file, such as a time for a film; for .bvh also if the clip is additive.
        KeyError
            If the model has no joint of this name. The message has the closest names.
        IndexError
            If the model has no joint of this index.
        ImportError
            If a package that is needed is not installed.
        GraphicsError
            If there is no OpenGL.
        OSError
            If the file cannot be written.

        Warns
        -----
        SkinpyWarning
            If the clip has something that BVH cannot hold, or joints have names that it cannot hold.
        """
        if Path(path_of("path", path)).suffix.lower() == ".bvh":
            from .files.bvh import save_bvh

            drawing = {"time": time, "turntable": turntable or None, "camera": camera, **options}
            drawing["size"] = None if size == (640, 480) else size
            return save_bvh(path, self, fps, joint, drawing)
        if joint is not None:
            raise ValueError("joint is for .bvh; for pictures, films and pages expected no joint")
        from .output import save_clip

        return save_clip(
            path,
            self._bound_model(),
            self,
            time=time,
            fps=fps,
            size=size,
            turntable=turntable,
            camera=camera,
            **options,
        )

    def to_npz(self, path: PathLike, *, fps: float | None = None) -> Path:
        """Write the poses of the clip as NumPy arrays.

        The file appears whole or not at all. ``numpy.load`` reads it without pickle, and `load` as a model
        without a mesh. docs/saving.md lists its arrays, such as "times" (N,), "joints" (J,), "rotation"
        (N, J, 4) and "positions" (N, J, 3).

        Parameters
        ----------
        path : str or path-like
            The file to write, .npz.
        fps : float, frames per second, optional
            The rate at which the clip is sampled. By default the rate of the clip's keys if they are evenly
            spaced, otherwise 30.

        Returns
        -------
        Path
            The path of the file.

        Raises
        ------
        ValueError
            If the file extension is another one, the clip is bound to no model or is additive, or `fps` is
            not positive or gives too many frames.
        TypeError
            If an argument has the wrong type.
        OSError
            If the file cannot be written.

        Warns
        -----
        SkinpyWarning
            If the clip changes visibility or materials, which are left out.

        Examples
        --------
        >>> path = skinpy.character().clips["walk"].to_npz("walk.npz", fps=30)
        >>> with np.load(path) as arrays:
        ...     arrays["rotation"].shape
        (31, 26, 4)
        """
        from .files.npz import save_npz

        return save_npz(path, self, fps)

    def page(self, height: int = 480, *, fps: float = 30.0, **options: Unpack[PageOptions]) -> Page:
        """Make a page that plays the clip in a browser and shows itself in notebooks.

        The browser draws the page with WebGL 2 and needs neither a network nor a kernel. To make the page,
        skinpy needs the extra "view" but no OpenGL. docs/page.md has examples.

        Parameters
        ----------
        height : int, pixels, default 480
            Height of the page in a notebook.
        fps : float, frames per second, default 30.0
            The rate at which the motion is stored in the page.
        **options
            Options of `skinpy.view.make_page`: background, floor, uv, overlays, time, title, texture_size and
            limit.

        Returns
        -------
        skinpy.view.Page
            The page.

        Raises
        ------
        ValueError
            If the clip is bound to no model, a number is out of range, or the page would exceed its limit.
        TypeError
            If an argument has the wrong type or an option is unknown.
        ImportError
            If a package that is needed is not installed.
        """
        from .view import make_page

        return make_page(self._bound_model(), self, height=height, fps=fps, **options)

    def to_html(self, path: PathLike, *, fps: float = 30.0, **options: Unpack[PageFileOptions]) -> Path:
        """Write a page that plays the clip in any browser, as one file.

        The file appears whole or not at all. docs/page.md has examples.

        Parameters
        ----------
        path : str or path-like
            The file to write, .html or .htm.
        fps : float, frames per second, default 30.0
            The rate at which the motion is stored in the page.
        **options
            Options of `page`.

        Returns
        -------
        Path
            The path of the file.

        Raises
        ------
        ValueError
            If the file extension is another one, the clip is bound to no model, a number is out of range, or
            the page would exceed its limit.
        TypeError
            If an argument has the wrong type or an option is unknown.
        ImportError
            If a package that is needed is not installed.
        OSError
            If the file cannot be written.
        """
        from .view.page.page import check_suffix

        check_suffix(path)
        return self.page(fps=fps, **options).save(path)

    def _bound_model(self) -> Model:
        """The model of the clip; ValueError for a clip that is bound to no model."""
        if self._model is None:
            raise ValueError(
                f"clip {quoted(self.name)} is bound to no model; "
                "model.add_clips(clip) returns a model that has it"
            )
        return self._model

    @cached_property
    def _joint_names(self) -> tuple[str, ...]:
        """Names of the joints that channels refer to by index."""
        return _block.texts(self._block, _block.section(self._block, "JOINT_NAMES"))

    @cached_property
    def _target_names(self) -> tuple[str, ...]:
        """Names of the morph targets that channels refer to by index."""
        return _block.texts(self._block, _block.section(self._block, "TARGETS")["name"])

    @cached_property
    def _material_names(self) -> tuple[str, ...]:
        """Names of the materials that channels refer to by index."""
        return _block.texts(self._block, _block.section(self._block, "MATERIALS")["name"])

    @cached_property
    def _names(self) -> dict[str, tuple[str, ...]]:
        """The names that channels refer to by index, by "joint", "target" and "material"."""
        return {"joint": self._joint_names, "target": self._target_names, "material": self._material_names}

    @cached_property
    def _pose_channels(self) -> tuple[Channel, ...]:
        """The channels that move joints or morph targets."""
        return tuple(channel for channel in self.channels if channel.poses)

    @cached_property
    def _look_channels(self) -> tuple[Channel, ...]:
        """The channels of visibility and materials, which are no part of a pose."""
        return tuple(channel for channel in self.channels if not channel.poses)

    @property
    def _channel_records(self) -> Array:
        """The rows of section CHANNELS that belong to this clip."""
        first = int(self._record["first_channel"])
        return _block.section(self._block, "CHANNELS")[first : first + int(self._record["channel_count"])]

    @cached_property
    def channels(self) -> tuple[Channel, ...]:
        """The channels, as the file has them. A joint without a channel keeps its rest transform."""
        return read_channels(self._block, self._channel_records, self._names)

    # ---- looks ------------------------------------------------------------------------------------

    @property
    def uv_animations(self) -> dict[tuple[int, str], UVAnimation]:
        """The texture transforms that the clip animates, by material and texture.

        A key is (index of the material, "base_color"); no other texture's transform is read. The animation is
        the whole transform, which replaces `Material.uv_transform`. Each span between cubic keys is
        approximated by 16 linear keys.
        """
        from .clips.looks import uv_animations

        return uv_animations(self)

    def material_values(self, time: float, *, loop: Loop = "wrap") -> dict[int, dict[str, Floats]]:
        """Return the values of materials that the clip animates, at one time.

        Parameters
        ----------
        time : float, seconds
            The time.
        loop : {"wrap", "clamp", "pingpong", "once"}, default "wrap"
            What happens outside the clip; see `Model.pose`.

        Returns
        -------
        dict of int to dict of str to (C,) float32 ndarray
            By index of the material, and by path: "base_color_factor" (4,), "emissive_factor" (3,), and (1,)
            for "metallic_factor", "roughness_factor", "emissive_strength", "alpha_cutoff", "normal_scale"
            and "occlusion_strength". "uv_transform" (3, 3) replaces `Material.uv_transform`. Values that the
            clip does not animate are left out.

        Raises
        ------
        ValueError
            If `time` is not finite, `loop` is unknown, or the clip animates a texture and is bound to no
            model.
        """
        from .clips.looks import material_values

        return material_values(self, time, loop)

    def visible_joints(self, time: float, *, loop: Loop = "wrap") -> Array:
        """Return which joints are visible at one time; a joint below a hidden one is not visible.

        Parameters
        ----------
        time : float, seconds
            The time.
        loop : {"wrap", "clamp", "pingpong", "once"}, default "wrap"
            What happens outside the clip; see `Model.pose`.

        Returns
        -------
        (J,) bool ndarray
            Whether each joint is visible.

        Raises
        ------
        ValueError
            If `time` is not finite, `loop` is unknown, or the clip is bound to no model.
        """
        from .clips.looks import visible_joints

        return visible_joints(self._bound_model(), self, time, loop)

    def visible_submeshes(self, time: float, *, loop: Loop = "wrap") -> Array:
        """Return which submeshes are drawn at one time.

        Parameters
        ----------
        time : float, seconds
            The time.
        loop : {"wrap", "clamp", "pingpong", "once"}, default "wrap"
            What happens outside the clip; see `Model.pose`.

        Returns
        -------
        (number of submeshes,) bool ndarray
            Whether each submesh is drawn. A clip without channels of visibility gives `Submesh.visible`.

        Raises
        ------
        ValueError
            If `time` is not finite, `loop` is unknown, or the clip is bound to no model.
        """
        from .clips.looks import visible_submeshes

        return visible_submeshes(self._bound_model(), self, time, loop)

    def plot(
        self,
        joint: JointLike | None = None,
        path: PathLike | None = None,
        *,
        target: JointLike | None = None,
    ) -> Figure:
        """Plot the curves of a joint or of a morph target.

        The figure has a row for each channel, with the values as they are played and a dot for each key.
        Quaternions q and -q are the same rotation; linear rotations have the signs that make the curves
        continuous. Exactly one of `joint` and `target` is given. docs/clips.md has an example.

        Parameters
        ----------
        joint : str or int, optional
            Name or index of a joint.
        path : str or path-like, optional
            A file that the figure is written to as well. The file extension selects the format. The file
            appears whole or not at all.
        target : str or int, optional
            Name or index of a morph target.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.

        Raises
        ------
        KeyError
            If there is no joint or target of this name. The message has the closest names.
        IndexError
            If there is no joint or target of this index.
        TypeError
            If not exactly one of `joint` and `target` is given.
        ValueError
            If no channel moves the joint or target, or matplotlib does not know the file extension.
        ImportError
            If matplotlib (the extra "plot") is not installed.
        OSError
            If the file cannot be written.
        """
        from ._plots import plotted
        from .clips.plot import draw

        return plotted(partial(draw, self, joint, target), path)

    def to_dict(self) -> dict[str, Any]:
        """Return the clip as plain data for JSON.

        Returns
        -------
        dict
            The keys are name, kind, duration, ticks_per_second, additive, events (with time and name) and
            channels (with the fields of `Channel`, arrays as lists).

        Raises
        ------
        ValueError
            If the data would take more than 256 MiB and more than a thousand times the memory of the clip.
            This happens with many keys of channels that do not move.
        """
        from .clips.tables import clip_dict

        return clip_dict(self)

    def to_records(self) -> Array:
        """Return all keys as one structured array, which ``pandas.DataFrame`` takes as it is.

        Returns
        -------
        ndarray
            One row for each key. The fields are channel, joint, target and material (int32, -1 for none),
            name, path, interpolation, key (int32, the index in the channel), time (float64, seconds), x, y,
            z and w (float32) and the tangents in_x to in_w and out_x to out_w (float32, per second). Numbers
            that a channel does not have are NaN. A weight is in x.

        Raises
        ------
        ValueError
            If the array would take more than 256 MiB and more than a thousand times the memory of the clip.
            This happens with many keys of channels that do not move, or with a very long name.
        """
        from .clips.tables import clip_records

        return clip_records(self)

    @property
    def nbytes(self) -> int:
        """The number of bytes of the stored channels: times, values and tangents of the keys.

        Times that channels share count once. A channel that does not move stores one value for all its keys.
        A channel that moves may store its values in cells of four floats, which the compiled form shares.
        """
        records = self._channel_records
        time_lines = set(zip(records["times"].tolist(), records["key_count"].tolist(), strict=True))
        keys: int = sum(count for _, count in time_lines)
        return 8 * keys + 4 * _block.stored_floats(records)

    def __eq__(self, other: object) -> bool:
        """Whether both are the same clip of one block, bound to the same model, with the same events."""
        if not isinstance(other, Clip):
            return NotImplemented
        same = self._block is other._block and self._index == other._index and self._model is other._model
        return same and self._overlay == other._overlay

    def __hash__(self) -> int:
        return hash((id(self._block), self._index))

    def __copy__(self) -> Clip:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Clip:
        return self

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        from .models.pickling import reduced_clip

        return reduced_clip(self, int(protocol))

    def __repr__(self) -> str:
        unbound = "" if self._model is not None else ", bound to no model"
        channels = f"{len(self._channel_records)} channels{unbound}"
        return f"<Clip {quoted(self.name)}: {self.duration:.3f} s, {channels}>"

    @cached_property
    def _preview(self) -> bytes | None:
        """The animated PNG that notebooks show; None for clips that cannot be drawn."""
        from .output.preview import preview

        return None if self._model is None or self.is_additive else preview(self._model, self)
