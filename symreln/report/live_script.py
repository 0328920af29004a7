"""JavaScript of what a page computes: one function a group of modes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp
from sympy.printing.jscode import known_functions

from symreln.base.progress import phase
from symreln.claims.derivation import Derivation
from symreln.document.model import Interactive
from symreln.errors import FloatRangeError, NoClosedFormError
from symreln.laws.law import TIME
from symreln.report.code import Code, Language
from symreln.report.live import live_of
from symreln.report.live_values import HALF, START, Group, Live

if TYPE_CHECKING:
    from symreln.experiment.outcome import Validation
    from symreln.train.run import TrainingRun

#: Functions of JavaScript, and lnGamma of the page's own script.
_OWN = {"log1p": "Math.log1p", "expm1": "Math.expm1", "loggamma": "lnGamma"}
_JAVASCRIPT = Language(
    functions={**known_functions, **_OWN},
    root="Math.sqrt({})",
    power="Math.pow({}, {})",
    statement="const {} = {};",
    letter="p_{}",
)
#: Points of a trained curve in the page.
_POINTS = 120
#: Bytes of the script above which a page has none: it would no longer move at once.
_MOST_BYTES = 400_000


@phase("sliders")
def interactive(derivation: Derivation, validation: Validation | None = None) -> Interactive | None:
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
    code = Code(_JAVASCRIPT, [*computed.values(), *strengths], computed)
    for name, value in computed.items():
        code.still.append(f"const {name} = {code.text(value)};")
    out = [f"out[{n}] = {code.text(each)};" for n, each in enumerate(strengths)]
    yield from (f"const p_{name} = P[{_json(name)}];" for name in sorted(code.letters))
    yield from code.still
    at = " ".join([*code.moving, *out])
    yield f"return {{ rest: _rest, modes: [{', '.join(shown)}], at(t, out) {{ {at} }} }};"
