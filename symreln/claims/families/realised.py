"""Whether a dataset for every size is, at numbers for all sizes, the dataset itself."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from symreln.exact.scalar import Scalar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symreln.claims.families.algebra import FamilyMatrix, Space
    from symreln.claims.families.template import Basis, FamilyTemplate, Sector, Vector
    from symreln.exact.sparse import SparseMatrix
    from symreln.spec.model import Dataset

Key = tuple[int, int]
#: Exact values of a vector's entries, as {value: whole number of times it is added}.
Sums = dict[int, dict[Scalar, int]]


def wrong_image(template: FamilyTemplate, dataset: Dataset, sizes: Mapping[str, Fraction]) -> str:
    """Return what differs between the template at these sizes and a dataset, or "".

    Every basis vector of the samples must have the images under X and Y that the template says,
    the basis vectors must be orthogonal with the template's squared lengths up to one factor a
    copy, and there must be as many as samples.
    """
    count = int(template.sectors[0].inputs.columns.count.substitute(sizes).to_fraction())
    items = dataset.samples // count
    columns = _columns(dataset.sparse_inputs), _columns(dataset.sparse_targets)
    dimension = 0
    for sector in template.sectors:
        copies = template.domain.copy_numbers(items) if sector.copies else (1,)
        for number in copies:
            values = dict(sizes)
            if sector.copies:
                values[sector.copies] = Fraction(number)
            for basis in template.basis(sector, items, count, number):
                dimension += len(basis.samples)
                wrong = _wrong_copy(sector, basis, columns, values)
                if wrong:
                    return f"{wrong} of sector '{sector.name}'"
    return "" if dimension == dataset.samples else "the number of basis vectors"


def _columns(matrix: SparseMatrix) -> dict[int, list[tuple[int, Scalar]]]:
    found: dict[int, list[tuple[int, Scalar]]] = {}
    for row, column, value in matrix.nonzero():
        found.setdefault(column, []).append((row, value))
    return found


def _wrong_copy(
    sector: Sector,
    basis: Basis,
    columns: tuple[dict[int, list[tuple[int, Scalar]]], ...],
    values: Mapping[str, Fraction],
) -> str:
    spaces = (
        (sector.inputs.columns, basis.samples),
        (sector.inputs.rows, basis.inputs),
        (sector.targets.rows, basis.outputs),
    )
    if any(not _orthogonal(space, found, basis.scale, values) for space, found in spaces):
        return "the squared lengths"
    pairs = ((sector.inputs, basis.inputs, "X"), (sector.targets, basis.outputs, "Y"))
    for (matrix, rows, name), table in zip(pairs, columns, strict=True):
        entries = _entries(matrix, values)
        for key, vector in basis.samples.items():
            if not _same(_image(vector, table), _expected(entries, rows, key)):
                return name
    return ""


def _orthogonal(
    space: Space,
    found: Mapping[Key, Vector],
    scale: Fraction,
    values: Mapping[str, Fraction],
) -> bool:
    weights = [kind.weight.substitute(values).to_fraction() * scale for kind in space.kinds]
    at: dict[int, list[tuple[Key, int]]] = {}
    products: dict[tuple[Key, Key], int] = {}
    for key, vector in found.items():
        for place, value in vector.items():
            for other, known in at.setdefault(place, []):
                products[other, key] = products.get((other, key), 0) + known * value
            at[place].append((key, value))
            products[key, key] = products.get((key, key), 0) + value * value
    return all(
        total == (weights[first[0]] if first == second else 0)
        for (first, second), total in products.items()
    )


def _entries(
    matrix: FamilyMatrix, values: Mapping[str, Fraction]
) -> tuple[dict[Key, Scalar], dict[Key, Scalar]]:
    """Return D and E at numbers, by (row type, column type)."""
    d, e = (
        {
            (i, j): value.substitute(values)
            for i, row in enumerate(part.rows())
            for j, value in enumerate(row)
            if not value.is_zero
        }
        for part in (matrix.d, matrix.e)
    )
    return d, e


def _image(vector: Vector, table: dict[int, list[tuple[int, Scalar]]]) -> Sums:
    sums: Sums = {}
    for place, factor in vector.items():
        for row, value in table.get(place, ()):
            known = sums.setdefault(row, {})
            known[value] = known.get(value, 0) + factor
    return sums


def _expected(
    entries: tuple[dict[Key, Scalar], dict[Key, Scalar]], rows: Mapping[Key, Vector], key: Key
) -> Sums:
    d, e = entries
    sums: Sums = {}
    for (place, index), vector in rows.items():
        for part, counts in ((d, index == key[1]), (e, True)):
            value = part.get((place, key[0]))
            if value is None or not counts:
                continue
            for row, factor in vector.items():
                known = sums.setdefault(row, {})
                known[value] = known.get(value, 0) + factor
    return sums


def _same(a: Sums, b: Sums) -> bool:
    return all(
        a.get(row) == b.get(row) or _value(a.get(row)) == _value(b.get(row)) for row in {*a, *b}
    )


def _value(terms: dict[Scalar, int] | None) -> Scalar:
    total = Scalar((), 0)
    for value, factor in (terms or {}).items():
        total = value * factor + total
    return total
