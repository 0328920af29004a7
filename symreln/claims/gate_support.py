r"""Whether hidden units can keep a pathway's gate while they grow, decided exactly.

While outputs are small a unit with gate g turns to the leading singular pair (v, u) of
:math:`Y\,{\rm diag}(g) X^T/P`, over all inputs and outputs: a unit of a ReLU network sees them all.
It keeps the gate exactly where v, or with several leading pairs some vector of their span, is
positive on the samples that g opens and on no other. Where closed ones have v·x = 0, units come to
v from the side on which these are closed, if there is one, or are held on their boundary
(:mod:`symreln.verdict.faces`). Else every unit that had the gate leaves it, and the network has no
units for the pathway: it is unsupported. Samples that are zero open and close nothing.

Source: Maennel et al. 2018, Boursier and Flammarion (early alignment).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.claims.solve import at_values
from symreln.exact.linear_programming import Direction, direction, dot
from symreln.exact.matrix import ExactMatrix
from symreln.exact.order import order_key
from symreln.exact.spectrum import joint_spectrum
from symreln.verdict.directions import columns, gated_correlation, singular_pairs
from symreln.verdict.faces import held_on

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation, PathwayDerivation
    from symreln.spec.model import Dataset, PathwaySpec
    from symreln.verdict.directions import Pair, Vector

#: Samples that are named.
MOST_NAMED = 6


def has_early_phase(derivation: Derivation) -> bool:
    """Whether hidden units choose gates: those of a ReLU network, for gates of 0 and 1."""
    network = derivation.spec.network
    return (
        network is not None
        and derivation.known.matrices.holds
        and derivation.known.gates.holds
        and not any(p.effective.pathway.has_gains for p in first_pathways(derivation))
    )


def first_pathways(derivation: Derivation) -> list[PathwayDerivation]:
    """Return the pathways that learn first."""
    stage = min(pathway.stage for pathway in derivation.pathways)
    return [pathway for pathway in derivation.pathways if pathway.stage == stage]


def unsupported_pathways(derivation: Derivation) -> dict[str, str]:
    """Return which pathways of the first stage no hidden unit can keep, by name, with the reason.

    Of later stages nothing is said: their units come from earlier ones. Decided at the declared
    values of parameters; empty where one has none.
    """
    if not derivation.spec.has_values:
        return {}
    numbers = derivation.ask(at_values)
    if numbers is not derivation:
        return numbers.ask(unsupported_pathways)
    if not has_early_phase(derivation):
        return {}
    dataset = derivation.spec.dataset
    reasons = {p.name: why_unsupported(dataset, p) for p in first_pathways(derivation)}
    return {name: reason for name, reason in reasons.items() if reason}


def why_unsupported(dataset: Dataset, pathway: PathwayDerivation) -> str:
    """Return why no hidden unit of a ReLU network keeps a pathway's gate, or "".

    Args:
        dataset: X and Y, without parameters.
        pathway: One of the first stage, with gates of 0 and 1.
    """
    own = pathway.effective.pathway
    if own.boundary:
        return _partly(dataset, own)
    gate = [int(bool(value)) for value in own.gate]
    if (len(own.inputs), len(own.outputs)) == (dataset.n_x, dataset.n_y):
        sigma = pathway.effective.sigma_yx
    else:
        sigma = gated_correlation(dataset.inputs, dataset.targets, gate)
    pairs = singular_pairs(joint_spectrum(sigma, ExactMatrix.zeros(dataset.n_x, dataset.n_x)))
    learning = [mode for mode in pathway.modes if not mode.is_null]
    if not pairs or not learning:
        return ""  # nothing grows there, and nothing is asked of its units
    samples = {i: x for i, x in enumerate(columns(dataset.inputs)) if any(x)}
    v = _kept(pairs[0], samples, gate)
    if v is None:
        return f"its gate is not self-consistent: {_instead(pairs[0], samples, gate)}"
    edge = [i for i, x in samples.items() if not dot(v, x)]
    signs = [0 if i in edge else (1 if value else -1) for i, value in enumerate(gate)]
    if (
        edge
        and not _is_cell(samples, gate)
        and held_on(dataset.inputs, dataset.targets, tuple(signs)) is None
    ):
        return (
            f"the direction in which its units grow has {_named([i + 1 for i in edge])} on its "
            "boundary, which units leave, and every direction beside it opens one of them"
        )
    if order_key(pairs[0].s, {}) != order_key(learning[0].s, {}):
        speed, leading = (one.s.scientific({}, 4) for one in (pairs[0], learning[0]))
        return (
            f"hidden units with its gate grow at {speed}, its leading mode at {leading}: units "
            "see inputs and outputs that the pathway does not"
        )
    return ""


def _kept(pair: Pair, samples: dict[int, Vector], gate: list[int]) -> Vector | None:
    """Return a vector that opens exactly the gate's samples, with none on its boundary if any."""
    split = [[x for i, x in samples.items() if gate[i] == value] for value in (1, 0)]
    closed = [tuple(-value for value in x) for x in split[1]]
    return pair.opened_by([*split[0], *closed], []) or pair.opened_by(*split)


def _is_cell(samples: dict[int, Vector], gate: list[int]) -> bool:
    """Whether some direction opens the gate's samples and has none on its boundary."""
    sides = [[value if gate[i] else -value for value in x] for i, x in samples.items()]
    return isinstance(direction(sides, [], len(sides[0])), Direction)


def _partly(dataset: Dataset, own: PathwaySpec) -> str:
    """Return why no unit keeps a gate with samples on its boundary, or ""."""
    signs = [0 if i in own.boundary else (1 if value else -1) for i, value in enumerate(own.gate)]
    if held_on(dataset.inputs, dataset.targets, tuple(signs)) is not None:
        return ""
    return (
        f"units leave the boundary of {_named([i + 1 for i in own.boundary])}, or those with its "
        "gate turn to another one"
    )


def _instead(pair: Pair, samples: dict[int, Vector], gate: list[int]) -> str:
    """Say what units along a gate's leading direction open instead."""
    leading, *others = pair.vectors
    if others:
        return (
            f"none of the directions in which its units grow, a space of {len(pair.vectors)} "
            "dimensions, opens exactly its samples"
        )
    seen = {i: dot(leading, x) for i, x in samples.items()}
    # Units on both v and -v have the rate: the side that opens more of the gate's own is spoken of.
    sides = [
        (
            [i + 1 for i, x in seen.items() if gate[i] and not x * sign > 0],
            [i + 1 for i, x in seen.items() if not gate[i] and x * sign > 0],
        )
        for sign in (1, -1)
    ]
    less, more = min(sides, key=lambda side: (len(side[0]), len(side[1])))
    parts = [f"opens {_named(more)} too"] * bool(more) + [f"closes {_named(less)}"] * bool(less)
    return f"the direction in which its units grow {' and '.join(parts)}"


def _named(samples: list[int]) -> str:
    shown = ", ".join(map(str, samples[:MOST_NAMED]))
    more = f" and {len(samples) - MOST_NAMED} more" if len(samples) > MOST_NAMED else ""
    return f"{'sample' if len(samples) == 1 else 'samples'} {shown}{more}"
