"""What every test runs with."""

from __future__ import annotations

import gc
import os
import pickle
import signal
from collections.abc import Callable, Iterator

# So that commands within a test draw their figures there, and start no process for them.
import matplotlib.backends.backend_pdf  # noqa: F401
import pytest
from hypothesis import settings

import symreln.report.figures  # noqa: F401
from symreln import Derivation
from symreln.document.document_model import Drawing
from symreln.report import sketch
from tests.cases import derived

# The same examples at every run, so that a red test is red for everyone; others on request, with
# SYMRELN_EXAMPLES=random. A time limit on an example would measure the load of the machine.
RANDOM = os.environ.get("SYMRELN_EXAMPLES") == "random"
settings.register_profile("symreln", derandomize=not RANDOM, deadline=None)
settings.load_profile("symreln")

# A script's background job ignores Ctrl-C, and hands that on to the programs that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How wide a terminal is that no test has, which runners of tests set.
os.environ.pop("COLUMNS", None)


def pytest_collection_finish() -> None:
    """What is imported stays: it need not be walked at every collection of garbage."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)


@pytest.fixture(scope="session")
def three() -> Derivation:
    """Three contexts: two stages, closed by symmetry."""
    return derived("contextual-3")


@pytest.fixture(scope="session", autouse=True)
def _equal_figures_are_drawn_once() -> Iterator[None]:
    """Drawing is most of what saving takes; :mod:`tests.report.test_figures` draws twice."""
    drawn: dict[bytes, Drawing] = {}

    def hand_over(work: Callable[..., Drawing], *what: object, **how: object) -> Callable:
        def found() -> Drawing:
            key = pickle.dumps((what, how))
            if key not in drawn:
                drawn[key] = work(*what, **how)
            return drawn[key]

        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sketch, "hand_over", hand_over)
        yield
