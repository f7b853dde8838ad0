"""The display of models and clips in notebooks."""

from collections.abc import Collection
from functools import cached_property


class Shown:
    """A base class that shows itself as text, and as an animated PNG if one can be drawn."""

    @cached_property
    def _preview(self) -> "bytes | None":
        """The PNG, or None if there is nothing to draw."""
        return None

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        """The representations by MIME type; notebooks call this method."""
        from .output.preview import bundle, wanted

        picture = self._preview if wanted("image/png", include, exclude) else None
        return bundle(self, picture, include, exclude)
