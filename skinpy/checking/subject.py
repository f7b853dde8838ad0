"""The subject of a check: a model, with what several rules need to know about it."""

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from .._types import Array, Floats
from ..clip import Channel, Clip
from ..clips.carrier import carrier
from ..model import Model
from ..models.bounds import box
from ..models.frames import chunks
from ..posing.kinematics import up_vector

#: Vertices times frames that are posed for one rule and one clip, and for all clips together: about a second.
#: Two frames are posed at least, whatever the model.
_MAX_POSED, _MAX_POSED_IN_ALL = 10_000_000, 100_000_000

#: Fraction of the size: one pixel of a figure that is 1000 pixels tall. A smaller distance cannot be seen.
VISIBLE = 1e-3

#: Fraction of the size: a clip that moves its character less far over the ground walks in place.
TRAVELS = 0.1


class Subject:
    """A model under check."""

    def __init__(self, model: Model, joints: int | None) -> None:
        self.model = model
        self.joints = joints  #: palette slots that the target program holds, or None
        self.names: tuple[str, ...] = model.skeleton.names
        self.clips = tuple(model.clips)
        self._channels: tuple[Clip, tuple[Channel, ...]] | None = None
        self._travel: tuple[Clip, Array] | None = None

    @cached_property
    def size(self) -> float:
        """The longest side of the box around the mesh, or the joints, at rest, in model units; never 0."""
        return float(np.ptp(box(self.model), axis=0).max()) or 1.0

    @cached_property
    def stretch(self) -> Array:
        """The factor (J,) by which a joint's parents enlarge its translation at rest."""
        reach = np.linalg.norm(self.model.skeleton.rest_global[:, :3, :3], axis=1).max(axis=1)
        parents = self.model.skeleton.parents
        return np.where(parents >= 0, reach[parents], 1.0)

    def channels(self, clip: Clip) -> tuple[Channel, ...]:
        """Return the channels of a clip that make its poses; those of the last clip are cached."""
        if self._channels is None or self._channels[0] is not clip:
            self._channels = (clip, clip._pose_channels)
        return self._channels[1]

    def travel(self, clip: Clip) -> Array:
        """Return how far (3,) a clip moves its character over the ground; 0 for one that stays in place."""
        if self._travel is None or self._travel[0] is not clip:
            origins = self.model.joint_positions(clip, [0.0, clip.duration], loop="clamp").astype(np.float64)
            path = np.diff(origins[:, carrier(clip)], axis=0)[0]
            up = up_vector(self.model)
            path = path - (path @ up) * up
            self._travel = (clip, path if np.linalg.norm(path) > TRAVELS * self.size else np.zeros(3))
        return self._travel[1]

    def looks(self, of_a_clip: int, in_all: int) -> Iterator[tuple[Clip | None, Array]]:
        """Yield the rest pose, then each clip with times to measure at; fewer times for many clips."""
        yield None, np.zeros(1)
        shown = [clip for clip in self.clips if not clip.is_additive]
        frames = int(np.clip(in_all // max(len(shown), 1), 2, of_a_clip))
        for clip in shown:
            yield clip, np.linspace(0.0, clip.duration, frames)

    def frames(self, wanted: int) -> int:
        """Return the number of frames to pose of one clip: `wanted`, or fewer for large models."""
        vertices = max(len(self.model.mesh.positions), len(self.names))
        most = min(_MAX_POSED, _MAX_POSED_IN_ALL // max(len(self.clips), 1)) // vertices
        return int(np.clip(most, 2, wanted))

    def points(self, clip: Clip, times: Array, step: int = 1) -> Floats:
        """Return every step-th vertex (N,P,3) at times (N,) in scene space; all joints without a mesh."""
        count = len(self.model.mesh.positions)
        if not count:
            return self.model.joint_positions(clip, times, loop="clamp")
        found = np.empty((len(times), -(-count // step), 3), np.float32)
        for span in chunks(len(times), 3 * count):
            pose = self.model.pose(clip, times[span], loop="clamp")
            found[span] = self.model.deform(pose, normals=False)[0][:, ::step]
        return found

    def joint_of(self, point: int) -> str:
        """Return the name of the joint that a vertex follows most, or of a joint if there is no mesh."""
        if not len(self.model.mesh.positions):
            return self.names[point]
        slot = self.model.mesh.slots[point, self.model.mesh.weights[point].argmax()]
        return self.names[int(self.model.skin.joints[slot])]
