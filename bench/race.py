"""A race: contestants take turns on the same arrays, and every turn leaves a record.

Everybody has some turns in a row, then the next one, until all repeats are done: what else the machine
does meanwhile meets all of them alike. Threads of linear algebra libraries go on spinning for a while
after their work, on the cores the next contestant needs: so there is a rest in between, and a turn off
the clock to warm up. Inputs are made, and results judged, off the clock too.
"""

import gc
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields
from typing import Any

OURS = "lkdl"
#: Seconds after which the threads of all peers sleep.
REST = 0.25
#: Turns in a row.
IN_A_ROW = 3


@dataclass(frozen=True)
class Contestant:
    """Somebody who runs the same task as the others."""

    name: str
    #: Steps in order, each given what the one before returned (the first: the seed of the repeat).
    stages: dict[str, Callable[[Any], Any]]
    #: Slow ones run fewer repeats than the case asks for.
    repeats: int | None = None
    #: What the reader has to know about it: variant, size, parameters.
    note: str = ""


@dataclass(frozen=True)
class Case:
    """One task, its contestants, and what counts as a good result."""

    race: str
    name: str
    precision: str
    contestants: list[Contestant]
    #: Names and values to judge a result by, from the result of the last stage.
    judge: Callable[[Any], dict[str, float]]
    #: Raises `Disagreement` where contestants had to agree and do not.
    agree: Callable[[dict[str, Any]], None] = lambda results: None
    repeats: int = 5


class Disagreement(AssertionError):
    """Two contestants returned different results where they had to be the same."""


@dataclass(frozen=True)
class Record:
    """One stage of one turn, or one judgement of its result: a row of `raw.csv`."""

    race: str
    case: str
    precision: str
    contestant: str
    repeat: int
    #: `seconds:<stage>` or the name of a quality.
    measure: str
    value: float

    @classmethod
    def columns(cls) -> list[str]:
        return [column.name for column in fields(cls)]

    def row(self) -> dict[str, Any]:
        return asdict(self)


def run(case: Case) -> Iterator[Record]:
    """All turns of a case, one record after the other as they are measured."""
    results: dict[str, Any] = {}
    for first in range(0, case.repeats, IN_A_ROW):
        for contestant in case.contestants:
            last = min(first + IN_A_ROW, case.repeats, contestant.repeats or case.repeats)
            if first >= last:
                continue
            gc.collect()
            time.sleep(REST)
            _turn(contestant, seed=first)  # threads started, code compiled, pages mapped
            # judged when all are done: judges use the peers' threads too
            turns = [(repeat, *_turn(contestant, seed=repeat)) for repeat in range(first, last)]
            for repeat, result, seconds in turns:
                results[contestant.name] = result
                measures = {f"seconds:{stage}": value for stage, value in seconds.items()}
                for measure, value in (measures | case.judge(result)).items():
                    yield Record(
                        case.race, case.name, case.precision, contestant.name, repeat, measure, value
                    )
    case.agree(results)


def _turn(contestant: Contestant, seed: int) -> tuple[Any, dict[str, float]]:
    """One run: the result of the last stage, and the seconds of each."""
    state, seconds = seed, {}
    for stage, step in contestant.stages.items():
        start = time.perf_counter()
        state = step(state)
        seconds[stage] = time.perf_counter() - start
    return state, seconds
