"""Clip.compress: fewer keys, as long as no vertex goes further astray than the caller allows.

How much a channel may be off is guessed from how far away the vertices are that it moves; what comes out is
measured at the skin, and the guess is corrected until the measured error fits.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .._arguments import finite
from .._progress import shown
from .._types import Array, Floats
from ..clip import Channel, Clip
from ..clips.edit import derived
from ..clips.evaluate import key_tolerance, sample_channel
from ..models.frames import chunks
from .thinning import Bundle, common_significance, own_significance

if TYPE_CHECKING:
    from ..model import Model

_DEFAULT_ERROR = 1e-4  # of the size
_SHELL = 0.01  # of the size: how far around each joint an error counts at least
_LOOKS = 17  # times at which the reach of the joints is looked at
_STEPS = 4  # measurements in each span between two keys
_MOST_TIMES = 4096  # of all measurements
_MOST_PAIRS = 20_000  # of joints and joints above them whose distance is taken, before it is estimated
_CACHE = 24_000_000  # numbers of the source's points that are kept from one measurement to the next
_CUBIC_STEPS = 16  # straight lines that stand for one span of a cubic channel, before thinning
FLOOR = 2.0**-12  #: of the bound: shares below that are not tried
_MOST_SHARE = 64.0
_TRIES = 14
_CLOSE = 1.1  # shares that differ by no more make no difference worth a measurement


def compressed(clip: Clip, max_error: float | None) -> Clip:
    """See Clip.compress."""
    bound = checked_error(max_error, clip)
    thinner, measure = Thinner(clip, bound * FLOOR), SkinError(clip)
    best, best._error = derived(clip, clip.channels, clip.duration), 0.0
    search = ShareSearch()
    for _ in shown(range(_TRIES), _TRIES, f"compressing {clip.name}"):
        trial = thinner.clip(bound * search.share)
        worst = measure.of(trial)
        if worst <= bound and trial.nbytes <= best.nbytes:
            best, best._error = trial, worst
        if not search.narrow(worst, bound):
            break
    return best


class ShareSearch:
    """Looks for the largest share of a bound that channels may use up so that the whole stays within it."""

    def __init__(self) -> None:
        self.share = 1.0  #: to be tried next
        self._good, self._bad = 0.0, math.inf

    def narrow(self, worst: float, bound: float) -> bool:
        """Takes the error of what `share` gave and chooses the next one; False where none is worth a try."""
        if self.share == 0.0:
            return False
        if worst <= bound:
            self._good = self.share
        else:
            self._bad = self.share
        if math.isinf(self._bad):
            self.share *= 2.0
        elif self._good:
            self.share = math.sqrt(self._good * self._bad)
        else:
            self.share *= min(max(0.9 * bound / worst, 1 / 16), 0.7)
            if self.share < FLOOR:
                self.share = 0.0  # what can be dropped without any error, if there is such
        return bound > 0.0 and self.share <= _MOST_SHARE and self._bad / (self._good or 1e-300) > _CLOSE


def checked_error(max_error: float | None, clip: Clip) -> float:
    """A distance in model units, where None is the default share of the size. ValueError."""
    if clip.model is None:
        raise ValueError(
            f"clip {clip.name!r} is bound to no model; model.add_clips(clip) gives one that has it"
        )
    if clip.is_additive:
        raise ValueError(f"clip {clip.name!r} is additive: alone it shows no pose at which to measure errors")
    if max_error is None:
        with np.errstate(invalid="ignore"):  # between points at infinity, which are refused
            size = size_of(clip)
        if not math.isfinite(size):
            raise ValueError(
                f"clip {clip.name!r} shows points that are not finite at its start; expected max_error, "
                "as there is no size to take it from"
            )
        return _DEFAULT_ERROR * size
    bound = finite("max_error", max_error)
    if bound < 0:
        raise ValueError(f"max_error is {bound:g}; expected a distance, 0 or more")
    return bound


# ---- the error at the skin ------------------------------------------------------------------------


def size_of(clip: Clip) -> float:
    """The longest side of the box around the vertices, or the joints, of a bound clip at its start."""
    assert clip.model is not None
    points = _points(clip, np.zeros(1))[0]
    count = len(clip.model.mesh.positions)
    return float(np.ptp(points[:count] if count else points, axis=0).max())


def _points(clip: Clip, times: Array) -> Floats:
    """(N,V+J,3) all vertices, and the origins of the joints."""
    assert clip.model is not None
    pose = clip.model.pose(clip, times, loop="clamp")
    joints = pose.globals(affine=True)[..., 3]
    if not len(clip.model.mesh.positions):
        return joints
    return np.concatenate([clip.model.deform(pose, normals=False)[0], joints], axis=1)


class SkinError:
    """How far a clip leads vertices and joints astray from where the source leads them.

    Both are sampled alike, in float32, at the source's keys and at three times between any two of them.
    """

    def __init__(self, source: Clip) -> None:
        assert source.model is not None
        self._source = source
        self.times = _dense_times(source)
        self._size = 3 * (len(source.model.mesh.positions) + len(source.model.skeleton))
        self._parts = list(chunks(len(self.times), self._size))
        self._cache: dict[int, Floats] = {}

    def of(self, clip: Clip) -> float:
        """Model units: the largest distance of any vertex or joint at any of the times; infinite where a
        number is not finite on one side alone, or of another kind."""
        largest = 0.0
        for number, part in enumerate(self._parts):
            largest = max(largest, _farthest_apart(_points(clip, self.times[part]), self._wanted(number)))
        return math.sqrt(largest)

    def _wanted(self, number: int) -> Floats:
        if number not in self._cache:
            points = _points(self._source, self.times[self._parts[number]])
            if (len(self._cache) + 1) * points.size > _CACHE:
                return points
            self._cache[number] = points
        return self._cache[number]


def _farthest_apart(points: Floats, others: Floats) -> float:
    """The square of the largest distance of any point from its partner."""
    with np.errstate(invalid="ignore", over="ignore"):  # infinity from infinity
        away = points - others
        farthest = float(np.einsum("npc,npc->np", away, away).max(initial=0.0))
        if math.isfinite(farthest):
            return farthest
        alike = (points == others) | (np.isnan(points) & np.isnan(others))
        away = points.astype(np.float64) - others
        away[alike] = 0.0
        farthest = float(np.einsum("npc,npc->np", away, away).max(initial=0.0))
    return farthest if math.isfinite(farthest) else math.inf


def _dense_times(clip: Clip) -> Array:
    lines = {channel.times.tobytes(): channel.times for channel in clip.channels}
    ends = np.array([0.0, clip.duration])
    keys = np.unique(np.clip(np.concatenate([ends, *lines.values()]), 0.0, clip.duration))
    shares = np.arange(_STEPS) / _STEPS
    between = (keys[:-1, None] + shares * np.diff(keys)[:, None]).ravel()
    times = np.append(between, keys[-1])
    if len(times) > _MOST_TIMES:
        times = times[np.linspace(0, len(times) - 1, _MOST_TIMES).astype(np.int64)]
    return times


# ---- how far a channel reaches --------------------------------------------------------------------


class Reach:
    """How far a vertex goes at most, in model units, when a value of a channel changes by 1.

    A turn moves the farthest vertex that the joint or any joint below it moves; every joint counts as having
    vertices around it at a hundredth of the size, so that what hangs on it later is held as well.
    """

    def __init__(self, clip: Clip) -> None:
        model = clip.model
        assert model is not None
        self._model = model
        looks = np.linspace(0.0, clip.duration, _LOOKS)
        globals_ = model.globals(clip, looks, loop="clamp").astype(np.float64)
        self._stretch = np.linalg.norm(globals_[..., :3, :3], axis=-2).max(axis=-1).max(axis=0)
        around = np.maximum(_radii(model) * self._stretch, _SHELL * size_of(clip))
        self._lever = _farthest(model.skeleton.parents, globals_[..., :3, 3], around)
        slots = self._stretch[model.skin.joints]
        binds = np.linalg.norm(model.skin.inverse_bind[:, :3, :3], axis=-2).max(axis=-1, initial=0.0)
        self._skin_stretch = float((slots * binds).max(initial=0.0))

    def of(self, channel: Channel) -> float:
        """Model units per unit of the channel's values; per unit of chord for quaternions."""
        if channel.joint is None:
            assert channel.target is not None
            differences = self._model.targets[channel.target].positions
            return self._skin_stretch * float(np.linalg.norm(differences, axis=-1).max(initial=0.0))
        joint = channel.joint
        if channel.path == "rotation":
            return 2.0 * float(self._lever[joint])  # an angle is twice the chord of its quaternions
        if channel.path == "scale":
            scale = float(np.abs(self._model.skeleton.scale[joint]).max())
            return float(self._lever[joint]) / (scale or 1.0)
        parent = int(self._model.skeleton.parents[joint])
        return float(self._stretch[parent]) if parent >= 0 else 1.0


