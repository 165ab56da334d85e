"""Turns, records and tables; and that the README says what the results say."""

import csv
import itertools
import subprocess
import sys

import pytest
import race
import records
import summary
from bars import BARS, bar_of
from race import OURS, Case, Contestant, Disagreement


def two_contestants(agree=lambda results: None) -> Case:
    clock = itertools.count()
    return Case(
        race="ksvd",
        name="digits",
        precision="float64",
        contestants=[
            Contestant(OURS, {"fit": lambda seed: (OURS, seed, next(clock))}),
            Contestant(
                "dictlearn", {"fit": lambda seed: ("dictlearn", seed, next(clock))}, repeats=1
            ),
        ],
        judge=lambda result: {"error": float(result[1])},
        agree=agree,
        repeats=race.IN_A_ROW + 1,
    )


def test_contestants_take_turns_in_rows_and_get_the_seed_of_the_repeat():
    measured = [record for record in race.run(two_contestants()) if record.measure == "error"]
    order = [(record.repeat, record.contestant, record.value) for record in measured]
    ours = [(repeat, OURS, repeat) for repeat in range(race.IN_A_ROW + 1)]
    assert order == [*ours[:-1], (0, "dictlearn", 0), ours[-1]]


def test_every_row_is_warmed_up():
    seen = {}
    list(race.run(two_contestants(seen.update)))
    row = race.IN_A_ROW + 1
    assert seen["dictlearn"] == ("dictlearn", 0, row + 1)
    assert seen[OURS] == (OURS, race.IN_A_ROW, row + 3)


def test_a_disagreement_ends_the_case():
    def refuse(results):
        raise Disagreement("not the same")

    with pytest.raises(Disagreement):
        list(race.run(two_contestants(refuse)))


def score(totals, accuracies=()) -> records.Score:
    result = records.Score()
    for seconds in totals:
        result.add("seconds:fit", seconds / 4)
        result.add("seconds:predict", 3 * seconds / 4)
    for accuracy in accuracies:
        result.add("accuracy", accuracy)
    return result


def test_a_score_is_the_median_of_the_sums_of_the_stages():
    three = score([4.0, 1.0, 8.0], [0.9, 0.95, 1.0])
    assert (three.median, three.best, three.n_repeats) == (4.0, 1.0, 3)
    assert (three.stage("fit"), three.stage("predict")) == (1.0, 3.0)
    assert three.mean("accuracy") == pytest.approx(0.95)
    assert three.spread("accuracy") == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("theirs", "our_accuracy", "kept"), [(2.0, 0.96, True), (0.5, 0.96, False), (2.0, 0.95, False)]
)
def test_a_bar_asks_for_speed_and_accuracy(theirs, our_accuracy, kept):
    scores = {OURS: score([1.0], [our_accuracy]), "SVC RBF": score([theirs], [0.95])}
    assert summary.is_kept(records.Result("classify", "usps", "float64", scores)) is kept


def test_every_race_has_a_bar_and_a_title():
    assert {key[0] for key in BARS} == set(summary.TITLES)
    assert bar_of("omp", "p=504 m=570 N=1216 q=30", "float32").times == 5
    with pytest.raises(KeyError):
        bar_of("omp", "p=1", "float64")


def test_records_survive_their_file(tmp_path):
    made = list(race.run(two_contestants()))
    with (tmp_path / "raw.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, race.Record.columns())
        writer.writeheader()
        writer.writerows(record.row() for record in made)
    assert records.read(tmp_path / "raw.csv") == records.collect(made)


def test_the_readme_says_what_the_results_say():
    command = [sys.executable, summary.__file__, "--check", str(summary.ROOT / "README.md")]
    check = subprocess.run(command, capture_output=True, check=False, text=True)
    assert check.returncode == 0, check.stderr


def test_a_readme_that_says_otherwise_is_found_out_and_mended(tmp_path):
    readme = tmp_path / "README.md"
    marks = summary.BEGIN.format("results/old"), summary.END
    readme.write_text("\n".join(["before", marks[0], "100 times faster", marks[1], "after"]))

    def run(mode):
        command = [sys.executable, summary.__file__, mode, str(readme)]
        return subprocess.run(command, capture_output=True, check=False).returncode

    assert run("--check") == 1
    assert run("--update") == 0
    assert run("--check") == 0
    text = readme.read_text()
    assert text.startswith("before\n") and text.endswith("\nafter") and "100 times" not in text
