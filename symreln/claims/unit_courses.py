"""The hidden units of a pathway over time, as its modes or its matrices move them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from symreln.claims.head_start import ModeLaw, mode_laws
from symreln.claims.integration import check_range, gate_floats, network_of
from symreln.claims.prediction import first_starts, matrices_of
from symreln.claims.probes import mode_bases
from symreln.claims.starts import starts_of
from symreln.exact.enclosure import ball
from symreln.laws.gate_law import LinearUnits
from symreln.networks.orbits import pathway_orbits

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation, PathwayDerivation

#: Times at which shares are given, up to the last step; then once more at convergence.
_TIMES = 200
#: Share of a sample along a pathway's modes below which they do not move units on it.
_UNMOVED = 1e-9


def is_closed(derivation: Derivation) -> bool:
    """Whether modes of the first stage evolve on their own."""
    pathways = derivation.stages[0].pathways
    return not any(m.d_eff is None for p in pathways for m in p.modes if not m.is_null)


def dies_out(derivation: Derivation, pathway: PathwayDerivation) -> bool:
    """Whether weight decay takes all that a pathway would learn to 0; without free parameters."""
    decay, learned = derivation.known.weight_decay, [m for m in pathway.modes if not m.is_null]
    return bool(decay and learned) and not any(m.s.ball({}, 64) > ball(decay) for m in learned)


def courses(derivation: Derivation) -> Iterator[tuple[list[PathwayDerivation], _Course]]:
    """Yield the units of all pathways that have a law, those that are alike together."""
    check_range(derivation)
    closed = is_closed(derivation)
    laws = derivation.ask(mode_laws) if closed else {}
    specs = [pathway.effective.pathway for pathway in derivation.pathways]
    places = {id(p.effective): place for place, p in enumerate(derivation.pathways)}
    seen = (pathway.effective for pathway in derivation.pathways)
    known = [places[id(getattr(each.image, "original", each))] for each in seen]
    originals = pathway_orbits(derivation.spec.dataset, specs, known)
    members: dict[int, list[PathwayDerivation]] = {}
    for original, pathway in zip(originals, derivation.pathways, strict=True):
        members.setdefault(original, []).append(pathway)
    for place, alike in members.items():
        pathway = alike[0]
        course = _turning(derivation, pathway, laws) if closed else _moving(derivation, place)
        if course is not None:
            yield alike, course


def telling_samples(derivation: Derivation, pathway: PathwayDerivation) -> np.ndarray:
    """Return which samples tell a pathway's gate from others, shape (P,).

    None on which no mode moves its units, which keep the sign that they started with there, and
    none on the boundary that they slide along. Without closed modes all inputs move units.

    Args:
        derivation: Without free parameters.
        pathway: One of its pathways.
    """
    own = pathway.effective.pathway
    samples = derivation.spec.dataset.inputs.to_numpy()[list(own.inputs)]
    seen = samples
    if is_closed(derivation):
        seen = np.hstack([v for _, v in mode_bases(pathway).values()]).T @ samples
    tells = np.linalg.norm(seen, axis=0) > _UNMOVED * np.linalg.norm(samples, axis=0)
    tells[list(own.boundary)] = False
    return tells


#: Hidden units of a pathway, the times of :class:`symreln.claims.gate_law._PathwayGates`, and the
#: motions at these, as of :meth:`symreln.laws.gate_law.LinearUnits.shares`.
_Course = tuple[LinearUnits, np.ndarray, np.ndarray]


def _turning(
    derivation: Derivation, pathway: PathwayDerivation, laws: Mapping[str, ModeLaw]
) -> _Course | None:
    """Return the units of a pathway with closed modes; None of one that has no law.

    Args:
        derivation: Without free parameters.
        pathway: Whose units they are.
        laws: Of all modes.
    """
    last = network_of(derivation.spec).steps - 1
    labels = [mode.label for mode in pathway.modes if not mode.is_null]
    dead = dies_out(derivation, pathway)
    if dead or not labels or not all(label in laws for label in labels):
        return None
    own = [laws[label] for label in labels]
    begin = max([1.0, *(float(each.driven_by[1]) for each in own if each.driven_by)])
    if begin >= last:
        return None
    bases = mode_bases(pathway)
    outputs, inputs = ([bases[label][side] for label in labels] for side in (0, 1))
    times = np.append(np.geomspace(begin, last, _TIMES), np.inf)
    angles = [each.law.angles(times, float(each.start)) for each in own]
    motions = np.repeat(np.array(angles, float), [each.shape[1] for each in inputs], axis=0)
    return _units(derivation, pathway, np.hstack(outputs), np.hstack(inputs)), times, motions


def _moving(derivation: Derivation, place: int) -> _Course | None:
    """Return the units of a pathway of the first stage as its matrices move them; None of others.

    Args:
        derivation: Without free parameters.
        place: Of the pathway.
    """
    from scipy.linalg import block_diag

    pathway, last = derivation.pathways[place], network_of(derivation.spec).steps - 1
    bases = [*mode_bases(pathway).values()]
    if pathway.stage != derivation.stages[0].pathways[0].stage or last < 1 or not bases:
        return None
    matrices = derivation.ask(matrices_of)
    steps = np.unique(np.geomspace(1, last, _TIMES).round())
    starts = first_starts(derivation, derivation.ask(starts_of).factors)
    found = matrices.propagators(place, steps.astype(int).tolist(), starts)
    spans = matrices.output_bases[place], matrices.input_bases[place]
    outer, inner = (_led_by(span.T @ part) for span, part in zip(spans, bases[0], strict=True))
    both = block_diag(inner, outer)
    turned = np.moveaxis(both.T @ found @ both, 0, -1)
    motions = np.concatenate([turned, turned[..., -1:]], axis=-1)
    linear = _units(derivation, pathway, spans[0] @ outer, spans[1] @ inner)
    return linear, np.append(steps, last), motions


def _led_by(leading: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of the whole space that begins with these columns."""
    basis, _ = np.linalg.qr(np.hstack([leading, np.eye(len(leading))]))
    basis[:, : leading.shape[1]] = leading
    return basis


def _units(
    derivation: Derivation,
    pathway: PathwayDerivation,
    outputs: np.ndarray,
    inputs: np.ndarray,
) -> LinearUnits:
    own = pathway.effective.pathway
    (_, leading), *_ = mode_bases(pathway).values()
    return LinearUnits(
        samples=derivation.spec.dataset.inputs.to_numpy()[list(own.inputs)],
        gate=gate_floats(own) > 0,
        tells=telling_samples(derivation, pathway),
        inputs=inputs,
        outputs=outputs,
        leading=leading.shape[1],
        scales=derivation.known.scales,
    )
