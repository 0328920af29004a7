"""Combinations of keys for which there is no theory, refused at the door."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.spec.model import NetworkSpec, PathwaySpec
    from symreln.spec.problems import Problems


def check_theory(
    network: NetworkSpec,
    *,
    staged: bool,
    sized: bool,
    graph: bool,
    sized_pathway: bool,
    problems: Problems,
) -> None:
    """Add a problem for every combination of keys that no solution family covers.

    Args:
        network: The network, each of its keys checked.
        staged: Whether a pathway has a stage above 1.
        sized: Whether a size of the task is a symbol.
        graph: Whether the network is described by nodes and edges.
        sized_pathway: Whether a pathway has hidden units of its own.
        problems: Where they go.
    """
    if network.layers != 2 and network.weight_decay:
        problems.add(
            "network.weight_decay",
            f"weight decay with layers = {network.layers}",
            "0 for other than two layers",
            "No closed form is known for deeper modes with weight decay.",
        )
    if network.layers != 2 and network.init_std_out is not None:
        problems.add(
            "network.init_std",
            f"two numbers with layers = {network.layers}",
            "one number",
            "Unbalanced starts have a closed form for two layers only.",
        )
    if network.layers != 2 and network.activation == "relu":
        problems.add(
            "network.layers",
            f'layers = {network.layers} with activation = "relu"',
            "2 for a ReLU network",
            "Pathways of a ReLU network are derived for one hidden layer. Set activation = "
            '"linear".',
        )
    for found, where, wanted in (
        (staged or network.training == "staged", "stages", "stage = 1, training joint"),
        (sized, "a size that is a symbol", "sizes as numbers"),
        (graph, "nodes and edges", "pathways"),
        (sized_pathway, "hidden units of a single pathway", "network.hidden alone"),
    ):
        if found and network.unusual:
            problems.add(
                f"network.{network.unusual[0]}",
                f"{network.unusual[0]} with {where}",
                wanted,
                "These are derived for two layers that start alike, without weight decay.",
            )


def check_switches(
    pathways: Sequence[PathwaySpec],
    network: NetworkSpec | None,
    *,
    sized: bool,
    problems: Problems,
) -> None:
    """Add a problem where gates that switch are no part of the theory, or never switch.

    Args:
        pathways: Those that are well described.
        network: The network, or None where there is none or it is wrong.
        sized: Whether a size of the task is a symbol.
        problems: Where they go.
    """
    switching = [pathway for pathway in pathways if pathway.then]
    if not switching:
        return
    if sized:
        problems.add("pathway", "then with a size that is a symbol", "sizes as numbers")
    if network is None:
        return
    if network.unusual:
        problems.add(
            "pathway",
            f"then with network.{network.unusual[0]}",
            "two layers that start alike, without weight decay",
            "Weights that are carried over a switch are derived for these.",
        )
    late = max(switching, key=lambda pathway: pathway.then[-1].step)
    if late.then[-1].step >= network.steps:
        problems.add(
            "pathway",
            f"then of {late.name}: step {late.then[-1].step}, with {network.steps} recorded steps",
            f"steps from 1 to {network.steps - 1}",
        )


def check_boundaries(
    pathways: Sequence[PathwaySpec], network: NetworkSpec | None, problems: Problems
) -> None:
    """Add a problem where a pathway with boundary samples has more or fewer than two layers."""
    on = next((place for place, each in enumerate(pathways) if each.boundary), None)
    if on is not None and network is not None and network.layers != 2:
        found = f'"/" in a gate with network.layers = {network.layers}'
        problems.add(f"pathway[{on}].gate", found, "two layers of weights")


def check_fit(
    network: NetworkSpec | None,
    pathways: Sequence[PathwaySpec],
    graph: object | None,
    *,
    sized: bool,
    problems: Problems,
) -> None:
    """Add a problem where the network is none whose pathways or graph the theory covers.

    Args:
        network: The network, or None where there is none or it is wrong.
        pathways: Those that are well described.
        graph: The graph, or None.
        sized: Whether a size of the task is a symbol.
        problems: Where they go.
    """
    if network is not None:
        check_theory(
            network,
            staged=any(pathway.stage > 1 for pathway in pathways),
            sized=sized,
            graph=graph is not None,
            sized_pathway=any(pathway.hidden is not None for pathway in pathways),
            problems=problems,
        )
    check_switches(pathways, network, sized=sized, problems=problems)
    check_boundaries(pathways, network, problems)
