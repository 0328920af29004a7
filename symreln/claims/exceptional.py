r"""Exceptional sets of a derivation: where in parameter space its generic answer ends.

A joint spectrum over Q(parameters) holds for all values but those at which one of finitely many
polynomials vanishes. Two facts decide what is lost there. The joint characteristic polynomial
det(x - M - t Sigma^x) is an identity in the parameters, so that the pairs (s^2, d), counted with
multiplicity, hold at every point where the data are finite. And orthogonal projectors stay
bounded, so that on every path into such a point they have limit points, for which every proven
equation still holds. Where pairs collide the formulas therefore stay true, but the modes' spaces
are no longer unique, and a verdict on spaces may be another one, stronger or weaker; what can break
is listed with another effect.

Independence of a class's generators is no condition: they are one way to write a projector, and
no printed formula holds them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from enum import Enum
from itertools import chain, combinations
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

import sympy as sp
from flint import fmpz_mpoly

from symreln.base.records import record
from symreln.base.summaries import few
from symreln.claims.claim import Claim
from symreln.claims.pathway_orbits import mode_orbits
from symreln.document.document_model import Block, Content, Details, Items, Math, Section, Table
from symreln.document.mathtext import to_latex
from symreln.document.symbols import symbol_latex
from symreln.document.typeset import phrase, say, typeset
from symreln.document.words import NONE
from symreln.exact import domain
from symreln.exact.algebraic import AlgebraicNumber, real_roots
from symreln.exact.factoring import factors, variables
from symreln.exact.scalar import Scalar, cleared, factored, spelled
from symreln.verdict.coincidence import meeting, norm

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation, PathwayDerivation, StageDerivation
    from symreln.exact.spectrum import ModeClass
    from symreln.specs.spec import Spec

#: Rows of a table of sets, characters of a polynomial that is written out, sets on the terminal.
_ROWS, _SHORT, _NAMED = 24, 48, 4
#: Degrees of two classes, multiplied, up to which their coincidences are computed (of one class up
#: to its square), for one parameter and for more: the work grows with the power of their number.
_MOST_DEGREE = (144, 25)


class _Effect(Enum):
    """What can happen where a polynomial vanishes."""

    UNDEFINED = "the data are infinite"
    RESIDUAL = "what an earlier stage leaves has no value; the formulas hold as limits"
    NULL = "modes lose their strength: s = 0"
    JUMP = "the loss that is left jumps, because s and d vanish together"
    DEGENERATE = (
        "modes coincide in s and d; the formulas stay true, but the modes are no longer unique and "
        "the verdict may differ"
    )
    CROSSING = "modes coincide in s; where d differs, they stay unique"
    MERGED = "modes coincide in s: their singular vectors are not unique, only their span is"
    LIMIT = "a formula reads 0/0 and holds as a limit"
    COMMUTES = "the pathway's correlations commute: it has a joint eigenbasis"


#: Where every printed formula stays true as it stands.
_HARMLESS = (_Effect.DEGENERATE, _Effect.CROSSING, _Effect.MERGED)
_JUMPS = (_Effect.NULL, _Effect.JUMP, _Effect.LIMIT, _Effect.RESIDUAL)


# -- what is said ----------------------------------------------------------------------------------


@record
class _Consequence(Claim):
    """What happens on one exceptional set.

    Attributes:
        effect: What it is.
        stage: The stage concerned, or None for the data.
        pathways: Names of the pathways concerned, whose spectra are equal.
        modes: Labels of the modes concerned of the first of them, a tuple a class.
        proven: Whether it happens at every point of the set; otherwise it is only possible there.
        where: The pathways and modes in words.
    """

    effect: _Effect
    stage: int | None = None
    pathways: tuple[str, ...] = ()
    modes: tuple[tuple[str, ...], ...] = ()
    proven: bool = True
    where: str = field(default="", metadata={"prose": True})

    def values(self) -> dict[str, Any]:
        """Return the fields, and "text": what happens, where, and whether it is proven."""
        effect, text = self.effect.name.lower(), self.said([self.where])
        return {**super().values(), "effect": effect, "text": text}

    def said(self, places: Sequence[str]) -> str:
        """Return what happens at some places, "possible" where it is not proven."""
        where = ", ".join(filter(None, places))
        possible = "possible: " * (not self.proven)
        return possible + self.effect.value + (f" ({where})" if where else "")


_UNDEFINED = _Consequence(effect=_Effect.UNDEFINED)


@record
class _ExceptionalSet(Claim):
    """The zeros of one irreducible polynomial.

    Attributes:
        polynomial: Irreducible over Z, primitive, positive leading coefficient.
        consequences: What happens on it.
        roots: Its real roots in the domain, where one parameter occurs in it; else empty.
        excluded: Proof that it does not meet the domain, in words, or "".
    """

    polynomial: fmpz_mpoly
    consequences: tuple[_Consequence, ...]
    roots: tuple[AlgebraicNumber, ...] = ()
    excluded: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters that occur in it."""
        return variables(self.polynomial)

    @property
    def harmless(self) -> bool:
        """Whether every printed formula stays true on it."""
        return all(consequence.effect in _HARMLESS for consequence in self.consequences)

    @property
    def text(self) -> str:
        """The polynomial in full, as formulas of a spec are written."""
        return spelled(self.polynomial)

    def _short(self, names: Iterable[str]) -> str:
        degree = int(self.polynomial.total_degree())
        return f"a polynomial of degree {degree} in {', '.join(names)}"

    @property
    def condition(self) -> str:
        """The set as "c = 2" for a linear polynomial in one parameter, else as "polynomial = 0"."""
        if len(self.roots) == 1 and self.roots[0].scalar is not None:
            return f"{self.names[0]} = {self.roots[0].scalar}"
        short = self.text if len(self.text) <= _SHORT else self._short(self.names)
        return f"{short} = 0"

    @property
    def _happens(self) -> str:
        """All that happens on it, each effect once with everything that it concerns."""
        groups: dict[tuple[bool, _Effect], tuple[_Consequence, dict[str, None]]] = {}
        for each in self.consequences:
            _, places = groups.setdefault((each.proven, each.effect), (each, {}))
            places[each.where] = None
        return "; ".join(first.said(list(places)) for first, places in groups.values())

    def values(self) -> dict[str, Any]:
        """Return it; "breaking" says whether a printed formula can fail or improve there."""
        return {
            "polynomial": self.text,
            "parameters": self.names,
            "breaking": not self.harmless,
            "values": self.roots,
            "excluded": self.excluded or None,
            "consequences": self.consequences,
        }

    @property
    def row(self) -> tuple[Content, Content, Content]:
        """The set, its points or why it is outside, and what happens."""
        shown: Content = phrase(self._short(f"${symbol_latex(name)}$" for name in self.names))
        if len(self.text) <= _SHORT:
            shown = Math(f"{to_latex(factored(self.polynomial))} = 0")
        roots = ", ".join(
            f"${to_latex(root.to_sympy())}$"
            if root.is_radical
            else rf"$\approx {root.decimal({}, 8)[0]}$"
            for root in self.roots
        )
        middle = typeset(self.excluded) if self.excluded else phrase(roots or NONE)
        return shown, middle, typeset(self._happens)


