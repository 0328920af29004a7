"""What is known when a limit was hit, as derivation.json says it.

Standard library only: this runs in the watching process, which must answer at once. Three kinds of
statements are kept apart in the result: what the worker proved (spectra, verdicts of stages), what
the witness proved by other means (whether two correlations commute; boxes that hold the singular
values at the declared values), and what nobody decided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
LEVEL = "numeric only"
TOO_LATE = "the time after the limit was too short for them"
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
_WHERE_ANY = ("equal_starts", "equilibria", "width", "phases")
#: Levels from the strongest; a whole derivation has the weakest of its stages.
_LEVELS = ("closed", "closed by symmetry", "coupled modes", "coupled matrices", LEVEL)
NO_CERTIFICATE = (
    "certificate.json proves whole derivations only; what is proven of a single pathway is under "
    "proven.classes and is put into its equations again whenever it is read"
)


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


class Told:
    """Everything that was told of a derivation before it was cut."""

    def __init__(self, steps: Sequence[Json], boxes: Sequence[Json]) -> None:
        named = [(line["step"], line) for line in steps]
        spec = next((line for step, line in named if step == "spec"), None)
        if spec is None:  # the witness may have read the spec before the worker did
            spec = next((line for line in boxes if line["step"] == "spec"), None)
        self.header: Json = {} if spec is None else spec["header"]
        self.pathways: list[Json] = [] if spec is None else spec["pathways"]
        self.versions: Json | None = None if spec is None else spec["versions"]
        self.begun = {n for step, line in named if step == "effective" for n in line["pathways"]}
        self.classes = {line["pathway"]: line for step, line in named if step == "classes"}
        self.entries = {line["pathway"]: line["entry"] for s, line in named if s == "spectrum"}
        self.latex = {line["pathway"]: line["latex"] for s, line in named if s == "spectrum"}
        self.verdicts = {line["stage"]: line for step, line in named if step == "verdict"}
        self.checks = next((line["steps"] for step, line in named if step == "checks"), None)
        self.written = any(step == "written" for step, _ in named)
        proven = (line["files"] for step, line in named if step == "proven")
        self.files: list[str] = next(proven, [])
        self.conserved = next((x["sentences"] for s, x in named if s == "conserved"), [])
        self.boxes = _best(boxes)
        self.bare = [line["why"] for line in boxes if line["step"] == "bare"]
        self.families = {n: line["family"] for n, line in self.verdicts.items()}

    @property
    def stages(self) -> list[int]:
        """The stages of the spec."""
        return sorted({pathway["stage"] for pathway in self.pathways})

    @property
    def missing(self) -> list[Json]:
        """The pathways whose modes are neither finished nor enclosed."""
        enclosed = {n for n, line in self.boxes.items() if line["enclosures"] is not None}
        known = enclosed | self.entries.keys()
        return [pathway for pathway in self.pathways if pathway["number"] not in known]

    @property
    def proves(self) -> bool:
        """Whether anything at all is proven."""
        decided = any(line["commutes"] != "undecided" for line in self.boxes.values())
        enclosed = any(line["enclosures"] for line in self.boxes.values())
        return bool(self.classes or self.verdicts or self.conserved or decided or enclosed)

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
            bare = [p["name"] for p in members if p["number"] not in self.entries]
            if bare:
                return f"the printed numbers of pathway '{bare[0]}'"
            return f"the couplings of stage {stage}"
        if self.checks is None:
            return "the closed forms and the checks"
        return "writing the results"


def _best(boxes: Sequence[Json]) -> dict[int, Json]:
    """Return the best line of every pathway: a later one that has enclosures, or the only one."""
    found: dict[int, Json] = {}
    for line in boxes:
        if line["step"] == "boxes":
            known = found.get(line["pathway"])
            if known is None or line["enclosures"] is not None or known["enclosures"] is None:
                found[line["pathway"]] = line
    return found


def partial_derivation(told: Told, reached: Reached, bare: str = "") -> Json:
    """Return derivation.json of a derivation that was cut short.

    It has the keys of every derivation.json, and ``limits``; what was not found is null. A pathway
    has ``enclosures``, ``enclosed_at`` and ``proven`` as well (there ``latex`` has s and d of every
    mode, null without a form in square roots); one that is not finished has no modes.

    Args:
        told: What is known.
        reached: What ended the work.
        bare: Why pathways may have no enclosures, where the witness did not say so itself.
    """
    pathways = [_pathway(told, pathway) for pathway in told.pathways]
    stages = [_stage(told, stage) for stage in told.stages]
    decided = told.checks is not None
    weakest = max((stage["level"] for stage in stages), key=_LEVELS.index, default=LEVEL)
    reason = f"{reached.sentence()} in {told.place}"
    return {
        **dict.fromkeys(_HEADER),
        **told.header,
        "format": "symreln-derivation/1",
        "verdict": {
            "level": weakest if decided else LEVEL,
            "reasons": [reason, *_proven(told)],
            "stages": stages,
        },
        "pathways": pathways,
        "couplings": None,
        "loss": {"initial": None, "final": None, "expr": None},
        **dict.fromkeys(_WHERE_ANY),
        "convergence": None,
        "regime": None,
        "unsupported": None,
        "exceptional": None,
        "family": None,
        "steps": told.checks or [],
        "versions": told.versions,
        "limits": {
            "kind": reached.kind,
            "limit": reached.limit or None,
            "said": reached.sentence(),
            "seconds": round(reached.seconds, 3),
            "reached_in": told.place,
            "proven": _proven(told),
            "undecided": _undecided(told, _bare(told, bare)),
            "enclosures": _bare(told, bare),
            "certificate": NO_CERTIFICATE,
        },
    }


def _stage(told: Told, stage: int) -> Json:
    verdict = told.verdicts.get(stage)
    if verdict is None:
        return {"stage": stage, "level": LEVEL, "reasons": ["not decided before the limit"]}
    return {"stage": stage, "level": verdict["level"], "reasons": verdict["reasons"]}


def _pathway(told: Told, pathway: Mapping[str, Any]) -> Json:
    number, stage = pathway["number"], pathway["stage"]
    known = {key: value for key, value in pathway.items() if key != "number"}
    box = told.boxes.get(number, {})
    proven = {"spectrum": number in told.classes, "stage": pathway["stage"] in told.verdicts}
    if number in told.classes:
        proven["classes"] = told.classes[number]["classes"]
    if number in told.entries:
        family = told.families.get(stage, "undecided")
        entry = told.entries[number]
        modes = [{**mode, "family": family} for mode in entry["modes"]]
        proven["latex"] = told.latex[number]
        more = {"enclosures": None, "enclosed_at": None, "proven": proven}
        return {**entry, "modes": modes, **more}
    return {
        **known,
        "commutes": box.get("commutes", "undecided"),
        "commutator": box.get("commutator"),
        "modes": [],
        "enclosures": box.get("enclosures"),
        "enclosed_at": box.get("at"),
        "proven": proven,
    }


def _bare(told: Told, reason: str) -> str | None:
    """Say why pathways have neither modes nor enclosures; None where there is none such."""
    if not told.missing:
        return None
    return "; ".join(dict.fromkeys(told.bare)) or reason or TOO_LATE


def _proven(told: Told) -> list[str]:
    names = [p["name"] for p in told.pathways if p["number"] in told.classes]
    found = [f"proven: {sentence}" for sentence in told.conserved]
    for stage, verdict in sorted(told.verdicts.items()):
        found.append(f"proven: stage {stage} is '{verdict['level']}'")
    if names:
        found.append(f"proven: the joint spectra of {_listed(names)}")
    for pathway in told.pathways:
        box = told.boxes.get(pathway["number"])
        if pathway["number"] in told.classes or box is None or box["commutes"] == "undecided":
            continue
        does = "commute" if box["commutes"] == "proven" else "do not commute"
        found.append(f"proven: the correlations of '{pathway['name']}' {does}")
    return found


def _undecided(told: Told, why: str | None) -> list[str]:
    if not told.pathways:
        return ["undecided: everything; the spec was still being read"]
    found = []
    left = [p for p in told.pathways if p["number"] not in told.classes]
    boxed = [p["name"] for p in left if told.boxes.get(p["number"], {}).get("enclosures")]
    bare = [p["name"] for p in left if p["name"] not in boxed]
    if boxed:
        found.append(f"undecided: the exact spectra of {_listed(boxed)}, which are enclosed")
    if bare:
        found.append(
            f"undecided: the spectra of {_listed(bare)}, which are not enclosed either: {why}"
        )
    found += [
        f"undecided: whether the modes of stage {stage} close"
        for stage in told.stages
        if stage not in told.verdicts
    ]
    if told.checks is None:
        found.append("undecided: the program's checks of the whole derivation")
    return found


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:6])
    return shown + (f" and {len(names) - 6} more pathways" if len(names) > 6 else "")
