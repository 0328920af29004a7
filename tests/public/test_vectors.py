"""Singular vectors and predicted outputs, by what every user can call."""

import json
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

import symreln as sr
from symreln.errors import InputError, NoClosedFormError, NotSupportedError
from symreln.report.plots import still_sketches
from tests.cases import derived
from tests.own_specs import SMALL

CUBIC = [["2", "1", "0"], ["1", "0", "1"], ["0", "1", "3"]]
NETWORK = {"hidden": 50, "init_std": "1/100", "learning_rate": "1/20", "steps": 900}


def _own(x: object, y: object, **more: object) -> sr.Derivation:
    network = sr.network(**NETWORK, activation="linear", loss="mean")  # type: ignore[arg-type]
    return sr.derive(sr.spec(x, y, pathways=[sr.pathway("all")], network=network, **more))  # type: ignore[arg-type, return-value]


SPECS = {
    "hierarchy": lambda: derived("linear-hierarchy"),
    "parameters": lambda: derived("xor"),
    "contexts": lambda: derived("contextual-3"),
    "quadratic": lambda: _own([[2, 0], [1, 1], [0, 1]], [[1], [2], [0]]),
    "cubic": lambda: _own(np.eye(3, dtype=int), CUBIC),
    "coupled": lambda: _own([[1, 0], [1, 1], [0, 2]], [[1, 1], [0, 2], [1, 0]]),
}


@pytest.mark.parametrize("name", SPECS)
def test_factors_are_those_of_the_correlations(name: str):
    """U S V^T is Sigma^yx and V^T Sigma^x V is D; columns are orthonormal, exactly."""
    derivation = SPECS[name]()
    for pathway in derivation.pathways:
        values = pathway.spectrum.values
        yx = pathway.effective.sigma_yx.substitute(values).to_numpy()
        x = pathway.effective.sigma_x.substitute(values).to_numpy()
        u, s, v, d = pathway.to_numpy()
        np.testing.assert_allclose((u * s) @ v.T, yx, atol=1e-14)
        np.testing.assert_allclose(u.T @ u, np.eye(len(s)), atol=1e-14)
        np.testing.assert_allclose(v.T @ v, np.eye(len(s)), atol=1e-14)
        if d is None:
            assert pathway.d is None
        else:
            np.testing.assert_allclose(v.T @ x @ v, np.diag(d), atol=1e-14)
        at = {p.symbol: p.value for p in derivation.spec.parameters}
        for exact, floats in ((pathway.u, u), (pathway.v, v), (pathway.s, s[None])):
            shown = np.array(exact.subs(at).evalf(30).tolist(), dtype=float)
            np.testing.assert_allclose(shown, floats, atol=1e-15)


def test_degenerate_modes_are_the_wavelets_of_the_tree():
    modes = derived("linear-hierarchy").modes
    root = sp.sqrt(2) / 2
    assert (
        sp.Matrix([[1, 1, -1, -1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1, -1, -1]]) / 2
        == modes["pi_1_3"].v.T
    )
    leaves = sp.zeros(8, 4)
    for pair in range(4):
        leaves[2 * pair, pair], leaves[2 * pair + 1, pair] = root, -root
    assert modes["pi_1_4"].v == leaves
    with pytest.raises(InputError, match="null mode"):
        _ = derived("xor").modes["pi_1_2"].v


def test_a_document_has_the_vectors(tmp_path: Path):
    derived("contextual-3").save(tmp_path, ["html", "tex"])
    page = (tmp_path / "derivation.html").read_text()
    assert "contexts 3" in page
    assert "squared length" in page
    assert (tmp_path / "figures" / "vectors.pdf").exists()


def _cells(tex: str, row: str) -> list[list[str]]:
    """Return the entries of every line of the tables that begins with this."""
    lines = [line.removesuffix(r" \\") for line in tex.splitlines() if line.startswith(f"{row} &")]
    return [[cell.strip(" $") for cell in line.split("&")[1:]] for line in lines]


def test_tables_have_each_pathway_where_equal_modes_have_other_vectors(tmp_path: Path):
    """The four samples of xor have equal s and d, and each its own signs."""
    derivation = derived("xor")
    derivation.save(tmp_path, ["tex", "html"], full=True)
    tex = (tmp_path / "derivation.tex").read_text()
    signs = [[int(sp.sign(p.v[n])) for p in derivation.pathways] for n in (0, 1)]
    assert signs[1] == [1, 1, -1, -1]
    assert [_cells(tex, f"signs {n}")[-1] for n in (1, 2)] == [[*map(str, row)] for row in signs]
    (vectors,) = [each for each in still_sketches(derivation) if each.name == "vectors"]
    inputs, outputs = (each.cells for each in vectors.shown["panels"])  # side by side
    exact = [pathway.to_numpy() for pathway in derivation.pathways]
    np.testing.assert_array_equal(inputs.values, np.hstack([v for _, _, v, _ in exact]))
    np.testing.assert_array_equal(outputs.values, np.hstack([u for u, *_ in exact]))
    assert dict(inputs.columns) == {"1,1": 1, "2,1": 1, "3,1": 1, "4,1": 1}