def _radii(model: "Model") -> Array:
    """(J,) units of the joint: how far the vertices that it moves are from it, at bind."""
    radii = np.zeros(len(model.skeleton))
    mesh, skin = model.mesh, model.skin
    for column in range(mesh.slots.shape[1]):
        used = np.flatnonzero(mesh.weights[:, column])
        slots = mesh.slots[used, column]
        binds = skin.inverse_bind[slots, :3].astype(np.float64)
        points = np.einsum("vij,vj->vi", binds[..., :3], mesh.positions[used]) + binds[..., 3]
        np.maximum.at(radii, skin.joints[slots], np.linalg.norm(points, axis=-1))
    return radii


_GRID = np.array(list(itertools.product((-1.0, 0.0, 1.0), repeat=3)))
_DIRECTIONS = _GRID[np.abs(_GRID).any(axis=1)]  # to the faces, edges and corners of a cube
_DIRECTIONS /= np.linalg.norm(_DIRECTIONS, axis=1, keepdims=True)
_NEAREST = 1.0 / math.hypot(1.0, math.sqrt(2) - 1.0, math.sqrt(3) - math.sqrt(2))


def _farthest(parents: Array, origins: Array, around: Array) -> Array:
    """(J,) model units from each joint to the farthest thing around itself or a joint below it.

    origins (T,J,3) at several times; around (J,) is how far things are from each joint. In deep trees it may
    be up to 13 % more than that.
    """
    depth = np.zeros(len(parents), np.int64)
    for joint, above in enumerate(parents):
        depth[joint] = depth[above] + 1 if above >= 0 else 0
    if depth.sum() > _MOST_PAIRS:
        return _farthest_along(parents, origins, around)
    lever = np.repeat(around[None], len(origins), axis=0)
    for joint in range(len(parents)):
        above = int(parents[joint])
        while above >= 0:
            away = np.linalg.norm(origins[:, joint] - origins[:, above], axis=-1) + around[joint]
            np.maximum(lever[:, above], away, out=lever[:, above])
            above = int(parents[above])
    return np.asarray(lever.max(axis=0))


