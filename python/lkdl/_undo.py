"""Fits that fail, and change nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

_Method = TypeVar("_Method", bound=Callable[..., Any])


def or_as_before(fit: _Method) -> _Method:
    """A method that learns, or raises and leaves the estimator as it was: unfitted, or with all that it
    had learned before."""

    @wraps(fit)
    def wrapper(self: Any, *arguments: Any, **named: Any) -> Any:
        # what was learned is replaced and never changed in place, so references are enough
        before = dict(self.__dict__)
        try:
            return fit(self, *arguments, **named)
        except BaseException:  # interrupts too
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    return cast(_Method, wrapper)
