"""Calls every public function with one argument replaced by a value that nobody expects there.

`public_functions` has a valid call of each public function. `replaced` runs such a call with one argument
exchanged, and `fault` says what is wrong with the error that comes of it, if anything is.
"""

from __future__ import annotations

import importlib
import inspect
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np
import public_functions

import skinpy

Case = Callable[[], Any]

#: Seconds after which a call is taken to do enormous work. The valid calls take milliseconds.
TOO_LONG = 60.0

# ------------------------------------------------------------------------------------------------ the values


class Nothing:
    """An object without any ability."""

    def __repr__(self) -> str:
        return "<a Nothing>"


def values(world: public_functions.World) -> dict[str, Any]:
    """Wrong values by a name for the report of a test. Some of them are right for some arguments."""
    return {
        "None": None,
        "object": Nothing(),
        "class": Nothing,
        "function": lambda *_: 1.0,
        "str": "x",
        "empty str": "",
        "long str": "y" * 100_000,
        "surrogate": "\udcff",
        "null": "a\0b",
        "bytes": b"x",
        "True": True,
        "minus": -1,
        "zero": 0,
        "fraction": 1.5,
        "nan": float("nan"),
        "inf": float("inf"),
        "-inf": float("-inf"),
        "1e308": 1e308,
        "2**31": 2**31,
        "10**30": 10**30,
        "10**400": 10**400,
        "10**5000": 10**5000,
        "complex": 1j,
        "empty list": [],
        "nested list": [[1]],
        "list of None": [None],
        "list of objects": [Nothing(), Nothing()],
        "list of str": ["x", "y"],
        "list of huge": [10**400],
        "ragged": [[1.0, 2.0], [3.0]],
        "tuple of nan": (float("nan"),) * 3,
        "tuple of 1e308": (1e308,) * 3,
        "pair of huge": (10**9, 10**9),
        "empty dict": {},
        "dict": {1: 2},
        "dict of None": {"x": None},
        "set": {1, 2},
        "empty array": np.empty((0,)),
        "array of objects": np.array([None, Nothing()], object),
        "array of str": np.array(["a", "b"]),
        "array of complex": np.ones(3, complex),
        "array of dates": np.array(["2020-01-01"], "datetime64[D]"),
        "array of nan": np.full((2, 3), np.nan),
        "array of 1e308": np.full(4, 1e308),
        "array of ints": np.arange(10),
        "array of many axes": np.zeros((1,) * 20),
        "huge array": np.broadcast_to(np.float64(0.5), (10**6, 10**6)),
        "structure": np.zeros(2, [("a", "f4")]),
        "NumPy's str": np.str_("x"),
        "range": range(3),
        "memoryview": memoryview(b"1234"),
        "model": world.model,
        "other model": world.other,
        "clip of another model": world.other.clips[0],
        "clip of no model": world.loose,
        "pose of another model": world.other.pose(),
        "poses": world.model.pose("walk", [0.1, 0.2]),
        "Model itself": skinpy.Model,
        "vertex animation": world.square,
        "mask": skinpy.Mask.below("Chest"),
        "limits": skinpy.Limits(),
    }


def is_plausible(value: Any) -> bool:
    """Whether a value may be right on its own, but at odds with another argument, which the error then names.

    Another model has no clip "walk"; two names do not fit the parents of three joints.
    """
    if isinstance(value, list):
        return all(isinstance(one, str) for one in value)
    numeric = isinstance(value, np.ndarray) and value.dtype.kind in "if"
    return numeric or isinstance(value, skinpy.Model | skinpy.Clip | skinpy.Pose | range | memoryview)


# ------------------------------------------------------------------------------------------------- the calls


def owner_of(full: str) -> tuple[Any, str]:
    """The module or class that has the public name, and the name there."""
    *owners, last = full.split(".")
    things = public_functions.public_things()
    if full not in things and ".".join(owners) in things:
        return things[".".join(owners)], last
    return importlib.import_module(".".join(["skinpy", *owners])), last


def is_method(full: str) -> bool:
    """Whether a public function has `self`."""
    owner, name = owner_of(full)
    static = inspect.getattr_static(owner, name)
    return inspect.isclass(owner) and not isinstance(static, classmethod | staticmethod)


def parameters(full: str) -> list[str]:
    """The names of the parameters of a public function, without self."""
    owner, name = owner_of(full)
    found = list(inspect.signature(getattr(owner, name)).parameters.values())
    named = [one.name for one in found if one.kind is not inspect.Parameter.VAR_KEYWORD]
    return named[1:] if is_method(full) else named


