"""What keeps imports in, for functions that load files on the way: four arguments of `skinpy.load`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypedDict

from ._arguments import flag
from .limits import Limits

if TYPE_CHECKING:
    from .loading import External

#: What `limits` is where it is not given.
USUAL = Limits()


class Confinement(TypedDict):
    """Arguments of `skinpy.load`, for any number of calls."""

    isolate: bool
    limits: Limits
    allow_formats: tuple[str, ...] | None
    external: External


def confinement(
    isolate: bool, limits: Limits, allow_formats: Iterable[str] | None, external: External
) -> Confinement:
    """The arguments of these names, checked whether or not anything is loaded.

    Raises TypeError and ValueError as `skinpy.load` does.
    """
    from .loading import _confined, _paths_key  # which imports those that load on the way

    apart = flag("isolate", isolate)
    formats = allow_formats
    if formats is not None and not isinstance(formats, str):  # a str is refused below
        formats = tuple(formats)
    _confined(apart, limits, formats, external, _paths_key())
    assert formats is None or isinstance(formats, tuple)
    return {"isolate": apart, "limits": limits, "allow_formats": formats, "external": external}
