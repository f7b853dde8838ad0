"""Clip.compress: fewer keys, as long as no vertex is farther off than the caller allows.

The error that a channel may have is estimated from the distance of the vertices that it moves. The error of
the result is measured at the skin, and the estimate is corrected until the measured error fits.
"""

import math

import numpy as np

from .._progress import working
from ..clip import Clip
from ..clips.edit import derived
from .skin_error import SkinError, checked_error
from .thinning import Thinner

FLOOR = 2.0**-12  #: of the bound: smaller fractions are not tried
MAX_TRIES = 14  #: clips that are made and measured
_MAX_FRACTION = 64.0
_CLOSE = 1.1  # factor: fractions that are closer differ by less than a measurement is worth


@np.errstate(over="ignore", invalid="ignore")  # what overflows is not finite, and refused by name
def compressed(clip: Clip, max_error: float | None) -> Clip:
    """Return the clip with fewer keys; see `Clip.compress`."""
    bound = checked_error(max_error, clip)
    thinner, measure = Thinner(clip, bound * FLOOR), SkinError(clip)
    best, best._error = derived(clip, clip.channels, clip.duration), 0.0
    search = FractionSearch()
    with working(f"compressing {clip.name}"):
        for _ in range(MAX_TRIES):
            trial = thinner.clip(bound * search.fraction)
            worst = measure.of(trial)
            if worst <= bound and trial.nbytes <= best.nbytes:
                best, best._error = trial, worst
            if not search.narrow(worst, bound):
                break
    return best


class FractionSearch:
    """A search for the largest fraction of a bound that each channel may use, with the clip within it."""

    def __init__(self) -> None:
        self.fraction = 1.0  #: to be tried next
        self._good, self._bad = 0.0, math.inf

    def narrow(self, worst: float, bound: float) -> bool:
        """Take the error that `fraction` led to and choose the next; return False if none is worth a try."""
        if self.fraction == 0.0:
            return False
        if worst <= bound:
            self._good = self.fraction
        else:
            self._bad = self.fraction
        if math.isinf(self._bad):
            self.fraction *= 2.0
        elif self._good:
            self.fraction = math.sqrt(self._good * self._bad)
        else:
            self.fraction *= min(max(0.9 * bound / worst, 1 / 16), 0.7)
            if self.fraction < FLOOR:
                self.fraction = 0.0  # keys that can be dropped without any error, if there are any
        return bound > 0.0 and self.fraction <= _MAX_FRACTION and self._bad / (self._good or 1e-300) > _CLOSE