class _Replacing:
    """A public function whose first call gets one argument exchanged; other attributes are the function's."""

    def __init__(self, thing: Any, parameter: str, value: Any) -> None:
        self.thing, self.parameter, self.value, self.calls = thing, parameter, value, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.thing, name)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        self.calls += 1
        if self.calls > 1:
            return self.thing(*arguments, **named)
        bound = inspect.signature(self.thing).bind(*arguments, **named)
        many = bound.signature.parameters[self.parameter].kind is inspect.Parameter.VAR_POSITIONAL
        bound.arguments[self.parameter] = (self.value,) if many else self.value
        return self.thing(*bound.args, **bound.kwargs)


@contextmanager
def _put(owner: Any, name: str, value: Any) -> Iterator[None]:
    """Exchange an attribute of a module or class."""
    own = name in vars(owner)
    before = inspect.getattr_static(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        if own:
            setattr(owner, name, before)
        else:
            delattr(owner, name)


def replaced(full: str, case: Case, parameter: str, value: Any) -> bool:
    """Run `case`, the valid call of a public function, with one argument exchanged.

    Returns False if the case does not call the function by its name.
    """
    owner, name = owner_of(full)
    replacing = _Replacing(getattr(owner, name), parameter, value)
    wrapper: Any = replacing
    if inspect.isclass(owner):
        wrapper = (lambda *a, **k: replacing(*a, **k)) if is_method(full) else staticmethod(replacing)
    bound = getattr(case, "__self__", None)
    with _put(owner, name, wrapper):
        got = case() if bound is None or inspect.isclass(bound) else getattr(bound, name)()
        if inspect.isgenerator(got):
            list(got)
    return replacing.calls > 0


@contextmanager
def _no_enormous_work() -> Iterator[None]:
    """Raise TimeoutError where the block takes too long."""

    def stop(*_: object) -> NoReturn:
        raise TimeoutError(f"it takes more than {TOO_LONG:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, TOO_LONG)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def attempt(call: Case, parameter: str, value: Any) -> str | None:
    """What is wrong with the outcome of a call whose one argument is `value`; None if all is right."""
    try:
        with _no_enormous_work():
            call()
    except Exception as error:
        return fault(error, parameter, value)
    return None


# ------------------------------------------------------------------------------------------------ the errors

ALLOWED = (TypeError, ValueError, KeyError, IndexError)
#: Arguments that may name a file that is not there, or hold something that is no model.
FILES = ("path", "paths", "source", "path_or_bytes", "model_or_path")
_MAX_LENGTH = 600  # of a message
#: What Python and NumPy say of their own accord.
FOREIGN = re.compile(
    "|".join(
        (
            "has no attribute|unsupported operand|not supported between|bad operand type|has no len",
            "object is not |object cannot be |object of type |not iterable|unhashable|slice indices",
            "must be real number|must be str|must be a string|argument must be|argument of type",
            "required argument|required positional|takes .* positional|multiple values|missing a required",
            "could not convert|cannot convert|cannot be converted|Cannot cast|Cannot compare|can only concat",
            "invalid literal|too many values|not enough values|sequence item|a bytes-like|should return",
            "inhomogeneous|setting an array element|operands could not|be broadcast|ufunc|truth value",
            "Unable to allocate|Maximum allowed|Exceeds the limit|int too large|too large to convert",
            "(list|tuple|string|range) (indices|index)|indices must be|out of bounds for axis|cannot reshape",
            "only integer|only length-1|only 0-dimensional|embedded null|math domain|NoneType' obj",
            "expected str, bytes or os.PathLike|path should be|issubclass|isinstance|by non-int",
        )
    )
)
#: How a message tells what was wanted.
WISH = re.compile(
    "[Ee]xpected|did you mean|there (is|are) |the model has|choose|pass |give |leave out|allow it with|"
    "make the folder|write an .mp4|add_clips|not finite|other than numbers|is mapped to one of"
)


def fault(error: BaseException, parameter: str, value: Any) -> str | None:
    """What is wrong with an error for one wrong argument; None if it is as all are meant to be."""
    text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    said = f"{type(error).__name__}: {text[:300]}"
    if isinstance(error, ImportError):
        return None  # for a package that is not installed
    if parameter in FILES and isinstance(error, skinpy.LoadError | OSError):
        return None
    if type(error) not in ALLOWED and not isinstance(error, skinpy.SkinpyError):
        return f"another kind of error: {said}"
    if FOREIGN.search(text):
        return f"Python's own words: {said}"
    stem = re.escape(parameter.removesuffix("s"))
    named = re.search(rf"\b{stem}s?\b", text) or (parameter in ("name", "layer") and "unknown " in text)
    named = named or (parameter in FILES and re.search("path|file", text))
    named = named or ("palette" in parameter and "palette" in text)
    if not named and not is_plausible(value):
        return f"the argument is not named: {said}"
    if not WISH.search(text):
        return f"nothing is expected: {said}"
    return f"{len(text)} letters: {said}" if len(text) > _MAX_LENGTH else None
