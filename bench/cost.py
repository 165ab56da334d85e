"""What a fit by `lkdl.dask.LKDLClassifier` costs: flops, bytes moved, and the time they come to.

The letters are those of docs/notation.md: p features, c landmarks, k values of a virtual sample, m atoms
per class, q of them in a code, L classes. docs/scale.md explains every term.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

#: Bytes of a sum, which is always double precision, of an index, and of a count.
WIDE = 8


@dataclass(frozen=True)
class Problem:
    """Sizes of a fit."""

    p: int
    c: int
    k: int
    m: int
    q: int
    L: int
    #: Samples of a block.
    rows: int
    #: Passes over all samples.
    passes: int
    #: Bytes of a value: 8 or 4.
    value: int = 4

    @property
    def map_flops(self) -> float:
        """Of a sample: its kernel values with the landmarks, and their projection."""
        return 2 * self.c * (self.p + self.k)

    @property
    def pass_flops(self) -> float:
        """Of a sample in every pass: its code over the atoms of its class, and its part of the sums.
        The inner products of the atoms are formed once for each block."""
        code = 2 * self.m * self.k + self.m * (self.q**2 - 1)
        sums = self.q**2 + 2 * self.k * self.q
        return code + sums + self.L * self.m**2 * self.k / self.rows

    @property
    def update_flops(self) -> float:
        """Of a pass, in one place: the solve for the atoms of every class."""
        return self.L * (self.m**3 / 3 + 2 * self.k * self.m**2)

    @property
    def node_bytes(self) -> int:
        """A sum on its way: A, B, users of atoms, and as many of the worst samples as there are atoms,
        each with its error, block and row."""
        sums = WIDE * (self.m**2 + self.m * self.k + self.m)
        worst = self.m * (self.value * self.k + 3 * WIDE)
        return self.L * (sums + worst)

    @property
    def atom_bytes(self) -> int:
        """The dictionaries, which every worker gets before every pass."""
        return self.value * self.L * self.m * self.k

    @property
    def map_bytes(self) -> int:
        """Landmarks and projection, which every worker gets once."""
        return self.value * self.c * (self.p + self.k)

    def n_blocks(self, n_samples: int) -> int:
        return math.ceil(n_samples / self.rows)

    def least_traffic(self, n_workers: int) -> int:
        """Bytes that workers send in a pass, if each has blocks that are neighbours: one sum leaves
        every worker, the last for the client, and all but one get the dictionaries from another."""
        return n_workers * self.node_bytes + (n_workers - 1) * self.atom_bytes

    def most_traffic(self, n_samples: int, n_workers: int) -> int:
        """The same if no two neighbours are at the same place."""
        n_sums = self.n_blocks(n_samples) if n_workers > 1 else 1
        return n_sums * self.node_bytes + (n_workers - 1) * self.atom_bytes


@dataclass(frozen=True)
class Rates:
    """What one worker, the network and the scheduler do."""

    #: Samples a second.
    map: float
    coding: float
    #: Seconds of an update of all classes.
    update: float
    #: Seconds of the scheduler for a task.
    task: float
    #: Bytes a second between two workers.
    network: float


def seconds(problem: Problem, rates: Rates, n_samples: int, n_workers: int) -> float:
    """Map and passes on so many workers, each as fast as the one that was measured. At worst no two
    neighbours meet, so that every block's sum is sent, then those of all groups of blocks one after the
    other; and nothing else happens while the scheduler works."""
    of_workers = n_samples / n_workers * (1 / rates.map + problem.passes / rates.coding)
    n_blocks = problem.n_blocks(n_samples)
    n_sent = n_blocks / n_workers + math.ceil(math.sqrt(n_blocks)) if n_workers > 1 else 0
    of_pass = n_sent * problem.node_bytes / rates.network + rates.update
    # a block is mapped once; in every pass it is coded, and its sums are added
    n_tasks = n_blocks * (1 + 2 * problem.passes)
    return of_workers + problem.passes * of_pass + n_tasks * rates.task