def _farthest_along(parents: Array, origins: Array, around: Array) -> Array:
    """What _farthest finds or up to 13 % more, in one pass from the leaves up.

    How far all that is below a joint goes in each of 26 directions is easily joined with the same of its
    siblings. No direction is farther than the angle of cosine _NEAREST from one of them.
    """
    lever = np.zeros(len(parents))
    for part in chunks(len(origins), len(parents) * len(_DIRECTIONS)):
        places = origins[part] @ _DIRECTIONS.T
        ends = np.ascontiguousarray((places + around[:, None]).transpose(1, 0, 2))
        for joint in range(len(parents) - 1, -1, -1):
            above = int(parents[joint])
            if above >= 0:
                np.maximum(ends[above], ends[joint], out=ends[above])
        away = (ends - places.transpose(1, 0, 2)).max(axis=(1, 2), initial=0.0)
        np.maximum(lever, away / _NEAREST, out=lever)
    return lever


# ---- fewer keys -----------------------------------------------------------------------------------


class Thinner:
    """A clip's channels, ready to be thinned to any bound of at least `floor` model units each."""

    def __init__(self, clip: Clip, floor: float) -> None:
        assert clip.model is not None
        self._clip, self._rest = clip, _rest_values(clip)
        self._reach = Reach(clip)
        sheared = _sheared(clip.model)
        groups: dict[bytes, list[_Track]] = {}
        self._fixed: dict[int, Channel] = {}
        for number, channel in enumerate(clip.channels):
            if channel.joint is not None and sheared[channel.joint]:
                # At rest such a joint has the file's matrix, which no T, R and S can replace.
                self._fixed[number] = channel
                continue
            track = _Track(number, channel, clip, self._reach.of(channel), self._rest[number])
            groups.setdefault(track.thin.times.tobytes(), []).append(track)
        self._groups = [_Group(tracks, floor) for tracks in groups.values()]

    def clip(self, bound: float) -> Clip:
        """A clip in which no channel alone leads a vertex further astray than bound, by what is guessed."""
        found = dict(self._fixed)
        for group in self._groups:
            found |= group.thinned(bound)
        return derived(self._clip, [found[number] for number in sorted(found)], self._clip.duration)

    def limits(self, clip: Clip, bound: float) -> list[float]:
        """How far off each channel of `clip` may be, in its own units, for vertices to stay within bound."""
        reaches = [self._reach.of(channel) for channel in clip.channels]
        return [bound / reach if reach > 0 else math.inf for reach in reaches]


