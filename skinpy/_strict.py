"""The base of objects whose attributes cannot be misspelled or replaced."""

from typing import TYPE_CHECKING


class Strict:
    """A base of classes whose public attributes are properties.

    Only attributes whose property has a setter can be set; all others, and misspelled ones, raise
    AttributeError.
    """

    __slots__ = ()

    if not TYPE_CHECKING:  # a type checker finds these by itself, unless it sees this method

        def __setattr__(self, name: str, value: object) -> None:
            if not name.startswith("_"):
                known = getattr(type(self), name, None)
                if not isinstance(known, property) or known.fset is None:
                    what = "an attribute that can be set" if known is not None else "an attribute"
                    raise AttributeError(f"{name!r} is not {what} of {type(self).__name__}")
            super().__setattr__(name, value)
