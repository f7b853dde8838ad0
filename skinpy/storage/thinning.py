"""Fewer keys: the channels of a clip, each with the keys that it needs to stay within a bound."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .._types import Array
from ..clip import Channel, Clip
from ..clips.edit import derived
from ..clips.evaluate import key_tolerance, sample_channel
from .reach import Reach
from .significance import Bundle, common_significance, own_significance

if TYPE_CHECKING:
    from ..model import Model

_CUBIC_STEPS = 16  # straight lines that stand for one span of a cubic channel, before thinning


class Thinner:
    """The channels of a clip, ready to be thinned to any bound of at least `floor` model units each."""

    def __init__(self, clip: Clip, floor: float) -> None:
        assert clip.model is not None
        self._clip, self._rest = clip, _rest_values(clip)
        self._reach = Reach(clip)
        sheared = _sheared(clip.model)
        groups: dict[bytes, list[_Track]] = {}
        self._fixed: dict[int, Channel] = {}
        for number, channel in enumerate(clip.channels):
            if not channel.poses or (channel.joint is not None and sheared[channel.joint]):
                # Looks move no vertex. A sheared joint has the matrix of the file at rest, which no T, R and
                # S can replace.
                self._fixed[number] = channel
                continue
            track = _Track(number, channel, clip, self._reach.of(channel), self._rest[number])
            groups.setdefault(track.thin.times.tobytes(), []).append(track)
        self._groups = [_Group(tracks, floor) for tracks in groups.values()]

    def clip(self, bound: float) -> Clip:
        """Return a clip in which, by estimate, no channel alone moves a vertex by more than `bound`."""
        found = dict(self._fixed)
        for group in self._groups:
            found |= group.thinned(bound)
        return derived(self._clip, [found[number] for number in sorted(found)], self._clip.duration)

    def limits(self, clip: Clip, bound: float) -> list[float]:
        """Return the largest error of each channel, in its own units, that keeps vertices within `bound`."""
        reaches = [self._reach.of(channel) for channel in clip.channels]
        return [bound / reach if reach > 0 else math.inf for reach in reaches]


def _rest_values(clip: Clip) -> list[Array]:
    """Return for each channel the value that the model shows without it."""
    assert clip.model is not None
    skeleton, targets = clip.model.skeleton, clip.model.targets
    rest = {
        "translation": skeleton.translation,
        "rotation": skeleton.rotation,
        "scale": skeleton.scale,
        "weights": np.array([[target.default_weight] for target in targets]).reshape(-1, 1),
    }
    return [
        rest[one.path][one.moved].astype(np.float64) if one.poses else np.zeros(0) for one in clip.channels
    ]


def _sheared(model: "Model") -> Array:
    """Return which joints (J,) have a rest matrix that is not a product of T, R and S."""
    rest = model.skeleton.rest_local.astype(np.float64)
    pose = model.pose()
    pose.rotation *= np.float32(-1)  # the same rotation, but not the rest pose's bits
    off = np.abs(pose.locals() - rest)[:, :3, :3].max(axis=(1, 2))
    return np.asarray(off > 1e-5 * np.abs(rest[:, :3, :3]).max(axis=(1, 2)))


class _Track:
    """One channel, and `thin`, the form of it whose keys may be dropped."""

    def __init__(self, number: int, channel: Channel, clip: Clip, reach: float, rest: Array) -> None:
        self.number, self.channel, self.reach, self.rest = number, channel, reach, rest
        self.thin, self.coarse = channel, 0.0
        if channel.interpolation == "cubic" and len(channel.times) > 1:
            self.thin = _straightened(channel, key_tolerance(clip))
            # Halving a step quarters what a straight line misses of a smooth curve.
            bundle = self.bundle()
            key = np.arange(len(self.thin.times))[None]
            sides = np.clip(key - 1, 0, None), np.clip(key + 1, None, key.max())
            self.coarse = float(bundle.deviation(*sides)[:, 1:-1].max(initial=0.0)) / 4

    def bundle(self) -> Bundle:
        """Return the channel as a bundle of one."""
        values = self.thin.values[None].astype(np.float64)
        flags = (self.thin.path == "rotation", self.thin.interpolation == "step")
        return Bundle([self.number], self.thin.times, values, np.array([self.reach]), *flags)

    @property
    def kept_bytes(self) -> float:
        """The bytes of the values and tangents of the unchanged channel."""
        keys, width = self.channel.values.shape
        return float(keys * (12 * width if self.channel.interpolation == "cubic" else 4 * width))


def _straightened(channel: Channel, tolerance: float) -> Channel:
    """Return a cubic channel as many short lines."""
    keys = channel.times
    fractions = np.arange(_CUBIC_STEPS) / _CUBIC_STEPS
    times = np.append((keys[:-1, None] + fractions * np.diff(keys)[:, None]).ravel(), keys[-1])
    values = sample_channel(channel, times, tolerance).astype(np.float32)
    return replace(
        channel, interpolation="linear", times=times, values=values, in_tangents=None, out_tangents=None
    )


class _Group:
    """Channels with the same key times: each is thinned on its own, or all keep the same keys and share."""

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
        """Return the channels that are left, by number; channels that show the rest pose are left out."""
        found: dict[int, Channel] = {}
        moving = []
        for number, track in self._tracks.items():
            if self._spread[number] + track.coarse > bound:
                moving.append(track)
            elif not self._rests(track, bound):
                found[number] = _rows(track.thin, np.array([0]), np.zeros(1))
        common = np.flatnonzero(self._common > bound)
        own = {track.number: self._own_keys(track, bound) for track in moving}
        apart = sum(self._best(track, own[track.number], None, bound)[0] for track in moving)
        together = 8 * len(common) + sum(
            self._best(track, own[track.number], common, bound)[0] for track in moving
        )
        shared = common if together < apart else None
        for track in moving:
            found[track.number] = self._best(track, own[track.number], shared, bound)[1]
        return found

    def _rests(self, track: _Track, bound: float) -> bool:
        """Return whether the channel shows the rest pose within `bound`."""
        bundle = track.bundle()
        away = bundle.distance(bundle.values, track.rest[None, None])
        return float(away.max()) + track.coarse <= bound

    def _own_keys(self, track: _Track, bound: float) -> Array:
        """Return the keys that the channel needs on its own."""
        keys = np.flatnonzero(self._own[track.number] > bound)
        if track.thin.interpolation == "step":
            bundle = track.bundle()
            last = bundle.distance(bundle.values[:, keys[-1:]], bundle.values[:, keys[-2:-1]])
            if float(last.max()) <= bound:
                return keys[:-1]
        return keys

    def _best(self, track: _Track, own: Array, common: Array | None, bound: float) -> tuple[float, Channel]:
        """Return bytes and channel of the cheapest form; common key times are not counted."""
        width = track.channel.values.shape[1]
        cubic = track.thin is not track.channel
        if cubic and track.coarse > bound / 2:
            return track.kept_bytes, track.channel
        forms: list[tuple[float, Channel]] = [
            ((8 + 4 * width) * len(own), _rows(track.thin, own, self._times[own]))
        ]
        if common is not None:
            forms.append((4 * width * len(common), _rows(track.thin, common, self._times[common])))
        if cubic:
            forms.append((track.kept_bytes, track.channel))
        return min(forms, key=lambda form: form[0])


def _bundles(tracks: Sequence[_Track]) -> list[Bundle]:
    """Return the tracks as bundles, one for each width, path and interpolation."""
    found: dict[tuple[int, bool, bool], list[Bundle]] = {}
    for track in tracks:
        one = track.bundle()
        found.setdefault((one.values.shape[2], one.is_rotation, one.is_step), []).append(one)
    return [
        Bundle(
            [one.numbers[0] for one in ones],
            ones[0].times,
            np.concatenate([one.values for one in ones]),
            np.concatenate([one.reach for one in ones]),
            ones[0].is_rotation,
            ones[0].is_step,
        )
        for ones in found.values()
    ]


def _rows(channel: Channel, keys: Array, times: Array) -> Channel:
    """Return a linear or step channel with some of its keys."""
    return replace(
        channel,
        interpolation=channel.interpolation if channel.interpolation == "step" else "linear",
        times=times,
        values=channel.values[keys],
        in_tangents=None,
        out_tangents=None,
    )
