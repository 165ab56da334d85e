"""`setup.md`: machine, versions, threads and contestants, so that a number can be questioned."""

import datetime
import os
import platform
import re
import subprocess
from importlib.metadata import version
from pathlib import Path

from machine import processor
from race import Case
from threadpoolctl import threadpool_info
from threads import N_THREADS

PACKAGES = ["lkdl", "scikit-learn", "spams-bin", "dictlearn", "numba", "numpy", "scipy"]


def directory_name() -> str:
    """`<date>-<machine>`: when, on which processor, with how many threads."""
    model = re.sub(r"\(.*?\)|processor|cpu|@.*|\d+-core", " ", processor().lower())
    slug = "-".join(re.findall(r"[a-z0-9]+", model))
    return f"{datetime.date.today().isoformat()}-{slug}-{N_THREADS}-threads"


def text(cases: list[Case], command: str) -> str:
    revision = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--abbrev=12"],
        capture_output=True,
        check=False,  # there may be no repository
        text=True,
        cwd=Path(__file__).parent,
    ).stdout.strip()
    pools = sorted(
        {f"{p['internal_api']} {p['version']}: {p['num_threads']}" for p in threadpool_info()}
    )
    lines = [
        "# Setup",
        "",
        f"- command: `{command}`, {datetime.date.today().isoformat()}, revision {revision or 'unknown'}",
        f"- processor: {processor()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}",
        f"- threads: {N_THREADS} for everybody; in the process: {'; '.join(pools)}",
        f"- Python {platform.python_version()}; "
        + ", ".join(f"{name} {version(name)}" for name in PACKAGES),
        "- contestants take turns on the same arrays in one process; medians of the repeats",
        "",
        "| race | contestant | what it runs |",
        "| --- | --- | --- |",
    ]
    notes = dict.fromkeys((case.race, c.name, c.note) for case in cases for c in case.contestants)
    lines += [f"| {race} | {name} | {note} |" for race, name, note in notes]
    return "\n".join(lines) + "\n"
