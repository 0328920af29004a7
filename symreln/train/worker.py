"""A worker process: ``python -m symreln.train.worker PARENT``, started by :mod:`.workers`.

Reads a model from stdin, then chunks of seeds; writes progress and results to stdout. Ends when its
stdin closes, and with the process that started it, also in the middle of a training.
"""

from __future__ import annotations

import sys
import time
from typing import Any, BinaryIO

import numpy as np

from symreln.base.processes import end_with_parent
from symreln.errors import SymrelnError
from symreln.train.chunk import train_chunk
from symreln.train.deep import DeepModel
from symreln.train.gdln import GatedModel
from symreln.train.graph import GraphModel
from symreln.train.model import AbstractModel
from symreln.train.network import (
    EdgeWeights,
    GatedPathway,
    LayerWeights,
    TrainingSettings,
    Weights,
)
from symreln.train.record import Recording
from symreln.train.relu import ReluModel
from symreln.train.topology import GatedEdge, GatedGraph, GatedNode
from symreln.train.wire import receive, send

REPORT_SECONDS = 0.1  # between two messages of progress


def build_model(
    description: dict[str, Any], settings: TrainingSettings, arrays: dict[str, np.ndarray]
) -> AbstractModel:
    """The model that ``AbstractModel.description`` describes."""
    inputs, targets = arrays["inputs"], arrays["targets"]
    if description["kind"] == "relu":
        return ReluModel(inputs, targets, settings)
    if description["kind"] == "deep":
        widths, biases = description["widths"], description["biases"]
        return DeepModel(inputs, targets, widths, settings, biases=biases)
    if description["kind"] == "graph":
        nodes = tuple(GatedNode(**node) for node in description["nodes"])
        edges = tuple(GatedEdge(**edge) for edge in description["edges"])
        graph = GatedGraph(nodes=nodes, edges=edges)
        staged, biases = description["staged"], description["biases"]
        return GraphModel(inputs, targets, graph, settings, staged=staged, biases=biases)
    pathways = [GatedPathway(**pathway) for pathway in description["pathways"]]
    return GatedModel(inputs, targets, pathways, settings, staged=description["staged"])


def serve(requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer requests until they end."""
    first = receive(requests)
    if first is None:
        return
    header, arrays = first
    settings = TrainingSettings(**header["settings"])
    record = Recording(
        quantities=tuple(header["quantities"]),
        gates=header["gates"],
        steps=None if header["steps"] is None else tuple(header["steps"]),
    )
    model = build_model(header["model"], settings, arrays)
    while (request := receive(requests)) is not None:
        try:
            _answer(model, settings, record, request, replies)
        except SymrelnError as error:
            send(replies, {"error": str(error)}, {})


def _answer(
    model: AbstractModel,
    settings: TrainingSettings,
    record: Recording,
    request: tuple[dict[str, Any], dict[str, np.ndarray]],
    replies: BinaryIO,
) -> None:
    header, arrays = request
    last = time.monotonic()

    def report(done: int) -> None:
        nonlocal last
        if time.monotonic() - last > REPORT_SECONDS:
            last = time.monotonic()
            send(replies, {"done": done}, {})

    weights = unpack_weights(arrays)
    chunk = train_chunk(
        model, weights, settings, record, header["first_seed"], report, arrays.get("keys")
    )
    snapshots = {f"snapshot {name}": values for name, values in chunk.snapshots.items()}
    send(
        replies,
        {"result": True},
        {"losses": chunk.losses, **snapshots, **pack_weights(chunk.weights)},
    )


def pack_weights(weights: Weights) -> dict[str, np.ndarray]:
    """Weights as named arrays."""
    return {
        f"{part} {position}": values
        for position, one in enumerate(weights)
        for part, values in vars(one).items()
    }


def unpack_weights(arrays: dict[str, np.ndarray]) -> Weights:
    """Inverse of :func:`pack_weights`; other arrays are passed over."""
    edges = sum(name.startswith("matrix ") for name in arrays)
    if edges:
        return tuple(EdgeWeights(matrix=arrays[f"matrix {e}"]) for e in range(edges))
    count = sum(name.startswith("w1 ") for name in arrays)
    return tuple(LayerWeights(w1=arrays[f"w1 {p}"], w2=arrays[f"w2 {p}"]) for p in range(count))


def main() -> None:
    """Serve stdin and stdout."""
    end_with_parent(int(sys.argv[1]))
    replies, sys.stdout = sys.stdout.buffer, sys.stderr  # a stray print must not break a message
    serve(sys.stdin.buffer, replies)


if __name__ == "__main__":
    main()
