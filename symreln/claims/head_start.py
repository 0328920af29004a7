r"""Head start: where modes of a later stage start in effect, because earlier ones still learn.

Stage by stage: what its pathways see of earlier modes and grow into meanwhile is said by
:mod:`symreln.claims.head_growth`; from where every mode starts then, by
:mod:`symreln.claims.head_copies`. One formula, in float64 and in balls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from symreln.base.records import record
from symreln.base.summaries import ByName, few
from symreln.claims.head_copies import ABOVE, LATE, OUTRUN, Columns, Copies, in_time, shared_out
from symreln.claims.head_growth import Drive, Earlier, Seen
from symreln.claims.number_systems import Numbers, Vectors, in_floats
from symreln.claims.starts import start_of, starts_of
from symreln.laws.choice import started
from symreln.laws.sigmoid_drive import evaluated_factor, letters, sigmoid_factor

if TYPE_CHECKING:
    from fractions import Fraction

    from symreln.claims.derivation import Derivation, Driver, ModeDerivation, PathwayDerivation
    from symreln.laws.law import Law, Start

#: The closed forms of a mode, or why it has none.
_Found = tuple[Copies, ...] | str
#: Why no mode of a stage has a closed form though nothing is wrong with the mode.
_AFTER = "a mode of an earlier stage has no closed form"


@record(eq=False)
class ModeLaws(ByName[tuple[Copies, ...]]):
    """The closed forms of modes that learn, by label: one for copies that start alike.

    Attributes:
        found: The closed forms.
        outrun: Why modes of later stages have none although their verdict says that they close.
    """

    found: Mapping[str, tuple[Copies, ...]]
    outrun: Mapping[str, str] = field(default_factory=dict)


def without_form(outrun: Mapping[str, str]) -> str:
    """Say which modes have no closed form in time, and why.

    Args:
        outrun: Why, by label; not empty.
    """
    labels: dict[str, list[str]] = {}
    for label, why in outrun.items():
        labels.setdefault(why, []).append(label)
    which = "; of ".join(f"{few(names)}: {why}" for why, names in labels.items())
    return f"no closed form in time of {which}. The reduction is integrated from t = 0"


def mode_laws(
    derivation: Derivation,
    numbers: Numbers | None = None,
    start: Start | None = None,
    *,
    flow: bool = False,
    factors: Mapping[str, Fraction] | None = None,
) -> ModeLaws:
    """Return the closed forms of all modes that learn, by label: as they are predicted.

    Of those that do not close, lack a value of a parameter, or are learned before what drives them,
    there is none, nor of later stages then.

    Args:
        derivation: Whose modes are closed.
        numbers: The number system; float64 by default.
        start: Where modes start; by default where they are expected to.
        flow: Whether steps are taken as infinitely small.
        factors: By how many times modes start stronger, by label, where they do; by default those
            of the early phase, from a given start none.

    Raises:
        NotSupportedError: There is no expected start, and none is given.
        LimitReachedError: Balls of this precision do not tell vectors of modes apart, or gradient
            descent diverges.
    """
    system, begin = numbers or in_floats(derivation.spec.values), start or start_of(derivation)
    if factors is None:
        factors = {} if start is not None else derivation.ask(starts_of).factors
    begin = replace(
        begin,
        strength0=system.ops.number(begin.strength0),
        imbalance=system.ops.number(begin.imbalance),
    )
    modes = _Modes(derivation=derivation, numbers=system, start=begin, flow=flow, factors=factors)
    found: dict[str, _Found] = {}
    earlier: list[Earlier] = []
    for stage in derivation.stages:
        laws = [modes.laws(pathway, earlier) for pathway in stage.pathways]
        for each in laws:
            found |= each
        learning = [m.label for p in stage.pathways for m in p.modes if not m.is_null]
        if stage is derivation.stages[-1] or any(
            isinstance(found.get(label, ""), str) for label in learning
        ):
            break  # what later stages see meanwhile is not known
        for pathway, each in zip(stage.pathways, laws, strict=True):
            earlier += modes.sources(pathway, each)
    outrun = {label: each for label, each in found.items() if isinstance(each, str)}
    later = [mode.label for pathway in derivation.pathways for mode in modes.known(pathway)]
    outrun |= {label: _AFTER for label in later if label not in found}
    return ModeLaws(
        found={label: each for label, each in found.items() if not isinstance(each, str)},
        outrun=outrun,
    )


def are_followed(derivation: Derivation, laws: Mapping[str, Any]) -> bool:
    """Whether the closed forms are those of all modes that learn."""
    return all(m.is_null or m.label in laws for p in derivation.pathways for m in p.modes)


def copy_turns(laws: Mapping[str, tuple[Copies, ...]]) -> dict[str, np.ndarray]:
    """Return the directions of copies that start apart, side by side, by label of their mode."""
    return {
        label: np.hstack([each.turn for each in copies if each.turn is not None])
        for label, copies in laws.items()
        if len(copies) > 1
    }


@record(eq=False)
class _Modes:
    """The modes of a derivation in numbers.

    Attributes:
        derivation: Whose they are.
        numbers: The number system.
        start: Where they start while nothing earlier drives them.
        flow: Whether steps are infinitely small.
        factors: By how many times modes start stronger, by label.
        done: Modes of pathways, each with its law, by the pathway's effective dataset.
    """

    derivation: Derivation
    numbers: Numbers
    start: Start
    flow: bool
    factors: Mapping[str, Fraction]
    done: dict[int, list[tuple[ModeDerivation, _Found]]] = field(default_factory=dict)

    @property
    def tau(self) -> Any:
        """The time constant."""
        return self.numbers.ops.number(self.derivation.tau or 1)

    @property
    def logarithm(self) -> Callable[[Any], Any]:
        """The logarithm of 1 + x, by which weights grow in a step; x where steps are small."""
        return (lambda growth: growth) if self.flow else self.numbers.ops.log1p

    def known(self, pathway: PathwayDerivation) -> list[ModeDerivation]:
        """Return the modes of a pathway that learn and close, and whose parameters have values."""
        values = self.derivation.spec.values.keys()
        return [
            mode
            for mode in pathway.modes
            if not mode.is_null
            and mode.d_eff is not None
            and {*mode.s.parameters, *mode.d_eff.parameters} <= values
        ]

    def begin(self, mode: ModeDerivation) -> Start:
        """Return where a mode starts while nothing earlier drives it."""
        if mode.label not in self.factors:
            return self.start
        factor = self.numbers.ops.number(self.factors[mode.label])
        return replace(
            self.start,
            strength0=self.start.strength0 * factor,
            imbalance=self.start.imbalance * factor,
        )

    def law(self, mode: ModeDerivation, start: Start) -> Law:
        """Return the law of a mode from some start."""
        assert mode.d_eff is not None  # of a mode that closes
        s, d = map(self.numbers.number, (mode.s, mode.d_eff))
        ops = self.numbers.ops
        law = started(self.derivation.known, s, d, self.tau, ops=ops, start=start)
        return law if self.flow else law.in_steps()

    def laws(self, pathway: PathwayDerivation, earlier: Sequence[Earlier]) -> dict[str, _Found]:
        """Return the laws of a pathway's modes, driven by those of earlier stages."""
        modes, image = self.known(pathway), pathway.effective.image
        same = [] if image is None else self.done.get(id(image.original), [])
        if same and all(self._alike(m, s) for m, (s, _) in zip(modes, same, strict=True)):
            return {m.label: law for m, (_, law) in zip(modes, same, strict=True)}
        found = self._laws(pathway, modes, earlier)
        self.done[id(pathway.effective)] = [(mode, found[mode.label]) for mode in modes]
        return found

    def _alike(self, one: ModeDerivation, other: ModeDerivation) -> bool:
        """Whether modes of pathways that are alike have one law, no vectors being asked for it."""
        driver, its = (self.derivation.drivers[mode.label] for mode in (one, other))
        mine, theirs = (self.factors.get(mode.label) for mode in (one, other))
        return not isinstance(driver, str) and driver is its and mine == theirs

    def _laws(
        self, pathway: PathwayDerivation, modes: list[ModeDerivation], earlier: Sequence[Earlier]
    ) -> dict[str, _Found]:
        """Return the laws of some modes of a pathway."""
        found: dict[str, _Found] = {mode.label: (self._plain(mode),) for mode in modes}
        planar = self._planar(modes, earlier)
        if planar is not None:
            found |= planar
            modes = [m for m in modes if isinstance(self.derivation.drivers[m.label], str)]
        seen = Seen.of(self.numbers, pathway, earlier) if earlier and modes else None
        if seen is None or not seen.drives:
            return found
        assert self.derivation.known.plain.holds  # specs of later stages are read for this alone
        vectors, columns = self.numbers.vectors(pathway), []
        for mode in modes:
            plain = self._plain(mode)
            if not plain.law.s > 0:
                continue  # it vanishes at the declared values
            own = seen.vectors(vectors[mode.label], plain.law.s)
            reached = seen.reaching(own)
            if reached and not plain.law.strength0 < plain.law.plateau * LATE:
                found[mode.label] = ABOVE
            elif any(each.earlier.half_time > 0 for each in reached):
                columns.append(self._columns(mode, plain, own, seen, reached))
        return found | shared_out(columns)

    def _planar(
        self, modes: Sequence[ModeDerivation], earlier: Sequence[Earlier]
    ) -> dict[str, _Found] | None:
        """Return the laws of modes of a pathway that are driven in planes, by their formulas.

        None where one of these does not hold at the declared values. All that drives the pathway
        keeps each of the planes and what is across, by the identities of
        :mod:`symreln.claims.head_formulas`: these modes share no units.
        """
        found: dict[str, _Found] = {}
        for mode in modes:
            driver, plain = self.derivation.drivers[mode.label], self._plain(mode)
            if driver is None or isinstance(driver, str) or not plain.law.s > 0:
                continue
            sources = [each for each in earlier if each.label == driver.mode.label]
            if len(sources) != 1:
                return None
            copies = self._in_plane(mode, plain, driver, sources[0])
            if copies is None:
                return None
            found[mode.label] = copies
        return found

    def _in_plane(
        self, mode: ModeDerivation, plain: Copies, driver: Driver, source: Earlier
    ) -> _Found | None:
        """Return the law of a mode that one earlier mode drives in a plane; None without one."""
        ops = replace(self.numbers.ops, log1p=self.logarithm)
        law, last = plain.law, source.half_time
        assert mode.s.scalar is not None  # else it were conjugate
        squared, across, own = (
            each.substitute(self.derivation.spec.values).to_fraction()
            for each in (driver.squared, driver.across, mode.s.scalar)
        )
        if squared == across == own:
            return (plain,)  # what drives it is 0 at the declared values
        if squared == 0 or not (self.flow or squared < (self.derivation.tau or 1) ** 2):
            return None
        if not law.strength0 < law.plateau * LATE:
            return ABOVE
        if not last > 0:
            return (plain,)
        r = ops.sqrt(ops.number(squared))
        overlap, begin = ops.number(across) / (r * law.s), self.begin(mode)
        chi = sigmoid_factor(
            ops, *letters(r, law.s, overlap, source.s, lambda x: ops.sqrt(ops.positive(x)))
        )
        at_once, start = (
            begin.strength0 * evaluated_factor(ops, law.s, r, overlap, last, self.tau, each)
            for each in (ops.number(1), chi)
        )
        law = self.law(mode, replace(begin, strength0=start))
        copies = replace(
            plain,
            law=law,
            reached_by=((source.label, last),),
            learned=ops.over(law.strength(last), law.plateau),
            at_once=at_once,
        )
        return (copies,) if in_time(copies) else OUTRUN

    def _plain(self, mode: ModeDerivation) -> Copies:
        """Return a mode that nothing earlier drives."""
        start = self.begin(mode)
        law = self.law(mode, start)
        return Copies(law=law, start=start.strength0, count=mode.multiplicity)

    def sources(self, pathway: PathwayDerivation, laws: Mapping[str, _Found]) -> Iterator[Earlier]:
        """Yield the modes of a pathway as those that later stages see."""
        vectors = self.numbers.vectors(pathway)
        for label, groups in laws.items():
            assert not isinstance(groups, str)  # a stage with such a mode is the last one
            for copies in groups:
                law, v = copies.law, vectors[label]
                if not law.s > 0:
                    continue  # it vanishes at the declared values
                if copies.directions is not None:
                    v = self.numbers.times(v, copies.directions)
                yield Earlier(
                    label=label,
                    half_time=law.half_time if law.strength0 < law.plateau / 2 else 0,
                    pathway=pathway,
                    s=law.s,
                    inputs=v,
                    scaled=v.transpose() * (law.plateau / law.s),
                )

    def _columns(
        self,
        mode: ModeDerivation,
        plain: Copies,
        vectors: Vectors,
        seen: Seen,
        reached: Sequence[Drive],
    ) -> Columns:
        """Return what a mode has grown into while these earlier ones drove it."""
        phases, alone = seen.phases(reached), self.logarithm(plain.law.s / self.tau)
        whole = seen.grown(vectors, phases, self.tau, alone, flow=self.flow)
        begin = self.begin(mode)

        def starting(factor: Any) -> Law:
            return self.law(mode, replace(begin, strength0=begin.strength0 * factor))

        return Columns(
            numbers=self.numbers,
            label=mode.label,
            plain=plain,
            starting=starting,
            reached_by=tuple((each.label, each.half_time) for p in phases for each in p.ends),
            last=sum(phase.steps for phase in phases),
            whole=whole,
            growing=whole,
        )
