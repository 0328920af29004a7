"""Combinations of keys for which there is no theory, refused at the door."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from symreln.specs.problems import Problems
from symreln.specs.spec import NetworkSpec, PathwaySpec


def check_theory(
    network: NetworkSpec | None,
    pathways: Sequence[PathwaySpec],
    *,
    graph: bool,
    sized: bool,
    problems: Problems,
) -> None:
    """Add a problem for every combination of keys that no solution family covers.

    Args:
        network: The network, or None where there is none or it is wrong.
        pathways: Those that are well described.
        graph: Whether the network is described by nodes and edges.
        sized: Whether a size of the task is a symbol.
        problems: Where they go.
    """
    if sized and any(pathway.then for pathway in pathways):
        problems.add("pathway", "then with a size that is a symbol", "sizes as numbers")
    if network is not None:
        for excluded, *told in _rules(network, pathways, graph=graph, sized=sized):
            if excluded:
                problems.add(*told)


def _rules(
    network: NetworkSpec, pathways: Sequence[PathwaySpec], *, graph: bool, sized: bool
) -> Iterator[tuple[Any, ...]]:
    """Yield whether a combination is excluded, its key, what was found, what is needed, a hint."""
    deep, says = network.layers != 2, f"layers = {network.layers}"
    unusual = network.unusual
    first, last = (f"network.{unusual[at]}" if unusual else "" for at in (0, -1))
    found, needed = " with ".join(unusual), "one of them as it is by default"
    hint = "Closed forms are known for other layers, two numbers of init_std or weight_decay alone."
    yield len(unusual) > 1, last, found, needed, hint
    yield (
        deep and network.activation == "relu",
        "network.layers",
        f'{says} with activation = "relu"',
        "2 for a ReLU network",
        'Pathways of a ReLU network are derived for one hidden layer. Set activation = "linear".',
    )
    usual = "These are derived for two layers of equal initial scale, without weight decay."
    staged = network.training == "staged" or any(pathway.stage > 1 for pathway in pathways)
    own_units = not graph and any(pathway.hidden is not None for pathway in pathways)
    final = max((each.step for pathway in pathways for each in pathway.then), default=0)
    for here, what, needed in (
        (staged, "stages", "stage = 1, training joint"),
        (sized, "a size that is a symbol", "sizes as numbers"),
        (graph, "nodes and edges", "pathways"),
        (own_units, "hidden units of a single pathway", "network.hidden alone"),
        (final, "then of a pathway", "gates that do not switch"),
    ):
        yield unusual and here, first, f"{found} with {what}", needed, usual
    on = next((place for place, each in enumerate(pathways) if each.boundary), None)
    found = f'"/" in a gate with network.{says}'
    yield deep and on is not None, f"pathway[{on}].gate", found, "two layers of weights"
    batches = final and network.batch_size is not None
    hint = "An epoch would end at every switch."
    yield batches, "pathway", "then with network.batch_size", "full batches", hint
    late = next((p.name for p in pathways if any(each.step == final for each in p.then)), "")
    found = f"then of {late}: step {final}, with {network.steps} recorded steps"
    yield final >= network.steps, "pathway", found, f"steps from 1 to {network.steps - 1}"
