"""The child that encloses what the worker may not finish: ``python -m symreln.limits.witness``.

It factors nothing: correlations at the declared values, their commutators, and boxes that hold
every singular value (:mod:`symreln.exact.certified`).
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from symreln.base.processes import first_message

if TYPE_CHECKING:
    from fractions import Fraction

    from symreln.exact.certified import Enclosed
    from symreln.exact.matrix import ExactMatrix
    from symreln.exact.spectrum import Commutator
    from symreln.limits.stages import Orbit
    from symreln.limits.steps import StepWriter
    from symreln.network.effective import EffectiveDataset
    from symreln.spec.model import Spec


def witness(
    spec: Spec,
    tell: StepWriter,
    stop: Callable[[], bool],
    only: Set[int] | None = None,
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
    from symreln.limits.stages import orbits

    bare = [parameter.name for parameter in spec.parameters if parameter.value is None]
    if bare:
        tell.say("bare", {"why": f"no value is declared for {', '.join(bare)}"})
        if only is None:
            _symbolic(spec, tell, stop, {})
        return
    seen: list[_Seen] = []
    for orbit in orbits(spec.at_values()):
        if stop():
            return
        if only is not None and only.isdisjoint(orbit.numbers):
            continue
        seen.append(_Seen.of(orbit))
        _tell_boxes(tell, spec, seen[-1], seen[-1].truth(spec, {}), refine=False)
    if only is not None:
        return
    rough()
    refuted = {n: each.refuted for each in seen for n in each.orbit.numbers}
    proven = _symbolic(spec, tell, stop, refuted)
    for each in seen:
        if stop():
            return
        _tell_boxes(tell, spec, each, each.truth(spec, proven), refine=True)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Seen:
    """Pathways that are alike at the declared values, and whether their correlations commute.

    Attributes:
        orbit: The pathways.
        m: M = (Sigma^{yx})ᵀ Sigma^{yx} of the first of them, of what is known of Sigma^{yx}.
        refuted: Whether their correlations are proven not to commute.
        commutator: Why, where the correlations are exact.
    """

    orbit: Orbit
    m: ExactMatrix
    refuted: bool
    commutator: Commutator | None

    @classmethod
    def of(cls, orbit: Orbit) -> Self:
        """Decide what can be decided."""
        from symreln.limits.projecting import squared

        m = squared(orbit.first)
        if orbit.error:
            refuted = _far_from_commuting(orbit, m)
            return cls(orbit=orbit, m=m, refuted=refuted, commutator=None)
        found = _commutator(orbit.first, m)
        return cls(orbit=orbit, m=m, refuted=found is not None, commutator=found)

    @property
    def joint(self) -> bool:
        """Whether there are joint eigenvalues at the declared values, proven."""
        return not self.refuted and not self.orbit.error

    def truth(self, spec: Spec, proven: Mapping[int, str]) -> str:
        """Return whether the correlations commute for all parameter values, as far as known."""
        if self.refuted:
            return "refuted"
        unknown = "undecided" if spec.parameters or self.orbit.error else "proven"
        return proven.get(self.orbit.numbers[0], unknown)


def _symbolic(
    spec: Spec, tell: StepWriter, stop: Callable[[], bool], refuted: Mapping[int, bool]
) -> dict[int, str]:
    """Decide for all parameter values whether correlations commute, in the first stage.

    What fails at one point fails as an identity; later stages learn from residuals whose exact
    form in the parameters is the worker's to find.
    """
    from symreln.limits.projecting import squared
    from symreln.limits.stages import first_orbits

    decided: dict[int, str] = {}
    if not spec.parameters:
        return decided
    for orbit in first_orbits(spec):
        if stop():
            break
        if all(refuted.get(number) for number in orbit.numbers):
            continue
        found = _commutator(orbit.first, squared(orbit.first))
        truth = "proven" if found is None else "refuted"
        decided |= dict.fromkeys(orbit.numbers, truth)
        if not refuted:
            shown = None if found is None else _shown(spec, found)
            content = {"commutes": truth, "commutator": shown, "enclosures": None}
            for number in orbit.numbers:
                tell.say("boxes", {"pathway": number, "at": None, **content})
    return decided


def _commutator(effective: EffectiveDataset, m: ExactMatrix) -> Commutator | None:
    from symreln.exact.spectrum_json import commutator_of

    return commutator_of(*m.aligned(effective.sigma_x.reduced()))


def _far_from_commuting(orbit: Orbit, m: ExactMatrix) -> bool:
    r"""Whether AᵀA and B = Sigma^x do not commute, for every A within the error of Sigma^{yx}.

    M is near AᵀA up to :math:`\epsilon (2 \|\Sigma^{yx}\| + \epsilon)`, so the commutators with B
    are near each other up to twice that times ‖B‖, in the Frobenius norm.
    """
    from symreln.exact.certified import root_bound

    x = orbit.first.sigma_x
    product = m @ x
    found = product - product.T
    size = root_bound(m.trace().to_fraction(), up=True)  # of Sigma^{yx}, in the Frobenius norm
    reach = 2 * orbit.error * (2 * size + orbit.error)
    squared = reach * reach * x.frobenius(x).to_fraction()
    return found.frobenius(found).to_fraction() > squared


def _tell_boxes(tell: StepWriter, spec: Spec, seen: _Seen, truth: str, *, refine: bool) -> None:
    """Tell enclosures of one pathway's spectrum for all that are like it."""
    from symreln.exact.certified import enclose_spectrum

    orbit = seen.orbit
    x = orbit.first.sigma_x.reduced() if seen.joint else None
    boxes = None
    try:
        boxes = enclose_spectrum(seen.m, x, refine=refine)
    except ArithmeticError as error:
        name = spec.pathways[orbit.numbers[0] - 1].name
        tell.say("bare", {"why": f"the numbers of '{name}' leave the range of floats ({error})"})
    told = {
        "at": {name: str(value) for name, value in spec.values.items()},
        "commutes": truth,
        # Not at first: SymPy, which writes it, takes longer to import than all the rest.
        "commutator": _shown(spec, seen.commutator) if seen.commutator and refine else None,
        "enclosures": None if boxes is None else [_box(box, orbit.error) for box in boxes],
    }
    for number in orbit.numbers:
        tell.say("boxes", {"pathway": number, **told})