@record
class ExceptionalSets(Claim):
    """Where the generic answer does not hold as it stands.

    Outside ``sets``, at every point of the domain, the derivation at that point has the same
    verdict or a stronger one and, pathway by pathway, the same pairs (s, d) with the same
    multiplicities, up to what ``undecided`` names.

    Attributes:
        parameters: Names of the parameters.
        domain: The declared ranges in words, "" where every real value is allowed.
        sets: Those that meet the domain, or may do so.
        outside: Those that are proven not to.
        undecided: What was not followed, in words.
        until: The step at which gates switch, and other sets follow; None where they stay.
    """

    parameters: tuple[str, ...]
    domain: str
    sets: tuple[_ExceptionalSet, ...]
    outside: tuple[_ExceptionalSet, ...]
    undecided: tuple[str, ...] = ()
    until: int | None = field(default=None, metadata={"prose": True})

    @property
    def breaking(self) -> tuple[_ExceptionalSet, ...]:
        """The sets on which a printed formula can fail or improve."""
        return tuple(item for item in self.sets if not item.harmless)

    @property
    def harmless(self) -> tuple[_ExceptionalSet, ...]:
        """The others: there modes coincide."""
        return tuple(item for item in self.sets if item.harmless)

    def lines(self) -> Iterator[str]:
        """Say in one line where the generic answer ends, and where modes coincide."""
        named = [item.condition for item in self.breaking]
        for item in self.outside:
            if not item.harmless and item.polynomial.total_degree() == 1 and len(item.names) == 1:
                (root,) = real_roots(item.polynomial)
                barred = item.excluded.removeprefix("no root with ")
                named.append(f"{item.names[0]} = {root.scalar} (excluded by {barred})")
        # Where only s coincides, modes are unique all the same.
        merging = {_Effect.DEGENERATE, _Effect.MERGED}
        together = [
            item.condition
            for item in self.harmless
            if any(c.proven and c.effect in merging for c in item.consequences)
        ]
        when = "" if self.until is None else f"up to step {self.until}: "
        where = ", ".join(self.parameters)
        barred = f", except at {few(named, _NAMED)}" if named else ""
        text = f"{when}these formulas hold for all values of {where}{barred}"
        yield f"{text}; modes coincide where {few(together, _NAMED)}" if together else text

    def says(self) -> Iterator[Block]:
        """Say it in a chapter of its own, and what happens on every set."""
        names = ", ".join(f"${to_latex(sp.Symbol(name))}$" for name in self.parameters)
        blocks: list[Block] = [
            say(
                f"The verdict, the modes and the loss hold for all real {names}"
                f"{' with {domain}' * bool(self.domain)}, outside the sets on which a formula "
                f"fails{', of which none meets this range' * (not self.breaking)}. What is stated "
                "happens everywhere on a set, except perhaps where it meets another one; what is "
                "possible can happen only on the set, and need not.",
                domain=typeset(self.domain),
            ),
            *_tables("values", self.breaking),
        ]
        coinciding: tuple[Block, ...] = (
            say(
                r"The characteristic polynomial of $M + t \Sigma^{x}$ is an identity in the "
                "parameters, so the pairs $(s, d)$ hold wherever the data are finite. Where pairs "
                "coincide, spectral projectors are bounded, so that they have limit points on "
                "every path to such a point, and the limit points satisfy every proven equation. "
                "The modes are no longer unique there. The verdict is about their spaces, and may "
                "differ. Where couplings vanish or agree at certain values, a stronger level may "
                "hold there, with the same formulas."
            ),
            *_tables("values", self.harmless),
        )
        title = "Where modes coincide: every formula stays true there"
        blocks.append(Details(summary=title, blocks=coinciding))
        if self.outside:
            title = "Sets that are proven to be outside of the declared ranges"
            tables = tuple(_tables("why it is outside", self.outside))
            blocks.append(Details(summary=title, blocks=tables))
        if self.undecided:
            blocks.append(say("Undecided, because it was not followed:"))
            blocks.append(Items(tuple(typeset(f"{text}.") for text in self.undecided)))
        title = "Exceptional values of the parameters"
        yield Section(title=title, label="sec:exceptional", blocks=tuple(blocks))


