"""What every test runs with."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

# The same examples at every run, so that a red test is red for everyone; others on request, with
# SYMRELN_EXAMPLES=random. A time limit on an example would measure the load of the machine.
RANDOM = os.environ.get("SYMRELN_EXAMPLES") == "random"
settings.register_profile("symreln", derandomize=not RANDOM, deadline=None)
settings.load_profile("symreln")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every test an empty cache of its own: the user's is neither read nor written."""
    monkeypatch.setenv("SYMRELN_CACHE", str(tmp_path_factory.mktemp("cache") / "symreln"))
