"""Drift: how much of new samples the landmarks miss, against what they missed at the start."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

#: A share below this counts as this: landmarks that miss nothing are not outgrown by rounding.
LEAST_SHARE = 1e-6
#: Samples that the running share reaches back.
WINDOW = 1000


class Drift(NamedTuple):
    """The running share Σe⊥/Σκ(x,x) of the samples so far, and that of the first ones."""

    first: float
    missed: float
    whole: float

    @classmethod
    def of(cls, missed: np.ndarray, whole: np.ndarray) -> Drift:
        """The share of the first samples, from which the running share starts."""
        weight = WINDOW / len(missed)
        sums = float(missed.sum()) * weight, float(whole.sum()) * weight
        return cls(max(sums[0] / sums[1], LEAST_SHARE) if sums[1] > 0 else LEAST_SHARE, *sums)

    def after(self, missed: np.ndarray, whole: np.ndarray) -> Drift:
        """The same after these samples: older ones fade."""
        kept = (1 - 1 / WINDOW) ** np.arange(len(missed), -1.0, -1.0)
        sums = (
            float(kept[0] * before + kept[1:] @ new)
            for before, new in ((self.missed, missed), (self.whole, whole))
        )
        return self._replace(**dict(zip(("missed", "whole"), sums, strict=True)))

    @property
    def level(self) -> float:
        """The running share as a multiple of the first."""
        return self.missed / self.whole / self.first if self.whole > 0 else 0.0
