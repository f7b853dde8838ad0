"""Motion carried from the joints of one rest pose to those of another: what retargeting and mirroring share.

With G(t) a joint's global rotation and G its rest, D(t) = G(t) G^-1 is its displacement from rest in scene
space. A target joint that follows a source joint gets the displacement A D(t) A^-1, where A turns (or
reflects) the source's scene into the target's. For the locals: let p be the source joint that the nearest
following ancestor in the target follows (or none, with P(t) = 1). All between that ancestor and the joint
are at rest, so that with the joint's parent's rest global Gpar

    local(t) = Gpar^-1 A D_p(t)^-1 D(t) A^-1 G.

Where one channel alone changes D_p^-1 D, this is a constant, times that channel's quaternion, times a
constant: linear in the keys, which are then carried over one by one, with their interpolation and tangents.
Where several do, the motion is sampled at the times of all their keys and at least 30 times a second.
Translations and scales work alike. Quaternions are x y z w; all in float64.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from .._types import Array
from ..clip import Channel, Clip
from ..clips.evaluate import key_tolerance, sample_channel, trs, unit
from ..clips.events import Motion
from ..posing.kinematics import quaternion_product, rotated

if TYPE_CHECKING:
    from ..model import Model

_PATHS = ("translation", "rotation", "scale")
_SAMPLE_SECONDS = 1.0 / 30.0  # no longer without a key where motion is sampled
_MOST_SAMPLES = 2**18  # of one channel, beside its keys: longer without a key where a clip takes hours
_MOST_KEPT = 8_000_000  # numbers of the joints' places at some times
_OVERHEAD = 32  # numbers that an array takes beside its own
_STILL = 1e-6  # of the size (or of a unit quaternion): a channel that is constant and this near rest is none


@dataclass(frozen=True)
class Change:
    """What becomes of the source's scene on the way to the target."""

    turn: Array  #: (4,) the rotation A, or for a reflection the half turn that acts on rotations as it does
    matrix: Array  #: (3,3) A for directions, a rotation or a reflection
    scale: float  #: lengths of the target per lengths of the source


class Rest:
    """A skeleton's rest pose in float64, with rotations that negative scales do not upset."""

    def __init__(self, model: "Model") -> None:
        skeleton = model.skeleton
        self.parents = skeleton.parents
        self.translation = skeleton.translation.astype(np.float64)
        self.rotation = unit(skeleton.rotation.astype(np.float64))
        self.scale = skeleton.scale.astype(np.float64)
        self.flip = _flips(self.scale)
        self.matrices = trs(self.translation, self.rotation, self.scale)  #: global; without shear
        self.rotations = quaternion_product(self.rotation, self.flip)  #: global
        for joint, parent in enumerate(self.parents):
            if parent >= 0:
                self.matrices[joint] = self.matrices[parent] @ self.matrices[joint]
                self.rotations[joint] = quaternion_product(self.rotations[parent], self.rotations[joint])

    @property
    def origins(self) -> Array:
        """(J,3) places of the joints in scene space."""
        return np.asarray(self.matrices[:, :3, 3])

    def line(self, joint: int) -> list[int]:
        """The joint and its ancestors, the root first."""
        found = []
        while joint >= 0:
            found.append(joint)
            joint = int(self.parents[joint])
        return found[::-1]

    def ways(self, joint: int, other: int) -> tuple[list[int], list[int]]:
        """The joints down to each of two (-1 for the scene) from where both ways part, outermost first."""
        ways: tuple[list[int], list[int]] = [], []
        while joint != other:  # a joint has a higher number than its parent: the higher is not above both
            if joint > other:
                ways[0].append(joint)
                joint = int(self.parents[joint])
            else:
                ways[1].append(other)
                other = int(self.parents[other])
        return ways[0][::-1], ways[1][::-1]

    def parent_linear(self, joint: int) -> Array:
        """(3,3) rest transform of directions from the joint's parent to the scene."""
        parent = int(self.parents[joint])
        return np.eye(3) if parent < 0 else np.asarray(self.matrices[parent, :3, :3])

    def parent_rotation(self, joint: int) -> Array:
        """(4,) global rest rotation of the joint's parent."""
        parent = int(self.parents[joint])
        return np.array([0.0, 0.0, 0.0, 1.0]) if parent < 0 else np.asarray(self.rotations[parent])


