"""What a result comes to, in ten lines: the reprs of derivations and confrontations."""

from __future__ import annotations

from symreln.claims.constants import count_free, printed_constants
from symreln.claims.derivation import Derivation, ModeDerivation
from symreln.claims.pathway_orbits import PathwayOrbit, mode_orbits
from symreln.claims.rules import rule_of, warnings_of
from symreln.document.words import MISSING, SHORT, Notation, evaluable
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.truth import Truth
from symreln.specs.finding import counted, cut

#: Lines of a result, and characters of a line.
MOST_LINES = 10
LINE = 98
#: Reasons of the verdict, which has one a stage or more.
MOST_REASONS = 2


def derivation_summary(derivation: Derivation) -> list[str]:
    """Return title and verdict, the first modes that learn, and how many checks hold."""
    verdict = derivation.verdict
    reasons = [
        cut(f"  - {each.partition(';')[0]}", LINE) for each in verdict.reasons[:MOST_REASONS]
    ]
    warned, constants = warnings_of(derivation), derivation.ask(printed_constants)
    return [
        derivation.spec.title,
        f"verdict: {verdict.level.value}",
        *reasons,
        *_modes(derivation, MOST_LINES - 4 - len(reasons) - len(warned)),
        *warned,
        f"checks: {checks_text(derivation)}; free constants: {count_free(constants)}",
    ]


def _modes(derivation: Derivation, most: int) -> list[str]:
    notation, orbits = Notation.of(derivation.spec), mode_orbits(derivation)
    sizes = ", ".join(f"{size.name} = {size.value}" for size in derivation.spec.sizes)
    lines = (
        [f"at {sizes}; for every size: .to_latex()"] if derivation.ask(rule_of("family")) else []
    )
    most -= len(lines)
    # Every orbit has a line, so that no stage is hidden by the modes before it.
    room, left = max(0, most - len(orbits)), 0
    for place, orbit in enumerate(orbits):
        shown = orbit.learning[: 1 + room] if place < most else []
        room -= max(0, len(shown) - 1)
        left += (len(orbit.learning) - len(shown)) * len(orbit.pathways)
        lines += [_mode_line(orbit, mode, notation) for mode in shown]
    return [*lines, f"… {counted(left, 'more mode')}: .modes"] if left else lines


def _mode_line(orbit: PathwayOrbit, mode: ModeDerivation, notation: Notation) -> str:
    shown = {name: text for name, text in numbers_of(mode, notation).items() if text != MISSING}
    if shown.get("d_eff") == shown.get("d"):
        shown.pop("d_eff", None)
    said = [f"{name} = {text}" for name, text in shown.items()]
    said += [f"{mode.multiplicity} times"] if mode.multiplicity > 1 else []
    whose = orbit.short_name if len(orbit.pathways) > 1 else f"'{orbit.first.name}'"
    line = f"{orbit.strength_symbol(mode)} of {whose}: {', '.join([*said, mode.family])}"
    return cut(line, LINE)


def numbers_of(mode: ModeDerivation, notation: Notation) -> dict[str, str]:
    """Return s, d and d_eff of a mode as the terminal shows them, a dash where there is none."""
    return {name: _short_number(getattr(mode, name), notation) for name in ("s", "d", "d_eff")}


def _short_number(number: AlgebraicNumber | None, notation: Notation) -> str:
    """Return a number for a terminal: its formula if short, else a decimal."""
    if number is None:
        return MISSING
    values = notation.values
    if number.is_radical:
        text = notation.plain(number.to_sympy(notation.symbols))
        if len(text) <= SHORT or not evaluable(number, values):
            return text
    if not evaluable(number, values):
        return f"root of degree {number.degree}"
    decimal = number.scientific(values)
    if number.is_constant:
        return decimal
    return f"{decimal} at {', '.join(f'{name} = {values[name]}' for name in number.parameters)}"


def checks_text(derivation: Derivation) -> str:
    """Return how many checks are proven, disproved and undecided.

    A disproved one is no failure: it is the proof that a property does not hold.
    """
    outcomes = [step.outcome for step in derivation.steps]
    if not outcomes:
        return "every line of the derivation"
    others = {Truth.REFUTED: "disproved", Truth.UNDECIDED: "undecided"}
    rest = [f"{outcomes.count(x)} {word}" for x, word in others.items() if x in outcomes]
    counted = f"{outcomes.count(Truth.PROVEN)} of {len(outcomes)} proven"
    return ", ".join([counted, *rest])
