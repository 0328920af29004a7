r"""Every size at once: the contextual task, for all numbers C of contexts and n of items.

**Data.** A sample is an item in a context, a vector of samples a tensor w ⊗ z of one over the n
items and one over the C contexts. Inputs are the item, and the context with value c; outputs are
the features H(n) of a binary tree, once for all contexts and once for each. So

.. math:: X^\top X = I \otimes 1 1^\top + c^2\, 1 1^\top \otimes I, \qquad
          Y^\top Y = H^\top H \otimes (I + 1 1^\top).

H(n) is a row of ones on top of two copies of H(n/2), so that
:math:`H(n)^\top H(n) = 1 1^\top + diag(H(n/2)^\top H(n/2), H(n/2)^\top H(n/2))`. By induction the
constant vector (root) has the eigenvalue n + (2(n/2) - 1) = 2n - 1; the vector that is 1 on one
half and -1 on the other has that of the root of a half, n - 1; and vectors in one half that sum to
zero keep theirs, so that the u wavelets of one size, u = 1, 2, 4, … n/2, have n/u - 1. So XᵀX and
YᵀY are numbers on the eigenspaces (root or wavelets) ⊗ (constant, or sum-zero over contexts); here
a *pair* is such numbers for both kinds of z, which have 1 and C - 1 dimensions. They are

.. math:: x = (C\, [items] + c^2 n\, [contexts, root], \; c^2 n\, [contexts, root]), \qquad
          y = ((C + 1) h,\; h), \quad h = 2n - 1 \;\text{or}\; n/u - 1.

Y' is what earlier stages leave. It is Y on some eigenspaces and 0 on the others: true at the start,
and kept by the stages below. P = nC.

**One pathway for all contexts.** F are its rows of X. For e in an eigenspace, F Fᵀ F e = x F e and
M F e = F Y'ᵀY' FᵀF e/P² = (x y/P²) F e, while inputs orthogonal to all F e are in the kernel of
both. So they commute, modes are s² = xy/P², d = x/P where xy ≠ 0, alone in the stage, so that it is
closed; W = Y'Fᵀ(FFᵀ)⁺ leaves Y' on the eigenspaces with x = 0, and 0 on the others.

**One pathway for each context**, on the items. The gates a_k are the columns of A = I (its own
context) or A = 1 1ᵀ - I (the others); A and A² are pairs without a zero, as C ≥ 2. F_kᵀ w =
w ⊗ a_k, so that P Sigma^x(j,k) = (A²)_jk on all items, and P Sigma^yx(k) w = Y'(w ⊗ A e_k), which
are orthogonal for different w. So w is a mode of every pathway, of d = (A²)_kk/P and s² =
(A Y'ᵀY' A)_kk/P²; diagonal entries are traces over C. Pathway j with strength φ adds
φ Y'(w ⊗ A e_j)/(sP) · (A²)_jk/P to what k sees, all of them with equal φ

.. math:: \frac{\phi}{s P^2}\, Y'(w \otimes A\, A^2 e_k) = \phi\, d_{eff}\, u_k, \qquad
          P d_{eff} = A^2,

if A² is one number on all vectors w ⊗ z with Y' ≠ 0, as is checked. So equal strengths stay equal,
d_eff stands for d, and the converged maps Y'(w ⊗ A e_k)/(P d_eff) of w leave
Y'(w ⊗ z) - Y'(w ⊗ A² z)/(P d_eff) = 0. The stage is closed where no pathway acts on another, which
is where A² is diagonal: A = I, or C = 2, or nothing is left to learn; else closed by symmetry.

**Head start** of such a mode, where an earlier mode learned Y on an eigenspace Π of the same w: as
long as it has not, E_1 w = (Y' + YΠ)(w ⊗ a_k)/P = r u'. Both parts are orthogonal, since YᵀY keeps
eigenspaces, so r² is s² with Y' and Π together and γ = u·u' = s/r. There is at most one such mode,
since one of the two eigenspaces is left.

No number above vanishes in the range: x, h and A² are sums and products of positive ones, for
generic parameters of c. What is proven so is compared with the first part of the certificate at the
sizes ``at``: rows of X and Y, gates, levels, losses, and all modes, compared exactly at a point of
the parameters that the digest decides.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, Final

from .numbers import Ratio, require, value_at
from .reading import Data, Given, Reader, named
from .stages import LEVELS, Stage

GATES: Final = ("all", "own", "others")
PARTS: Final = ("root", "wavelets")
GROUPS: Final = ("items", "contexts")
NUMBERS: Final = ("s_squared", "d", "d_eff", "multiplicity", "faster_squared")
#: A size.
MOST_SIZE: Final = 10**6


class NotForEverySizeError(ValueError):
    """Nothing is said of every size; the reason, not a mistake of the user."""


@dataclass(frozen=True, eq=False)
class Mode:
    """A mode of a stage, on the root or on the wavelets of one size.

    Attributes:
        place: Place in :data:`PARTS`.
        s_squared: s², a rational function of the sizes as all numbers here.
        d: Eigenvalue of Sigma^x.
        d_eff: Effective eigenvalue.
        multiplicity: How many equal modes a pathway has there.
        by: The earlier mode that gives it a head start, or None.
        faster_squared: (r/s)², or None.
    """

    place: int
    s_squared: Any
    d: Any
    d_eff: Any
    multiplicity: Any
    by: Mode | None = None
    faster_squared: Any = None


class Targets:
    """YᵀY of what stages leave, in any numbers that can be added, multiplied and divided.

    Args:
        n: Items.
        count: C.
        u: How many wavelets of one size there are.
        scale: c.
    """

    def __init__(self, n: Any, count: Any, u: Any, scale: Any) -> None:
        self.one, self.zero = n / n, n - n
        self.count, self.samples, self.copies = count, n * count, (self.one, u)
        self.dimensions = self.one, count - self.one
        self.contexts = scale * scale * n, self.zero
        features = n + n - self.one, n / u - self.one
        self.whole = [[(count + self.one) * h, h] for h in features]
        self.left = [[*pair] for pair in self.whole]
        self.learned: list[list[Mode]] = [[], []]

    def losses(self) -> list[Any]:
        """Return |Y'|²/2P on root and wavelets."""
        parts = zip(self.copies, self.left, strict=True)
        return [many * self._trace(y) / (self.samples + self.samples) for many, y in parts]

    def couples(self, gate: str, modes: list[Mode]) -> bool:
        """Whether pathways of a stage with these modes act on each other, C = 2 left aside."""
        return gate == "others" and bool(modes) and self.count != self.one + self.one

    def stage(self, gate: str, inputs: list[str]) -> list[Mode]:
        """Return the modes of a pathway of the next stage, and take what they learn.

        Raises:
            NotForEverySizeError: The stage does not close.
        """
        found = []
        for place in range(len(PARTS)):
            learns = self._for_all(place, inputs) if gate == "all" else self._for_each(place, gate)
            found += learns
            self.learned[place] += found[len(found) - len(learns) :]
        return found

    def _trace(self, pair: Any) -> Any:
        return pair[0] * self.dimensions[0] + pair[1] * self.dimensions[1]

    def _for_all(self, place: int, inputs: list[str]) -> list[Mode]:
        items = self.count if GROUPS[0] in inputs else self.zero
        own = self.contexts[place] if GROUPS[1] in inputs else self.zero
        found = []
        for side, x in enumerate((items + own, own)):
            y = self.left[place][side]
            if self.zero not in (x, y, self.dimensions[side]):
                many, d = self.copies[place] * self.dimensions[side], x / self.samples
                found.append(Mode(place, d * y / self.samples, d, d, many))
                self.left[place][side] = self.zero
        return found

    def _for_each(self, place: int, gate: str) -> list[Mode]:
        one, rest = self.dimensions
        squares = [one if gate == "own" else rest * rest, one]
        y, whole, earlier = self.left[place], self.whole[place], self.learned[place]
        seen = [a for a, left in zip(squares, y, strict=True) if left != self.zero]
        if not seen:
            return []
        if seen[0] != seen[-1]:
            msg = "the modes of one pathway for each context do not close for every size"
            raise NotForEverySizeError(msg)
        before, after = (
            self._trace([a * b for a, b in zip(squares, pair, strict=True)]) for pair in (whole, y)
        )
        mode = Mode(
            place,
            after / (self.count * self.samples * self.samples),
            self._trace(squares) / (self.count * self.samples),
            seen[0] / self.samples,
            self.copies[place],
            *((earlier[0], before / after) if earlier else ()),
        )
        self.left[place] = [self.zero, self.zero]
        return [mode]


