"""What is known when a limit was hit, as derivation.json says it.

Standard library only: this runs in the watching process, which must answer at once. Two kinds of
statements are kept apart: what the worker proved (spectra, verdicts of stages), and what nobody
decided.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Json = dict[str, Any]
_LEVEL = "numeric only"
#: What a derivation says of its spec, null where the spec was not read yet.
_HEADER = (
    "format",
    "title",
    "source",
    "free_constants",
    "constants",
    "parameters",
    "dataset",
    "network",
)
#: What a whole derivation leaves out where there is none of it; null, as nobody knows here.
_WHERE_ANY = (
    "equilibria",
    "width",
    "head_starts",
    "gate_law",
    "gate_lines",
    "family_lines",
    "phases",
)
#: Levels from the strongest; a whole derivation has the weakest of its stages.
_LEVELS = ("closed", "closed by symmetry", "coupled modes", "coupled matrices", _LEVEL)
_NO_CERTIFICATE = (
    "certificate.json proves whole derivations only; what is proven of a single pathway is under "
    "proven.classes and is put into its equations again whenever it is read"
)
#: Names of pathways that a sentence lists.
_MOST_NAMES = 6


def read_steps(path: Path) -> list[Json]:
    """Return the steps that a child has written; a line that was cut is left out."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return []
    return [json.loads(line) for line in data.split(b"\n")[:-1]]


@dataclass(frozen=True, kw_only=True)
class Reached:
    """What ended the work before it was done.

    Attributes:
        kind: "time" or "memory" for a limit; "ended" by somebody, or "crash".
        limit: The limit as text, with its unit; empty without one.
        seconds: Seconds that the work had taken.
        how: What happened, where that is more than the limit's being passed.
    """

    kind: str
    limit: str = ""
    seconds: float
    how: str = ""

    @property
    def code(self) -> int:
        """The exit code of the command."""
        return 1 if self.kind == "crash" else 4

    def sentence(self) -> str:
        """Return what to tell the user."""
        if not self.limit:
            return self.how
        return f"the {self.kind} limit of {self.limit} was reached" + (
            f" ({self.how})" if self.how else ""
        )


class Finished:
    """The steps of a derivation that were finished before it was cut.

    Args:
        steps: Lines of :class:`symreln.report.steps.StepWriter`.
    """

    def __init__(self, steps: Sequence[Json]) -> None:
        def of(kind: str) -> list[Json]:
            return [line for line in steps if line["step"] == kind]

        self.steps = steps
        spec = next(iter(of("spec")), None)
        self.header: Json = {} if spec is None else spec["header"]
        self.pathways: list[Json] = [] if spec is None else spec["pathways"]
        self.versions: Json | None = None if spec is None else spec["versions"]
        self.begun = {number for line in of("effective") for number in line["pathways"]}
        self.classes = {line["pathway"]: line["classes"] for line in of("classes")}
        self.spectra = {line["pathway"]: line for line in of("spectrum")}
        self.verdicts = {line["stage"]: line for line in of("verdict")}
        self.checks = next((line["steps"] for line in of("checks")), None)
        #: Names of the files that prove the whole derivation, once they are on disk.
        self.files: list[str] = next((line["files"] for line in of("proven")), [])
        #: Whether all files of the derivation are.
        self.written = bool(of("written"))

    @property
    def stages(self) -> list[int]:
        """The stages of the spec."""
        return sorted({pathway["stage"] for pathway in self.pathways})

    @property
    def proves(self) -> bool:
        """Whether anything at all is proven."""
        return bool(self.classes or self.verdicts)

    @property
    def place(self) -> str:
        """What was under way."""
        if not self.pathways:
            return "reading the spec"
        for stage in self.stages:
            members = [p for p in self.pathways if p["stage"] == stage]
            if stage in self.verdicts:
                continue
            if not any(p["number"] in self.begun for p in members):
                return f"the effective datasets of stage {stage}"
            left = [p["name"] for p in members if p["number"] not in self.classes]
            if left:
                return f"the joint spectrum of pathway '{left[0]}'"
            bare = [p["name"] for p in members if p["number"] not in self.spectra]
            if bare:
                return f"the printed numbers of pathway '{bare[0]}'"
            return f"the couplings of stage {stage}"
        if self.checks is None:
            return "the closed forms and the checks"
        return "writing the results"

    def proven(self) -> list[str]:
        """Return a sentence for all that is proven."""
        found = []
        for stage, verdict in sorted(self.verdicts.items()):
            found.append(f"proven: stage {stage} is '{verdict['level']}'")
        names = [p["name"] for p in self.pathways if p["number"] in self.classes]
        return [*found, f"proven: the joint spectra of {_listed(names)}"] if names else found

    def undecided(self) -> list[str]:
        """Return a sentence for all that is not."""
        if not self.pathways:
            return ["undecided: everything; the spec was still being read"]
        left = [p["name"] for p in self.pathways if p["number"] not in self.classes]
        return [
            *([f"undecided: the spectra of {_listed(left)}"] if left else []),
            *(
                f"undecided: whether the modes of stage {stage} close"
                for stage in self.stages
                if stage not in self.verdicts
            ),
            *(
                ["undecided: the program's checks of the whole derivation"]
                if self.checks is None
                else []
            ),
        ]


