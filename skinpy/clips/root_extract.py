"""Clip.extract_root_motion and Clip.root_motion_from_feet: where a clip's root motion comes from.

With G(t) the joint's global in scene space, p(t) its origin and u the axis that is up, the root motion is
M(t) = K(t) inverse(K(0)), K(t) = translate(level part of p(t)) * turn(u, psi(t)): a vertical frame that goes
where the joint goes and faces as it faces. psi is the twist about u of Q = rotation of G(t) * inverse of the
rotation of G at rest, in the swing-twist decomposition Q = swing * twist. With the quaternion (v, w) of Q
psi = 2 atan2(v.u, w), which in the entries of Q is atan2(axial(Q).u, trace(Q) - u.Qu).
The residual is inverse(M) G; with P the parent's global its local is inverse(P) inverse(M) P L.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .. import _block
from .._arguments import flag, names_of
from .._types import Array
from ..clip import Channel, Clip
from ..posing.kinematics import JointLike, joint_number, quaternion_product, rotated
from ..storage.skin_error import size_of
from .edit import derived
from .evaluate import key_tolerance, sample_channel, slerp, trs, unit
from .events import Motion
from .root_motion import IDENTITY
from .stepping import chosen_vertices, walking_velocity

if TYPE_CHECKING:
    from ..model import Model

_ERROR = 5e-6  # of the size: what the residual may be off between keys, before it is rounded to float32
_ROUNDS = 4  # of cutting spans in which it is off further
_MOST_CUTS = 16  # parts that a span is cut into in one round
_MOST_KEYS = 65536
_MOST_POSES = 10_000_000  # of moving joints of the chain, at all times together: a few seconds
_CALL = 200  # poses of a joint that take as long as going to the next
_STILL = 1e-6  # of the size, or radians: what moves less does not travel
_EVEN = 1e-4  # how far a turn, seen in the parent's space, may be from a rotation
_MOVES = 1e-4  # of the size: a translation whose keys lie within that does not move
_SHARE = 0.5  # of the joints below, and of the way: see carrier


def extracted(clip: Clip, joint: JointLike | None, translation: str | None, yaw: bool) -> Clip:
    """See Clip.extract_root_motion."""
    model = _checked(clip)
    if translation not in ("ground", "all", None):
        raise ValueError(f"translation is {translation!r}; expected 'ground', 'all' or None")
    if not flag("yaw", yaw) and translation is None:
        raise ValueError("translation is None and yaw is false: there is nothing to extract")
    number = carrier(clip) if joint is None else joint_number(model.pose(), joint)
    size = size_of(clip) or 1.0
    way = _Way(clip, number, size, translation, yaw)
    if not way.travels:
        ends = np.unique([0.0, clip.duration])
        values = np.tile(np.array(IDENTITY, np.float32), (len(ends), 1))
        return derived(clip, clip.channels, clip.duration, motion=Motion(ends, values))
    return _without(clip, number, way.refined(), way.turns)


def _checked(clip: Clip) -> "Model":
    if clip.model is None:
        raise ValueError(
            f"clip {clip.name!r} is bound to no model; model.add_clips(clip) gives one that has it"
        )
    if clip.is_additive:
        raise ValueError(f"clip {clip.name!r} is additive: differences have no place in the scene")
    if clip._motion is not None:
        raise ValueError(f"clip {clip.name!r} has root motion already; take the clip that it was made from")
    return clip.model


def _without(clip: Clip, joint: int, keys: "_Keys", turns: bool) -> Clip:
    """The clip with other keys of one joint, and with the root motion that they lack."""
    parts = {"translation": keys.translation} | ({"rotation": keys.rotation} if turns else {})
    channels = [one for one in clip.channels if one.joint != joint or one.path not in parts]
    for path, values in parts.items():
        rows = values.astype(np.float32)
        name = clip._joint_names[joint]
        channels.append(Channel(joint, None, name, path, "linear", keys.times, rows, None, None))
    return derived(clip, channels, clip.duration, motion=Motion(keys.times, keys.motion))


# ---- which joint ----------------------------------------------------------------------------------


def carrier(clip: Clip) -> int:
    """The joint that carries the character.

    Of the joints with a channel of translation or rotation whose keys differ, those count that have at least
    half as many joints below them as the one with the most. Of these it is the first whose translation's keys
    span at least half as far, in scene space, as those of any; where no translation moves, the first of
    these; where nothing moves, the first joint.
    """
    model = clip.model
    assert model is not None
    parents = model.skeleton.parents
    below = np.ones(len(parents), np.int64)
    for joint in range(len(parents) - 1, -1, -1):
        if parents[joint] >= 0:
            below[parents[joint]] += below[joint]
    stretch = np.linalg.norm(model.skeleton.rest_global[:, :3, :3], axis=1).max(axis=1)
    size = size_of(clip) or 1.0
    spans: dict[int, float] = {}
    for channel in clip.channels:
        if channel.joint is None or channel.path == "scale" or not np.ptp(channel.values, axis=0).any():
            continue
        parent = int(parents[channel.joint])
        span = 0.0
        if channel.path == "translation":
            span = float(np.linalg.norm(np.ptp(channel.values, axis=0)))
            span *= float(stretch[parent]) if parent >= 0 else 1.0
        spans[channel.joint] = max(spans.get(channel.joint, 0.0), span if span > _MOVES * size else 0.0)
    if not spans:
        return 0
    most = max(below[joint] for joint in spans)
    trunk = sorted(joint for joint in spans if below[joint] >= _SHARE * most)
    farthest = max(spans[joint] for joint in trunk)
    return next(joint for joint in trunk if spans[joint] >= _SHARE * farthest)


# ---- how it travels -------------------------------------------------------------------------------


def up_vector(model: "Model") -> Array:
    """(3,) float64: the unit vector of model.up."""
    return np.asarray(np.eye(3)["XYZ".index(model.up[1])] * (-1.0 if model.up[0] == "-" else 1.0))


@dataclass(frozen=True, eq=False)
class _Keys:
    """The root motion and what it leaves of a joint, at times (N,)."""

    times: Array
    motion: Array  #: (N,7) float32
    translation: Array  #: (N,3) of the residual, to the parent
    rotation: Array  #: (N,4)


@dataclass(frozen=True, eq=False)
class _Link:
    """A joint of the chain down to the one that carries."""

    still: Array  #: (4,4) the joints between it and the link above, which do not move
    joint: int
    channels: list[Channel]


@dataclass(frozen=True, eq=False)
class _Parts:
    """Globals (N,4,4) of the joint and its parent, and its own translation, rotation and scale."""

    above: Array
    here: Array
    translation: Array
    rotation: Array
    scale: Array


class _Way:
    """A joint's way through the scene in float64, and the clip without it."""

    def __init__(self, clip: Clip, joint: int, size: float, translation: str | None, yaw: bool) -> None:
        assert clip.model is not None
        self._clip, self._joint, self._size = clip, joint, size
        self._skeleton = clip.model.skeleton
        self._up = up_vector(clip.model)
        self._chain = _ancestors(self._skeleton.parents, joint)
        above = set(self._chain)
        self._channels = [one for one in clip.channels if one.joint in above]
        self._links = self._joined()
        kept = {"all": np.eye(3), "ground": np.eye(3) - np.outer(self._up, self._up), None: np.zeros((3, 3))}
        self._kept = kept[translation]
        self._turn_rest = _polar(self._rest_rotation())
        self.turns = yaw
        times = self._key_times()
        if len(times) * len(self._links) > _MOST_POSES:
            raise ValueError(
                f"the way of {self._skeleton.names[joint]!r} depends on {len(self._links)} moving joints at "
                f"{len(times)} times of keys, together more than {_MOST_POSES}; expected a joint nearer to "
                "the root, or the clip with fewer times (resample)"
            )
        place, turn = self._frames(times)
        self.turns = bool(np.abs(turn).max() > _STILL)
        self.travels = self.turns or bool(np.linalg.norm(place - place[0], axis=1).max() > _STILL * size)
        self._times = times if self.turns else self._key_times()

    def _rest_rotation(self) -> Array:
        matrix = np.eye(3)
        for joint in self._chain:
            matrix = matrix @ self._skeleton.rest_local[joint, :3, :3].astype(np.float64)
        return matrix

    def _key_times(self) -> Array:
        """The keys that the way depends on, both ends, and a time just before each jump."""
        clip, slack = self._clip, 2.0 * key_tolerance(self._clip)
        lines = [np.array([0.0, clip.duration])]
        for one in self._channels:
            if (
                one.joint != self._joint
                or one.path == "translation"
                or (self.turns and one.path == "rotation")
            ):
                lines.append(one.times)
                if one.interpolation == "step":
                    lines.append(one.times[1:] - slack)
        times = np.unique(np.clip(np.concatenate(lines), 0.0, clip.duration))
        # Closer than that the sampler takes two times for one.
        kept = np.concatenate([[True], np.diff(times) > 0.75 * slack])
        kept[-1:] = True
        return np.asarray(times[kept])

    def _joined(self) -> list[_Link]:
        """The joint, last, and those above it that move; what stands still between two is one matrix."""
        moving: dict[int, list[Channel]] = {}
        for one in self._channels:
            assert one.joint is not None
            moving.setdefault(one.joint, []).append(one)
        links, still = [], np.eye(4)
        for joint in self._chain:
            if joint in moving or joint == self._joint:
                links.append(_Link(still, joint, moving.get(joint, [])))
                still = np.eye(4)
            else:
                still = still @ self._skeleton.rest_local[joint].astype(np.float64)
        return links

    def _parts(self, times: Array) -> _Parts:
        here = np.broadcast_to(np.eye(4), (len(times), 4, 4))
        for link in self._links:
            above = here @ link.still
            own = self._own(link, times)
            if link.channels:
                here = above @ trs(*own)
            else:  # the file's own matrix counts, as it may hold shear
                here = above @ self._skeleton.rest_local[link.joint].astype(np.float64)
        return _Parts(above, here, *own)

    def _own(self, link: _Link, times: Array) -> list[Array]:
        """Translation, rotation and scale (N,3|4|3) of a joint to its parent."""
        rest = self._skeleton.translation, self._skeleton.rotation, self._skeleton.scale
        own = {
            path: np.repeat(values[link.joint][None].astype(np.float64), len(times), axis=0)
            for path, values in zip(_block.PATHS, rest, strict=False)
        }
        for one in link.channels:
            own[one.path] = sample_channel(one, times, key_tolerance(self._clip))
        own["rotation"] = unit(own["rotation"])
        return list(own.values())

    def _frames(self, times: Array, here: Array | None = None) -> tuple[Array, Array]:
        """(N,3) what counts of the joint's origin, and (N,) psi in radians, unwrapped, relative to the first.

        times starts at 0.
        """
        if here is None:
            here = self._parts(times).here
        place = here[:, :3, 3] @ self._kept
        if not self.turns:
            return place, np.zeros(len(times))
        q, u = _polar(here[:, :3, :3]) @ self._turn_rest.T, self._up
        axial = np.stack([q[:, 2, 1] - q[:, 1, 2], q[:, 0, 2] - q[:, 2, 0], q[:, 1, 0] - q[:, 0, 1]], axis=-1)
        turn = np.unwrap(np.arctan2(axial @ u, np.trace(q, axis1=1, axis2=2) - (q @ u) @ u))
        return place, turn - turn[0]

    def keys(self, times: Array) -> _Keys:
        """The root motion as it is stored, and the residual of exactly that. times starts at 0."""
        parts = self._parts(times)
        above, here = parts.above, parts.here
        place, turn = self._frames(times, here)
        half = turn[:, None] / 2
        rotation = np.hstack([np.sin(half) * self._up, np.cos(half)])
        motion = np.hstack([place - rotated(rotation, np.repeat(place[:1], len(times), axis=0)), rotation])
        motion = motion.astype(np.float32)
        stored = unit(motion[:, 3:].astype(np.float64))
        back = stored * (-1.0, -1.0, -1.0, 1.0)
        origin = rotated(back, here[:, :3, 3] - motion[:, :3])
        into = self._inverse(above)
        translation = np.einsum("nij,nj->ni", into, origin - above[:, :3, 3])
        return _Keys(
            times, motion, translation, quaternion_product(self._seen(back, above, into), parts.rotation)
        )

    def _inverse(self, above: Array) -> Array:
        try:
            return np.asarray(np.linalg.inv(above[:, :3, :3]))
        except np.linalg.LinAlgError:
            raise ValueError(
                f"a joint above {self._skeleton.names[self._joint]!r} is scaled to 0; "
                "root motion needs the inverse"
            ) from None

    def _seen(self, turn: Array, above: Array, into: Array) -> Array:
        """The turns (N,4) about up as the parent sees them: inverse(P) turn P, which has to be a rotation."""
        axis = unit(into @ self._up) * np.sign(np.linalg.det(above[:, :3, :3]))[:, None]
        seen = np.hstack([(turn[:, :3] @ self._up)[:, None] * axis, turn[:, 3:]])
        nothing, ones = np.zeros((len(turn), 3)), np.ones((len(turn), 3))
        exact = into @ trs(nothing, turn, ones)[:, :3, :3] @ above[:, :3, :3]
        if np.abs(exact - trs(nothing, seen, ones)[:, :3, :3]).max() > _EVEN:
            raise ValueError(
                f"a joint above {self._skeleton.names[self._joint]!r} is scaled unevenly, so that "
                "a turn would shear it; expected yaw=False, or a joint above the scaled one"
            )
        return seen

    def refined(self) -> _Keys:
        """Keys at the times that the way depends on, and between them where it is off further than _ERROR."""
        times, narrow = self._times, 8.0 * key_tolerance(self._clip)
        keys = self.keys(times)
        left = _MOST_POSES // len(self._links) - 2 * (len(times) + _CALL)
        for _ in range(_ROUNDS):
            left -= 4 * len(times) + 2 * _CALL  # for a look at the spans, and for the keys anew
            room = min(_MOST_KEYS - len(times), left)
            if room <= 0:
                break
            gaps = np.diff(times)
            wide = np.flatnonzero(gaps > narrow)
            shares = np.array([0.25, 0.5, 0.75])
            between = times[wide, None] + shares * gaps[wide, None]
            away = self._error(keys, wide, shares, between).max(axis=1, initial=0.0)
            added = np.ceil(np.sqrt(away / (_ERROR * self._size))).clip(1, _MOST_CUTS).astype(np.int64) - 1
            if added.sum() > room:
                added = added * room // added.sum()
            if not added.any():
                break
            more = [
                times[at] + gaps[at] * np.arange(1, count + 1) / (count + 1)
                for at, count in zip(wide.tolist(), added.tolist(), strict=True)
            ]
            times = np.unique(np.concatenate([times, *more]))
            keys = self.keys(times)
            left -= int(added.sum())
        return keys

    def _error(self, keys: _Keys, wide: Array, shares: Array, between: Array) -> Array:
        """(W,S) scene units: how far what keys give at times `between` (W,S) leads a point astray.

        The point is as far from the joint as the model is large.
        """
        flat, share = between.ravel(), np.broadcast_to(shares, between.shape)
        parts = self._parts(flat)
        low = np.repeat(wide, len(shares))
        share = share.ravel()

        def line(rows: Array) -> Array:
            return np.asarray(rows[low] + share[:, None] * (rows[low + 1] - rows[low]))

        motion = keys.motion.astype(np.float64)
        ones = np.ones((len(flat), 3))
        travelled = trs(line(motion[:, :3]), slerp(motion[low, 3:], motion[low + 1, 3:], share), ones)
        rotation = parts.rotation
        if self.turns:
            rotation = slerp(keys.rotation[low], keys.rotation[low + 1], share)
        off = travelled @ parts.above @ trs(line(keys.translation), rotation, parts.scale) - parts.here
        scale = np.cbrt(np.abs(np.linalg.det(parts.here[:, :3, :3])))
        bent = np.linalg.norm(off[:, :3, :3], axis=(1, 2)) / np.where(scale > 0, scale, 1.0)
        return np.asarray((np.linalg.norm(off[:, :3, 3], axis=1) + self._size * bent).reshape(between.shape))


