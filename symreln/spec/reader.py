"""Reads a spec: TOML file, ready-made name or Python mapping in, checked Spec out.

All problems are reported at once, each with its file, line, key path, what was found, what is
expected and how to mend it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from symreln.errors import InputError, Problem, SpecError
from symreln.spec.data import read_user_dataset
from symreln.spec.expression import Declared, constant
from symreln.spec.files import Folder
from symreln.spec.finding import Finding, check_text, key_path, nearest, quoted, shown, visible
from symreln.spec.graph import GraphTables, is_graph, read_graph, restricted_graph
from symreln.spec.model import (
    Dataset,
    NetworkSpec,
    Parameter,
    PathwaySpec,
    SizeSymbol,
    Spec,
    ValidationSpec,
)
from symreln.spec.network import check_fit
from symreln.spec.overrides import apply_overrides
from symreln.spec.parameters import (
    check_values,
    read_parameters,
    restricted,
    restricted_gains,
    used_parameters,
)
from symreln.spec.pathways import read_pathways
from symreln.spec.problems import Origin, Problems
from symreln.spec.schema import NetworkModel, SpecModel, ValidationModel
from symreln.spec.sizes import check_sizes_used, take_sizes, written_options
from symreln.spec.tomlfile import read_toml
from symreln.tasks.registry import SPECS, TASKS, find_task, spec_path
from symreln.tasks.task import Task

TITLE_LENGTH = 300


def load(
    source: str | os.PathLike[str] | Mapping[str, Any],
    overrides: Sequence[str] | Mapping[str, Any] = (),
    *,
    allow_outside: bool = False,
) -> Spec:
    """Return the checked spec.

    Args:
        source: Path of a TOML file, name of a ready-made spec, or the same tables as a mapping.
        overrides: ``key=value`` texts (or a mapping), applied before checking.
        allow_outside: Whether data files may lie outside the spec's folder.

    Raises:
        SpecError: Something is wrong; every problem found is listed.

    Example:
        >>> load("xor", ["parameters.Delta.value=1/2"]).values
        {'Delta': Fraction(1, 2)}
    """
    if isinstance(source, Mapping):
        return read_spec(source, overrides=overrides, allow_outside=allow_outside)
    if not isinstance(source, str | os.PathLike) or isinstance(os.fspath(source), bytes):
        msg = (
            f"load: found {shown(source)}; give the path of a TOML file, the name of a ready-made "
            "spec, or its tables as a mapping"
        )
        raise InputError(msg)
    name = os.fspath(source)
    if isinstance(source, str) and name in SPECS:
        tables, text = read_toml(spec_path(name))
        origin = Origin(file=f"{name} (ready-made)", text=text)
        return read_spec(tables, source=name, origin=origin, overrides=overrides)
    path = Path(name)
    _check_source(name, path)
    tables, text = read_toml(path)
    return read_spec(
        tables,
        source=path.name,
        origin=Origin(file=visible(name), text=text),
        folder=path.parent,
        overrides=overrides,
        allow_outside=allow_outside,
    )


def _check_source(name: str, path: Path) -> None:
    """Check that a name that is no file was not meant as a ready-made spec.

    Raises:
        SpecError: It looks like a name rather than a path.
    """
    if path.suffix or len(path.parts) > 1 or os.path.exists(name):
        return
    hint = nearest(name, SPECS)
    tasks = [task.name for task in TASKS]
    if name in tasks:
        near = [spec for spec in SPECS if spec.startswith(name)]
        hint = f"{name} is a task for [dataset]; ready-made specs of it: {', '.join(near)}."
    expected = "a spec file or the name of a ready-made spec"
    found = f"{quoted(name)}, which is neither"
    raise SpecError([Problem(path="spec", found=found, expected=expected, hint=hint)])


def read_spec(
    tables: Mapping[str, Any],
    *,
    source: str = "",
    origin: Origin | None = None,
    folder: Path | None = None,
    overrides: Sequence[str] | Mapping[str, Any] = (),
    allow_outside: bool = False,
) -> Spec:
    """Return the checked spec of tables that were read or made in Python.

    Args:
        tables: The tables of interface.md.
        source: What the spec is called in results.
        origin: File and text for messages.
        folder: Where data files are looked for; the current folder by default.
        overrides: ``key=value`` texts (or a mapping), applied before checking.
        allow_outside: Whether data files may lie outside the folder.

    Raises:
        SpecError: Something is wrong; every problem found is listed.
    """
    tables, done = apply_overrides(tables, overrides)
    given = {key_path(path): text for path, text in done.items()}
    problems = Problems(replace(origin or Origin(), overrides=given))
    _check_keys(tables, problems)
    parameters, declared = read_parameters(tables.get("parameters"), problems)
    place = Folder(path=folder or Path(), allow_outside=allow_outside)
    asked = Asked(
        parameters=parameters,
        declared=declared,
        names=_names(tables.get("parameters")),
        replaced=any(path[0] in ("dataset", "pathway", "node", "edge") for path in done),
    )
    data = _read_dataset(tables.get("dataset"), asked, place, problems)
    dataset = data.dataset
    pathways, families, graph = _read_paths(tables, dataset, declared, problems)
    network = _read_network(tables.get("network"), pathways, problems)
    check_fit(network, pathways, graph, sized=bool(data.sizes), problems=problems)
    validation = _read_validation(tables.get("validation"), problems)
    title = _read_title(tables.get("title", ""), problems)
    if dataset is not None:
        parameters, dataset, pathways = _used(parameters, dataset, pathways, asked, problems)
        names = tuple(p.name for p in parameters)
        graph = None if graph is None else restricted_graph(graph, names)
    problems.raise_if_any()
    assert dataset is not None
    return Spec(
        title=title or dataset.description,
        dataset=dataset,
        parameters=parameters,
        pathways=pathways,
        network=network,
        validation=validation,
        source=source,
        sizes=data.sizes,
        families=families,
        written=data.written,
        graph=graph,
    )


def _read_paths(
    tables: Mapping[str, Any], dataset: Dataset | None, declared: Declared, problems: Problems
) -> GraphTables:
    """Return the pathways, as they are written or those of a graph."""
    if is_graph(tables):
        return read_graph(tables, dataset, declared, problems)
    return GraphTables(*read_pathways(tables.get("pathway"), dataset, declared, problems))


def _used(
    parameters: Sequence[Parameter],
    dataset: Dataset,
    pathways: tuple[PathwaySpec, ...],
    asked: Asked,
    problems: Problems,
) -> tuple[tuple[Parameter, ...], Dataset, tuple[PathwaySpec, ...]]:
    """Return the parameters that occur, and data and pathways over the ring of these alone."""
    plain = tuple(p for p in parameters if not p.integer)
    used = used_parameters(plain, dataset, pathways, asked.replaced, problems)
    names = tuple(p.name for p in used)
    dataset = replace(dataset, **restricted(dataset, names))
    pathways = restricted_gains(pathways, names)
    check_values(used, dataset, pathways, problems)
    return used, dataset, pathways


class Asked(NamedTuple):
    """What the tables beside [dataset] say about its parameters.

    Attributes:
        parameters: Those that are well declared.
        declared: Names that formulas may use.
        names: All names that have a table.
        replaced: Whether ``--set`` changed the dataset or a pathway.
    """

    parameters: tuple[Parameter, ...]
    declared: Declared
    names: frozenset[str]
    replaced: bool


class Data(NamedTuple):
    """A dataset that was read, None where it is wrong, and the sizes that are symbols."""

    dataset: Dataset | None = None
    sizes: tuple[SizeSymbol, ...] = ()
    written: Mapping[str, str] = MappingProxyType({})


def _names(parameters: object) -> frozenset[str]:
    return frozenset(map(str, parameters)) if isinstance(parameters, Mapping) else frozenset()


def _check_keys(tables: Mapping[str, Any], problems: Problems) -> None:
    known = list(SpecModel.model_fields)
    for key in tables:
        if key not in known:
            hint = nearest(str(key), known)
            problems.add(
                key_path([str(key)]), f"the unknown key {quoted(str(key))}", "a key of a spec", hint
            )


def _read_title(value: object, problems: Problems) -> str:
    with problems.at("title"):
        return check_text(value, longest=TITLE_LENGTH, empty=True)
    return ""


def _read_dataset(value: object, asked: Asked, folder: Folder, problems: Problems) -> Data:
    if value is None:
        problems.add("dataset", "nothing", "a table [dataset]", 'For example: task = "xor"')
        return Data()
    before = len(problems.found)
    table = problems.table(value, "dataset")
    if len(problems.found) > before:
        return Data()
    if "task" not in table:
        check_sizes_used(asked.parameters, (), None, problems)
        return Data(read_user_dataset(table, asked.declared, folder, problems))
    name = table.pop("task")
    names = [task.name for task in TASKS]
    task = find_task(name) if isinstance(name, str) else None
    if task is None:
        found = f"the unknown task {quoted(name)}" if isinstance(name, str) else shown(name)
        hint = nearest(str(name), names)
        problems.add("dataset.task", found, "the name of a task", hint)
        return Data()
    return _build(task, table, asked, problems)


def _build(task: Task, table: dict[str, Any], asked: Asked, problems: Problems) -> Data:
    """Return a task's dataset at the values of its sizes."""
    sized = take_sizes(table, task.options, asked.parameters, asked.names, problems)
    if not asked.replaced:
        check_sizes_used(asked.parameters, sized.sizes, task.options, problems)
    if not sized.complete:
        return Data()
    options = problems.check(task.options, sized.table, "dataset", ("task",))
    if options is None:
        return Data()
    values = {size.name: size.value for size in sized.sizes}
    with problems.at("dataset"):
        dataset = task.build(options, replace(asked.declared, sizes=values))
        written = written_options(table, task.options) if sized.sizes else {}
        return Data(dataset, sized.sizes, written)
    return Data()


