"""Checks of the controller's arguments, and the bounds of times, speeds and weights."""

from typing import Any

from .._arguments import finite

# Beyond these, float64 has no digits left to tell one frame from the next, or sums overflow.
MAX_SECONDS = 1e9
MAX_SPEED = 1e6
MAX_WEIGHT = 1e30


def not_negative(name: str, value: Any, most: float = MAX_SECONDS) -> float:
    """Return a float from 0 to `most`."""
    number = finite(name, value)
    if not 0 <= number <= most:
        raise ValueError(f"{name} is {number:g}; expected 0 or more, and at most {most:g}")
    return number


def weight_of(value: Any) -> float:
    """Return a weight that can be summed."""
    return not_negative("weight", value, MAX_WEIGHT)


def within(name: str, value: Any, most: float) -> float:
    """Return a float from -most to most."""
    number = finite(name, value)
    if abs(number) > most:
        raise ValueError(f"{name} is {number:g}; expected at most {most:g}, positive or negative")
    return number
