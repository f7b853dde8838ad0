"""Quantized clips: fewer keys and fewer bits per number, within an error that is measured at the skin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._progress import working
from .._text import quoted
from ..clip import Clip
from .compress import FLOOR, MAX_TRIES, FractionSearch
from .encoding import decode, encode
from .skin_error import SkinError, checked_error
from .thinning import Thinner

__all__ = ["Quantized", "quantize"]


@dataclass(frozen=True, eq=False, repr=False)
class Quantized:
    """A clip as bytes, with 8 or 16 bits per number: for storage and transfer.

    `Quantized.clip` expands the bytes into a clip that can be played.

    Attributes
    ----------
    data : bytes
        Header, key times and channels.
    error : float, model units
        The largest distance of a vertex or joint from where the source has it.
    source : Clip
        The clip that was quantized.
    """

    data: bytes
    error: float
    source: Clip

    @property
    def nbytes(self) -> int:
        """The length of `data`."""
        return len(self.data)

    def clip(self) -> Clip:
        """Return the clip that the bytes hold, with its keys expanded to float32.

        Returns
        -------
        Clip
            A clip that is bound to the model of the source.
        """
        return decode(self.data, self.source)

    def __repr__(self) -> str:
        return f"<Quantized {quoted(self.source.name)}: {self.nbytes} bytes, error {self.error:.3g}>"


@np.errstate(over="ignore", invalid="ignore")  # what overflows is not finite, and refused by name
def quantize(clip: Clip, max_error: float | None = None) -> Quantized:
    """Return a clip with fewer keys, and with 8 or 16 bits per number, within an error.

    Keys are dropped as by `Clip.compress`. The error of dropped keys and rounded numbers together is
    measured at the skin, in the same way.

    Parameters
    ----------
    clip : Clip
        A clip that is bound to a model and is not additive.
    max_error : float, model units, optional
        The largest distance, 0 or more, that any vertex or joint may be off. Without it 1e-4 of the size.

    Returns
    -------
    Quantized
        The smallest form that was found. Where 16 bits are too few for `max_error`, the most exact form;
        `Quantized.error` is the error reached.

    Raises
    ------
    ValueError
        If `clip` is bound to no model or is additive, its model came out of a pickle without its vertices, or
        `max_error` is negative or not finite.
    TypeError
        If `max_error` is not a number.

    Examples
    --------
    >>> clip = skinpy.character().clips["walk"]
    >>> coded = skinpy.storage.quantize(clip, 0.01)
    >>> coded.nbytes < clip.nbytes and coded.error <= 0.01
    True
    """
    bound = checked_error(max_error, clip)
    thinner, measure = Thinner(clip, bound * FLOOR), SkinError(clip)
    found: list[Quantized] = []
    search = FractionSearch()
    with working(f"quantizing {clip.name}"):
        for _ in range(MAX_TRIES):
            thin = thinner.clip(bound * search.fraction)
            data = encode(thin, thinner.limits(thin, bound * search.fraction / 4))
            worst = measure.of(decode(data, clip))
            found.append(Quantized(data, worst, clip))
            if not search.narrow(worst, bound):
                break
    fitting = [one for one in found if one.error <= bound]
    return min(fitting, key=lambda one: one.nbytes) if fitting else min(found, key=lambda one: one.error)
