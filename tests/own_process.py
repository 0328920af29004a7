"""Programs that run in a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def printed(program: str, *given: str, options: tuple[str, ...] = (), **variables: str) -> str:
    """Return what a program prints, run in the root with these variables of the environment."""
    done = subprocess.run(
        [sys.executable, *options, "-c", program, *given], capture_output=True, text=True,
        timeout=240, cwd=Path(__file__).parents[1], env=os.environ | variables, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def imported(program: str, *never: str) -> list[str]:
    """Return which modules a program imports of those that it should never import."""
    told = f"; import sys; print([name for name in {never} if name in sys.modules])"
    return eval(printed(program + told).splitlines()[-1])
