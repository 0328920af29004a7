r"""Initial strengths of a derivation's modes by the early phase of its ReLU network.

Whether hidden units can keep a pathway's gate while they grow, decided exactly.

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

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field

import numpy as np

from symreln.base.beside import begin
from symreln.base.progress import phase
from symreln.base.records import record
from symreln.base.summaries import ByName, few
from symreln.claims.derivation import Derivation, ModeDerivation, PathwayDerivation
from symreln.claims.integration import gate_floats, network_of
from symreln.claims.probes import mode_bases
from symreln.claims.solve import at_values
from symreln.exact.algebraic import order_key
from symreln.exact.linear_programming import direction, dot
from symreln.exact.matrix import ExactMatrix
from symreln.exact.spectrum import joint_spectrum
from symreln.laws.early_phase import MOST_LOOKS, EarlyMode, EarlyStrength, followed
from symreln.networks.gate_orbits import pathway_orbits
from symreln.specs.spec import Dataset
from symreln.verdict.directions import Pair, Vector, columns, gated_correlation, singular_pairs
from symreln.verdict.faces import held_on

#: A stream of its own: no network is trained with it.
SEED = 20_614


@record(eq=False)
class EarlyStrengths(ByName[EarlyStrength]):
    """What the early phase says of a derivation's modes, by the label of their strength.

    Only modes with a κ are in it. Constants of modes in one symmetry orbit are equal.

    Attributes:
        found: κ of the modes that have one.
        unsupported: Why a pathway of the first stage has no κ, by name: no unit keeps its gate, or
            gates do not settle.
    """

    found: Mapping[str, EarlyStrength] = field(default_factory=dict)
    unsupported: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, derivation: Derivation) -> EarlyStrengths:
        """Return κ of every mode that the early phase decides, and why pathways have none.

        These are the modes of the pathways that learn first: later stages learn a residual that is
        not there yet. Nothing is said of a linear network, whose κ is 1, of a ReLU network that is
        linear at half speed, whose κ is 1/2, and of gates with gains, which no ReLU unit has.

        Weight decay shrinks all weights of all units by one factor k a step, which no gate feels
        and no share: a step η with it is k times a step η/k without.

        A Monte Carlo estimate over isolated hidden units, at the declared values of parameters.

        Args:
            derivation: With a network.
        """
        numbers = derivation.ask(at_values)
        if numbers is not derivation:
            return numbers.ask(EarlyStrengths.of)
        if not _has_early_phase(derivation) or _keep(derivation) <= 0:
            return cls()
        unsupported = dict(derivation.ask(unsupported_pathways))
        asked, begun = derivation.ask(_begun)
        if not asked:
            return cls(unsupported=unsupported)
        with phase("κ of the early phase"):
            units, found = begun()
        settled: dict[str, EarlyStrength] = {}
        for (pathway, mode), strength in zip(asked, found, strict=True):
            if strength.settled:
                settled[mode.label] = strength
            elif mode.number == 1:
                unsupported[pathway.name] = _why_none(strength, units)
        return cls(found=settled, unsupported=unsupported)


def begin_early_strengths(derivation: Derivation) -> None:
    """Have the units followed that :meth:`EarlyStrengths.of` asks for."""
    spec = derivation.spec
    if spec.network is not None and spec.has_values and derivation.given_start is None:
        numbers = derivation.ask(at_values)
        if _has_early_phase(numbers) and _keep(numbers) > 0:
            numbers.ask(_begun)


_Asked = list[tuple[PathwayDerivation, ModeDerivation]]


def _begun(derivation: Derivation) -> tuple[_Asked, Callable[[], tuple[int, list[EarlyStrength]]]]:
    """Return what is asked, and what returns how many units say what of it."""
    unsupported, dataset = derivation.ask(unsupported_pathways), derivation.spec.dataset
    kept = [p for p in derivation.stages[0].pathways if p.name not in unsupported]
    specs = [pathway.effective.pathway for pathway in kept]
    originals = pathway_orbits(dataset, specs)
    asked = [(pathway, mode) for pathway in kept for mode in pathway.learning]
    begun = begin(
        followed,
        [early for place, pathway in enumerate(kept) for early in _modes(pathway, place)],
        [(originals[kept.index(pathway)], mode.number) for pathway, mode in asked],
        inputs=dataset.inputs.to_numpy(),
        targets=(dataset.targets.shape, *dataset.targets.floats()),
        gates=np.array([gate_floats(spec) for spec in specs]),
        step=_step(derivation) / _keep(derivation),
        scales=derivation.known.scales,
        seed=SEED,
    )
    return asked, begun


def _step(derivation: Derivation) -> float:
    """Return a step in units of τ."""
    return 1 / float(network_of(derivation.spec).tau(derivation.spec.dataset.samples))


def _keep(derivation: Derivation) -> float:
    """Return what weight decay leaves of weights in a step; no units grow where nothing."""
    return 1 - _step(derivation) * float(network_of(derivation.spec).weight_decay)


def _why_none(strength: EarlyStrength, units: int) -> str:
    """Say why a mode whose pathway may have units has no κ."""
    if not strength.kappa:
        return f"none of the {units} units that were followed ended with its gate"
    return (
        f"gates still change after {MOST_LOOKS} growth times: units that add "
        f"{100 * strength.moved:.2g} % of κ came to its gate or left it in the last of them"
    )


def _modes(pathway: PathwayDerivation, place: int) -> Iterator[EarlyMode]:
    inputs, bases = pathway.effective.pathway.inputs, mode_bases(pathway).values()
    for mode, (u, v) in zip(pathway.learning, bases, strict=True):
        yield EarlyMode(pathway=place, inputs=inputs, s=mode.s.to_float(), u=u, v=v)


def _has_early_phase(derivation: Derivation) -> bool:
    """Whether hidden units choose gates: those of a ReLU network, for gates of 0 and 1."""
    network = derivation.spec.network
    return (
        network is not None
        and derivation.known.matrices.holds
        and derivation.known.gates.holds
        and not any(p.effective.pathway.has_gains for p in derivation.stages[0].pathways)
    )


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
    if not _has_early_phase(derivation):
        return {}
    dataset = derivation.spec.dataset
    reasons = {p.name: _why_unsupported(dataset, p) for p in derivation.stages[0].pathways}
    return {name: reason for name, reason in reasons.items() if reason}


def _why_unsupported(dataset: Dataset, pathway: PathwayDerivation) -> str:
    """Return why no hidden unit of a ReLU network keeps a pathway's gate, or "".

    Args:
        dataset: X and Y, without parameters.
        pathway: One of the first stage, with gates of 0 and 1.
    """
    own = pathway.effective.pathway

    def is_held(edge: Sequence[int]) -> bool:
        signs = (0 if i in edge else (1 if value else -1) for i, value in enumerate(own.gate))
        return held_on(dataset.inputs, dataset.targets, tuple(signs)) is not None

    if own.boundary:
        named = _named_samples(own.boundary)
        leaves = f"units leave the boundary of {named}, or those with its gate turn to another one"
        return "" if is_held(own.boundary) else leaves
    gate = [int(bool(value)) for value in own.gate]
    pairs = _grown(dataset, pathway, gate)
    learning = pathway.learning
    if not pairs or not learning:
        return ""  # nothing grows there, and nothing is asked of its units
    samples = {i: x for i, x in enumerate(columns(dataset.inputs)) if any(x)}
    v = _kept(pairs[0], samples, gate)
    if v is None:
        return f"its gate is not self-consistent: {_instead(pairs[0], samples, gate)}"
    edge = [i for i, x in samples.items() if not dot(v, x)]
    if edge and not _is_cell(samples, gate) and not is_held(edge):
        return (
            f"the direction in which its units grow has {_named_samples(edge)} on "
            "its boundary, which units leave, and every direction beside it opens one of them"
        )
    if order_key(pairs[0].s, {}) != order_key(learning[0].s, {}):
        speed, leading = (one.s.scientific({}, 4) for one in (pairs[0], learning[0]))
        return (
            f"hidden units with its gate grow at {speed}, its leading mode at {leading}: units "
            "see inputs and outputs that the pathway does not"
        )
    return ""


def _grown(dataset: Dataset, pathway: PathwayDerivation, gate: list[int]) -> tuple[Pair, ...]:
    """Return the singular pairs of what hidden units with a gate see, the largest first."""
    own = pathway.effective.pathway
    if (len(own.inputs), len(own.outputs)) == (dataset.n_x, dataset.n_y):
        pairs = singular_pairs(pathway.spectrum)
        if len(pairs) < 2 or order_key(pairs[0].s, {}) != order_key(pairs[1].s, {}):
            return pairs  # else Sigma^x may part the vectors of one s
    sigma = gated_correlation(dataset.inputs, dataset.targets, gate)
    return singular_pairs(joint_spectrum(sigma, ExactMatrix.zeros(dataset.n_x, dataset.n_x)))


def _kept(pair: Pair, samples: dict[int, Vector], gate: list[int]) -> Vector | None:
    """Return a vector that opens exactly the gate's samples, with none on its boundary if any."""
    split = [[x for i, x in samples.items() if gate[i] == value] for value in (1, 0)]
    closed = [tuple(-value for value in x) for x in split[1]]
    return pair.opened_by([*split[0], *closed], []) or pair.opened_by(*split)


def _is_cell(samples: dict[int, Vector], gate: list[int]) -> bool:
    """Whether some direction opens the gate's samples and has none on its boundary."""
    sides = [[value if gate[i] else -value for value in x] for i, x in samples.items()]
    return direction(sides, [], len(sides[0])) is not None


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
            [i for i, x in seen.items() if gate[i] and not x * sign > 0],
            [i for i, x in seen.items() if not gate[i] and x * sign > 0],
        )
        for sign in (1, -1)
    ]
    less, more = min(sides, key=lambda side: (len(side[0]), len(side[1])))
    parts = [f"opens {_named_samples(more)} too"] if more else []
    parts += [f"closes {_named_samples(less)}"] if less else []
    return f"the direction in which its units grow {' and '.join(parts)}"


def _named_samples(samples: Sequence[int]) -> str:
    """Return some samples by their places, counted from 1."""
    places = few(str(i + 1) for i in samples)
    return f"{'sample' if len(samples) == 1 else 'samples'} {places}"
