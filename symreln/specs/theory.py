"""Combinations of keys for which there is no theory, refused at the door."""

from __future__ import annotations

from collections.abc import Sequence

from symreln.specs.model import NetworkSpec, PathwaySpec
from symreln.specs.problems import Problems


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
    if network is not None:
        _check_network(network, pathways, graph=graph, sized=sized, problems=problems)
    _check_switches(network, pathways, sized=sized, problems=problems)


def _check_network(
    network: NetworkSpec,
    pathways: Sequence[PathwaySpec],
    *,
    graph: bool,
    sized: bool,
    problems: Problems,
) -> None:
    deep, says = network.layers != 2, f"layers = {network.layers}"
    unusual = next(iter(network.unusual), "")
    usual = "These are derived for two layers of equal initial scale, without weight decay."
    staged = network.training == "staged" or any(pathway.stage > 1 for pathway in pathways)
    own_units = any(pathway.hidden is not None for pathway in pathways)
    for excluded, key, found, needed, hint in (
        (
            deep and network.weight_decay,
            "weight_decay",
            f"weight decay with {says}",
            "0 for other than two layers",
            "No closed form is known for deeper modes with weight decay.",
        ),
        (
            deep and network.init_std_out is not None,
            "init_std",
            f"two numbers with {says}",
            "one number",
            "Unbalanced starts have a closed form for two layers only.",
        ),
        (
            deep and network.activation == "relu",
            "layers",
            f'{says} with activation = "relu"',
            "2 for a ReLU network",
            "Pathways of a ReLU network are derived for one hidden layer. Set activation = "
            '"linear".',
        ),
        *(
            (unusual and here, unusual, f"{unusual} with {what}", needed, usual)
            for here, what, needed in (
                (staged, "stages", "stage = 1, training joint"),
                (sized, "a size that is a symbol", "sizes as numbers"),
                (graph, "nodes and edges", "pathways"),
                (own_units, "hidden units of a single pathway", "network.hidden alone"),
            )
        ),
    ):
        if excluded:
            problems.add(f"network.{key}", found, needed, hint)
    on = next((place for place, each in enumerate(pathways) if each.boundary), None)
    if deep and on is not None:
        found = f'"/" in a gate with network.layers = {network.layers}'
        problems.add(f"pathway[{on}].gate", found, "two layers of weights")


def _check_switches(
    network: NetworkSpec | None,
    pathways: Sequence[PathwaySpec],
    *,
    sized: bool,
    problems: Problems,
) -> None:
    """Add a problem where gates that switch are no part of the theory, or never switch."""
    switching = [pathway for pathway in pathways if pathway.then]
    if switching and sized:
        problems.add("pathway", "then with a size that is a symbol", "sizes as numbers")
    if not switching or network is None:
        return
    if network.unusual:
        problems.add(
            "pathway",
            f"then with network.{network.unusual[0]}",
            "two layers of equal initial scale, without weight decay",
            "Weights that are carried over a switch are derived for these.",
        )
    if network.batch_size is not None:
        found = "then with network.batch_size"
        problems.add("pathway", found, "full batches", "An epoch would end at every switch.")
    late = max(switching, key=lambda pathway: pathway.then[-1].step)
    if late.then[-1].step >= network.steps:
        found = f"then of {late.name}: step {late.then[-1].step}"
        problems.add(
            "pathway",
            f"{found}, with {network.steps} recorded steps",
            f"steps from 1 to {network.steps - 1}",
        )
