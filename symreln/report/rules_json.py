"""Learning rules compared, as ``rules`` of validation.json."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from symreln.experiment.rules import RateRule, RuleComparison, VariedTraining


def rules_to_json(found: RuleComparison) -> dict[str, Any]:
    """Return the comparison as JSON values; the curves are left out."""
    return {
        "seeds": found.seeds,
        "rng": found.rng,
        "samples": found.samples,
        "batches": [_batch(rule) for rule in found.batches],
        "learning_rates": [_rate(rule, found.learning_rates) for rule in found.rates],
        "biases": [_varied(rule) for rule in found.biased],
        "weight_decay": [
            {
                "weight_decay": rule.weight_decay,
                "theory": asdict(rule.theory),
                "closed": asdict(rule.closed),
                "dying": list(rule.dying),
                "modes": [asdict(mode) for mode in rule.modes],
            }
            for rule in found.decays
        ]
        or None,
        "no_weight_decay": found.no_decay or None,
    }


def _batch(rule: VariedTraining) -> dict[str, Any]:
    scatter = {"noise_over_initial": rule.noise, "band_over_initial": rule.band}
    return {**_varied(rule), "batch_size": rule.batch_size, **scatter}


def _varied(rule: VariedTraining) -> dict[str, Any]:
    return {
        "subject": rule.subject,
        "theory": None if rule.theory is None else asdict(rule.theory),
        "shift_over_initial": rule.shift,
        "diverged": rule.diverged or None,
    }


def _rate(rule: RateRule, rates: tuple[float, ...]) -> dict[str, Any]:
    return {
        "subject": rule.subject,
        "learning_rates": list(rates),
        "flow_over_initial": list(rule.flow),
        "change_over_initial": list(rule.changes),
        "ratio_of_changes": rule.ratio,
    }
