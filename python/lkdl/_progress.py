"""What a fit says while it runs: lines on stderr, and scikit-learn's callbacks where it has them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeVar

try:  # experimental in scikit-learn 1.9
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in for scikit-learn's."""

    _Method = TypeVar("_Method")

    def with_callbacks(method: _Method) -> _Method:  # type: ignore[misc]
        """Stands in for scikit-learn's."""
        return method


__all__ = ["CallbackSupportMixin", "progress", "with_callbacks"]

Report: TypeAlias = Callable[[str, int, int, "int | None", "float | None"], None]


@contextmanager
def progress(estimator: Any, X: Any, y: Any, steps: int) -> Iterator[Report | None]:
    """What the engine shall report to during a fit of so many iterations at most, if anything."""
    listeners: list[Report] = []
    if estimator.verbose:
        listeners.append(_printer(type(estimator).__name__, int(estimator.verbose)))
    context = None
    if getattr(estimator, "_skl_callbacks", None):
        context = estimator._init_callback_context(max_subtasks=steps)
        context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
        listeners.append(_caller(estimator, context))

    def report(*event: Any) -> None:
        for listener in listeners:
            listener(*event)

    yield report if listeners else None
    if context is not None:
        context.call_on_fit_task_end(estimator=estimator, X=X, y=y)


def _printer(name: str, verbose: int) -> Report:
    """Stages at `verbose=1`, iterations with their errors from there on too."""

    def report(stage: str, done: int, steps: int, label: int | None, error: float | None) -> None:
        if error is None and done == 0:
            print(f"[{name}] {stage}", file=sys.stderr, flush=True)
        elif error is not None:
            of = f"/{steps}" if steps else ""
            place = "" if label is None or verbose < 2 else f" class {label}"
            text = f"[{name}] {stage} {done}{of}{place}: relative error {error:.4f}"
            print(text, file=sys.stderr, flush=True)

    return report


def _caller(estimator: Any, context: Any) -> Report:
    """Every iteration is a task of scikit-learn's callbacks."""

    def report(stage: str, done: int, steps: int, label: int | None, error: float | None) -> None:
        if error is not None:
            task = context.subcontext(task_name="iteration")
            task.call_on_fit_task_begin(estimator=estimator)
            task.call_on_fit_task_end(estimator=estimator)

    return report