def _flips(scale: Array) -> Array:
    """(J,4) rotations that negative scales (J,3) amount to, but for a reflection of the whole.

    Reflecting the whole, -1, commutes with every rotation, so it never shows in a displacement from rest.
    """
    signs = np.where(scale < 0, -1.0, 1.0)
    signs *= signs.prod(axis=1, keepdims=True)
    flips = np.zeros((len(scale), 4))
    flips[:, 3] = 1.0
    turned = signs.min(axis=1, initial=1.0) < 0  # two signs are negative: a half turn about the third axis
    flips[turned, :3], flips[turned, 3] = np.maximum(signs[turned], 0.0), 0.0
    return flips


def conjugate(rotation: Array) -> Array:
    """The inverse of unit quaternions (...,4)."""
    return np.asarray(rotation * np.array([-1.0, -1.0, -1.0, 1.0]))


def product(*rotations: Array) -> Array:
    """Quaternions (...,4) multiplied; the last comes first."""
    total = rotations[0]
    for one in rotations[1:]:
        total = quaternion_product(total, one)
    return total


class Source:
    """A clip on its rest pose: what moves, and where everything is at a time."""

    def __init__(self, clip: Clip, rest: Rest) -> None:
        self.rest = rest
        self.slack = key_tolerance(clip)
        self.moving: dict[tuple[str, int], Channel] = {}
        self._still = {name: getattr(rest, name).copy() for name in _PATHS}
        self.keyed: set[tuple[str, int]] = set()
        self._kept: dict[tuple[str, bytes | None], dict[int, Array]] = {}
        self._kept_size = 0
        for channel in clip.channels:
            if channel.joint is None:
                continue
            place = channel.path, channel.joint
            self.keyed.add(place)
            if is_constant(channel):
                value = channel.values[0].astype(np.float64)
                self._still[channel.path][channel.joint] = unit(value) if len(value) == 4 else value
            else:
                self.moving[place] = channel

    def differs(self, path: str, joint: int) -> bool:
        """Whether the clip ever has this part of the joint elsewhere than at rest."""
        still = self._still[path][joint] - getattr(self.rest, path)[joint]
        return (path, joint) in self.moving or bool(np.abs(still).max() > _STILL)

    def part(self, path: str, joint: int, times: Array | None) -> Array:
        """(N,C) values at times, or (C,) what it has while nothing moves."""
        channel = self.moving.get((path, joint))
        if channel is None or times is None:
            return np.asarray(self._still[path][joint])
        return sample_channel(channel, times, self.slack)

    def local_rotation(self, joint: int, times: Array | None) -> Array:
        turn = unit(self.part("rotation", joint, times))
        return quaternion_product(turn, np.broadcast_to(self.rest.flip[joint], turn.shape))

    def rotation(self, joints: Sequence[int], times: Array | None) -> Array:
        """(N,4) or (4,): the locals of joints multiplied, the first of them outermost."""
        total = np.array([0.0, 0.0, 0.0, 1.0])
        if len(joints) and self.rest.parents[joints[0]] < 0:
            return self._from_root("rotation", joints[-1], times, total, self._turned)
        for joint in joints:
            total = self._turned(total, joint, times)
        return total

    def _turned(self, total: Array, joint: int, times: Array | None) -> Array:
        return product(total, self.local_rotation(joint, times))

    def matrix(self, joint: int, times: Array | None) -> Array:
        """(N,4,4) or (4,4): joint to scene; the scene itself for -1."""
        return self._from_root("matrix", joint, times, np.eye(4), self._moved)

    def _moved(self, total: Array, joint: int, times: Array | None) -> Array:
        parts = [self.part(path, joint, times) for path in _PATHS]
        lead = () if times is None else (len(times),)
        wide = [np.broadcast_to(part, (*lead, part.shape[-1])) for part in parts]
        return np.asarray(total @ trs(wide[0], unit(wide[1]), wide[2]))

    def _from_root(
        self,
        kind: str,
        joint: int,
        times: Array | None,
        start: Array,
        step: Callable[[Array, int, Array | None], Array],
    ) -> Array:
        """What the joints from the root to this one make of start, one after another.

        It is kept, for the joints below it are often asked for next.
        """
        if joint < 0:
            return start
        kept = self._kept.setdefault((kind, None if times is None else times.tobytes()), {})
        line = []
        while joint >= 0 and joint not in kept:
            line.append(joint)
            joint = int(self.rest.parents[joint])
        total = kept[joint] if joint >= 0 else start
        for one in reversed(line):
            total = step(total, one, times)
            self._kept_size += total.size + _OVERHEAD
            if self._kept_size > _MOST_KEPT:
                self._kept_size = 0
                self._kept.clear()
                kept.clear()
            kept[one] = total
        return total


