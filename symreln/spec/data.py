"""A user's own dataset: matrices in the spec, CSV files, or an NPZ file, with labels and groups."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from symreln.exact.matrix import ExactMatrix
from symreln.spec.csvfile import matrix_from_csv
from symreln.spec.entries import NAME_LENGTH, indices_of
from symreln.spec.expression import Declared
from symreln.spec.files import Folder, fingerprint
from symreln.spec.finding import Finding, check_text, counted, key_path, quoted, shown
from symreln.spec.model import Dataset, Label
from symreln.spec.npzfile import matrices_from_npz
from symreln.spec.problems import Problems
from symreln.spec.schema import GroupsModel, UserDatasetModel

LABEL_LENGTH = 200
_LABEL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,79}", re.ASCII)
_RESERVED_LABELS = frozenset({"all", "and", "or", "not", "in"})
_FORMS = 'one of task = "…", X and Y (matrices), inputs and targets (CSV files), data (NPZ file)'


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
    model = problems.check(UserDatasetModel, table, "dataset", aside=("task",), context=declared)
    form = () if model is None else _form(model, problems)
    if model is None or not form:
        return None
    before = len(problems.found)
    matrices, files = _matrices(model, folder, problems)
    if len(matrices) != 2:
        return None
    inputs, targets = matrices
    (n_x, samples), (n_y, other) = inputs.shape, targets.shape
    if other != samples:
        found = f"{counted(other, 'sample')} of targets for {counted(samples, 'sample')} of inputs"
        hint = (
            "Samples are columns of X and Y, in the spec and in NPZ files, and rows of CSV files."
        )
        expected = f"{samples} samples, as dataset.{form[0]} has"
        problems.add(f"dataset.{form[-1]}", found, expected, hint)
        return None
    labels = _labels(model.labels, samples, problems)
    groups = problems.check(GroupsModel, model.groups, "dataset.groups") or GroupsModel()
    input_groups = _groups(groups.inputs, "inputs", n_x, problems)
    output_groups = _groups(groups.outputs, "outputs", n_y, problems)
    if len(problems.found) > before:
        return None
    return Dataset(
        inputs=inputs,
        targets=targets,
        labels=labels,
        input_groups=input_groups,
        output_groups=output_groups,
        description=_description(inputs, targets, files),
        options=files,
    )


def _form(model: UserDatasetModel, problems: Problems) -> tuple[str, ...]:
    """Return the keys by which the data is given; none where it is not in exactly one way."""
    given = [
        keys
        for keys in (("X", "Y"), ("inputs", "targets"), ("data",))
        if any(getattr(model, key) is not None for key in keys)
    ]
    if len(given) != 1:
        found = " and ".join(" and ".join(pair) for pair in given) or "no data"
        problems.add("dataset", found, _FORMS, "Keep one of them." if given else "")
        return ()
    before, (keys,) = len(problems.found), given
    for key, other in zip(keys, reversed(keys), strict=True):
        if getattr(model, key) is None:
            description = UserDatasetModel.model_fields[key].description or ""
            problems.add(f"dataset.{key}", "nothing", description, f"It belongs to {other}.")
    if model.delimiter is not None and keys[0] != "inputs":
        problems.add("dataset.delimiter", shown(model.delimiter), "no delimiter without CSV files")
    return keys if len(problems.found) == before else ()


def _matrices(
    model: UserDatasetModel, folder: Folder, problems: Problems
) -> tuple[list[ExactMatrix], dict[str, str]]:
    """Return X and Y as far as they could be read, and the fingerprints of their files."""
    found = [matrix for matrix in (model.X, model.Y) if matrix is not None]
    files: dict[str, str] = {}
    for key in ("inputs", "targets", "data"):
        name = getattr(model, key)
        if name is not None:
            with problems.at(f"dataset.{key}"):
                data = folder.read(name)
                files[key] = fingerprint(name, data)
                if key == "data":
                    found += matrices_from_npz(data, name)
                else:
                    found.append(matrix_from_csv(data, name, model.delimiter))
    return found, files


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
                raise Finding(f"the label name {quoted(name)}", expected)
            labels[name] = _label_values(values, samples)
    return labels


def _label_values(values: object, samples: int) -> tuple[Label, ...]:
    expected = f"a list of {samples} whole numbers or texts, one a sample"
    if not isinstance(values, list | tuple):
        raise Finding(shown(values), expected)
    if len(values) != samples:
        found = f"{counted(len(values), 'entry')} for {counted(samples, 'sample')}"
        raise Finding(found, expected)
    kind = str if isinstance(values[0], str) else int
    for index, value in enumerate(values):
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise Finding(f"{shown(value)} at index {index}", expected)
        if not isinstance(value, kind):
            found = f"{shown(value)} at index {index}, where index 0 is {shown(values[0])}"
            raise Finding(found, "whole numbers only or texts only")
        if isinstance(value, str):
            check_text(value, longest=LABEL_LENGTH)
        elif abs(value) >= 10**18:
            raise Finding(f"{shown(value)} at index {index}", "labels of at most 18 digits")
    return tuple(values)


def _groups(
    table: Mapping[str, Any], kind: str, count: int, problems: Problems
) -> dict[str, tuple[int, ...]]:
    found = {}
    for name, indices in table.items():
        with problems.at(key_path(("dataset", "groups", kind, name))):
            check_text(name, longest=NAME_LENGTH)
            if name.strip() == "all":
                hint = '"all" means every index.'
                raise Finding('the group name "all"', "another name", hint)
            found[name] = indices_of(indices, count, kind)
    return found


def _description(inputs: ExactMatrix, targets: ExactMatrix, files: Mapping[str, str]) -> str:
    n_x, samples = inputs.shape
    text = (
        f"A dataset of {counted(samples, 'sample')} with {counted(n_x, 'input')} "
        f"and {counted(targets.shape[0], 'output')}"
    )
    if files:
        names = " and ".join(text.partition(" (SHA-256")[0] for text in files.values())
        text += f", read from {names}"
    text += "."
    if targets.is_zero:
        text += " All targets are zero, so that every mode is a null mode."
    return text
