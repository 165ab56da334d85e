"""`raw.csv` read back: the turns of every contestant, and what they come to."""

import csv
import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from race import OURS, Record


@dataclass
class Score:
    """All repeats of one contestant in one case."""

    #: Seconds by stage, one value per repeat.
    seconds: dict[str, list[float]] = field(default_factory=dict)
    #: Values by quality, one per repeat.
    qualities: dict[str, list[float]] = field(default_factory=dict)

    def add(self, measure: str, value: float) -> None:
        kind, _, stage = measure.partition(":")
        table, name = (self.seconds, stage) if kind == "seconds" else (self.qualities, measure)
        table.setdefault(name, []).append(value)

    @property
    def totals(self) -> list[float]:
        """Seconds of all stages together, one value per repeat."""
        return [sum(stages) for stages in zip(*self.seconds.values(), strict=True)]

    @property
    def median(self) -> float:
        return statistics.median(self.totals)

    @property
    def best(self) -> float:
        return min(self.totals)

    @property
    def n_repeats(self) -> int:
        return len(self.totals)

    def stage(self, name: str) -> float:
        return statistics.median(self.seconds[name])

    def mean(self, quality: str) -> float:
        return statistics.fmean(self.qualities[quality])

    def spread(self, quality: str) -> float:
        values = self.qualities[quality]
        return statistics.stdev(values) if len(values) > 1 else 0.0

    @property
    def quality(self) -> str | None:
        """The one quality that results of this race are judged by, if this one has a result."""
        return next(iter(self.qualities), None)


@dataclass(frozen=True)
class Result:
    """One case: what every contestant scored, in the order they ran."""

    race: str
    case: str
    precision: str
    scores: dict[str, Score]

    def times(self, peer: str) -> float:
        """How many times faster ours is than `peer`, by the medians."""
        return self.scores[peer].median / self.scores[OURS].median


def read(path: Path) -> list[Result]:
    with path.open(newline="") as file:
        return collect(Record(**_typed(row)) for row in csv.DictReader(file))


def collect(records: Iterable[Record]) -> list[Result]:
    results: dict[tuple[str, str, str], Result] = {}
    for record in records:
        key = (record.race, record.case, record.precision)
        result = results.setdefault(key, Result(*key, scores={}))
        score = result.scores.setdefault(record.contestant, Score())
        score.add(record.measure, record.value)
    return list(results.values())


def _typed(row: dict[str, str]) -> dict:
    return row | {"repeat": int(row["repeat"]), "value": float(row["value"])}
