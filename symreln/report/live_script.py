"""JavaScript of what a page computes: one function a group of modes, printed by SymPy."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp
from sympy.printing.jscode import JavascriptCodePrinter
from sympy.utilities.iterables import numbered_symbols

from symreln.base.progress import phase
from symreln.claims.derivation import Derived
from symreln.document.model import Interactive
from symreln.errors import FloatRangeError, NoClosedFormError
from symreln.laws.law import TIME
from symreln.report.live import live_of
from symreln.report.live_values import HALF, START, Group, Live, LiveMode

if TYPE_CHECKING:
    from symreln.experiment.outcome import Validation
    from symreln.train.run import TrainingRun

#: What JavaScript has under other names, and lnGamma of the page's own script.
_FUNCTIONS = {"log1p": "Math.log1p", "expm1": "Math.expm1", "loggamma": "lnGamma"}
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
    runs = {"GDLN": validation.gdln}
    if validation.network is not None:
        runs[validation.network_name] = validation.network
    return [_run(name, run) for name, run in runs.items()]


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
    starts = [sp.Symbol(f"_start_{n}") for n in range(len(group.modes))]
    halves = [sp.Symbol(f"_half_{n}") for n in range(len(group.modes))]
    fixed: dict[sp.Expr, sp.Symbol] = {}
    moving = [_hoisted(_strength(m, a), fixed) for m, a in zip(group.modes, starts, strict=True)]
    numbers = [_numbers(*each) for each in zip(group.modes, starts, halves, strict=True)]
    listed = [each for some in numbers for each in some]
    assigned, lines = _assigning(
        [group.rest, *(m.start for m in group.modes), *fixed, *listed], {*starts, *halves}
    )
    yield from lines
    names = numbered_symbols("x")
    yield from assigned(starts, [mode.start for mode in group.modes], names)
    yield from assigned(
        halves, [_half(m, a) for m, a in zip(group.modes, starts, strict=True)], names
    )
    made = [sp.Symbol(f"m_{n}_{k}") for n, each in enumerate(numbers) for k in range(len(each))]
    yield from assigned(["rest"], [group.rest], names)
    yield from assigned(made, listed, names)
    yield from assigned(list(fixed.values()), list(fixed), names)
    shown = [
        f"{{start: _start_{n}, half: _half_{n}, plateau: m_{n}_0, goal: m_{n}_1, weight: m_{n}_2, "
        f"holds: [{', '.join(f'm_{n}_{k}' for k in range(3, len(each)))}]}}"
        for n, each in enumerate(numbers)
    ]
    out = [f"out[{n}]" for n in range(len(moving))]
    strengths = _written(assigned(out, moving, numbered_symbols("y")))
    yield f"return {{ rest, modes: [{', '.join(shown)}], at(t, out) {{ {' '.join(strengths)} }} }};"


def _assigning(
    exprs: Sequence[Any], own: Collection[Any] = ()
) -> tuple[Callable[..., Iterator[str]], list[str]]:
    """Return what writes assignments of expressions, and the lines that read their letters from P.

    Args:
        exprs: All expressions.
        own: Letters that are assigned themselves.
    """
    # Without assumptions, which SymPy would draw conclusions from at length.
    given = {x: sp.Symbol(f"p_{x.name}") for x in _free(exprs) - set(own)}

    def assigned(targets: Sequence[Any], exprs: Sequence[Any], names: Any) -> Iterator[str]:
        parts, results = sp.cse([_expr(e).xreplace(given) for e in exprs], symbols=names)
        both = [*parts, *zip(targets, results, strict=True)]
        yield from (f"const {target} = {_printed(expr)};" for target, expr in both)

    read = sorted(given.items(), key=str)
    return assigned, [f"const {new} = P[{_json(old.name)}];" for old, new in read]


def _written(lines: Iterable[str]) -> list[str]:
    """Return assignments where those to entries of ``out`` declare nothing."""
    return [line.removeprefix("const ") if line.startswith("const out") else line for line in lines]


def _strength(mode: LiveMode, start: sp.Symbol) -> Any:
    return mode.law.strength(TIME).xreplace({START: start})


def _half(mode: LiveMode, start: sp.Symbol) -> Any:
    half = mode.law.half_time
    return sp.nan if half is None else half.xreplace({START: start})


def _numbers(mode: LiveMode, start: sp.Symbol, half: sp.Symbol) -> list[Any]:
    """Return plateau, s/d and weight in the loss, then what must be positive."""
    law = mode.law
    first = [law.plateau, law.s / law.d, mode.count * law.d / 2]
    return [*first, *(each.xreplace({START: start, HALF: half}) for each in mode.holds)]


def _free(exprs: Sequence[Any]) -> set[Any]:
    return set().union(*(_expr(each).free_symbols for each in exprs)) - {START, HALF}


def _expr(value: Any) -> Any:
    """Return a number as an expression; a text is refused, never read."""
    return sp.sympify(value, strict=True)


def _hoisted(expr: Any, fixed: dict[sp.Expr, sp.Symbol]) -> Any:
    """Return an expression in time and letters for all that does not depend on it."""
    if not expr.has(TIME):
        return expr if expr.is_Number else fixed.setdefault(expr, sp.Symbol(f"k_{len(fixed)}"))
    if expr.is_Atom:
        return expr
    still = [each for each in expr.args if not each.has(TIME)]
    if still and (expr.is_Add or expr.is_Mul):
        moving = [each for each in expr.args if each.has(TIME)]
        parts = [_hoisted(expr.func(*still), fixed), *(_hoisted(each, fixed) for each in moving)]
        return expr.func(*parts)
    return expr.func(*(_hoisted(each, fixed) for each in expr.args))


def _printed(expr: Any) -> str:
    if expr is sp.nan:
        return "NaN"
    return str(_Printer({"user_functions": _FUNCTIONS}).doprint(expr))


class _Printer(JavascriptCodePrinter):
    def _as_ordered_terms(self, expr: Any, order: Any = None) -> list[Any]:
        """Return terms in the order that SymPy has them of its own functions."""
        own = {_of_sympy(term): term for term in expr.args}
        return [own[term] for term in sp.Add(*own, evaluate=False).as_ordered_terms(order)]


def _of_sympy(expr: Any) -> Any:
    return expr.replace(
        lambda each: hasattr(each, "stands_for"),
        lambda each: each.stands_for(*each.args, evaluate=False),
    )
