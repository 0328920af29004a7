"""What the commands derive, run and validate do, in this process or in one that a limit can end."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from symreln.report.derivation_json import derivation_to_json

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from symreln.claims.derivation import Derivation, Derived
    from symreln.cli.request import Request
    from symreln.experiment.confront import Validation
    from symreln.limits.steps import StepWriter
    from symreln.spec.model import Spec


@dataclass(kw_only=True)
class Session:
    """One command under way.

    Attributes:
        request: What was asked for.
        steps: Where finished steps are told to a supervisor, or None without one.
    """

    request: Request
    steps: StepWriter | None = None

    def execute(self) -> int:
        """Carry out the command; return its exit code."""
        work = {
            "derive": self._derive,
            "run": self._run,
            "validate": self._validate,
            "steps": self._tell_all,
        }
        with self._machine():
            return work[self.request.command]()

    def _machine(self) -> AbstractContextManager[None]:
        """Return a context in which trainings run where the user wants them."""
        if self.request.command not in ("run", "validate"):
            return nullcontext()
        from symreln.cli.hardware import training_machine

        return training_machine(self.request)

    def _tell_all(self) -> int:
        """Derive for a Python caller, who is told every spectrum."""
        from symreln.pipeline.derive import derive

        assert self.steps is not None
        derive(self._load(), spectrum=self.steps.joint_spectrum, progress=self.steps.progress)
        return 0

    def _derive(self) -> int:
        from symreln.base.progress import Progress
        from symreln.report import terminal as console
        from symreln.report.jsonio import dumps

        request, folder = self.request, self.request.folder
        spec = self._load()
        with Progress(quiet=request.quiet)("deriving"):
            derivation = self._derived(spec)
            written = self._written(derivation, request.formats)
        console.note_earlier_run(folder)
        with Progress(quiet=request.quiet)("summary"):
            text = dumps(derivation.ask(derivation_to_json)) if request.as_json else ""
            summary = console.summary_of(derivation)
        console.show_derivation(text, summary, folder, written, as_json=request.as_json)
        return 0

    def _run(self) -> int:
        from symreln.base.progress import Progress

        with Progress(quiet=self.request.quiet)("loading the program"):
            from symreln.report import terminal as console
            from symreln.report.folder import together
            from symreln.report.write import write_derivation, write_validation

        request, folder = self.request, self.request.folder
        spec = self._load()
        if spec.graph is not None:
            return self._confront_graph(spec)
        # Written before training starts: an interrupted run keeps its derivation.
        derivation, validation = self._confronted(spec, lambda derived: self._written(derived, ()))
        with Progress(quiet=request.quiet)("writing the report"), together(folder) as draft:
            written = write_validation(validation, draft.folder)
            written += write_derivation(derivation, draft.folder, validation=validation)
            written = draft.moved(written)
        console.show_run(derivation, validation, folder, written, as_json=request.as_json)
        return 0 if validation.agrees else 3

    def _validate(self) -> int:
        from symreln.base.progress import Progress

        with Progress(quiet=self.request.quiet)("loading the program"):
            from symreln.report import terminal as console
            from symreln.report.write import write_validation

        request, folder = self.request, self.request.folder

        def keep(derivation: Derivation) -> None:
            if self.steps is not None:  # what is proven must be on disk when a limit is hit
                self._written(derivation, ("json",))

        spec = self._load()
        if spec.graph is not None:
            return self._confront_graph(spec)
        _, validation = self._confronted(spec, keep)
        with Progress(quiet=request.quiet)("writing the results"):
            written = write_validation(validation, folder)
        console.show_validation(validation, folder, written, as_json=request.as_json)
        return 0 if validation.agrees else 3

    def _confront_graph(self, spec: Spec) -> int:
        from symreln.cli.graph_validation import confront_for_user

        return confront_for_user(self, spec)

    def _confronted(
        self, spec: Spec, keep: Callable[[Derivation], object]
    ) -> tuple[Derivation, Validation]:
        """Derive, hand the derivation to ``keep``, train and compare."""
        from symreln.base.progress import Progress

        progress = Progress(quiet=self.request.quiet)
        with progress("loading the program"):
            from symreln.claims.divergence import check_before_deriving
            from symreln.experiment.confront import validate as confront

        check_before_deriving(spec)
        with progress("deriving"):
            derivation = cast("Derivation", self._derived(spec))
            keep(derivation)
        if self.request.rules:
            from symreln.experiment.rules import check_rules

            check_rules(derivation)
        if self.request.study:
            from symreln.experiment.study import check_study

            check_study(derivation)
        if self.request.representations:
            from symreln.experiment.representation import check_representations

            check_representations(derivation)
        with progress("validating") as report:
            validation = confront(
                derivation,
                seeds=self.request.seeds,
                rng=self.request.rng,
                progress=report,
                terms=self.request.terms,
            )
        if self.request.rules:
            from symreln.experiment.rules import compare_rules

            seeds, rng = self.request.seeds, self.request.rng
            with progress("training by other rules") as report:
                rules = compare_rules(derivation, seeds, rng, report)
            validation = replace(validation, rules=rules)
        if self.request.study:
            from symreln.experiment.study import study

            seeds, rng = self.request.seeds, self.request.rng
            with progress("training at other scales and rates") as report:
                found = study(derivation, validation.kappas, seeds, rng, report)
            validation = replace(validation, study=found)
        if self.request.representations:
            from symreln.experiment.representation import compare_representations

            with progress("recording representations") as report:
                held = compare_representations(validation, report)
            validation = replace(validation, representations=held)
        return derivation, validation

    def _load(self) -> Spec:
        from symreln.base.progress import Progress

        with Progress(quiet=self.request.quiet)("reading the spec"):
            spec = load_spec(self.request)
            if self.steps is not None:
                self.steps.spec(spec)
        return spec

    def _derived(self, spec: Spec) -> Derived:
        from symreln.pipeline.derive import derive

        self._announce(spec)
        progress = None if self.steps is None else self.steps.progress
        return derive(spec, progress=progress)

    def _announce(self, spec: Spec) -> None:
        """Say on stderr what long work may take, before it begins."""
        if self.request.quiet:
            return
        import click

        from symreln.claims import cost

        found = cost.estimate(spec)
        if found.long:
            click.echo(f"symreln: {found.sentence()}", err=True)

    def _written(self, derivation: Derived, formats: tuple[str, ...]) -> list[Path]:
        from symreln.report.write import write_derivation, write_proven

        if self.steps is not None:
            # Before the documents, which take longer: a limit may end this process meanwhile.
            kept = write_proven(derivation, self.request.folder, formats or None)
            self.steps.say("proven", {"files": [path.name for path in kept]})
        written = write_derivation(derivation, self.request.folder, formats=formats or None)
        if self.steps is not None:
            self.steps.say("written", {"files": [path.name for path in written]})
        return written


def load_spec(request: Request) -> Spec:
    """Return the checked spec that is asked for."""
    from symreln.tasks.load import load

    return load(request.spec, overrides=request.overrides, allow_outside=request.allow_outside)


def execute(request: Request, *, began: float | None = None) -> int:
    """Carry out a command for the user; return its exit code.

    Args:
        request: What was asked for.
        began: When the user's clock began, as :func:`time.monotonic` tells it; now by default.
    """
    from symreln.report.folder import require_folder

    session = Session(request=request)
    require_folder(request.folder)
    if request.limited:
        import time

        from symreln.limits.supervise import supervise

        return supervise(request, spent=0.0 if began is None else time.monotonic() - began)
    return session.execute()


def show_estimate(request: Request) -> int:
    """Print what a derivation may take, and derive nothing."""
    import click

    from symreln.claims import cost
    from symreln.report.jsonio import dumps

    found = cost.estimate(load_spec(request))
    click.echo(dumps(found.to_json()) if request.as_json else f"{found.sentence()}\n", nl=False)
    return 0
