"""JavaScript of what a page computes: one function a group of modes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp
from sympy.printing.jscode import known_functions

from symreln.base.progress import phase
from symreln.claims.derivation import Derived
from symreln.document.model import Interactive
from symreln.errors import FloatRangeError, NoClosedFormError
from symreln.laws.law import TIME
from symreln.report.live import live_of
from symreln.report.live_values import HALF, START, Group, Live

if TYPE_CHECKING:
    from symreln.experiment.outcome import Validation
    from symreln.train.run import TrainingRun

#: Functions of JavaScript, and lnGamma of the page's own script.
_OWN = {"log1p": "Math.log1p", "expm1": "Math.expm1", "loggamma": "lnGamma"}
_FUNCTIONS = {**known_functions, **_OWN}
#: How expressions bind.
_SUM, _PRODUCT, _ATOM = range(3)
#: Points of a trained curve in the page.
_POINTS = 120
#: Bytes of the script above which a page has none: it would no longer move at once.
_MOST_BYTES = 400_000


@phase("sliders")
def interactive(derivation: Derived, validation: Validation | None = None) -> Interactive | None:
    """Return what a page lets its reader move; None where nothing has a closed form."""
    try:
        live = live_of(derivation)
    except NoClosedFormError:
        return None
    except FloatRangeError as why:
        return Interactive(note=f"There are no sliders here: {why}.")
    script = live_script(live, _trained(validation))
    if len(script) > _MOST_BYTES:
        return Interactive(note="There are no sliders here: the formulas are too long for a page.")
    return Interactive(script=script, note=_NOTE)


_NOTE = (
    "The sliders move the closed forms of this document, which the page computes; it needs scripts "
    "for that. All figures below are for the declared values, and modes keep the names that they "
    "have at these. An estimated κ in an initial strength stays that of the declared values."
)


def _trained(validation: Validation | None) -> list[dict[str, Any]]:
    """Return the mean losses of trained networks with their bands over seeds, thinned."""
    if validation is None:
        return []
    runs = {"GDLN": validation.gdln, validation.network_name: validation.network}
    return [_run(name, run) for name, run in runs.items() if run is not None]


def _run(name: str, run: TrainingRun) -> dict[str, Any]:
    mean, band = run.mean_loss, np.quantile(run.losses, (0.05, 0.95), axis=0)
    chosen = np.unique(np.linspace(0, len(mean) - 1, _POINTS).astype(int))

    def rounded(curve: np.ndarray) -> list[float]:
        return [float(f"{value:.6g}") for value in curve[chosen]]

    return {
        "name": name,
        "xs": chosen.tolist(),
        "y": rounded(mean),
        "band": [*map(rounded, band)],
    }


def live_script(live: Live, trained: Sequence[dict[str, Any]] = ()) -> str:
    """Return the text of a script that sets ``LIVE``: sliders, and functions of their values.

    ``build(P, lnGamma)`` of a group takes the numbers by name and returns what is left of the
    loss, every mode's numbers, and ``at(t, out)``, which writes the strengths at a time.
    """
    groups = ",\n".join(_group(group) for group in live.groups)
    known = {
        "sliders": [asdict(slider) for slider in live.sliders],
        "steps": live.steps,
        "trained": list(trained),
    }
    return f"globalThis.LIVE = {_json(known)};\nLIVE.groups = [\n{groups}\n];\n"


def _json(value: Any) -> str:
    """Return JSON that no text of a spec can end the script with."""
    return json.dumps(value).replace("<", "\\u003c").replace("\u2028", " ").replace("\u2029", " ")


def _group(group: Group) -> str:
    about = {
        "over": group.over,
        "below": group.below,
        "modes": [
            {"title": mode.title, "pathway": mode.pathway, "names": mode.names}
            for mode in group.modes
        ],
    }
    body = "\n".join(f"    {line}" for line in _lines(group))
    return f"Object.assign({_json(about)}, {{ build(P, lnGamma) {{\n{body}\n}} }})"


def _lines(group: Group) -> Iterator[str]:
    """Yield the statements of a group's function."""
    places = range(len(group.modes))
    starts, halves = ([sp.Symbol(f"_{x}_{n}") for n in places] for x in ("start", "half"))
    laws = [
        mode.law if mode.law.strength0 != START else replace(mode.law, strength0=start)
        for mode, start in zip(group.modes, starts, strict=True)
    ]
    computed = dict(zip(starts, [mode.start for mode in group.modes], strict=True))
    computed[sp.Symbol("_rest")] = group.rest
    shown = []
    for n, (mode, law, half) in enumerate(zip(group.modes, laws, halves, strict=True)):
        computed[half] = sp.nan if law.half_time is None else law.half_time
        numbers = [law.plateau, law.s / law.d, mode.count * law.d / 2, *mode.holds]
        named = {sp.Symbol(f"_{n}_{k}"): x.xreplace({HALF: half}) for k, x in enumerate(numbers)}
        computed |= named
        plateau, goal, weight, *held = named
        shown.append(
            f"{{start: _start_{n}, half: {half}, plateau: {plateau}, goal: {goal}, "
            f"weight: {weight}, holds: {held}}}"
        )
    strengths = [law.strength(TIME) for law in laws]
    code = _Code([*computed.values(), *strengths], computed)
    for name, value in computed.items():
        code.still.append(f"const {name} = {code.text(value)};")
    out = [f"out[{n}] = {code.text(each)};" for n, each in enumerate(strengths)]
    yield from (f"const p_{name} = P[{_json(name)}];" for name in sorted(code.letters))
    yield from code.still
    at = " ".join([*code.moving, *out])
    yield f"return {{ rest: _rest, modes: [{', '.join(shown)}], at(t, out) {{ {at} }} }};"


