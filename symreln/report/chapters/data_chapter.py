"""Dataset, parameters, pathways, their correlations and modes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from symreln.claims.derivation import Derivation, PathwayDerivation
from symreln.claims.pathway_orbits import PathwayOrbit
from symreln.document.document_model import (
    Block,
    Code,
    Content,
    Details,
    Equation,
    Figure,
    Items,
    Math,
    Section,
    Table,
    equation,
    prose,
)
from symreln.document.letter_widths import latex_width
from symreln.document.numerals import decimal_rows
from symreln.document.symbols import symbol_latex
from symreln.document.typeset import phrase, say, typeset
from symreln.document.words import Notation, assumption, is_long, written
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from symreln.networks.pathway import PathwaySpec
from symreln.report.chapters.mode_tables import spectrum_blocks
from symreln.specs.finding import cut
from symreln.specs.spec import Parameter, Spec

#: A named run of rows or columns.
_Group = tuple[str, tuple[int, ...]]
#: Rows or columns up to which a matrix is printed in full, in decimals, and by blocks; letters of
#: the widest one.
_SMALL, _LARGEST, _WIDEST = 7, 10, 60.0
#: Letters of what a pathway is given by.
_NAME = 36
#: Pathways up to which the correlations of each are printed.
MOST_CORRELATIONS = 8


def data_chapter(derivation: Derivation, notation: Notation) -> Section:
    """Return the chapter on the dataset, the gates, and what pathways see.

    Args:
        derivation: What is shown.
        notation: How numbers are printed.
    """
    spec = derivation.spec
    dataset = spec.dataset
    blocks: list[Block] = [
        say(
            f"There are $P = {dataset.samples}$ samples with $n_x = {dataset.n_x}$ inputs and "
            f"$n_y = {dataset.n_y}$ outputs, "
            r"one column a sample, $x_\mu$ and $y_\mu$, in $X$ and $Y$; every entry is exact."
        ),
    ]
    if max(dataset.samples, dataset.n_x, dataset.n_y) <= _SMALL:
        rows = (("X", dataset.inputs), ("Y", dataset.targets))
        blocks.append(
            equation(*(f"{name} &= {_matrix_latex(notation.entries(m))}" for name, m in rows))
        )
    if spec.parameters or spec.sizes:
        blocks.append(_parameters(spec))
    blocks += [_pathway_table(derivation), *_correlations(derivation)]
    blocks.append(Details(summary="Gates, sample by sample", blocks=(_gates_figure(spec),)))
    blocks += spectrum_blocks(derivation, notation)
    return Section(title="Data, pathways and modes", blocks=tuple(blocks), label="sec:data")


def _pathway_table(derivation: Derivation) -> Table:
    """Return the pathways; gates of paths are those of their nodes, which the graph shows."""
    spec = derivation.spec
    given = any(pathway.hidden is not None for pathway in spec.pathways)
    columns: list[tuple[Content, str, Callable[[PathwaySpec], Content]]] = [
        ("name", "l", lambda p: p.name),
        *[("gate", "l", lambda p: Code(cut(p.gate_text, _NAME)))] * (spec.graph is None),
        ("open samples", "r", lambda p: str(len(p.open_samples))),
        ("inputs", "l", lambda p: f"{cut(p.inputs_text, _NAME)} ({len(p.inputs)})"),
        ("outputs", "l", lambda p: f"{cut(p.outputs_text, _NAME)} ({len(p.outputs)})"),
        ("stage", "r", lambda p: str(p.stage)),
        *[("hidden units", "r", lambda p: str(p.hidden or "–"))] * given,
    ]
    return Table(
        header=("pathway", *(name for name, _, _ in columns)),
        rows=tuple(
            (Math(str(number)), *(cell(pathway) for _, _, cell in columns))
            for number, pathway in enumerate(spec.pathways, start=1)
        ),
        caption=f"Pathways{derivation.until_text}.",
        alignment="c" + "".join(mark for _, mark, _ in columns),
    )


def _gates_figure(spec: Spec) -> Figure:
    gains = any(pathway.has_gains for pathway in spec.pathways)
    return Figure(
        name="gates",
        caption="Gate pattern: which samples each pathway sees"
        + (", with a gate of 1 or with a gain" if gains else "")
        + ("; a row of its own from each step at which a gate switches." if spec.switches else "."),
        alt=f"Raster of {len(spec.pathways)} pathways against {spec.dataset.samples} samples.",
    )


def _parameters(spec: Spec) -> Items:
    """Return the declared symbols: those in the data, and those that stand for sizes."""
    sizes = [
        phrase(
            f"${symbol_latex(size.name)}$, the number of {size.option}: ${_range(size)}$, "
            f"{size.value} where a formula does not name it."
        )
        for size in spec.sizes
    ]
    declared = [
        phrase(
            f"${symbol_latex(p.name)}$: {{assumed}}{{value}}. Formulas hold for all these values.",
            assumed=assumption(p),
            value="" if p.value is None else f", {written(p.value)} where numbers are needed",
        )
        for p in spec.parameters
    ]
    marked = any(p.given != p.name for p in spec.parameters)
    bars = [phrase("Formulas use letters without the bar for something else.")] * marked
    return Items((*sizes, *declared, *bars))


def _range(size: Parameter) -> str:
    most = "" if size.maximum is None else rf" \leq {size.maximum}"
    return rf"{size.minimum} \leq {symbol_latex(size.name)}{most}"


def _correlations(derivation: Derivation) -> Iterator[Block]:
    """Say which correlations pathways see; the matrices are folded."""
    pathways = derivation.spec.pathways
    gains = any(pathway.has_gains for pathway in pathways)
    boundary = any(pathway.boundary for pathway in pathways)
    seen = ", off what its boundary samples (/ in the gate) span" * boundary
    yield say(
        f"Pathway $p$ sees the inputs $X_p$ of its mask $I_p$ on its open samples{seen}, and 0 "
        "elsewhere; $O_p$ masks its outputs"
        + ", and a gain multiplies both" * gains
        + ". The correlations that drive it are"
    )
    yield equation(
        r"\Sigma^{yx}(p) = \tfrac{1}{P}\, O_p Y X_p^{\top}, \qquad "
        r"\Sigma^{x}(j, p) = \tfrac{1}{P}\, X_j X_p^{\top}, \qquad "
        r"\Sigma^{x}(p) = \Sigma^{x}(p, p).",
        label="eq:correlations",
    )
    if len(derivation.stages) > 1:
        yield say(
            "For later stages $Y$ is what earlier stages leave once they have converged: the "
            "targets less their orthogonal projection onto the gated inputs, which is exact."
        )
    matrices: list[Block] = []
    for pathway, images in _shown(derivation):
        matrices.append(_pair(derivation, pathway))
        if images:
            whose = PathwayOrbit(pathways=images).title
            text = f"A symmetry of the dataset maps pathway {pathway.number} to {whose}: their "
            matrices.append(prose(*typeset(f"{text}correlations are these, permuted.")))
    lines = (line for each in matrices if isinstance(each, Equation) for line in each.lines)
    if any(re.search(r"\bI\b|mathbf\{1", line) for line in lines):
        said = r"In blocks $I$ is an identity matrix, and $\mathbf{1}$ a column of ones."
        matrices.insert(0, say(said))
    yield Details(summary="The correlation matrices", blocks=tuple(matrices))


def _shown(
    derivation: Derivation,
) -> list[tuple[PathwayDerivation, tuple[PathwayDerivation, ...]]]:
    """Return the pathways whose correlations are printed, each with those it stands for.

    All of a few pathways are printed, of many only those that no symmetry maps to an earlier one.
    """
    pathways = derivation.pathways
    if len(pathways) <= MOST_CORRELATIONS:
        return [(pathway, ()) for pathway in pathways]
    images: dict[int, list[PathwayDerivation]] = {}
    for pathway in pathways:
        origin = pathway.effective
        while origin.image is not None:
            origin = origin.image.original
        images.setdefault(id(origin), []).append(pathway)
    return [(first, tuple(others)) for first, *others in images.values()]


def _pair(derivation: Derivation, pathway: PathwayDerivation) -> Equation:
    """Return the two correlations of a pathway; where they are, if no blocks say them."""
    effective, n = pathway.effective, pathway.number
    dataset = derivation.spec.dataset
    inputs = _groups_of(effective.pathway.inputs, dataset.input_groups)
    outputs = _groups_of(range(dataset.n_y), dataset.output_groups)
    lines: list[str] = []
    for matrix, name, rows, more, end in (
        (effective.sigma_yx, "yx", outputs, rf", \quad \text{{of rank }} {pathway.rank}", ","),
        (effective.sigma_x, "x", inputs, "", "."),
    ):
        left, (height, width) = rf"\Sigma^{{{name}}}({n}) &", matrix.shape
        decimals = _in_decimals(matrix) if max(height, width) <= _LARGEST else None
        shown = _describe(matrix, rows, inputs, Notation.of(derivation.spec))
        if decimals:
            lines += [f"{left}= {decimals[0]}{end}", f"& {decimals[1]}"]
        elif shown is not None and latex_width(shown) <= _WIDEST:
            lines.append(f"{left}= {shown}{end}")
        else:
            lines.append(rf"{left}\in {_field(derivation)}^{{{height} \times {width}}}{more}{end}")
    return equation(*lines)


def _in_decimals(matrix: ExactMatrix) -> tuple[str, str] | None:
    """Return the LaTeX of a matrix of long fractions in decimals, and of a line on their error.

    None of a matrix whose entries can be printed as they are.
    """
    rows = matrix.to_fractions() if matrix.is_constant and not matrix.is_zero else []
    if not any(is_long(entry) for row in rows for entry in row):
        return None
    front, shown, error = decimal_rows(rows)
    power = rf"10^{{{front}}} " * bool(front)
    said = rf"\text{{(entries to }} \pm {error} \text{{; the certificate has them exactly)}}"
    return power + _matrix_latex(shown), said


def _describe(
    matrix: ExactMatrix, rows: Sequence[_Group], columns: Sequence[_Group], notation: Notation
) -> str | None:
    """Return the LaTeX of a matrix, in full or by blocks; None where blocks do not say it."""
    if max(matrix.shape) <= _SMALL:
        return _matrix_latex(notation.entries(matrix))
    cells = [[_block(matrix, row, column, notation) for _, column in columns] for _, row in rows]
    if not all(map(all, cells)):
        return None
    return cells[0][0] if len(cells) == len(cells[0]) == 1 else _matrix_latex(cells)


def _matrix_latex(cells: Sequence[Sequence[str]]) -> str:
    body = r" \\ ".join(" & ".join(row) for row in cells)
    return rf"\begin{{pmatrix}} {body} \end{{pmatrix}}"


def _block(
    matrix: ExactMatrix, rows: tuple[int, ...], columns: tuple[int, ...], notation: Notation
) -> str:
    """Return a block: 0, a multiple of I or of ones, or a sum of both; empty where it is none."""
    block = matrix.select(rows=rows, columns=columns)
    if block.is_zero:
        return "0"
    entries, square = block.rows(), len(rows) == len(columns) > 1
    on, off = entries[0][0], entries[0][-1]
    for row, own in enumerate(entries):
        if any(x != (on if square and row == column else off) for column, x in enumerate(own)):
            return ""
    ones = (off, r"\mathbf{1}\mathbf{1}^{\top}" * (block.shape != (1, 1)))
    parts = [ones] if on == off else [(on - off, "I"), *([ones] if off != 0 else [])]
    return " + ".join(_times(each, notation, shape) for each, shape in parts).replace("+ -", "- ")


def _times(factor: Scalar, notation: Notation, shape: str) -> str:
    if shape and factor in (1, -1):
        return "-" * (factor == -1) + shape
    expr = factor.to_sympy(notation.symbols)
    printed = notation.latex(expr)
    if expr.is_Add and shape:
        printed = rf"\left({printed}\right)"
    return rf"{printed}\,{shape}" if shape else printed


def _groups_of(indices: Sequence[int], groups: Mapping[str, tuple[int, ...]]) -> list[_Group]:
    """Return the groups as runs of positions in ``indices``, if they partition it in order.

    Without such a partition there is one group with no name.
    """
    place = {index: position for position, index in enumerate(indices)}
    found = [
        (name, tuple(place[i] for i in members if i in place)) for name, members in groups.items()
    ]
    found = sorted((g for g in found if g[1]), key=lambda group: group[1])
    if [position for _, run in found for position in run] == list(range(len(indices))):
        return found
    return [("", tuple(range(len(indices))))]


def _field(derivation: Derivation) -> str:
    names = ", ".join(symbol_latex(parameter.name) for parameter in derivation.spec.parameters)
    return rf"\mathbb{{Q}}({names})" if names else r"\mathbb{Q}"
