"""Checks of arguments. Errors name the argument, what came and what was expected."""

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ._types import Array


def finite(name: str, value: Any) -> float:
    """A finite number; TypeError for a bool or a str, ValueError for a number that is not finite."""
    if type(value) is float and math.isfinite(value):
        return value
    if isinstance(value, bool | str) or not hasattr(value, "__float__") or np.ndim(value):
        raise TypeError(f"{name} is {value!r}; expected a number")
    try:
        number = float(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}; expected a number") from None
    except OverflowError:
        raise ValueError(f"{name} is beyond what a float holds; expected a finite number") from None
    if not math.isfinite(number):
        raise ValueError(f"{name} is {number:g}; expected a finite number")
    return number


def flag(name: str, value: Any) -> bool:
    """True or False; TypeError for all other values, because "no" and "false" would count as true."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} is {value!r}; expected True or False")
    return bool(value)


def integer(name: str, value: Any, wanted: str = "a whole number") -> int:
    """An integer; TypeError for a bool, a float or a str, with `wanted` as what was expected."""
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}; expected {wanted}") from None


def whole(
    name: str, value: Any, least: int, most: int | None = None, *, wanted: str = "a whole number"
) -> int:
    """An integer from `least` to `most`, where None stands for no upper limit; see `integer`."""
    number = integer(name, value, wanted)
    if number < least or (most is not None and number > most):
        bounds = f"at least {least}" if most is None else f"{least} to {most}"
        raise ValueError(f"{name} is {number}; expected {bounds}")
    return number


def any_array(name: str, value: npt.ArrayLike) -> Array:
    """The value as an array of any dtype; ValueError if its rows have different lengths."""
    try:
        return np.asarray(value)
    except ValueError:
        raise ValueError(f"{name} is ragged; expected an array of one shape") from None


def numbers(name: str, value: npt.ArrayLike) -> Array:
    """Real numbers as float64, of any shape, finite or not."""
    given = any_array(name, value)
    if given.dtype.kind in "cmM":  # NumPy would convert complex numbers and dates, with or without a warning
        raise TypeError(f"{name} has dtype {given.dtype}; expected real numbers")
    try:
        return np.asarray(given, np.float64)
    except OverflowError:
        raise ValueError(f"{name} holds a number beyond what a float holds") from None
    except TypeError:
        raise TypeError(f"{name} is of type {type(value).__name__}; expected numbers") from None
    except ValueError:
        raise ValueError(f"{name} holds a value that is not a number; expected numbers") from None


def floats(
    name: str, value: npt.ArrayLike, shape: tuple[int | str, ...], dtype: type[np.floating[Any]] = np.float32
) -> Array:
    """Finite, C-contiguous real numbers of `shape`, in which a str stands for any length."""
    try:
        given = np.asarray(value)
    except ValueError:
        raise ValueError(f"{name} is ragged; expected one shape {_words(shape)}") from None
    if not (np.issubdtype(given.dtype, np.number) or given.dtype == bool) or given.dtype.kind == "c":
        raise TypeError(f"{name} has dtype {given.dtype}; expected real numbers")
    check_shape(name, given, shape)
    with np.errstate(over="ignore"):  # a number too large for float32 becomes infinite and is refused below
        array = np.ascontiguousarray(given, dtype)
    check_finite(name, array, f" in {array.dtype}")
    return array


def check_finite(name: str, array: Array, where: str = "") -> None:
    """ValueError if a number is not finite; the message has the first such number and its index."""
    finite = np.isfinite(array)
    if finite.all():
        return
    item = first(name, ~finite)
    raise ValueError(f"{name} holds a number that is not finite{where}: {item} is {array[~finite][0]}")


def check_increasing(name: str, values: Array) -> None:
    """ValueError if a number of (N,) is not greater than the one before; the message has the first such."""
    late = np.diff(values) <= 0
    if late.any():
        number = int(np.argmax(late)) + 1
        raise ValueError(
            f"{name}[{number}] is {values[number]:.9g} after {values[number - 1]:.9g}; "
            f"expected {name} that increase"
        )


def first(name: str, chosen: Array) -> str:
    """The first chosen item of an array, in words such as "name[3, 1]"."""
    index = np.unravel_index(int(np.argmax(chosen)), chosen.shape)
    return f"{name}[{', '.join(map(str, index))}]" if index else name


def check_shape(name: str, array: Array, shape: tuple[int | str, ...]) -> None:
    """ValueError unless the array has the shape, in which a str stands for any length."""
    fits = array.ndim == len(shape) and all(
        isinstance(wanted, str) or came == wanted for came, wanted in zip(array.shape, shape, strict=True)
    )
    if not fits:
        raise ValueError(f"{name} has shape {array.shape}; expected {_words(shape)}")


def _words(shape: tuple[int | str, ...]) -> str:
    """A shape as Python writes tuples, such as "(N, 3)"."""
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def names_of(name: str, value: Sequence[str]) -> tuple[str, ...]:
    """A tuple of str; TypeError for a single str, which is a sequence of its letters."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise TypeError(f"{name} is of type {type(value).__name__}; expected a sequence of str")
    for one in value:
        if not isinstance(one, str):
            raise TypeError(f"{name} holds {one!r}; expected str")
    return tuple(value)
