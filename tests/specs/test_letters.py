"""No name of a user's parameter meets a letter of the program: in SymPy, in print, in programs."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

import symreln as sr
from symreln.document.escape import GREEK
from symreln.document.symbols import symbol_latex
from symreln.errors import SpecError
from symreln.specs.letters import _CALLED, _HEADS, _WORDS, _is_own, written_names
from tests.own_specs import LINEAR, own, path

ROOT = Path(__file__).parents[2]
#: Letters that formulas use in the tasks' own sense alone.
OF_TASKS = {"c", "Delta", "C", "n", "m"}
NEUTRAL = "quantity"
NAMES = [*sorted(_HEADS | _WORDS | _CALLED), "pi_0", "s_1_1", "d_1_1", "pitilde_1_1", "x0", "lamda"]
#: One of every kind: time, functions and constants of SymPy, words of Python and of programs.
CHOSEN = ["E", "I", "S", "lambda", "class", "np", "sqrt", "oo", "loss", "beta", "t", *NAMES[-6:]]
TIMES = [0.0, 20.0, 300.0]
NETWORK = LINEAR | {"hidden": 10, "learning_rate": "1/10", "steps": 50}
PLAIN = own([["1", "0"], ["0", "1"]], [["{}", "0"], ["0", "1"]], network=NETWORK)
#: A later stage, whose modes have head starts.
STAGED = own(
    [["1", "0", "1", "0"], ["0", "1", "0", "1"]],
    [["{}", "0", "{}", "0"], ["0", "2", "0", "2"], ["1", "0", "-1", "0"]],
    path("common"),
    path("one", "context == 1", stage=2),
    labels={"context": [1, 1, 2, 2]},
    network=NETWORK,
)


def _derived(spec: dict, name: str) -> sr.Derivation:
    text = json.dumps(spec).replace("{}", name)
    tables = json.loads(text) | {"parameters": {name: {"positive": True, "value": 2}}}
    return sr.derive(sr.load(tables))


def _values(derivation: sr.Derivation) -> Iterator[np.ndarray]:
    """Yield the same numbers by every way that the program offers."""
    evaluated = derivation.evaluate(TIMES)
    yield evaluated.loss
    yield derivation.to_numpy("loss")(TIMES)
    module: dict = {}
    exec(derivation.to_python("numpy"), module)
    yield module["loss"](np.array(TIMES))
    (parameter,) = derivation.spec.parameters
    formula = derivation.formula("loss")
    letters = derivation.to_numpy("loss").defaults
    values = {symbol: letters.get(symbol.name) for symbol in formula.expr.free_symbols}
    (time,) = (symbol for symbol, value in values.items() if value is None)
    values.pop(time)
    assert parameter.symbol in values
    yield np.array([float(formula.expr.subs(values).subs(time, t)) for t in TIMES])


@pytest.mark.parametrize(
    ("spec", "names"), [(PLAIN, CHOSEN), (STAGED, NAMES[-3:])], ids=["plain", "staged"]
)
def test_a_name_changes_no_number(spec: dict, names: list[str]):
    expected = _derived(spec, NEUTRAL).evaluate(TIMES).loss
    for name in names:
        derivation = _derived(spec, name)
        (parameter,) = derivation.spec.parameters
        assert parameter.given == name
        assert parameter.name == written_names([name])[name] != name
        for way, found in enumerate(_values(derivation)):
            np.testing.assert_allclose(
                found, expected, rtol=1e-9, atol=1e-12, err_msg=f"{name}, way {way}"
            )


@pytest.mark.parametrize("name", ["t", "pi_0", "lambda", "c"])
def test_a_name_is_written_one_way_everywhere(name: str, tmp_path: Path):
    """A spec that is saved and read again, its documents and its certificate have one name."""
    written = written_names([name])[name]
    _derived(STAGED, name).save(tmp_path, formats=["json", "tex", "html", "py"])
    again = sr.open(tmp_path)
    (parameter,) = again.spec.parameters
    assert parameter.name == written
    data = json.loads((tmp_path / "derivation.json").read_text())
    modes = [mode for pathway in data["pathways"] for mode in pathway["modes"]]
    names = set().union(*(re.findall(r"\w+", str(mode["strength"]["expr"])) for mode in modes))
    assert written in names
    assert names - {written, "t", "tau", "pi_0", "pitilde_0"} <= {*map(str, range(100))}
    assert symbol_latex(written) in (tmp_path / "derivation.tex").read_text()


def test_no_two_parameters_are_printed_as_one_letter():
    names = ["alpha1", "alpha_1", "lambda", "lamda", "lambda_", "t", "t_", "c", "c1", "c_1", "c__1"]
    written = written_names(names)
    assert len({symbol_latex(each) for each in written.values()}) == len(names)
    own = {symbol_latex(name) for name in NAMES}
    assert own.isdisjoint(symbol_latex(each) for each in written.values())


def test_a_parameter_s_own_name_is_what_its_spec_reads():
    """Formulas of the spec and ``over`` take the name that the user gave, and no other."""
    spec = sr.load(
        {**PLAIN, "parameters": {"t": {"positive": True, "value": 2}}} | _data("t - 1/4")
    )
    assert sr.race(spec, over="t").found.race.parameter == "t_"
    with pytest.raises(SpecError, match='the undeclared name "t_"'):
        sr.load({**PLAIN, "parameters": {"t": {"positive": True, "value": 2}}} | _data("t_"))


def _data(formula: str) -> dict:
    return {"dataset": {"X": [["1", "0"], ["0", "1"]], "Y": [[formula, "0"], ["0", "1"]]}}


def test_every_letter_of_the_program_is_one_of_its_own():
    """What sources call a symbol, and the letters of printed documents."""
    found = {name for path in (ROOT / "symreln").rglob("*.py") for name in _symbols(path)}
    texts = [path.read_text() for path in (ROOT / "derivations").rglob("*.tex")]
    printed = {letter for text in texts for letter in _letters(text)}
    assert len(found) > 60
    assert len(printed) > 40
    assert {name for name in found if not _is_own(name)} <= OF_TASKS
    assert {name for name in printed if not _is_own(name)} <= OF_TASKS


def _symbols(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        called = getattr(node, "func", None)
        if getattr(called, "attr", None) in ("Symbol", "symbols"):
            (first, *_) = node.args  # type: ignore[attr-defined]
            if isinstance(first, ast.Constant) and first.value.isascii():
                found = sp.flatten(sp.symbols(first.value, seq=True))
                yield from (each.name for each in found if not each.name.startswith("_"))


def _letters(text: str) -> Iterator[str]:
    """Yield the letters of mathematics in a document, without their indices."""
    body = text.split(r"\begin{document}")[-1]
    shown = r"\\begin\{(?:equation|align|gather|multline)\*?\}(.*?)\\end\{|\$(.*?)\$|\\\[(.*?)\\\]"
    for match in re.finditer(shown, body, re.DOTALL):
        math = next(filter(None, match.groups()), "")
        math = re.sub(r"\\(?:mathrm|text|operatorname|begin|end|label|ref)\*?\{[^{}]*\}", " ", math)
        for command, letter in re.findall(r"\\([A-Za-z]+)|([A-Za-z])", math):
            if letter or command in GREEK.values():
                yield letter or command
