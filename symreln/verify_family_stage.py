"""One stage of a family's certificate in one sector: standard library alone."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

try:
    from symreln.verify_family_algebra import Kind, Matrix, Space, Value, identity, require
    from symreln.verify_family_data import Data, Sector, take
except ImportError:  # these files alone, without the package
    from verify_family_algebra import (  # type: ignore[import-not-found,no-redef]
        Kind,
        Matrix,
        Space,
        Value,
        identity,
        require,
    )
    from verify_family_data import Data, Sector, take  # type: ignore[import-not-found,no-redef]

LEVELS = ("closed", "closed by symmetry", "open")
OWN, SECOND = "k", "l"


@dataclass
class _Class:
    """One class; lambda, d and the inverse of d_eff without the division by samples."""

    minpoly: list[Value]
    weight: int
    eigenvalue: list[Value]
    d: list[Value]
    d_eff: list[Value] | None
    inverse: list[Value] | None
    multiplicity: Value
    projector: Matrix
    powers: list[Matrix]

    @property
    def degree(self) -> int:
        return len(self.minpoly)

    @property
    def null(self) -> bool:
        return not any(self.eigenvalue)

    def alike(self, other: _Class) -> bool:
        keys = ("minpoly", "weight", "eigenvalue", "d", "d_eff", "multiplicity")
        return all(getattr(self, key) == getattr(other, key) for key in keys)


@dataclass
class _Learner:
    spec: dict[str, Any]
    features: Matrix
    drive: Matrix
    classes: list[_Class]

    def combined(self, coefficients: list[Value], a: int, shift: int = 0) -> Matrix:
        """Return Σ c_i T^{i + shift} E."""
        total = self.classes[a].projector.times(0)
        for power, value in enumerate(coefficients):
            if value:
                total = total + self.classes[a].powers[power + shift].times(value)
        return total


def _within(kind: Kind, groups: list[str]) -> bool:
    return kind.group in groups or (kind.tag == OWN and f"{kind.group}:own" in groups)


def _written(matrix: Matrix, spec: dict[str, Any]) -> Matrix:
    return matrix.masked(rows=lambda kind: _within(kind, spec["outputs"]))


def _learner(data: Data, sector: Sector, spec: dict[str, Any], targets: Matrix) -> _Learner | None:
    inputs = sector.inputs
    if spec["each"]:
        inputs, targets = inputs.refined(OWN), targets.refined(OWN)
    own = [n for n, kind in enumerate(inputs.rows.kinds) if _within(kind, spec["inputs"])]
    if not own:
        return None
    features = inputs.rows_only(own).masked(
        columns=lambda kind: spec["gate"][kind.base][0 if kind.tag == OWN else 1]
    )
    return _Learner(spec, features, _written(targets @ features.adjoint(), spec), [])


def _class(data: Data, value: Any, path: str, space: Space) -> _Class:
    keys = "minpoly weight s_squared d d_eff inverse_d_eff multiplicity projector"
    f, weight, s, d, d_eff, inverse, many, projector = take(value, path, keys)
    require(
        type(weight) is int and weight >= 0 and (len(f) > 1 or not weight), path, "of a weight >= 0"
    )
    lists = [None if x is None else [data.read(c) for c in x] for x in (f, s, d, d_eff, inverse)]
    good = (
        f and all(x is None or len(x) == len(f) for x in lists) and s is not None and d is not None
    )
    require(good, path, "of one degree")
    p = data.samples
    units = (data.ring.number(1), p * p, p, p, data.per_sample)
    minpoly, eigenvalue, own, total, inverted = (
        None if x is None else [c * unit for c in x] for x, unit in zip(lists, units, strict=True)
    )
    matrix = data.matrix(projector, f"{path}.projector", space, space)
    return _Class(minpoly, weight, eigenvalue, own, total, inverted, data.read(many), matrix, [])  # type: ignore[arg-type]


def _check_class(data: Data, item: _Learner, a: int, m: Matrix, b: Matrix, path: str) -> None:
    c = item.classes[a]
    operator, k = m + b.times(c.weight), c.degree
    c.powers = [c.projector]
    while len(c.powers) < 3 * k:
        c.powers.append(operator @ c.powers[-1])
    require(not c.powers[k] + item.combined(c.minpoly, a), f"{path}.minpoly", "f(T) E = 0")
    good = not (m @ c.projector) + item.combined(c.eigenvalue, a).times(-1)
    require(good, f"{path}.s_squared", "M E = s² E")
    good = not (b @ c.projector) + item.combined(c.d, a).times(-1)
    require(good, f"{path}.d", "Sigma^x E = d E")
    good = not c.projector.adjoint() + c.projector.times(-1)
    require(good, f"{path}.projector", "self-adjoint")
    sums = [data.ring.number(k)]  # of theta^i over the roots of f, by Newton's identities
    for i in range(1, k):
        total = c.minpoly[k - i] * -i
        for j in range(1, i):
            total = total - c.minpoly[k - j] * sums[i - j]
        sums.append(total)
    good = all(c.powers[i].trace() == c.multiplicity * value for i, value in enumerate(sums))
    require(good and c.multiplicity, f"{path}.multiplicity", "that of every root")


def _classes(data: Data, item: _Learner, values: Any, path: str) -> bool:
    """Read and check a pathway's classes; return whether there are any to be had."""
    b, m = item.features @ item.features.adjoint(), item.drive.adjoint() @ item.drive
    commutes = not (m @ b) + (b @ m).times(-1)
    require(commutes == (values is not None), path, "classes where the correlations commute")
    if not commutes:
        return False
    space = m.rows
    item.classes = [_class(data, v, f"{path}[{n}]", space) for n, v in enumerate(values)]
    total = identity(space)
    for a, one in enumerate(item.classes):
        _check_class(data, item, a, m, b, f"{path}[{a}]")
        total = total + one.projector.times(-1)
        for other in item.classes[:a]:
            require(not one.projector @ other.projector, path, "orthogonal projectors")
            same = (one.minpoly, one.weight, one.eigenvalue, one.d)
            good = same != (other.minpoly, other.weight, other.eigenvalue, other.d)
            require(good, path, "different classes")
    require(not total, path, "projectors that add up to 1")
    return True


