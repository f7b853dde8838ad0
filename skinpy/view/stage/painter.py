"""The renderers of a stage, and the settings with which they draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from ..._arguments import flag
from ...model import Model
from ...render import Floor
from ...render.renderer import SharingRenderer
from ...render.scene.floor import chosen_floor

_MAX_RENDERERS = 2  # kept: one for pictures at rest, one for coarser pictures of what moves

_Key: TypeAlias = tuple[tuple[int, int], bool, int]  # size, whether there is a floor, samples per pixel


class Painter:
    """Makes the renderers of one model when they are needed; all of them share what is on the GPU.

    The caller holds the stage's lock.
    """

    def __init__(
        self, floor: Floor | bool | None, background: str | Sequence[float] | None, samples: int, uv: Any
    ) -> None:
        chosen = chosen_floor(floor)
        self._floor, self._has_floor = chosen or Floor(), chosen is not None
        self._background, self._samples, self._uv = background, samples, uv
        self._renderers: dict[_Key, SharingRenderer] = {}  # the last used one last

    @property
    def floor(self) -> bool:
        """Whether there is a floor. Settable, also to a Floor."""
        return self._has_floor

    @floor.setter
    def floor(self, value: bool | Floor) -> None:
        if isinstance(value, Floor):
            self._floor, self._has_floor = value, True
            self._renderers.clear()
        else:
            self._has_floor = flag("floor", value)

    def renderer(self, model: Model, size: tuple[int, int], samples: int | None) -> SharingRenderer:
        """The renderer for pictures of this size; `samples` per pixel, by default those of the stage."""
        samples = self._samples if samples is None else samples
        key = (size, self._has_floor, samples)
        found = self._renderers.pop(key, None)
        if found is None:
            found = SharingRenderer(
                model,
                size=size,
                samples=samples,
                floor=self._floor if self._has_floor else None,
                background=self._background,
                uv=self._uv,
            )
        self._renderers[key] = found
        while len(self._renderers) > _MAX_RENDERERS:
            del self._renderers[next(iter(self._renderers))]
        return found

    def forget(self) -> None:
        """Drop all renderers, as for another model; what they hold is freed when nobody draws with them."""
        self._renderers.clear()

    def close(self) -> None:
        """Free what is held on the GPU; the next renderer makes it anew."""
        for renderer in self._renderers.values():
            renderer.close()
        self._renderers.clear()
