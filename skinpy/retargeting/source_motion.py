"""The motion that is transferred: a clip on the rest pose of its skeleton, evaluated in float64."""

from collections.abc import Callable, Sequence

import numpy as np

from .._types import Array
from ..clip import Channel, Clip
from ..clips.evaluate import key_tolerance, sample_channel, trs, unit
from ..posing.kinematics import quaternion_product
from .rest import Rest, product

PATHS = ("translation", "rotation", "scale")
REST_TOLERANCE = 1e-6  #: of the size (or of a unit quaternion): a constant value this near rest is the rest
_MAX_KEPT = 8_000_000  # numbers in the cached transforms of joints
_OVERHEAD = 32  # numbers that an array takes besides its own


class SourceMotion:
    """A clip on its rest pose: the channels that move, and the transforms of the joints at any time."""

    def __init__(self, clip: Clip, rest: Rest) -> None:
        self.rest = rest
        self.slack = key_tolerance(clip)
        self.moving: dict[tuple[str, int], Channel] = {}  #: by path and joint
        self._still = {name: getattr(rest, name).copy() for name in PATHS}
        self.keyed: set[tuple[str, int]] = set()  #: paths and joints of all channels
        self._kept: dict[tuple[str, bytes | None], dict[int, Array]] = {}
        self._kept_size = 0
        for channel in clip._pose_channels:
            if channel.joint is None:
                continue
            component = channel.path, channel.joint
            self.keyed.add(component)
            if is_constant(channel):
                value = channel.values[0].astype(np.float64)
                self._still[channel.path][channel.joint] = unit(value) if len(value) == 4 else value
            else:
                self.moving[component] = channel

    def differs(self, path: str, joint: int) -> bool:
        """Return whether the clip ever has this component of the joint elsewhere than at rest."""
        still = self._still[path][joint] - getattr(self.rest, path)[joint]
        return (path, joint) in self.moving or bool(np.abs(still).max() > REST_TOLERANCE)

    def component(self, path: str, joint: int, times: Array | None) -> Array:
        """Return the values (N,C) at times, or for None the value (C,) where nothing moves."""
        channel = self.moving.get((path, joint))
        if channel is None or times is None:
            return np.asarray(self._still[path][joint])
        return sample_channel(channel, times, self.slack)

    def local_rotation(self, joint: int, times: Array | None) -> Array:
        """Return the local rotations (N,4) or (4,) of a joint."""
        rotation = unit(self.component("rotation", joint, times))
        return quaternion_product(rotation, np.broadcast_to(self.rest.flip[joint], rotation.shape))

    def rotation(self, joints: Sequence[int], times: Array | None) -> Array:
        """Return the product (N,4) or (4,) of the local rotations of joints, the first outermost."""
        total = np.array([0.0, 0.0, 0.0, 1.0])
        if len(joints) and self.rest.parents[joints[0]] < 0:
            return self._from_root("rotation", joints[-1], times, total, self._rotated)
        for joint in joints:
            total = self._rotated(total, joint, times)
        return total

    def _rotated(self, total: Array, joint: int, times: Array | None) -> Array:
        return product(total, self.local_rotation(joint, times))

    def matrix(self, joint: int, times: Array | None) -> Array:
        """Return the matrices (N,4,4) or (4,4) from a joint to the scene; -1 is the scene itself."""
        return self._from_root("matrix", joint, times, np.eye(4), self._moved)

    def _moved(self, total: Array, joint: int, times: Array | None) -> Array:
        components = [self.component(path, joint, times) for path in PATHS]
        lead = () if times is None else (len(times),)
        translation, rotation, scale = (np.broadcast_to(one, (*lead, one.shape[-1])) for one in components)
        return np.asarray(total @ trs(translation, unit(rotation), scale))

    def _from_root(
        self,
        name: str,
        joint: int,
        times: Array | None,
        start: Array,
        step: Callable[[Array, int, Array | None], Array],
    ) -> Array:
        """Return `start` after the steps of all joints from the root to this one.

        Results are cached by `name` and times, as joints below this one often follow.
        """
        if joint < 0:
            return start
        kept = self._kept.setdefault((name, None if times is None else times.tobytes()), {})
        line = []
        while joint >= 0 and joint not in kept:
            line.append(joint)
            joint = int(self.rest.parents[joint])
        total = kept[joint] if joint >= 0 else start
        for one in reversed(line):
            total = step(total, one, times)
            self._kept_size += total.size + _OVERHEAD
            if self._kept_size > _MAX_KEPT:
                self._kept_size = 0
                self._kept.clear()
                kept.clear()
            kept[one] = total
        return total


def is_constant(channel: Channel) -> bool:
    """Return whether the channel has one value at all times."""
    return bool(
        (channel.values == channel.values[0]).all()
        and (channel.in_tangents is None or not channel.in_tangents.any())
        and (channel.out_tangents is None or not channel.out_tangents.any())
    )