def _read_network(
    value: object, pathways: tuple[PathwaySpec, ...], problems: Problems
) -> NetworkSpec | None:
    if value is None:
        return None
    model = problems.check(NetworkModel, value, "network")
    if model is None:
        _check_formulas(value, problems)
        return None
    first, second = _deviations(model.init_std, problems)
    learning_rate = _positive(model.learning_rate, "network.learning_rate", problems)
    staged = any(pathway.stage > 1 for pathway in pathways)
    network = NetworkSpec(
        hidden=model.hidden,
        init_std=first,
        init_std_out=second,
        layers=model.layers,
        weight_decay=_from_zero(model.weight_decay, "network.weight_decay", problems),
        learning_rate=learning_rate,
        loss=model.loss,
        steps=model.steps,
        activation=model.activation,
        training=model.training or ("staged" if staged else "joint"),
    )
    return network


def _deviations(value: object, problems: Problems) -> tuple[Fraction, Fraction | None]:
    """Return the standard deviation of all layers and None, or those of the two layers."""
    if not isinstance(value, list):
        return _positive(value, "network.init_std", problems), None
    first, second = (
        _positive(entry, f"network.init_std[{place}]", problems)
        for place, entry in enumerate(value)
    )
    return first, None if first == second else second


def _from_zero(value: object, path: str, problems: Problems) -> Fraction:
    with problems.at(path):
        number = constant(value)
        if number < 0:
            raise Finding(found=shown(value), expected="a number from 0 on")
        return number
    return Fraction(0)


