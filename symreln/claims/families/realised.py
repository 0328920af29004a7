"""Whether a dataset for every size is, at numbers for all sizes, the dataset itself."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symreln.claims.families.template import Basis, FamilyTemplate, Sector
    from symreln.spec.model import Dataset


def wrong_image(template: FamilyTemplate, dataset: Dataset, sizes: Mapping[str, Fraction]) -> str:
    """Return what differs between the template at these sizes and a dataset, or "".

    Every basis vector of the samples must have the images under X and Y that the template says,
    the basis vectors must be orthogonal with the template's squared lengths up to one factor a
    copy, and there must be as many as samples.
    """
    count = int(template.sectors[0].inputs.columns.count.substitute(sizes).to_fraction())
    items = dataset.samples // count
    dimension = 0
    for sector in template.sectors:
        copies = template.domain.copy_numbers(items) if sector.copies else (1,)
        for number in copies:
            values = dict(sizes)
            if sector.copies:
                values[sector.copies] = Fraction(number)
            for basis in template.basis(sector, items, count, number):
                dimension += basis.samples.shape[1]
                wrong = _wrong_copy(sector, basis, dataset, values)
                if wrong:
                    return f"{wrong} of sector '{sector.name}'"
    return "" if dimension == dataset.samples else "the number of basis vectors"


def _wrong_copy(
    sector: Sector, basis: Basis, dataset: Dataset, values: Mapping[str, Fraction]
) -> str:
    spaces = (
        (sector.inputs.columns, basis.samples),
        (sector.inputs.rows, basis.inputs),
        (sector.targets.rows, basis.outputs),
    )
    if any(b.gram() != space.lengths.at(values).scale(basis.scale) for space, b in spaces):
        return "the squared lengths"
    images = (
        ("X", dataset.inputs, basis.inputs, sector.inputs),
        ("Y", dataset.targets, basis.outputs, sector.targets),
    )
    for name, whole, image, matrix in images:
        if whole @ basis.samples != image @ matrix.at(values):
            return name
    return ""
