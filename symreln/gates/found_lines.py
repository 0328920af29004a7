"""What the terminal shows of gates: of a race, and of those that trained networks have."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from math import isfinite
from typing import Any

from symreln.gates.kmeans import MOST_CLUSTERS, NEAR

Json = Mapping[str, Any]

#: Samples of a gate that are written out; of more, only how many are open.
SHOWN = 64
#: Windows that are shown, evenly among all.
SHOWN_WINDOWS = 8
#: Characters of an exact number above which its decimals are shown; files have it exactly.
LONGEST = 32


def candidate_line(name: str, each: Json, at: str = "") -> str:
    """Return what is said of a self-consistent gate; ``at`` says where its fractions are."""
    line = f"{name}  {orbit_text(each['size'])}  speed {number_text(each['speed'])}"
    if each["fractions"]:
        fractions = dict.fromkeys(number_text(number) for number in each["fractions"])
        line += f"  fractions {', '.join(fractions)}{at}"
    return line


def orbit_text(size: int) -> str:
    """Return how many gates the symmetries of the samples make of one."""
    return f"orbit of size {size}"


def number_text(number: Json) -> str:
    """Return an exact number as text, or six decimals where the text is long.

    Args:
        number: As in gates.json; with free parameters it has no decimals.
    """
    if len(number["expr"]) <= LONGEST or number.get("decimal") is None:
        return number["expr"]
    exact = Decimal(number["decimal"])
    near = float(exact)
    fits = isfinite(near) and bool(near) == bool(exact)
    return f"{near if fits else exact:.6g}"


def found_lines(result: Json) -> list[str]:
    """Return the lines of a result of ``symreln gates --method kmeans`` or ``windows``."""
    parts = [_networks(result), _criterion(result)]
    pieces = result.get("pieces", [{"clusters": result.get("centroids", [])}])
    shown = pieces[:: -(-len(pieces) // SHOWN_WINDOWS)]
    if len(shown) < len(pieces):
        parts.append([f"{len(shown)} of the windows (all are in gates.json):"])
    for piece in shown:
        if "from_step" in piece:
            parts.append([f"from step {piece['from_step']}:"])
        parts.append([_cluster(each) for each in piece["clusters"]])
    parts += [_spec_gates(result), _stability(result), _coverage(result)]
    parts += [_replay(result), _selectivity(result)]
    return [line for part in parts for line in part]


def _networks(result: Json) -> list[str]:
    found = result["networks"]
    count = found["runs"] * found["trainings"]
    return [
        f"{_counted(count, 'network')} of {_counted(found['hidden'], 'hidden unit')}, "
        f"{_counted(found['looks'], 'look')} at each, one every "
        f"{_counted(found['every'], 'update')}"
    ]


def _criterion(result: Json) -> list[str]:
    how = result["criterion"]
    if result["silhouettes"]:
        scores = [f"{count}: {score:.3f}" for count, score in result["silhouettes"].items()]
        how += f" ({', '.join(scores)})"
        if result["clusters"] == MOST_CLUSTERS:
            how += ", the most that are tried: more may be better"
    lines = [f"K = {result['clusters']} clusters: {how}"]
    if "windows" in result:
        why = result["windows_criterion"]
        if result["replay_errors"]:
            errors = [f"{n}: {100 * e:.1f} %" for n, e in result["replay_errors"].items()]
            why += f" of clustered networks ({', '.join(errors)})"
        lines.append(f"{_counted(result['windows'], 'window')}: {why}")
    return lines


def _cluster(cluster: Json) -> str:
    text = f"  {shown_gate(cluster['pattern'])}  share {cluster['share']:.3f}"
    if not cluster["pathway"]:
        text += ", open nowhere: no pathway"
    if cluster["partial"]:
        count = _counted(len(cluster["partial"]), "sample")
        text += f", partial on {count} (between {NEAR} and {1 - NEAR})"
    return text


def _spec_gates(result: Json) -> list[str]:
    lines = []
    for each in result["spec_gates"]:
        apart = _counted(each["samples_apart"], "sample")
        how = "found" if each["found"] else f"not found, the nearest gate differs on {apart}"
        lines.append(f"{each['name']} of the spec: {how}")
    return lines


def _stability(result: Json) -> list[str]:
    found = result.get("stability")
    if found is None:
        return []
    sizes = ", ".join(f"K = {count} in {times}" for count, times in found["clusters"].items())
    lines = [f"{found['runs']} runs, each alone: {sizes}"]
    if "runs_with_all_spec_gates" in found:
        lines.append(
            f"  all gates of the spec in {found['runs_with_all_spec_gates']} of {found['runs']}"
        )
    rand, apart = found["adjusted_rand"], found["matched_distance"]
    if rand is not None:
        lines.append(f"  adjusted Rand index of two runs {rand['mean']:.3f} ({_ends(rand)})")
    if apart is not None:
        lines.append(f"  matched centroids are {apart['mean']:.3f} apart ({_ends(apart)})")
    return lines


def _ends(found: Json) -> str:
    return f"from {found['least']:.3f} to {found['largest']:.3f}"


def _coverage(result: Json) -> list[str]:
    found = result["coverage"]
    return [
        f"of the units' weight, {100 * found['exact'][-1]:.1f} % has exactly one of these gates "
        f"at the last look ({100 * found['mean_exact']:.1f} % in the mean over looks)",
        f"a unit agrees with its nearest gate on {100 * found['agreement'][-1]:.1f} % of the "
        f"samples at the last look ({100 * found['mean_agreement']:.1f} %)",
    ]


def _replay(result: Json) -> list[str]:
    found = result.get("replay")
    if found is None:
        return []
    count = result["networks"]["replayed"]
    lines = [f"replayed from the initial weights of {_counted(count, 'network')} not clustered:"]
    lines += [
        f"  {name}: {100 * each['mean']:.2f} % of L(0)" for name, each in found["errors"].items()
    ]
    if found["seed_floor"] is not None:
        lines.append(f"  networks of other seeds: {100 * found['seed_floor']:.2f} %")
    return lines


def _selectivity(result: Json) -> list[str]:
    found = result["selectivity"]
    if found is None:
        return []
    lines = []
    for name, key in (("start", "units_at_start"), ("end", "units_at_end")):
        lines.append(f"hidden units at the {name}, by weight: {_indices(found[key], found)}")
    for each in found["pathways"]:
        lines.append(f"  {shown_gate(each['pattern'])}: {_indices(each, found)}")
    return lines


def _indices(each: Json, found: Json) -> str:
    words = [] if each["mixed"] is None else [f"mixed selectivity {each['mixed']:.2f}"]
    for name, values in found["labels"].items():
        if each["breadth"][name] is not None:
            words.append(f"{name}: {each['breadth'][name]:.2f} of {values}")
    return ", ".join(words) or "open nowhere"


def shown_gate(pattern: str) -> str:
    """Return a gate as 0 and 1 where it is short, else how many samples are open."""
    if len(pattern) <= SHOWN:
        return pattern
    return f"{pattern.count('1')} of {len(pattern)} open"


def _counted(count: int, thing: str) -> str:
    return f"{count} {thing}{'' if count == 1 else 's'}"
