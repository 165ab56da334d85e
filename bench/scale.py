"""Measures a Dask fit on 1, 2 and 4 worker processes, and projects it: `python bench/scale.py --write`.

Every worker has one thread. Samples are made by the workers and stay there, so that no disk is measured;
`--write` puts the tables into docs/scale.md.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import cost
import dask.array as da
import distributed
import lkdl
import numpy as np
from lkdl import _core
from lkdl.dask._blocks import Blocks, total
from lkdl.dask._classifier import _class_sums, _mapped
from lkdl.dask._sums import add_classes
from machine import processor
from page import fill

#: Dimension of the subspace that the samples of a class lie near.
SUBSPACE = 8


def block(p: int, L: int, rows: int, number: int) -> np.ndarray:
    """Samples of all classes in turn: points of a random subspace for each, and noise."""
    rng = np.random.default_rng([7, number])
    bases = np.random.default_rng(7).normal(size=(L, SUBSPACE, p))
    X = 0.3 * rng.normal(size=(rows, p))
    for label, basis in enumerate(bases):
        X[label::L] += rng.normal(size=(len(X[label::L]), SUBSPACE)) @ basis
    return X.astype(np.float32)


def samples(problem: cost.Problem, n_blocks: int) -> tuple[da.Array, da.Array]:
    """X and y in blocks."""
    p, L, rows = problem.p, problem.L, problem.rows
    chunks = ((rows,) * n_blocks, (p,))
    make = lambda block_id: block(p, L, rows, block_id[0])
    X = da.map_blocks(make, chunks=chunks, dtype=np.float32, meta=np.empty((0, 0), np.float32))
    return X, da.from_array(np.tile(np.arange(rows) % L, n_blocks), chunks=rows)


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def sent(client: distributed.Client) -> int:
    """Bytes that workers have sent, to each other and to the client."""
    totals = client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total)
    return sum(totals.values())


def measure(problem: cost.Problem, n_blocks: int, n_workers: int, model: Any) -> dict[str, float]:
    """One fit, stage by stage, as `lkdl.dask.LKDLClassifier.fit` goes through them."""
    with (
        distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            silence_logs="ERROR",
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        X, y = samples(problem, n_blocks)
        X = client.persist(X)
        distributed.wait(X)
        client.gather(client.map(_warm, range(4 * n_workers), pure=False))
        overhead, _ = timed(lambda: client.gather(client.map(_warm, range(1000), pure=False)))
        blocks = Blocks(X, y)
        tasks = blocks.each(_mapped, model.model_, np.arange(problem.L), {}, None)
        of_map, mapped = timed(lambda: _waited(blocks.persist(tasks)))
        atoms, before = dict(enumerate(model.components_)), sent(client)
        of_passes, of_updates = 0.0, 0.0
        for _ in range(problem.passes):
            tasks = blocks.follow(mapped, _class_sums, atoms, problem.q, None)
            spent, sums = timed(lambda tasks=tasks: blocks.compute(total(add_classes, tasks)))
            of_passes += spent
            spent, atoms = timed(
                lambda atoms=atoms, sums=sums: {
                    c: _core.update_atoms(atoms[c], sums[c])[0] for c in atoms
                }
            )
            of_updates += spent
        traffic = (sent(client) - before) / problem.passes
    n_samples = n_blocks * problem.rows
    return {
        "map": n_samples / of_map,
        "coding": n_samples * problem.passes / of_passes,
        "update": of_updates / problem.passes,
        "task": overhead / 1000,
        "traffic": traffic,
        "seconds": of_map + of_passes + of_updates,
    }


def _warm(i: int) -> int:
    return i


def _waited(tasks: list[Any]) -> list[Any]:
    distributed.wait(distributed.futures_of(tasks))
    return tasks


def report(
    problem: cost.Problem, n_blocks: int, found: dict[int, Any], network: float, rows: int
) -> str:
    """Both tables, and what they were measured with; projections have blocks of so many rows."""
    n_samples, one = n_blocks * problem.rows, found[1]
    rates = cost.Rates(one["map"], one["coding"], one["update"], one["task"], network)
    cores = os.cpu_count() or 1
    sizes = ", ".join(f"{name} = {getattr(problem, name)}" for name in "pckmqL")
    lines = [
        f"`{' '.join(['python bench/scale.py', *sys.argv[1:]])}`: {processor()}, {cores} cores,",
        f"lkdl {lkdl.__version__}, Dask {distributed.__version__}; {n_samples:,} samples in",
        f"{n_blocks} blocks, single precision, {sizes}, {problem.passes} passes.",
        "",
        "| workers | map, samples/s | pass, samples/s | fit, s | model, s | sent per pass, MB | model, MB |",
        "|---|---|---|---|---|---|---|",
    ]
    for n_workers, got in found.items():
        # processes beyond the cores add nothing
        model = cost.seconds(problem, rates, n_samples, min(n_workers, cores))
        least = problem.least_traffic(n_workers) / 1e6
        most = problem.most_traffic(n_samples, n_workers) / 1e6
        lines.append(
            f"| {n_workers} | {got['map']:,.0f} | {got['coding']:,.0f} | {got['seconds']:.2f} "
            f"| {model:.2f} | {got['traffic'] / 1e6:.1f} | {least:.1f} to {most:.1f} |"
        )
    lines += [
        "",
        f"Projected from the row of one worker, blocks of {rows:,} samples, {network / 1e9:g} GB/s",
        f"between workers and {1e3 * rates.task:.2f} ms of the scheduler for a task:",
        "",
        "| samples | workers | map and passes | sent per pass | virtual samples per worker |",
        "|---|---|---|---|---|",
    ]
    problem = replace(problem, rows=rows)
    for n_samples in (10**8, 10**9):
        for n_workers in (10, 100, 1000):
            hours = cost.seconds(problem, rates, n_samples, n_workers) / 3600
            least = problem.least_traffic(n_workers) / 1e9
            most = problem.most_traffic(n_samples, n_workers) / 1e9
            held = n_samples * problem.k * problem.value / n_workers / 1e9
            lines.append(
                f"| 10^{round(np.log10(n_samples))} | {n_workers:,} | {hours:.2f} h "
                f"| {least:.1f} to {most:.1f} GB | {held:.1f} GB |"
            )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--blocks", type=int, default=24)
    parser.add_argument("--rows", type=int, default=5000, help="samples of a block")
    parser.add_argument("--features", type=int, default=784)
    parser.add_argument("--landmarks", type=int, default=512)
    parser.add_argument("--rank", type=int, default=256)
    parser.add_argument("--atoms", type=int, default=200)
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--network", type=float, default=1e9, help="bytes/s between workers")
    parser.add_argument("--project-rows", type=int, default=100_000, help="blocks projected to")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/scale.md")
    options = parser.parse_args()
    problem = cost.Problem(
        p=options.features, c=options.landmarks, k=options.rank, m=options.atoms, q=5, L=10,
        rows=options.rows, passes=options.passes,
    )  # fmt: skip
    pilot = block(problem.p, problem.L, 10_000, 10**6)
    model = lkdl.LKDLClassifier(
        prepare="l2", map="nystroem", kernel="polynomial", sampler="uniform", max_iter=1,
        n_landmarks=problem.c, rank=problem.k, n_atoms=problem.m, sparsity=problem.q,
    )  # fmt: skip
    model.fit(pilot, np.arange(len(pilot)) % problem.L)
    found = {}
    for n_workers in sorted({1, *options.workers}):
        print(f"{n_workers} workers", file=sys.stderr)
        found[n_workers] = measure(problem, options.blocks, n_workers, model)
    text = report(problem, options.blocks, found, options.network, options.project_rows)
    print(text)
    if options.write:
        fill("measured", text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
