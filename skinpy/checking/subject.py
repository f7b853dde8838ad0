"""What the rules of skinpy.check look at: a model, with what several of them need."""

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from .._types import Array, Floats
from ..clip import Channel, Clip
from ..clips.root_extract import carrier, up_vector
from ..model import Model
from ..models.frames import chunks

#: Vertices times frames that are posed for one look at a clip, and for looks at all clips together: a second
#: or so. A look has two frames at least, whatever the model.
_LOOK, _LOOKS = 10_000_000, 100_000_000


#: Share of the size: a clip that carries its character less far walks in place.
TRAVELS = 0.1


class Subject:
    """A model under check."""

    def __init__(self, model: Model, joints: int | None) -> None:
        self.model = model
        self.joints = joints  #: how many palette slots the target holds, or None
        self.names: tuple[str, ...] = model.skeleton.names
        self.clips = tuple(model.clips)
        self._channels: tuple[Clip, tuple[Channel, ...]] | None = None
        self._travel: tuple[Clip, Array] | None = None

    @cached_property
    def size(self) -> float:
        """Model units: the longest side of the box around the mesh, or the joints, at rest; never 0."""
        return float(np.ptp(self.model.bounds(), axis=0).max()) or 1.0

    @cached_property
    def stretch(self) -> Array:
        """(J,) by how much a joint's parents enlarge its translation at rest."""
        reach = np.linalg.norm(self.model.skeleton.rest_global[:, :3, :3], axis=1).max(axis=1)
        parents = self.model.skeleton.parents
        return np.where(parents >= 0, reach[parents], 1.0)

    def channels(self, clip: Clip) -> tuple[Channel, ...]:
        """The clip's channels; those of the last clip are kept, as making them takes its time."""
        if self._channels is None or self._channels[0] is not clip:
            self._channels = (clip, clip.channels)
        return self._channels[1]

    def travel(self, clip: Clip) -> Array:
        """(3,) how far the clip carries its character over the ground; 0 where that is not worth the name."""
        if self._travel is None or self._travel[0] is not clip:
            origins = self.model.joint_positions(clip, [0.0, clip.duration], loop="clamp").astype(np.float64)
            way = np.diff(origins[:, carrier(clip)], axis=0)[0]
            up = up_vector(self.model)
            way = way - (way @ up) * up
            self._travel = (clip, way if np.linalg.norm(way) > TRAVELS * self.size else np.zeros(3))
        return self._travel[1]

    def looks(self, of_a_clip: int, in_all: int) -> Iterator[tuple[Clip | None, Array]]:
        """The rest pose, then each clip with times at which to look at it; few where there are many clips."""
        yield None, np.zeros(1)
        shown = [clip for clip in self.clips if not clip.is_additive]
        frames = int(np.clip(in_all // max(len(shown), 1), 2, of_a_clip))
        for clip in shown:
            yield clip, np.linspace(0.0, clip.duration, frames)

    def frames(self, wanted: int) -> int:
        """How many frames of one clip to pose: `wanted`, or less where the model or the clips are many."""
        vertices = max(len(self.model.mesh.positions), len(self.names))
        most = min(_LOOK, _LOOKS // max(len(self.clips), 1)) // vertices
        return int(np.clip(most, 2, wanted))

    def points(self, clip: Clip, times: Array, step: int = 1) -> Floats:
        """(N,P,3) every step-th vertex at times (N,) in scene space; every joint where there is no mesh."""
        count = len(self.model.mesh.positions)
        if not count:
            return self.model.joint_positions(clip, times, loop="clamp")
        found = np.empty((len(times), -(-count // step), 3), np.float32)
        for part in chunks(len(times), 3 * count):
            pose = self.model.pose(clip, times[part], loop="clamp")
            found[part] = self.model.deform(pose, normals=False)[0][:, ::step]
        return found

    def joint_of(self, point: int) -> str:
        """Name of the joint that a vertex follows most, or of the joint itself where there is no mesh."""
        if not len(self.model.mesh.positions):
            return self.names[point]
        slot = self.model.mesh.slots[point, self.model.mesh.weights[point].argmax()]
        return self.names[int(self.model.skin.joints[slot])]
