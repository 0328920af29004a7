"""The work of ``symreln derive``: derive, write, print."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from symreln.base.progress import Progress
from symreln.claims import cost
from symreln.claims.derivation import Derived
from symreln.cli.request import Request
from symreln.pipeline.derive import derive as derive_spec
from symreln.report import terminal as console
from symreln.report import write
from symreln.report.inform import estimate_said, estimate_sentence
from symreln.report.latex_style import Style
from symreln.report.steps import StepWriter
from symreln.specs.model import Spec
from symreln.task_library.load import load


@dataclass(kw_only=True)
class Session:
    """One command under way.

    Attributes:
        request: What was asked for.
        steps: Where finished steps are told to the process that watches this one, or None.
    """

    request: Request
    steps: StepWriter | None = None

    def load(self) -> Spec:
        """Return the checked spec that is asked for."""
        with Progress(quiet=self.request.quiet)("reading the spec"):
            spec = _load_spec(self.request)
            if self.steps is not None:
                self.steps.spec(spec)
        return spec

    def derive(self, spec: Spec) -> Derived:
        """Derive; what long work may take is said on stderr before it begins."""
        progress = None if self.steps is None else self.steps.progress
        if not self.request.quiet and (found := cost.estimate(spec)).long:
            click.echo(f"symreln: {estimate_sentence(found)}", err=True)
        return derive_spec(spec, progress=progress)

    def write(self, derivation: Derived, formats: tuple[str, ...]) -> list[Path]:
        """Write a derivation; what is proven first, as a limit may end this process meanwhile."""
        folder = self.request.folder
        if self.steps is not None:
            kept = write.write_proven(derivation, folder, formats)
            self.steps.say("proven", {"files": [path.name for path in kept]})
        style = Style.of(self.request.latex)
        written = write.write_derivation(derivation, folder, formats=formats, style=style)
        if self.steps is not None:
            self.steps.say("written", {"files": [path.name for path in written]})
        return written


def _load_spec(request: Request) -> Spec:
    """Return the checked spec that is asked for."""
    return load(request.spec, overrides=request.overrides, allow_outside=request.allow_outside)


def derive(request: Request, steps: StepWriter | None = None) -> int:
    """Derive, write the derivation and print what it says; return the exit code."""
    session, folder = Session(request=request, steps=steps), request.folder
    spec = session.load()
    with Progress(quiet=request.quiet)("deriving"):
        derivation = session.derive(spec)
        written = session.write(derivation, request.formats)
    console.note_earlier_run(folder)
    with Progress(quiet=request.quiet)("summary"):
        said = console.derivation_said(derivation, as_json=request.as_json)
    console.show_derivation(said, folder, written)
    return 0


def show_estimate(request: Request) -> int:
    """Print what a derivation may take, and derive nothing."""
    found = cost.estimate(_load_spec(request))
    click.echo(estimate_said(found, as_json=request.as_json), nl=False)
    return 0