class _Code:
    """JavaScript of expressions: what occurs again is computed once, what has no time before it.

    SymPy's printer and its search for common parts take longer, and order what no reader sees.

    Attributes:
        still: Statements that have no time.
        moving: Those that have.
        letters: What is read from P.
    """

    def __init__(self, exprs: Iterable[Any], own: Iterable[Any]) -> None:
        self.still, self.moving, self.letters = list[str](), list[str](), set[str]()
        self._names = {TIME: "t"} | {letter: str(letter) for letter in own}
        self._uses, self._in_time = Counter[Any](), {TIME}
        for expr in exprs:
            self._count(expr)

    def _count(self, expr: Any) -> None:
        self._uses[expr] += 1
        if self._uses[expr] == 1:
            for each in expr.args:
                self._count(each)
            if not self._in_time.isdisjoint(expr.args):
                self._in_time.add(expr)

    def text(self, expr: Any, binds: int = _SUM) -> str:
        """Return an expression, in brackets where it binds less than this."""
        if self._uses[expr] > 1:
            self._name(expr)
        if expr in self._names:
            return self._names[expr]
        text, own = self._written(expr)
        return text if own >= binds else f"({text})"

    def _name(self, expr: Any) -> None:
        """Compute an expression in a statement of its own."""
        if expr.args and expr not in self._names:
            text, _ = self._written(expr)
            name = self._names[expr] = f"x{len(self._names)}"
            (self.moving if expr in self._in_time else self.still).append(f"const {name} = {text};")

    def _written(self, expr: Any) -> tuple[str, int]:
        """Return an expression, and how it binds."""
        if expr.is_Symbol:
            self.letters.add(str(expr))
            return f"p_{expr}", _ATOM
        if not expr.args:
            return str(expr) if expr.is_Rational else json.dumps(float(expr)), _PRODUCT
        parts = self._operands(expr)
        if expr.is_Add:
            return " + ".join(self.text(each, _PRODUCT) for each in parts), _SUM
        if expr.is_Mul:
            return self._product(parts), _PRODUCT
        if expr.is_Pow:
            return self._power(*parts)
        return f"{_FUNCTIONS[type(expr).__name__]}({', '.join(map(self.text, parts))})", _ATOM

    def _operands(self, expr: Any) -> list[Any]:
        """Return the operands; of an expression in time what has none, as far as it goes, named."""
        still = [each for each in expr.args if each not in self._in_time]
        if expr not in self._in_time or not still:
            return list(expr.args)
        one = still[0] if len(still) == 1 else expr.func(*still, evaluate=False)
        self._name(one)
        moving = [each for each in expr.args if each in self._in_time]
        return list(expr.args) if one in expr.args else [one, *moving]

    def _product(self, factors: Sequence[Any]) -> str:
        above, below = list[str](), list[str]()
        for each in factors:
            if each.is_Pow and each.exp.is_Number and each.exp < 0 and each not in self._names:
                text, binds = self._power(each.base, -each.exp)
                below.append(text if binds == _ATOM else f"({text})")
            else:
                above.append(self.text(each, _PRODUCT))
        under = "*".join(below) if len(below) < 2 else f"({'*'.join(below)})"
        return "/".join(filter(None, ["*".join(above) or "1", under]))

    def _power(self, base: Any, power: Any) -> tuple[str, int]:
        if power is sp.S.One:
            return self.text(base, _ATOM), _ATOM
        if power is sp.S.NegativeOne:
            return f"1/{self.text(base, _ATOM)}", _PRODUCT
        if power is sp.S.Half:
            return f"Math.sqrt({self.text(base)})", _ATOM
        return f"Math.pow({self.text(base)}, {self.text(power)})", _ATOM
