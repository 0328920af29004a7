"""What drives the modes of a second stage while the first one still learns, decided exactly.

Modes of the first stage that move as one, i, map a later pathway's inputs by C_i/s with
C_i = O_p A F_i(p): A has the Sigma^{yx}(j) of the first stage's pathways side by side and F_i(p)
their E_j Sigma^x(j,p) one below the other, zero but for i's own. With C_0 the pathway's own
Sigma^{yx} it is asked, for the projector E_a of each class of the later pathway p, that

* C_iᵀ C_k = 0 for i ≠ k and C_iᵀ C_i E_a = s² c² E_a: each unit vector v of the class has its own
  directions C_i v in the outputs, orthogonal to those of all other classes;
* Sigma^x(j,p) maps E_a to the class of pathway j with the same s, d and c, and
  Σ_{j≠p} C_i(j) Sigma^x(j,p) E_a = kappa C_i E_a over the pathways that p shares its outputs with:
  couplings keep these directions, and D_i = d + kappa. For C_0 the verdict has proven that,
  d + kappa = d_eff.

Then maps that start in these directions stay there, and classes with equal constants move alike.
Everything is rational and happens among the inputs, O_p A entering through N = Aᵀ O_p A alone:
N Z = 0 if and only if O_p A Z = 0. There are no parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from symreln.exact.matrix import ExactMatrix
from symreln.verdict.judge import Level, StageVerdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.verdict.modes import PathwayModes

#: s², d and c² of every source: what classes that couple have in common.
Key = tuple[Fraction, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Source:
    """Modes of the first stage that move as one.

    Attributes:
        nodes: (index of the pathway in its stage, index of a class).
        square: s².
        damping: d_eff.
        weight: Σ m d_eff over the nodes.
    """

    nodes: tuple[tuple[int, int], ...]
    square: Fraction
    damping: Fraction
    weight: Fraction


def sources(first: StageVerdict, modes: Sequence[PathwayModes]) -> list[Source]:
    """Return the modes of a closed stage that learn, those that move as one together.

    Args:
        first: The stage's verdict.
        modes: Those of its pathways; all classes of degree 1.
    """
    found = []
    for component in first.components:
        nodes = sorted(component)
        p, a = nodes[0]
        damping = _d_eff(first, modes, p, a)
        many = sum(modes[q].classes[b].multiplicity for q, b in nodes)
        found.append(
            Source(
                nodes=tuple(nodes),
                square=modes[p].classes[a].eigenvalue[0].to_fraction(),
                damping=damping,
                weight=many * damping,
            )
        )
    return found


def _d_eff(stage: StageVerdict, modes: Sequence[PathwayModes], p: int, a: int) -> Fraction:
    d = stage.d_eff.get((p, a), modes[p].classes[a].d)
    assert d is not None
    return d[0].to_fraction()


@dataclass(frozen=True, kw_only=True, eq=False)
class DrivenClass:
    """A class of a pathway of the second stage with the constants that its flow has.

    Attributes:
        pathway: Place of the pathway in its stage.
        index: Index of the class.
        key: s², d and c² of every source: what the classes that it couples to share with it.
        dampings: D_0, then D_i of every source.
    """

    pathway: int
    index: int
    key: Key
    dampings: tuple[Fraction, ...]


def driven_classes(
    second: StageVerdict,
    modes: Sequence[PathwayModes],
    first: Sequence[PathwayModes],
    sources: Sequence[Source],
) -> tuple[list[DrivenClass], str]:
    """Return the classes of a second stage's pathways but for images, or why they differ.

    Args:
        second: The stage's verdict.
        modes: Those of its pathways.
        first: The modes of the first stage's pathways.
        sources: What learns in the first stage.
    """
    if second.level not in (Level.CLOSED, Level.CLOSED_BY_SYMMETRY):
        return [], f"stage {second.stage} has no closed forms"
    if any(c.degree > 1 for m in modes for c in m.classes):
        return [], f"squares of singular values of stage {second.stage} are not rational"
    # A symmetry maps the only pathway of the first stage to itself, and so each of its classes.
    trusted = len(first) == 1
    originals = [p for p, m in enumerate(modes) if not trusted or m.original is None]
    drives = {p: _Drives(modes[p], first, sources) for p in originals}
    keys = [drives[original_of(modes, p) if trusted else p].keys for p in range(len(modes))]
    if not all(keys):
        return [], (
            f"modes of stage {second.stage} are driven in directions of the outputs that are not "
            "orthogonal, or differ between pathways"
        )
    found: list[DrivenClass] = []
    for p in originals:
        kappas, reason = _kappas(p, modes, keys, drives[p])
        if reason:
            return [], f"pathways of stage {second.stage} {reason}"
        for a, key in enumerate(keys[p]):
            dampings = (_d_eff(second, modes, p, a), *(key[1] + kappa for kappa in kappas[a]))
            if min(dampings) < 0:
                return [], f"couplings of stage {second.stage} feed what it is driven by"
            found.append(DrivenClass(pathway=p, index=a, key=key, dampings=dampings))
    if not _move_alike(found):
        return [], f"pathways of stage {second.stage} that couple are driven differently"
    return found, ""


def original_of(modes: Sequence[PathwayModes], p: int) -> int:
    """Return the place of the pathway that a symmetry maps to this one; its own without."""
    origin = modes[p]
    while origin.original is not None:
        origin = origin.original
    return next(q for q, m in enumerate(modes) if m is origin)


class _Drives:
    """What drives one later pathway.

    Attributes:
        norm: N = Aᵀ O_p A.
        maps: F_i of every source.
        keys: The key of every class; empty where the drives are not orthogonal or not alike.
    """

    def __init__(
        self, pathway: PathwayModes, first: Sequence[PathwayModes], sources: Sequence[Source]
    ) -> None:
        self.first, self.sources = first, sources
        own = pathway.effective
        outputs = own.masked(ExactMatrix.beside([m.effective.sigma_yx for m in first]))
        self.norm = (outputs.T @ outputs).reduced()
        self.maps = self.projected([m.effective.cross_sigma_x(own) for m in first])
        overlap = outputs.T @ own.sigma_yx
        squares = self._squares(pathway) if self._orthogonal(overlap) else []
        self.keys = squares if len(set(squares)) == len(squares) else []

    def projected(self, parts: Sequence[ExactMatrix]) -> list[ExactMatrix]:
        """Return (E_j times part j, one below the other, zero but for the source's own)."""
        found = []
        for source in self.sources:
            rows = [ExactMatrix.zeros(*part.shape, ()) for part in parts]
            for j, a in source.nodes:
                rows[j] = rows[j] + self.first[j].projected(a, 0, parts[j])
            found.append(ExactMatrix.beside([row.T for row in rows]).T.reduced())
        return found

    def _orthogonal(self, overlap: ExactMatrix) -> bool:
        pushed = [(self.norm @ each).reduced() for each in self.maps]
        return all((each.T @ overlap).is_zero for each in self.maps) and all(
            (each.T @ other).is_zero for i, each in enumerate(self.maps) for other in pushed[:i]
        )

    def _squares(self, pathway: PathwayModes) -> list[Key]:
        found = []
        for a, mode_class in enumerate(pathway.classes):
            basis = pathway.basis(a)
            sizes = [_multiple(each.T @ (self.norm @ (each @ basis)), basis) for each in self.maps]
            if any(size is None for size in sizes):
                return []
            assert mode_class.d is not None
            square, d = mode_class.eigenvalue[0], mode_class.d[0]
            gains = (
                (size or 0) / source.square
                for size, source in zip(sizes, self.sources, strict=True)
            )
            found.append((square.to_fraction(), d.to_fraction(), *gains))
        return found


def _multiple(image: ExactMatrix, of: ExactMatrix) -> Fraction | None:
    """Return the factor of a matrix, which is not zero, that gives an image; None without one."""
    factor = image.frobenius(of).to_fraction() / of.frobenius(of).to_fraction()
    return factor if image == of.scale(factor) else None


def _kappas(
    p: int, modes: Sequence[PathwayModes], keys: Sequence[list[Key]], drives: _Drives
) -> tuple[list[list[Fraction]], str]:
    """Return kappa of every class and source, or why there is none."""
    own = modes[p].effective
    total = [ExactMatrix.zeros(m.spectrum.n_x, modes[p].spectrum.n_x, ()) for m in drives.first]
    for j, other in enumerate(modes):
        shared = set(own.pathway.outputs) & set(other.effective.pathway.outputs)
        cross = other.effective.cross_sigma_x(own)
        if j == p or not shared or cross.is_zero:
            continue
        if own.pathway.outputs != other.effective.pathway.outputs:
            return [], "share a part of their outputs only"
        if not _keeps_classes(cross, modes[p], keys[p], other, keys[j]):
            return [], "mix modes that are driven differently"
        for q, earlier in enumerate(drives.first):
            total[q] = total[q] + earlier.effective.cross_sigma_x(other.effective) @ cross
    acting = drives.projected([part.reduced() for part in total])
    found = []
    for a in range(len(modes[p].classes)):
        basis = modes[p].basis(a)
        pairs = [
            ((drives.norm @ (x @ basis)).reduced(), (drives.norm @ (f @ basis)).reduced())
            for x, f in zip(acting, drives.maps, strict=True)
        ]
        kappas = [
            Fraction(0) if image.is_zero else None if of.is_zero else _multiple(image, of)
            for image, of in pairs
        ]
        if any(kappa is None for kappa in kappas):
            return [], "turn the directions that they are driven in"
        found.append([kappa or Fraction(0) for kappa in kappas])
    return found, ""


def _keeps_classes(
    cross: ExactMatrix,
    target: PathwayModes,
    mine: list[Key],
    source: PathwayModes,
    theirs: list[Key],
) -> bool:
    """Whether Sigma^x(j,p) maps every class of p to the one of j with the same constants."""
    for a, key in enumerate(mine):
        seen = (cross @ target.basis(a)).reduced()
        others = [source.basis(b) for b, other in enumerate(theirs) if other != key]
        if not seen.is_zero and others and not (ExactMatrix.beside(others).T @ seen).is_zero:
            return False
    return True


def _move_alike(found: list[DrivenClass]) -> bool:
    """Whether classes that are told apart by their constants alone have equal dampings."""
    known: dict[Key, tuple[Fraction, ...]] = {}
    return all(known.setdefault(each.key, each.dampings) == each.dampings for each in found)