def _box(box: Enclosed, error: Fraction) -> dict[str, Any]:
    s = replace(box, apart=error).s
    return {"s": _ball(*s), "d": None if box.d is None else _ball(box.d, box.radius)}


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


def main() -> None:
    """Enclose what the first line of stdin names."""
    message = first_message()

    from symreln.cli.commands import load_spec
    from symreln.cli.request import Request
    from symreln.limits.steps import StepWriter

    only = None if message["only"] is None else frozenset(message["only"])
    gone = threading.Event()
    threading.Thread(target=_listen, args=(gone,), daemon=True).start()
    tell = StepWriter(message["steps"])
    try:
        spec = load_spec(Request.from_json(message["request"]))
        tell.spec(spec)
        witness(spec, tell, gone.is_set, only, _step_back)
    except Exception as error:
        # A wrong spec is the worker's to tell, and then nobody asks for enclosures.
        tell.say("bare", {"why": f"enclosing them failed ({type(error).__name__}: {error})"})
    tell.say("done", {})


def _step_back() -> None:
    """Leave the processor to the worker, whose time is the user's, in what is no longer urgent."""
    if hasattr(os, "nice"):
        os.nice(10)


def _listen(gone: threading.Event) -> None:
    """Note when the parent is gone, where the system does not end this process with it."""
    # Past Python's buffer, whose lock would be held when this process ends by itself.
    while os.read(sys.stdin.fileno(), 1 << 16):
        pass
    gone.set()


if __name__ == "__main__":
    main()
