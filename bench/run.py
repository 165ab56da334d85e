"""Races lkdl against its peers: `make bench-peers`, or `python bench/run.py --races omp`.

Writes results/<date>-<machine>/: setup.md, raw.csv (row by row, as it is measured), summary.md and
chart.svg.
"""

import argparse
import csv
import sys
import warnings
from pathlib import Path

import threads  # noqa: F401  before anything that loads a linear algebra library

# isort: split
import chart
import records
import setup_report
import summary
from race import Case, Disagreement, Record, run
from races import RACES


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--races", nargs="+", choices=RACES, default=list(RACES))
    parser.add_argument("--out", type=Path, help="default: results/<date>-<machine>")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # peers warn of convergence; what they reach is in the tables
    out = options.out or summary.ROOT / "results" / setup_report.directory_name()
    out.mkdir(parents=True, exist_ok=True)

    cases: list[Case] = []
    disagreements = []
    with (out / "raw.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, Record.columns(), lineterminator="\n")
        writer.writeheader()
        for name in options.races:
            for case in RACES[name]():
                print(f"{case.race}, {case.name}, {case.precision}", file=sys.stderr)
                cases.append(without_data(case))
                try:
                    for record in run(case):
                        writer.writerow(record.row())
                        file.flush()
                except Disagreement as problem:
                    disagreements.append(f"{case.race}, {case.name}, {case.precision}: {problem}")

    command = "python bench/run.py" if options.races != list(RACES) else "make bench-peers"
    (out / "setup.md").write_text(setup_report.text(cases, command))
    results = records.read(out / "raw.csv")
    chart.draw(results, out / "chart.svg")
    (out / "summary.md").write_text(report(results, disagreements))
    print(summary.tables(results))
    print("\n" + summary.verdicts(results))
    print("\n".join(["", *disagreements]), file=sys.stderr)
    return 1 if disagreements else 0


def without_data(case: Case) -> Case:
    """What the setup tells of a case; its arrays are for this race alone."""
    contestants = [type(c)(c.name, {}, c.repeats, c.note) for c in case.contestants]
    return Case(case.race, case.name, case.precision, contestants, judge=lambda result: {})


def report(results, disagreements: list[str]) -> str:
    agreement = (
        "All results that had to agree do." if not disagreements else "\n".join(disagreements)
    )
    parts = [
        "# Summary",
        summary.tables(results),
        "![times faster than the peers](chart.svg)",
        "## Bars",
        summary.verdicts(results),
        "## Agreement",
        agreement,
        "## All contestants",
        summary.repeats(results),
    ]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    sys.exit(main())