def _ancestors(parents: Array, joint: int) -> list[int]:
    """From the root down to the joint."""
    chain = [joint]
    while parents[chain[-1]] >= 0:
        chain.append(int(parents[chain[-1]]))
    return chain[::-1]


def _polar(matrices: Array) -> Array:
    """(...,3,3) the orthogonal matrices nearest to some."""
    left, _, right = np.linalg.svd(matrices)
    return np.asarray(left @ right)


# ---- feet -----------------------------------------------------------------------------------------


def from_feet(clip: Clip, feet: Sequence[str] | None) -> Clip:
    """See Clip.root_motion_from_feet."""
    model = _checked(clip)
    standing = None if feet is None else _standing(model, feet)
    mesh, joints = model.mesh, len(model.skeleton)
    vertices = len(mesh.positions)

    def points(times: Array, chosen: Array | None) -> Array:
        if not vertices:
            places = model.joint_positions(clip, times, loop="clamp").astype(np.float64)
            return places if chosen is None else places[:, chosen]
        palettes = model.palette(clip, times, loop="clamp")
        return chosen_vertices(mesh, palettes, np.arange(vertices) if chosen is None else chosen)

    size = float(np.ptp(model.bounds(), axis=0).max())
    count = vertices or joints
    velocity = walking_velocity(points, count, clip.duration, size, up_vector(model), standing)
    ends = np.unique([0.0, clip.duration])
    values = np.zeros((len(ends), 7), np.float32)
    values[:, :3], values[:, 6] = ends[:, None] * velocity, 1.0
    return clip._with(motion=Motion(ends, values))


def _standing(model: "Model", feet: Sequence[str]) -> Array:
    """Numbers of the vertices that feet move, or of the joints themselves where there is no mesh."""
    names = names_of("feet", feet)
    if not names:
        raise ValueError("feet is empty; expected names of joints, or None for all")
    moved = np.zeros(len(model.skeleton), bool)
    moved[[model.skeleton.index(name) for name in names]] = True
    for joint, parent in enumerate(model.skeleton.parents):
        moved[joint] |= parent >= 0 and moved[parent]
    if not len(model.mesh.positions):
        return np.flatnonzero(moved)
    mesh = model.mesh
    strongest = np.take_along_axis(mesh.slots, mesh.weights.argmax(axis=1)[:, None], axis=1)[:, 0]
    found = np.flatnonzero(moved[model.skin.joints[strongest]])
    if not len(found):
        raise ValueError(
            f"feet are {', '.join(map(repr, names))}: no vertex follows them or a joint below them"
        )
    return found
