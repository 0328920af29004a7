"""How many processor cores there are for this process, and how few its linear algebra takes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

_Found = TypeVar("_Found")


def cores() -> int:
    """Return the processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """A context, and with parentheses a decorator, in which products of matrices take one thread.

    Ours are small: a threaded BLAS loses more in waiting than it gains, above all beside other
    work. One thread also fixes the order of summation, and so every bit.
    """
    with threadpool_limits(limits=1, user_api="blas"):
        yield


def measured(method: Callable[[Any], _Found]) -> cached_property[_Found]:
    """Return a property that is computed when it is first asked for, in one thread, and kept."""
    return cached_property(one_blas_thread()(method))
