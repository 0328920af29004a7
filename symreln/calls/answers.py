"""What the answers of all calls can do: files, JSON, and a view of a few lines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from typing import Any

from symreln.report.results_folder import write_together

#: Lines of a notebook's view that are not folded.
_OPEN = 12


class AbstractAnswer(ABC):
    """What all answers can do: files, JSON, and a view of a few lines."""

    @abstractmethod
    def files(self) -> dict[str, str | bytes]:
        """Return what the command of the same name writes, by file name; JSON is among it."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Return what its JSON file says."""

    @abstractmethod
    def lines(self) -> Iterator[str]:
        """Yield what the terminal shows."""

    @property
    def exit_code(self) -> int:
        """What its command ends with."""
        return 0

    def errors(self) -> Iterable[str]:
        """Return what could not be done, which the command prints on stderr."""
        return ()

    def save(self, directory: str | Path) -> list[Path]:
        """Write the files of the command into a folder, made if it is not there."""
        return write_together(Path(directory), self.files())

    def _summary(self) -> list[str]:
        return list(self.lines())

    def _repr_html_(self) -> str:
        """Return the first lines, the others folded, and the figure, for a notebook."""
        lines = [escape(line) for text in self.lines() for line in text.splitlines()]
        first, more = "\n".join(lines[:_OPEN]), "\n".join(lines[_OPEN:])
        folded = f"<details><summary>more</summary><pre>{more}</pre></details>" if more else ""
        return f"<pre>{first}</pre>{folded}{''.join(self._figures())}"

    def _figures(self) -> Iterator[str]:
        for name, content in self.files().items():
            if name.endswith(".svg"):
                yield content if isinstance(content, str) else content.decode()
