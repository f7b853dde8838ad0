"""Cross-fades that interrupt each other: how many a layer plays at once, and what it does beyond that.

A layer's generations are what it played when a cross-fade began, and what each cross-fade has brought.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._types import Array, Floats
from .motion import Motion
from .track import PRIORITIES, Entry

if TYPE_CHECKING:
    from ..model import Model
    from .controller import AnimationController
    from .layer import Layer
    from .track import Track

MAX_GENERATIONS = 8  # of a layer at one time: each costs about as much as a clip
_HEAVY = 1e6  # brings sums of weights above those at which the rest pose shows through


def hold_oldest(controller: AnimationController, layer: Layer) -> None:
    """Replace the two oldest generations by their present pose, where a layer has as many as it may have."""
    numbers = sorted({track._generation for track in layer.tracks})
    if len(numbers) < MAX_GENERATIONS:
        return
    old = [track for track in layer.tracks if track._generation <= numbers[1]]
    held = []
    for priority in range(len(PRIORITIES)):
        tracks = [one for one in old if one._priority == priority and one._strength(controller.time) > 0]
        if tracks:
            held.append(_held(controller, layer, tracks))
            held[-1]._generation = numbers[1]
    for track in old:
        controller._playback.remove(track)
    layer.tracks[:0] = held


def _held(controller: AnimationController, layer: Layer, tracks: list[Track]) -> Track:
    """Return a track that stands still in the present pose of other tracks and weighs as much as they do."""
    model, entries = controller.model, controller._playback.entries_of(tracks)
    every = np.ones(len(model.skeleton.names), np.float32)
    shares = np.array([weight * (every if mask is None else mask) for _, _, weight, _, mask, *_ in entries])
    total, fade = sum(entry[2] for entry in entries), sum(track.fade for track in tracks)
    motion = Motion(None)
    motion.held = _mean_difference(model, entries, shares) if layer.additive else _mean(model, entries)
    priority = tracks[0].priority
    held = controller._new_track(layer.name, motion, None, total / fade, 0.0, "wrap", priority)
    held._fade.set(fade)
    if any(entry[4] is not None for entry in entries):
        held._mask_array = np.minimum(shares.sum(0) / total, 1.0).astype(np.float32)
    return held


def _mean(model: Model, entries: list[Entry]) -> Floats:
    """Return the mean pose of entries, as one row."""
    return _row(model, [(*entry[:2], _HEAVY * entry[2], *entry[3:]) for entry in entries])


def _mean_difference(model: Model, entries: list[Entry], shares: Array) -> Floats:
    """Return the mean of additive clips: of rotations the sum that the core makes, without its length 1."""
    joints = shares.shape[1]
    rows = np.array([_row(model, [(*entry[:2], 1.0, entry[3], None, 0, None, False)]) for entry in entries])
    turns = rows[:, 3 * joints : 7 * joints].reshape(len(rows), joints, 4)
    turns *= np.where(turns[..., 3:] < 0, -1, 1)
    shares = shares / np.maximum(shares.sum(0), 1e-30)
    nodes = [target.node for target in model.targets]
    columns = [*(np.repeat(shares, count, axis=1) for count in (3, 4, 3)), shares[:, nodes]]
    return np.asarray((np.concatenate(columns, axis=1) * rows).sum(0), np.float32)


def _row(model: Model, entries: list[Entry]) -> Floats:
    """Return the pose of entries: T, R, S and morph weights one after another."""
    pose = model._mix_pose([(0, 0.5, entries, None)], model.pose())
    parts = (pose.translation, pose.rotation, pose.scale, pose.morph_weights)
    return np.concatenate([part.ravel() for part in parts])
