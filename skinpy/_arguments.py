"""Checks of arguments. Errors name the argument, what came and what was expected.

All of skinpy checks its arguments with these functions, so that a wrong one is told in the same words
everywhere, and never in those in which Python or NumPy stumble over it. tests/test_wrong_values.py calls
every public function with wrong values.
"""

import math
import operator
import os
import stat
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO, TypeVar

import numpy as np
import numpy.typing as npt

from . import _core
from ._block import AXES
from ._text import MAX_QUOTE, printable
from ._types import Array

T = TypeVar("T")

_MAX_BITS = 1500  # of a whole number that a message shows in full: an int beyond floats has 1,025
#: Numbers of one argument: 32 GiB as float64. EXT_MAX_NUMBERS in csrc/ext/ext_array.h is the same.
_MAX_NUMBERS = 1 << 32


def brief(value: Any) -> str:
    """A value for a message: one line of at most 100 characters, whatever it is and however large."""
    if isinstance(value, np.ndarray) and value.ndim:
        return f"an array {value.shape} of {value.dtype}"
    from reprlib import Repr  # only errors need it

    short = Repr()
    short.maxlist = short.maxtuple = short.maxset = short.maxfrozenset = short.maxdict = 8
    short.maxstring = short.maxlong = short.maxother = MAX_QUOTE - 3
    try:
        text = " ".join(printable(short.repr(value)).split())
    except Exception:  # the value's own repr failed, or an int has more digits than Python writes
        text = f"<{type(value).__name__}>"
    return text if len(text) <= MAX_QUOTE else f"{text[: MAX_QUOTE - 3]}..."


def wrong_type(name: str, value: Any, wanted: str) -> TypeError:
    """The TypeError for an argument of a wrong type."""
    came = f"the class {value.__name__}" if isinstance(value, type) else f"of type {type(value).__name__}"
    return TypeError(f"{name} is {came}; expected {wanted}")


def instance(name: str, value: Any, kind: type[T], wanted: str) -> T:
    """The value itself; TypeError if it is not of the class."""
    if not isinstance(value, kind):
        raise wrong_type(name, value, wanted)
    return value


def check_model(name: str, value: Any) -> None:
    """TypeError if the value is not a Model."""
    instance(name, value, _core.Model, "a Model")


def check_clip(name: str, value: Any) -> None:
    """TypeError if the value is not a Clip."""
    instance(name, value, _core.Clip, "a Clip")


def text(name: str, value: Any, wanted: str = "a str") -> str:
    """The value itself; TypeError if it is not a str."""
    return instance(name, value, str, wanted)


def one_of(name: str, value: Any, words: Sequence[str | None]) -> None:
    """TypeError unless the value is a str, or None where that is a word; ValueError unless it is a word."""
    if (value is None or isinstance(value, str)) and value in words:
        return
    kind = ValueError if isinstance(value, str) else TypeError
    raise kind(f"{name} is {brief(value)}; expected one of {', '.join(map(repr, words))}")


def axis_of(name: str, value: Any) -> str:
    """An axis with its sign, such as "+Z"; "Z" and "z" are "+Z" too."""
    axis = text(name, value, "an axis such as '+Z'").upper()
    axis = axis if axis[:1] in ("+", "-") else f"+{axis}"
    if axis not in AXES:
        raise ValueError(
            f"{name} is {brief(value)}; expected {', '.join(map(str, AXES[1:-1]))} or {AXES[-1]}"
        )
    return axis


def path_of(name: str, value: Any) -> str:
    """A path as a str; TypeError unless it is a str or a path of str, ValueError if no file can have it."""
    try:
        path = os.fspath(value)
    except TypeError:
        path = None
    if not isinstance(path, str):
        raise TypeError(f"{name} is {brief(value)}; expected str or os.PathLike of str")
    if "\0" in path:
        raise ValueError(f"{name} is {brief(path)}; expected a path without null characters")
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise ValueError(f"{name} is {brief(path)}; expected letters that the file system has") from None
    return path


def opened(name: str, value: Any) -> BinaryIO:
    """The file of a path, to read; ValueError for a pipe or a device, which may never end or never begin."""
    path = path_of(name, value)
    mode = os.stat(path).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise ValueError(f"{name} is {brief(path)}, a pipe or a device; expected a regular file")
    return open(path, "rb")  # for a folder this raises IsADirectoryError


def items_of(name: str, value: Any, wanted: str) -> list[Any]:
    """The items of a sequence or another iterable; TypeError for a str, bytes or what has no items."""
    try:
        if isinstance(value, str | bytes | bytearray | memoryview):
            raise TypeError
        return list(value)
    except TypeError:
        raise TypeError(f"{name} is {brief(value)}; expected {wanted}") from None