def is_constant(channel: Channel) -> bool:
    """Whether the channel has one value at all times."""
    return bool(
        (channel.values == channel.values[0]).all()
        and (channel.in_tangents is None or not channel.in_tangents.any())
        and (channel.out_tangents is None or not channel.out_tangents.any())
    )


def transfer(
    source: Source, target: Rest, followed: Array, change: Change, travelling: "Travelling"
) -> list[Channel]:
    """The channels of the target's joints; `followed` (J,) is the source joint of each, -1 for none."""
    channels: list[Channel | None] = []
    above = anchors(target, followed)
    for joint, leader in enumerate(followed):
        if leader < 0:
            continue
        follower = _Follower(source, target, joint, int(leader), int(above[joint]), change)
        travels = travelling.is_travelling(joint)
        channels.append(follower.translation(travels, travelling.lift(joint)))
        channels.append(follower.rotation())
        channels.append(follower.scale())
    return [channel for channel in channels if channel is not None]


@dataclass(frozen=True)
class Travelling:
    """Which target joints go where their source joint goes in the scene; the others keep to their parents."""

    joints: frozenset[int]
    lifts: tuple[int, Array] | None = (
        None  #: a joint, and what is added to its way, (3,) in the target's scene
    )

    def is_travelling(self, joint: int) -> bool:
        return joint in self.joints

    def lift(self, joint: int) -> Array:
        """(3,) what is added to the joint's way."""
        return self.lifts[1] if self.lifts is not None and self.lifts[0] == joint else np.zeros(3)


def changed_motion(motion: Motion | None, change: Change) -> Motion | None:
    """The root motion in the target's scene."""
    if motion is None:
        return None
    keys = motion.values.astype(np.float64)
    places = keys[:, :3] @ (change.scale * change.matrix).T
    turns = product(change.turn, keys[:, 3:], conjugate(change.turn))
    return Motion(motion.times, np.concatenate([places, turns], axis=1).astype(np.float32))


def anchors(target: Rest, followed: Array) -> Array:
    """(J,) the source joint that the nearest following ancestor of each target joint follows, or -1."""
    found = np.full(len(followed), -1)
    for joint, parent in enumerate(target.parents):
        if parent >= 0:
            found[joint] = followed[parent] if followed[parent] >= 0 else found[parent]
    return found


