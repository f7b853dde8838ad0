"""Motion carried from the joints of one rest pose to those of another: the base of retargeting and mirroring.

With G(t) a joint's global rotation and G that of the reference pose (the rest pose unless another is given),
D(t) = G(t) G^-1 is its displacement in scene space. A target joint that follows a source joint gets the
displacement A D(t) A^-1, where A rotates (or reflects) the source's scene into the target's. For the local
rotations: let p be the source joint that the nearest following ancestor in the target follows (or none, with
D_p(t) = 1). All joints between that ancestor and the joint are as in the target's reference pose, so that
with the global Gpar of the joint's parent in it

    local(t) = Gpar^-1 A D_p(t)^-1 D(t) A^-1 G.

Where one channel alone changes D_p^-1 D, this is a constant, times that channel's quaternion, times a
constant. It is linear in the keys, which are then carried over one by one, with their interpolation and
tangents. Where several channels do, the motion is sampled at the times of all their keys and at least 30
times a second. Translations and scales work in the same way. Quaternions are x y z w; all in float64.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .._types import Array
from ..clip import Channel
from ..clips.evaluate import key_times, same_signs, unit
from ..clips.events import Motion
from ..posing.kinematics import conjugate, rotated
from .rest import Rest, product
from .source_motion import PATHS, REST_TOLERANCE, SourceMotion

_SAMPLE_SECONDS = 1.0 / 30.0  # longest gap between keys where motion is sampled


@dataclass(frozen=True)
class Change:
    """The transform from the source's scene to the target's."""

    rotation: Array  #: (4,) A for rotations; for a reflection the half turn that acts on rotations alike
    matrix: Array  #: (3,3) A for directions, a rotation or a reflection
    scale: float  #: a length of the target per length of the source


def transfer(
    source: SourceMotion,
    target: Rest,
    followed: Array,
    change: Change,
    traveling: "Traveling",
    references: tuple[Rest, Rest] | None = None,
) -> list[Channel]:
    """Return the channels of the target's joints.

    `followed` (J,) has the source joint that each target joint follows, -1 for none. The two references are
    the poses of source and target that go together; without them these are the rest poses.
    """
    channels: list[Channel | None] = []
    references = references or (source.rest, target)
    above = anchors(target, followed)
    for joint, leader in enumerate(followed):
        if leader < 0:
            channels.append(_still(target, joint, "rotation", references[1].rotation[joint]))
            continue
        follower = _Follower(source, target, *references, joint, int(leader), int(above[joint]), change)
        travels = traveling.is_traveling(joint)
        channels.append(follower.translation(travels, traveling.lift(joint)))
        channels.append(follower.rotation())
        channels.append(follower.scale())
    return [channel for channel in channels if channel is not None]


@dataclass(frozen=True)
class Traveling:
    """The target joints that move through the scene as their source joints do."""

    joints: frozenset[int]
    #: A joint, and the offset (3,) that is added to its translation, in the target's scene.
    lifts: tuple[int, Array] | None = None

    def is_traveling(self, joint: int) -> bool:
        """Return whether a target joint moves through the scene as its source joint does."""
        return joint in self.joints

    def lift(self, joint: int) -> Array:
        """Return the offset (3,) that is added to the joint's translation."""
        return self.lifts[1] if self.lifts is not None and self.lifts[0] == joint else np.zeros(3)


def changed_motion(motion: Motion | None, change: Change) -> Motion | None:
    """Return the root motion in the target's scene."""
    if motion is None:
        return None
    keys = motion.values.astype(np.float64)
    origins = keys[:, :3] @ (change.scale * change.matrix).T
    rotations = product(change.rotation, keys[:, 3:], conjugate(change.rotation))
    return Motion(motion.times, np.concatenate([origins, rotations], axis=1).astype(np.float32))


def anchors(target: Rest, followed: Array) -> Array:
    """Return the source joint (J,) of the nearest ancestor that follows one, for each target joint; or -1."""
    found = np.full(len(followed), -1)
    for joint, parent in enumerate(target.parents):
        if parent >= 0:
            found[joint] = followed[parent] if followed[parent] >= 0 else found[parent]
    return found


