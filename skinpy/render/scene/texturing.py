"""Materials of one frame: UV animations at a time, and what a clip makes of materials."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import moderngl
import numpy as np

from skinpy.kinds import UVAnimation

from ..._text import quoted, quoted_list
from .geometry import Surface, Wrap

if TYPE_CHECKING:
    from skinpy._types import Floats
    from skinpy.model import Model

    UVLike: TypeAlias = UVAnimation | Mapping[str, UVAnimation] | None

# A wrapped image looks the same after so many repetitions; a clamped one never does.
_PERIODS = {"repeat": 1.0, "mirror": 2.0, "clamp": None}


@dataclass(frozen=True)
class Texturing:
    """The UV animations of a frame, by name of material; that of None is for all other materials.

    `values` are those that a clip gives materials, by their index; see `Clip.material_values`.
    """

    animations: Mapping[str | None, UVAnimation] = field(default_factory=dict)
    time: float = 0.0
    values: Mapping[int, Mapping[str, Floats]] = field(default_factory=dict)

    def look(self, surface: Surface) -> Surface:
        """The surface with the values that the clip gives it."""
        values = {} if surface.material is None else self.values.get(surface.material, {})
        changed: dict[str, Any] = {}
        if "base_color_factor" in values:
            changed["base_color"] = tuple(values["base_color_factor"].tolist())
        if "alpha_cutoff" in values and surface.alpha == "mask":
            changed["alpha_cutoff"] = float(values["alpha_cutoff"][0])
        if "uv_transform" in values:
            changed["uv_transform"] = tuple(np.ravel(values["uv_transform"]).tolist())
        return dataclasses.replace(surface, **changed) if changed else surface

    def of(self, surface: Surface) -> tuple[tuple[float, ...], Wrap]:
        """The 3x3 transform of a surface's texture coordinates, column by column, and its wrap modes.

        A column (u, v, 1) goes through the material's own transform first: an animation moves the image by
        lengths of the image, however often the material repeats it. (In the other order, the whole
        repetitions that `UVAnimation.sample` leaves out would show as jumps.)
        """
        matrix = np.array(surface.uv_transform, np.float64).reshape(3, 3)
        animation = self.animations.get(surface.name, self.animations.get(None))
        if animation is None:
            return tuple(matrix.T.ravel()), surface.wrap
        matrix = np.asarray(animation.sample(self.time), np.float64) @ matrix
        period = _PERIODS[animation.wrap]
        if period is not None:  # small numbers keep more digits behind the point
            matrix[:2, 2] %= period
        return tuple(matrix.T.ravel()), (animation.wrap, animation.wrap)


PLAIN = Texturing()


def named_animations(uv: UVLike, model: Model) -> Mapping[str | None, UVAnimation]:
    """The argument `uv` by name of material; None stands for all. Raises KeyError or TypeError."""
    if uv is None:
        return {}
    if not isinstance(uv, Mapping):
        return {None: _checked("uv", uv)}
    names = [material.name for material in model.materials]
    for name in uv:
        if name not in names:
            raise KeyError(f"uv names the material {quoted(name)}; the model has {quoted_list(list(names))}")
    return {name: _checked(f"uv[{quoted(name)}]", animation) for name, animation in uv.items()}


def _checked(argument: str, animation: UVAnimation) -> UVAnimation:
    if not isinstance(animation, UVAnimation):
        raise TypeError(
            f"{argument} is {type(animation).__name__}; expected a UVAnimation, or a dict of them by material"
        )
    return animation


def set_wrap(program: moderngl.Program, texture: moderngl.Texture, wrap: Wrap) -> None:
    """Set the wrap modes of a texture in a program of lit.frag.

    moderngl has no mirrored repetition: the shader folds the coordinates, and the texture clamps them.
    """
    texture.repeat_x, texture.repeat_y = (mode == "repeat" for mode in wrap)
    program["mirrored_u"], program["mirrored_v"] = (mode == "mirror" for mode in wrap)