def _tables(where: str, items: Sequence[_ExceptionalSet]) -> Iterator[Table]:
    header, rows = ("set", where, "what happens"), tuple(item.row for item in items)
    if rows:
        yield Table(header=header, rows=rows, alignment="lpp", most=_ROWS)


# -- all sets of a derivation ----------------------------------------------------------------------


def exceptional_sets(derivation: Derivation) -> ExceptionalSets | None:
    """Return where the generic answer does not hold as it stands, or None without parameters."""
    spec = derivation.spec
    names = tuple(p.name for p in spec.parameters)
    if not names:
        return None
    undecided: list[str] = []
    found: dict[str, tuple[fmpz_mpoly, list[_Consequence]]] = {}
    conditions = (_of_stage(derivation, stage, undecided) for stage in derivation.stages)
    for polynomial, consequence in chain(_of_data(spec), *conditions):
        for factor in factors(polynomial):
            _, known = found.setdefault(str(factor), (factor, []))
            if _UNDEFINED not in known and consequence not in known:
                known.append(consequence)
    ranges = {p.name: p.range for p in spec.parameters}
    sets = [_placed(*each, ranges) for each in found.values()]
    return ExceptionalSets(
        parameters=names,
        domain=", ".join(text for r in ranges.values() if (text := r.text)),
        sets=tuple(item for item in sets if not item.excluded),
        outside=tuple(item for item in sets if item.excluded),
        undecided=tuple(dict.fromkeys(undecided)),
        until=derivation.until,
    )