def partial_derivation(finished: Finished, reached: Reached) -> Json:
    """Return derivation.json of a derivation that was cut short.

    It has the keys of every derivation.json, and ``limits``; what was not found is null. A pathway
    has ``proven`` as well (there ``latex`` has s and d of every mode, null without a form in square
    roots); one that is not finished has no modes.
    """
    stages = [_stage(finished, stage) for stage in finished.stages]
    weakest = max((stage["level"] for stage in stages), key=_LEVELS.index, default=_LEVEL)
    proven = finished.proven()
    return {
        **dict.fromkeys(_HEADER),
        **finished.header,
        "format": "symreln-derivation/1",
        "verdict": {
            "level": _LEVEL if finished.checks is None else weakest,
            "reasons": [f"{reached.sentence()} in {finished.place}", *proven],
            "stages": stages,
        },
        "pathways": [_pathway(finished, pathway) for pathway in finished.pathways],
        "couplings": None,
        "loss": {"initial": None, "final": None, "expr": None},
        **dict.fromkeys(_WHERE_ANY),
        "lines": None,
        "regime": None,
        "unsupported": None,
        "exceptional": None,
        "family": None,
        "steps": finished.checks or [],
        "versions": finished.versions,
        "provenance": None,  # no certificate proves it, so none is named
        "limits": {
            "kind": reached.kind,
            "limit": reached.limit or None,
            "said": reached.sentence(),
            "seconds": round(reached.seconds, 3),
            "reached_in": finished.place,
            "proven": proven,
            "undecided": finished.undecided(),
            "certificate": _NO_CERTIFICATE,
        },
    }


def _stage(finished: Finished, stage: int) -> Json:
    verdict = finished.verdicts.get(stage)
    if verdict is None:
        return {"stage": stage, "level": _LEVEL, "reasons": ["not decided before the limit"]}
    return {"stage": stage, "level": verdict["level"], "reasons": verdict["reasons"]}


def _pathway(finished: Finished, pathway: Mapping[str, Any]) -> Json:
    number, verdict = pathway["number"], finished.verdicts.get(pathway["stage"])
    proven: Json = {"spectrum": number in finished.classes, "stage": verdict is not None}
    if number in finished.classes:
        proven["classes"] = finished.classes[number]
    if number not in finished.spectra:
        known = {key: value for key, value in pathway.items() if key != "number"}
        unknown = {"commutes": "undecided", "commutator": None, "modes": []}
        return {**known, **unknown, "proven": proven}
    found = finished.spectra[number]
    family = "undecided" if verdict is None else verdict["family"]
    modes = [{**mode, "family": family} for mode in found["entry"]["modes"]]
    return {**found["entry"], "modes": modes, "proven": {**proven, "latex": found["latex"]}}


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:_MOST_NAMES])
    more = len(names) - _MOST_NAMES
    return shown + (f" and {more} more pathways" if more > 0 else "")
