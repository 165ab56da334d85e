"""The cost model counts what there is: bytes of real sums, and the limits of its projections."""

from dataclasses import replace

import cost
import numpy as np
import pytest
from lkdl import _core

PROBLEM = cost.Problem(p=20, c=16, k=12, m=9, q=3, L=4, rows=50, passes=5)
RATES = cost.Rates(map=1e5, coding=2e5, update=0.0, task=0.0, network=1e9)


def n_bytes(value) -> int:
    if isinstance(value, tuple):
        return sum(map(n_bytes, value))
    return value.nbytes if isinstance(value, np.ndarray) else 0


def test_a_sum_has_as_many_bytes_as_the_model_says():
    rng = np.random.default_rng(0)
    for dtype, value in ((np.float32, 4), (np.float64, 8)):
        F, D = (rng.normal(size=(n, PROBLEM.k)).astype(dtype) for n in (50, PROBLEM.m))
        found = n_bytes(_core.dictionary_sums(F, D, PROBLEM.q))
        problem = replace(PROBLEM, value=value)
        assert problem.L * found == problem.node_bytes


def test_time_is_that_of_the_samples_where_nothing_else_costs():
    n = 10**6
    alone = cost.seconds(PROBLEM, RATES, n, 1)
    assert alone == pytest.approx(n / 1e5 + 5 * n / 2e5)
    fast = replace(RATES, network=1e15)
    assert cost.seconds(PROBLEM, fast, n, 1000) == pytest.approx(alone / 1000)
    slow = cost.Rates(map=1e5, coding=2e5, update=1.0, task=1e-3, network=1e3)
    # the scheduler, the solve and the sums of the groups do not shrink with the workers
    rest = 5 * 1.0 + 20_000 * 11 * 1e-3 + 5 * (20 + 142) * PROBLEM.node_bytes / 1e3
    assert cost.seconds(PROBLEM, slow, n, 1000) == pytest.approx(alone / 1000 + rest)


def test_traffic_does_not_grow_with_samples_unless_no_neighbours_meet():
    assert PROBLEM.least_traffic(1) == PROBLEM.most_traffic(100, 1) == PROBLEM.node_bytes
    assert PROBLEM.least_traffic(3) == 3 * PROBLEM.node_bytes + 2 * PROBLEM.atom_bytes
    most = [PROBLEM.most_traffic(n, 3) for n in (100, 200)]
    assert most[1] - most[0] == 2 * PROBLEM.node_bytes
