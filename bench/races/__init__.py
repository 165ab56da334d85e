"""One file per race; each has `cases()`."""

from . import classify, ksvd, nystroem, omp

RACES = {
    "omp": omp.cases,
    "ksvd": ksvd.cases,
    "nystroem": nystroem.cases,
    "classify": classify.cases,
}
