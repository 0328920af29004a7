r"""Head start: where modes of a later stage start in effect, because earlier ones still learn.

While its weights are small a pathway p of a later stage grows linearly in what it sees,

.. math:: E_p(t) = \Sigma^{yx}(p) + \sum_\alpha D_\alpha (1 - \pi_\alpha(t)/h_\alpha), \qquad
          D_\alpha = h_\alpha\, O_p u_\alpha v_\alpha^T \Sigma^x(j, p),

the sum over the modes of pathways j of earlier stages, h their plateaus. To leading order each adds
its D until its half-time and nothing afterwards, since
:math:`\int_0^\infty (1 - \pi_\alpha/h_\alpha)\,dt = t_\alpha`. Between half-times E_p is E_k for
:math:`\Delta_k` steps, each of which multiplies the amplitudes (a, b) of inputs and outputs by
:math:`1 + F_k/\tau`,

.. math:: F_k = \begin{pmatrix} 0 & E_k^T \\ E_k & 0 \end{pmatrix}, \qquad
          \Phi = \prod_k (1 + F_k/\tau)^{\Delta_k},

later phases to the left. A mode (s, u, v) that were alone
would have grown by 1 + s/τ a step. With q = (v, u)/√2 its strength is, from the last half-time
:math:`t_m` on, that of one that started from

.. math:: \tilde\pi_0 = \pi_0\, (1 + s/\tau)^{-2 t_m}\, q^T \Phi \Phi^T q.

Copies of a mode have a matrix :math:`Q^T \Phi \Phi^T Q` in the place of the number; its
eigenvectors are the copies that evolve apart. One formula, in float64 and in balls.

What earlier modes drive may turn modes of a pathway into each other: then their columns
:math:`b = (1 + s/\tau)^{-t_m} \Phi^T q`, which say how hidden units are shared out, are not
orthogonal. Once a mode is learned, what another has along its column dies out: the units are taken.
The mode grows from what it has across the columns of all modes that are learned before,

.. math:: \tilde\pi_0 = \pi_0\, |b_\perp|^2,

the pivots of the Gram matrix of all columns, in the order of their half-times; where these are
orthogonal it is the formula above. It is the limit of far apart half-times of the solution of two
balanced layers, white inputs, for the matrix P of a pathway's strengths,
:math:`P^{-1} = H^{-1} + e^{-St} (P_0^{-1} - H^{-1}) e^{-St}`, S and H diagonal.

All this is of weights that are small until :math:`t_m`: a mode whose own half-time would come
before has learned what earlier ones are yet to learn, and no formula says what becomes of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import arb, arb_mat

from symreln.claims.probes import mode_bases
from symreln.errors import LimitReachedError
from symreln.exact.numeric import ball_modes, balls
from symreln.laws.choice import expected_start, started
from symreln.laws.ops import ARB, NUMPY

if TYPE_CHECKING:
    from fractions import Fraction

    from symreln.claims.derivation import Derivation, ModeDerivation, PathwayDerivation
    from symreln.exact.algebraic import AlgebraicNumber
    from symreln.exact.matrix import ExactMatrix
    from symreln.laws.law import Law, Start
    from symreln.laws.ops import Ops

#: A matrix of floats or of balls.
_Matrix = Any
#: U and V of a mode, one column a copy.
_Vectors = tuple[_Matrix, _Matrix]

#: Why modes of later stages have no closed form where their verdict says that they close.
OUTRUN = (
    "a mode of a later stage is learned before what drives it meanwhile, or shares its units with "
    "one that is: no closed form holds, and the reduction is integrated"
)
NO_FACTORS: Mapping[str, float] = MappingProxyType({})

#: Terms of the binomial series after which it is given up.
_MOST_TERMS = 20_000
#: Relative distance up to which copies start alike, and half-times are one.
_ALIKE = 1e-9
#: Ratio of terms from which on they are taken to fall.
_FALLING = 0.999
#: Share of the plateau from which on a mode is learned before what drives it.
_LATE = 0.5
#: Share of a mode's columns, squared, of which float64 knows nothing.
_OWN = 1e-24


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """A number system for modes and their vectors, at the declared values.

    Attributes:
        ops: The number system.
        number: Returns s or d of a mode.
        vectors: Returns U and V of every mode of a pathway that learns, by label.
        matrix: Returns an exact matrix.
        times: Product of two matrices.
        given: Returns a matrix of floats as one of the system.
        size: Returns the largest entry of a matrix; with ``norm`` a bound of its largest singular
            value.
        within: Returns a matrix whose entries are known up to an error.
        stacked: Returns two matrices of as many columns as one above the other.
        least: Share of its drive that a matrix has, or it is 0 up to rounding.
        left_out: Share of a sum that the terms left out may be.
    """

    ops: Ops
    number: Callable[[AlgebraicNumber], Any]
    vectors: Callable[[PathwayDerivation], dict[str, _Vectors]]
    matrix: Callable[[ExactMatrix], _Matrix]
    times: Callable[[_Matrix, _Matrix], _Matrix]
    given: Callable[[np.ndarray], _Matrix]
    size: Callable[..., float]
    within: Callable[[_Matrix, float], _Matrix]
    stacked: Callable[[_Matrix, _Matrix], _Matrix]
    least: float
    left_out: float


def in_floats(values: Mapping[str, Fraction]) -> Numbers:
    """Return float64 at some values of the parameters."""
    return Numbers(
        ops=NUMPY,
        number=lambda number: np.float64(number.to_float(values)),
        vectors=mode_bases,
        matrix=lambda matrix: matrix.substitute(values).to_numpy(),
        times=np.matmul,
        given=lambda matrix: matrix,
        size=_size,
        within=lambda matrix, error: matrix,
        stacked=lambda above, below: np.vstack([above, below]),
        least=1e-12,
        left_out=2.0**-60,
    )


def in_balls(values: Mapping[str, Fraction], bits: int) -> Numbers:
    """Return balls of a working precision, which holds while they are used."""

    def number(exact: AlgebraicNumber) -> arb:
        # What vanishes must be exactly 0 to select its case: no ball gets sharp enough.
        return arb(0) if exact.sign(values) == 0 else exact.ball(values, bits)

    def vectors(pathway: PathwayDerivation) -> dict[str, _Vectors]:
        found = ball_modes(pathway.spectrum, values, bits)
        modes = zip(pathway.modes, found, strict=True)
        return {mode.label: each for mode, each in modes if not mode.is_null}

    return Numbers(
        ops=ARB,
        number=number,
        vectors=vectors,
        matrix=lambda matrix: balls(matrix.substitute(values)),
        times=lambda one, other: one * other,
        given=lambda matrix: arb_mat(matrix.tolist()),
        size=lambda matrix, **kind: _size(_bounds(matrix), **kind),
        within=_within,
        stacked=lambda above, below: arb_mat(above.tolist() + below.tolist()),
        least=2.0 ** -(bits // 2),
        left_out=2.0**-bits,
    )


def _size(matrix: np.ndarray, *, norm: bool = False) -> float:
    sizes = np.abs(matrix)
    if norm:
        return float(np.sqrt(sizes.sum(axis=0).max() * sizes.sum(axis=1).max()))
    return float(sizes.max(initial=0))


def _bounds(matrix: arb_mat) -> np.ndarray:
    """Return upper bounds of a matrix's entries."""
    upper = [float(abs(entry).upper()) * (1 + 2.0**-50) for entry in matrix.entries()]
    return np.array(upper).reshape(matrix.nrows(), matrix.ncols())


