"""Threads, forks and Ctrl-C: the same bits, no hang, no abort."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import lkdl
import numpy as np
import pytest


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    return rng.normal(size=(3000, 30)), rng.normal(size=(60, 30))


def test_bits_do_not_depend_on_the_number_of_threads(problem, few):
    X, D = problem
    codes = [lkdl.omp(X, D, 5, n_jobs=n) for n in (1, 2, 3, None, -2)]
    assert all(np.array_equal(codes[0], other) for other in codes[1:])
    X, y = few
    models = [lkdl.LKDLClassifier(n_jobs=n).fit(X, y) for n in (1, 2, 5)]
    assert models[0].model_.to_bytes() == models[1].model_.to_bytes()
    assert models[0].model_.to_bytes() == models[2].model_.to_bytes()
    learners = [lkdl.KSVD(30, sparsity=3, n_jobs=n).fit(X) for n in (1, 4)]
    assert np.array_equal(learners[0].components_, learners[1].components_)


def test_calls_of_many_threads_do_not_disturb_each_other(problem):
    X, D = problem
    expected = lkdl.omp(X, D, 5)
    results = [None] * 8

    def work(i):
        results[i] = lkdl.omp(X, D, 5, n_jobs=1 + i % 3)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert all(np.array_equal(expected, result) for result in results)


def test_other_threads_run_while_the_engine_works():
    # the lock is released: a counter goes on counting
    rng = np.random.default_rng(1)
    X = rng.normal(size=(4000, 64))
    counts = [0]
    stop = threading.Event()

    def count():
        while not stop.is_set():
            counts[0] += 1
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    start, before = time.perf_counter(), counts[0]
    lkdl.KSVD(256, sparsity=8, max_iter=3, tol=0.0, n_jobs=1).fit(X)
    seconds, counted = time.perf_counter() - start, counts[0] - before
    stop.set()
    counter.join()
    assert counted > 20 * seconds, (counted, seconds)


def _in_child(queue, X, D):
    queue.put(lkdl.omp(X, D, 5))


def test_a_forked_child_works_and_gives_the_same(problem):
    X, D = problem
    expected = lkdl.omp(X, D, 5)  # the parent has its threads
    context = multiprocessing.get_context("fork")
    for _ in range(3):
        queue = context.Queue()
        child = context.Process(target=_in_child, args=(queue, X, D))
        child.start()
        assert np.array_equal(queue.get(timeout=60), expected)
        child.join(60)
        assert child.exitcode == 0
    assert np.array_equal(lkdl.omp(X, D, 5), expected)


def test_joblib_workers_of_every_kind(problem):
    joblib = pytest.importorskip("joblib")
    X, D = problem
    expected = lkdl.omp(X, D, 5)
    for backend in ("threading", "multiprocessing", "loky"):
        found = joblib.Parallel(n_jobs=2, backend=backend)(
            joblib.delayed(lkdl.omp)(X, D, 5) for _ in range(3)
        )
        assert all(np.array_equal(expected, other) for other in found), backend


def test_a_kernel_that_calls_lkdl_does_not_wait_for_itself(problem):
    X = problem[0][:200]

    def nested(A, B):
        return lkdl.kernel(A, B, "linear", n_jobs=1) ** 2

    got = lkdl.kernel(X, X, nested, n_jobs=1)
    np.testing.assert_allclose(got, (X @ X.T) ** 2, rtol=1e-10)


INTERRUPTED = {
    "a fit under watch": "lkdl.KSVD(512, sparsity=20, max_iter=10_000, tol=0.0).fit(X)",
    "a classifier": "lkdl.DictionaryClassifier(n_atoms=400, sparsity=20, max_iter=10_000, tol=0.0)"
    ".fit(X, np.arange(len(X)) % 2)",
    "work without a watch": "lkdl.lasso(X, X[:2000], 1e-6, solver='cd', tol=1e-15)",
}


@pytest.mark.parametrize("what", INTERRUPTED)
def test_ctrl_c_is_answered_within_a_second(what):
    code = f"""
import numpy as np, lkdl, time, sys
X = np.random.default_rng(0).normal(size=(6000, 200))
print("ready", flush=True)
try:
    {INTERRUPTED[what]}
except KeyboardInterrupt:
    print("interrupted", time.time(), flush=True)
    # and the interpreter lives on
    print(lkdl.omp(X[:10], np.eye(200), 2).shape, flush=True)
    import os
    os._exit(0)
"""
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "ready\n"
        time.sleep(1.5)
        sent = time.time()
        os.kill(child.pid, signal.SIGINT)
        word, when = child.stdout.readline().split()
        assert word == "interrupted"
        assert float(when) - sent < 1.0, f"{float(when) - sent:.2f} s"
        assert child.stdout.readline() == "(10, 200)\n"
        assert child.wait(60) == 0
    finally:
        child.kill()