class Family:
    """The task for every size as a certificate claims it, each number computed again.

    Attributes:
        lines: A line a stage that says what was proven.
    """

    def __init__(self, given: Given, seed: int) -> None:
        v = given.take("kind symbols items contexts copies scale stages")
        self.path, self.reader = given.path, Reader(v.symbols, seed)
        self.items = self._size(v.items, "a power of 2, at least")
        self.contexts = self._size(v.contexts, ">=")
        self.copies, self.scale = v.copies.text(), self.reader.ratio(v.scale)
        for n in (self.items.least, self.items.at):
            v.items.require(n > 1 and not n & (n - 1), "a power of 2, from 2 on")
        ranged = [size for size in (self.items, self.contexts) if size.symbol]
        known = {self.copies, *(size.symbol for size in ranged)}
        v.copies.require(len(known) == len(ranged) + 1, "a symbol of its own")
        keys, names = (*self.scale.top, *self.scale.below), self.reader.names
        met = {name for key in keys for name, e in zip(names, key, strict=True) if e}
        v.scale.require(met.isdisjoint(known), "without sizes")
        numbers = self.items.number, self.contexts.number, self.reader.symbol(self.copies)
        self.targets = Targets(*numbers, self.scale)
        self.stages = [self._stage(item) for item in v.stages.items()]
        where = " and ".join(f"{size.symbol} {size.words} {size.least}" for size in ranged)
        generic = ", ".join(name for name in names if name not in known)
        where += f", for generic {generic}" * bool(generic)
        self.lines = [
            f"stages[{k}]: {named(s.name)}: {s.level}{self._closed_at(s)}, for {where}"
            for k, s in enumerate(self.stages)
        ]

    def _size(self, given: Given, words: str) -> Any:
        v = given.take("symbol least at")
        least = v.least.integer(MOST_SIZE, 1)
        v.at.integer(MOST_SIZE, least)
        number = self.reader.constant(least)
        if v.symbol.there:
            number = self.reader.symbol(v.symbol.text())
        else:
            v.at.shows(least)
        return SimpleNamespace(**given.value, words=words, number=number)

    def _closed_at(self, stage: Any) -> str:
        closed = stage.couples and self.contexts.least == 2  # pathways do not couple there
        return f" (closed at {self.contexts.symbol} = 2)" if closed else ""

    def _stage(self, given: Given) -> Any:
        v = given.take("name gate inputs level initial_loss final_loss modes")
        gate, inputs = v.gate.value, v.inputs.value
        good = inputs == [GROUPS[0]] or (gate == "all" and inputs in ([*GROUPS], [GROUPS[1]]))
        v.inputs.require(good, "groups of inputs, the items where there is one pathway a context")
        good = gate in GATES and (gate == "all" or self.contexts.least > 1)
        v.gate.require(good, f"one of {', '.join(GATES)}, all where there may be one context")
        self._shows(v.initial_loss.items(len(PARTS)), self.targets.losses())
        modes = self.targets.stage(gate, inputs)
        for mode, item in zip(modes, v.modes.items(len(modes)), strict=True):
            item.take(f"part {' '.join(NUMBERS)}").part.shows(PARTS[mode.place])
            self._shows([item[x] for x in NUMBERS], [getattr(mode, x) for x in NUMBERS])
        losses, couples = self.targets.losses(), self.targets.couples(gate, modes)
        self._shows(v.final_loss.items(len(PARTS)), losses)
        v.level.shows(LEVELS[couples])
        found = {**given.value, "modes": modes, "losses": losses, "couples": couples}
        return SimpleNamespace(**found, path=given.path)

    def _shows(self, given: list[Given], expected: list[Any]) -> None:
        for item, number in zip(given, expected, strict=True):
            same = item.there and number is not None and self.reader.ratio(item) == number
            item.require(same or (number is None and not item.there), "what follows from the task")

    # -- beside the sizes at hand --

    def require_same(self, data: Data, stages: list[Stage]) -> None:
        """Refuse a first part of another dataset, or that says something else of it."""
        values = dict(zip(data.names, data.point, strict=True))
        values |= {size.symbol: size.at for size in (self.items, self.contexts)}
        copies = [2**k for k in range(self.items.at.bit_length() - 1)]
        self.points = [
            [{**values, self.copies: u}.get(name, 1) for name in self.reader.names] for u in copies
        ]
        require(self._is_dataset(data), self.path, "of this dataset")
        good = len(stages) == len(self.stages)
        require(good, f"{self.path}.stages", "of as many stages as the first part")
        for mine, stage in zip(self.stages, stages, strict=True):
            good = [(p.name, p.key) for p in stage.paths] == self._pathways(data, mine)
            require(good, mine.path, "of the first part's pathways")
            level = LEVELS[mine.couples and self.contexts.at != 2]
            require(stage.level == level, mine.path, f"of the first part's level, {stage.level}")
            losses = [x for k, loss in enumerate(mine.losses) for x in self._at(loss, k)]
            good = sum(losses) == data.exactly_at_point(stage.final_loss)
            require(good, mine.path, "of the first part's final loss")
            self._same_modes(data, mine, stage)

    def _at(self, value: Ratio, place: int) -> list[Fraction]:
        """Return what a number of the root, or of the wavelets of every size, is here."""
        points = self.points if place else self.points[:1]
        return [Fraction(value_at(value.top, x), value_at(value.below, x)) for x in points]

    def _is_dataset(self, data: Data) -> bool:
        n, count = self.items.at, self.contexts.at
        if data.x.shape != (n + count, n * count):
            return False
        x, y = (
            {at: data.exactly_at_point(value) for at, value in matrix.ratios().items()}
            for matrix in (data.x, data.y)
        )
        (scale,) = self._at(self.scale, 0)
        wanted = {(j % n, j): Fraction(1) for j in range(n * count)}
        wanted |= {(n + j // n, j): scale for j in range(n * count) if scale}
        features: list[set[int]] = [set() for _ in range(data.y.shape[0])]
        for i, j in y:
            features[i].add(j)
        runs = [range(a, a + (n >> k)) for k in range(n.bit_length()) for a in range(0, n, n >> k)]
        every = [range(count), *([k] for k in range(count))]
        tensors = (frozenset(k * n + i for k in z for i in w) for z in every for w in runs)
        same = Counter(map(frozenset, features)) == Counter(tensors)
        return x == wanted and same and {*y.values()} == {1}

    def _pathways(self, data: Data, mine: Any) -> list[Any]:
        n, count = self.items.at, self.contexts.at
        places = dict(zip(GROUPS, (range(n), range(n, n + count)), strict=True))
        inputs = tuple(i for group in mine.inputs for i in places[group])
        own = [[j // n == k for j in range(n * count)] for k in range(count)]
        others = [[not sees for sees in gate] for gate in own]
        gates = dict(zip(GATES, ([[True] * (n * count)], own, others), strict=True))[mine.gate]
        names = [mine.name.replace("{context}", str(k + 1)) for k in range(len(gates))]
        keys = [(inputs, (*range(data.y.shape[0]),), (*map(str, map(int, g)),)) for g in gates]
        return list(zip(names, keys, strict=True))

    def _same_modes(self, data: Data, mine: Any, stage: Stage) -> None:
        modes: Counter[tuple[Fraction, ...]] = Counter()
        for mode in mine.modes:
            numbers = (mode.s_squared, mode.d, mode.d_eff, mode.multiplicity)
            for *here, many in zip(*(self._at(x, mode.place) for x in numbers), strict=True):
                modes[tuple(here)] += int(many)
        for p in stage.paths:
            found: Counter[tuple[Fraction, ...]] = Counter()
            for c in (c for c in p.classes if not c.null):
                require(c.degree == 1, mine.path, "of rational modes")
                numbers = (c.eigenvalue[0], c.d[0], c.d_eff[0])
                found[tuple(map(data.exactly_at_point, numbers))] += c.size
            needed = f"of the modes of {named(p.name)} in the first part"
            require(found == +modes, mine.path, needed)
