"""What is said about every wrong input of the corpus, whole, as ``messages.txt`` keeps it.

    python -m tests.specs.messages

writes the file anew; the difference is for review.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from symreln.errors import InputError
from symreln.specs.overrides import apply_overrides
from symreln.task_library.load import load
from tests.specs.corpus import OVERRIDDEN, OVERRIDES, cases

FILE = Path(__file__).parent / "messages.txt"
#: What Python, NumPy and the operating system say in words of their own.
_FOREIGN = (
    (r"(which does not load) \(.*?\); expected", r"\1 (…); expected"),
    (r"(that does not parse \([^)]*\)): [^;]*;", r"\1: …;"),
    (r"(which cannot be read) \([^)]*\)", r"\1 (…)"),
)


def messages(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and the message of every wrong input.

    Args:
        folder: An empty folder, where the files are written.

    Raises:
        AssertionError: A wrong input is accepted.
    """
    for case in cases(folder):
        yield case.name, _refusal(lambda case=case: load(case.source)).replace(str(folder), "…")
    for place, text in enumerate(OVERRIDES):
        yield f"set-{place}", _refusal(lambda text=text: apply_overrides(OVERRIDDEN, [text]))


def _refusal(call: Callable[[], object]) -> str:
    try:
        call()
    except InputError as error:
        message = str(error)
        for pattern, kept in _FOREIGN:
            message = re.sub(pattern, kept, message)
        return message
    msg = "a wrong input is accepted"
    raise AssertionError(msg)


def written(folder: Path) -> str:
    """Return the text of the file."""
    return "".join(f"== {name}\n{message}\n" for name, message in messages(folder))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        FILE.write_text(written(Path(place)), "utf-8")
