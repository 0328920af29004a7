"""A worker that is killed whenever it trains a certain network, or before it is ready."""

from __future__ import annotations

import os
import signal

if os.environ.get("DEADLY_WORKER") == "at once":
    os.kill(os.getpid(), signal.SIGKILL)

from symreln.sweep import worker

genuine = worker.perform


def deadly(request):
    """Kill this process where seed 2 of the first combination is asked for."""
    first = request.get("first", -9)
    seeds = range(first, first + len(request["names"]))
    if 2 in seeds and request["overrides"] == ["network.hidden=3", "parameters.c.value=1"]:
        os.kill(os.getpid(), signal.SIGKILL)
    return genuine(request)


if __name__ == "__main__":
    worker.perform = deadly
    worker.main()
