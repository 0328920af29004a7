"""What ``symreln validate`` and ``run`` do for a network given by nodes and edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.errors import NotSupportedError

if TYPE_CHECKING:
    from symreln.commands import Session
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
    import click

    from symreln import console
    from symreln.cache.spectra import cached_spectrum
    from symreln.graphs.command import summary_of
    from symreln.graphs.derivation import derive_graph
    from symreln.report.graph_validation import write_graph_validation
    from symreln.report.graph_write import write_graph, write_proven
    from symreln.report.jsonio import dumps
    from symreln.validation.graphs import validate_graph

    request = session.request
    if request.terms or request.rules or request.study or request.representations:
        msg = (
            "--terms, --rules, --study and --representations: they are measured for pathways, not "
            "for graphs. Leave them out"
        )
        raise NotSupportedError(msg)
    progress, steps = console.Progress(quiet=request.quiet), session.steps
    with progress("deriving"):
        derivation = derive_graph(
            spec,
            spectrum=cached_spectrum(session.store),
            progress=None if steps is None else steps.progress,
        )
        written = []
        if request.command == "run" or steps is not None:
            # Before training starts: what is proven must be on disk when a limit is hit.
            written = write_proven(derivation, request.folder, ("json",))
        if steps is not None:
            steps.say("proven", {"files": [path.name for path in written]})
    with progress("training") as report:
        try:
            validation = validate_graph(derivation, request.seeds, request.rng, report)
        except NotSupportedError as error:
            msg = (
                f"{error}. `symreln depth` trains graphs of several hidden layers whatever their "
                "data, beside ReLU networks"
            )
            raise NotSupportedError(msg) from error
    with progress("writing the report"):
        written = write_graph_validation(validation, request.folder, drawer=session.drawer)
        if request.command == "run":
            written += write_graph(
                derivation, request.folder, drawer=session.drawer, validation=validation
            )
    if request.command == "run" and request.as_json:
        both = {"derivation": derivation.to_json(), "validation": validation.to_json()}
        click.echo(dumps(both), nl=False)
        return 0 if validation.agrees else 3
    if request.command == "run":
        console.show_summary(summary_of(derivation))
    console.show_validation(validation, request.folder, written, as_json=request.as_json)
    return 0 if validation.agrees else 3
