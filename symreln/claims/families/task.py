"""A spec with size symbols, as far as it is the same for every size."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import sympy as sp

from symreln.base.records import record
from symreln.exact.scalar import Scalar
from symreln.verifier.sizes import NotForEverySizeError

if TYPE_CHECKING:
    from symreln.specs.model import Spec

#: Which contexts a pathway sees, by whether there is one for each context and its gate as written.
_GATES = {
    (False, "all"): "all",
    (True, "context == {context}"): "own",
    (True, "context != {context}"): "others",
}
_INPUTS = {"all": ("items", "contexts"), "items": ("items",), "contexts": ("contexts",)}


@record
class Template:
    """The one pathway of a stage, or its pathways, one for each context.

    Attributes:
        name: Name, with the label in braces where there is one pathway a context.
        first: Name of the pathway, or of the first of them.
        stage: Training stage.
        gate: Which contexts it sees: "all", or of one a context "own" or "others".
        inputs: The groups of inputs that it sees.
    """

    name: str
    first: str
    stage: int
    gate: str
    inputs: tuple[str, ...]

    @property
    def each(self) -> bool:
        """Whether there is one pathway a context."""
        return self.gate != "all"

    @property
    def title(self) -> str:
        """The name of the pathway, or of all that it stands for."""
        several = f"pathways ‘{self.name.replace('{context}', '…')}’ (one for each context)"
        return several if self.each else f"pathway ‘{self.name}’"


@record
class Size:
    """The number of items or of contexts.

    Attributes:
        symbol: Its name; None where it is one number.
        least: Least value.
        at: Declared value.
        number: The symbol, or the number.
    """

    symbol: str | None
    least: int
    at: int
    number: Scalar


@record
class Task:
    """The contextual task with its pathways, the sizes being symbols.

    Attributes:
        symbols: Parameters, sizes and u, the number of wavelets of one size, by name.
        items: n, a power of 2.
        contexts: C.
        copies: u, which runs over 1, 2, 4, … n/2.
        scale: The value of an active context input.
        templates: One a stage, in order.
    """

    symbols: dict[str, sp.Symbol]
    items: Size
    contexts: Size
    copies: Scalar
    scale: Scalar
    templates: tuple[Template, ...]

    @property
    def sizes(self) -> tuple[Size, ...]:
        """Those that are symbols."""
        return tuple(size for size in (self.items, self.contexts) if size.symbol)

    @property
    def samples(self) -> sp.Expr:
        """P."""
        return (self.items.number * self.contexts.number).to_sympy(self.symbols)

    def root(self, value: Scalar) -> sp.Expr:
        """Return the square root of a rational function that is not negative, factored."""
        return sp.sqrt(sp.factor(value.to_sympy(self.symbols)))  # pyright: ignore


def task_of(spec: Spec) -> Task:
    """Return what a spec is for every size.

    Raises:
        NotForEverySizeError: With the reason.
    """
    written, symbols = spec.written, {**spec.symbols, **{s.name: s.symbol for s in spec.sizes}}
    _require(spec.dataset.task == "contextual", "formulas are known for the contextual task alone")
    structures = {*re.findall(r"\w+", written["structures"])}
    _require(structures == {"hierarchy"}, "formulas are known where all have the hierarchy")
    scaled = {size.name for size in spec.sizes} & {*re.findall(r"\w+", written["context_scale"])}
    _require(not scaled, "formulas are known where the scale of contexts depends on no size")
    copies = "u"  # no parameter's
    symbols[copies] = sp.Symbol(copies, integer=True, positive=True)
    items, contexts = (_size(spec, option, tuple(symbols)) for option in ("items", "contexts"))
    least = 1 << max(1, (items.least - 1).bit_length())  # of a binary tree
    templates = tuple(sorted(_templates(spec, contexts.least), key=lambda each: each.stage))
    good = tuple(template.stage for template in templates) == spec.stages and not spec.switches
    known = "every stage has one pathway, or one for each context, and no gate switches"
    _require(good, f"formulas are known where {known}")
    return Task(
        symbols=symbols,
        items=replace(items, least=least),
        contexts=contexts,
        copies=Scalar.symbol(copies, tuple(symbols)),
        scale=Scalar.of(spec.dataset.inputs.entry(items.at, 0), tuple(symbols)),
        templates=templates,
    )


def _size(spec: Spec, option: str, names: tuple[str, ...]) -> Size:
    for size in spec.sizes:
        if size.option == option:
            number = Scalar.symbol(size.name, names)
            return Size(symbol=size.name, least=size.minimum, at=size.value, number=number)
    value = int(spec.written[option])
    return Size(symbol=None, least=value, at=value, number=Scalar(names, value))


def _templates(spec: Spec, least: int) -> Iterator[Template]:
    family_of = {member: family for family in spec.families for member in family.members}
    for place, pathway in enumerate(spec.pathways):
        family = family_of.get(place)
        if family is not None and place != family.members[0]:
            continue
        name, text, inputs, outputs = (
            (family.name, family.gate, family.inputs, family.outputs)
            if family is not None
            else (pathway.name, pathway.gate_text, pathway.inputs_text, pathway.outputs_text)
        )
        gate = _GATES.get((family is not None, text))
        known = _INPUTS if gate == "all" else ("items",)
        good = gate is not None and inputs in known and outputs == "all"
        said = f"gate {text[:80]}, inputs {inputs}, outputs {outputs}, from {least} contexts on"
        _require(good and (least > 1 or not family), f"no formulas are known for '{name}': {said}")
        yield Template(
            name=name,
            first=pathway.name,
            stage=pathway.stage,
            gate=gate or "",
            inputs=_INPUTS[inputs],
        )


def _require(holds: bool, reason: str) -> None:
    if not holds:
        raise NotForEverySizeError(reason)