@dataclass(frozen=True)
class _Follower:
    """A target joint that follows a source joint, beside the anchor: a source joint, or -1 for the scene."""

    source: Source
    target: Rest
    joint: int
    leader: int
    anchor: int
    change: Change

    def _path(self) -> tuple[list[int], list[int]]:
        """The source joints on the way from the anchor down to the leader, and those up to the anchor."""
        return self.source.rest.ways(self.leader, self.anchor)

    # ---- rotation ---------------------------------------------------------------------------------

    def rotation(self) -> Channel | None:
        down, up = self._path()
        rest, change = self.source.rest, self.change
        movers = [joint for joint in (*down, *up) if ("rotation", joint) in self.source.moving]
        front = product(conjugate(self.target.parent_rotation(self.joint)), change.turn)
        if self.anchor >= 0:
            front = product(front, rest.rotations[self.anchor])
        back = product(conjugate(rest.rotations[self.leader]), conjugate(change.turn))
        back = product(back, self.target.rotations[self.joint], conjugate(self.target.flip[self.joint]))
        if len(movers) == 1 and movers[0] in down:
            place = down.index(movers[0])
            front = product(front, self._turned_back(None), self.source.rotation(down[:place], None))
            back = product(rest.flip[movers[0]], self.source.rotation(down[place + 1 :], None), back)

            def turned(keys: Array) -> Array:
                return product(front, keys, back)

            return self._carried(self.source.moving["rotation", movers[0]], "rotation", turned, turned)
        if not movers:
            middle = product(self._turned_back(None), self.source.rotation(down, None))
            return self._still("rotation", product(front, middle, back))
        channels = [self.source.moving["rotation", joint] for joint in movers]
        return self._sampled("rotation", channels, lambda times: self._rotation_at(times, front, back))

    def _rotation_at(self, times: Array, front: Array, back: Array) -> Array:
        """(N,4) where several joints move."""
        middle = product(self._turned_back(times), self.source.rotation(self._path()[0], times))
        return unit(_same_signs(product(front, middle, back)))

    def _turned_back(self, times: Array | None) -> Array:
        """Inverse of the rotation from where both ways part to the anchor."""
        return conjugate(self.source.rotation(self._path()[1], times))

    # ---- translation ------------------------------------------------------------------------------

    def translation(self, travels: bool, lift: Array) -> Channel | None:
        """The joint's way: in the scene where it travels, else what its own channel adds to its rest."""
        rest = self.source.rest
        into = np.linalg.pinv(self.target.parent_linear(self.joint))
        linear = into @ (self.change.scale * self.change.matrix)
        start = self.target.translation[self.joint]
        movers, other = self._movers_of_place() if travels else ([], [])
        own = self.source.moving.get(("translation", self.leader))
        if other:

            def at(times: Array) -> Array:
                way = self._place(times) - rest.origins[self.leader]
                return np.asarray(start + way @ linear.T + into @ lift)

            return self._sampled("translation", [*movers, *other], at)
        # The place is an affine map of the one channel: found from the place with that channel at 0.
        if travels:
            frame = self._frame(None)
            outer = linear @ frame[:3, :3]
            shift = linear @ (frame[:3, 3] - rest.origins[self.leader]) + start
            changed = self._changes_place()
        else:
            outer = linear @ rest.parent_linear(self.leader)
            shift = start - outer @ rest.translation[self.leader]
            changed = self.source.differs("translation", self.leader)
        if changed:
            shift = shift + into @ lift
        if own is None:
            return self._still(
                "translation", outer @ self.source.part("translation", self.leader, None) + shift
            )
        return self._carried(
            own, "translation", lambda keys: keys @ outer.T + shift, lambda slopes: slopes @ outer.T
        )

    def _movers_of_place(self) -> tuple[list[Channel], list[Channel]]:
        """The leader's own moving translation, and all other moving channels that its place depends on."""
        down, up = self._path()
        moving = self.source.moving
        own = [("translation", joint) for joint in down[-1:]]
        other = [(path, joint) for joint in (*down[:-1], *up) for path in _PATHS]
        return [moving[one] for one in own if one in moving], [moving[one] for one in other if one in moving]

    def _changes_place(self) -> bool:
        """Whether anything on the way from the anchor is elsewhere than at rest."""
        down, up = self._path()
        whole = any(self.source.differs(path, joint) for joint in (*down[:-1], *up) for path in _PATHS)
        return whole or self.source.differs("translation", self.leader)

    def _frame(self, times: Array | None) -> Array:
        """(...,4,4): the leader's parent to the scene, seen from the anchor as if that were at rest."""
        rest = self.source.rest
        frame = self.source.matrix(int(rest.parents[self.leader]), times)
        if self.anchor < 0:
            return frame
        back = rest.matrices[self.anchor] @ np.linalg.pinv(self.source.matrix(self.anchor, times))
        return np.asarray(back @ frame)

    def _place(self, times: Array) -> Array:
        """(N,3): the leader's origin, seen from the anchor as if that were at rest."""
        own = np.broadcast_to(self.source.part("translation", self.leader, times), (len(times), 3))
        frame = np.broadcast_to(self._frame(times), (len(times), 4, 4))
        return np.asarray(np.einsum("nij,nj->ni", frame[:, :3, :3], own) + frame[:, :3, 3])

    # ---- scale ------------------------------------------------------------------------------------

    def scale(self) -> Channel | None:
        """What the leader's scale is of its rest scale; between different axes by their squared cosines."""
        turn = product(
            conjugate(self.target.rotations[self.joint]),
            self.change.turn,
            self.source.rest.rotations[self.leader],
        )
        cosines = np.ascontiguousarray(rotated(turn, np.eye(3)).T)
        rest = self.source.rest.scale[self.leader]
        linear = self.target.scale[self.joint][:, None] * cosines**2 / np.where(rest == 0, 1.0, rest)
        channel = self.source.moving.get(("scale", self.leader))
        if channel is None:
            return self._still("scale", linear @ self.source.part("scale", self.leader, None))
        return self._carried(channel, "scale", lambda keys: keys @ linear.T, lambda slopes: slopes @ linear.T)

    # ---- channels ---------------------------------------------------------------------------------

    def _carried(
        self, channel: Channel, path: str, keys: Callable[[Array], Array], slopes: Callable[[Array], Array]
    ) -> Channel:
        """The channel with each key and tangent put through a function."""

        def through(change: Callable[[Array], Array], rows: Array | None) -> Array | None:
            return None if rows is None else change(rows.astype(np.float64)).astype(np.float32)

        return replace(
            channel,
            joint=self.joint,
            name="",
            path=path,
            values=keys(channel.values.astype(np.float64)).astype(np.float32),
            in_tangents=through(slopes, channel.in_tangents),
            out_tangents=through(slopes, channel.out_tangents),
        )

    def _sampled(self, path: str, channels: list[Channel], at: Callable[[Array], Array]) -> Channel:
        """Keys at the times of all keys of `channels`, and more; steps stay such where all are."""
        steps = all(channel.interpolation == "step" for channel in channels)
        times = _union(channels, self.source.slack, steps)
        values = at(times).astype(np.float32)
        kind = "step" if steps else "linear"
        return Channel(self.joint, None, "", path, kind, times, values, None, None)

    def _still(self, path: str, value: Array) -> Channel | None:
        """One key, or nothing where that is the rest pose's value."""
        rest = getattr(self.target, path)[self.joint]
        off = np.abs(value - rest).max()
        if path == "rotation":  # -q is the same rotation
            off = min(off, np.abs(value + rest).max())
        if off <= _STILL * (np.abs(self.target.translation).max() if path == "translation" else 1.0):
            return None
        values = value[None].astype(np.float32)
        return Channel(self.joint, None, "", path, "linear", np.zeros(1), values, None, None)


