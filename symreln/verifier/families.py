r"""Stages of pathways for every size: modes, couplings, levels and losses as identities in sizes.

For every pathway and sector the certificate gives classes: f, lambda, d, the projector E and the
multiplicity m. With T = M + weight·Sigma^x it is checked that the E of one pathway are
self-adjoint, products of different ones vanish and they add up to 1; f(T) E = 0 (f monic, its
leading coefficient left out), M E = lambda(T) E, Sigma^x E = d(T) E, and tr T^i E = m Σ theta^i
over the roots of f for i below its degree, so that every root has multiplicity m. The level of the
stage is computed from all couplings, with d_eff and its inverse, as in :mod:`.stages`; where it is
closed by symmetry, ``closed_at`` has the values of every size at which no pathway acts on another,
all others of the sizes free. What the stage leaves to the next one, and the losses, are computed.

Polynomials are written for M and Sigma^x with the division by P (``s_squared``, ``d``, ``d_eff``),
and computed without it.

A part of every size stands beside one of pathways at the sizes ``at``. There both must have the
same pathways, levels, losses, and the same polynomials of s², d and d_eff, compared exactly at a
point that the digest decides; of an open stage not the level, d_eff and what it leaves.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import prod
from types import SimpleNamespace
from typing import Any, Final

from .numbers import PRIME, Element, Ratio, power, require, times, trace, value_at
from .reading import Data, Given, Reader, named
from .sizes import Dataset, Kind, Pair, Range, Sector, Space, identity
from .stages import LEVELS, Stage

OPEN: Final = "open"
_OWN, _SECOND = "k", "l"
#: Of Sigma^x in T.
MOST_WEIGHT: Final = 10**9


def check_sizes(given: Given, seed: int) -> tuple[list[str], SimpleNamespace]:
    """Check a part for every size; return what was proven, a line a stage, and what it holds."""
    v = given.take(
        "kind at symbols minimum copies items tree samples per_sample count sectors pathways "
        "stages divisors"
    )
    sizes = Range(v, seed)
    data = Dataset(v, sizes)
    targets = [sector.targets for sector in data.sectors]
    stages: list[SimpleNamespace] = []
    seen: list[int] = []
    for item in v.stages.items():
        s = item.take("pathways level sectors closed_at")
        item.require(not stages or stages[-1].level != OPEN, "missing after an open stage")
        places = [place.integer(len(data.pathways) - 1) for place in s.pathways.items()]
        specs = [data.pathways[place] for place in places]
        seen += places
        shown = zip(data.sectors, s.sectors.items(len(targets)), targets, strict=True)
        parts = [_SectorStage(data, sector, part, specs, y) for sector, part, y in shown]
        targets = [part.left for part in parts]
        order = [*LEVELS[:2], OPEN]
        level = max((part.level for part in parts), key=order.index)
        s.level.shows(level, "the weakest of its sectors")
        meetings = [m for part in parts for m in part.meetings]
        expected = _closed_at(sizes, meetings) if level == LEVELS[1] else {}
        s.closed_at.shows(expected, "all sizes at which no pathway acts on another")
        stages.append(SimpleNamespace(specs=specs, level=level, parts=parts, closed=expected))
    whole = sorted(seen) == list(range(len(data.pathways)))
    good = len({*seen}) == len(seen) and (whole or stages[-1].level == OPEN)
    v.stages.require(good, "of every pathway once")
    good = sizes.needed == set(range(len(sizes.divisors or ())))
    v.divisors.require(good, "those that occur")
    family = SimpleNamespace(data=data, stages=stages, at=v.at.value)
    lines = []
    for n, stage in enumerate(stages):
        names = ", ".join(named(spec.name) for spec in stage.specs)
        values = (f"{name} = {', '.join(map(str, at))}" for name, at in stage.closed.items())
        stronger = f" (closed at {' or '.join(values)})" if stage.closed else ""
        lines.append(f"stages[{n}]: {names}: {stage.level}{stronger}, {sizes.words(v)}")
    return lines, family


def _closed_at(sizes: Range, meetings: list[Pair]) -> dict[str, list[int]]:
    """Return the values of every size, the others free, at which no pathway acts on another."""
    entries, found = [top for pair in meetings for top in pair.numerators()], {}
    for name in sizes.minimum:
        place = sizes.names.index(name)
        few = any(key[place] for pair in meetings for key in pair.rows.count.top)
        tried = {*sizes.common_zeros(entries, name)} | ({1, 2, 3} if few else {*()})
        values = [
            n
            for n in sorted(tried)
            if sizes.allows(name, n) and all(pair.vanishes(name, n) for pair in meetings)
        ]
        found |= {name: values} if values else {}
    return found


# -- one stage in one sector -----------------------------------------------------------------------


@dataclass
class _Class:
    """One class; lambda, d and d_eff without the division by samples."""

    given: SimpleNamespace
    f: Element
    eigenvalue: Element
    d: Element
    d_eff: Element | None
    inverse: Element | None
    multiplicity: Ratio
    weight: int
    projector: Pair
    powers: list[Pair] = field(default_factory=list)

    @property
    def degree(self) -> int:
        return len(self.f) - 1

    @property
    def null(self) -> bool:
        return not any(self.eigenvalue)

    @property
    def modes(self) -> Any:
        return self.f, self.weight, self.eigenvalue, self.d

    def alike(self, other: _Class) -> bool:
        shown = self.modes, self.d_eff, self.multiplicity
        return shown == (other.modes, other.d_eff, other.multiplicity)


@dataclass
class _Learner:
    spec: Any
    features: Pair
    drive: Pair
    classes: list[_Class] = field(default_factory=list)

    def combined(self, coefficients: Element, a: int, shift: int = 0) -> Pair:
        """Return Σ c_i T^{i + shift} E."""
        total = self.classes[a].projector.times(0)
        for exponent, value in enumerate(coefficients):
            if value:
                total = total + self.classes[a].powers[exponent + shift].times(value)
        return total


def _within(kind: Kind, groups: list[str]) -> bool:
    return kind.group in groups or (kind.tag == _OWN and f"{kind.group}:own" in groups)


def _written(pair: Pair, spec: Any) -> Pair:
    return pair.masked(rows=lambda kind: _within(kind, spec.outputs))


class _SectorStage:
    """One stage in one sector, checked: its level, what it leaves, what single pathways do."""

    def __init__(
        self, data: Dataset, sector: Sector, given: Given, specs: list[Any], targets: Pair
    ) -> None:
        v = given.take("level initial_loss final_loss pathways")
        self.data, self.given, self.sector = data, given, sector
        self.slots: list[_Learner | None] = []
        self.meetings: list[Pair] = []
        twice = data.samples * 2
        self.initial = data.sizes.ratio(v.initial_loss)
        good = (targets.adjoint() @ targets).trace() == self.initial * twice
        v.initial_loss.require(good, "|Y|²/2P")
        self.commutes = True
        for spec, slot in zip(specs, v.pathways.items(len(specs)), strict=True):
            item = self._learner(spec, targets)
            self.slots.append(item)
            if item is None:
                slot.require(not slot.there, "null, because the pathway has no input here")
            else:
                self.commutes = self._classes(item, slot) and self.commutes
        self.learners = [item for item in self.slots if item is not None]
        closed = self.commutes and v.level.value != OPEN
        good = all(
            (x is not None) == (closed and not c.null)
            for item in self.learners
            for c in item.classes
            for x in (c.d_eff, c.inverse)
        )
        needed = "d_eff of every class other than null where the stage closes"
        v.pathways.require(good, needed)
        self.level, self.left, self.final = OPEN, targets, None
        if not closed:
            v.level.shows(OPEN)
            v.final_loss.shows(None, "null in an open stage")
            return
        self.level = self._closes()
        v.level.shows(self.level, "the level of its couplings")
        self.left = self._leaves(targets)
        self.final = data.sizes.ratio(v.final_loss)
        good = (self.left.adjoint() @ self.left).trace() == self.final * twice
        v.final_loss.require(good, "what is left of |Y|²/2P")

    def _learner(self, spec: Any, targets: Pair) -> _Learner | None:
        inputs = self.sector.inputs
        if spec.each:
            inputs, targets = inputs.refined(_OWN), targets.refined(_OWN)
        own = [n for n, kind in enumerate(inputs.rows.kinds) if _within(kind, spec.inputs)]
        if not own:
            return None
        features = inputs.rows_only(own).masked(
            columns=lambda kind: spec.gate[kind.base][0 if kind.tag == _OWN else 1]
        )
        return _Learner(spec, features, _written(targets @ features.adjoint(), spec))

    def _class(self, given: Given, space: Space) -> _Class:
        v = given.take("minpoly weight s_squared d d_eff inverse_d_eff multiplicity projector")
        sizes, p = self.data.sizes, self.data.samples
        degree, one = len(v.minpoly.items()), sizes.constant(1)
        weight = v.weight.integer(MOST_WEIGHT if degree > 1 else 0)

        def read(field: Given, unit: Ratio) -> Element:
            return [x * unit for x in sizes.ratios(field, degree)]

        return _Class(
            given=v,
            f=[*read(v.minpoly, one), one],
            eigenvalue=read(v.s_squared, p * p),
            d=read(v.d, p),
            d_eff=read(v.d_eff, p) if v.d_eff.there else None,
            inverse=read(v.inverse_d_eff, self.data.per_sample) if v.inverse_d_eff.there else None,
            multiplicity=sizes.ratio(v.multiplicity),
            weight=weight,
            projector=self.data.pair(v.projector, space, space),
        )

    def _classes(self, item: _Learner, given: Given) -> bool:
        """Read and check a pathway's classes; return whether there are any to be had."""
        b, m = item.features @ item.features.adjoint(), item.drive.adjoint() @ item.drive
        commutes = not m @ b - b @ m
        given.require(commutes == given.there, "classes where the correlations commute")
        if not commutes:
            return False
        item.classes = [self._class(c, m.rows) for c in given.items()]
        total = identity(m.rows)
        for a, one in enumerate(item.classes):
            self._check_class(item, a, m, b)
            total = total - one.projector
            for other in item.classes[:a]:
                given.require(not one.projector @ other.projector, "orthogonal projectors")
                given.require(one.modes != other.modes, "different classes")
        given.require(not total, "projectors that add up to 1")
        return True

    def _check_class(self, item: _Learner, a: int, m: Pair, b: Pair) -> None:
        c = item.classes[a]
        given, operator, one = c.given, m + b.times(c.weight), self.data.sizes.constant(1)
        c.powers = [c.projector]
        while len(c.powers) < max(2, 2 * c.degree):
            c.powers.append(operator @ c.powers[-1])
        given.minpoly.require(not item.combined(c.f, a), "f(T) E = 0")
        good = not m @ c.projector - item.combined(c.eigenvalue, a)
        given.s_squared.require(good, "M E = s² E")
        given.d.require(not b @ c.projector - item.combined(c.d, a), "Sigma^x E = d E")
        given.projector.require(not c.projector.adjoint() - c.projector, "self-adjoint")
        good = all(
            c.powers[i].trace() == c.multiplicity * trace(c.f, times(c.f, [one], power(one, i)))
            for i in range(c.degree)
        )
        given.multiplicity.require(good and c.multiplicity, "that of every root")
        if not c.null:
            self.data.sizes.require_nonzero(_norm(c.f, c.eigenvalue), given.s_squared)

    # -- couplings --

    def _actions(self, p: _Learner, q: _Learner, i: int, a: int) -> list[Pair]:
        """Return S_k, what class i of all pathways q does to class a of p; [] where nothing.

        What a single pathway does goes to ``meetings``.
        """
        totals: list[Pair] = []
        for theirs, mine, specials, summed in _meetings(p, q):
            cross, projector = theirs @ mine.adjoint(), p.classes[a].projector
            if summed:
                projector = projector.refined(summed)
            single = []
            for k in range(q.classes[i].degree):
                act = q.drive @ q.classes[i].powers[k]
                if _SECOND in specials:
                    act = act.renamed(_OWN, _SECOND)
                act = act.refined(_OWN) if _OWN in specials else act
                single.append(_written(act, p.spec) @ cross @ projector)
            if any(single):
                self.meetings += single
                done = [s.summed(summed) if summed else s for s in single]
                totals = [x + y for x, y in zip(totals, done, strict=True)] if totals else done
        return totals

    def _closes(self) -> str:
        """Check every d_eff against all couplings and return the level; see :meth:`_actions`."""
        learners, shown = self.learners, self.given["pathways"]
        nodes = [(p, a) for p, item in enumerate(learners) for a in range(len(item.classes))]
        known = {(p, a): learners[p].classes[a] for p, a in nodes}
        acts = {
            (source, target): found
            for source, target in product(nodes, nodes)
            if not known[source].null
            and (
                found := self._actions(
                    learners[target[0]], learners[source[0]], source[1], target[1]
                )
            )
        }
        group = {node: {node} for node in nodes}
        for source, target in acts:
            if not known[target].null and group[source] is not group[target]:
                for node in (merged := group[source] | group[target]):
                    group[node] = merged
        for node in nodes:
            c, item = known[node], learners[node[0]]
            good = all(known[other].alike(c) for other in group[node])
            shown.require(good, "equal in all modes that couple")
            zero = self.data.sizes.constant(0)
            gamma = [] if c.null else [x - y for x, y in zip(c.d_eff or [], c.d, strict=True)]
            sources = {
                id(group[source]): group[source] for source, target in acts if target == node
            }
            if not any(members is group[node] for members in sources.values()):
                c.given.d_eff.require(not any(gamma), "d where nothing couples")
            for members in sources.values():
                sums: list[Pair] = []
                for (source, target), found in acts.items():
                    if target == node and source in members:
                        sums = [x + y for x, y in zip(sums, found, strict=True)] if sums else found
                factors = gamma if members is group[node] else [zero] * c.degree
                for k, total in enumerate(sums):
                    shift = k if factors is gamma else 0
                    expected = item.drive @ item.combined(factors, node[1], shift)
                    c.given.d_eff.require(not total - expected, "d + all couplings")
        return LEVELS[1] if acts else LEVELS[0]

    def _leaves(self, targets: Pair) -> Pair:
        """Return what the stage leaves: Y - Σ A H F with H = Σ E (1/d_eff)(T)."""
        for item in self.learners:
            total, one = item.drive.times(0), self.data.sizes.constant(1)
            for a, c in enumerate(item.classes):
                if c.d_eff is not None and c.inverse is not None:
                    both = times(c.f, c.d_eff, c.inverse)
                    good = both[0] == one and not any(both[1:])
                    c.given.inverse_d_eff.require(good, "1/d_eff")
                    total = total + item.drive @ item.combined(c.inverse, a)
            outputs = total @ item.features
            targets = targets - (outputs.summed(_OWN) if item.spec.each else outputs)
        return targets