def item_at(items: Sequence[T], index: Any) -> T:
    """An item of a sequence of skinpy's own; TypeError or IndexError if there is none."""
    number = integer("index", index, "a whole number or a slice")
    if not -len(items) <= number < len(items):
        raise IndexError(f"index is {brief(number)}; expected {-len(items)} to {len(items) - 1}")
    return items[number]


def mapping(name: str, value: Any, wanted: str) -> Mapping[Any, Any]:
    """The value itself; TypeError if it is not a mapping."""
    return instance(name, value, Mapping, wanted)  # type: ignore[type-abstract]


def finite(name: str, value: Any) -> float:
    """A finite number; TypeError for a bool or a str, ValueError for a number that is not finite."""
    if type(value) is float and math.isfinite(value):
        return value
    if isinstance(value, bool | str) or not hasattr(value, "__float__") or np.ndim(value):
        raise TypeError(f"{name} is {brief(value)}; expected a number")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {brief(value)}; expected a number") from None
    except OverflowError:
        raise ValueError(f"{name} is beyond what a float holds; expected a finite number") from None
    if not math.isfinite(number):
        raise ValueError(f"{name} is {number:g}; expected a finite number")
    return number


def positive(name: str, value: Any, wanted: str = "a number above 0") -> float:
    """A finite number above 0."""
    number = finite(name, value)
    if number <= 0:
        raise ValueError(f"{name} is {number:g}; expected {wanted}")
    return number


def between(name: str, value: Any, least: float, most: float, unit: str = "") -> float:
    """A number from `least` to `most`; `unit` follows both in the message, as in " degrees"."""
    number = finite(name, value)
    if not least <= number <= most:
        raise ValueError(f"{name} is {number:g}; expected {least:g} to {most:g}{unit}")
    return number


def flag(name: str, value: Any) -> bool:
    """True or False; TypeError for all other values, because "no" and "false" would count as true."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} is {brief(value)}; expected True or False")
    return bool(value)


def integer(name: str, value: Any, wanted: str = "a whole number") -> int:
    """An integer; TypeError for a bool, a float or a str, with `wanted` as what was expected."""
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {brief(value)}; expected {wanted}") from None


def whole(
    name: str, value: Any, least: int, most: int | None = None, *, wanted: str = "a whole number"
) -> int:
    """An integer from `least` to `most`, where None stands for no upper limit; see `integer`."""
    number = integer(name, value, wanted)
    if number < least or (most is not None and number > most):
        bounds = f"at least {least}" if most is None else f"{least} to {most}"
        shown = number if number.bit_length() < _MAX_BITS else brief(number)
        raise ValueError(f"{name} is {shown}; expected {bounds}")
    return number


def any_array(name: str, value: npt.ArrayLike) -> Array:
    """The value as an array of any dtype; ValueError if its rows have different lengths."""
    return _array(name, value, "an array of one shape")


def _array(name: str, value: Any, wanted: str) -> Array:
    """The value as an array of any dtype; ValueError if it is ragged, or larger than any machine holds."""
    try:
        array = np.asarray(value)
    except OverflowError:
        raise ValueError(f"{name} holds a number beyond what a float holds; expected {wanted}") from None
    except (TypeError, ValueError, AttributeError):
        raise ValueError(f"{name} is ragged; expected {wanted}") from None
    if array.size > _MAX_NUMBERS:
        raise ValueError(f"{name} holds {array.size} numbers; expected at most {_MAX_NUMBERS}")
    return array


def numbers(name: str, value: npt.ArrayLike) -> Array:
    """Real numbers as float64, of any shape, finite or not."""
    given = any_array(name, value)
    if given.dtype.kind == "O" and any(one is None for one in given.flat):  # NumPy would make it NaN
        raise wrong_type(name, value, "numbers")
    if given.dtype.kind in "cmM":  # NumPy would convert complex numbers and dates, with or without a warning
        raise TypeError(f"{name} has dtype {given.dtype}; expected real numbers")
    try:
        return np.asarray(given, np.float64)
    except OverflowError:
        raise ValueError(
            f"{name} holds a number beyond what a float holds; expected finite numbers"
        ) from None
    except TypeError:
        raise wrong_type(name, value, "numbers") from None
    except ValueError:
        raise ValueError(f"{name} holds a value that is not a number; expected numbers") from None


def floats(
    name: str, value: npt.ArrayLike, shape: tuple[int | str, ...], dtype: type[np.floating[Any]] = np.float32
) -> Array:
    """Finite, C-contiguous real numbers of `shape`, in which a str stands for any length."""
    given = _array(name, value, f"one shape {_words(shape)}")
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
    raise ValueError(
        f"{name} holds a number that is not finite{where}: {item} is {array[~finite][0]}; "
        "expected finite numbers"
    )


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
        raise wrong_type(name, value, "a sequence of str")
    for one in value:
        if not isinstance(one, str):
            raise TypeError(f"{name} holds {brief(one)}; expected str")
    return tuple(value)
