"""Measures fits from blocks on one machine: `python bench/stream.py --write`.

MNIST enlarged ninefold by one-pixel shifts is written to a file, and `lkdl fit --stream` learns from
its first 100,000, 200,000 and all 540,000 samples: peak memory, time and accuracy against N, and the
same method in memory for comparison. `--write` puts table and picture into docs/scale.md.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from machine import processor
from page import fill

FOLDER = Path(__file__).parents[1] / "docs"
#: Sizes of the paper's mini-batch experiment, with landmarks of the default sampler.
SIZES = {"landmarks": 2048, "rank": 784, "atoms": 700, "sparsity": 11}
METHOD = ["--kernel", "polynomial", "--degree", "2", "--prepare", "center,l2", "--precision", "f32"]
#: Passes of every learner; one of `online` costs about as much as two of `mod`.
PASSES = {"mod": 2, "online": 1}
#: Rows that are shifted at a time.
ROWS = 10_000


@dataclass
class Fit:
    """One run of the command."""

    method: str
    streamed: bool
    n_samples: int
    #: Of the process at its peak, in bytes.
    memory: int
    #: Of the passes, and of everything.
    learn: float
    seconds: float
    #: On MNIST's test set, in percent.
    accuracy: float


def enlarge(X: np.ndarray, y: np.ndarray, folder: Path) -> None:
    """Every image and its eight shifts, in random order: x.npy and y.npy in `folder`."""
    n, order = len(X), np.random.default_rng(0).permutation(9 * len(X))
    images = np.pad(X.reshape(n, 28, 28), ((0, 0), (1, 1), (1, 1)))
    out = np.lib.format.open_memmap(folder / "x.npy", "w+", np.float32, (9 * n, 784))
    for first in range(0, len(order), ROWS):
        for row, (image, shift) in enumerate(
            zip(*divmod(order[first : first + ROWS], 9), strict=True), first
        ):
            down, right = divmod(shift, 3)
            out[row] = images[image, down : down + 28, right : right + 28].ravel()
    out.flush()
    np.save(folder / "y.npy", y[order // 9])


def cut(folder: Path, n_samples: int) -> tuple[Path, Path]:
    """Files of the first samples."""
    names = [folder / f"{name}-{n_samples}.npy" for name in "xy"]
    for name, whole in zip(names, "xy", strict=True):
        np.save(name, np.load(folder / f"{whole}.npy", mmap_mode="r")[:n_samples])
    return names[0], names[1]


def run(command: list[str]) -> tuple[dict, int]:
    """What a command reports, and the most memory it had."""
    peak = 0
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out)
        while process.poll() is None:
            peak = max(peak, high_water(process.pid))
            time.sleep(0.02)
        if process.returncode != 0:
            raise SystemExit(f"{' '.join(command)} failed")
        out.seek(0)
        return json.load(out), peak


def high_water(pid: int) -> int:
    """The most bytes a process has had so far; what wait() tells counts its parent's, too."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return 1024 * int(found[1]) if found else 0


def fit(
    lkdl: str, method: str, data: tuple[Path, Path], n: int, memory: str | None, test: Path
) -> Fit:
    """Learns, and classifies the test set."""
    model = test.with_name("model.safetensors")
    sizes = [word for name, value in SIZES.items() for word in (f"--{name}", str(value))]
    stream = ["--stream", "--memory", memory] if memory else []
    words = ["fit", str(data[0]), "--label", str(data[1]), "-o", str(model), "--force", "--json"]
    own = ["--method", method, "--iters", str(PASSES[method]), "--tol", "0", "--quiet"]
    report, peak = run([lkdl, *words, *own, *METHOD, *sizes, *stream])
    stages = {stage["stage"]: stage["seconds"] for stage in report["model"]["stages"]}
    found, _ = run([lkdl, "evaluate", str(model), str(test), "--json", "--quiet"])
    total, accuracy = sum(stages.values()), 100 * found["accuracy"]
    return Fit(method, memory is not None, n, peak, stages["learn"], total, accuracy)


