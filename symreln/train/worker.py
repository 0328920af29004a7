"""A worker process: ``python -m symreln.train.worker PARENT``, started by :mod:`.workers`.

Reads a model, then chunks of seeds from stdin; writes progress and results to stdout. Ends when its
stdin closes, and with the process that started it, also in the middle of a training.
"""

from __future__ import annotations

import pickle
import sys
import time

from symreln.base.processes import end_with_parent
from symreln.errors import SymrelnError
from symreln.train.chunk import train_chunk

_REPORT_SECONDS = 0.1  # between two messages of progress


def _main() -> None:
    """Answer requests until they end, each with numbers of seed-steps done, then its result."""
    end_with_parent(int(sys.argv[1]))
    requests, replies = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # a stray print must not break a message
    last = time.monotonic()

    def send(message: object) -> None:
        pickle.dump(message, replies, protocol=pickle.HIGHEST_PROTOCOL)
        replies.flush()

    def report(done: int) -> None:
        nonlocal last
        if time.monotonic() - last > _REPORT_SECONDS:
            last = time.monotonic()
            send(done)

    try:
        model, record = pickle.load(requests)
        while True:
            weights, first_seed, keys = pickle.load(requests)
            try:
                send(train_chunk(model, weights, record, first_seed, report, keys))
            except SymrelnError as error:
                send(error)
    except EOFError:  # all is done, or the parent is gone
        return


if __name__ == "__main__":
    _main()
