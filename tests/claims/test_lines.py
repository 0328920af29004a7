"""The derivation line by line: complete for every law, checked, and red where a line is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
import sympy as sp

import symreln as sr
from symreln.claims import edge_lines, start_lines
from symreln.claims.derivation import Derivation
from symreln.claims.gate_law import gate_lines_of
from symreln.claims.lines import DerivationLines, derivation_lines
from symreln.claims.solve import at_values
from symreln.document.mathtext import to_latex
from symreln.document.model import Equation, Section, plain_text, walk
from symreln.laws import coupled_modes, flow_letters, gate_law, sigmoid_drive, two_layer, width
from symreln.laws import line as line_module
from symreln.laws.depth import Depth
from symreln.laws.law import Law
from symreln.laws.line import checked
from symreln.laws.one_layer import OneLayer
from symreln.laws.shared_chain import SharedChain
from symreln.laws.two_layer import TwoLayer, TwoLayerDecay
from symreln.laws.unbalanced import Unbalanced
from symreln.report import html
from tests.golden.specs import OWN, hierarchy
from tests.laws.test_half_speed import EQUATIONS
from tests.laws.test_half_speed import load as load_odd
from tests.mutants import not_refused

S, D = sp.symbols("s d", positive=True)
LAWS: dict[str, Law] = {
    "one layer": OneLayer(s=S, d=D),
    "two layers": TwoLayer(s=S, d=D),
    "two layers, decay": TwoLayerDecay(s=S, d=D),
    "unbalanced": Unbalanced(s=S, d=D),
    **{f"depth {n}": Depth(s=S, d=D, layers=sp.Integer(n)) for n in (3, 4, 5, 7)},
}


@cache
def derived(name: str, *overrides: str) -> sr.Derivation:
    return sr.derive(sr.load(name, overrides=overrides))


def lines(name: str, *overrides: str) -> DerivationLines:
    return derived(name, *overrides).ask(derivation_lines)


def words(found: DerivationLines) -> str:
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


@pytest.mark.parametrize("name", ["two layers", "two layers, decay"])
def test_at_the_half_time_of_the_lines_the_printed_formula_is_half_its_plateau(name):
    law = replace(LAWS[name].in_symbols(), stepwise=True)
    g = law.growth
    expected = sp.log(g / (D * law.strength0) - 1) / (2 * sp.log(1 + g / law.tau))
    shown = next(x.equation[0] for x in law.lines() if x.equation[0].startswith("t_{1/2}"))
    assert shown == f"t_{{1/2}} = {to_latex(expected)}"
    values = {S: 0.5, D: 2.0, law.strength0: 1e-3, law.tau: 50.0, two_layer.WEIGHT_DECAY: 0.1}
    reached = law.printed.subs({**values, law.t: expected.subs(values)})
    assert float(reached) == pytest.approx(float((g / D / 2).subs(values)), rel=1e-12)


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
    initial = derived("xor").stages[0].initial_loss
    assert derivation_lines(changed("xor")).derived
    refused(changed("xor", initial_loss=initial * 2), r"L = \frac{1}{2P}")


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


def test_a_wrong_final_loss_goes_red():
    left = derived("xor").stages[0].final_loss
    refused(changed("xor", final_loss=left + 1), "L(t) =")


@pytest.fixture
def unproven() -> Iterator[None]:
    """Nothing is proven yet, and nothing that was broken is kept."""
    line_module.proven_once.cache_clear()
    yield
    line_module.proven_once.cache_clear()


@pytest.mark.usefixtures("unproven")
def test_a_derivation_with_a_broken_line_is_not_printed(monkeypatch):
    monkeypatch.setattr(TwoLayer, "rate", property(lambda law: law.s))
    with pytest.raises(ArithmeticError, match="line by line"):
        sr.derive(sr.load("xor"))


def test_a_graph_with_a_wrong_correlation_goes_red():
    data = sr.load("routing").edges
    assert edge_lines.follows_correlations(data)
    first, *others = data.sigma_yx
    data.__dict__["sigma_yx"] = (first.scale(2), *others)
    assert not edge_lines.follows_correlations(data)


# -- every number, sign and operation --------------------------------------------------------------


def lines_of(law: type[Law], **more: sp.Integer):
    return lambda: checked(law(s=S, d=D, **more).in_symbols().in_steps().lines(), "a law")


def lines_at_two(law: type[Law]):
    """The lines of a law, and those of the law whose weights decay beside it."""
    return lambda: (lines_of(law)(), lines_of(TwoLayerDecay)())


def chain_lines():
    return checked(SharedChain(counts=(sp.Integer(2), sp.Integer(3))).lines(), "a chain")


def unit_lines():
    """The lines of the law of gates, with closed modes and without."""
    laws = [LAWS[name].in_symbols() for name in ("two layers", "two layers, decay", "unbalanced")]
    checked(gate_law.turning_lines(laws, decays=True), "units")
    checked(gate_law.moving_lines(decays=True), "units")


def start_line(line, **arguments: bool):
    return lambda: checked([line(**arguments)], "starts")


FOUR = lines_of(Depth, layers=sp.Integer(4))
#: What the lines are made by, and what has to refuse them when they are made otherwise.
MADE_BY = [
    (OneLayer.rate.fget, lines_of(OneLayer)),
    (OneLayer._expr.func, lines_of(OneLayer)),
    (line_module.amplitude_slopes, lines_of(TwoLayerDecay)),
    (flow_letters.units_follow_layers, unit_lines),
]
MADE_SLOWLY = [
    (OneLayer.lines, lines_of(OneLayer)),
    (line_module.amplitude_lines, lines_of(TwoLayerDecay)),
    (line_module.steps_line, lines_of(OneLayer)),
    (coupled_modes.competition_lines, lambda: checked(coupled_modes.competition_lines(), "modes")),
    (coupled_modes._competition_loss, lambda: checked(coupled_modes.competition_lines(), "modes")),
    *(
        (f, unit_lines)
        for f in (
            *(gate_law.turning_lines, gate_law._angle, gate_law._covariance),
            *(TwoLayer.angle, Unbalanced.angle),
        )
    ),
    (start_lines._early, start_line(start_lines._early, decays=False)),
    (sigmoid_drive.mean_square, start_line(sigmoid_drive._connected)),
    (
        start_lines._mean,
        lambda: checked(start_lines.start_lines(derived("xor")), "starts"),
    ),
    *(
        (f, start_line(line))
        for f, line in (
            (sigmoid_drive._halved, sigmoid_drive._halved),
            (sigmoid_drive.letters, sigmoid_drive._gauss),
            (sigmoid_drive._sums, sigmoid_drive._connected),
        )
    ),
    (sigmoid_drive._gauss, start_line(sigmoid_drive._gauss)),
    (sigmoid_drive.start_factor, start_line(sigmoid_drive._connected)),
    (sigmoid_drive._connected, start_line(sigmoid_drive._connected)),
    (width.narrow_lines, lambda: checked(width.narrow_lines(), "few units")),
    *((f, lines_at_two(TwoLayer)) for f in (TwoLayer.lines, TwoLayer._separated, TwoLayer._solved)),
    (TwoLayer.rate.fget, lines_of(TwoLayer)),
    (TwoLayerDecay.growth.fget, lines_of(TwoLayerDecay)),
    (Unbalanced.lines, lines_of(Unbalanced)),
    (Unbalanced._riccati, lines_of(Unbalanced)),
    (Unbalanced._solved, lines_of(Unbalanced)),
    (Unbalanced._values, lines_of(Unbalanced)),
    *((f, FOUR) for f in (Depth.lines, Depth._integrated, Depth.rate.fget, Depth._stage)),
    *((f, FOUR) for f in (Depth.time.fget, Depth.scale.fget, Depth.delay.fget)),
    (SharedChain.lines, chain_lines),
    (start_lines._ahead, lambda: checked(start_lines._ahead(), "head starts")),
]
#: Beginnings of mutants that are as right: a step that is linear is differentiated at any place,
#: twice 0 is 0, b is as often -b, and the logarithm of Gamma(1 - x) has the same second order.
ALIKE = {
    "_moved": ("operation p * w + q * b of",),
    # Arguments above and below have one sum: a shift of them all, or their sign, changes nothing.
    "_connected": (
        "number 1 of slopes",
        "operation sum(terms) - 1 of slopes",
        "operation 1 + unit * slope of",
    ),
    "amplitude_lines": ("operation FIRST * SECOND of moves(", "-"),
    "steps_line": ("number 0 of holds=holds and vanish(step.diff(of).subs(of, 0)",),
    "narrow_lines": tuple(
        f"operation {x} of rests =" for x in ("error * first.T", "last.T * error")
    ),
}


@pytest.mark.parametrize(
    ("function", "check"),
    [
        *(pytest.param(*made, id=made[0].__qualname__) for made in MADE_BY),
        *(
            pytest.param(*made, id=made[0].__qualname__, marks=pytest.mark.slow)
            for made in MADE_SLOWLY
        ),
    ],
)
def test_no_number_sign_or_operation_of_a_line_can_be_wrong(function, check):
    check()
    alike = ALIKE.get(function.__qualname__, ("-",))
    assert [what for what in not_refused(function, check) if not what.startswith(alike)] == []


def test_only_the_refusal_of_a_line_counts():
    """A mutant that does not run, or a check that breaks, is not refused."""

    def breaks() -> None:
        raise ZeroDivisionError

    for check, said in ((breaks, "raises ZeroDivisionError"), (lambda: None, "passes")):
        found = not_refused(OneLayer._expr.func, check)
        assert found
        assert all(f": {said}" in what for what in found)


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
    "residual-same-outputs": (*CLOSED[:-1], "Head start"),
    "three-stages": (*CLOSED, "closes by symmetry", "later stage", "Head start"),
    "no-values": CLOSED,
    "switch-disjoint": (*CLOSED, "From step 100 on"),
    "narrow": (*CLOSED, "fewer hidden units than modes", r"\frac{s_{\beta}^{2}}{d_{\beta}}"),
    "diverging": (*CLOSED, r"r < 2 \tau"),
    "chain": CLOSED,
    "two-chains": (*CLOSED, "closes by symmetry", r"\kappa"),
    "small-routing": (*CLOSED, "every number", r"\arctan^{3}"),
}
MORE = {"diverging": hierarchy(learning_rate="30")}


@pytest.mark.parametrize("name", CHAINS)
def test_every_regime_has_the_chain_from_the_loss_to_the_loss(name):
    derivation = sr.derive(sr.load({**OWN, **MORE}[name]))
    found = derivation.ask(derivation_lines)
    assert all(x.holds for x in found.derived)
    text = words(found) + " ".join(x.because for x in found.derived)
    assert [part for part in CHAINS[name] if part not in text] == []


def test_edges_whose_modes_stay_coupled_say_their_equation():
    spec = load_with_skip([[1, 0, 1, 0], [0, 1, 0, 1]])
    assert r"\tau \dot{w}_e" in words(sr.derive(spec).ask(derivation_lines))


def load_with_skip(x: list[list[int]]) -> sr.Spec:
    return sr.load(
        {
            "dataset": {"X": x, "Y": [[2, 1, 2, 1], [1, 2, 1, 2]]},
            "node": [
                {"name": "x", "inputs": "all"},
                {"name": "h", "size": 2},
                {"name": "y", "outputs": "all"},
            ],
            "edge": [{"from": a, "to": b} for a, b in ("xh", "hy", "xy")],
        }
    )


def test_a_witness_that_is_symmetric_goes_red():
    """The product that is said to refute bases is computed again, from the correlations."""
    derivation = sr.derive(load_with_skip([[1, 0, 1, 2], [0, 1, 1, 1]]))
    (stage,) = derivation.stages
    wrong = replace(stage.verdict.diagonal, entry=(0, 0))
    stage = replace(stage, verdict=replace(stage.verdict, diagonal=wrong))
    with pytest.raises(ArithmeticError, match="not symmetric"):
        derivation_lines(replace(derivation, stages=(stage,)))


# -- documents, data, terminal ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("contextual-3", ("closes by symmetry", r"\tilde{\pi}", "t_{1/2}", "L(t) =", "pi_0 = N")),
        ("contextual-different", ("disproved", "K_{pj}", "G_{jp}", "Nothing closes further")),
        ("xor", ("t_{1/2}", "Assumption 2.1.2", r"\ln", "L(t) =")),
    ],
)
def test_lines_say_what_a_derivation_rests_on(name, said):
    text = words(lines(name))
    assert [part for part in said if part not in text] == []


def test_alignment_is_not_used_after_a_switch():
    spec = sr.load(
        {
            "title": "A gate that switches",
            "dataset": {"task": "contextual", "items": 4, "contexts": 2, "structures": "hierarchy"},
            "pathway": [
                {"name": "p", "then": [{"step": 400, "gate": "context == 1"}]},
                {"name": "q", "gate": "context == 2"},
            ],
        }
    )
    derivation = sr.derive(spec)
    assert [phase.verdict.level.value for _, phase in derivation.phases] == [
        "coupled matrices",
        "closed",
    ]
    text = words(derivation.ask(derivation_lines))
    assert "From step 400 on" in text
    assert "(silent alignment) is used here" not in text


def _float_modes(derivation, name):
    """U, V and the masked inputs of a pathway, from NumPy's SVD."""
    stages = derivation.ask(at_values).stages
    (found,) = [p for stage in stages for p in stage.pathways if p.name == name]
    effective = found.effective
    data = np.array(effective.features.to_numpy())
    targets = np.array(effective.targets.to_numpy())
    u, s, vt = np.linalg.svd(targets @ data.T / data.shape[1])
    rank = int((s > 1e-9 * s[0]).sum())
    return SimpleNamespace(u=u[:, :rank], v=vt[:rank].T, data=data)