def _meetings(p: _Learner, q: _Learner) -> list[tuple[Matrix, Matrix, tuple[str, ...], str]]:
    """Return (features of q, of p, specials that q's drive takes on, the one summed over)."""
    mine, theirs = p.features, q.features
    if not q.spec["each"]:
        if p is q:
            return []
        return (
            [(theirs.refined(OWN), mine, (OWN,), "")]
            if p.spec["each"]
            else [(theirs, mine, (), "")]
        )
    if not p.spec["each"]:
        return [(theirs, mine.refined(OWN), (), OWN)]
    other = theirs.renamed(OWN, SECOND).refined(OWN)
    found = [(other, mine.refined(SECOND), (SECOND, OWN), SECOND)]
    return found if p is q else [*found, (theirs, mine, (), "")]


def _actions(p: _Learner, q: _Learner, i: int, a: int, meetings: list[Matrix]) -> list[Matrix]:
    """Return S_k, what class i of all pathways q does to class a of p; [] where it is nothing.

    What a single pathway does goes to ``meetings``.
    """
    totals: list[Matrix] = []
    for theirs, mine, specials, summed in _meetings(p, q):
        cross = theirs @ mine.adjoint()
        projector = p.classes[a].projector
        if summed:
            projector = projector.refined(summed)
        single = []
        for k in range(q.classes[i].degree):
            act = q.drive @ q.classes[i].powers[k]
            if SECOND in specials:
                act = act.renamed(OWN, SECOND)
            act = act.refined(OWN) if OWN in specials else act
            single.append(_written(act, p.spec) @ cross @ projector)
        if any(single):
            meetings += single
            done = [s.summed(summed) if summed else s for s in single]
            totals = [x + y for x, y in zip(totals, done, strict=True)] if totals else done
    return totals


