"""Reads the tables of a spec: a checked Spec comes out, or all problems at once.

Every problem has its file, line, key path, what was found, what is expected and how to mend it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from symreln.network.model import Network
from symreln.spec.data import read_user_dataset
from symreln.spec.entries import Asked
from symreln.spec.files import Folder
from symreln.spec.finding import check_text, key_path, nearest, quoted, shown
from symreln.spec.graph import read_graph
from symreln.spec.model import (
    Dataset,
    NetworkSpec,
    PathwayFamily,
    PathwaySpec,
    SizeSymbol,
    Spec,
    ValidationSpec,
)
from symreln.spec.overrides import apply_overrides
from symreln.spec.parameters import (
    Parameters,
    check_used,
    check_values,
    data_over,
    gates_over,
    read_parameters,
    used_names,
)
from symreln.spec.pathways import read_pathways
from symreln.spec.problems import Origin, Problems
from symreln.spec.schema import TITLE_LENGTH, NetworkModel, SpecModel, ValidationModel
from symreln.spec.sizes import check_sizes_used, read_sizes, written_options
from symreln.spec.task import Task
from symreln.spec.theory import check_theory


def read_spec(
    tables: Mapping[str, Any],
    *,
    tasks: Sequence[Task],
    source: str = "",
    origin: Origin | None = None,
    folder: Folder | None = None,
    overrides: Sequence[str] | Mapping[str, Any] = (),
) -> Spec:
    """Return the checked spec of tables that were read or made in Python.

    Args:
        tables: The tables of a spec.
        tasks: Those that ``dataset.task`` may name.
        source: What the spec is called in results.
        origin: File and text for messages.
        folder: Where data files are looked for; the current folder by default.
        overrides: ``key=value`` texts (or a mapping), applied before checking.

    Raises:
        SpecError: Something is wrong; every problem found is listed.
    """
    tables, done = apply_overrides(tables, overrides)
    given = {key_path(path): text for path, text in done.items()}
    problems = Problems(replace(origin or Origin(), overrides=given))
    _check_keys(tables, problems)
    parameters = read_parameters(tables.get("parameters"), problems)
    # What --set leaves without use goes, where it changed what could use it.
    replaced = any(path[0] in ("dataset", "pathway", "node", "edge") for path in done)
    data = _read_dataset(
        tables.get("dataset"), tasks, parameters, folder or Folder(), replaced, problems
    )
    described = _read_paths(tables, data.dataset, parameters, problems)
    network = _read_network(tables.get("network"), described.pathways, problems)
    check_theory(
        network,
        described.pathways,
        graph=described.graph is not None,
        sized=bool(data.sizes),
        problems=problems,
    )
    validation = _read_validation(tables.get("validation"), problems)
    title = ""
    with problems.at("title"):
        title = check_text(tables.get("title", ""), longest=TITLE_LENGTH, empty=True)
    if data.dataset is None:
        problems.raise_if_any()
    assert data.dataset is not None
    spec = Spec(
        title=title or data.dataset.description,
        dataset=data.dataset,
        parameters=parameters.symbols,
        pathways=described.pathways,
        network=network,
        validation=validation,
        source=source,
        sizes=data.sizes,
        families=described.families,
        written=data.written,
        graph=described.graph,
    )
    spec = _over_used_parameters(spec, replaced, problems)
    problems.raise_if_any()
    return spec


def _over_used_parameters(spec: Spec, replaced: bool, problems: Problems) -> Spec:
    """Return the spec with the parameters that occur, everything over the ring of these alone."""
    used = used_names(spec.dataset, spec.pathways)
    if not replaced:
        check_used(spec.parameters, used, problems)
    parameters = tuple(p for p in spec.parameters if p.name in used)
    names = tuple(p.name for p in parameters)
    graph = spec.graph
    if graph is not None:
        nodes, edges = gates_over(graph.nodes, names), gates_over(graph.edges, names)
        graph = replace(graph, nodes=nodes, edges=edges)
    dataset, pathways = data_over(spec.dataset, names), gates_over(spec.pathways, names)
    check_values(parameters, dataset, pathways, problems)
    return replace(spec, dataset=dataset, parameters=parameters, pathways=pathways, graph=graph)


def _check_keys(tables: Mapping[str, Any], problems: Problems) -> None:
    known = list(SpecModel.model_fields)
    for key in map(str, tables):
        if key not in known:
            found = f"the unknown key {quoted(key)}"
            problems.add(key_path([key]), found, "a key of a spec", nearest(key, known))


class _Data(NamedTuple):
    """A dataset that was read, None where it is wrong, and the sizes that are symbols."""

    dataset: Dataset | None = None
    sizes: tuple[SizeSymbol, ...] = ()
    written: Mapping[str, str] = {}


def _read_dataset(
    value: object,
    tasks: Sequence[Task],
    parameters: Parameters,
    folder: Folder,
    replaced: bool,
    problems: Problems,
) -> _Data:
    if value is None:
        problems.add("dataset", "nothing", "a table [dataset]", 'For example: task = "xor"')
        return _Data()
    before = len(problems.found)
    table = problems.table(value, "dataset")
    if len(problems.found) > before:
        return _Data()
    if "task" not in table:
        check_sizes_used(parameters, {}, None, problems)
        return _Data(read_user_dataset(table, parameters.declared, folder, problems))
    name = table.pop("task")
    task = next((task for task in tasks if task.name == name), None)
    if task is None:
        found = f"the unknown task {quoted(name)}" if isinstance(name, str) else shown(name)
        hint = nearest(str(name), [task.name for task in tasks])
        problems.add("dataset.task", found, "the name of a task", hint)
        return _Data()
    sizes = read_sizes(table, task.options, parameters, problems)
    if not replaced:
        check_sizes_used(parameters, table, task.options, problems)
    if sizes is None:
        return _Data()
    declared = replace(parameters.declared, sizes={size.name: size.value for size in sizes})
    numbers = table | {size.option: size.value for size in sizes}
    with problems.at("dataset"):
        options = problems.check(
            task.options, numbers, "dataset", aside=("task",), context=declared
        )
        if options is not None:
            written = written_options(table, task.options) if sizes else {}
            return _Data(task.build(options), sizes, written)
    return _Data()


class _Described(NamedTuple):
    """The network as it is written: pathways and their families, or the graph they run along."""

    pathways: tuple[PathwaySpec, ...] = ()
    families: tuple[PathwayFamily, ...] = ()
    graph: Network | None = None


def _read_paths(
    tables: Mapping[str, Any],
    dataset: Dataset | None,
    parameters: Parameters,
    problems: Problems,
) -> _Described:
    asked = None
    if dataset is not None:
        asked = Asked(dataset=dataset, declared=parameters.declared, problems=problems)
    if "node" not in tables and "edge" not in tables:
        return _Described(*read_pathways(tables.get("pathway"), asked, problems))
    graph = read_graph(tables, asked, problems)
    if graph is None or dataset is None:
        return _Described()
    paths = graph.paths(dataset.samples)
    return _Described(tuple(PathwaySpec.along(graph, path) for path in paths), (), graph)


def _read_network(
    value: object, pathways: tuple[PathwaySpec, ...], problems: Problems
) -> NetworkSpec | None:
    model = None if value is None else problems.check(NetworkModel, value, "network")
    if model is None:
        return None
    given = dict(model)
    given["init_std"], given["init_std_out"] = model.init_std
    staged = any(pathway.stage > 1 for pathway in pathways)
    given["training"] = model.training or ("staged" if staged else "joint")
    return NetworkSpec(**given)


def _read_validation(value: object, problems: Problems) -> ValidationSpec:
    model = None if value is None else problems.check(ValidationModel, value, "validation")
    return ValidationSpec() if model is None else ValidationSpec(**dict(model))
