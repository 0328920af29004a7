"""Dataset, parameters, pathways, effective datasets and their correlations."""

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
from symreln.document.typeset import say, typeset
from symreln.document.words import Notation, assumption, written
from symreln.laws.law import Regime

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation, PathwayDerivation
    from symreln.document.inlines import Content, Inline
    from symreln.specs.model import Dataset, SizeSymbol, Spec

#: Named matrices up to this many entries are printed, larger ones drawn.
_PRINTED_ENTRIES = 160
#: Vectors up to this length are printed.
_PRINTED_VECTOR = 18
#: Correlations up to this many entries are described by blocks; of larger ones the shape is said.
MOST_ENTRIES = 25_000
#: Pathways up to which the correlations of each are printed.
MOST_CORRELATIONS = 8


def _described(dataset: Dataset) -> tuple[Inline | str, ...]:
    """Return what the data are; a task's own sentence has the symbols of its parameters."""
    if not dataset.task:
        return (dataset.description or "A dataset given by its matrices.",)
    return typeset(dataset.description)


def data_chapter(derivation: Derivation) -> Section:
    """Return the chapter on the dataset and the gates."""
    spec = derivation.spec
    dataset = spec.dataset
    blocks: list[Block] = [
        prose(*_described(dataset)),
        say(
            "There are {samples} samples with {n_x} inputs and {n_y} outputs, one column a "
            r"sample, $x_\mu$ and $y_\mu$, in $X$ and $Y$; every entry is exact.",
            samples=Math(f"P = {dataset.samples}"),
            n_x=Math(f"n_x = {dataset.n_x}"),
            n_y=Math(f"n_y = {dataset.n_y}"),
        ),
    ]
    if max(dataset.samples, dataset.n_x, dataset.n_y) <= SMALL:
        blocks.append(
            equation(
                *(
                    f"{name} &= {matrix_latex(Notation.of(spec).entries(matrix))}"
                    for name, matrix in (("X", dataset.inputs), ("Y", dataset.targets))
                )
            )
        )
    if spec.parameters or spec.sizes:
        blocks.append(_parameters(spec))
    blocks += [_read_as(spec), _pathway_table(spec), _gates_figure(spec)]
    return Section(title="Dataset and pathways", blocks=tuple(blocks), label="sec:data")


def _read_as(spec: Spec) -> Block:
    """Say what a pathway contributes to the output."""
    gains = any(pathway.has_gains for pathway in spec.pathways)
    projector = _projector(spec)
    return prose(
        "The network is read as a gated deep linear network: pathway ",
        Math("p"),
        " with layers of weights ",
        Math(_layer_names(spec)),
        ", gate ",
        Math(r"g_p(\mu)" + r" \in \{0, 1\}" * (not gains)),
        " (0, 1, or a gain that multiplies what the pathway gives out)" * gains,
        ", input mask ",
        Math("I_p"),
        " and output mask ",
        Math("O_p"),
        " contributes ",
        Math(rf"g_p(\mu)\, O_p {_layers(spec)} {projector}I_p x_\mu"),
        " to the output.",
        *(
            (
                " Samples with / in the gate are on its boundary: ",
                Math(r"\Pi_p"),
                " projects on what is orthogonal to their inputs, so that units of the pathway "
                "have a pre-activation of 0 on them.",
            )
            if projector
            else ()
        ),
    )


def _projector(spec: Spec) -> str:
    """Return the LaTeX of the projector off boundary samples, empty where there are none."""
    return r"\Pi_p " if any(pathway.boundary for pathway in spec.pathways) else ""


def _layers(spec: Spec) -> str:
    """Return the LaTeX of the product of a pathway's layers."""
    count = Regime.of(spec).layers
    if count <= 3:
        return " ".join(f"W^{{({layer})}}_p" for layer in range(count, 0, -1))
    return rf"W^{{({count})}}_p \cdots W^{{(1)}}_p"


def _layer_names(spec: Spec) -> str:
    """Return the LaTeX of a list of a pathway's layers."""
    count = Regime.of(spec).layers
    names = [f"W^{{({layer})}}_p" for layer in range(1, count + 1)]
    return ", ".join(names if count <= 3 else [names[0], r"\ldots", names[-1]])


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


