"""Where the floor lies and how it moves. No OpenGL."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skinpy.clips.stepping import walking_velocity
from skinpy.models.pickling import need_vertices

from ..camera import front_vector, moved_box, up_vector
from ..figure import Figure
from ..moment import Moment
from ..posing import Poser
from .floor import Floor, FloorPlane
from .shadow import crowd_texels, shadow_area

if TYPE_CHECKING:
    from skinpy.model import Model

    from ..posing import ClipLike, Extent, Motion

_SIZES = 6.0  # diameter of the floor, by the size of the model
_TRAVELS = 2.0  # the same, by the diagonal of the area that a motion covers
_TILES = 5.0  # tiles along the size of the model


class Ground:
    """The floor under one model."""

    def __init__(self, poser: Poser, floor: Floor) -> None:
        self._poser = poser
        self._floor = floor
        self._up = up_vector(poser.model.up)
        self._front = front_vector(poser.model.up)
        self._right = np.cross(self._up, self._front)
        # Of the frame before: its motion, extent and velocity. Nothing else remembers those of derived clips.
        self._last: tuple[Motion, Extent, NDArray[np.float64]] | None = None

    def plane(self, moment: Moment) -> FloorPlane:
        """The floor at one time of a motion, moved by `root` as the model is."""
        motion = moment.motion
        if self._last is None or self._last[0] is not motion:
            self._last = motion, self._poser.facts.extent(motion), self._velocity(motion)
        walked = self._last[2] * _time_walked(moment)
        return self._lay_out(moved_box(self._last[1], moment.root), walked, moment.time)

    def shaded(self, moment: Moment, figure: Figure) -> FloorPlane:
        """The floor of a frame, and where the shadow of the figure falls on it."""
        plane = self.plane(moment)
        if self._floor.shadow == 0:
            return plane
        axes = self._right, self._front, self._up
        box = self._poser.box(figure)
        shadow = shadow_area(box, plane.center, axes, self._size, float(self._floor.shadow))
        return dataclasses.replace(plane, shadow=shadow)

    def under(self, extent: Extent, scale: float) -> FloorPlane:
        """The floor under a crowd in a box (2, 3), and where the shadows of the crowd fall.

        It stands still. `scale` is the size of the instances by that of the model.
        """
        plane, size = self._lay_out(extent, np.zeros(3), 0.0), self._size * scale
        axes = self._right, self._front, self._up
        shadow = shadow_area(extent, plane.center, axes, size, float(self._floor.shadow))
        if shadow is not None:
            shadow = dataclasses.replace(shadow, texels=crowd_texels(shadow.reach, size))
        return dataclasses.replace(plane, shadow=shadow)

    def _lay_out(self, extent: Extent, walked: NDArray[np.float64], time: float) -> FloorPlane:
        """The floor under a box, after the model has walked by `walked` (3,)."""
        floor, size = self._floor, self._size
        radius = (self._diameter(size, extent) if floor.size is None else floor.size) / 2
        lowest = float((extent @ self._up).min()) if floor.height is None else floor.height
        center = extent.mean(axis=0)
        center += (lowest - center @ self._up) * self._up
        repeat = (size / _TILES if floor.tile is None else floor.tile) * floor.tiles
        uv = self._texture_map(center, walked, radius, repeat)
        if floor.uv is not None:
            uv = np.asarray(floor.uv.sample(time), np.float64) @ uv
        if floor.uv is None or floor.uv.wrap != "clamp":
            uv[:2, 2] %= 2.0  # whole repetitions, mirrored or not, show nothing but would cost precision
        return FloorPlane(center, radius * self._right, radius * self._front, uv)

    @property
    def _size(self) -> float:
        """The model's largest extent at rest, scene units."""
        return float(np.ptp(self._poser.facts.extent(None), axis=0).max()) or 1.0

    def _diameter(self, size: float, extent: Extent) -> float:
        """A diameter that is large enough for the model, and for a motion that travels."""
        travelled = float(np.linalg.norm(np.ptp(extent, axis=0)[self._up == 0]))
        return max(_SIZES * size, _TRAVELS * travelled)

    def _texture_map(
        self, center: NDArray[np.float64], walked: NDArray[np.float64], radius: float, repeat: float
    ) -> NDArray[np.float64]:
        """The matrix (3, 3) from points on the unit disc to texture coordinates.

        The texture is fixed to the ground, and the ground moves back as far as the model has walked: the
        point of the ground that lies at p was at p + walked at first.
        """
        matrix = np.diag([radius / repeat, radius / repeat, 1.0])
        start = center + walked
        matrix[:2, 2] = start @ self._right / repeat, start @ self._front / repeat
        return matrix

    def _velocity(self, motion: Motion) -> NDArray[np.float64]:
        velocity = self._floor.velocity(self._front)
        if velocity is not None:
            return velocity
        return np.zeros(3) if motion is None else _walking(self._poser, motion)


def ground_velocity(model: Model, clip: ClipLike = None) -> NDArray[np.float64]:
    """Return the ground speed of an in-place walk.

    It is the velocity that best cancels the motion of the points that touch the ground: a model that moves
    with it has planted feet that stand still.

    Parameters
    ----------
    model : Model
        The model.
    clip : Clip, VertexAnimation, str or int, optional
        A clip of the model, its name or its index, or a vertex animation whose model this is. Without it
        the first clip.

    Returns
    -------
    (3,) float64 ndarray
        The velocity in scene units per second, level. It is zero where nothing moves on the ground, where
        the points on the ground have no common direction, and for a model without clips.

    Raises
    ------
    KeyError
        If the model has no clip of this name.
    IndexError
        If the model has no clip of this index.
    ValueError
        If the clip belongs to another model, or the model came out of a pickle without its vertices.
    TypeError
        If `clip` has the wrong type.

    Notes
    -----
    The lowest vertices (joints where there is no mesh) are followed at 60 Hz. Each has the weight
    exp(-(h / s)^2 / 2), where h is its height above the lowest of all, and s is 1.2 % of the size of the
    model. The mean is found by iteratively reweighted least squares with Cauchy weights, so that a heel
    that lifts does not count.

    Examples
    --------
    >>> velocity = skinpy.render.ground_velocity(skinpy.character(), "walk")
    >>> velocity.shape
    (3,)
    """
    found = velocity_of(model, clip)
    need_vertices(model, "ground_velocity")
    return found


def velocity_of(model: Model, clip: ClipLike) -> NDArray[np.float64]:
    """The ground velocity by the vertices, or by the joints of a model without any."""
    poser = Poser(model)
    motion = poser.motion(clip)
    return np.zeros(3) if motion is None else _walking(poser, motion).copy()


def _walking(poser: Poser, motion: Any) -> NDArray[np.float64]:
    return poser.facts.remember(motion, ("velocity",), lambda: _estimate(poser, motion))


def _estimate(poser: Poser, motion: Any) -> NDArray[np.float64]:
    return walking_velocity(
        lambda times, chosen: poser.points(motion, times, chosen),
        poser.point_count,
        float(motion.duration),
        float(np.ptp(poser.facts.extent(None), axis=0).max()),
        up_vector(poser.model.up),
        poser.drawn_vertices,
    )


def _time_walked(moment: Moment) -> float:
    """Seconds that the model has walked: with the loop modes that end, it stands still at the end."""
    motion, time, loop = moment.motion, moment.time, moment.loop
    if motion is None or loop == "wrap":
        return time
    duration = float(motion.duration)
    if loop == "pingpong" and duration > 0:
        return duration - abs(time % (2 * duration) - duration)
    return min(max(time, 0.0), duration)
