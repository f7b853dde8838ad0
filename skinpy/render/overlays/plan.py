"""From the options of overlays to the lines, letters and ghosts of one frame. No OpenGL."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skinpy.kinds import VertexAnimation

from ..._arguments import brief
from ..._text import quoted
from ..camera import moved_box
from ..figure import Figure
from ..moment import Moment
from ..posing import Poser
from ..scene.view import View
from .glyphs import NO_BOXES, Glyphs, no_letters
from .legend import Legend
from .marks import (
    Lines,
    axis_lines,
    box_lines,
    joint_dots,
    linear,
    no_lines,
    skeleton_lines,
    trajectory_lines,
)
from .names import NameLayout
from .options import Overlays, chosen_names, without

if TYPE_CHECKING:
    from skinpy._types import Loop
    from skinpy.model import Model

    from ..posing import ClipLike

_NEED_JOINTS = ("skeleton", "names", "axes", "weights", "influences", "trajectories")
_NEED_MESH = ("weights", "influences", "normals", "wireframe")
_NEED_CLIP = ("onion", "trajectories")

_BEFORE, _AFTER, _AT_REST = linear("#2f7fe0"), linear("#f08a24"), linear("#6d6f8f")
_GHOST_ALPHA = 0.75  # of the nearest ghost; the next have less
_REST_ALPHA = 0.8
_CLIP_BOX_ALPHA = 0.4
_NORMAL_RATIO = 0.025  # length of a drawn normal, by the size of the model
_TRAJECTORY_FPS = 60.0
_MAX_POINTS = 4000  # of a trajectory
_TICK_SECONDS = 0.1  # between the dots on a trajectory
_BATCH = 256  # times at which all joints are posed together

_Trajectories: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True)
class Ghost:
    """A figure of another time or pose, drawn behind the model in linear RGB with straight alpha."""

    figure: Figure
    color: tuple[float, float, float, float]


@dataclass(frozen=True)
class Values:
    """A number from 0 to 1 for each vertex, (V,) float32, that is shown as a color.

    Vertices with `none_below` or less are gray. Values of one model with equal keys are equal.
    """

    key: int | None
    numbers: NDArray[np.float32]
    none_below: float


@dataclass(frozen=True)
class Plan:
    """All that overlays add to one frame."""

    ghosts: tuple[Ghost, ...] = ()  # in the order in which they are drawn
    values: Values | None = None
    wireframe: bool = False
    normals: float | None = None  # length, scene units
    lines_inside: Lines = field(default_factory=no_lines)  # hidden by what is nearer
    lines_on_top: Lines = field(default_factory=no_lines)
    lines_flat: Lines = field(default_factory=no_lines)  # in pixels from the picture's top left
    letters: tuple[Glyphs, NDArray[np.float32]] | None = None


class Planner:
    """Plans the overlays of one model."""

    def __init__(self, poser: Poser) -> None:
        self._poser = poser
        self._model = poser.model
        # Kept from the frame before:
        self._values: Values | None = None
        self._trajectories_kept: tuple[tuple[Any, ...], _Trajectories] | None = None

    def plan(
        self,
        overlays: Overlays,
        moment: Moment,
        figure: Figure,
        view: View,
        size: tuple[int, int],
        covered: int = 0,
    ) -> Plan:
        """What is drawn in a picture of `size` pixels, besides the figure of the moment.

        Names and legend stay above the `covered` lowest rows of pixels, over which something else lies.
        Raises ValueError for overlays that have nothing to show here, KeyError or IndexError for joints that
        the model does not have, ImportError for names without Pillow.
        """
        _check(overlays, self._poser, moment)
        joints = np.zeros((0, 3, 4))
        if overlays.skeleton or overlays.names or overlays.axes or overlays.trajectories:
            joints = self._joints(moment)
        legend, letters = self._writing(overlays, joints, view, size, covered)
        return Plan(
            ghosts=tuple(self._ghosts(overlays, moment)),
            values=self._surface(overlays),
            wireframe=overlays.wireframe,
            normals=_NORMAL_RATIO * self._size if overlays.normals else None,
            lines_inside=self._boxes(moment, figure) if overlays.boxes else no_lines(),
            lines_on_top=self._joint_lines(overlays, moment, joints),
            lines_flat=legend,
            letters=letters,
        )

    # ---- ghosts -------------------------------------------------------------------------------------

    def _ghosts(self, overlays: Overlays, moment: Moment) -> list[Ghost]:
        """The rest pose, then the farthest in time first: each ghost is drawn over those before it."""
        poser, motion = self._poser, moment.motion
        ghosts = []
        if overlays.rest:
            rest = Moment(None, rotation=moment.rotation, root=moment.root)
            ghosts.append(Ghost(poser.figure(rest), (*_AT_REST, _REST_ALPHA)))
        if motion is None:
            return ghosts
        for step in range(overlays.onion, 0, -1):
            alpha = _GHOST_ALPHA * (1 - (step - 1) / (overlays.onion + 1))
            for steps, color in ((-step, _BEFORE), (step, _AFTER)):
                time = float(moment.time) + steps * overlays.onion_step
                if moment.loop in ("clamp", "once") and not 0 <= time <= motion.duration:
                    continue
                figure = poser.figure(moment._replace(time=time))
                ghosts.append(Ghost(figure, (*color, alpha)))
        return ghosts

    # ---- the surface --------------------------------------------------------------------------------

    def _surface(self, overlays: Overlays) -> Values | None:
        if not overlays.influences and overlays.weights is None:
            return None
        key = None if overlays.weights is None else self._number(overlays.weights)
        if self._values is None or self._values.key != key:
            self._values = _influence_values(self._model) if key is None else _weight_values(self._model, key)
        return self._values

    # ---- lines --------------------------------------------------------------------------------------

    def _boxes(self, moment: Moment, figure: Figure) -> Lines:
        boxes = [box_lines(self._poser.box(figure), 1.0)]
        if moment.motion is not None and moment.pose_at is None:  # under a layer the clip moves otherwise
            extent = self._poser.facts.extent(moment.motion)
            boxes.append(box_lines(moved_box(extent, moment.root), _CLIP_BOX_ALPHA))
        return np.concatenate(boxes)

    def _joint_lines(self, overlays: Overlays, moment: Moment, joints: NDArray[Any]) -> Lines:
        """Lines for the globals (J, 3, 4) of the joints."""
        marks = [no_lines()]
        positions, parents = joints[:, :, 3], self._model.skeleton.parents
        if overlays.trajectories:
            marks += self._trajectories(overlays.trajectories, moment, positions)
        if overlays.skeleton:
            marks.append(skeleton_lines(positions, parents))
        elif overlays.names:
            marks.append(joint_dots(positions))
        if overlays.axes:
            marks.append(axis_lines(joints, parents))
        return np.concatenate(marks)

    def _trajectories(self, joints: tuple[str | int, ...], moment: Moment, now: NDArray[Any]) -> list[Lines]:
        """The trajectories of joints, which are `now` at positions (J, 3)."""
        numbers = [self._number(joint) for joint in joints]
        if moment.motion is None:
            return [trajectory_lines(now[[number]], now[:0], now[number]) for number in numbers]
        lines, ticks = self._trajectories_of(moment, numbers)
        return [
            trajectory_lines(lines[:, column], ticks[:, column], now[number])
            for column, number in enumerate(numbers)
        ]

    def _trajectories_of(self, moment: Moment, numbers: list[int]) -> _Trajectories:
        """Positions of joints through the whole clip, (N, K, 3), and at its ticks, (T, K, 3)."""
        assert moment.motion is not None
        duration = float(moment.motion.duration)
        start = _layered_start(moment, duration)
        key = moment.motion, tuple(numbers), moment.rotation, moment.pose_at, start
        if self._trajectories_kept is None or self._trajectories_kept[0] != key:
            count = max(math.ceil(min(duration * _TRAJECTORY_FPS, _MAX_POINTS)), 1)
            ticks = np.arange(0.0, duration, max(_TICK_SECONDS, duration / _MAX_POINTS))
            line = self._positions(moment, start + np.linspace(0.0, duration, count + 1), numbers)
            self._trajectories_kept = key, (line, self._positions(moment, start + ticks, numbers))
        line, dots = self._trajectories_kept[1]
        if moment.root is None:
            return line, dots
        matrix = np.asarray(moment.root, np.float64)
        linear_part, shift = matrix[:3, :3].T, matrix[:3, 3]
        return line @ linear_part + shift, dots @ linear_part + shift

    def _positions(
        self, moment: Moment, times: NDArray[np.float64], numbers: list[int]
    ) -> NDArray[np.float64]:
        """Positions of joints at times (N,) of the clip, without `root`: (N, K, 3)."""
        still = moment._replace(root=None)
        result = np.empty((len(times), len(numbers), 3))
        for start in range(0, len(times), _BATCH):
            batch = slice(start, start + _BATCH)
            result[batch] = self._globals(still, times[batch], "clamp")[..., 3][:, numbers]
        return result

    # ---- joints -------------------------------------------------------------------------------------

    @cached_property
    def _names(self) -> NameLayout:
        return NameLayout(self._model.skeleton.names, self._model.skeleton.parents)

    @cached_property
    def _size(self) -> float:
        """Largest extent of the model at rest, scene units."""
        return float(np.ptp(self._poser.facts.extent(None), axis=0).max()) or 1.0

    def _writing(
        self, overlays: Overlays, joints: NDArray[Any], view: View, size: tuple[int, int], covered: int
    ) -> tuple[Lines, tuple[Glyphs, NDArray[np.float32]] | None]:
        """The lines of the legend of a colored surface, and the letters of names and legend."""
        if not overlays.names:
            return no_lines(), None
        names, lines, words, taken = self._names, no_lines(), no_letters(), NO_BOXES
        room = size[0], max(size[1] - covered, 0)
        if overlays.influences:
            legend = Legend("influences", self._model.mesh.weights.shape[1])
            lines, words, taken = legend.lay_out(names.glyphs, room)
        elif overlays.weights is not None:
            legend = Legend(self._model.skeleton.names[self._number(overlays.weights)], None)
            lines, words, taken = legend.lay_out(names.glyphs, room)
        letters = names.letters(joints[:, :, 3], view, size, room, taken)
        return lines, (names.glyphs, np.concatenate([letters, words]))

    def _number(self, joint: str | int) -> int:
        """The index of a joint given by index or name; a name of digits is an index if no joint has it."""
        skeleton = self._model.skeleton
        if isinstance(joint, str):
            if joint in skeleton.names or not joint.isdecimal():
                return skeleton.index(joint)
            joint = int(joint)
        if not 0 <= joint < len(skeleton):
            raise IndexError(f"an overlay names joint {brief(joint)}; expected 0 to {len(skeleton) - 1}")
        return joint

    def _joints(self, moment: Moment) -> NDArray[Any]:
        """Globals (J, 3, 4) of all joints."""
        pose = moment.pose
        if pose is None:
            return self._globals(moment, np.array(float(moment.time)), moment.loop)
        assert not isinstance(pose, np.ndarray)
        return pose.globals(affine=True)

    def _globals(self, moment: Moment, times: NDArray[np.float64], loop: Loop) -> NDArray[Any]:
        """Globals (..., J, 3, 4) of all joints at times (...) of a clip."""
        if moment.pose_at is not None:
            poses = [moment.pose_at(time).globals(affine=True) for time in np.ravel(times).tolist()]
            return np.reshape(poses, (*np.shape(times), -1, 3, 4))
        motion, options = moment.motion, {"rotation": moment.rotation, "root": moment.root}
        assert not isinstance(motion, VertexAnimation)
        given: Any = {name: value for name, value in options.items() if value is not None}
        return self._model.globals(motion, times, affine=True, loop=loop, **given)


def available_overlays(model: Model, clip: ClipLike = None) -> frozenset[str]:
    """Return the names of the overlays that have something to show for a clip.

    Parameters
    ----------
    model : Model
        The model.
    clip : Clip, VertexAnimation, str or int, optional
        The clip, as in `Renderer.frame`.

    Returns
    -------
    frozenset of str
        Names of parameters of `Overlays`.

    Raises
    ------
    KeyError
        If the model has no clip of this name.
    IndexError
        If the model has no clip of this index.
    ValueError
        If the clip belongs to another model.
    TypeError
        If `clip` has the wrong type.

    Examples
    --------
    >>> "skeleton" in skinpy.render.available_overlays(skinpy.character())
    True
    """
    poser = Poser(model)
    missing = _missing(poser, Moment(poser.motion(clip)))
    return frozenset(Overlays.__dataclass_fields__) - set(missing)


def split_overlays(overlays: Overlays, poser: Poser, moment: Moment) -> tuple[Overlays, dict[str, str]]:
    """Those of the overlays that have something to show, and the names of the others, with reasons."""
    chosen = chosen_names(overlays)
    idle = {name: why for name, why in _missing(poser, moment).items() if name in chosen}
    return without(overlays, idle), idle


def _layered_start(moment: Moment, duration: float) -> float:
    """The time at which the shown repetition of the motion begins.

    It is 0 without a layer, which alone differs from one repetition to the next.
    """
    if moment.pose_at is None or moment.loop != "wrap" or duration <= 0:
        return 0.0
    return float(moment.time) // duration * duration


def _missing(poser: Poser, moment: Moment) -> dict[str, str]:
    """Overlays that have nothing to show, and why."""
    motion, pose = moment.motion, moment.pose
    reasons: dict[str, str] = {}
    if pose is not None:
        reasons |= dict.fromkeys(_NEED_CLIP, "a pose has no times before and after; draw a clip")
    if not poser.has_mesh:
        reasons |= dict.fromkeys(_NEED_MESH, "this model has no mesh")
    if isinstance(motion, VertexAnimation):
        why = f"{quoted(motion.name)} is a vertex animation, which has no joints"
        reasons |= dict.fromkeys(_NEED_JOINTS, why)
    if isinstance(pose, np.ndarray):
        why = "a palette does not have the positions of joints; draw a Pose"
        reasons |= dict.fromkeys(("skeleton", "names", "axes"), why)
    return reasons


def _check(overlays: Overlays, poser: Poser, moment: Moment) -> None:
    for name, why in split_overlays(overlays, poser, moment)[1].items():
        raise ValueError(f"overlay {name} has nothing to show: {why}")


def _weight_values(model: Model, joint: int) -> Values:
    """The weight of a joint at each vertex: the sum over all slots that belong to the joint."""
    mesh = model.mesh
    slots = np.flatnonzero(model.skin.joints == joint)
    weights = (mesh.weights * np.isin(mesh.slots, slots)).sum(axis=1)
    return Values(joint, weights.astype(np.float32), 0.0)


def _influence_values(model: Model) -> Values:
    """How many joints move each vertex: 0 for one joint, 1 for as many as a vertex can have."""
    weights = model.mesh.weights
    most = max(weights.shape[1] - 1, 1)
    numbers = np.clip(np.count_nonzero(weights, axis=1) - 1, 0, None) / most
    return Values(None, numbers.astype(np.float32), -1.0)