def test_matrices_of_a_dataset_are_those_of_its_singular_vectors():
    """K and G of derivation.json against NumPy's singular vectors, whose signs are their own."""
    derivation = derived("contextual-different")
    couplings = derivation.to_json()["couplings"]
    assert len(couplings) == 6
    for each in couplings:
        p, j = (_float_modes(derivation, each[end]) for end in ("to", "from"))
        g = p.v.T @ p.data @ j.data.T @ j.v / p.data.shape[1]
        for written, expected in ((each["overlap"], p.u.T @ j.u), (each["input_overlap"], g.T)):
            assert np.abs(np.abs(expected) - np.abs(written)).max() < 1e-11


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


def test_json_has_every_line_and_how_many_were_checked():
    said = json.loads(json.dumps(derived("contextual-3").to_json()["lines"]))
    assert said["count"] == said["checked"] == len(said["lines"]) > 15
    keys = {"says", "latex", "because", "check", "checked", "main"}
    assert all(set(line) == keys and line["checked"] for line in said["lines"])


def test_symbols_of_lines_are_defined_and_are_those_of_the_document():
    text = words(lines("contextual-3"))
    assert r"W_p^{*}$ the maps" in text
    assert r"K_{pj} B^{(2)}_j B^{(1)}_j G_{jp} \Bigr)_{\alpha\alpha}" in text
    assert r"\tau \dot{a} &= b \left(s - d \pi\right)" in text
    assert r"\mathbb{E} \left[" in text
    notes = " ".join(line.because + line.check for line in lines("contextual-3").derived)
    assert r"\frac{d}{2} \pi^{2} - s \pi" in notes
    assert r"$s/\ln{\left(1 + s/\tau \right)}$ for $\tau$" in notes
    document = derived("contextual-3").to_latex(full=True)
    assert document.count(r"$\mathbf{1}$ a column of ones") == 1  # with the blocks
    assert r"of plateau $h$" in text


def test_an_earlier_mode_counts_until_the_half_time_that_is_printed():
    rows = {
        row.split(" = ")[0]: row for line in lines("contextual-3").derived for row in line.equation
    }
    half = next(row for start, row in rows.items() if start.startswith("t_{1/2}"))
    counted = next(row for start, row in rows.items() if start.startswith(r"\int_0^\infty"))
    below = r"{2 \ln{\left(1 + \frac{s}{\tau} \right)}}"
    assert below in half
    assert below in counted


def test_an_uncoupled_document_speaks_of_no_effective_eigenvalue():
    def shown(name: str) -> str:
        return derived(name).to_latex(full=True).split(r"\section{Provenance")[0]

    assert r"d_{\mathrm{eff}}" not in shown("xor")
    assert r"stands for $d_{\mathrm{eff}}$" in shown("contextual-3")
    assert r"\frac{\Delta^{2} + 2}{8} \pi_{p,1}^{2}\right)." in shown("xor")
    assert r"\Delta(" not in shown("xor")
    assert r"carries $\Delta$ times" in derived("xor").to_latex()


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
