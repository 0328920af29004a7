"""What the commands derive, run and validate do, in this process or in one that a limit can end."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from symreln.errors import InputError
from symreln.report.derivation_json import derivation_to_json

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from symreln.cache.store import Store
    from symreln.claims.derivation import Derivation, Derived
    from symreln.cli.request import Request
    from symreln.experiment.confront import Validation
    from symreln.limits.steps import StepWriter
    from symreln.report.drawer import Drawer
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
    store: Store = field(init=False)
    drawer: Drawer = field(init=False)

    def __post_init__(self) -> None:
        from symreln.cache.store import Store
        from symreln.report.drawer import Drawer

        self.store = Store() if self.request.cache else Store(folder=None)
        self.drawer = Drawer(beside=self.request.draws_beside)

    def execute(self) -> int:
        """Carry out the command; return its exit code."""
        work = {
            "derive": self._derive,
            "run": self._run,
            "validate": self._validate,
            "steps": self._tell_all,
        }
        try:
            with self._machine(), self.drawer:
                return work[self.request.command]()
        finally:
            self._tell_notes()

    def _machine(self) -> AbstractContextManager[None]:
        """Return a context in which trainings run where the user wants them."""
        if self.request.command not in ("run", "validate"):
            return nullcontext()
        from symreln.cli.hardware import training_machine

        return training_machine(self.request)

    def _tell_all(self) -> int:
        """Derive for a Python caller: every spectrum is kept beside the steps, nothing else."""
        from symreln.cache.spectra import cached_spectrum
        from symreln.cache.store import Store
        from symreln.pipeline.derive import derive

        assert self.steps is not None
        store = Store(folder=spectra_folder(self.steps.path))
        spectrum = cached_spectrum(store, keep_from=0.0)
        derive(self._load(), spectrum=spectrum, progress=self.steps.progress)
        return 0

    def _derive(self) -> int:
        from symreln.base.progress import Progress
        from symreln.report import terminal as console
        from symreln.report.jsonio import dumps

        request, folder = self.request, self.request.folder
        key = output_key(request) if request.cache else None
        spec = self._load()
        with Progress(quiet=request.quiet)("deriving"):
            derivation = self._derived(spec)
            written = self._written(derivation, request.formats)
        console.note_earlier_run(folder)
        with Progress(quiet=request.quiet)("summary"):
            # Only what is printed or kept is made into text once more.
            text = (
                dumps(derivation.ask(derivation_to_json))
                if request.as_json or key is not None
                else ""
            )
            summary = console.summary_of(derivation)
        console.show_derivation(text, summary, folder, written, as_json=request.as_json)
        # A spec or a program that was edited meanwhile has another key: these results are not its
        # own. Modules are read when they are first used, long after the first key.
        if key is not None and key == output_key(request, fresh=True):
            from symreln.cache.outputs import keep_outputs

            keep_outputs(self.store, key, folder, written, text, summary)
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
            written = write_validation(validation, draft.folder, drawer=self.drawer)
            written += write_derivation(
                derivation, draft.folder, validation=validation, drawer=self.drawer
            )
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
            written = write_validation(validation, folder, drawer=self.drawer)
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
        from symreln.cache.spectra import cached_spectrum
        from symreln.pipeline.derive import derive

        self._announce(spec)
        progress = None if self.steps is None else self.steps.progress
        return derive(spec, spectrum=cached_spectrum(self.store), progress=progress)

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
        written = write_derivation(
            derivation, self.request.folder, formats=formats or None, drawer=self.drawer
        )
        if self.steps is not None:
            self.steps.say("written", {"files": [path.name for path in written]})
        return written

    def _tell_notes(self) -> None:
        if not self.request.quiet:
            import click

            for note in dict.fromkeys(self.store.notes):
                click.echo(f"symreln: {note}", err=True)


def spectra_folder(steps: Path) -> Path:
    """Return where the spectra of a derivation for a Python caller are kept."""
    return steps.parent / "spectra"


def load_spec(request: Request) -> Spec:
    """Return the checked spec that is asked for."""
    from symreln.tasks.load import load

    return load(request.spec, overrides=request.overrides, allow_outside=request.allow_outside)


def output_key(request: Request, *, fresh: bool = False) -> str | None:
    """Return the key of everything that `derive` writes and prints, or None where it is unknown."""
    from symreln.cache.key import spec_key

    return spec_key(
        request.spec,
        request.overrides,
        allow_outside=request.allow_outside,
        fresh=fresh,
        formats=" ".join(sorted(set(request.formats))),
    )


def execute(request: Request, *, began: float | None = None) -> int:
    """Carry out a command for the user; return its exit code.

    Args:
        request: What was asked for.
        began: When the user's clock began, as :func:`time.monotonic` tells it; now by default.
    """
    from symreln.report.folder import require_folder

    session = Session(request=request)
    require_folder(request.folder)
    if request.command == "derive" and request.cache and _from_cache(request, session):
        return 0
    if request.limited:
        import time

        from symreln.limits.supervise import supervise

        return supervise(request, spent=0.0 if began is None else time.monotonic() - began)
    return session.execute()


def _from_cache(request: Request, session: Session) -> bool:
    """Write and print what an equal command did, where it is kept."""
    from symreln.cache.outputs import read_outputs

    key = output_key(request)
    kept = None if key is None else read_outputs(session.store, key)
    if kept is None:
        return False
    import click

    from symreln.report import terminal as console

    written = kept.write(request.folder)
    if not request.quiet:
        note = "taken from the cache of an equal command; --no-cache derives it again"
        click.echo(f"symreln: {note}", err=True)
    console.note_earlier_run(request.folder)
    console.show_derivation(
        kept.json, kept.summary, request.folder, written, as_json=request.as_json
    )
    return True


def clear_cache(*, clear: bool) -> dict[str, Any]:
    """Return what is in the cache, after emptying it where that is asked for.

    Raises:
        InputError: The cache is switched off.
    """
    from symreln.cache.store import Store

    store = Store()
    if store.folder is None:
        msg = "cache: it is switched off by SYMRELN_CACHE; unset that to use it"
        raise InputError(msg)
    removed = store.clear() if clear else 0
    return {**store.info(), "removed": removed}


def show_estimate(request: Request) -> int:
    """Print what a derivation may take, and derive nothing."""
    import click

    from symreln.claims import cost
    from symreln.report.jsonio import dumps

    found = cost.estimate(load_spec(request))
    click.echo(dumps(found.to_json()) if request.as_json else f"{found.sentence()}\n", nl=False)
    return 0