def _check_formulas(table: object, problems: Problems) -> None:
    """Report wrong formulas of a [network] that is refused for other keys, in the same pass."""
    if isinstance(table, Mapping):
        refused = {problem.path for problem in problems.found}
        for key in ("init_std", "learning_rate"):
            if key not in table or f"network.{key}" in refused:
                continue
            if key == "init_std":
                _deviations(table[key], problems)
            else:
                _positive(table[key], f"network.{key}", problems)


def _positive(
    value: object,
    path: str,
    problems: Problems,
    most: int | None = None,
    read: Callable[[object], Fraction] = constant,
) -> Fraction:
    with problems.at(path):
        number = read(value)
        if number <= 0 or (most is not None and number > most):
            limit = "a number above 0" if most is None else f"a number above 0, at most {most}"
            raise Finding(found=shown(value), expected=limit)
        return number
    return Fraction(1)


def _read_validation(value: object, problems: Problems) -> ValidationSpec:
    if value is None:
        return ValidationSpec()
    model = problems.check(ValidationModel, value, "validation")
    if model is None:
        return ValidationSpec()
    with problems.at("validation.reason"):
        check_text(model.reason, longest=TITLE_LENGTH)
    tolerance = _positive(model.tolerance, "validation.tolerance", problems, most=1, read=_share)
    return ValidationSpec(tolerance=tolerance, reason=model.reason)


def _share(value: object) -> Fraction:
    """Return the value of a formula or of one in percent: results are printed in percent.

    Raises:
        Finding: It is neither.
    """
    if isinstance(value, str) and value.rstrip().endswith("%"):
        return constant(value.rstrip()[:-1]) / 100
    return constant(value)
