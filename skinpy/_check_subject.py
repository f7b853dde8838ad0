"""What the rules of skinpy.check look at: a model, with what several of them need."""

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from ._frames import chunks
from ._types import Array, Floats
from .clip import Channel, Clip
from .model import Model

#: Vertices times frames that are posed for one look at a clip, and for looks at all clips together: a second
#: or two. A look has two frames at least, whatever the model.
_LOOK, _LOOKS = 20_000_000, 200_000_000


class Subject:
    """A model under check."""

    def __init__(self, model: Model, joints: int | None) -> None:
        self.model = model
        self.joints = joints  #: how many palette slots the target holds, or None
        self.names: tuple[str, ...] = model.skeleton.names
        self.clips = tuple(model.clips)
        self._channels: tuple[Clip, tuple[Channel, ...]] | None = None

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
        return np.concatenate(
            [
                self.model.deform(self.model.pose(clip, times[part], loop="clamp"), normals=False)[0][
                    :, ::step
                ]
                for part in chunks(len(times), 3 * count)
            ]
        )

    def joint_of(self, point: int) -> str:
        """Name of the joint that a vertex follows most, or of the joint itself where there is no mesh."""
        if not len(self.model.mesh.positions):
            return self.names[point]
        slot = self.model.mesh.slots[point, self.model.mesh.weights[point].argmax()]
        return self.names[int(self.model.skin.joints[slot])]