def _parameters(spec: Spec) -> Table:
    """Return the declared symbols: those in the data, and those that stand for sizes."""
    rows: list[tuple[Content, ...]] = [
        (
            Math(symbol_latex(size.name)),
            (f"number of {size.option}, ", Math(_range(size))),
            Code(str(size.value)),
        )
        for size in spec.sizes
    ]
    rows += [
        (
            Math(symbol_latex(p.name)),
            assumption(p),
            "none" if p.value is None else Code(written(p.value)),
        )
        for p in spec.parameters
    ]
    more = " Sizes are symbols in one section only, which has the answer for all of them."
    marked = [p.name for p in spec.parameters if p.given != p.name]
    bars = " Formulas use letters without the bar for something else." if marked else ""
    return Table(
        header=("parameter", "assumed", "value where numbers are needed"),
        rows=tuple(rows),
        caption="Declared parameters. Formulas hold for all values that are allowed."
        + more * bool(spec.sizes)
        + bars,
    )


def _range(size: SizeSymbol) -> str:
    most = "" if size.maximum is None else rf" \leq {size.maximum}"
    return rf"{size.minimum} \leq {symbol_latex(size.name)}{most}"


def _short(text: str) -> str:
    return text if len(text) <= 36 else text[:35] + "…"


def correlation_chapter(derivation: Derivation) -> Section:
    """Return the chapter on effective datasets and correlations."""
    named = NamedMatrices()
    gains = any(pathway.has_gains for pathway in derivation.spec.pathways)
    blocks: list[Block] = [
        say(
            "Pathway $p$ sees the effective dataset {projector}, {gains}. Its correlations "
            "carry $1/P$ over the whole dataset:",
            projector=Math(rf"X_p = {_projector(derivation.spec)}I_p X \operatorname{{diag}}(g_p)"),
            gains=Math(r"Y_p = O_p Y" + r" \operatorname{diag}(g_p)" * (not gains)),
        ),
        equation(
            r"\Sigma^{yx}(p) &= \tfrac{1}{P}\, Y_p X_p^{\top}, \qquad "
            r"\Sigma^{x}(j, p) = \tfrac{1}{P}\, X_j X_p^{\top},",
            r"\Sigma^{x}(p) &= \Sigma^{x}(p, p), \qquad "
            r"\Sigma^{y} = \tfrac{1}{P}\, Y Y^{\top}.",
            label="eq:correlations",
        ),
    ]
    if len(derivation.stages) > 1:
        blocks.append(
            prose(
                "A pathway of a later stage learns what the earlier stages leave. Here they are "
                "taken as converged: their outputs are the orthogonal projection of the targets "
                "onto the row space of their gated inputs (with one pathway, ",
                Math(r"W^{*} = \Sigma^{yx} (\Sigma^{x})^{+}"),
                "), which is rational, so the residual dataset is exact.",
            )
        )
    shown = [
        (pathway, images, _correlations(derivation, pathway, named))
        for pathway, images in _shown(derivation)
    ]
    blocks += _block_words([line for *_, matrices in shown for line in matrices.lines])
    for pathway, images, matrices in shown:
        blocks.append(matrices)
        if images:
            blocks.append(
                prose(
                    *typeset(
                        f"A symmetry of the dataset maps pathway {pathway.number} to "
                        f"{PathwayOrbit(pathways=images).title}: their correlations are these, "
                        "permuted."
                    )
                )
            )
    if named.patterns:
        blocks.append(_names(named))
    return Section(
        title="Effective datasets and correlations", blocks=tuple(blocks), label="sec:correlations"
    )


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


def _correlations(
    derivation: Derivation, pathway: PathwayDerivation, named: NamedMatrices
) -> Equation:
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


def _names(named: NamedMatrices) -> Details:
    items = tuple(
        _name(f"{named.letter}_{{{number}}}", pattern) for pattern, number in named.patterns.items()
    )
    return Details(
        summary="The integer matrices that the blocks are made of", blocks=(Items(items),)
    )


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