def _within(matrix: arb_mat, error: float) -> arb_mat:
    rows = [[entry + arb(0, error) for entry in row] for row in matrix.tolist()]
    return arb_mat(rows)


@dataclass(frozen=True, kw_only=True, eq=False)
class Copies:
    """Copies of a mode that start alike.

    Attributes:
        law: Their law, from where they start in effect, in gradient descent's steps.
        start: The strength that their initial weights make up.
        count: How many they are.
        turn: Their directions among the mode's copies, orthonormal columns, shape (copies of the
            mode, count), of :func:`symreln.claims.probes.probe_bases`; None where all start alike.
        reached_by: (label of an earlier mode, its half-time) of every mode that drives them.
        learned: The share of the plateau that they have when the last of these is learned, what
            other modes of the pathway take of it later included; None where none drives them.
        shared: Whether modes of the pathway that are learned before do take something of it.
    """

    law: Law
    start: Any
    count: int
    turn: np.ndarray | None = None
    reached_by: tuple[tuple[str, Any], ...] = ()
    learned: Any = None
    shared: bool = False


def mode_laws(
    derivation: Derivation,
    numbers: Numbers | None = None,
    start: Start | None = None,
    *,
    flow: bool = False,
    factors: Mapping[str, float] = NO_FACTORS,
) -> dict[str, tuple[Copies, ...]]:
    """Return the closed forms of all modes that learn, by label: as they are predicted.

    Of those that do not close, lack a value of a parameter, or are learned before what drives them,
    there is none, nor of later stages then.

    Args:
        derivation: Whose modes are closed.
        numbers: The number system; float64 by default.
        start: Where modes start; by default where they are expected to.
        flow: Whether steps are taken as infinitely small.
        factors: By how many times modes start stronger, by label, where they do.

    Raises:
        NotSupportedError: There is no expected start, and none is given.
        LimitReachedError: Balls of this precision do not tell vectors of modes apart, or gradient
            descent diverges.
    """
    system, begin = numbers or in_floats(derivation.spec.values), start
    begin = begin or expected_start(derivation.known)
    begin = replace(
        begin,
        strength0=system.ops.number(begin.strength0),
        imbalance=system.ops.number(begin.imbalance),
    )
    modes = _Modes(derivation=derivation, numbers=system, start=begin, flow=flow, factors=factors)
    found: dict[str, tuple[Copies, ...]] = {}
    own: dict[int, tuple[tuple[Copies, ...], ...]] = {}  # by what the pathway sees
    earlier: list[_Earlier] = []
    for stage in derivation.stages:
        new = []
        for pathway in stage.pathways:
            image = pathway.effective.image
            # Of several earlier pathways its image is driven by other ones, with other labels.
            alone = len({each.pathway.name for each in earlier}) <= 1
            known = own.get(id(image.original)) if alone and image is not None else None
            if known is None or any(copies.turn is not None for each in known for copies in each):
                laws = modes.laws(pathway, earlier)
            else:  # symmetric to an earlier one in what it sees, and so in what drives it
                laws = dict(zip((m.label for m in modes.known(pathway)), known, strict=True))
            own[id(pathway.effective)] = tuple(laws.values())
            found |= {label: copies for label, copies in laws.items() if copies}
            if stage is not derivation.stages[-1]:
                new += modes.sources(pathway, laws)
        if any(not found.get(m.label) for p in stage.pathways for m in p.modes if not m.is_null):
            break  # what later stages see meanwhile is not known
        earlier += new
    return found


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


