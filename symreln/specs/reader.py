"""Reads the tables of a spec: a checked Spec comes out, or all problems at once.

Every problem has its file, line, key path, what was found, what is expected and how to mend it.

Sizes as symbols: ``contexts = "C"`` where C is a parameter with ``integer = true``.

The spec stays the ordinary one at the declared value; what is asked for every value is kept beside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from symreln.networks.model import Network
from symreln.specs.data import read_user_dataset
from symreln.specs.files import Folder
from symreln.specs.finding import Finding, check_text, key_path, nearest, quoted, shown
from symreln.specs.graph import read_graph
from symreln.specs.kinds import StrictModel, size_options
from symreln.specs.model import (
    Dataset,
    NetworkSpec,
    Parameter,
    PathwayFamily,
    PathwaySpec,
    SizeSymbol,
    Spec,
    ValidationSpec,
)
from symreln.specs.overrides import apply_overrides
from symreln.specs.parameters import (
    Parameters,
    check_used,
    check_values,
    data_over,
    gates_over,
    read_parameters,
    used_names,
)
from symreln.specs.pathways import Asked, read_pathways
from symreln.specs.problems import Origin, Problems
from symreln.specs.schema import TITLE_LENGTH, NetworkModel, SpecModel, ValidationModel
from symreln.specs.task import Task
from symreln.specs.theory import check_theory


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
        title=title or data.dataset.description.removesuffix("."),
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
        _check_sizes_used(parameters, {}, None, problems)
        return _Data(read_user_dataset(table, parameters.declared, folder, problems))
    name = table.pop("task")
    task = next((task for task in tasks if task.name == name), None)
    if task is None:
        found = f"the unknown task {quoted(name)}" if isinstance(name, str) else shown(name)
        hint = nearest(str(name), [task.name for task in tasks])
        problems.add("dataset.task", found, "the name of a task", hint)
        return _Data()
    sizes = _read_sizes(table, task.options, parameters, problems)
    if not replaced:
        _check_sizes_used(parameters, table, task.options, problems)
    if sizes is None:
        return _Data()
    declared = replace(parameters.declared, sizes={size.name: size.value for size in sizes})
    numbers = table | {size.option: size.value for size in sizes}
    with problems.at("dataset"):
        options = problems.check(
            task.options, numbers, "dataset", aside=("task",), context=declared
        )
        if options is not None:
            written = {}
            if sizes:
                options_text = _written_options(table, task.options)
                written = {key: declared.respelled(text) for key, text in options_text.items()}
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


def _read_sizes(
    table: Mapping[str, Any],
    options: type[StrictModel],
    parameters: Parameters,
    problems: Problems,
) -> tuple[SizeSymbol, ...] | None:
    """Return the symbols that stand for sizes of a task; None where one of them is wrong.

    Args:
        table: The options as read.
        options: The task's model; its size fields may hold names.
        parameters: The declared ones.
        problems: Collects.
    """
    before = len(problems.found)
    known = {parameter.given: parameter for parameter in parameters.good}
    sizes: list[SizeSymbol] = []
    ill_declared = False
    for option, smallest in size_options(options).items():
        name = table.get(option)
        # A number in quotes is not meant as a name; the model says how to mend it.
        if not isinstance(name, str) or name.lstrip("+-").isdigit():
            continue
        if name in parameters.names and name not in known:
            ill_declared = True
            continue
        with problems.at(f"dataset.{option}"):
            parameter = _size_parameter(name, known)
            for key in ("minimum", "value"):
                number = getattr(parameter, key)
                if number is not None and number < smallest:
                    path = key_path(("parameters", name, key))
                    problems.add(path, str(number), f"at least {smallest}, as for {option}")
            if any(size.name == known[name].name for size in sizes):
                raise Finding(f"{name}, which is another size already", "its own")
            sizes.append(_symbol(parameter, option, smallest))
    return None if ill_declared or len(problems.found) > before else tuple(sizes)


def _written_options(table: Mapping[str, Any], options: type[StrictModel]) -> dict[str, str]:
    """Return the options as written, those left out with their default."""
    defaults = {
        name: field.default
        for name, field in options.model_fields.items()
        if not field.is_required() and field.default is not None
    }
    return {
        name: ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
        for name, value in {**defaults, **table}.items()
    }


def _check_sizes_used(
    parameters: Parameters,
    table: Mapping[str, Any],
    options: type[StrictModel] | None,
    problems: Problems,
) -> None:
    """Add a problem for every integer parameter that stands for no size.

    Args:
        parameters: The declared ones.
        table: The options as read.
        options: The task's model, or None for a user's own data.
        problems: Collects.
    """
    able = list(size_options(options)) if options is not None else []
    used = [table.get(option) for option in able]
    for parameter in parameters.good:
        if not parameter.integer or parameter.given in used:
            continue
        expected = " or ".join(f'{option} = "{parameter.given}" in [dataset]' for option in able)
        problems.add(
            key_path(("parameters", parameter.given, "integer")),
            "a whole-number parameter that is no size of the dataset",
            expected or "no sizes as symbols: this dataset has none",
            "Use it as a size, or remove integer = true.",
        )


def _size_parameter(name: str, known: Mapping[str, Parameter]) -> Parameter:
    expected = "a whole number, or the name of a parameter with integer = true"
    parameter = known.get(name)
    if parameter is None:
        integers = [name for name, p in known.items() if p.integer]
        hint = nearest(name, integers) or f"Declare it: [parameters.{name[:30]}] integer = true."
        raise Finding(f"the undeclared name {quoted(name)}", expected, hint)
    if not parameter.integer:
        hint = f"Add integer = true to [parameters.{name}]."
        raise Finding(f"the parameter {name}, which need not be whole", expected, hint)
    return parameter


def _symbol(parameter: Parameter, option: str, smallest: int) -> SizeSymbol:
    assert parameter.value is not None  # read_parameters asks for it
    return SizeSymbol(
        name=parameter.name,
        option=option,
        minimum=smallest if parameter.minimum is None else int(parameter.minimum),
        maximum=None if parameter.maximum is None else int(parameter.maximum),
        value=int(parameter.value),
    )
