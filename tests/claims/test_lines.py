"""The derivation line by line: complete for every law, checked, and red where a line is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp

import symreln as sr
from symreln.claims import edge_lines
from symreln.claims.derivation import Derivation
from symreln.claims.gate_law import gate_lines_of
from symreln.claims.lines import derivation_lines
from symreln.document.document_model import Equation, Section, plain_text, walk
from symreln.document.mathtext import to_latex
from symreln.laws import flow_letters
from symreln.laws import line as line_module
from symreln.laws.deep_chain import Depth
from symreln.laws.law import Law
from symreln.laws.line import checked
from symreln.laws.one_layer import OneLayer
from symreln.laws.shared_chain import SharedChain
from symreln.laws.two_layer import TwoLayer, TwoLayerDecay
from symreln.laws.unbalanced import Unbalanced
from symreln.report import html
from tests.cases import derived
from tests.laws.test_half_speed import EQUATIONS
from tests.laws.test_half_speed import load as load_odd
from tests.own_specs import OWN, drawn

S, D = sp.symbols("s d", positive=True)
LAWS: dict[str, Law] = {
    "one layer": OneLayer(s=S, d=D),
    "two layers": TwoLayer(s=S, d=D),
    "two layers, decay": TwoLayerDecay(s=S, d=D),
    "unbalanced": Unbalanced(s=S, d=D),
    **{f"depth {n}": Depth(s=S, d=D, layers=sp.Integer(n)) for n in (3, 4, 5, 7)},
}


def lines(name: str, *overrides: str) -> Any:
    return derived(name, *overrides).ask(derivation_lines)


def words(found: Any) -> str:
    return " ".join(f"{line.says} {' '.join(line.equation)}" for line in found.derived)


# -- laws ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LAWS)
def test_every_line_of_a_law_holds(name):
    assert all(line.holds for line in LAWS[name].in_symbols().lines())


@pytest.mark.parametrize("name", sorted(LAWS))
def test_lines_end_in_the_printed_formula_and_the_half_time(name):
    law = replace(LAWS[name].in_symbols(), stepwise=True)
    *_, solved, half = [line for line in law.lines() if line.main]
    assert half.equation[-1].startswith("t_{1/2}")
    rows = "".join(row.replace("&=", "=") for row in solved.equation)
    if law.expr is not None and not isinstance(law, Unbalanced):
        assert law.to_latex() == to_latex(law.printed)  # of the same printer
    if isinstance(law, Depth):
        assert rf"t(\pi) = {to_latex(law.scale)}" in rows
    elif isinstance(law, Unbalanced):
        assert rows == rf"\pi(t) = {law.to_latex()}".replace(r", \quad ", "")
    else:
        assert rows == rf"\pi(t) = {to_latex(law.printed)}"


@pytest.mark.parametrize("counts", [(1, 1), (2, 3), (2, 8, 2), (1, 1, 1)])
def test_every_line_of_a_shared_chain_holds(counts):
    found = tuple(SharedChain(counts=tuple(map(sp.Integer, counts))).lines())
    assert found
    assert all(line.holds for line in found)


# -- red -------------------------------------------------------------------------------------------


class Steeper(TwoLayer):
    """A law whose equation is not what its amplitudes do."""

    @property
    def rate(self) -> sp.Expr:
        return 3 * super().rate


class Shifted(TwoLayer):
    """A law whose formula does not solve its equation."""

    @property
    def _expr(self) -> sp.Expr:
        return super()._expr + 1


@pytest.mark.parametrize("law", [Steeper, Shifted])
def test_a_wrong_formula_goes_red(law):
    with pytest.raises(ArithmeticError, match="check failed: a law, line"):
        checked(law(s=S, d=D).in_symbols().lines(), "a law")


def test_a_wrong_identity_in_letters_goes_red(monkeypatch):
    flow_letters.flow_is_gradient.cache_clear()
    half = flow_letters._sigma_yx
    monkeypatch.setattr(flow_letters, "_sigma_yx", lambda path: half(path).scale(2))
    assert not flow_letters.flow_is_gradient(2)
    flow_letters.flow_is_gradient.cache_clear()
    monkeypatch.undo()
    assert flow_letters.flow_is_gradient(2)


def changed(name: str, stage: int = 0, **changes) -> Derivation:
    """Return a derivation with fields of a stage changed."""
    derivation = derived(name)
    stages = [replace(s, **changes) if n == stage else s for n, s in enumerate(derivation.stages)]
    return replace(derivation, stages=tuple(stages))


def refused(derivation: Derivation, row: str) -> None:
    """The line with this row is the first that does not hold."""
    with pytest.raises(ArithmeticError, match=f"line by line, line .*{re.escape(row)}"):
        derivation_lines(derivation)


def test_a_wrong_loss_goes_red():
    initial, left = (getattr(derived("xor").stages[0], f"{at}_loss") for at in ("initial", "final"))
    assert derivation_lines(changed("xor")).derived
    refused(changed("xor", initial_loss=initial * 2), r"L = \frac{1}{2P}")
    refused(changed("xor", final_loss=left + 1), "L(t) =")


@pytest.mark.parametrize(
    ("name", "row"), [("sigma_yx", r"M \Sigma^{x}"), ("features", r"g_p(\mu)\, O_p")]
)
def test_a_wrong_correlation_goes_red(name, row):
    """Of a spec of its own: what is found of a dataset is kept with it."""
    derivation = sr.derive(sr.load("xor"))
    own = derivation.stages[0].pathways[0].effective
    own.__dict__[name] = getattr(own, name).scale(Fraction(3, 2))
    refused(derivation, row)


def test_a_wrong_d_eff_goes_red():
    verdict = derived("contextual-3").stages[1].verdict
    wrong = {node: tuple(c * 2 for c in d) for node, d in verdict.d_eff.items()}
    refused(changed("contextual-3", 1, verdict=replace(verdict, d_eff=wrong)), r"\Bigl( S_p")


@pytest.fixture
def unproven() -> Iterator[None]:
    """Nothing is proven yet, and nothing that was broken is kept."""
    line_module.proven_once.cache_clear()
    yield
    line_module.proven_once.cache_clear()


@pytest.mark.usefixtures("unproven")
def test_lines_are_not_written_where_one_is_broken(monkeypatch, tmp_path):
    monkeypatch.setattr(TwoLayer, "rate", property(lambda law: law.s))
    derivation = sr.derive(sr.load("xor"))
    with pytest.raises(ArithmeticError, match="line by line"):
        derivation.save(tmp_path)
    assert not any(tmp_path.iterdir())


def test_a_graph_with_a_wrong_correlation_goes_red():
    data = sr.load("routing").edges
    assert edge_lines._follows_correlations(data)
    first, *others = data.sigma_yx
    data.__dict__["sigma_yx"] = (first.scale(2), *others)
    assert not edge_lines._follows_correlations(data)


# -- every regime ----------------------------------------------------------------------------------

TO_MODES = (r"\Bigl\| y_\mu", "effective dataset", r"\tau \dot{W}", "hange of basis", "2.1.1")
TO_HALF = (*TO_MODES, "2.1.2", "Dropped", r"\tau \dot{\pi}", "finite steps", "t_{1/2}")
CLOSED = (*TO_HALF, "ffective start", r"\int_{", "L(t)")
OPEN = (*TO_MODES, "Nothing closes further", "2.1.2")
CHAINS = {
    "one-layer": CLOSED,
    "three-layers": (*CLOSED, r"\kappa"),
    "five-layers": (*CLOSED, r"\kappa"),
    "closed": CLOSED,
    "unequal": (*TO_HALF, "conserved product", r"\int_{", "L(t)"),
    "decay": CLOSED,
    "decay-above-s": CLOSED,
    "odd-relu": (*CLOSED, r"\tau \to 2 \tau"),
    "equal-couplings": (*CLOSED, "closes by symmetry"),
    "coupled-modes": (*TO_MODES, "Dropped", r"\kappa_{ab}", "ffective start", "L(t)"),
    "coupled-matrices": OPEN,
    "gains": OPEN,
    "boundary": (*CLOSED, r"\Pi_p"),
    "residual-same-outputs": CLOSED[:-1],
    "three-stages": (*CLOSED, "closes by symmetry", "later stage", "Head start"),
    "no-values": CLOSED,
    "switch-disjoint": (*CLOSED, "From step 100 on"),
    "narrow": (*CLOSED, "fewer hidden units than modes", r"\frac{s_{\beta}^{2}}{d_{\beta}}"),
    "chain": CLOSED,
    "two-chains": (*CLOSED, "closes by symmetry", r"\kappa"),
    "routing": (*CLOSED, "every number", r"\arctan^{3}"),
}


@pytest.mark.parametrize("name", CHAINS)
def test_every_regime_has_the_chain_from_the_loss_to_the_loss(name):
    small = ("parameters.M.value=3", "dataset.items=2") if name == "routing" else ()
    derivation = sr.derive(sr.load(OWN.get(name, name), small))
    found = derivation.ask(derivation_lines)
    assert all(x.holds for x in found.derived)
    text = words(found) + " ".join(x.because for x in found.derived)
    assert [part for part in CHAINS[name] if part not in text] == []


def test_edges_whose_modes_stay_coupled_say_their_equation():
    spec = load_with_skip([[1, 0, 1, 0], [0, 1, 0, 1]])
    assert r"\tau \dot{w}_e" in words(sr.derive(spec).ask(derivation_lines))


def load_with_skip(x: list[list[int]]) -> sr.Spec:
    return sr.load(drawn("x h, h y, x y", {"X": x, "Y": [[2, 1, 2, 1], [1, 2, 1, 2]]}))


def test_a_witness_that_is_symmetric_goes_red():
    """The product that is said to refute bases is computed again, from the correlations."""
    derivation = sr.derive(load_with_skip([[1, 0, 1, 2], [0, 1, 1, 1]]))
    (stage,) = derivation.stages
    wrong = replace(stage.verdict.diagonal, entry=(0, 0))
    stage = replace(stage, verdict=replace(stage.verdict, diagonal=wrong))
    with pytest.raises(ArithmeticError, match="not symmetric"):
        derivation_lines(replace(derivation, stages=(stage,)))


# -- documents, data, terminal ---------------------------------------------------------------------


@pytest.mark.parametrize("layers", ["1", "3"])
def test_other_depths_have_lines_of_their_own(layers):
    text = words(lines("linear-hierarchy", f"network.layers={layers}"))
    assert ("W^{(3)}_p" in text) == (layers == "3")
    assert "W^{(2)}" not in text


def test_weight_decay_is_in_the_flow_and_in_its_reduction():
    text = words(lines("linear-hierarchy", "network.weight_decay=1/100"))
    assert r"- \lambda W^{(1)}_p" in text
    assert r"- \lambda B^{(1)}_p" in text


@pytest.mark.parametrize("name", EQUATIONS)
def test_networks_at_half_speed_and_layers_apart(name):
    found = sr.derive(load_odd(**EQUATIONS[name])).ask(derivation_lines)
    assert r"\tau \to 2 \tau" in words(found)
    assert ("conserved product" in words(found)) == ("unbalanced" in name)


def test_columns_of_ones_are_defined_with_the_blocks():
    document = derived("contextual-3").to_latex(full=True)
    assert document.count(r"$\mathbf{1}$ a column of ones") == 1


def _titles(document) -> list[str]:
    return [
        plain_text(block.title) for block, _ in walk(document.blocks) if isinstance(block, Section)
    ]


def test_a_page_folds_every_line_with_its_check_and_paper_has_the_main_ones():
    derivation = derived("contextual-3")
    document = derivation.to_document()
    assert _titles(document).count("The derivation, line by line") == 1
    found = lines("contextual-3").derived
    written = {row for b, _ in walk(document.blocks) if isinstance(b, Equation) for row in b.lines}
    assert all(written.issuperset(line.equation) for line in found)
    paper, page = derivation.to_latex(), html.render(document)
    of_gates = derivation.ask(gate_lines_of)
    assert page.count("Checked:") == len(found) + len(of_gates.derived)
    assert "Checked:" not in paper
