"""Dataset, parameters, pathways, their correlations and modes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from symreln.claims.orbits import PathwayOrbit
from symreln.claims.phases import until_text
from symreln.document.described import (
    LARGEST,
    SMALL,
    NamedMatrices,
    Pattern,
    describe,
    groups_of,
    in_decimals,
    matrix_latex,
    outer_factors,
)
from symreln.document.model import (
    Block,
    Code,
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
from symreln.document.symbols import symbol_latex
from symreln.document.typeset import phrase, say, typeset
from symreln.document.words import Notation, assumption, written
from symreln.report.chapters.spectrum import spectrum_blocks

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation, PathwayDerivation
    from symreln.document.model import Content
    from symreln.specs.model import SizeSymbol, Spec

#: Named matrices up to this many entries are printed, larger ones drawn.
_PRINTED_ENTRIES = 160
#: Vectors up to this length are printed.
_PRINTED_VECTOR = 18
#: Correlations up to this many entries are described by blocks; of larger ones the shape is said.
MOST_ENTRIES = 25_000
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
    if max(dataset.samples, dataset.n_x, dataset.n_y) <= SMALL:
        entries = Notation.of(spec).entries
        rows = (("X", dataset.inputs), ("Y", dataset.targets))
        blocks.append(equation(*(f"{name} &= {matrix_latex(entries(m))}" for name, m in rows)))
    if spec.parameters or spec.sizes:
        blocks.append(_parameters(spec))
    blocks += [_pathway_table(spec), *_correlations(derivation)]
    blocks.append(Details(summary="Gates, sample by sample", blocks=(_gates_figure(spec),)))
    blocks += spectrum_blocks(derivation, notation)
    return Section(title="Data, pathways and modes", blocks=tuple(blocks), label="sec:data")


def _projector(spec: Spec) -> str:
    """Return the LaTeX of the projector off boundary samples, empty where there are none."""
    return r"\Pi_p " if any(pathway.boundary for pathway in spec.pathways) else ""


def _pathway_table(spec: Spec) -> Table:
    sized = any(pathway.hidden is not None for pathway in spec.pathways)
    return Table(
        header=(
            *("pathway", "name", "gate", "open samples", "inputs", "outputs", "stage"),
            *(("hidden units",) if sized else ()),
        ),
        rows=tuple(
            (
                Math(str(number)),
                p.name,
                Code(_short(p.gate_text)),
                str(len(p.open_samples)),
                f"{_short(p.inputs_text)} ({len(p.inputs)})",
                f"{_short(p.outputs_text)} ({len(p.outputs)})",
                str(p.stage),
                *((str(p.hidden or "–"),) if sized else ()),
            )
            for number, p in enumerate(spec.pathways, start=1)
        ),
        caption=f"Pathways{until_text(spec)}.",
        alignment="cllrllr" + "r" * sized,
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
            f"{size.value} in all sections but the one for every size."
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


def _range(size: SizeSymbol) -> str:
    most = "" if size.maximum is None else rf" \leq {size.maximum}"
    return rf"{size.minimum} \leq {symbol_latex(size.name)}{most}"


def _short(text: str) -> str:
    return text if len(text) <= 36 else text[:35] + "…"


def _correlations(derivation: Derivation) -> list[Block]:
    """Say which correlations pathways see; the matrices are folded."""
    projector = _projector(derivation.spec)
    gains = any(pathway.has_gains for pathway in derivation.spec.pathways)
    seen = ", off what its boundary samples (/ in the gate) span" * bool(projector)
    blocks: list[Block] = [
        say(
            f"Pathway $p$ sees the inputs $X_p$ of its mask $I_p$ on its open samples{seen}, and 0 "
            "elsewhere; $O_p$ masks its outputs"
            + ", and a gain multiplies both" * gains
            + ". The correlations that drive it are"
        ),
        equation(
            r"\Sigma^{yx}(p) = \tfrac{1}{P}\, O_p Y X_p^{\top}, \qquad "
            r"\Sigma^{x}(j, p) = \tfrac{1}{P}\, X_j X_p^{\top}, \qquad "
            r"\Sigma^{x}(p) = \Sigma^{x}(p, p).",
            label="eq:correlations",
        ),
    ]
    if len(derivation.stages) > 1:
        blocks.append(
            say(
                "For later stages $Y$ is what earlier stages leave once they have converged: the "
                "targets less their orthogonal projection onto the gated inputs, which is exact."
            )
        )
    named = NamedMatrices()
    shown = [
        (pathway, images, _pair(derivation, pathway, named))
        for pathway, images in _shown(derivation)
    ]
    matrices = _block_words([line for *_, each in shown for line in each.lines])
    for pathway, images, each in shown:
        matrices.append(each)
        if images:
            whose = PathwayOrbit(pathways=images).title
            text = f"A symmetry of the dataset maps pathway {pathway.number} to {whose}: their "
            matrices.append(prose(*typeset(f"{text}correlations are these, permuted.")))
    if named.patterns:
        matrices.append(_names(named))
    return [*blocks, Details(summary="The correlation matrices", blocks=tuple(matrices))]


def _block_words(lines: list[str]) -> list[Block]:
    """Say what the letters in blocks mean, of those that occur."""
    words = {
        r"(?<![A-Za-z])I(?![A-Za-z])": "$I$ is an identity matrix",
        r"\\mathbf\{1\}": r"$\mathbf{1}$ a column of ones",
        r"N_\{": "$N_1$, $N_2$ and so on are the matrices of whole numbers below",
    }
    found = [said for letter, said in words.items() if any(re.search(letter, x) for x in lines)]
    if not found:
        return []
    return [say(f"Written in blocks, of the sizes that their places need: {', '.join(found)}.")]


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


def _pair(derivation: Derivation, pathway: PathwayDerivation, named: NamedMatrices) -> Equation:
    """Return the two correlations of a pathway."""
    effective = pathway.effective
    spec, dataset = derivation.spec, derivation.spec.dataset
    inputs = groups_of(effective.pathway.inputs, dataset.input_groups)
    outputs = groups_of(range(dataset.n_y), dataset.output_groups)
    n = pathway.number
    rank = sum(mode.multiplicity for mode in pathway.modes if not mode.is_null)
    lines: list[str] = []
    for matrix, name, rows, more, end in (
        (effective.sigma_yx, "yx", outputs, rf", \quad \text{{of rank }} {rank}", ","),
        (effective.sigma_x, "x", inputs, "", "."),
    ):
        left, (height, width) = rf"\Sigma^{{{name}}}({n}) &", matrix.shape
        few = height * width <= MOST_ENTRIES
        decimals = in_decimals(matrix) if few else None
        if not few or (decimals and max(matrix.shape) > LARGEST):
            lines.append(rf"{left}\in {_field(derivation)}^{{{height} \times {width}}}{more}{end}")
        elif decimals:
            lines += [f"{left}= {decimals[0]}{end}", f"& {decimals[1]}"]
        else:
            shown = describe(matrix, rows, inputs, Notation.of(spec), named)
            lines.append(f"{left}= {shown}{end}")
    return equation(*lines)


def _field(derivation: Derivation) -> str:
    names = ", ".join(symbol_latex(parameter.name) for parameter in derivation.spec.parameters)
    return rf"\mathbb{{Q}}({names})" if names else r"\mathbb{Q}"


def _names(named: NamedMatrices) -> Items:
    """Define the matrices of whole numbers that blocks are made of."""
    found = named.patterns.items()
    return Items(tuple(_name(f"{named.letter}_{{{n}}}", pattern) for pattern, n in found))


def _name(name: str, pattern: Pattern) -> Content:
    """Define a named matrix: as a product of two vectors, in full, or by its entries."""
    vectors = outer_factors(pattern)
    if vectors is not None and max(map(len, vectors)) <= _PRINTED_VECTOR:
        column, row = (", ".join(map(str, vector)) for vector in vectors)
        return Math(rf"{name} = ({column})^{{\top}} ({row})")
    rows, columns = len(pattern), len(pattern[0])
    if rows * columns <= _PRINTED_ENTRIES and columns <= 12:
        return Math(f"{name} = {matrix_latex(pattern, largest=16)}")
    entries = sorted({entry for line in pattern for entry in line})
    shown = ", ".join(map(str, entries[:6])) + (", …" if len(entries) > 6 else "")
    words = f": {rows} × {columns}, entries {shown}; in full in the certificate."
    return (Math(name), words)