def _rest_values(clip: Clip) -> list[Array]:
    """For each channel the value that is seen without it."""
    assert clip.model is not None
    skeleton, targets = clip.model.skeleton, clip.model.targets
    rest = {
        "translation": skeleton.translation,
        "rotation": skeleton.rotation,
        "scale": skeleton.scale,
        "weights": np.array([[target.default_weight] for target in targets]).reshape(-1, 1),
    }
    return [
        rest[one.path][one.target if one.joint is None else one.joint].astype(np.float64)
        for one in clip.channels
    ]


def _sheared(model: "Model") -> Array:
    """(J,) whether the rest matrix is no product of T, R and S."""
    rest = model.skeleton.rest_local.astype(np.float64)
    pose = model.pose()
    pose.rotation *= np.float32(-1)  # the same rotation, but not the rest pose's bits
    off = np.abs(pose.locals() - rest)[:, :3, :3].max(axis=(1, 2))
    return np.asarray(off > 1e-5 * np.abs(rest[:, :3, :3]).max(axis=(1, 2)))


class _Track:
    """One channel: what it is, and `thin`, the form of it whose keys may be dropped."""

    def __init__(self, number: int, channel: Channel, clip: Clip, reach: float, rest: Array) -> None:
        self.number, self.channel, self.reach, self.rest = number, channel, reach, rest
        self.thin, self.coarse = channel, 0.0
        if channel.interpolation == "cubic" and len(channel.times) > 1:
            self.thin = _straightened(channel, key_tolerance(clip))
            # Halving a step quarters what a straight line misses of a smooth curve.
            bundle = self.bundle()
            place = np.arange(len(self.thin.times))[None]
            sides = np.clip(place - 1, 0, None), np.clip(place + 1, None, place.max())
            self.coarse = float(bundle.deviation(*sides)[:, 1:-1].max(initial=0.0)) / 4

    def bundle(self) -> Bundle:
        values = self.thin.values[None].astype(np.float64)
        kind = (self.thin.path == "rotation", self.thin.interpolation == "step")
        return Bundle([self.number], self.thin.times, values, np.array([self.reach]), *kind)

    @property
    def kept_bytes(self) -> float:
        """What the values and tangents of the channel take as it is."""
        keys, width = self.channel.values.shape
        return float(keys * (12 * width if self.channel.interpolation == "cubic" else 4 * width))


def _straightened(channel: Channel, tolerance: float) -> Channel:
    """A cubic channel as many short lines."""
    line = channel.times
    shares = np.arange(_CUBIC_STEPS) / _CUBIC_STEPS
    times = np.append((line[:-1, None] + shares * np.diff(line)[:, None]).ravel(), line[-1])
    values = sample_channel(channel, times, tolerance).astype(np.float32)
    return replace(
        channel, interpolation="linear", times=times, values=values, in_tangents=None, out_tangents=None
    )