@dataclass(frozen=True, kw_only=True, eq=False)
class _Earlier:
    """Copies of a mode of an earlier stage that start alike.

    Attributes:
        label: Symbol of its strength.
        half_time: In steps; 0 where it starts at half of its plateau or beyond.
        pathway: Its pathway.
        inputs: v of every copy.
        scaled: vᵀ h/s of every copy.
    """

    label: str
    half_time: Any
    pathway: PathwayDerivation
    inputs: _Matrix
    scaled: _Matrix


@dataclass(frozen=True, kw_only=True, eq=False)
class _Phase:
    """Steps in which a pathway of a later stage sees one drive.

    Attributes:
        drive: E_k.
        steps: How many; no whole number.
        ends: (label, half-time) of the earlier modes that are learned at its end.
    """

    drive: _Matrix
    steps: Any
    ends: tuple[tuple[str, Any], ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Columns:
    """What a mode has grown into until the last of what drives it is learned.

    Attributes:
        mode: The mode.
        plain: Its copies, were they not driven.
        phases: What it sees.
        last: The end of the last phase.
        whole: Amplitudes of inputs and outputs that grow into every copy, over what the mode alone
            would have made of them; one column a copy.
        growing: Of these what is across the columns of modes that are learned before.
    """

    mode: ModeDerivation
    plain: Copies
    phases: tuple[_Phase, ...]
    last: Any
    whole: _Matrix
    growing: _Matrix


@dataclass(frozen=True, kw_only=True, eq=False)
class _Modes:
    """The modes of a derivation in numbers.

    Attributes:
        derivation: Whose they are.
        numbers: The number system.
        start: Where they start while nothing earlier drives them.
        flow: Whether steps are infinitely small.
        factors: By how many times modes start stronger, by label.
    """

    derivation: Derivation
    numbers: Numbers
    start: Start
    flow: bool
    factors: Mapping[str, float]

    @property
    def tau(self) -> Any:
        """The time constant."""
        return self.numbers.ops.number(self.derivation.tau or 1)

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

    def laws(
        self, pathway: PathwayDerivation, earlier: Sequence[_Earlier]
    ) -> dict[str, tuple[Copies, ...]]:
        """Return the laws of a pathway's modes, driven by those of earlier stages."""
        modes = self.known(pathway)
        plain = {mode.label: self._plain(mode) for mode in modes}
        own = self.numbers.matrix(pathway.effective.sigma_yx)
        drives = self._drives(pathway, earlier, own)
        if not drives:
            return {label: (copies,) for label, copies in plain.items()}
        assert self.derivation.known.plain.holds  # specs of later stages are read for this alone
        vectors = self.numbers.vectors(pathway)
        floats = [_floats(drive) for _, drive in drives]
        found: dict[str, tuple[Copies, ...]] = {label: (one,) for label, one in plain.items()}
        columns = []
        for mode in modes:
            reaching = _reaching([*map(_floats, vectors[mode.label])], _floats(own), floats)
            reached = [drives[place] for place in reaching]
            phases = self._phases([one for one in reached if one[0].half_time > 0], own)
            law = plain[mode.label].law
            if phases:
                columns.append(self._columns(mode, plain[mode.label], vectors[mode.label], phases))
            elif reached and not law.strength0 < law.plateau * _LATE:
                found[mode.label] = ()
        return found | self._ahead(columns)

    def _plain(self, mode: ModeDerivation) -> Copies:
        """Return a mode that nothing earlier drives."""
        start = self.begin(mode)
        law = self.law(mode, start)
        return Copies(law=law, start=start.strength0, count=mode.multiplicity)

    def sources(
        self, pathway: PathwayDerivation, laws: Mapping[str, tuple[Copies, ...]]
    ) -> Iterator[_Earlier]:
        """Yield the modes of a pathway as those that later stages see."""
        vectors = self.numbers.vectors(pathway)
        for label, groups in laws.items():
            for copies in groups:
                law, (_, v) = copies.law, vectors[label]
                if not law.s > 0:
                    continue  # it vanishes at the declared values
                if copies.turn is not None:
                    v = self.numbers.times(v, self.numbers.given(copies.turn))
                yield _Earlier(
                    label=label,
                    half_time=law.half_time if law.strength0 < law.plateau / 2 else 0,
                    pathway=pathway,
                    inputs=v,
                    scaled=v.transpose() * (law.plateau / law.s),
                )

    def _drives(
        self, pathway: PathwayDerivation, earlier: Sequence[_Earlier], own: _Matrix
    ) -> list[tuple[_Earlier, _Matrix]]:
        """Return the earlier modes that a pathway sees, by half-time, with D of each."""
        size, least = self.numbers.size, self.numbers.least
        found = [
            (each, self._drive(each, pathway))
            for each in sorted(earlier, key=lambda mode: float(mode.half_time))
        ]
        return [(each, drive) for each, drive in found if size(drive) > least * size(own + drive)]

    def _phases(
        self, drives: Sequence[tuple[_Earlier, _Matrix]], own: _Matrix
    ) -> tuple[_Phase, ...]:
        """Return what a mode sees while these earlier ones still learn, phase by phase."""
        ends: list[tuple[list[_Earlier], _Matrix]] = []
        for each, drive in drives:
            if ends and not _apart(ends[-1][0][-1].half_time, each.half_time):
                ends[-1] = ([*ends[-1][0], each], ends[-1][1] + drive)
            else:
                ends.append(([each], drive))
        phases = []
        for place, (modes, drive) in reversed([*enumerate(ends)]):
            own = own + drive
            begin = ends[place - 1][0][0].half_time if place else 0
            reached = tuple((mode.label, mode.half_time) for mode in modes)
            phases.append(_Phase(drive=own, steps=modes[0].half_time - begin, ends=reached))
        return tuple(reversed(phases))

    def _drive(self, source: _Earlier, target: PathwayDerivation) -> _Matrix:
        """Return D of an earlier mode in a pathway of a later stage."""
        matrix, times = self.numbers.matrix, self.numbers.times
        effective = source.pathway.effective
        written = matrix(target.effective.masked(effective.sigma_yx))
        seen = matrix(effective.cross_sigma_x(target.effective))
        return times(times(written, source.inputs), times(source.scaled, seen))

    def _columns(
        self, mode: ModeDerivation, plain: Copies, vectors: _Vectors, phases: Sequence[_Phase]
    ) -> _Columns:
        """Return what a mode has grown into while earlier ones drove it."""
        ops, law = self.numbers.ops, plain.law
        logarithm = (lambda growth: growth) if self.flow else ops.log1p
        last = sum(phase.steps for phase in phases)
        growing = self._moved(vectors, phases) * ops.exp(-last * logarithm(law.s / self.tau))
        return _Columns(
            mode=mode,
            plain=plain,
            phases=tuple(phases),
            last=last,
            whole=growing,
            growing=growing,
        )

    def _ahead(self, columns: Sequence[_Columns]) -> dict[str, tuple[Copies, ...]]:
        """Return the copies of the modes that are driven, those that start alike together.

        None of a mode that is learned before what drives it is, nor of one that shares units with
        such a mode.
        """
        found: dict[str, tuple[Copies, ...]] = {}
        left = [(each, self._started(each)) for each in columns]
        late = {each.mode.label for each, copies in left if not all(map(_in_time, copies))}
        while left:
            # What cannot be followed first, then in the order in which they are learned.
            left.sort(key=lambda one: (one[0].mode.label not in late, _half_time(one[1])))
            (first, copies), *rest = left
            lost = first.mode.label in late
            found[first.mode.label] = () if lost else copies
            left = []
            for each, others in rest:
                across = self._across(each, first, copies)
                if across is None:
                    left.append((each, others))
                    continue
                if lost or not _follows(each, across, copies[0].law):
                    late.add(each.mode.label)
                moved = replace(each, growing=across)
                left.append((moved, self._started(moved)))
        return found

    def _across(
        self, columns: _Columns, first: _Columns, copies: Sequence[Copies]
    ) -> _Matrix | None:
        """Return what a mode has across the columns of one that is learned; None for all of it."""
        times, given = self.numbers.times, self.numbers.given
        taken = [
            first.growing if each.turn is None else times(first.growing, given(each.turn))
            for each in copies
        ]
        if all(_orthogonal(_floats(columns.growing), _floats(each)) for each in taken):
            return None
        across = columns.growing
        for _ in range(2):  # again: the first time leaves what rounding leaves
            for each in taken:
                along = times(each.transpose(), across)
                square = times(each.transpose(), each)[0, 0]  # one for all of them
                across = across - times(each, along) * (1 / square)
        return across

    def _started(self, columns: _Columns) -> tuple[Copies, ...]:
        """Return the copies of a mode that start from its columns."""
        grown, whole = map(self._gram, (columns.growing, columns.whole))
        mode, begin = columns.mode, self.begin(columns.mode)
        found = []
        for turn in _alike(grown):
            ahead, before = (
                self.law(mode, replace(begin, strength0=begin.strength0 * _mean(gram, turn)))
                for gram in (grown, whole)
            )
            found.append(
                replace(
                    columns.plain,
                    law=ahead,
                    count=mode.multiplicity if turn is None else turn.shape[1],
                    turn=turn,
                    reached_by=tuple(each for phase in columns.phases for each in phase.ends),
                    learned=self.numbers.ops.over(before.strength(columns.last), before.plateau),
                    shared=columns.growing is not columns.whole,
                )
            )
        return tuple(found)

    def _moved(self, vectors: _Vectors, phases: Sequence[_Phase]) -> _Matrix:
        """Return Φᵀ (V, U)."""
        outer, inner = vectors
        for phase in reversed(phases):
            one_step = 0 if self.flow else 1 / phase.steps
            across = phase.drive * (phase.steps / self.tau)
            inner, outer = _grown(self.numbers, across, one_step, (inner, outer))
        return self.numbers.stacked(inner, outer)

    def _gram(self, columns: _Matrix) -> np.ndarray:
        """Return how many times |a + b|² of the copies is what it would have been."""
        total = self.numbers.times(columns.transpose(), columns) * 0.5
        return np.array(total.tolist(), dtype=object if self.numbers.ops is ARB else float)


def _grown(numbers: Numbers, across: _Matrix, one_step: Any, vectors: _Vectors) -> _Vectors:
    """Return (1 + X/n)^n (inner, outer), X = [[0, acrossᵀ], [across, 0]], n real.

    By the binomial series. Its terms shrink like powers of ‖X/n‖ < 1 once there are more of them
    than n; what is left out is less than a geometric series, and balls hold it.

    Args:
        numbers: The number system.
        across: Drive times the steps of the phase, over τ.
        one_step: 1/n; 0 for infinitely small steps, e^X.
        vectors: inner and outer.

    Raises:
        LimitReachedError: Steps are so large that gradient descent diverges.
    """
    times, size = numbers.times, numbers.size
    back, norm = across.transpose(), size(across, norm=True)
    inner, outer = vectors
    totals = [inner, outer]
    for place in range(_MOST_TERMS):
        factor = (1 - place * one_step) / (place + 1)
        inner, outer = times(back, outer) * factor, times(across, inner) * factor
        totals = [totals[0] + inner, totals[1] + outer]
        # Every later term is at most this many times the one before.
        per_step = float(one_step)
        ratio = norm * max(per_step, abs(1 - (place + 1) * per_step) / (place + 2))
        if ratio < _FALLING:
            left = max(size(inner), size(outer)) * ratio / (1 - ratio)
            if left <= numbers.left_out * max(map(size, totals)):
                return numbers.within(totals[0], left), numbers.within(totals[1], left)
    msg = "head start: the learning rate is too large for what earlier stages drive. Lower it"
    raise LimitReachedError(msg)


def _reaching(
    vectors: Sequence[np.ndarray], own: np.ndarray, drives: Sequence[np.ndarray]
) -> list[int]:
    """Return which drives reach a mode: its directions, or those that others turn it to.

    Args:
        vectors: U and V of the mode.
        own: Sigma^{yx} of its pathway.
        drives: D of every earlier mode.
    """
    outer, inner = vectors
    reach: set[int] = set()
    while True:
        seen = {
            place
            for place, drive in enumerate(drives)
            if max(_size(drive @ inner), _size(drive.T @ outer)) > _ALIKE * _size(drive)
        }
        maps = [each / (_size(each) or 1.0) for each in (own, *(drives[n] for n in sorted(seen)))]
        wider = [_basis([outer, *(each @ inner for each in maps)])]
        wider += [_basis([inner, *(each.T @ outer for each in maps)])]
        if seen == reach and [w.shape for w in wider] == [outer.shape, inner.shape]:
            return sorted(reach)
        reach, (outer, inner) = seen, wider


def _basis(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Return an orthonormal basis of the columns of some matrices."""
    basis, sizes, _ = np.linalg.svd(np.hstack(parts), full_matrices=False)
    return basis[:, sizes > _ALIKE * sizes[0]]


def _floats(matrix: _Matrix) -> np.ndarray:
    return matrix if isinstance(matrix, np.ndarray) else np.array(matrix.tolist(), dtype=float)


def _in_time(copies: Copies) -> bool:
    """Whether copies are small while they are driven: learned after what drives them."""
    if copies.learned < _LATE:
        return True
    if isinstance(copies.learned, arb) and not copies.learned >= _LATE:
        msg = "head start: balls of this precision do not tell which mode is learned first"
        raise LimitReachedError(msg)
    return False


def _half_time(copies: Sequence[Copies]) -> float:
    """Return when the first copies are half learned; infinity where no formula says."""
    times = [float("nan") if (t := each.law.half_time) is None else float(t) for each in copies]
    return min((time for time in times if time == time), default=float("inf"))


def _follows(columns: _Columns, across: _Matrix, first: Law) -> bool:
    """Whether a mode grows from what it has across the columns of one that is learned before.

    Along these it dies out where s²/d, what a unit takes off the loss, is larger for the one
    before; else it takes the units over.
    """
    law = columns.plain.law
    own, left = (np.square(_floats(each)).sum(axis=0) for each in (columns.whole, across))
    ahead = bool(first.s * first.s * law.d > law.s * law.s * first.d)
    return ahead and bool((left > _OWN * own).all())


def _orthogonal(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether columns are orthogonal to others, up to rounding."""
    norms = np.outer(np.linalg.norm(one, axis=0), np.linalg.norm(other, axis=0))
    return bool((np.abs(one.T @ other) <= _ALIKE * norms).all())


def _apart(one: Any, other: Any) -> bool:
    """Whether two half-times are two; those that symmetry makes equal are apart by rounding."""
    return abs(float(one - other)) > _ALIKE * abs(float(one))


def _alike(gram: np.ndarray) -> list[np.ndarray | None]:
    """Return the directions of copies that start alike; one None where all do."""
    floats = gram.astype(float)
    if np.abs(floats - np.eye(len(floats)) * floats[0, 0]).max() <= _ALIKE * floats[0, 0]:
        return [None]
    values, vectors = np.linalg.eigh(floats)
    edges = np.flatnonzero(np.diff(values) > _ALIKE * values[-1]) + 1
    return list(np.split(vectors, edges, axis=1))


def _mean(gram: np.ndarray, turn: np.ndarray | None) -> Any:
    """Return the mean of a matrix's diagonal in the directions of some copies."""
    part = gram if turn is None else turn.T @ gram @ turn
    return np.trace(part) / len(part)
