"""The child that encloses what the worker may not finish: ``python -m symreln.limits.witness``.

It factors nothing: correlations at the declared values, their commutators, and boxes that hold
every singular value (:mod:`symreln.exact.certified`). At a limit it writes the document.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symreln.limits.processes import die_with_parent, end_if_orphaned

if TYPE_CHECKING:
    from fractions import Fraction

    from symreln.exact.certified import Enclosed
    from symreln.exact.spectrum import Commutator
    from symreln.limits.steps import StepWriter
    from symreln.pathways.effective import EffectiveDataset
    from symreln.spec.model import Spec


def witness(
    spec: Spec,
    tell: StepWriter,
    stop: Callable[[], bool],
    only: Collection[int] | None = None,
    rough: Callable[[], object] = lambda: None,
) -> None:
    """Tell enclosures of every pathway's spectrum, stage by stage, rough ones first.

    Args:
        spec: The spec; parameters without a value leave nothing to enclose.
        tell: Where they go.
        stop: Asked between two pieces of work whether to end.
        only: In a hurry: the numbers of the pathways that are wanted, roughly.
        rough: Called when all rough ones are told.
    """
    from symreln.limits.stages import effective_stages

    bare = [parameter.name for parameter in spec.parameters if parameter.value is None]
    if bare:
        tell.say("bare", {"why": f"no value is declared for {', '.join(bare)}"})
        if only is None:
            _symbolic(spec, tell, stop, {})
        return
    refuted: dict[int, bool] = {}
    waiting: list[tuple[int, EffectiveDataset, Commutator | None]] = []
    for number, effective in effective_stages(spec.at_values()):
        if stop():
            return
        if only is not None and number not in only:
            continue
        found = _commutator(effective)
        refuted[number] = found is not None
        truth = "refuted" if found else "undecided" if spec.parameters else "proven"
        _tell_boxes(tell, spec, number, effective, found, truth, refine=False)
        waiting.append((number, effective, found))
    if only is not None:
        return
    rough()
    proven = _symbolic(spec, tell, stop, refuted)
    for number, effective, found in waiting:
        if stop():
            return
        truth = "refuted" if found else proven.get(number, "proven")
        if found is None and spec.parameters and number not in proven:
            truth = "undecided"
        _tell_boxes(tell, spec, number, effective, found, truth, refine=True)


def _symbolic(
    spec: Spec, tell: StepWriter, stop: Callable[[], bool], refuted: dict[int, bool]
) -> dict[int, str]:
    """Decide for all parameter values whether correlations commute, in the first stage.

    What fails at one point fails as an identity; later stages learn from residuals whose exact
    form in the parameters is the worker's to find.
    """
    from symreln.limits.stages import first_stage

    decided: dict[int, str] = {}
    if not spec.parameters:
        return decided
    for number, effective in first_stage(spec):
        if stop():
            break
        if refuted.get(number):
            continue
        found = _commutator(effective)
        decided[number] = "proven" if found is None else "refuted"
        if not refuted:
            shown = None if found is None else _shown(spec, found)
            content = {"commutes": decided[number], "commutator": shown, "enclosures": None}
            tell.say("boxes", {"pathway": number, "at": None, **content})
    return decided


def _commutator(effective: EffectiveDataset) -> Commutator | None:
    from symreln.exact.spectrum_json import commutator_of

    yx, x = effective.sigma_yx.aligned(effective.sigma_x)
    return commutator_of((yx.T @ yx).reduced(), x.reduced())


def _tell_boxes(
    tell: StepWriter,
    spec: Spec,
    number: int,
    effective: EffectiveDataset,
    found: Commutator | None,
    truth: str,
    *,
    refine: bool,
) -> None:
    from symreln.exact.certified import enclose_spectrum

    yx, x = effective.sigma_yx.reduced(), effective.sigma_x.reduced()
    boxes = None
    try:
        boxes = enclose_spectrum(yx.T @ yx, None if found else x, refine=refine)
    except ArithmeticError as error:
        name = spec.pathways[number - 1].name
        tell.say("bare", {"why": f"the numbers of '{name}' leave the range of floats ({error})"})
    tell.say(
        "boxes",
        {
            "pathway": number,
            "at": {name: str(value) for name, value in spec.values.items()},
            "commutes": truth,
            # Not at first: SymPy, which writes it, takes longer to import than all the rest.
            "commutator": _shown(spec, found) if found is not None and refine else None,
            "enclosures": None if boxes is None else [_box(box) for box in boxes],
        },
    )


def _box(box: Enclosed) -> dict[str, Any]:
    return {"s": _ball(*box.s), "d": None if box.d is None else _ball(box.d, box.radius)}


def _ball(middle: Fraction, radius: Fraction) -> dict[str, str]:
    from symreln.exact.certified import interval_text

    decimal, bound = interval_text(middle, radius)
    return {"decimal": decimal, "radius": bound}


def _shown(spec: Spec, found: Commutator) -> dict[str, Any]:
    from symreln.exact.algebraic import AlgebraicNumber

    norm = AlgebraicNumber.rational(found.relative_norm_squared, is_sqrt=True)
    value = AlgebraicNumber.rational(found.value)
    return {
        "relative_norm": norm.to_json(spec.values, spec.symbols),
        "witness": {
            "index_base": 0,
            "row": found.row,
            "column": found.column,
            "value": value.to_json(spec.values, spec.symbols),
        },
    }


def write_document(partial: dict[str, Any], folder: Path, formats: tuple[str, ...]) -> None:
    """Write derivation.html and derivation.tex of a derivation that was cut short."""
    from symreln.report import html, latex
    from symreln.report.chapters.limits import limited_document

    document = limited_document(partial)
    wanted = set(formats or ("tex", "html"))
    if "html" in wanted:
        html.save(document, folder / "derivation.html")
    if "tex" in wanted:
        latex.save(document, folder / "derivation.tex")


def main() -> None:
    """Enclose what the first line of stdin names; write the document that a later one asks for."""
    die_with_parent()
    line = sys.stdin.buffer.readline()
    if not line:  # the parent is gone already
        os._exit(1)
    message = json.loads(line)
    end_if_orphaned(message["parent"])
    only = message["only"]

    from symreln.commands import Request, load_spec
    from symreln.limits.steps import StepWriter

    request = Request.from_json(message["request"])
    asked: queue.Queue[dict[str, Any] | None] = queue.Queue()
    threading.Thread(target=_listen, args=(asked,), daemon=True).start()
    tell = StepWriter(message["steps"])
    if only != []:
        try:
            spec = load_spec(request)
            tell.spec(spec)
            witness(spec, tell, lambda: not asked.empty(), only, _step_back)
        except Exception as error:
            # A wrong spec is the worker's to tell, and then nobody asks for enclosures.
            tell.say("bare", {"why": f"enclosing them failed ({type(error).__name__}: {error})"})
    tell.say("done", {})
    # Before they are needed in a hurry.
    from symreln.report import html, latex  # noqa: F401
    from symreln.report.chapters import limits  # noqa: F401

    order = asked.get()
    if order is not None:
        partial = json.loads(Path(order["partial"]).read_bytes())
        write_document(partial, request.folder, request.formats)
        tell.say("document", {})


def _step_back() -> None:
    """Leave the processor to the worker, whose time is the user's, in what is no longer urgent."""
    if hasattr(os, "nice"):
        os.nice(10)


def _listen(asked: queue.Queue[dict[str, Any] | None]) -> None:
    for line in sys.stdin.buffer:
        asked.put(json.loads(line))
    asked.put(None)


if __name__ == "__main__":
    main()
