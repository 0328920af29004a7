"""Reads the tables of a spec: a checked Spec comes out, or all problems at once.

Every problem has its file, line, key path, what was found, what is expected and how to mend it.

Sizes as symbols: ``contexts = "C"`` where C is a parameter with ``integer = true``.

The spec stays the ordinary one at the declared value; what is asked for every value is kept beside.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from symreln.specs.asked_pathways import read_paths
from symreln.specs.data import read_user_dataset
from symreln.specs.expression import Declared
from symreln.specs.files import Folder
from symreln.specs.finding import check_text, key_path, nearest, need, quoted, shown
from symreln.specs.kinds import AskedEntry
from symreln.specs.letters import written_names
from symreln.specs.overrides import Path, apply_overrides
from symreln.specs.problems import Model, Origin, Problems
from symreln.specs.schema import (
    MAX_PARAMETERS,
    TITLE_LENGTH,
    GatesModel,
    NetworkModel,
    ParameterModel,
    SpecModel,
    ValidationModel,
)
from symreln.specs.spec import (
    Dataset,
    NetworkSpec,
    Parameter,
    PathwaySpec,
    Spec,
    ValidationSpec,
)
from symreln.specs.task import Task

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,30}", re.ASCII)


def read_spec(
    tables: Mapping[str, Any],
    *,
    tasks: Sequence[Task],
    source: str = "",
    origin: Origin | None = None,
    folder: Folder | None = None,
    overrides: Sequence[str] | Mapping[str, Any] = (),
    data_alone: bool = False,
) -> Spec:
    """Return the checked spec of tables that were read or made in Python.

    Args:
        tables: The tables of a spec.
        tasks: Those that ``dataset.task`` may name.
        source: What the spec is called in results.
        origin: File and text for messages.
        folder: Where data files are looked for; the current folder by default.
        overrides: ``key=value`` texts (or a mapping), applied before checking.
        data_alone: Whether neither gates nor a network are needed.

    Raises:
        SpecError: Something is wrong; every problem found is listed.
    """
    none = isinstance(overrides, tuple | list | dict) and not overrides
    tables, done = (tables, {}) if none else apply_overrides(tables, overrides)
    given = {key_path(path): text for path, text in done.items()}
    problems = Problems(replace(origin or Origin(), overrides=given))
    known = list(SpecModel.model_fields)
    for key in (key for key in map(str, tables) if key not in known):
        found = f"the unknown key {quoted(key)}"
        problems.add(key_path([key]), found, "a key of a spec", nearest(key, known))
    good, declared = _read_parameters(tables.get("parameters"), problems)
    dataset = _read_dataset(tables.get("dataset"), tasks, declared, folder or Folder(), problems)
    asked = AskedEntry(dataset=dataset, declared=declared)
    training = _read_table(NetworkModel, "network", tables, problems)
    gates = _read_table(GatesModel, "gates", tables, problems)
    given_gates = {"pathway", "node", "edge"} & tables.keys()
    finds = gates is not None or not given_gates
    if finds and not (data_alone and tables.keys() <= {"title", "dataset", "parameters"}):
        _check_findable(training, good, tables, problems)
    if gates is not None:
        _check_found(gates, tables, problems)
    pathways, families, graph = (), (), None
    if given_gates:
        pathways, families, graph = read_paths(tables, asked, training, problems)
    network = None if training is None else _network(training, pathways)
    sized = bool(declared.sizes)
    _check_theory(network, pathways, graph=graph is not None, sized=sized, problems=problems)
    if network is not None and graph is not None:  # gates are its nodes', as given
        network = replace(network, activation="linear", layers=graph.depth)
    validation = _read_table(ValidationModel, "validation", tables, problems)
    title = ""
    with problems.at("title"):
        title = check_text(tables.get("title", ""), longest=TITLE_LENGTH, empty=True)
    if dataset is None:
        problems.raise_if_any()
    assert dataset is not None
    spec = Spec(
        title=title or dataset.description.removesuffix("."),
        dataset=dataset,
        parameters=tuple(p for p in good if not p.integer),
        pathways=pathways,
        network=network,
        validation=ValidationSpec(**dict(validation or {})),
        source=source,
        sizes=tuple(declared.sizes.values()),
        families=families,
        graph=graph,
        find="data" if finds else "",
    )
    if good:
        spec = _check_parameters(spec, good, done, problems)
    problems.raise_if_any()
    return spec


def _read_parameters(value: object, problems: Problems) -> tuple[tuple[Parameter, ...], Declared]:
    """Return the parameters that are well declared, and the names that formulas may use.

    One whose table is wrong still counts as a name, so that one mistake is one message.
    """
    tables = problems.table(value, "parameters") if value is not None else {}
    names = tuple(tables)
    if len(names) > MAX_PARAMETERS:
        problems.add("parameters", f"{len(names)} parameters", f"at most {MAX_PARAMETERS}")
    written = written_names(names)
    good: list[Parameter] = []
    integers: dict[str, Parameter | None] = {}
    for name in names[:MAX_PARAMETERS]:
        path = key_path(("parameters", name))
        with problems.at(path):
            expected = "a letter, then at most 30 letters, digits or underscores (ASCII)"
            hint = "" if name.isascii() else "Write Greek letters by name: Delta, kappa."
            need(_NAME.fullmatch(name), f"the name {quoted(name)}", expected, hint)
        model = problems.check(ParameterModel, tables[name], path)
        if model is not None:
            good.append(Parameter(name=written[name], given=name, **dict(model)))
        elif isinstance(tables[name], Mapping) and "integer" in tables[name]:
            integers[name] = None
    integers |= {parameter.given: parameter for parameter in good if parameter.integer}
    usable = [n for n in names[:MAX_PARAMETERS] if _NAME.fullmatch(n) and not integers.get(n)]
    named = tuple(written[name] for name in usable)
    return tuple(good), Declared(names=named, written=written, integers=integers)


def _read_dataset(
    value: object, tasks: Sequence[Task], declared: Declared, folder: Folder, problems: Problems
) -> Dataset | None:
    """Return the dataset, None where it is wrong."""
    if value is None:
        problems.add("dataset", "nothing", "a table [dataset]", 'For example: task = "xor"')
        return None
    before, table = len(problems.found), problems.table(value, "dataset")
    if len(problems.found) > before:
        return None
    if "task" not in table:
        return read_user_dataset(table, declared, folder, problems)
    name = table.pop("task")
    task = next((task for task in tasks if task.name == name), None)
    if task is None:
        found = f"the unknown task {quoted(name)}" if isinstance(name, str) else shown(name)
        hint = nearest(str(name), [task.name for task in tasks])
        problems.add("dataset.task", found, "the name of a task", hint)
        return None
    options = problems.check(task.options, table, "dataset", context=declared)
    with problems.at("dataset"):
        return None if options is None else task.dataset(options, table, declared)
    return None


def _read_table(
    kind: type[Model], name: str, tables: Mapping[str, Any], problems: Problems
) -> Model | None:
    value = tables.get(name)
    return None if value is None else problems.check(kind, value, name)


def _network(model: NetworkModel, pathways: Sequence[PathwaySpec]) -> NetworkSpec:
    first, second = model.init_std
    staged = any(pathway.stage > 1 for pathway in pathways)
    training = model.training or ("staged" if staged else "joint")
    given = {"init_std": first, "init_std_out": second, "training": training}
    return NetworkSpec(**dict(model) | given)


def _check_parameters(
    spec: Spec, parameters: Sequence[Parameter], changed: Iterable[Path], problems: Problems
) -> Spec:
    """Add a problem for every parameter without use, or with a value that does not fit.

    What --set leaves without use goes, where it changed what could use it.
    """
    used = {*spec.letters, *(size.name for size in spec.sizes)}
    unused = [parameter for parameter in parameters if parameter.name not in used]
    if any(path[0] in ("dataset", "pathway", "node", "edge") for path in changed):
        spec = spec.at({parameter.name: Fraction(0) for parameter in unused})
    elif unused:
        _refuse_unused(unused, spec, problems)
    _check_values(spec, problems)
    return spec


def _refuse_unused(unused: Sequence[Parameter], spec: Spec, problems: Problems) -> None:
    used = sorted(p.name for p in spec.parameters if p not in unused)
    for parameter in unused:
        size = f'as a size, as in contexts = "{parameter.given}", or remove integer = true'
        hint = f"Use it {size if parameter.integer else 'in a formula'}, or remove it."
        found = "a parameter on which no entry of the dataset and no gate depends"
        expected = "one that is used" + f" ({', '.join(used)})" * bool(used)
        problems.add(key_path(("parameters", parameter.given)), found, expected, hint)


def _check_values(spec: Spec, problems: Problems) -> None:
    """Add a problem where the declared values make a datum or a gain infinite, or close a gate."""
    given = ((p.given, p.value) for p in spec.parameters if p.value is not None)
    values, listed = spec.values, ", ".join(f"{name} = {value}" for name, value in given)
    try:
        spec.dataset.inputs.substitute(values)
        spec.dataset.targets.substitute(values)
    except ZeroDivisionError:
        found = f"values at which an entry of the dataset is infinite ({listed})"
        problems.add("parameters", found, "values at which every entry is finite")
        return
    for pathway in spec.pathways:
        found, name = "", quoted(pathway.name)
        try:
            if pathway.open_samples and not pathway.at(values).open_samples:
                found = f"values that close pathway {name} on every sample ({listed})"
        except ZeroDivisionError:
            found = f"values at which a gain of pathway {name} is infinite ({listed})"
        if found:
            expected = "values at which every gate is finite and open somewhere"
            problems.add("parameters", found, expected)


# -- combinations of keys for which there is no theory --------------------------------------------


def _check_findable(
    network: NetworkModel | None,
    parameters: Sequence[Parameter],
    tables: Mapping[str, Any],
    problems: Problems,
) -> None:
    """Add a problem where no gates can come from the data."""
    if graph := {"node", "edge"} & tables.keys():
        gates = "gates of a graph's nodes and edges, or gates from the data"
        problems.add("gates", f"them beside {' and '.join(sorted(graph))}", gates)
    if "network" not in tables and "pathway" in tables:
        problems.add("network", "nothing", "a table [network], for gates from the data")
    elif "network" not in tables:
        one = 'at least one [[pathway]] with name = "shared" and gate = "all"'
        problems.add("pathway", "nothing", f"{one}, or [network] for gates from the data")
    if network is not None:
        for key, fits, needed in (
            ("activation", "relu", '"relu"'),
            ("layers", 2, "2"),
            ("weight_decay", 0, "0"),
            ("strength0", None, "no such key"),
        ):
            value = getattr(network, key)
            if value != fits:
                expected = f"{needed}, for gates from the data"
                problems.add(f"network.{key}", shown(value), expected, "Or give a [[pathway]].")
    for parameter in parameters:
        if parameter.value is None:
            where = key_path(("parameters", parameter.given, "value"))
            problems.add(where, "nothing", "a value, for gates from the data")


def _check_found(gates: GatesModel, tables: Mapping[str, Any], problems: Problems) -> None:
    """Add a problem where [gates] and pathways say different things."""
    if bool(gates.find) == bool(gates.found):
        both = "both find and found" if gates.find else "neither find nor found"
        problems.add("gates", both, "one of them")
    elif gates.find and "pathway" in tables:
        hint = 'Gates that were found before have found = "data".'
        problems.add("gates.find", "[[pathway]] beside it", "no [[pathway]]", hint)
    elif gates.found and "pathway" not in tables:
        problems.add("gates.found", "no [[pathway]]", "those that were found", 'Or find = "data".')


def _check_theory(
    network: NetworkSpec | None,
    pathways: Sequence[PathwaySpec],
    *,
    graph: bool,
    sized: bool,
    problems: Problems,
) -> None:
    """Add a problem for every combination of keys that no solution family covers.

    Args:
        network: The network, or None where there is none or it is wrong.
        pathways: Those that are well described.
        graph: Whether the network is described by nodes and edges.
        sized: Whether a size of the task is a symbol.
        problems: Where they go.
    """
    final = max((each.step for pathway in pathways for each in pathway.then), default=0)
    if sized and final:
        problems.add("pathway", "then with a size that is a symbol", "sizes as numbers")
    if network is not None and network.unusual:
        _check_unusual(network, pathways, graph=graph, sized=sized, problems=problems)
    if network is not None and final:
        if network.batch_size is not None:
            hint = "An epoch would end at every switch."
            problems.add("pathway", "then with network.batch_size", "full batches", hint)
        if final >= network.steps:
            late = next(p.name for p in pathways if any(each.step == final for each in p.then))
            found = f"then of {late}: step {final}, with {network.steps} recorded steps"
            problems.add("pathway", found, f"steps from 1 to {network.steps - 1}")


def _check_unusual(
    network: NetworkSpec,
    pathways: Sequence[PathwaySpec],
    *,
    graph: bool,
    sized: bool,
    problems: Problems,
) -> None:
    """Add a problem for what excludes other than two equal layers without weight decay."""
    unusual, says = network.unusual, f"layers = {network.layers}"
    first, deep, both = f"network.{unusual[0]}", "layers" in unusual, " with ".join(unusual)
    if len(unusual) > 1:
        hint = (
            "No closed form is known for two of: other than two layers, layers that start apart, "
            "decay."
        )
        problems.add(f"network.{unusual[-1]}", both, "one of them alone", hint)
    if deep and network.activation == "relu":
        found = f'{says} with activation = "relu"'
        hint = 'ReLU networks are derived for one hidden layer. Set activation = "linear".'
        problems.add("network.layers", found, "2 for a ReLU network", hint)
    staged = network.training == "staged" or any(pathway.stage > 1 for pathway in pathways)
    own_units = not graph and any(pathway.hidden is not None for pathway in pathways)
    usual = "These are derived for two layers of equal initial scale, without weight decay."
    for here, what, needed in (
        (staged, "stages", "stage = 1, training joint"),
        (sized, "a size that is a symbol", "sizes as numbers"),
        (graph, "nodes and edges", "pathways"),
        (own_units, "hidden units of a single pathway", "network.hidden alone"),
        (any(p.then for p in pathways), "then of a pathway", "gates that do not switch"),
    ):
        if here:
            problems.add(first, f"{both} with {what}", needed, usual)
    on = next((place for place, each in enumerate(pathways) if each.boundary), None)
    if deep and on is not None:
        found = f'"/" in a gate with network.{says}'
        problems.add(f"pathway[{on}].gate", found, "two layers of weights")
