"""Colors as arguments: "#rrggbb", or sRGB components from 0 to 1 with straight alpha."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from skinpy._arguments import brief

_HEX = re.compile(r"#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})\Z")


def parse_color(argument: str, color: str | Sequence[float]) -> tuple[float, float, float, float]:
    """A color as (red, green, blue, alpha), sRGB from 0 to 1.

    It is "#rgb", "#rrggbb", "#rrggbbaa", or 3 or 4 numbers. `argument` is its name in messages. Raises
    TypeError or ValueError.
    """
    wanted = 'expected "#rgb", "#rrggbb", "#rrggbbaa" or 3 or 4 numbers from 0 to 1'
    if isinstance(color, str):
        if not _HEX.match(color):
            raise ValueError(f"{argument} is {brief(color)}; {wanted}")
        digits = "".join(c * 2 for c in color[1:]) if len(color) == 4 else color[1:]
        components = [int(digits[i : i + 2], 16) / 255 for i in range(0, len(digits), 2)]
    else:
        try:
            components = [float(one) for one in color]
        except (TypeError, ValueError, OverflowError):
            raise TypeError(f"{argument} is {brief(color)}; {wanted}") from None
        if len(components) not in (3, 4) or not all(0.0 <= one <= 1.0 for one in components):
            raise ValueError(f"{argument} is {brief(color)}; {wanted}")
    red, green, blue, alpha = (*components, 1.0)[:4]
    return red, green, blue, alpha


def srgb_to_linear(value: float) -> float:
    """A component of an sRGB color, 0 to 1, in linear light."""
    return value / 12.92 if value <= 0.04045 else math.pow((value + 0.055) / 1.055, 2.4)