def _same_signs(keys: Array) -> Array:
    """Quaternions (N,4), each with the sign that is nearer to the one before."""
    turns = np.where((keys[1:] * keys[:-1]).sum(axis=1) < 0, -1.0, 1.0)
    return np.asarray(keys * np.concatenate([np.ones(1), np.cumprod(turns)])[:, None])


def _union(channels: Sequence[Channel], slack: float, steps: bool) -> Array:
    """All key times; unless all are steps, a time just before each step and no long gaps."""
    lines = [channel.times for channel in channels]
    if not steps:
        first, last = min(line[0] for line in lines), max(line[-1] for line in lines)
        before = [c.times[1:] - 3 * slack for c in channels if c.interpolation == "step"]
        lines = [*lines, *before]
        step = max(_SAMPLE_SECONDS, (last - first) / _MOST_SAMPLES)
        grid = np.arange(1, int((last - first) / step) + 1) * step + first
        keys = np.unique(np.concatenate(lines))
        place = np.clip(np.searchsorted(keys, grid), 1, len(keys) - 1)
        gap = keys[place] - keys[place - 1] if len(keys) > 1 else np.zeros(len(grid))
        lines = [keys, grid[(gap > step * 1.01) & (grid < last)]]
    times = np.unique(np.concatenate(lines))
    return np.asarray(times[np.concatenate([np.ones(1, bool), np.diff(times) > slack])])
