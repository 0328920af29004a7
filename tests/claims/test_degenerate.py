"""Every rule on every degenerate spec, through every door."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot

import symreln as sr
from symreln.base.jsonio import dumps
from symreln.claims.rules import RULES, printed_of
from symreln.errors import NoClosedFormError, NotSupportedError
from symreln.report.validation_plots import validation_sketches
from tests.campaigns.work_on_spec import NOT_A_NUMBER

Tables = dict[str, Any]


def _spec(
    x: list, y: list, *pathways: Tables, rows: Tables | None = None, **network: Any
) -> Tables:
    """Return the tables of a spec; features in rows, samples in columns."""
    ways = [{"name": f"p{number}"} | way for number, way in enumerate(pathways)]
    given = {"hidden": 12, "init_std": "1/100", "learning_rate": "1/50", "steps": 30} | network
    found = {"dataset": {"X": x, "Y": y}, "network": given} | (rows or {})
    return found | ({"pathway": ways} if ways else {})


def _chain(x: list, y: list, *edges: str) -> Tables:
    nodes = [{"name": "i", "inputs": "all"}, {"name": "h", "size": 5}, {"name": "o"}]
    nodes[-1]["outputs"] = "all"
    made = [{"from": "i", "to": "h", "name": name} for name in edges] + [{"from": "h", "to": "o"}]
    return _spec(x, y, rows={"node": nodes, "edge": made})


ONE, EYE, WHITE = [[2]], [[1, 0], [0, 1]], [[1, 1, -1, -1], [1, -1, 1, -1]]
BENT, COUPLED = [[0, 0, 1, 1], [0, 1, 2, -1]], [[1, -1, 0, 2]]
SIGNS = [[1, 1, -1, -1], [1, -1, 1, -1], ["1/2", "-1/2", "-1/2", "1/2"]]
EACH = [{"gate": [int(p == q) for q in range(4)]} for p in range(4)]
ALL, LINEAR = {"gate": "all"}, {"activation": "linear"}
SPECS: dict[str, Tables] = {
    "targets of zero": _spec(EYE, [[0, 0]], ALL),
    "inputs of zero": _spec([[0, 0]], [[1, 2]], ALL),
    "one sample": _spec(ONE, ONE, ALL),
    "one sample of zero": _spec([[0]], [[0]], ALL),
    "one unit": _spec(EYE, [[2, 0], [0, 1]], ALL, hidden=1),
    "one linear unit": _spec(WHITE, [[3, 3, -3, -3], [1, -1, 1, -1]], ALL, hidden=1, **LINEAR),
    "one step": _spec(EYE, [[2, 0], [0, 1]], ALL, steps=1),
    "open on nothing but zero": _spec([[1, 0]], [[1, 2]], {"gate": [0, 1]}),
    "one gate open on nothing but zero": _spec([[1, 0]], [[1, 2]], {"gate": [0, 1]}, ALL),
    "each decays": _spec(SIGNS, [[1, -1, -1, 1]], *EACH, weight_decay=1),
    "each decays, one unit": _spec(SIGNS, [[1, -1, -1, 1]], *EACH, weight_decay=1, hidden=2),
    "each decays at s": _spec(SIGNS, [[1, -1, -1, 1]], *EACH, weight_decay="3/8"),
    "one of each decays": _spec(SIGNS, [[1, -1, -1, 2]], *EACH, weight_decay="1/2"),
    "nothing in the first stage": _spec(
        EYE, [[0, 3]], {"gate": [1, 0]}, ALL | {"stage": 2}, hidden=9, steps=10
    ),
    "nothing in the second": _spec(EYE, [[0, 3]], ALL, {"gate": [1, 0], "stage": 2}),
    "nothing in either": _spec(EYE, [[0, 0]], {"gate": [1, 0]}, ALL | {"stage": 2}),
    "the first stage learns all": _spec(EYE, [[1, 3]], ALL, ALL | {"stage": 2}),
    "nothing beside two that couple": _spec(
        BENT, COUPLED, *2 * ({"gate": [1, 0, 1, 1]},), {"gate": [1, 0, 1, 0]}
    ),
    "nothing first, then two that couple": _spec(
        BENT,
        COUPLED,
        {"gate": [1, 0, 0, 0]},
        *({"gate": g, "stage": 2} for g in ([1, 0, 1, 1], [0, 1, 1, 0])),
    ),
    "nothing, then a gate opens": _spec(
        EYE, [[0, 3]], {"gate": [1, 0], "then": [{"step": 9, "gate": "all"}]}
    ),
    "a gate that opens": _spec(
        EYE, [[0, 3]], ALL, {"gate": [0, 0], "then": [{"step": 9, "gate": "all"}]}
    ),
    "lazy": _spec(EYE, [[1, 0], [0, 2]], ALL, init_std=1),
    "decays": _spec(EYE, [[1, 0], [0, 2]], ALL, weight_decay=1),
    "one decays": _spec(EYE, [[1, 0], [0, 2]], ALL, weight_decay="3/4"),
    "decays at s": _spec(EYE, [[1, 0], [0, 2]], ALL, weight_decay="1/2"),
    "one layer": _spec(EYE, [[0, 0]], ALL, layers=1, **LINEAR),
    "three layers": _spec(EYE, [[0, 0]], ALL, layers=3, **LINEAR),
    "layers apart": _spec(EYE, [[0, 0]], ALL, init_std=["1/10", "1/50"], **LINEAR),
    "a parameter that is 0": _spec(EYE, [["c", 1]], ALL, rows={"parameters": {"c": {"value": 0}}}),
    "graph of nothing": _chain([[0]], [[0]], "once"),
    "graph of nothing twice": _chain([[1]], [[0]], "once", "twice"),
    "graph of one sample": _chain(ONE, ONE, "once"),
}


@pytest.mark.parametrize("name", SPECS)
def test_a_degenerate_spec_goes_through_every_door(name: str, tmp_path: Path) -> None:
    derivation = sr.derive(sr.load(SPECS[name]))
    said = [str(derivation), *(repr(derivation.ask(shown.rule)) for shown in RULES)]
    said += [*printed_of(derivation), derivation.to_latex()]
    written = derivation.save(tmp_path, ["json", "html"])
    said += [path.read_text("utf-8") for path in written if path.suffix == ".json"]
    assert derivation.certificate is None or sr.verify(tmp_path)
    steps = np.arange(30)
    found = _or_refused(derivation.evaluate, steps)
    assert found is None or np.isfinite(found.loss).all()
    loss = _or_refused(lambda: derivation.to_numpy("loss")(steps))
    if loss is not None and found is not None and found.judged == "closed":
        assert loss == pytest.approx(found.loss, rel=1e-9, abs=1e-12)
    said.append(_or_refused(derivation.to_python) or "")
    if any(map(any, SPECS[name]["dataset"]["Y"])):  # else there is no loss to compare, it says
        validation = _or_refused(
            lambda: sr.validate(derivation, 2, representations=True, diagnosis=False)
        )
        validation = validation or sr.validate(derivation, 2, diagnosis=False)
        said += [str(validation), dumps(validation.to_json())]
        assert validation_sketches(validation)
        figure = validation.plot().figure
        figure.draw_without_rendering()
        pyplot.close(figure)
    assert not [found[0] for text in said for found in NOT_A_NUMBER.finditer(text)]


def _or_refused(asked: Callable[..., Any], *arguments: Any) -> Any:
    """Return what is asked, None where it is refused with a reason."""
    try:
        return asked(*arguments)
    except (NoClosedFormError, NotSupportedError):
        return None


def test_a_pathway_whose_gate_opens_learns_from_then_on() -> None:
    """From step 10 on it does what it would have done from the start."""
    linear = {"steps": 300, "activation": "linear", "loss": "mean"}
    late, soon = (
        sr.derive(sr.load(_spec(WHITE, [[3, 3, -3, -3], [1, -1, 1, -1]], way, **linear)))
        for way in ({"gate": [0] * 4, "then": [{"step": 10, "gate": "all"}]}, ALL)
    )
    found = late.evaluate([0, 10, 30, 110]).loss
    assert found[:2] == pytest.approx([5, 5], rel=1e-6)
    assert found[2:] == pytest.approx(soon.evaluate([20, 100]).loss, rel=2e-2)
    both = sr.validate(sr.load(SPECS["a gate that opens"]), 2, diagnosis=False)
    assert both.gdln.mean_loss[-1] < both.gdln.mean_loss[0]