def _of_data(spec: Spec) -> Iterator[tuple[fmpz_mpoly, _Consequence]]:
    """Yield the denominators of the data and the gains."""
    yield spec.dataset.inputs.denominator, _UNDEFINED
    yield spec.dataset.targets.denominator, _UNDEFINED
    gains = (gain for pathway in spec.pathways for gain in pathway.gate)
    for gain in dict.fromkeys(gain for gain in gains if isinstance(gain, Scalar)):
        yield gain.denominator, _UNDEFINED


def _placed(
    polynomial: fmpz_mpoly,
    consequences: list[_Consequence],
    ranges: dict[str, domain.Range],
) -> _ExceptionalSet:
    """Return a set with its real points in the domain, or the proof that it has none.

    What happens in stages after one whose result may jump is left open: such a stage learns what is
    left at the point, which need not be the limit of what is left.
    """
    first = min((c.stage or 0 for c in consequences if c.effect in _JUMPS), default=inf)
    whole = _ExceptionalSet(
        polynomial=polynomial,
        consequences=tuple(
            replace(c, proven=c.proven and (c.stage or 0) <= first) for c in consequences
        ),
    )
    if len(whole.names) > 1:
        return replace(whole, excluded=domain.never_zero(polynomial, ranges))
    name = "".join(whole.names)
    roots = real_roots(polynomial)
    inside = tuple(root for root in roots if ranges[name].contains(root.compare))
    outside = f"no root with {ranges[name].text}" if roots else "no real root"
    return replace(whole, roots=inside, excluded="" if inside else outside)


# -- conditions of one stage -----------------------------------------------------------------------


class _Condition(NamedTuple):
    """A polynomial over Z whose zeros matter, what happens at them, and to which mode classes."""

    polynomial: fmpz_mpoly
    effect: _Effect
    classes: tuple[int, ...] = ()
    proven: bool = False


def _of_stage(
    derivation: Derivation, stage: StageDerivation, undecided: list[str]
) -> Iterator[tuple[fmpz_mpoly, _Consequence]]:
    """Yield the conditions of one stage, with what they mean."""
    numbers = {pathway.number for pathway in stage.pathways}
    for orbit in mode_orbits(derivation):
        group = [pathway for pathway in orbit.pathways if pathway.number in numbers]
        if not group:
            continue
        pathway = group[0]
        conditions = [*_of_spectrum(pathway, undecided), *_of_strengths(pathway)]
        if stage is not derivation.stages[0]:
            spectrum = pathway.spectrum
            left = (spectrum.sigma_yx.denominator, spectrum.sigma_x.denominator)
            conditions += [_Condition(each, _Effect.RESIDUAL) for each in left]
        for each in conditions:
            yield each.polynomial, _consequence(stage, group, each)
    bottom = _Condition(stage.final_loss.denominator, _Effect.LIMIT)
    yield bottom.polynomial, _consequence(stage, stage.pathways, bottom)
    if not stage.verdict.level.closes:
        undecided.append(
            "whether the loss that is left jumps where features of several pathways become "
            f"dependent (stage {stage.stage})"
        )


def _consequence(
    stage: StageDerivation, group: Sequence[PathwayDerivation], condition: _Condition
) -> _Consequence:
    """Return what a condition means: of conjugates it holds of some, of which depends on where."""
    pathway, which = group[0], few([f"'{pathway.name}'" for pathway in group], 3)
    named = []
    for index in condition.classes:
        several = pathway.spectrum.classes[index].degree > 1
        named.append(f"{'some of modes' if several else 'mode'} {pathway.mode_numbers(index)}")
    return _Consequence(
        effect=condition.effect,
        stage=stage.stage,
        pathways=tuple(pathway.name for pathway in group),
        modes=tuple(
            tuple(mode.label for mode in pathway.modes if mode.class_index == index)
            for index in condition.classes
        ),
        proven=condition.proven,
        where=f"{' with '.join(named)} of {which}" if named else f"stage {stage.stage}: {which}",
    )


