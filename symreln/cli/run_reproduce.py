"""The work of ``symreln reproduce``: page after page, then what they say together."""

from __future__ import annotations

from pathlib import Path

from symreln.base.jsonio import dumps
from symreln.base.progress import Progress
from symreln.base.terminal import put, say
from symreln.calls import reproduce as calls
from symreln.report.folder import require_folder
from symreln.report.reproduction import INDEX, outcome_counts


def reproduce_for_user(
    *, name: str, full: bool, rng: int, out: Path, as_json: bool, quiet: bool
) -> int:
    """Do what the command is asked for; return the exit code. Takes the options of the command."""
    names = calls.chosen(name)
    require_folder(out)
    for sentence in calls.left_out() if name == "all" else ():
        say(f"symreln: {sentence}", err=True)
    with Progress(quiet=quiet)("reproducing"):
        for page, new in calls.pages_made(names, out, full=full, rng=rng):
            if not quiet:
                state = f"{page['seconds']:.0f} s" if new else "was there"
                say(f"symreln: {page['name']}: {outcome_counts(page)}; {state}", err=True)
    with Progress(quiet=quiet)("writing the results"):
        found = calls.collected(out, full=full, rng=rng)
    if as_json:
        put(dumps(found.to_json()))
        return 0
    for line in found.lines() if name == "all" else found.page_lines(name):
        say(line)
    counted = "1 page" if len(found.pages) == 1 else f"{len(found.pages)} pages"
    say(f"written to {out}: {INDEX}, {counted}")
    return 0