class _Group:
    """Channels with the same key times: each is thinned for itself, or all alike so that they still share."""

    def __init__(self, tracks: Sequence[_Track], floor: float) -> None:
        self._tracks = {track.number: track for track in tracks}
        self._times = tracks[0].thin.times
        self._floor = floor
        self._bundles = _bundles(tracks)
        self._own: dict[int, Array] = {}
        self._spread: dict[int, float] = {}
        for bundle in self._bundles:
            self._own |= dict(zip(bundle.numbers, own_significance(bundle, floor), strict=True))
            self._spread |= dict(zip(bundle.numbers, bundle.spread().tolist(), strict=True))
        self._common = common_significance(self._bundles, floor)

    def thinned(self, bound: float) -> dict[int, Channel]:
        """By number, the channels that are left; those that show the rest pose are not."""
        found: dict[int, Channel] = {}
        moving = []
        for number, track in self._tracks.items():
            if self._spread[number] + track.coarse > bound:
                moving.append(track)
            elif not self._rests(track, bound):
                found[number] = _rows(track.thin, np.array([0]), np.zeros(1))
        alike = np.flatnonzero(self._common > bound)
        own = {track.number: self._own_keys(track, bound) for track in moving}
        apart = sum(self._best(track, own[track.number], None, bound)[0] for track in moving)
        together = 8 * len(alike) + sum(
            self._best(track, own[track.number], alike, bound)[0] for track in moving
        )
        shared = alike if together < apart else None
        for track in moving:
            found[track.number] = self._best(track, own[track.number], shared, bound)[1]
        return found

    def _rests(self, track: _Track, bound: float) -> bool:
        bundle = track.bundle()
        away = bundle.distance(bundle.values, track.rest[None, None])
        return float(away.max()) + track.coarse <= bound

    def _own_keys(self, track: _Track, bound: float) -> Array:
        keys = np.flatnonzero(self._own[track.number] > bound)
        if track.thin.interpolation == "step":
            bundle = track.bundle()
            last = bundle.distance(bundle.values[:, keys[-1:]], bundle.values[:, keys[-2:-1]])
            if float(last.max()) <= bound:
                return keys[:-1]
        return keys

    def _best(self, track: _Track, own: Array, alike: Array | None, bound: float) -> tuple[float, Channel]:
        """Bytes and channel of the cheapest form; a common time line is not counted."""
        width = track.channel.values.shape[1]
        cubic = track.thin is not track.channel
        if cubic and track.coarse > bound / 2:
            return track.kept_bytes, track.channel
        forms: list[tuple[float, Channel]] = [
            ((8 + 4 * width) * len(own), _rows(track.thin, own, self._times[own]))
        ]
        if alike is not None:
            forms.append((4 * width * len(alike), _rows(track.thin, alike, self._times[alike])))
        if cubic:
            forms.append((track.kept_bytes, track.channel))
        return min(forms, key=lambda form: form[0])


def _bundles(tracks: Sequence[_Track]) -> list[Bundle]:
    """Tracks of one kind side by side."""
    kinds: dict[tuple[int, bool, bool], list[Bundle]] = {}
    for track in tracks:
        one = track.bundle()
        kinds.setdefault((one.values.shape[2], one.turning, one.step), []).append(one)
    return [
        Bundle(
            [one.numbers[0] for one in ones],
            ones[0].times,
            np.concatenate([one.values for one in ones]),
            np.concatenate([one.reach for one in ones]),
            ones[0].turning,
            ones[0].step,
        )
        for ones in kinds.values()
    ]


def _rows(channel: Channel, keys: Array, times: Array) -> Channel:
    """A linear or step channel with some of its keys."""
    return replace(
        channel,
        interpolation=channel.interpolation if channel.interpolation == "step" else "linear",
        times=times,
        values=channel.values[keys],
        in_tangents=None,
        out_tangents=None,
    )