def test_a_table_is_of_the_inputs_that_a_pathway_sees(tmp_path: Path):
    """By day and by night the same is learned, from an input of its own, with other signs."""
    x = [[1, 0, 1, 0], [1, 0, 0, 1], [0, 1, 1, 0], [0, 1, 0, 1]]
    spec = sr.spec(
        x,
        [[1, 2], [1, -2], [1, -2], [1, 2]],
        groups={"inputs": {"time": [0, 1], "bird": [2, 3]}},
        pathways=[sr.pathway("at_day", [1, 1, 0, 0]), sr.pathway("at_night", [0, 0, 1, 1])],
    )
    derivation = sr.derive(spec)
    derivation.save(tmp_path, ["tex"], full=True)
    tex = (tmp_path / "derivation.tex").read_text()
    (first,), (second,) = _cells(tex, "time 1"), _cells(tex, "time 2")
    seen = [[entry != "0" for entry in row] for row in (first, second)]
    day, night = ([each != 0 for each in p.v[n, :]] for n, p in enumerate(derivation.pathways))
    assert any(day)
    assert any(night)
    assert seen == [day + [False] * len(night), [False] * len(day) + night]


def test_a_mode_that_vanishes_at_the_declared_value_has_no_vectors_there(tmp_path: Path):
    """On the samples of one class of xor only the third input counts: s = Delta/2, Delta = 0."""
    spec = sr.load("xor")
    pathway = sr.pathway("class", [1, 1, 0, 0])
    x, y = spec.dataset.inputs.to_sympy().T, spec.dataset.targets.to_sympy().T
    delta = {"nonnegative": True, "value": 0}
    derivation = sr.derive(sr.spec(x, y, pathways=[pathway], parameters={"Delta": delta}))
    derivation.save(tmp_path, ["json", "tex"])
    (first, *_) = json.loads((tmp_path / "derivation.json").read_text())["pathways"][0]["modes"]
    assert first["s"]["expr"] == "Delta/2"
    assert "v" not in first
    assert derivation.pathways[0].v == sp.Matrix([0, 0, 1])
    with pytest.raises(InputError, match="at which modes meet or vanish"):
        derivation.pathways[0].to_numpy()


@pytest.mark.parametrize("name", ["hierarchy", "contexts", "coupled", "cubic", "parameters"])
def test_outputs_have_the_evaluated_loss(name: str):
    """Two routes: the loss of the outputs, and the loss as it is evaluated."""
    derivation = SPECS[name]()
    data = derivation.spec.at_values().dataset
    times = [0, 40, 200, 800]
    found, targets = derivation.predict(times), data.targets.to_numpy().T
    loss = ((targets - found.values) ** 2).sum(axis=(1, 2)) / (2 * data.samples)
    np.testing.assert_allclose(loss, derivation.evaluate(times).loss, atol=1e-7 * loss[0])
    if name == "coupled":
        with pytest.raises(NoClosedFormError, match="no sum"):
            _ = found.by_mode
    else:
        np.testing.assert_allclose(sum(found.by_mode.values()), found.values, atol=1e-12)


def test_illusory_correlation_rises_and_falls():
    """What a hierarchy's leaf alone has, its sibling is predicted to have for a while.

    Saxe, McClelland and Ganguli 2019: the mode of the pair is learned before that of the leaves.
    """
    derivation = derived("linear-hierarchy")
    targets = derivation.spec.dataset.targets.to_numpy()
    feature = next(i for i, row in enumerate(targets) if row[0] == 1 and row.sum() == 1)
    assert targets[feature, 1] == 0
    found = derivation.predict(np.arange(0, 3000, 10))
    sibling, own = found.values[:, 1, feature], found.values[:, 0, feature]
    top = int(sibling.argmax())
    assert max(sibling[0], sibling[-1]) < 1e-3
    assert 0.2 < sibling[top] < 0.5
    assert (np.diff(sibling[: top + 1]) > 0).all()
    assert (np.diff(sibling[top:]) < 1e-12).all()
    assert abs(own[-1] - 1) < 1e-3
    leaves, others = found.by_mode["pi_1_4"], [k for k in found.by_mode if k != "pi_1_4"]
    assert leaves[top, 1, feature] < 0 < sum(found.by_mode[k][top, 1, feature] for k in others)


def test_outputs_are_drawn_and_refused():
    found = derived("linear-hierarchy").predict([0, 100, 500])
    ax = found.plot(7, samples=[0, 1])
    assert [line.get_label() for line in ax.lines] == ["sample 0", "sample 1"]
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), found.values[:, 1, 7])
    alike = derived("xor").predict([0, 100])
    labels = [line.get_label() for line in alike.plot(0, samples=[0, 0, 0, 0]).lines]
    assert labels == ["samples 0, 0 and 2 more samples"]
    with pytest.raises(InputError, match="output"):
        found.plot(99)
    with pytest.raises(NotSupportedError, match="two layers, no edge shared"):
        sr.derive(sr.load("depth", {"network.steps": 3})).predict([0, 2])
    nothing = sr.spec([[1]], [[0]], pathways=[sr.pathway("a")], network=sr.network(**SMALL))
    assert sr.derive(nothing).predict([0, 2]).values.tolist() == [[[0]], [[0]]]


def test_roots_of_ordinary_floats_are_written_at_once() -> None:
    """SymPy is asked for no root's sign: 10 of degree 10 took a minute."""
    draw = np.random.default_rng(0).normal(size=(2, 6, 6))
    spec = sr.spec(*draw, pathways=[sr.pathway("all")])
    (pathway,) = sr.derive(spec).pathways
    _, s, v, _ = pathway.to_numpy()
    assert pathway.s.shape == (1, 6)
    assert pathway.v.shape == (6, 6)
    for exact, found in (*zip(pathway.s[:2], s[:2], strict=True), (pathway.v[3, 1], v[3, 1])):
        assert float(exact.evalf(30)) == pytest.approx(found, rel=1e-12)
