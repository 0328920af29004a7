"""Three values of truth."""

from __future__ import annotations

import pytest

from symreln.exact.truth import Truth


def test_a_truth_is_compared_and_never_tested():
    # `if verdict.commutes:` would take REFUTED for true: every member of an Enum is.
    for value in Truth:
        with pytest.raises(TypeError, match="three values"):
            bool(value)
    assert {value.value for value in Truth} == {"proven", "refuted", "undecided"}
