"""What the commands derive, run and validate do, in this process or in one that a limit can end."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symreln.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from symreln.cache.store import Store
    from symreln.derivation import Derivation
    from symreln.limits.steps import StepWriter
    from symreln.spec.model import Spec
    from symreln.validation.confront import Validation


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a user asked for; JSON values only, so that it can be handed to a child process.

    Attributes:
        command: "derive", "run" or "validate"; "steps" for a caller in Python.
        spec: A TOML file or the name of a ready-made spec.
        overrides: ``key=value`` texts.
        out: Folder for the results, or None for the default.
        as_json: Whether to print JSON.
        quiet: Whether to show no progress.
        allow_outside: Whether data files may lie outside the spec's folder.
        cache: Whether finished steps may come from the cache.
        time_limit: Seconds, or None.
        memory_limit: Bytes, or None.
        formats: What to write beside the certificate; all where empty.
        seeds: Networks to train, of each kind.
        rng: Seed of the random streams.
    """

    command: str
    spec: str
    overrides: tuple[str, ...] = ()
    out: str | None = None
    as_json: bool = False
    quiet: bool = False
    allow_outside: bool = False
    cache: bool = True
    time_limit: float | None = None
    memory_limit: int | None = None
    formats: tuple[str, ...] = ()
    seeds: int = 8
    rng: int = 0

    @property
    def folder(self) -> Path:
        """The results' folder."""
        return Path(self.out) if self.out else Path("symreln-out") / Path(self.spec).stem

    @property
    def limited(self) -> bool:
        """Whether there is a limit."""
        return self.time_limit is not None or self.memory_limit is not None

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Request:
        """Return the request of :meth:`to_json`."""
        lists = {name: tuple(values[name]) for name in ("overrides", "formats")}
        return cls(**{**values, **lists})


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

    def __post_init__(self) -> None:
        from symreln.cache.store import Store

        self.store = Store() if self.request.cache else Store(folder=None)

    def execute(self) -> int:
        """Carry out the command; return its exit code."""
        work = {
            "derive": self._derive,
            "run": self._run,
            "validate": self._validate,
            "steps": self._tell_all,
        }
        try:
            return work[self.request.command]()
        finally:
            self._tell_notes()

    def _tell_all(self) -> int:
        """Derive for a Python caller: every spectrum is kept beside the steps, nothing else."""
        from symreln.cache.spectra import cached_spectrum
        from symreln.cache.store import Store
        from symreln.pipeline import derive

        assert self.steps is not None
        store = Store(folder=spectra_folder(self.steps.path))
        spectrum = cached_spectrum(store, keep_from=0.0)
        derive(self._load(), spectrum=spectrum, progress=self.steps.progress)
        return 0

    def _derive(self) -> int:
        from symreln import console
        from symreln.report.jsonio import dumps

        request, folder = self.request, self.request.folder
        key = output_key(request) if request.cache else None
        spec = self._load()
        with console.Progress(quiet=request.quiet)("deriving"):
            derivation = self._derived(spec)
            written = self._written(derivation, request.formats)
        console.note_earlier_run(folder)
        from symreln.report.derivation_json import derivation_to_json

        text = dumps(derivation_to_json(derivation))
        summary = console.summary_of(derivation)
        console.show_derivation(text, summary, folder, written, as_json=request.as_json)
        # A spec or a program that was edited meanwhile has another key: these results are not its
        # own. Modules are read when they are first used, long after the first key.
        if key is not None and key == output_key(request, fresh=True):
            from symreln.cache.outputs import keep_outputs

            keep_outputs(self.store, key, folder, written, text, summary)
        return 0

    def _run(self) -> int:
        from symreln import console
        from symreln.report.write import write_derivation, write_validation

        request, folder = self.request, self.request.folder
        # Written before training starts: an interrupted run keeps its derivation.
        derivation, validation = self._confronted(lambda derived: self._written(derived, ()))
        with console.Progress(quiet=request.quiet)("writing the report"):
            written = write_validation(validation, folder)
            written += write_derivation(derivation, folder, validation=validation)
        console.show_run(derivation, validation, folder, written, as_json=request.as_json)
        return 0 if validation.agrees else 3

    def _validate(self) -> int:
        from symreln import console
        from symreln.report.write import write_validation

        request, folder = self.request, self.request.folder

        def keep(derivation: Derivation) -> None:
            if self.steps is not None:  # what is proven must be on disk when a limit is hit
                self._written(derivation, ("json",))

        _, validation = self._confronted(keep)
        written = write_validation(validation, folder)
        console.show_validation(validation, folder, written, as_json=request.as_json)
        return 0 if validation.agrees else 3

    def _confronted(self, keep: Callable[[Derivation], object]) -> tuple[Derivation, Validation]:
        """Derive, hand the derivation to ``keep``, train and compare."""
        from symreln import console
        from symreln.validation.confront import validate as confront

        progress = console.Progress(quiet=self.request.quiet)
        spec = self._load()
        with progress("deriving"):
            derivation = self._derived(spec)
            keep(derivation)
        with progress("training") as report:
            validation = confront(
                derivation, seeds=self.request.seeds, rng=self.request.rng, progress=report
            )
        return derivation, validation

    def _load(self) -> Spec:
        spec = load_spec(self.request)
        if self.steps is not None:
            self.steps.spec(spec)
        return spec

    def _derived(self, spec: Spec) -> Derivation:
        from symreln.cache.spectra import cached_spectrum
        from symreln.pipeline import derive

        self._announce(spec)
        progress = None if self.steps is None else self.steps.progress
        return derive(spec, spectrum=cached_spectrum(self.store), progress=progress)

    def _announce(self, spec: Spec) -> None:
        """Say on stderr what long work may take, before it begins."""
        if self.request.quiet:
            return
        import click

        from symreln import cost

        found = cost.estimate(spec)
        if found.long:
            click.echo(f"symreln: {found.sentence()}", err=True)

    def _written(self, derivation: Derivation, formats: tuple[str, ...]) -> list[Path]:
        from symreln.report.write import write_derivation

        if self.steps is not None:
            self.steps.say("writing", {})
        written = write_derivation(derivation, self.request.folder, formats=formats or None)
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
    from symreln.spec.reader import load

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
    session = Session(request=request)
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

    from symreln import console

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

    from symreln import cost
    from symreln.report.jsonio import dumps

    found = cost.estimate(load_spec(request))
    click.echo(dumps(found.to_json()) if request.as_json else f"{found.sentence()}\n", nl=False)
    return 0
