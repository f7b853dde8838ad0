"""The four arguments of `skinpy.load` that protect this process, for other functions that load files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypedDict

from ._arguments import items_of
from .limits import Limits

if TYPE_CHECKING:
    from .loading import External, Isolate

#: The default of `limits`.
USUAL = Limits()


class Confinement(TypedDict):
    """Keyword arguments for any number of calls of `skinpy.load`."""

    isolate: Isolate
    limits: Limits
    allow_formats: tuple[str, ...] | None
    external: External


def confinement(
    isolate: Isolate, limits: Limits, allow_formats: Iterable[str] | None, external: External
) -> Confinement:
    """Check four arguments of `skinpy.load`, even if nothing will be loaded, and return them.

    Parameters
    ----------
    isolate, limits, allow_formats, external
        The arguments of the same names of `skinpy.load`.

    Returns
    -------
    Confinement
        The arguments. `allow_formats` is a tuple, because an iterator can be used only once.

    Raises
    ------
    TypeError, ValueError
        If an argument is wrong, as in `skinpy.load`.
    """
    # Imported here because it imports modules that use this one.
    from ._importer import variables
    from .loading import _confined

    formats = allow_formats
    if formats is not None and not isinstance(formats, str):  # _confined refuses a str
        formats = tuple(items_of("allow_formats", formats, "several suffixes, such as ('glb',)"))
    _confined(isolate, limits, formats, external, variables())
    assert formats is None or isinstance(formats, tuple)
    return {"isolate": isolate, "limits": limits, "allow_formats": formats, "external": external}
