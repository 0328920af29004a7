"""What ``symreln validate`` and ``run`` do for a network given by nodes and edges."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from symreln.errors import NotSupportedError

if TYPE_CHECKING:
    from pathlib import Path

    from symreln.cli.commands import Session
    from symreln.experiment.graphs import GraphValidation
    from symreln.experiment.trained import ProgressCallback
    from symreln.graphs.derivation import NetworkDerivation
    from symreln.spec.model import Spec


def confront_for_user(session: Session, spec: Spec) -> int:
    """Derive a graph, train its networks, write and print how far theory is from them.

    Args:
        session: The command under way, "run" or "validate".
        spec: Its checked spec, with a graph.

    Returns:
        The exit code: 3 where theory and training disagree.

    Raises:
        NotSupportedError: Terms or other learning rules are asked for.
    """
    from symreln.base.progress import Progress
    from symreln.report.folder import together
    from symreln.report.graph_validation import write_graph_validation
    from symreln.report.write import write_derivation

    request = session.request
    if request.terms or request.rules or request.study or request.representations:
        msg = (
            "--terms, --rules, --study and --representations: they are measured for pathways, not "
            "for graphs. Leave them out"
        )
        raise NotSupportedError(msg)
    progress = Progress(quiet=request.quiet)
    with progress("deriving"):
        derivation = _derived(session, spec)
    with progress("validating") as report:
        validation = _trained(session, derivation, report)
    with progress("writing the report"), together(request.folder) as draft:
        written = write_graph_validation(validation, draft.folder)
        if request.command == "run":
            written += write_derivation(derivation, draft.folder, validation=validation)
        written = draft.moved(written)
    _show(session, validation, written)
    return 0 if validation.agrees else 3


def _derived(session: Session, spec: Spec) -> NetworkDerivation:
    """Derive, and write what is proven where it must not be lost."""
    from symreln.pipeline.derive import derive
    from symreln.report.write import write_proven

    steps = session.steps
    told = None if steps is None else steps.progress
    derivation = cast("NetworkDerivation", derive(spec, progress=told))
    written = []
    if session.request.command == "run" or steps is not None:
        # Before training starts: what is proven must be on disk when a limit is hit.
        written = write_proven(derivation, session.request.folder, ("json",))
    if steps is not None:
        steps.say("proven", {"files": [path.name for path in written]})
    return derivation


def _trained(
    session: Session, derivation: NetworkDerivation, report: ProgressCallback
) -> GraphValidation:
    """Train; where that is not supported, name the command that trains such graphs."""
    from symreln.experiment.graphs import validate_graph

    try:
        return validate_graph(derivation, session.request.seeds, session.request.rng, report)
    except NotSupportedError as error:
        msg = (
            f"{error}. `symreln depth` trains graphs of several hidden layers whatever their "
            "data, beside ReLU networks"
        )
        raise NotSupportedError(msg) from error


def _show(session: Session, validation: GraphValidation, written: list[Path]) -> None:
    """Print the agreement, of ``run`` the derivation before it."""
    import click

    from symreln.report import terminal as console
    from symreln.report.derivation_json import derivation_to_json
    from symreln.report.jsonio import dumps

    request = session.request
    if request.command == "run" and request.as_json:
        both = {
            "derivation": validation.derivation.ask(derivation_to_json),
            "validation": validation.to_json(),
        }
        click.echo(dumps(both), nl=False)
        return
    if request.command == "run":
        console.show_summary(console.summary_of(validation.derivation))
    console.show_validation(validation, request.folder, written, as_json=request.as_json)
