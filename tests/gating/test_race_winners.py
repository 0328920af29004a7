"""A slice of the campaign on winners, and that an old search would fail it."""

import numpy as np
import pytest

from symreln.exact.matrix import ExactMatrix
from symreln.gating.search import search
from tests.campaigns.race_winners import TOLERANCE, compared, dataset, grown, report


@pytest.mark.parametrize("seed", [0, 2, 5, 7])
def test_the_winner_is_what_units_grow_at(seed: int) -> None:
    found = compared(seed)
    assert max(found.above, found.below) < TOLERANCE


def test_units_grow_faster_than_every_full_gate(capsys: pytest.CaptureFixture[str]) -> None:
    """Without partial gates the campaign names wrong winners."""
    seed = next(k for k in range(100) if len(dataset(k)[0]) == 2 and compared(k).beside)
    x, r = dataset(seed)
    found = search(ExactMatrix.from_rows(x.tolist()), ExactMatrix.from_rows(r.tolist()))
    fastest_full = next(each for each in found.candidates if each.kind == "full")
    random = np.random.default_rng(0)
    w, b = (random.standard_normal((50, len(part))) for part in (x, r))
    assert grown(x, r, w, b) > float(fastest_full.s) * (1 + TOLERANCE)
    assert report([compared(seed)]) == 0
    assert "1 partial ones (1 of them" in capsys.readouterr().out
