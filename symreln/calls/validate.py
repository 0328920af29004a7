"""What a Python user calls to train: a derivation confronted with networks."""

from __future__ import annotations

import os
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from symreln.base.records import record
from symreln.calls.derive import Derivation, derive
from symreln.claims.lines import derivation_lines
from symreln.experiment import confront, outcome
from symreln.experiment.representation import check_representations
from symreln.experiment.training import check_trainable
from symreln.report import sentences
from symreln.report.formats import require_formats
from symreln.report.latex_style import Style
from symreln.report.user_plots import plot_validation
from symreln.report.validation_json import validation_to_json
from symreln.report.write_validation import write_run, write_validation
from symreln.specs.spec import Spec
from symreln.task_library.load import spec_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@record(eq=False)
class Validation(outcome.Validation):
    """A derivation confronted with trained networks, with what a user asks of it.

    Attributes:
        files: What :func:`symreln.run` has written.

    Example:
        >>> import symreln as sr
        >>> small = sr.load("xor", {"network.hidden": 40, "network.steps": 200})
        >>> list(sr.validate(sr.derive(small), seeds=2).verdicts)
        ['loss', 'modes', 'gates']
    """

    files: tuple[Path, ...] = ()

    @classmethod
    def of(cls, found: outcome.Validation, files: Sequence[Path] = ()) -> Self:
        """Return a confrontation that shares what was found of it already."""
        made = object.__new__(cls)
        vars(made).update(vars(found), files=tuple(files))
        return made

    def to_json(self) -> dict[str, Any]:
        """Return what validation.json says."""
        return validation_to_json(self)

    def clauses(self) -> list[str]:
        """Return the three verdicts, and what is beside them, each by itself."""
        return sentences.clauses(self)

    def sentence(self) -> str:
        """Return the same in one sentence."""
        return "; ".join(self.clauses())

    def metric_rows(self) -> list[tuple[str, ...]]:
        """Return (curves, every metric) as text, for tables."""
        return list(sentences.metric_rows(self))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the losses of the theory and of the networks, with the band over seeds.

        Args:
            ax: Where; a new figure by default.
        """
        return plot_validation(self, ax)

    def save(self, directory: str | Path) -> list[Path]:
        """Write what the command does: validation.json, curves.npz, figures, document.json."""
        return write_validation(self, directory)

    def _repr_html_(self) -> str:
        """Return the verdict, the distances folded, for a notebook."""
        first, *more = (escape(line) for line in sentences.validation_summary(self))
        folded = "<br>".join(more[1:])
        return (
            f"<p>{first}<br>{more[0]}</p>"
            f"<details><summary>distances</summary><p>{folded}</p></details>"
        )

    def _summary(self) -> list[str]:
        return sentences.validation_summary(self)

    def _headline(self) -> str:
        title = self.derivation.spec.title
        return f"{type(self).__name__}({title!r}, {self.seeds} seeds, {self.verdict})"


def validate(
    derivation: Derivation | Spec | str | os.PathLike[str],
    seeds: int = 8,
    rng: int = 0,
    *,
    representations: bool = False,
    diagnosis: bool = True,
) -> Validation:
    """Train the network and the GDLN of a spec and compare them with the prediction.

    What is trained is compared when that is asked for: verdicts, distances, what fails.

    Args:
        derivation: What is confronted; its spec needs a network and a value for every parameter.
            A spec, its file or its name is derived first.
        seeds: Networks to train of each kind.
        rng: Seed of the random streams; results depend on it and on nothing else.
        representations: Whether to compare what hidden layers hold of the samples, which trains
            once more; of pathways alone.
        diagnosis: Whether to find out which assumption fails where theory and training disagree,
            which trains up to ten times as much.

    Raises:
        InputError: No network, a parameter without a value, or training diverged.
        NotSupportedError: This cannot be confronted; the message says why.

    Example:
        >>> import symreln as sr
        >>> small = sr.load("xor", {"network.hidden": 40, "network.steps": 200})
        >>> sr.validate(sr.derive(small), seeds=2).seeds
        2
    """
    if isinstance(derivation, Spec | str | os.PathLike):
        derivation = _derived(derivation, "validate")
    if representations:
        check_representations(derivation)
    asked = {"diagnosis": diagnosis, "representations": representations}
    return Validation.of(confront.validate(derivation, seeds, rng, **asked))


def run(
    spec: Spec | str | os.PathLike[str],
    directory: str | Path,
    seeds: int = 8,
    rng: int = 0,
    formats: Sequence[str] = (),
    *,
    latex: Sequence[str] = (),
    full: bool = False,
    representations: bool = False,
) -> Validation:
    """Derive, train, compare and report, into a folder: the main job.

    What is derived is written before training begins.

    Args:
        spec: A spec, its file or its name; with a network and a value for every parameter.
        directory: Folder, made if it is not there.
        seeds: Networks to train of each kind.
        rng: Seed of the random streams; results depend on it and on nothing else.
        formats: As of :meth:`symreln.Derivation.save`: ["pdf"] for the document as a PDF alone.
        latex: Likewise: how LaTeX is written.
        full: Likewise.
        representations: Whether to compare what hidden layers hold of the samples, which trains
            once more; of pathways alone.

    Raises:
        InputError: No network, a parameter without a value, or training diverged.
        NotSupportedError: This cannot be confronted; the message says why.

    Example:
        >>> import symreln as sr, tempfile
        >>> small = sr.load("xor", {"network.hidden": 20, "network.steps": 50})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     sr.run(small, folder, seeds=1).seeds
        1
    """
    style = Style.of(latex)
    require_formats(formats)
    derivation = _derived(spec, "run")
    derivation.save(directory, formats, latex=latex, full=full)
    found = validate(derivation, seeds, rng, representations=representations)
    return Validation.of(found, write_run(found, directory, formats, style=style, full=full))


def _derived(spec: Spec | str | os.PathLike[str], where: str) -> Derivation:
    """Derive a spec, its file or its name, unless training it is refused for what it says."""
    asked = spec_of(spec, where)
    check_trainable(asked)
    derivation = derive(asked)
    derivation.ask(derivation_lines)  # refused before training, not when they are written
    return derivation
