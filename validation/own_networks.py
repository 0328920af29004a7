"""Run the tutorial of a user's own networks: ``python -m validation.own_networks``.

Needs torch and scikit-learn. The code is that of docs/tutorials/explain-my-network.md, block by
block; what a block prints takes the place of the text below it, and the figures of explanations
are written into ``validation/own-networks``.
"""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from symreln.base.jsonio import write_text
from symreln.calls.explain import Explanation
from symreln.explanation.page import sketches
from symreln.report.sketch import begin_to_draw

HERE = Path(__file__).parent
TUTORIAL = HERE.parent / "docs/tutorials/explain-my-network.md"
BLOCK = re.compile(r"(^```py\n)(.*?)(^```\n\n```text\n).*?(^```$)", re.MULTILINE | re.DOTALL)


def main() -> None:
    """Run every block in its turn, and write what it prints and the figures."""
    names: dict[str, Any] = {}

    def printed(found: re.Match[str]) -> str:
        begin, code, between, end = found.groups()
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(code, TUTORIAL.name, "exec"), names)
        print(out.getvalue())
        return f"{begin}{code}{between}{out.getvalue()}{end}"

    with TemporaryDirectory() as folder, contextlib.chdir(folder):
        text = BLOCK.sub(printed, TUTORIAL.read_text("utf-8"))
    write_text(TUTORIAL, text)
    for name, explanation in names.items():
        if isinstance(explanation, Explanation):
            _, drawn = begin_to_draw(sketches(explanation.found), pdf=False)
            for drawing in drawn():
                if drawing.name in ("loss", "needed"):
                    write_text(HERE / "own-networks" / f"{name}-{drawing.name}.svg", drawing.svg)


if __name__ == "__main__":
    main()
