"""Which pathways of a stage, and which pairs of them, are alike by a symmetry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.exact.field import Field

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.exact.spectrum import JointSpectrum
    from symreln.networks.symmetry import Symmetry, SymmetrySearch

Pair = tuple[int, int]
#: (place of a pathway in its stage, number of one of its classes).
Node = tuple[int, int]


class StageSymmetry:
    """The symmetries found among the pathways of one stage.

    Attributes:
        originals: For every pathway (by place in the stage) the first one that it is like; itself
            where there is none.
        symmetries: What maps the original to it; None for originals.
    """

    def __init__(self, members: Sequence[int], search: SymmetrySearch | None) -> None:
        """Search.

        Args:
            members: Places of the stage's pathways in the list that ``search`` knows.
            search: None to treat every pathway by itself.
        """
        self._members = list(members)
        self._place = {member: p for p, member in enumerate(self._members)}
        self._search = search
        self._pairs: dict[Pair, Pair] = {}
        self._invariants: list[tuple[tuple, ...]] | None = None
        self.originals = list(range(len(self._members)))
        self.symmetries: list[Symmetry | None] = [None for _ in self._members]
        if search is not None:
            self._match_pathways(search)

    def _match_pathways(self, search: SymmetrySearch) -> None:
        firsts: list[int] = []
        for p, member in enumerate(self._members):
            for known in firsts:
                symmetry = search.find([self._members[known]], [member])
                if symmetry is not None:
                    self.originals[p], self.symmetries[p] = known, symmetry
                    break
            else:
                firsts.append(p)

    def settle(self, spectra: Sequence[JointSpectrum]) -> None:
        """Take note of the classes, which symmetries of pairs must not mix up.

        Where two classes of a pathway have the same joint eigenvalues, a symmetry need not map
        class to class; then every pair is treated by itself.
        """
        if self._search is None:
            return
        found: list[tuple[tuple, ...]] = []
        for p, spectrum in enumerate(spectra):
            original = self.originals[p]
            found.append(found[original] if original != p else _invariants(spectrum))
        distinct = all(len(set(classes)) == len(classes) for classes in found)
        self._invariants = found
        if not (distinct and all(self._fits(s) for s in self.symmetries if s is not None)):
            self._invariants = None
        self._match_pairs(self._search)

    def _match_pairs(self, search: SymmetrySearch) -> None:
        self._pairs = {}
        for p, symmetry in enumerate(self.symmetries):
            others = [j for j in range(len(self._members)) if j != p]
            if symmetry is None or self._invariants is None:
                self._match_sources(search, p, others)
                continue
            for j in others:
                before = (self.originals[p], self._image(symmetry).index(j))
                self._pairs[p, j] = self._pairs[before]

    def _match_sources(self, search: SymmetrySearch, p: int, others: list[int]) -> None:
        """Find pairs (p, j) and (p, j') that are alike."""
        firsts: list[int] = []
        for j in others:
            self._pairs[p, j] = (p, j)
            if self._invariants is None or len(others) < 2:
                continue
            ends = [self._members[p], self._members[j]]
            if not search.meet(*ends):
                continue  # they do not couple, so there is nothing to share
            for known in firsts:
                symmetry = search.find([self._members[p], self._members[known]], ends)
                if symmetry is not None and self._fits(symmetry):
                    self._pairs[p, j] = (p, known)
                    break
            else:
                firsts.append(j)

    def _image(self, symmetry: Symmetry) -> list[int]:
        """Return the image of every pathway of the stage, by place in the stage."""
        return [self._place[symmetry.pathways[member]] for member in self._members]

    def _fits(self, symmetry: Symmetry) -> bool:
        """Whether classes can be followed: every image has classes with the same invariants."""
        assert self._invariants is not None
        return all(
            set(self._invariants[j]) == set(self._invariants[image])
            for j, image in enumerate(self._image(symmetry))
        )

    def origin(self, p: int, j: int) -> Pair:
        """Return the pair that this one is like, which may be itself."""
        return self._pairs.get((p, j), (p, j))

    def followed(self, before: int, a: int, after: int) -> int:
        """Return the class of pathway ``after`` with the invariants of a class of ``before``."""
        assert self._invariants is not None
        return self._invariants[after].index(self._invariants[before][a])

    def pulled_back(self, node: Node, sources: Sequence[Node]) -> tuple[Node, list[Node]] | None:
        """Return (node, sources) of the original that the node's pathway is like, or None."""
        p, a = node
        symmetry = self.symmetries[p]
        if symmetry is None or self._invariants is None:
            return None
        original, image = self.originals[p], self._image(symmetry)
        moved = []
        for j, i in sources:
            before = image.index(j)
            moved.append((before, self.followed(j, i, before)))
        return (original, self.followed(p, a, original)), sorted(moved)


def _invariants(spectrum: JointSpectrum) -> tuple[tuple, ...]:
    """Return what tells the joint eigenvalues of classes apart, one entry a class."""
    found = []
    for mode_class in spectrum.classes:
        field = Field(mode_class.minpoly)
        eigenvalue, d = mode_class.eigenvalue, mode_class.d
        elements = [eigenvalue] if d is None else [eigenvalue, d, field.add(eigenvalue, d)]
        found.append(
            (mode_class.degree, *(tuple(str(c) for c in field.characteristic(e)) for e in elements))
        )
    return tuple(found)
