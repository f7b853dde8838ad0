"""From what overlays ask for to what is drawn in one frame: numbers only, no OpenGL."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skinpy.kinds import VertexAnimation

from .figure import Figure
from .overlays import Overlays
from .overlays_marks import Lines, no_lines, skeleton_lines
from .posing import Poser

if TYPE_CHECKING:
    from skinpy._types import Loop, Rotation

    from .posing import Motion, PoseLike

_OF_JOINTS = ("skeleton", "names", "axes", "weights", "influences", "trajectories")
_OF_MESHES = ("weights", "influences", "normals", "wireframe")


class Moment(NamedTuple):
    """What a frame shows, as its caller named it, and the figure that it is."""

    motion: Motion
    time: float
    pose: PoseLike | None
    loop: Loop
    rotation: Rotation
    root: ArrayLike | None
    figure: Figure


@dataclass(frozen=True)
class Plan:
    """What overlays add to one frame."""

    wireframe: bool = False
    lines_on_top: Lines = field(default_factory=no_lines)


class Planner:
    """Works out what overlays draw of one model."""

    def __init__(self, poser: Poser) -> None:
        self._poser = poser
        self._model = poser.model

    def plan(self, overlays: Overlays, moment: Moment) -> Plan:
        """What is to be drawn. Raises ValueError for overlays that have nothing to show here, KeyError or
        IndexError for joints that the model does not have.
        """
        self._check(overlays, moment)
        on_top = []
        if overlays.skeleton:
            joints = self._joints(moment)
            on_top.append(skeleton_lines(joints[:, :, 3], self._model.skeleton.parents))
        return Plan(
            wireframe=overlays.wireframe,
            lines_on_top=np.concatenate([no_lines(), *on_top]),
        )

    def _check(self, overlays: Overlays, moment: Moment) -> None:
        for names, why in (
            (_OF_JOINTS, _without_joints(moment)),
            (_OF_MESHES, None if self._poser.has_mesh else "this model has no mesh"),
        ):
            wanted = [name for name in names if getattr(overlays, name) not in (False, None, ())]
            if why is not None and wanted:
                raise ValueError(f"overlay {wanted[0]} has nothing to show: {why}; leave it out")

    def _joints(self, moment: Moment) -> NDArray[Any]:
        """Globals (J, 3, 4) of all joints."""
        pose = moment.pose
        if pose is not None:
            assert not isinstance(pose, np.ndarray)
            return pose.globals(affine=True)
        assert not isinstance(moment.motion, VertexAnimation)
        return self._model.globals(
            moment.motion,
            moment.time,
            affine=True,
            loop=moment.loop,
            rotation=moment.rotation,
            root=moment.root,
        )


def _without_joints(moment: Moment) -> str | None:
    """Why there are no joints to be seen, or None where there are."""
    if isinstance(moment.motion, VertexAnimation):
        return f"{moment.motion.name!r} is a vertex animation, which has no joints"
    if isinstance(moment.pose, np.ndarray):
        return "a palette does not tell where the joints are (a Pose does)"
    return None
