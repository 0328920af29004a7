"""The figures of a derivation, with those of its confrontation where there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.claims.derivation import Derivation, Derived
from symreln.claims.network.derivation import NetworkDerivation
from symreln.claims.prediction import closed_forms, predict
from symreln.claims.solve import at_values
from symreln.errors import InputError, NotSupportedError
from symreln.laws.integrate import DRAWN
from symreln.report.drawing import draw_all
from symreln.report.network_plots import network_sketches
from symreln.report.plots import derivation_sketches, drawn_times

if TYPE_CHECKING:
    from symreln.claims.curves import Prediction
    from symreln.document.model import Drawing
    from symreln.experiment.outcome import Confrontation


def derivation_drawings(
    derivation: Derived, validation: Confrontation | None, *, pdf: bool
) -> tuple[Drawing, ...]:
    """Draw a derivation, and its confrontation where there is one.

    Args:
        derivation: What was derived.
        validation: What training showed, or None.
        pdf: Whether LaTeX is to include them.
    """
    if isinstance(derivation, NetworkDerivation):
        sketches = network_sketches(derivation)
        if validation is not None:  # its losses stand in the place of the prediction alone
            sketches = [each for each in sketches if each.name != "loss"]
    else:
        assert isinstance(derivation, Derivation)
        sketches = derivation_sketches(derivation, _prediction(derivation, validation))
    drawn = draw_all(sketches, pdf=pdf)
    if validation is None:
        return drawn
    # Here, because it brings everything that trains networks.
    from symreln.report.validation_plots import validation_drawings

    return (*drawn, *validation_drawings(validation, pdf=pdf))


def _prediction(derivation: Derivation, validation: Confrontation | None) -> Prediction | None:
    """Return the curves to draw, or None where there are none.

    A derivation by itself shows the closed forms that it prints; beside a confrontation it shows
    the prediction that was confronted. A value or the network may be missing, or training may be
    bound to diverge: then validation says so, and the derivation, which is exact all the same,
    has no figure of curves.
    """
    if validation is not None:
        return validation.prediction
    network = derivation.spec.network
    no_start = derivation.strength0 is None  # no network, or no initial strength is derived
    if network is None or no_start or any(p.value is None for p in derivation.spec.parameters):
        return None
    times = drawn_times(network.steps)
    try:
        return closed_forms(derivation.ask(at_values), times) or predict(
            derivation.ask(at_values), times, accuracy=DRAWN
        )
    except (InputError, NotSupportedError):
        return None
