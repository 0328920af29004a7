"""What every test runs with."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every test an empty cache of its own: the user's is neither read nor written."""
    monkeypatch.setenv("SYMRELN_CACHE", str(tmp_path_factory.mktemp("cache") / "symreln"))
