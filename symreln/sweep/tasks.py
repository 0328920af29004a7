"""What a task does: a request of JSON values in, the bytes of result files out.

The same function whoever calls it, a local worker or one of a cluster, so that the bytes are the
same everywhere.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, cast

from symreln.claims.solve import at_values
from symreln.errors import InputError
from symreln.sweep.files import Result, encode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symreln.claims.derivation import Derivation
    from symreln.spec.model import Spec
    from symreln.sweep.plan import Plan, Row

Request = dict[str, Any]
"""JSON values."""

# Exact arithmetic keeps its precision in a global: a cluster's worker may have several threads.
_ONE = threading.Lock()


def theory_request(plan: Plan, row: Row) -> Request:
    """Ask for the theory of a combination."""
    return {**_asked(plan, row), "kind": "theory", "names": [row.theory]}


def training_request(
    plan: Plan, row: Row, kappas: Mapping[str, float], first: int, count: int
) -> Request:
    """Ask for ``count`` networks of each kind, from seed ``first`` on."""
    return {
        **_asked(plan, row),
        "kind": "network",
        "names": list(row.networks[first : first + count]),
        "kappas": dict(kappas),
        "rng": plan.rng,
        "first": first,
    }


def _asked(plan: Plan, row: Row) -> Request:
    from symreln.sweep.plan import program

    return {
        "source": plan.source,
        "overrides": list(row.overrides),
        "allow_outside": plan.allow_outside,
        "content": row.content,
        "program": program(),
    }


def perform(request: Request) -> dict[str, bytes]:
    """Carry out a request.

    Args:
        request: Of one of the functions above, also after a way through JSON.

    Returns:
        The bytes of each file that it names.

    Raises:
        SymrelnError: It cannot be done; training diverged, or the spec is another one by now.
    """
    from threadpoolctl import threadpool_limits

    # One thread: the order of summation, and so every bit, is then the same wherever it is done.
    with _ONE, threadpool_limits(limits=1, user_api="blas"):
        spec = _spec(request)
        results = _theory(spec) if request["kind"] == "theory" else _networks(spec, request)
    own = {"overrides": request["overrides"]}
    return {
        name: encode(name, Result(values={**own, **one.values}, arrays=one.arrays))
        for name, one in zip(request["names"], results, strict=True)
    }


def _spec(request: Request) -> Spec:
    from symreln.sweep.plan import content_of, program
    from symreln.tasks.load import load

    source, overrides = request["source"], tuple(request["overrides"])
    allow = request["allow_outside"]
    if request["program"] != program():
        msg = (
            "symreln or a library of it is another version than the one that the sweep began with: "
            "start the sweep again, in another folder"
        )
        raise InputError(msg)
    spec = load(source, overrides, allow_outside=allow)
    if request["content"] != content_of(source, overrides, allow_outside=allow):
        msg = f"{source}: the spec or its data changed while the sweep ran"
        raise InputError(msg)
    return spec


def _theory(spec: Spec) -> list[Result]:
    from symreln.cache.spectra import cached_spectrum
    from symreln.cache.store import Store
    from symreln.experiment.foretold import foretell
    from symreln.experiment.untested import learnable_share
    from symreln.pipeline.derive import derive

    derivation = cast("Derivation", derive(spec, spectrum=cached_spectrum(Store())))
    numbers = derivation.ask(at_values)
    if numbers.initial_loss.is_zero:
        msg = "the targets are all zero, so there is nothing to learn and no loss to compare"
        raise InputError(msg)
    found = foretell(numbers)
    values = {
        "level": numbers.verdict.level.value,
        "method": found.prediction.method,
        "free_constants": found.prediction.free_constants,
        "judged": found.prediction.judged,
        "error": found.error[0],
        "learnable": learnable_share(numbers),
        "tolerance": float(spec.validation.tolerance),
        "kappas": {name: float(kappa) for name, kappa in found.kappas.items()},
    }
    arrays = {"theory": found.prediction.theory, "reduced": found.prediction.loss}
    if found.prediction.closed_loss is not None:
        arrays["closed"] = found.prediction.closed_loss
    if found.mean_field is not None:
        arrays["mean_field"] = found.mean_field.losses
    return [Result(values=values, arrays=arrays)]


def _networks(spec: Spec, request: Request) -> list[Result]:
    from symreln.experiment.pair import pair_streams, train_pair

    first, count = request["first"], len(request["names"])
    network, gdln = train_pair(
        spec.at_values(),
        request["kappas"],
        count,
        pair_streams(request["rng"], first),
        losses_only=True,
        workers=1,
    )
    results = []
    for place in range(count):
        arrays = {"gdln": gdln.losses[place]}
        if network is not None:
            arrays["network"] = network.losses[place]
        values = {"rng": request["rng"], "seed": first + place}
        results.append(Result(values=values, arrays=arrays))
    return results