def _norm(f: list[Any], a: list[Any]) -> Any:
    """Return the product of a over the roots of f, by Newton's identities."""
    one = f[-1] / f[-1]
    powers, symmetric = [one], [one]
    work = times(f, [one], [one])
    for k in range(1, len(f)):
        work = times(f, work, a)
        powers.append(trace(f, work))
        total = one * 0
        for i in range(1, k + 1):
            total = total + symmetric[k - i] * powers[i] * (-1) ** (i - 1)
        symmetric.append(total / k)
    return symmetric[-1]


def _meetings(p: _Learner, q: _Learner) -> list[tuple[Pair, Pair, tuple[str, ...], str]]:
    """Return (features of q, of p, specials that q's drive takes on, the one summed over)."""
    mine, theirs = p.features, q.features
    if not q.spec.each:
        if p is q:
            return []
        return (
            [(theirs.refined(_OWN), mine, (_OWN,), "")] if p.spec.each else [(theirs, mine, (), "")]
        )
    if not p.spec.each:
        return [(theirs, mine.refined(_OWN), (), _OWN)]
    other = theirs.renamed(_OWN, _SECOND).refined(_OWN)
    found = [(other, mine.refined(_SECOND), (_SECOND, _OWN), _SECOND)]
    return found if p is q else [*found, (theirs, mine, (), "")]


