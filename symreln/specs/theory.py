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
    yield (
        deep and network.weight_decay,
        "network.weight_decay",
        f"weight decay with {says}",
        "0 for other than two layers",
        "No closed form is known for deeper modes with weight decay.",
    )
    pair, needed = network.init_std_out is not None, "one number"
    hint = "No closed form is known for layers that start apart with weight decay."
    yield (
        pair and network.weight_decay,
        "network.init_std",
        "two numbers with weight decay",
        needed,
        hint,
    )
    hint = "Unbalanced starts have a closed form for two layers only."
    yield pair and deep, "network.init_std", f"two numbers with {says}", needed, hint
    yield (
        deep and network.activation == "relu",
        "network.layers",
        f'{says} with activation = "relu"',
        "2 for a ReLU network",
        'Pathways of a ReLU network are derived for one hidden layer. Set activation = "linear".',
    )
    unusual = next(iter(network.unusual), "")
    usual = "These are derived for two layers of equal initial scale, without weight decay."
    staged = network.training == "staged" or any(pathway.stage > 1 for pathway in pathways)
    own_units = not graph and any(pathway.hidden is not None for pathway in pathways)
    for here, what, needed in (
        (staged, "stages", "stage = 1, training joint"),
        (sized, "a size that is a symbol", "sizes as numbers"),
        (graph, "nodes and edges", "pathways"),
        (own_units, "hidden units of a single pathway", "network.hidden alone"),
    ):
        yield unusual and here, f"network.{unusual}", f"{unusual} with {what}", needed, usual
    on = next((place for place, each in enumerate(pathways) if each.boundary), None)
    found = f'"/" in a gate with network.layers = {network.layers}'
    yield deep and on is not None, f"pathway[{on}].gate", found, "two layers of weights"
    last = max((each.step for pathway in pathways for each in pathway.then), default=0)
    needed = "two layers of equal initial scale, without weight decay"
    hint = "Weights that are carried over a switch are derived for these."
    yield last and unusual, "pathway", f"then with network.{unusual}", needed, hint
    batches = last and network.batch_size is not None
    hint = "An epoch would end at every switch."
    yield batches, "pathway", "then with network.batch_size", "full batches", hint
    late = next((p.name for p in pathways if any(each.step == last for each in p.then)), "")
    found = f"then of {late}: step {last}, with {network.steps} recorded steps"
    yield last >= network.steps, "pathway", found, f"steps from 1 to {network.steps - 1}"