def _closes(learners: list[_Learner], path: str, meetings: list[Matrix]) -> str:
    """Check every d_eff against all couplings and return the level; see :func:`_actions`."""
    nodes = [(p, a) for p, item in enumerate(learners) for a in range(len(item.classes))]
    acts = {
        (source, target): found
        for source, target in product(nodes, nodes)
        if not _of(learners, source).null
        and (
            found := _actions(
                learners[target[0]], learners[source[0]], source[1], target[1], meetings
            )
        )
    }
    group = {node: {node} for node in nodes}
    for source, target in acts:
        if not _of(learners, target).null and group[source] is not group[target]:
            for node in (merged := group[source] | group[target]):
                group[node] = merged
    for node in nodes:
        c, item = _of(learners, node), learners[node[0]]
        good = all(_of(learners, other).alike(c) for other in group[node])
        require(good, f"{path}.pathways[{node[0]}]", "equal in all modes that couple")
        zero = c.projector.columns.count.ring.number(0)
        gamma = [] if c.null else [x - y for x, y in zip(c.d_eff or [], c.d, strict=True)]
        sources = {id(group[source]): group[source] for source, target in acts if target == node}
        if not any(members is group[node] for members in sources.values()):
            require(not any(gamma), f"{path}: d_eff", "d where nothing couples")
        for members in sources.values():
            sums: list[Matrix] = []
            for (source, target), found in acts.items():
                if target == node and source in members:
                    sums = [x + y for x, y in zip(sums, found, strict=True)] if sums else found
            factors = gamma if members is group[node] else [zero] * c.degree
            for k, total in enumerate(sums):
                shift = k if factors is gamma else 0
                expected = item.drive @ item.combined(factors, node[1], shift)
                require(not total + expected.times(-1), f"{path}: d_eff", "d + all couplings")
    return LEVELS[1] if acts else LEVELS[0]


def _of(learners: list[_Learner], node: tuple[int, int]) -> _Class:
    return learners[node[0]].classes[node[1]]


def _left(data: Data, learners: list[_Learner], targets: Matrix, path: str) -> Matrix:
    """Return what the stage leaves: Y - Σ A H F with H = Σ E (1/d_eff)(T)."""
    for item in learners:
        total = item.drive.times(0)
        for a, c in enumerate(item.classes):
            if c.null:
                continue
            inverse = c.inverse or []
            both = c.projector.times(0)
            for i, value in enumerate(c.d_eff or []):
                both = both + item.combined(inverse, a, i).times(value)
            good = not both + c.projector.times(-1)
            require(good, f"{path}: inverse_d_eff", "1/d_eff")
            total = total + item.drive @ item.combined(inverse, a)
        outputs = total @ item.features
        targets = targets + (outputs.summed(OWN) if item.spec["each"] else outputs).times(-1)
    return targets


def sector_stage(
    data: Data, sector: Sector, value: Any, specs: list[dict[str, Any]], targets: Matrix, path: str
) -> tuple[str, Matrix, list[Matrix]]:
    """Check one stage in one sector; return its level, what it leaves, what single pathways do."""
    level, initial, final, slots = take(value, path, "level initial_loss final_loss pathways")
    twice = data.samples * 2
    good = (targets.adjoint() @ targets).trace() == data.read(initial) * twice
    require(good, f"{path}.initial_loss", "|Y|²/2P")
    require(len(slots) == len(specs), f"{path}.pathways", "one entry a pathway")
    learners, commute = [], True
    for n, (spec, slot) in enumerate(zip(specs, slots, strict=True)):
        item = _learner(data, sector, spec, targets)
        where = f"{path}.pathways[{n}]"
        if item is None:
            require(slot is None, where, "null, because the pathway has no input here")
            continue
        commute = _classes(data, item, slot, where) and commute
        learners.append(item)
    claims = [c for item in learners for c in item.classes]
    closed = commute and level != LEVELS[2]
    good = all(
        (x is not None) == (closed and not c.null) for c in claims for x in (c.d_eff, c.inverse)
    )
    require(good, f"{path}.pathways", "d_eff of every class other than null where the stage closes")
    if not closed:
        require(
            (level, final) == (LEVELS[2], None), f"{path}.level", "open, with no loss that is left"
        )
        return level, targets, []
    meetings: list[Matrix] = []
    good = level == _closes(learners, path, meetings)
    require(good, f"{path}.level", "the level of its couplings")
    rest = _left(data, learners, targets, path)
    good = (rest.adjoint() @ rest).trace() == data.read(final) * twice
    require(good, f"{path}.final_loss", "what is left of |Y|²/2P")
    return level, rest, meetings
