"""From what overlays ask for to what is drawn in one frame: numbers only, no OpenGL."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skinpy.kinds import VertexAnimation

from ..figure import Figure
from ..moment import Moment
from ..posing import Poser
from ..scene.ground import moved_box
from ..scene.view import View
from .glyphs import Glyphs
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
from .names import NamePlaces
from .options import Overlays

if TYPE_CHECKING:
    from skinpy._types import Loop
    from skinpy.model import Model

    from ..posing import ClipLike, Motion, PoseLike

_OF_JOINTS = ("skeleton", "names", "axes", "weights", "influences", "trajectories")
_OF_MESHES = ("weights", "influences", "normals", "wireframe")
_OF_TIMES = ("onion", "trajectories")

_BEFORE, _AFTER, _AT_REST = linear("#2f7fe0"), linear("#f08a24"), linear("#6d6f8f")
_GHOST_ALPHA = 0.75  # of the nearest ghost; the next have less
_REST_ALPHA = 0.8
_CLIP_BOX_ALPHA = 0.4
_NORMAL_SHARE = 0.025  # length of a drawn normal, in sizes of the model
_WAY_FPS = 60.0
_MOST_PLACES = 4000  # of a trajectory
_TICK_SECONDS = 0.1  # between the dots on a trajectory
_AT_ONCE = 256  # times at which all joints are worked out together

_Ways: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True)
class Ghost:
    """A figure of another time or pose, drawn behind the model; linear RGB and straight alpha."""

    figure: Figure
    color: tuple[float, float, float, float]


@dataclass(frozen=True)
class Values:
    """A number from 0 to 1 for each vertex, (V,) float32, shown as its color.

    What has `none_below` or less is gray. Equal keys tell equal values of one model.
    """

    key: int | None
    numbers: NDArray[np.float32]
    none_below: float


@dataclass(frozen=True)
class Plan:
    """What overlays add to one frame."""

    ghosts: tuple[Ghost, ...] = ()  # in the order in which they are drawn
    values: Values | None = None
    wireframe: bool = False
    normals: float | None = None  # length, scene units
    lines_inside: Lines = field(default_factory=no_lines)  # hidden by what is nearer
    lines_on_top: Lines = field(default_factory=no_lines)
    lines_flat: Lines = field(default_factory=no_lines)  # in pixels from the picture's top left
    letters: tuple[Glyphs, NDArray[np.float32]] | None = None


class Planner:
    """Works out what overlays draw of one model."""

    def __init__(self, poser: Poser) -> None:
        self._poser = poser
        self._model = poser.model
        # Of the frame before:
        self._values: Values | None = None
        self._ways: tuple[tuple[Any, ...], _Ways] | None = None

    def plan(
        self, overlays: Overlays, moment: Moment, figure: Figure, view: View, size: tuple[int, int]
    ) -> Plan:
        """What is drawn in a picture of `size` pixels, besides the figure of the moment.

        Raises ValueError for overlays that have nothing to show here, KeyError or IndexError for joints that
        the model does not have, ImportError for names without Pillow.
        """
        _check(overlays, self._poser, moment.motion, moment.pose)
        legend, letters = self._writing(overlays, moment, view, size)
        return Plan(
            ghosts=tuple(self._ghosts(overlays, moment)),
            values=self._surface(overlays),
            wireframe=overlays.wireframe,
            normals=_NORMAL_SHARE * self._size if overlays.normals else None,
            lines_inside=self._boxes(moment, figure) if overlays.boxes else no_lines(),
            lines_on_top=self._joint_lines(overlays, moment),
            lines_flat=legend,
            letters=letters,
        )

    # ---- ghosts -------------------------------------------------------------------------------------

    def _ghosts(self, overlays: Overlays, moment: Moment) -> list[Ghost]:
        """The rest pose, then what is farthest in time: each is drawn over those before it."""
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
        if moment.motion is not None:
            extent = self._poser.extent(moment.motion)
            boxes.append(box_lines(moved_box(extent, moment.root), _CLIP_BOX_ALPHA))
        return np.concatenate(boxes)

    def _joint_lines(self, overlays: Overlays, moment: Moment) -> Lines:
        parts = [no_lines()]
        parents = self._model.skeleton.parents
        if overlays.trajectories:
            parts += self._trajectories(overlays.trajectories, moment)
        if overlays.skeleton:
            parts.append(skeleton_lines(self._joints(moment)[:, :, 3], parents))
        elif overlays.names:
            parts.append(joint_dots(self._joints(moment)[:, :, 3]))
        if overlays.axes:
            parts.append(axis_lines(self._joints(moment), parents))
        return np.concatenate(parts)

    def _trajectories(self, joints: tuple[str | int, ...], moment: Moment) -> list[Lines]:
        now = self._joints(moment)[:, :, 3]
        numbers = [self._number(joint) for joint in joints]
        if moment.motion is None:
            return [trajectory_lines(now[[number]], now[:0], now[number]) for number in numbers]
        ways, ticks = self._ways_of(moment, numbers)
        return [
            trajectory_lines(ways[:, place], ticks[:, place], now[number])
            for place, number in enumerate(numbers)
        ]

    def _ways_of(self, moment: Moment, numbers: list[int]) -> _Ways:
        """Where joints are in all of the clip, (N, K, 3), and at its ticks."""
        assert moment.motion is not None
        about = moment.motion, tuple(numbers), moment.rotation
        if self._ways is None or self._ways[0] != about:
            duration = float(moment.motion.duration)
            count = max(math.ceil(min(duration * _WAY_FPS, _MOST_PLACES)), 1)
            ticks = np.arange(0.0, duration, max(_TICK_SECONDS, duration / _MOST_PLACES))
            way = self._places(moment, np.linspace(0.0, duration, count + 1), numbers)
            self._ways = about, (way, self._places(moment, ticks, numbers))
        way, dots = self._ways[1]
        if moment.root is None:
            return way, dots
        matrix = np.asarray(moment.root, np.float64)
        turn, shift = matrix[:3, :3].T, matrix[:3, 3]
        return way @ turn + shift, dots @ turn + shift

    def _places(self, moment: Moment, times: NDArray[np.float64], numbers: list[int]) -> NDArray[np.float64]:
        """Where joints are at times (N,) of the clip, without `root`: (N, K, 3)."""
        still = moment._replace(root=None)
        result = np.empty((len(times), len(numbers), 3))
        for start in range(0, len(times), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            result[part] = self._globals(still, times[part], "clamp")[..., 3][:, numbers]
        return result

    # ---- joints -------------------------------------------------------------------------------------

    @cached_property
    def _names(self) -> NamePlaces:
        return NamePlaces(self._model.skeleton.names, self._model.skeleton.parents)

    @cached_property
    def _size(self) -> float:
        """Largest extent of the model at rest, scene units."""
        return float(np.ptp(self._poser.extent(None), axis=0).max()) or 1.0

    def _writing(
        self, overlays: Overlays, moment: Moment, view: View, size: tuple[int, int]
    ) -> tuple[Lines, tuple[Glyphs, NDArray[np.float32]] | None]:
        """The names, and with them the legend of a colored surface: its lines, and all letters."""
        if not overlays.names:
            return no_lines(), None
        places = self._names
        letters = places.letters(self._joints(moment)[:, :, 3], view, size)
        if overlays.influences:
            legend = Legend("influences", self._model.mesh.weights.shape[1])
        elif overlays.weights is not None:
            legend = Legend(self._model.skeleton.names[self._number(overlays.weights)], None)
        else:
            return no_lines(), (places.glyphs, letters)
        lines, words = legend.lay(places.glyphs, size)
        return lines, (places.glyphs, np.concatenate([letters, words]))

    def _number(self, joint: str | int) -> int:
        """The number of a joint, given by it or by its name; digits are one where no joint has that name."""
        skeleton = self._model.skeleton
        if isinstance(joint, str):
            if joint in skeleton.names or not joint.isdecimal():
                return skeleton.index(joint)
            joint = int(joint)
        if not 0 <= joint < len(skeleton):
            raise IndexError(f"joint {joint} of an overlay is not there; expected 0 to {len(skeleton) - 1}")
        return joint

    def _joints(self, moment: Moment) -> NDArray[Any]:
        """Globals (J, 3, 4) of all joints."""
        pose = moment.pose
        if pose is None:
            return self._globals(moment, moment.time, moment.loop)
        assert not isinstance(pose, np.ndarray)
        return pose.globals(affine=True)

    def _globals(self, moment: Moment, times: ArrayLike, loop: Loop) -> NDArray[Any]:
        """Globals (..., J, 3, 4) of all joints at times (...) of a clip."""
        motion, options = moment.motion, {"rotation": moment.rotation, "root": moment.root}
        assert not isinstance(motion, VertexAnimation)
        given: Any = {name: value for name, value in options.items() if value is not None}
        return self._model.globals(motion, times, affine=True, loop=loop, **given)


def available_overlays(model: Model, clip: ClipLike = None) -> frozenset[str]:
    """Names of the overlays that have something to show for a clip of a model: fields of `Overlays`.

    `clip` is as in `Renderer.frame`, and so are the errors.
    """
    poser = Poser(model)
    missing = _missing(poser, poser.motion(clip), None)
    return frozenset(Overlays.__dataclass_fields__) - set(missing)


def _missing(poser: Poser, motion: Motion, pose: PoseLike | None) -> dict[str, str]:
    """Overlays that have nothing to show, and why."""
    reasons: dict[str, str] = {}
    if pose is not None:
        reasons |= dict.fromkeys(_OF_TIMES, "a pose has no times before and after; draw a clip")
    if not poser.has_mesh:
        reasons |= dict.fromkeys(_OF_MESHES, "this model has no mesh")
    if isinstance(motion, VertexAnimation):
        why = f"{motion.name!r} is a vertex animation, which has no joints"
        reasons |= dict.fromkeys(_OF_JOINTS, why)
    if isinstance(pose, np.ndarray):
        why = "a palette does not tell where the joints are; draw a Pose"
        reasons |= dict.fromkeys(("skeleton", "names", "axes"), why)
    return reasons


def _check(overlays: Overlays, poser: Poser, motion: Motion, pose: PoseLike | None) -> None:
    for name, why in _missing(poser, motion, pose).items():
        value = getattr(overlays, name)
        if value or (name == "weights" and value is not None):
            raise ValueError(f"overlay {name} has nothing to show: {why}")


def _weight_values(model: Model, joint: int) -> Values:
    """What each vertex follows a joint, by all slots that are its."""
    mesh = model.mesh
    slots = np.flatnonzero(model.skin.joints == joint)
    weights = (mesh.weights * np.isin(mesh.slots, slots)).sum(axis=1)
    return Values(joint, weights.astype(np.float32), 0.0)


def _influence_values(model: Model) -> Values:
    """How many joints move each vertex: 0 for one, 1 for as many as a vertex can have."""
    weights = model.mesh.weights
    most = max(weights.shape[1] - 1, 1)
    numbers = np.clip(np.count_nonzero(weights, axis=1) - 1, 0, None) / most
    return Values(None, numbers.astype(np.float32), -1.0)
