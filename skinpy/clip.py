"""Animation clips ("animation sets"): channels of keys on the joints of one skeleton."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy.typing as npt

from . import _block, _core
from ._notebook import Shown
from ._types import Array, Floats, Loop, PathLike
from .clips.events import Event, Motion, Overlay, checked_event, read_events, read_motion, sorted_events
from .pose import Pose

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .clips.mirror import Pairs
    from .clips.root_motion import RootMotion
    from .model import Model
    from .posing.kinematics import AxisLike, JointLike
    from .render import Camera
    from .view import Page

__all__ = ["Channel", "Clip", "Clips"]

_BIND = "model.add_clips(clip) gives one that has it"

Entry = tuple[str, _core.Block, int]  #: a model's clip: its name, its block, its number in the block


@dataclass(frozen=True, eq=False)
class Channel:
    """The keys of a joint's translation, rotation or scale, or of a morph target's weight, as the file has
    them. Read-only arrays, in a clip's own channels views of what it stores: keys may lie apart, or be one
    and the same where the channel does not move."""

    joint: int | None  #: index of the joint; None for weights
    target: int | None  #: index of the morph target; None for joints
    name: str  #: of the joint or the target
    path: str  #: "translation", "rotation", "scale" or "weights"
    interpolation: str  #: "step", "linear" or "cubic"
    times: Array  #: (K,) float64 seconds, increasing
    values: Floats  #: (K,3), (K,4) x y z w for rotations, (K,1) for weights
    in_tangents: Floats | None  #: like values, per second; None unless cubic
    out_tangents: Floats | None

    def __repr__(self) -> str:
        return f"<Channel: {self.name!r} {self.path}, {len(self.times)} {self.interpolation} keys>"


class Clip(Shown, _core.Clip):
    """One animation clip. Clips never change; get them from `model.clips` or `Clip.from_arrays`."""

    _block: _core.Block
    _index: int
    _model: Model | None
    _record: Any
    _name: str
    _duration: float
    _error: float | None = None
    _overlay: Overlay = Overlay()

    def __new__(
        cls, block: _core.Block, index: int, model: Model | None = None, name: str | None = None
    ) -> Clip:
        self = super().__new__(cls, block, index, None if model is None else model._block)
        self._block = block
        self._index = index
        self._model = model
        self._record = _block.section(block, "CLIPS")[index, ...]
        self._name = _block.text(block, self._record["name"]) if name is None else name
        self._duration = float(self._record["duration"])
        return self

    def __init__(self, *_: Any, **__: Any) -> None:
        """See __new__."""

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
        """A clip from keys in arrays; it belongs to no model until `model.add_clips(clip)`.

        translation (N,J,3), rotation (N,J,4) x y z w and scale (N,J,3) are the keys of J joints at N times;
        those left out have no channels. Rotations are normalized. Exactly one of fps (key n is at n / fps)
        and times (N,), increasing seconds, is given; the clip lasts until the last key. joints has the J
        names by which the clip is bound to a model; without it, joint j is the model's joint j.
        weights (N,M) are keys of the weights of the M morph targets that targets names. interpolation is
        "linear" or "step".

        Raises TypeError and ValueError that name the argument: a wrong shape, times that do not increase,
        numbers that are not finite.
        """
        from .clips.arrays import clip_block

        keys = {"translation": translation, "rotation": rotation, "scale": scale, "weights": weights}
        return cls(clip_block(name, fps, times, joints, targets, keys, interpolation), 0)

    @property
    def name(self) -> str:
        """Name of the clip."""
        return self._name

    @property
    def model(self) -> Model | None:
        """The model whose joints the channels move, or None."""
        return self._model

    @property
    def duration(self) -> float:
        """Seconds; 0 for a clip that is one pose."""
        return self._duration

    @property
    def ticks_per_second(self) -> float:
        """The unit of time that the file had, for those who need it; all times here are seconds."""
        return float(self._record["ticks_per_second"])

    @property
    def kind(self) -> Literal["keyed", "rigid", "skinned"]:
        """ "keyed" where all channels are weights of morph targets and no joint moves; of other clips "rigid"
        where every vertex of the model hangs on one joint as a rigid part, else "skinned"."""
        paths = self._channel_records["path"]
        if len(paths) and (paths == _block.WEIGHT_PATH).all():
            return "keyed"
        return "rigid" if self._model is not None and self._model._is_rigid else "skinned"

    def sample(self, time: npt.ArrayLike, out: Pose | None = None, *, loop: Loop = "wrap") -> Pose:
        """The pose at `time` (...) seconds: what `model.pose(clip, time)` gives.

        out is a Pose of the same model and leading axes that is filled and given back. Raises ValueError for
        a clip that is bound to no model, and what model.pose raises.
        """
        if self._model is None:
            raise ValueError(f"clip {self.name!r} is bound to no model; {_BIND}")
        pose = self._model.pose(self, time, loop=loop)
        if out is None:
            return pose
        if not isinstance(out, Pose):
            raise TypeError(f"out is of type {type(out).__name__}; expected a Pose")
        if out._block is not pose._block or out.translation.shape != pose.translation.shape:
            raise ValueError(
                f"out has translations of shape {out.translation.shape}; expected {pose.translation.shape} "
                "of this clip's model"
            )
        out.translation, out.rotation, out.scale = pose.translation, pose.rotation, pose.scale
        out.morph_weights = pose.morph_weights
        return out

    def trim(self, start: float = 0.0, end: float | None = None) -> Clip:
        """A new clip of what lies between `start` and `end` seconds, by default its end, bound like this one.

        It shows exactly that: each channel gets keys at both, cubic ones with the slopes they have there.
        Raises ValueError unless 0 <= start < end <= duration.
        """
        from .clips.edit import trimmed

        return trimmed(self, start, end)

    def resample(self, fps: float) -> Clip:
        """A new clip with a key at 0, 1 / fps, 2 / fps, ... and at the end, in all channels that move.

        Cubic channels become linear ones, step channels stay such, channels of one key stay as they are.
        What happens between two of the new times is lost. Raises ValueError for an fps that is not positive.
        """
        from .clips.edit import resampled

        return resampled(self, fps)

    def additive(self, reference: Literal["first", "rest"] | float = "first") -> Clip:
        """A new clip of this one's differences from a pose, bound like this one: docs/clips.md.

        reference is "first", the clip's pose at 0 seconds, "rest", the model's rest pose, or seconds, the
        clip's pose then. Per channel, r being the reference: translation v - r, rotation v * conj(r), scale
        v / r, weights v - r. `model.pose(result, time)` gives these differences, with no difference
        (translation 0, rotation 0 0 0 1, scale 1, weight 0) where there is no channel; a layer with
        additive=True lays them over other poses. Events stay, root motion goes.

        Raises ValueError for an additive clip, for "rest" where the clip is bound to no model, for seconds
        outside 0 to the duration, and where the reference has a scale of 0; TypeError for another type.
        """
        from .clips.additive import difference

        return difference(self, reference)

    def mirror(self, *, axis: AxisLike | None = None, pairs: Pairs | None = None) -> Clip:
        """A new clip in which left and right have changed places, bound like this one: docs/retargeting.md.

        Each joint moves from its rest pose as the mirror image of its partner does. Partners are joints whose
        names differ in left and right alone, or those of pairs, a mapping or a sequence of two names each;
        the others are their own. axis is the normal of the mirror plane, "x", "y", "z" or a vector in scene
        space; by default the direction, perpendicular to up, in which the partners lie apart at rest. Morph
        targets and events with a side in their names swap as well. Mirroring twice gives the clip back.

        Raises ValueError for a clip that is bound to no model or additive, where no joints have sides and
        axis is not given, and for pairs that repeat a joint; KeyError for unknown names.
        """
        from .clips.mirror import mirrored

        return mirrored(self, axis, pairs)

    def compress(self, max_error: float | None = None) -> Clip:
        """A new clip, bound and as long as this one, of as few keys as max_error allows: docs/storage.md.

        max_error is a distance in model units, by default 1e-4 of the size (the longest side of the box
        around what the clip shows at its start). Neither a vertex nor a joint's origin is further than that
        from where this clip has it, measured in float32 at every key and at three times between any two
        (at 4096 times at most); `error` of the result is the largest distance found. Channels that hardly
        move keep one key or none; step channels stay such; cubic ones stay, or become linear where that
        takes less. Never larger than this clip.

        Raises ValueError for a clip that is bound to no model or additive, and for a negative max_error.
        """
        from .storage.compress import compressed

        return compressed(self, max_error)

    @property
    def error(self) -> float | None:
        """Model units: the error that `compress` measured for a clip that it made; None for others."""
        return self._error

    @property
    def events(self) -> tuple[Event, ...]:
        """What happens in the clip, sorted by time; those of one time in the order of being added."""
        own = self._overlay.events
        return self._stored_events if isinstance(own, EllipsisType) else own

    def add_event(self, time: float, name: str) -> Clip:
        """A new clip with an event more at `time` seconds, from 0 to the duration; it shares this one's keys.

        Raises ValueError for a time that is not finite or outside the clip, and TypeError for a time that is
        no number and a name that is no str or empty.
        """
        return self._with(events=sorted_events([*self.events, checked_event(time, name, self.duration)]))

    def _with(
        self,
        *,
        events: tuple[Event, ...] | EllipsisType = ...,
        motion: Motion | EllipsisType | None = ...,
    ) -> Clip:
        """A copy that shares the block, with other events (sorted) or another root motion (None: without)."""
        copy = Clip(self._block, self._index, self._model, self._name)
        copy._error = self._error
        copy._overlay = Overlay(
            self._overlay.events if isinstance(events, EllipsisType) else events,
            self._overlay.motion if isinstance(motion, EllipsisType) else motion,
        )
        return copy

    @cached_property
    def _stored_events(self) -> tuple[Event, ...]:
        return read_events(self._block, self._record)

    @property
    def _motion(self) -> Motion | None:
        """The keys of the root motion, or None."""
        own = self._overlay.motion
        return read_motion(self._block, self._record) if isinstance(own, EllipsisType) else own

    @property
    def is_additive(self) -> bool:
        """Whether the channels hold differences, to be laid over another pose; see `additive`."""
        return bool(self._record["flags"] & _block.ADDITIVE)

    @cached_property
    def root_motion(self) -> RootMotion | None:
        """How the clip carries its character through the scene beside what the channels do, or None."""
        from .clips.root_motion import RootMotion

        keys = self._motion
        return None if keys is None else RootMotion(keys.times, keys.values[:, :3], keys.values[:, 3:])

    def extract_root_motion(
        self,
        joint: JointLike | None = None,
        translation: Literal["ground", "all"] | None = "ground",
        yaw: bool = True,
    ) -> Clip:
        """A new clip, bound like this one, whose `joint` no longer travels: its way is in `root_motion`.

        joint is a name or an index, by default the one that carries the character (docs/root-motion.md has
        the rule). translation is what goes into the root motion: "ground", the two axes across model.up,
        "all" three, or None; yaw, the turning about model.up. All in scene space: whatever the joint's
        parents do counts. For the joint and all below it,
        model.globals(self, t) = root_motion.sample(t) @ model.globals(result, t) within 1e-5 of the size
        (float32 adds 1e-6 of the distance from the origin).

        Raises KeyError (no such name, with the close ones), IndexError, TypeError, and ValueError: a clip
        bound to no model, additive or with root motion already; nothing to extract; a parent whose scale is
        0, or uneven so that a turn would shear the joint; hundreds of moving parents with thousands of keys.
        """
        from .clips.root_extract import extracted

        return extracted(self, joint, translation, yaw)

    def root_motion_from_feet(self, feet: Sequence[str] | None = None) -> Clip:
        """A new clip of the same keys, for one that walks in place, with the way that its planted feet mean.

        The way is level and steady: `skinpy.render.ground_velocity` has the method. feet are names of joints;
        what they and the joints below them move may touch the ground; by default all may. A clip that does
        not walk gets a root motion that stays.

        Raises KeyError (no such name, with the close ones), TypeError, and ValueError: no names, or a clip
        bound to no model, additive or with root motion already.
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
        **options: Any,
    ) -> Path:
        """Draws the clip into a file and gives its path; the suffix decides what it becomes: docs/films.md.

        .png (.jpg, .tif, .bmp) is a picture at `time` seconds (0). .html is a page, see `to_html`. .apng,
        .gif, .webp and .mp4 are a film of one turn of the clip, `fps` frames per second (30); with turntable
        the camera goes once round the model meanwhile, in 4 seconds or as many turns more as it takes. size
        is (width, height) in pixels.
        camera None has the whole clip in the picture. options are those of skinpy.render.Renderer:
        background, floor, samples, uv; and overlays, as in Renderer.frame. Needs the extra "view", .mp4 an
        ffmpeg or the extra "video".

        The file appears whole or not at all. Raises ValueError for a clip that is bound to no model, an
        unknown suffix, a size of 0, a time for a film or an fps or turntable for a picture; ImportError for
        what is not installed, GraphicsError without OpenGL, and OSError.
        """
        from .output import save_clip

        if self._model is None:
            raise ValueError(f"clip {self.name!r} is bound to no model; {_BIND}")
        return save_clip(
            path,
            self._model,
            self,
            time=time,
            fps=fps,
            size=size,
            turntable=turntable,
            camera=camera,
            **options,
        )

    def page(self, height: int = 480, *, fps: float = 30.0, **options: Any) -> Page:
        """A page that plays this clip, which shows itself in a notebook, `height` pixels high: docs/page.md.

        It is drawn by the reader's browser (WebGL 2) and asks nothing of any network or kernel. fps is frames
        per second that are baked into it. options are those of skinpy.view.make_page: background, floor, uv,
        overlays, time, title, texture_size, limit. Needs the extra "view", though no OpenGL.

        Raises ValueError for a clip that is bound to no model, frames beyond the limit and wrong numbers;
        TypeError; ImportError for what is not installed.
        """
        from .view import make_page

        if self._model is None:
            raise ValueError(f"clip {self.name!r} is bound to no model; {_BIND}")
        return make_page(self._model, self, height=height, fps=fps, **options)

    def to_html(self, path: PathLike, *, fps: float = 30.0, **options: Any) -> Path:
        """Writes a page that plays this clip in any browser, one file, and gives its path: docs/page.md.

        The file (.html or .htm) appears whole or not at all. fps, options and errors are those of `page`;
        and ValueError for another suffix, OSError.
        """
        from .view.page import check_suffix

        check_suffix(path)
        return self.page(fps=fps, **options).save(path)

    @cached_property
    def _joint_names(self) -> tuple[str, ...]:
        return _block.texts(self._block, _block.section(self._block, "JOINT_NAMES"))

    @cached_property
    def _target_names(self) -> tuple[str, ...]:
        return _block.texts(self._block, _block.section(self._block, "TARGETS")["name"])

    @property
    def _channel_records(self) -> Array:
        first = int(self._record["first_channel"])
        return _block.section(self._block, "CHANNELS")[first : first + int(self._record["channel_count"])]

    @cached_property
    def channels(self) -> tuple[Channel, ...]:
        """The channels, as the file has them; a joint without one keeps its rest transform."""
        times, values = _block.section(self._block, "TIMES"), _block.section(self._block, "VALUES")

        channels = []
        for one in _block.records(self._channel_records):
            count, cubic = int(one["key_count"]), one["in_tangents"] != _block.NO_ARRAY
            moved, weights = int(one["joint"]), one["path"] == _block.WEIGHT_PATH
            channels.append(
                Channel(
                    None if weights else moved,
                    moved if weights else None,
                    (self._target_names if weights else self._joint_names)[moved],
                    _block.PATHS[one["path"]],
                    _block.INTERPOLATIONS[one["interpolation"]],
                    times[int(one["times"]) : int(one["times"]) + count],
                    _block.channel_keys(values, one, "values"),
                    _block.channel_keys(values, one, "in_tangents") if cubic else None,
                    _block.channel_keys(values, one, "out_tangents") if cubic else None,
                )
            )
        return tuple(channels)

    def plot(
        self,
        joint: JointLike | None = None,
        path: PathLike | None = None,
        *,
        target: JointLike | None = None,
    ) -> Figure:
        """A matplotlib Figure of the curves of a joint, by name or index: docs/clips.md.

        A row for each channel: its numbers over the whole clip as they are played, and dots for the keys.
        With target, the name or number of a morph target, the curve of its weight. With a path also a file,
        whose suffix says the format; it appears whole or not at all. Quaternions q and -q are the same
        rotation: linear ones are shown with the signs that make the curve go on.

        Needs matplotlib (the extra `plot`): ImportError without it. Raises KeyError (no such name, with the
        close ones), IndexError, TypeError (both of joint and target, or none), ValueError where no channel
        moves it and for a suffix that matplotlib does not know, and OSError.
        """
        from ._plots import plotted
        from .clips.plot import draw

        return plotted(partial(draw, self, joint, target), path)

    def to_dict(self) -> dict[str, Any]:
        """The clip as plain numbers, strings, lists and dicts, fit for JSON.

        Keys: name, kind, duration, ticks_per_second, additive, events (time, name), and channels with what
        Channel has: joint, target, name, path, interpolation, times (K), values (K,C) and tangents or None.

        Raises ValueError for more than 256 MiB that are a thousand times what the clip stores: many keys of
        channels that stand still.
        """
        from .clips.tables import clip_dict

        return clip_dict(self)

    def to_records(self) -> Array:
        """All keys as one structured array, a row each: what pandas.DataFrame takes as it is.

        Fields: channel, joint and target (-1 for none) int32; name, path, interpolation; key (its number in
        the channel) int32; time float64 seconds; x y z w float32, the tangents in_x ... in_w, out_x ...
        out_w, per second. What a channel does not have is NaN; a weight stands in x.

        Raises ValueError for more than 256 MiB that are a thousand times what the clip stores: many keys of
        channels that stand still, or a name of great length, as `name` is as wide as the longest.
        """
        from .clips.tables import clip_records

        return clip_records(self)

    @property
    def nbytes(self) -> int:
        """Bytes of the stored channels: key times (shared ones once), values and tangents.

        A channel that does not move stores one value for all its keys; one that moves may store them in
        cells of four floats, which the compiled form shares.
        """
        records = self._channel_records
        lines = set(zip(records["times"].tolist(), records["key_count"].tolist(), strict=True))
        keys: int = sum(count for _, count in lines)
        return 8 * keys + 4 * _block.stored_floats(records)

    def __eq__(self, other: object) -> bool:
        """Whether both are the same clip of the same block, bound to the same model, with the same events."""
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

    def __reduce__(self) -> tuple[Any, ...]:
        if self._overlay != Overlay():
            stored = self._with()
            stored._overlay = Overlay()
            return _unpickle_overlaid, (stored, *self._overlay)
        if self._model is None:
            return _unpickle_free, (bytes(_block.memory(self._block)), self._index, self._name)
        for number, entry in enumerate(self._model._clip_entries):
            if entry[1] is self._block and entry[2] == self._index:
                return _unpickle_bound, (self._model, number)
        data = bytes(_block.memory(self._block))
        return _unpickle_derived, (self._model, data, self._index, self._name), {"_error": self._error}

    def __repr__(self) -> str:
        unbound = "" if self._model is not None else ", bound to no model"
        return f"<Clip {self.name!r}: {self.duration:.3f} s, {len(self._channel_records)} channels{unbound}>"

    @cached_property
    def _preview(self) -> bytes | None:
        from .output.preview import preview

        return None if self._model is None or self.is_additive else preview(self._model, self)