# -- beside the sizes at hand ----------------------------------------------------------------------


def require_same(data: Data, stages: list[Stage], family: Any, path: str) -> None:
    """Refuse a part for every size that says something else of the sizes at hand."""
    here, where = _AtSizes(data, family), f"{path}.at"
    require(here.proven, where, "sizes at which no divisor is 0: something is claimed there")
    same = here.number(family.data.samples) == data.samples
    require(same, where, f"sizes with {data.samples} samples")
    require(len(family.stages) <= len(stages), path, "of no more stages than the first part")
    for n, (general, stage) in enumerate(zip(family.stages, stages, strict=False)):
        where, count = f"{path}.stages[{n}]", here.number(family.data.count)
        places = _places(general.specs, [p.name for p in stage.paths], count)
        require(places is not None, where, "of the first part's pathways")
        closes = general.level != OPEN
        if closes:
            closed = any(family.at[name] in values for name, values in general.closed.items())
            level = LEVELS[0] if closed else general.level
            require(stage.level == level, where, f"of the first part's level, {stage.level}")
        losses = [("initial", stage.initial_loss), *([("final", stage.final_loss)] * closes)]
        for name, loss in losses:
            found = sum(
                here.number(getattr(part, name)) * m for part, m in here.each(general.parts)
            )
            same = found == data.exactly_at_point(loss)
            require(same, where, f"of the first part's {name} loss")
        for p, place in zip(stage.paths, places or [], strict=True):
            if all(part.commutes for part in general.parts):
                same = p.commutes and here.has_modes(general, place, p, closes=closes)
                require(same, where, f"of the modes of {named(p.name)} in the first part")


