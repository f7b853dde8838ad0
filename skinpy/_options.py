"""Types of the options that methods pass on, with which type checkers know their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
import numpy.typing as npt

from ._types import Loop, Rotation

if TYPE_CHECKING:
    from .playing.controller import AnimationController
    from .render import Camera, Floor, Overlays
    from .render.posing import PoseLike
    from .render.scene.texturing import UVLike
    from .view.stage.layer import Layer

Color = str | Sequence[float] | None


class RendererOptions(TypedDict, total=False):
    """The arguments of `skinpy.render.Renderer` after its size, but for the background."""

    samples: int
    transport: str
    uv: UVLike
    floor: Floor | bool | None


class RenderOptions(RendererOptions, total=False):
    """The arguments of `skinpy.render.render` after its camera."""

    pose: PoseLike | None
    morph_weights: npt.ArrayLike | None
    background: Color
    loop: Loop
    rotation: Rotation
    root: npt.ArrayLike | None
    overlays: Overlays | None
    out: npt.NDArray[np.uint8] | None


class PageOptions(TypedDict, total=False):
    """The arguments of `skinpy.view.make_page` after its height."""

    title: str | None
    time: float
    background: Color
    floor: Floor | bool | None
    uv: UVLike
    overlays: Overlays | None
    texture_size: int
    limit: int


class PageFileOptions(PageOptions, total=False):
    """The arguments of `skinpy.view.make_page` after its rate."""

    height: int


class SavedPageOptions(PageOptions, total=False):
    """The arguments of `skinpy.view.make_page` after the clips."""

    fps: float
    height: int


class DrawnFileOptions(RendererOptions, total=False):
    """Further arguments of the renderer, or of the page, that `skinpy.output.save_clip` draws with."""

    background: Color
    height: int
    title: str | None
    texture_size: int
    limit: int


class ClipFileOptions(DrawnFileOptions, total=False):
    """The arguments of `skinpy.output.save_clip` after its camera."""

    overlays: Overlays | None


class StageOptions(TypedDict, total=False):
    """The arguments of `skinpy.view.Stage` after its size, but for the controller."""

    floor: Floor | bool | None
    overlays: Overlays | None
    camera: Camera | None
    layer: Layer | str | None
    speed: float
    loop: Loop
    playing: bool
    background: Color
    samples: int
    uv: Any


class ShowOptions(StageOptions, total=False):
    """The arguments of `skinpy.view.Stage` after its size."""

    controller: AnimationController | None


class ViewOptions(StageOptions, total=False):
    """The arguments of `skinpy.view.LiveView` after its controller."""

    size: tuple[int, int]
    controls: bool


class ModelViewOptions(ViewOptions, total=False):
    """The arguments of `skinpy.view.LiveView` after its clip."""

    controller: AnimationController | None
