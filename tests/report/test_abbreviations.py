"""Named parts: what is printed, with the definitions put back, is what was proven."""

from __future__ import annotations

import pytest
import sympy as sp

import symreln as sr
from symreln.claims.derivation import Derivation
from symreln.claims.orbits import mode_orbits
from symreln.document.model import Equation, Section, Table, plain_text, walk
from symreln.document.widths import latex_width
from symreln.report import abbreviations as module
from symreln.report.abbreviations import NO_NAMES, abbreviate, abbreviations
from symreln.report.content import derivation_document
from tests.report.read_latex import read_latex

NETWORK = {"hidden": 100, "init_std": "1/1000", "learning_rate": "1/100", "steps": 1000}
LONG_ROOTS = {
    "title": "Two samples, two parameters",
    "dataset": {
        "X": [["1", "0"], ["0", "1"]],
        "Y": [["1", "c1"], ["c2", "2"]],
    },
    "parameters": {
        "c1": {"positive": True, "value": 1},
        "c2": {"positive": True, "value": "1/2"},
    },
    "pathway": [{"name": "all", "gate": "all"}],
    "network": NETWORK,
}
CUBIC = {
    "title": "Nothing in square roots",
    "dataset": {
        "X": [["1", "0", "0"], ["0", "1", "0"], ["0", "0", "1"]],
        "Y": [["1", "2", "0"], ["3", "1", "1"], ["0", "4", "1/2"]],
    },
    "pathway": [
        {"name": "first", "gate": "all", "outputs": [0, 1, 2]},
        {"name": "second", "gate": "all"},
    ],
    "network": NETWORK,
}


@pytest.fixture(scope="module")
def long_roots() -> Derivation:
    return sr.derive(sr.load(LONG_ROOTS))


@pytest.fixture(scope="module")
def cubic() -> Derivation:
    return sr.derive(sr.load(CUBIC))


def chapter(derivation: Derivation, title: str) -> Section:
    return next(
        block
        for block in derivation_document(derivation).blocks
        if isinstance(block, Section) and plain_text(block.title) == title
    )


def equations(section: Section) -> list[tuple[str, ...]]:
    return [block.lines for block, _ in walk(section.blocks) if isinstance(block, Equation)]


def test_printed_definitions_put_back_give_the_proven_solutions(long_roots):
    """Read from the printed page: the definitions, then the solutions."""
    symbols = [*long_roots.spec.symbols.values(), sp.Symbol("t", nonnegative=True)]
    symbols += [sp.Symbol("tau", positive=True), sp.Symbol("pi_0", positive=True)]
    (definitions,) = (
        lines for lines in equations(chapter(long_roots, "Result")) if lines[0].startswith("q_")
    )
    values: dict[sp.Symbol, sp.Expr] = {}
    for line in definitions:
        left, right = line.split(" ={}& ")
        name = sp.Symbol(left.replace("{", "").replace("}", ""))
        values[name] = read_latex(right, [*symbols, *values]).xreplace(values)
    assert len(values) >= 2
    printed = next(
        lines for lines in equations(chapter(long_roots, "Result")) if r"\pi_{1,1}(t)" in lines[0]
    )
    for line, mode in zip(printed, long_roots.pathways[0].modes, strict=True):
        assert mode.strength is not None
        right = line.split(" &= ")[1]
        assert latex_width(right) < 60
        found = read_latex(right, [*symbols, *values]).xreplace(values)
        point = {symbol: sp.Rational(k + 2, 7) for k, symbol in enumerate(symbols)}
        named = {str(symbol): value for symbol, value in point.items()}
        proven = mode.strength.expr
        proven = proven.xreplace({s: named[str(s)] for s in proven.free_symbols})
        assert abs(sp.N(found.xreplace(point) - proven, 40)) < 1e-35


def test_every_formula_of_the_document_is_shortened_exactly(long_roots):
    names = abbreviations(long_roots, mode_orbits(long_roots), 40)
    values: dict = {}
    for name, part in names.definitions:
        values[name] = part.xreplace(values)
    strengths = [m.strength.expr for m in long_roots.pathways[0].modes if m.strength is not None]
    for expr in strengths:
        assert names.short(expr) != expr
        assert names.short(expr).xreplace(values) == expr
    assert long_roots.loss is not None
    assert any(term in names.shortened for term in sp.Add.make_args(long_roots.loss))


def test_nothing_is_named_that_cannot_be_put_back(monkeypatch):
    a, b = sp.symbols("a b", positive=True)
    part = sp.sqrt(a**4 + 3 * a**2 * b + b**4 + 1)
    exprs = [1 + part, sp.exp(part)]
    assert abbreviate(exprs).definitions
    monkeypatch.setattr(module, "put_back", lambda _, shortened: shortened)
    assert abbreviate(exprs) == NO_NAMES


def test_short_formulas_get_no_names():
    derivation = sr.derive(sr.load("contextual-3"))
    assert abbreviations(derivation, mode_orbits(derivation), 40) == NO_NAMES


def test_numbers_without_radicals_are_defined_by_the_name_that_formulas_use(cubic):
    """Two pathways are shown at once, so that their numbers carry the index p."""
    tables = [
        b
        for b, _ in walk(chapter(cubic, "Data, pathways and modes").blocks)
        if isinstance(b, Table)
    ]
    definitions = next(table for table in tables if plain_text(table.header[0]) == "number")
    assert [plain_text(cell) for cell in definitions.header][:3] == [
        "number",
        "is a root of",
        "which",
    ]
    names = [plain_text(row[0]) for row in definitions.rows]
    assert names == [f"s_{{p,{k}}}" for k in (1, 2, 3)]
    (solutions,) = (
        lines for lines in equations(chapter(cubic, "Result")) if r"\pi_{\alpha}(t)" in lines[0]
    )
    assert r"s_{\alpha}" in solutions[0]
    assert "s_{1," not in solutions[0]
    assert r"\alpha = (p,1), (p,2), (p,3)" in solutions[1]


def test_the_printed_root_is_the_number(cubic):
    """Polynomial, place among the real roots and decimal belong together."""
    tables = [
        b
        for b, _ in walk(chapter(cubic, "Data, pathways and modes").blocks)
        if isinstance(b, Table)
    ]
    x = sp.Symbol("x")
    definitions = next(table for table in tables if plain_text(table.header[0]) == "number")
    for row, mode in zip(definitions.rows, cubic.pathways[0].modes, strict=True):
        polynomial = sp.Poly(read_latex(plain_text(row[1]), [x]), x)
        root = polynomial.real_roots()[int(plain_text(row[2])) - 1]
        decimal, _, last = plain_text(row[3]).rstrip(")").partition("(")
        unit = sp.Float(10, 30) ** -len(decimal.partition(".")[2])
        assert abs(sp.N(root, 30) - sp.Float(decimal, 30)) <= int(last) * unit
        assert abs(float(root) - mode.s.to_float()) < 1e-12


def test_a_named_product_is_found_inside_a_longer_product():
    a, b, x = sp.symbols("a b x", positive=True)
    root = sp.sqrt(a**2 + 3 * a * b + b**2 + 7)
    formulas = [x * root / 6, sp.exp(-x * root / 3) + root / 6, x * b]
    names = abbreviate([root / 6 + 1, root / 6 + 2], formulas)
    ((name, part),) = names.definitions
    assert part == root / 6
    assert names.short(formulas[0]) == x * name
    assert names.short(formulas[1]) == sp.exp(-2 * x * name) + name
    assert names.short(formulas[2]) == x * b
    for formula in formulas:
        assert names.short(formula).xreplace({name: part}) == formula