class _AtSizes:
    """Numbers of a family at the sizes at hand, exact, at a point of the parameters.

    The point, and z and t of :meth:`has_modes`, are digits of the certificate's digest, which
    nobody can choose: where polynomials differ, their values there do.
    """

    def __init__(self, data: Data, family: Any) -> None:
        self.data, self.sizes = data, copy.copy(family.data.sizes)
        at, sizes, self.per_sample = family.at, self.sizes, family.data.per_sample
        values = {**dict(zip(data.names, data.point, strict=True)), **at}
        most = int(at.get(sizes.items, sizes.items)).bit_length() - 1 if sizes.copies else 1
        copied = ({**values, sizes.copies: 2**n} for n in range(most))
        self.points = [[known.get(name, 1) for name in sizes.names] for known in copied]
        sizes.point = self.points[0]
        self.proven = all(value_at(p, x) for x in self.points for p in sizes.divisors or ())
        self.z, self.t = (data.seed >> shift & PRIME for shift in (64, 128))

    def number(self, value: Ratio) -> Fraction:
        """Return a number there."""
        return self.sizes.exactly_at_point(value)

    def each(self, parts: list[Any]) -> Iterator[tuple[Any, Fraction]]:
        """Go through every kind of copies of every sector; yield it with how many there are."""
        for part in parts:
            single = part.sector.multiplicity == self.sizes.constant(1)
            for point in self.points[:1] if single else self.points:
                self.sizes.point = point
                yield part, self.number(part.sector.multiplicity)
        self.sizes.point = self.points[0]

    def has_modes(self, stage: Any, place: int, pathway: Any, *, closes: bool) -> bool:
        """Whether a pathway has the same s² and d, and d_eff where the stage closes."""
        scale, left, found = self.number(self.per_sample), len(pathway.key[0]), Fraction(1)
        for part, many in self.each(stage.parts):
            item = part.slots[place]
            for c in item.classes if item else ():
                number = many * self.number(c.multiplicity)
                left -= number * c.degree
                if left < 0 or number.denominator > 1:
                    return False
                found *= self._norm(self.sizes, c, scale, closes=closes) ** int(number)
        wanted = (self._norm(self.data, c, 1, closes=closes) ** c.size for c in pathway.classes)
        return not left and found == prod(wanted)

    def _norm(self, reader: Reader, c: Any, scale: Fraction | int, *, closes: bool) -> Fraction:
        """Return the norm of z - λ - t d - t² d_eff of a class, at the point.

        Eigenvalues of a family are divided by samples: ``scale`` is one over them.
        """
        total = [Fraction(self.z), *[Fraction(0)] * (len(c.f) - 2)]
        weighted = [(1, scale * scale, c.eigenvalue), (self.t, scale, c.d)]
        if closes and not c.null:
            weighted.append((self.t**2, scale, c.d_eff))
        for weight, unit, element in weighted:
            for n, value in enumerate(element):
                total[n] -= weight * unit * reader.exactly_at_point(value)
        return _norm([reader.exactly_at_point(x) for x in c.f], total)


def _places(specs: list[Any], names: list[str], count: Fraction) -> list[int] | None:
    """Return the place in ``specs`` of every named pathway, None where they are others."""
    found = []
    for name in names:
        fits = [n for n, spec in enumerate(specs) if re.fullmatch(_pattern(spec), name)]
        if len(fits) != 1:
            return None
        found += fits
    wanted = [count if spec.each else 1 for spec in specs]
    return found if [found.count(n) for n in range(len(specs))] == wanted else None


def _pattern(spec: Any) -> str:
    fixed = [re.escape(part) for part in re.split(r"\{[^}]*\}", spec.name)]
    return "(.+)".join(fixed) if spec.each else re.escape(spec.name)