def _of_spectrum(pathway: PathwayDerivation, undecided: list[str]) -> Iterator[_Condition]:
    """Yield the conditions of one pathway's spectrum over Q(parameters)."""
    spectrum = pathway.spectrum
    most = _MOST_DEGREE[len(spectrum.parameters) > 1]
    for a, one in enumerate(spectrum.classes):
        if not one.is_null:
            yield _Condition(norm(one, one.eigenvalue).numerator, _Effect.NULL, (a,), proven=True)
        if one.degree > 1:
            for element in filter(None, (one.eigenvalue, one.d)):
                _, bottom = cleared(element, element[0].parameters)
                yield _Condition(bottom, _Effect.LIMIT, (a,))
    pairs = [(a, a) for a, one in enumerate(spectrum.classes) if one.degree > 1]
    for a, b in (*pairs, *combinations(range(len(spectrum.classes)), 2)):
        one, two = spectrum.classes[a], spectrum.classes[b]
        if one.is_null != two.is_null:
            continue  # a coincidence means s = 0, which is a condition of its own
        if one.degree * two.degree > most:
            conjugate = f"{one.degree} and {two.degree} conjugate modes"
            undecided.append(f"coincidences of {conjugate} (pathway '{pathway.name}')")
            continue
        for polynomial, effect, proven in _coincidences(one, two, exact=spectrum.commutes):
            yield _Condition(polynomial, effect, (a,) if a == b else (a, b), proven)
    if spectrum.commutator is not None:
        square = spectrum.commutator.relative_norm_squared.numerator
        yield _Condition(square, _Effect.COMMUTES, proven=True)


def _coincidences(
    one: ModeClass, two: ModeClass, *, exact: bool
) -> Iterator[tuple[fmpz_mpoly, _Effect, bool]]:
    """Yield where modes of two classes coincide, or conjugates of one: (factor, effect, proven).

    A coincidence in (s², d) makes λ + t d equal for every t, at t = 0 where λ is not equal for all
    parameters. Where d is one number a class, it is compared too.
    """
    most = one.degree * two.degree if exact else 0
    along = ((t, meeting(one, two, t)) for t in range(most + 1))
    t, found = next(((t, p) for t, p in along if not p.is_zero()), (0, None))
    if found is None:
        return  # λ agrees for all parameters and d is no eigenvalue: nothing can come together
    d, other = _constant(one.d), _constant(two.d)
    # The polynomial that vanishes where d coincides.
    apart = None if not exact or d is None or other is None else (d - other).numerator
    for factor in factors(found):
        both = apart is not None and (apart.is_zero() or bool((apart % factor).is_zero()))
        if not exact:
            yield factor, _Effect.MERGED, True
        elif t or both:  # with t > 0, λ is equal everywhere
            yield factor, _Effect.DEGENERATE, both or apart is not None
        else:
            yield factor, _Effect.CROSSING, True


def _constant(element: Sequence[Scalar] | None) -> Scalar | None:
    """Return what a class's conjugates have in common, where that is one number."""
    return element[0] if element and all(x.is_zero for x in element[1:]) else None


def _of_strengths(pathway: PathwayDerivation) -> Iterator[_Condition]:
    """Yield where d_eff has no value, and where s and d_eff vanish together.

    The loss that is left is the initial one less Σ m s²/(2 d_eff). Where s² vanishes and s²/d_eff
    does not, the term is lost at the point itself: the loss there is larger than its limit.
    """
    for a, one in enumerate(pathway.spectrum.classes):
        mode = next((m for m in pathway.modes if m.class_index == a), None)
        if one.is_null or mode is None or mode.d_eff is None:
            continue
        d_eff = mode.d_eff.coefficients
        _, bottom = cleared(d_eff, pathway.spectrum.parameters)
        yield _Condition(bottom, _Effect.LIMIT, (a,))
        top, below = norm(one, one.eigenvalue), norm(one, d_eff)
        # The product of the shares of all conjugates. Shares are bounded by the loss, so that where
        # it is not 0 none of them is, that of a mode which vanishes there among them.
        share = (top / below).numerator
        # In one parameter a share that the factor does not divide is not 0 at any of its roots.
        apart = len(top.parameters) == 1 or bool(share.is_constant())
        for factor in factors(top.numerator.gcd(below.numerator)):
            lost = not (share % factor).is_zero()
            if lost or one.degree > 1:
                yield _Condition(factor, _Effect.JUMP, (a,), proven=lost and apart)
