"""A user's own dataset: matrices in the spec, CSV files, or an NPZ file, with labels and groups."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from symreln.exact.matrix import ExactMatrix
from symreln.spec.csvfile import matrix_from_csv
from symreln.spec.expression import Declared
from symreln.spec.files import Folder, fingerprint
from symreln.spec.finding import Finding, check_text, counted, key_path, quoted, shown
from symreln.spec.matrices import matrix_from_rows
from symreln.spec.model import Dataset, Label
from symreln.spec.npzfile import matrices_from_npz
from symreln.spec.pathways import check_indices
from symreln.spec.problems import Problems
from symreln.spec.schema import GroupsModel, UserDatasetModel

LABEL_LENGTH = 200
NAME_LENGTH = 80
_LABEL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,79}", re.ASCII)
_RESERVED_LABELS = frozenset({"all", "and", "or", "not", "in"})
_FORMS = 'one of task = "…", X and Y (matrices), inputs and targets (CSV files), data (NPZ file)'


@dataclass(frozen=True, kw_only=True)
class _Pair:
    """X and Y as far as they could be read, and what they came from."""

    inputs: ExactMatrix | None = None
    targets: ExactMatrix | None = None
    paths: tuple[str, str] = ("dataset.X", "dataset.Y")
    files: tuple[tuple[str, str], ...] = ()


def read_user_dataset(
    table: Mapping[str, Any], declared: Declared, folder: Folder, problems: Problems
) -> Dataset | None:
    """Return a user's own dataset, or None after adding what is wrong with it.

    Args:
        table: The keys of ``[dataset]``.
        declared: Names that formulas may use.
        folder: Where data files are.
        problems: Collects.
    """
    model = problems.check(UserDatasetModel, table, "dataset", ("task",))
    if model is None or not _one_form(model, problems):
        return None
    before = len(problems.found)
    if model.data is not None:
        pair = _from_npz(model.data, folder, problems)
    elif model.X is not None:
        pair = _from_spec(model, declared, problems)
    else:
        pair = _from_csv(model, folder, problems)
    if pair.inputs is None or pair.targets is None:
        return None
    samples = pair.inputs.shape[1]
    if pair.targets.shape[1] != samples:
        found = (
            f"{counted(pair.targets.shape[1], 'sample')} of targets "
            f"for {counted(samples, 'sample')} of inputs"
        )
        hint = (
            "Samples are columns of X and Y, in the spec and in NPZ files, and rows of CSV files."
        )
        problems.add(pair.paths[1], found, f"{samples} samples, as {pair.paths[0]} has", hint)
        return None
    labels = _labels(model.labels, samples, problems)
    input_groups, output_groups = _groups(model, pair.inputs, pair.targets, problems)
    if len(problems.found) > before:
        return None
    return Dataset(
        inputs=pair.inputs,
        targets=pair.targets,
        labels=labels,
        input_groups=input_groups,
        output_groups=output_groups,
        description=_description(pair.inputs, pair.targets, pair.files),
        options=dict(pair.files),
    )


def _one_form(model: UserDatasetModel, problems: Problems) -> bool:
    """Check that the data is given in exactly one way, and completely."""
    given = [
        pair
        for pair in (("X", "Y"), ("inputs", "targets"), ("data",))
        if any(getattr(model, key) is not None for key in pair)
    ]
    if len(given) != 1:
        found = " and ".join(" and ".join(pair) for pair in given) or "no data"
        problems.add("dataset", found, _FORMS, "Keep one of them." if given else "")
        return False
    missing = [key for key in given[0] if getattr(model, key) is None]
    for key in missing:
        other = next(name for name in given[0] if name != key)
        description = UserDatasetModel.model_fields[key].description or ""
        problems.add(f"dataset.{key}", "nothing", description, f"It belongs to {other}.")
    if model.delimiter is not None and given[0][0] != "inputs":
        problems.add("dataset.delimiter", shown(model.delimiter), "no delimiter without CSV files")
        return False
    return not missing


def _from_spec(model: UserDatasetModel, declared: Declared, problems: Problems) -> _Pair:
    found: dict[str, ExactMatrix | None] = {"X": None, "Y": None}
    for key in found:
        with problems.at(f"dataset.{key}"):
            found[key] = matrix_from_rows(getattr(model, key), declared, f"dataset.{key}")
    return _Pair(inputs=found["X"], targets=found["Y"])


def _from_csv(model: UserDatasetModel, folder: Folder, problems: Problems) -> _Pair:
    found: dict[str, ExactMatrix | None] = {"inputs": None, "targets": None}
    files = []
    for key in found:
        name = getattr(model, key)
        with problems.at(f"dataset.{key}"):
            data = folder.read(name)
            files.append((key, fingerprint(name, data)))
            found[key] = matrix_from_csv(data, name, f"dataset.{key}", model.delimiter)
    return _Pair(
        inputs=found["inputs"],
        targets=found["targets"],
        paths=("dataset.inputs", "dataset.targets"),
        files=tuple(files),
    )


def _from_npz(name: str, folder: Folder, problems: Problems) -> _Pair:
    with problems.at("dataset.data"):
        data = folder.read(name)
        inputs, targets = matrices_from_npz(data, name)
        return _Pair(
            inputs=inputs,
            targets=targets,
            paths=("dataset.data", "dataset.data"),
            files=(("data", fingerprint(name, data)),),
        )
    return _Pair()


def _labels(
    table: Mapping[str, Any], samples: int, problems: Problems
) -> dict[str, tuple[Label, ...]]:
    labels = {}
    for name, values in table.items():
        path = key_path(("dataset", "labels", name))
        with problems.at(path):
            if not _LABEL_NAME.fullmatch(name) or name in _RESERVED_LABELS:
                expected = (
                    "ASCII letters, digits and underscores; none of the words and, or, not, in, all"
                )
                raise Finding(found=f"the label name {quoted(name)}", expected=expected)
            labels[name] = _label_values(values, samples)
    return labels


def _label_values(values: object, samples: int) -> tuple[Label, ...]:
    expected = f"a list of {samples} whole numbers or texts, one a sample"
    if not isinstance(values, list | tuple):
        raise Finding(found=shown(values), expected=expected)
    if len(values) != samples:
        found = f"{counted(len(values), 'entry')} for {counted(samples, 'sample')}"
        raise Finding(found=found, expected=expected)
    kind = str if isinstance(values[0], str) else int
    for index, value in enumerate(values):
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise Finding(found=f"{shown(value)} at index {index}", expected=expected)
        if not isinstance(value, kind):
            found = f"{shown(value)} at index {index}, where index 0 is {shown(values[0])}"
            raise Finding(found=found, expected="whole numbers only or texts only")
        if isinstance(value, str):
            check_text(value, longest=LABEL_LENGTH)
        elif abs(value) >= 10**18:
            raise Finding(
                found=f"{shown(value)} at index {index}", expected="labels of at most 18 digits"
            )
    return tuple(values)


def _groups(
    model: UserDatasetModel, inputs: ExactMatrix, targets: ExactMatrix, problems: Problems
) -> tuple[dict[str, tuple[int, ...]], dict[str, tuple[int, ...]]]:
    groups = problems.check(GroupsModel, model.groups, "dataset.groups")
    if groups is None:
        return {}, {}
    return (
        _group_table(groups.inputs, "inputs", inputs.shape[0], problems),
        _group_table(groups.outputs, "outputs", targets.shape[0], problems),
    )


def _group_table(
    table: Mapping[str, Any], kind: str, count: int, problems: Problems
) -> dict[str, tuple[int, ...]]:
    found = {}
    for name, indices in table.items():
        with problems.at(key_path(("dataset", "groups", kind, name))):
            check_text(name, longest=NAME_LENGTH)
            if name.strip() == "all":
                raise Finding(
                    found='the group name "all"',
                    expected="another name",
                    hint='"all" means every index.',
                )
            found[name] = check_indices(indices, count, kind.removesuffix("s"))
    return found


def _description(
    inputs: ExactMatrix, targets: ExactMatrix, files: tuple[tuple[str, str], ...]
) -> str:
    n_x, samples = inputs.shape
    sizes = ((samples, "sample"), (n_x, "input"), (targets.shape[0], "output"))
    counts = [f"{count} {what}" + "s" * (count != 1) for count, what in sizes]
    text = f"A dataset of {counts[0]} with {counts[1]} and {counts[2]}"
    if files:
        names = " and ".join(text.partition(" (SHA-256")[0] for _, text in files)
        text += f", read from {names}"
    text += "."
    if targets.is_zero:
        text += " All targets are zero, so that every mode is a null mode."
    return text
