"""Taking out of a stage what cannot be drawn, so that its picture goes on without it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...render import Overlays
from ...render.overlays.options import chosen_names, without

if TYPE_CHECKING:
    from .stage import Stage


def mend(stage: Stage, drawn: Overlays | None) -> bool:
    """After a frame has failed, take out what cannot be drawn; returns whether that was anything.

    The overlays that were `drawn` before come back if they still can be. Otherwise single overlays go, or
    else the layer, or else the floor: the least that lets a frame be drawn. If nothing does, all stays.
    """
    if _can_be_drawn(stage):
        return False
    return any(_can_be_drawn(stage) for _ in _attempts(stage, drawn))


def _attempts(stage: Stage, drawn: Overlays | None) -> Iterator[None]:
    """Change the stage in one way after another. What did not help is undone before the next attempt."""
    overlays, layer, floor = stage.overlays, stage.player.layer, stage.floor
    if drawn != overlays:
        stage.overlays = drawn
        yield
        stage.overlays = overlays
    if overlays is not None:
        stage.overlays = None
        if _can_be_drawn(stage):
            _add_back(stage, overlays)
        yield
        stage.overlays = overlays
    if layer is not None:
        stage.player.layer = None
        yield
        stage.player.layer = layer
    if floor:
        stage.floor = False
        yield
        stage.floor = True


def _add_back(stage: Stage, overlays: Overlays) -> None:
    """Set those of the overlays that can be drawn."""
    for name in chosen_names(overlays):
        kept = stage.overlays
        base = kept or Overlays(onion_step=overlays.onion_step)
        stage.overlays = dataclasses.replace(base, **{name: getattr(overlays, name)})
        if not _can_be_drawn(stage):
            stage.overlays = kept


def _can_be_drawn(stage: Stage) -> bool:
    try:
        stage.frame()
    except Exception:
        return False
    return True


def drop_idle(stage: Stage) -> str:
    """Unset the overlays that have nothing to show for what plays; returns what to tell the user."""
    idle, overlays = stage.idle_overlays, stage.overlays
    if not idle or overlays is None:
        return ""
    stage.overlays = without(overlays, idle)
    reasons = {why: [name for name in idle if idle[name] == why] for why in idle.values()}
    return "; ".join(
        f"overlay {names[0]} has nothing to show: {why}"
        if len(names) == 1
        else f"overlays {', '.join(names)} have nothing to show: {why}"
        for why, names in reasons.items()
    )
