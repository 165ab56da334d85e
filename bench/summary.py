"""Tables of the races, from the files that `make bench-peers` wrote; needs nothing but Python.

python bench/summary.py [results/<date>-<machine>]        prints them
python bench/summary.py --update README.md [results/…]    writes them between the README's marks
python bench/summary.py --check README.md                 fails where it says otherwise than the newest
"""

import argparse
import sys
from pathlib import Path

import records
from bars import bar_of
from race import OURS
from records import Result, Score

ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- bench-peers: {} -->", "<!-- /bench-peers -->"
TITLES = {
    "omp": "Sparse codes by OMP",
    "ksvd": "A dictionary by approximate K-SVD",
    "nystroem": "Nyström features, fit and transform",
    "classify": "Classification, samples to labels",
}
#: The contestant that does no more than what all must do.
LIMIT = "bare product"
PRECISIONS = {"float64": "`f64`", "float32": "`f32`"}


def tables(results: list[Result]) -> str:
    """One table per race, its wins and losses alike."""
    parts = []
    for race, title in TITLES.items():
        of_race = [result for result in results if result.race == race]
        if of_race:
            table = classified(of_race) if race == "classify" else timed(of_race)
            parts.append(f"{title}:\n\n{table}")
    return "\n\n".join(parts)


def timed(results: list[Result]) -> str:
    """A row per case, a column per contestant, and how far ahead of the peer that counts."""
    contestants = list(results[0].scores)
    bar = bar_of(results[0].race, results[0].case, results[0].precision)
    rows = [["", "", *contestants, f"faster than {bar.peer}"]]
    for result in results:
        cells = [cell(score) for score in result.scores.values()]
        rows.append([result.case, PRECISIONS[result.precision], *cells, verdict(result)])
    return markdown(rows)


def classified(results: list[Result]) -> str:
    """A row per contestant: seconds of both stages, accuracy, and the ratio of the totals."""
    rows = [["", "", "fit", "predict", "accuracy %", "time, ours = 1"]]
    for result in results:
        for name, score in result.scores.items():
            stages = [seconds(score.stage(stage)) for stage in ("fit", "predict")]
            rows.append([result.case, name, *stages, percent(score), f"{result.times(name):.2g}"])
    return markdown(rows)


def verdicts(results: list[Result]) -> str:
    """Every bar, kept or missed."""
    rows = [["race", "case", "", "bar", "measured", ""]]
    for result in results:
        bar = bar_of(result.race, result.case, result.precision)
        wanted = f"{aim(result)} {bar.peer}" + (", more accurate" if bar.accurate else "")
        got = f"{result.times(bar.peer):.1f}×"
        if bar.accurate:
            mine, theirs = (result.scores[name].mean("accuracy") for name in (OURS, bar.peer))
            got += f", {100 * mine:.2f} % against {100 * theirs:.2f} %"
        kept = "kept" if is_kept(result) else "**missed**"
        precision = PRECISIONS[result.precision]
        rows.append([result.race, result.case, precision, wanted, got, kept])
    return markdown(rows)


def repeats(results: list[Result]) -> str:
    """Every contestant: best and median of how many repeats, mean ± σ of the quality."""
    rows = [["race", "case", "", "contestant", "best", "median", "repeats", "quality"]]
    for result in results:
        for name, score in result.scores.items():
            quality = score.quality
            judged = f"{score.mean(quality):.5f} ± {score.spread(quality):.5f}" if quality else ""
            times = [seconds(score.best), seconds(score.median), str(score.n_repeats)]
            precision = PRECISIONS[result.precision]
            rows.append(
                [result.race, result.case, precision, name, *times, f"{quality or ''} {judged}"]
            )
    return markdown(rows)


def is_kept(result: Result) -> bool:
    bar = bar_of(result.race, result.case, result.precision)
    mine, theirs = result.scores[OURS], result.scores[bar.peer]
    more_accurate = not bar.accurate or mine.mean("accuracy") > theirs.mean("accuracy")
    return more_accurate and result.times(bar.peer) >= bar.times


def verdict(result: Result) -> str:
    bar = bar_of(result.race, result.case, result.precision)
    return f"{result.times(bar.peer):.1f}×" + ("" if is_kept(result) else f" (aim: {aim(result)})")


def aim(result: Result) -> str:
    """The bar, and what no contestant can exceed where that is known: the ratio of the bare product."""
    bar = bar_of(result.race, result.case, result.precision)
    if LIMIT not in result.scores:
        return f"{bar.times:g}×"
    limit = result.times(bar.peer) / result.times(LIMIT)
    return f"{bar.times:g}×, limit: {limit:.1f}×"


def cell(score: Score) -> str:
    quality = score.quality
    return seconds(score.median) + (f", {quality} {score.mean(quality):.4f}" if quality else "")


def percent(score: Score) -> str:
    spread = f" ± {100 * score.spread('accuracy'):.2f}" if score.n_repeats > 1 else ""
    return f"{100 * score.mean('accuracy'):.2f}{spread}"


def seconds(value: float) -> str:
    return f"{1000 * value:.3g} ms" if value < 1 else f"{value:.3g} s"


def markdown(rows: list[list[str]]) -> str:
    head, *body = rows
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def latest() -> Path | None:
    """The newest results; their names start with the date."""
    return max((path.parent for path in ROOT.glob("results/*/raw.csv")), default=None)


def block(directory: Path | None) -> str:
    """What stands between the marks of a README, and the marks, which name the directory."""
    if directory is None:
        return f"{BEGIN.format('none')}\n\nNot measured on a quiet machine yet.\n\n{END}"
    name = directory.resolve().relative_to(ROOT).as_posix()
    chart = f"![times faster than the peers]({name}/chart.svg)"
    return (
        f"{BEGIN.format(name)}\n\n{tables(records.read(directory / 'raw.csv'))}\n\n{chart}\n\n{END}"
    )


def marked(text: str) -> str:
    """The marked block of a README."""
    opening, _ = BEGIN.split("{}")
    if opening not in text or END not in text:
        sys.exit(f"found no {BEGIN.format('results/…')} … {END}")
    start = text.index(opening)
    return text[start : text.index(END, start) + len(END)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", nargs="?", type=Path, help="default: the newest results")
    parser.add_argument("--update", type=Path, metavar="README")
    parser.add_argument("--check", type=Path, metavar="README")
    options = parser.parse_args()
    directory = options.directory or latest()
    readme = options.check or options.update
    if readme is None:
        print(tables(records.read(directory / "raw.csv")) if directory else "no results yet")
        return
    text, wanted = readme.read_text(), block(directory)
    found = marked(text)
    if options.update:
        readme.write_text(text.replace(found, wanted))
    elif found != wanted:
        sys.exit(f"{readme} does not say what {directory} does: run with --update {readme}")


if __name__ == "__main__":
    main()