def table(fits: list[Fit], budget: str) -> str:
    """What came of every fit, and how straight the lines are."""
    lines = [
        "| learner | samples | peak memory, MB | passes, s | all, s | µs per sample and pass | accuracy % |",
        "|---|---|---|---|---|---|---|",
    ]
    for fit in fits:
        where = f"`--stream --memory {budget}`" if fit.streamed else "in memory"
        each = 1e6 * fit.learn / fit.n_samples / PASSES[fit.method]
        lines.append(
            f"| {fit.method}, {where} | {fit.n_samples:,} | {fit.memory / 1e6:,.0f} | {fit.learn:.1f} "
            f"| {fit.seconds:.1f} | {each if fit.streamed else float('nan'):.0f} | {fit.accuracy:.2f} |"
        )
    for method in PASSES:
        streamed = [fit for fit in fits if fit.method == method and fit.streamed]
        memory = [fit.memory for fit in streamed]
        each = [fit.learn / fit.n_samples for fit in streamed]
        lines += [
            "",
            f"`{method}`: memory is flat within {100 * (max(memory) / min(memory) - 1):.1f} %, the time of "
            f"a sample within {100 * (max(each) / min(each) - 1):.1f} %.",
        ]
    return "\n".join(line.replace("| nan |", "| – |") for line in lines)


def draw(fits: list[Fit], path: Path) -> None:
    """Memory and time against N; the same fits give the same bytes."""
    import matplotlib
    from matplotlib.figure import Figure

    colours = {"mod": "#2a6f97", "online": "#c05746"}
    with matplotlib.rc_context({"svg.hashsalt": "lkdl", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(8, 3), layout="constrained")
        memory, time = figure.subplots(1, 2)
        for method, colour in colours.items():
            streamed = [fit for fit in fits if fit.method == method and fit.streamed]
            n = [fit.n_samples / 1000 for fit in streamed]
            style = {"color": colour, "marker": "o", "label": f"{method}, passes: {PASSES[method]}"}
            memory.plot(n, [fit.memory / 1e6 for fit in streamed], **style)
            time.plot(n, [fit.learn for fit in streamed], **style)
        for axes, label in ((memory, "peak memory, MB"), (time, "passes, s")):
            top = 1.1 * axes.dataLim.ymax  # room for the marks
            axes.set(xlabel="samples, thousands", ylabel=label, xlim=(0, None), ylim=(0, top))
            axes.spines[["top", "right"]].set_visible(False)
            axes.legend(frameon=False)
        figure.savefig(path, metadata={"Date": None})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lkdl", default="lkdl", help="the command to measure")
    parser.add_argument("--samples", type=int, nargs="+", default=[100_000, 200_000, 540_000])
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--scratch", type=Path, help="where files of 3 GB may be written")
    parser.add_argument("--write", action="store_true", help="put table and picture into docs")
    options = parser.parse_args()
    from lkdl.datasets import load

    fits: list[Fit] = []
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        folder = Path(name)
        train, test = load("mnist", part="train"), load("mnist", part="test")
        enlarge(train.data, train.target, folder)
        np.savez(folder / "test.npz", X=test.data.astype(np.float32), y=test.target)
        for n in options.samples:
            data = cut(folder, n)
            jobs = [(method, options.memory) for method in PASSES]
            if n == max(options.samples):
                jobs += [(method, None) for method in PASSES]
            for method, memory in jobs:
                fits.append(fit(options.lkdl, method, data, n, memory, folder / "test.npz"))
                print(json.dumps(asdict(fits[-1])), file=sys.stderr)
            for file in data:
                file.unlink()
    text = table(fits, options.memory)
    print(text)
    if options.write:
        draw(fits, FOLDER / "scale.svg")
        picture = "![memory and time against the number of samples](scale.svg)"
        command = " ".join(["python bench/stream.py", *sys.argv[1:]])
        sizes = ", ".join(f"{name} {value:,}" for name, value in SIZES.items())
        about = f"`{command}`: {processor()}, {os.cpu_count()} cores; MNIST enlarged ninefold, {sizes}, single precision."
        fill("streamed", f"{about}\n\n{text}\n\n{picture}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
