"""What the races are held against: how many times faster than which peer, and more accurate or not."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Bar:
    """At least `times` faster than `peer`; `accurate`: and right more often."""

    peer: str
    times: float
    accurate: bool = False


#: By race; in races that have several, by the start of the case's name and by precision.
BARS: dict[tuple[str, str, str], Bar] = {
    ("omp", "p=256", "float64"): Bar("SPAMS", 5),
    ("omp", "p=256", "float32"): Bar("SPAMS", 8),
    ("omp", "p=784", "float64"): Bar("SPAMS", 5),
    ("omp", "p=784", "float32"): Bar("SPAMS", 8),
    ("omp", "p=504", "float64"): Bar("SPAMS", 3),
    ("omp", "p=504", "float32"): Bar("SPAMS", 5),
    ("ksvd", "", ""): Bar("dictlearn", 10),
    ("nystroem", "", ""): Bar("scikit-learn", 1.5),
    ("classify", "", ""): Bar("SVC RBF", 1, accurate=True),
}


def bar_of(race: str, case: str, precision: str) -> Bar:
    """The bar of a case: the one entry that fits it."""
    for (of_race, start, of_precision), bar in BARS.items():
        if of_race == race and case.startswith(start) and of_precision in ("", precision):
            return bar
    raise KeyError(f"no bar for {race}, {case}, {precision}")
