"""How models and clips show themselves in notebooks."""

from collections.abc import Collection
from functools import cached_property


class Shown:
    """Text, and an animated PNG where one can be drawn."""

    @cached_property
    def _preview(self) -> "bytes | None":
        """The PNG; None where there is nothing to draw."""
        return None

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        """What notebooks show."""
        from .output.preview import bundle, wanted

        picture = self._preview if wanted("image/png", include, exclude) else None
        return bundle(self, picture, include, exclude)