@dataclass(frozen=True)
class _Follower:
    """A target joint that follows a source joint, the leader.

    The anchor is the source joint that the nearest ancestor of the target joint follows, or -1 for the scene.
    """

    source: SourceMotion
    rest: Rest  #: of the target
    source_reference: Rest
    target_reference: Rest
    joint: int
    leader: int
    anchor: int
    change: Change

    def _path(self) -> tuple[list[int], list[int]]:
        """Return the source joints down to the leader and down to the anchor, from their common ancestor."""
        return self.source.rest.paths(self.leader, self.anchor)

    # ---- rotation ---------------------------------------------------------------------------------

    def rotation(self) -> Channel | None:
        """Return the rotation channel, or None where the joint is at rest."""
        down, up = self._path()
        rest, change, reference = self.source.rest, self.change, self.source_reference
        movers = [joint for joint in (*down, *up) if ("rotation", joint) in self.source.moving]
        front = product(conjugate(self.target_reference.parent_rotation(self.joint)), change.rotation)
        if self.anchor >= 0:
            front = product(front, reference.rotations[self.anchor])
        back = product(conjugate(reference.rotations[self.leader]), conjugate(change.rotation))
        back = product(
            back, self.target_reference.rotations[self.joint], conjugate(self.rest.flip[self.joint])
        )
        if len(movers) == 1 and movers[0] in down:
            index = down.index(movers[0])
            front = product(front, self._inverse_anchor(None), self.source.rotation(down[:index], None))
            back = product(rest.flip[movers[0]], self.source.rotation(down[index + 1 :], None), back)

            def transferred(keys: Array) -> Array:
                return product(front, keys, back)

            channel = self.source.moving["rotation", movers[0]]
            return self._carried(channel, "rotation", transferred, transferred)
        if not movers:
            middle = product(self._inverse_anchor(None), self.source.rotation(down, None))
            return _still(self.rest, self.joint, "rotation", product(front, middle, back))
        channels = [self.source.moving["rotation", joint] for joint in movers]
        return self._sampled("rotation", channels, lambda times: self._rotation_at(times, front, back))

    def _rotation_at(self, times: Array, front: Array, back: Array) -> Array:
        """Return the rotations (N,4) where several joints move."""
        middle = product(self._inverse_anchor(times), self.source.rotation(self._path()[0], times))
        return unit(same_signs(product(front, middle, back)))

    def _inverse_anchor(self, times: Array | None) -> Array:
        """Return the inverse of the rotation from the common ancestor to the anchor."""
        return conjugate(self.source.rotation(self._path()[1], times))

    # ---- translation ------------------------------------------------------------------------------

    def translation(self, travels: bool, lift: Array) -> Channel | None:
        """Return the translation channel, or None where the joint is at rest.

        A joint that travels gets the leader's motion in the scene, any other what the leader's own channel
        adds to its rest.
        """
        rest = self.source.rest
        into = np.linalg.pinv(self.target_reference.parent_linear(self.joint))
        linear = into @ (self.change.scale * self.change.matrix)
        start = self.rest.translation[self.joint]
        movers, other = self._movers_of_origin() if travels else ([], [])
        own = self.source.moving.get(("translation", self.leader))
        if other:

            def at(times: Array) -> Array:
                displacement = self._origin(times) - rest.origins[self.leader]
                return np.asarray(start + displacement @ linear.T + into @ lift)

            return self._sampled("translation", [*movers, *other], at)
        # The origin is an affine map of the one channel, found from the origin with that channel at 0.
        if travels:
            frame = self._frame(None)
            outer = linear @ frame[:3, :3]
            shift = linear @ (frame[:3, 3] - rest.origins[self.leader]) + start
            changed = self._moves_origin()
        else:
            outer = linear @ self.source_reference.parent_linear(self.leader)
            shift = start - outer @ rest.translation[self.leader]
            changed = self.source.differs("translation", self.leader)
        if changed:
            shift = shift + into @ lift
        if own is None:
            value = self.source.component("translation", self.leader, None)
            return _still(self.rest, self.joint, "translation", outer @ value + shift)
        return self._carried(
            own, "translation", lambda keys: keys @ outer.T + shift, lambda slopes: slopes @ outer.T
        )

    def _movers_of_origin(self) -> tuple[list[Channel], list[Channel]]:
        """Return the leader's own moving translation, and the other moving channels of its origin."""
        down, up = self._path()
        moving = self.source.moving
        own = [("translation", joint) for joint in down[-1:]]
        other = [(path, joint) for joint in (*down[:-1], *up) for path in PATHS]
        return [moving[one] for one in own if one in moving], [moving[one] for one in other if one in moving]

    def _moves_origin(self) -> bool:
        """Return whether a component that the leader's origin depends on is elsewhere than at rest."""
        down, up = self._path()
        others = any(self.source.differs(path, joint) for joint in (*down[:-1], *up) for path in PATHS)
        return others or self.source.differs("translation", self.leader)

    def _frame(self, times: Array | None) -> Array:
        """Return the matrices (...,4,4) of the leader's parent, as if the anchor were at rest."""
        rest = self.source.rest
        frame = self.source.matrix(int(rest.parents[self.leader]), times)
        if self.anchor < 0:
            return frame
        back = rest.matrices[self.anchor] @ np.linalg.pinv(self.source.matrix(self.anchor, times))
        return np.asarray(back @ frame)

    def _origin(self, times: Array) -> Array:
        """Return the leader's origin (N,3) in the scene, as if the anchor were at rest."""
        own = np.broadcast_to(self.source.component("translation", self.leader, times), (len(times), 3))
        frame = np.broadcast_to(self._frame(times), (len(times), 4, 4))
        return np.asarray(np.einsum("nij,nj->ni", frame[:, :3, :3], own) + frame[:, :3, 3])

    # ---- scale ------------------------------------------------------------------------------------

    def scale(self) -> Channel | None:
        """Return the scale channel, or None where the joint is at rest.

        The leader's scale relative to its rest is carried over. Where the axes of both joints differ, it is
        weighted by the squared cosines between them.
        """
        between = product(
            conjugate(self.target_reference.rotations[self.joint]),
            self.change.rotation,
            self.source_reference.rotations[self.leader],
        )
        cosines = np.ascontiguousarray(rotated(between, np.eye(3)).T)
        rest = self.source.rest.scale[self.leader]
        linear = self.rest.scale[self.joint][:, None] * cosines**2 / np.where(rest == 0, 1.0, rest)
        channel = self.source.moving.get(("scale", self.leader))
        if channel is None:
            value = linear @ self.source.component("scale", self.leader, None)
            return _still(self.rest, self.joint, "scale", value)
        return self._carried(channel, "scale", lambda keys: keys @ linear.T, lambda slopes: slopes @ linear.T)

    # ---- channels ---------------------------------------------------------------------------------

    def _carried(
        self, channel: Channel, path: str, keys: Callable[[Array], Array], slopes: Callable[[Array], Array]
    ) -> Channel:
        """Return the channel with its keys and tangents mapped by two functions."""

        def mapped(tangents: Array | None) -> Array | None:
            return None if tangents is None else slopes(tangents.astype(np.float64)).astype(np.float32)

        return replace(
            channel,
            joint=self.joint,
            name="",
            path=path,
            values=keys(channel.values.astype(np.float64)).astype(np.float32),
            in_tangents=mapped(channel.in_tangents),
            out_tangents=mapped(channel.out_tangents),
        )

    def _sampled(self, path: str, channels: list[Channel], at: Callable[[Array], Array]) -> Channel:
        """Return a channel that is sampled at the key times of `channels` and between."""
        steps = all(channel.interpolation == "step" for channel in channels)
        times = key_times(channels, self.source.slack, steps, _SAMPLE_SECONDS)
        values = at(times).astype(np.float32)
        interpolation = "step" if steps else "linear"
        return Channel(self.joint, None, "", path, interpolation, times, values, None, None)


def _still(rest: Rest, joint: int, path: str, value: Array) -> Channel | None:
    """Return a channel of one key, or None where `value` is that of the rest pose."""
    own = getattr(rest, path)[joint]
    off = np.abs(value - own).max()
    if path == "rotation":  # -q is the same rotation
        off = min(off, np.abs(value + own).max())
    if off <= REST_TOLERANCE * (np.abs(rest.translation).max() if path == "translation" else 1.0):
        return None
    values = value[None].astype(np.float32)
    return Channel(joint, None, "", path, "linear", np.zeros(1), values, None, None)