def _unpickle_free(data: bytes, index: int, name: str) -> Clip:
    return Clip(_core.Block(data), index, None, name)


def _unpickle_overlaid(
    clip: Clip, events: tuple[Event, ...] | EllipsisType, motion: Motion | EllipsisType | None
) -> Clip:
    return clip._with(events=events, motion=motion)


def _unpickle_bound(model: Model, number: int) -> Clip:
    return model.clips[number]


def _unpickle_derived(model: Model, data: bytes, index: int, name: str) -> Clip:
    return Clip(_core.Block(data), index, model, name)


class Clips(Sequence[Clip]):
    """The clips of a model, by number or by exact name. Iteration yields Clips."""

    def __init__(self, model: Model, cache: weakref.WeakValueDictionary[int, Clip]) -> None:
        self._model = model
        self._cache = cache

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the clips; of equal ones, `clips[name]` finds the first."""
        return tuple(entry[0] for entry in self._model._clip_entries)

    def __len__(self) -> int:
        return len(self._model._clip_entries)

    @overload
    def __getitem__(self, index: int | str) -> Clip: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Clip, ...]: ...
    def __getitem__(self, index: int | str | slice) -> Clip | tuple[Clip, ...]:
        if isinstance(index, slice):
            return tuple(self._at(number) for number in range(*index.indices(len(self))))
        return self._at(self._model._clip_number(index))

    def _at(self, number: int) -> Clip:
        clip = self._cache.get(number)
        if clip is None:
            name, block, index = self._model._clip_entries[number]
            clip = Clip(block, index, self._model, name)
            self._cache[number] = clip
        return clip

    def __iter__(self) -> Iterator[Clip]:
        return (self._at(number) for number in range(len(self)))

    def __contains__(self, item: object) -> bool:
        if isinstance(item, str):
            return item in self.names
        return isinstance(item, Clip) and any(clip == item for clip in self)

    def index(self, value: object, start: int = 0, stop: int | None = None) -> int:
        """Number of the first clip from `start` on, and before `stop`, that is or is called `value`.

        Raises ValueError where there is none.
        """
        clips: list[Any] = list(self.names if isinstance(value, str) else self)
        try:
            return clips.index(value, start, len(clips) if stop is None else stop)
        except ValueError:
            raise ValueError(f"value is {value!r}; expected one of {list(self.names)}") from None

    def count(self, value: object) -> int:
        """How many clips are, or are called, `value`."""
        return list[Any](self.names if isinstance(value, str) else self).count(value)

    def __repr__(self) -> str:
        return "<Clips: " + (", ".join(map(repr, self.names)) or "none") + ">"
