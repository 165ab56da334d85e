"""The races as one picture: how many times faster than every peer, on a logarithmic axis."""

from pathlib import Path

import matplotlib
from bars import bar_of
from matplotlib.figure import Figure
from race import OURS
from records import Result

AHEAD, BEHIND, AIM = "#2a6f97", "#c05746", "#222222"


def draw(results: list[Result], path: Path) -> None:
    """Writes SVG or PNG by the ending of `path`; the same results give the same bytes."""
    bars = [
        (result, peer) for result in results for peer in result.scores if not peer.startswith(OURS)
    ]
    with matplotlib.rc_context({"svg.hashsalt": "lkdl", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(8, 0.6 + 0.26 * len(bars)), layout="constrained")
        axes = figure.add_subplot()
        for row, (result, peer) in enumerate(bars):
            bar, times = bar_of(result.race, result.case, result.precision), result.times(peer)
            has_aim = peer == bar.peer and bar.times != 1
            axes.barh(row, times - 1, left=1, height=0.7, color=AHEAD if times >= 1 else BEHIND)
            axes.annotate(
                f"{times:.3g}×",
                (max(times, 1, bar.times if has_aim else 1), row),
                (4, 0),
                textcoords="offset points",
                va="center",
            )
            if has_aim:
                axes.plot([bar.times] * 2, [row - 0.42, row + 0.42], color=AIM, linewidth=1.5)
        axes.set_yticks(range(len(bars)), [label(result, peer) for result, peer in bars])
        axes.invert_yaxis()
        axes.set_xscale("log")
        axes.margins(x=0.12, y=0.01)
        axes.axvline(1, color="#888888", linewidth=0.8)
        axes.set_xlabel("times faster than the peer (black mark: the aim)")
        axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None, dpi=110)


def label(result: Result, peer: str) -> str:
    precision = {"float64": "f64", "float32": "f32"}[result.precision]
    return f"{result.race}, {result.case}, {precision}: {peer}"
