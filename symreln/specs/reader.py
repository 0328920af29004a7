"""Reads the tables of a spec: a checked Spec comes out, or all problems at once.

Every problem has its file, line, key path, what was found, what is expected and how to mend it.

Sizes as symbols: ``contexts = "C"`` where C is a parameter with ``integer = true``.

The spec stays the ordinary one at the declared value; what is asked for every value is kept beside.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from symreln.exact.scalar import Scalar
from symreln.networks.gdln import Network
from symreln.specs.asked_pathways import read_graph, read_pathways
from symreln.specs.data import read_user_dataset
from symreln.specs.entries import AskedEntry
from symreln.specs.expression import Declared
from symreln.specs.files import Folder
from symreln.specs.finding import check_text, key_path, nearest, need, quoted, shown
from symreln.specs.kinds import StrictModel
from symreln.specs.letters import written_names
from symreln.specs.overrides import apply_overrides
from symreln.specs.problems import Model, Origin, Problems
from symreln.specs.schema import (
    MAX_PARAMETERS,
    TITLE_LENGTH,
    NetworkModel,
    ParameterModel,
    SpecModel,
    ValidationModel,
)
from symreln.specs.spec import (
    Dataset,
    NetworkSpec,
    Parameter,
    PathwayFamily,
    PathwaySpec,
    SizeSymbol,
    Spec,
    ValidationSpec,
)
from symreln.specs.task import Task
from symreln.specs.theory import check_theory

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,30}", re.ASCII)


class _Parameters(NamedTuple):
    """The tables [parameters.NAME].

    Attributes:
        good: Those that are well declared.
        declared: Names that formulas may use; one whose table is wrong still counts, so that one
            mistake is one message.
    """

    good: tuple[Parameter, ...]
    declared: Declared


def _read_parameters(value: object, problems: Problems) -> _Parameters:
    """Return the declared parameters; what is wrong is added to ``problems``."""
    tables = problems.table(value, "parameters") if value is not None else {}
    names = tuple(tables)
    if len(names) > MAX_PARAMETERS:
        problems.add("parameters", f"{len(names)} parameters", f"at most {MAX_PARAMETERS}")
    written = written_names(names)
    good = []
    for name in names[:MAX_PARAMETERS]:
        path = key_path(("parameters", name))
        with problems.at(path):
            _check_name(name)
        model = problems.check(ParameterModel, tables[name], path)
        if model is not None:
            good.append(Parameter(name=written[name], given=name, **dict(model)))
    integers = {p.given: p for p in good if p.integer}
    usable = [n for n in names[:MAX_PARAMETERS] if _NAME.fullmatch(n) and n not in integers]
    declared = Declared(
        names=tuple(written[name] for name in usable),
        written=written,
        integers=integers,
    )
    return _Parameters(tuple(good), declared)


def _check_name(name: str) -> None:
    expected = "a letter, then at most 30 letters, digits or underscores (ASCII)"
    hint = "" if name.isascii() else "Write Greek letters by name: Delta, kappa."
    need(_NAME.fullmatch(name), f"the name {quoted(name)}", expected, hint)


def _used_names(spec: Spec) -> set[str]:
    """Return the names of the parameters that occur in the data or in gates."""
    found: set[str] = set()
    for matrix in (spec.dataset.inputs, spec.dataset.targets):
        found |= _names_of((*matrix.terms, *matrix.denominator.to_dict()), matrix.parameters)
    for gain in {gain for pathway in spec.pathways for gain in pathway.gate}:
        if isinstance(gain, Scalar):
            keys = (*gain.numerator.to_dict(), *gain.denominator.to_dict())
            found |= _names_of(keys, gain.parameters)
    return found


def _names_of(keys: Iterable[tuple[int, ...]], parameters: tuple[str, ...]) -> set[str]:
    return {parameters[i] for key in keys for i, exponent in enumerate(key) if exponent}


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
    # What --set leaves without use goes, where it changed what could use it.
    replaced = any(path[0] in ("dataset", "pathway", "node", "edge") for path in done)
    spec, unused = _Reading(tables, tasks, folder or Folder(), problems).spec(source, replaced)
    if unused:
        declared = {key: table for key, table in tables["parameters"].items() if key not in unused}
        tables = {**tables, "parameters": declared}
        spec, _ = _Reading(tables, tasks, folder or Folder(), problems).spec(source, replaced)
    return spec


class _Reading:
    """Tables that are being read.

    Attributes:
        tables: Of the spec.
        tasks: Those that there are.
        folder: Of data files.
        problems: Those found.
        parameters: The declared ones.
    """

    def __init__(
        self, tables: Mapping[str, Any], tasks: Sequence[Task], folder: Folder, problems: Problems
    ) -> None:
        self.tables, self.tasks, self.folder, self.problems = tables, tasks, folder, problems
        known = list(SpecModel.model_fields)
        for key in map(str, tables):
            if key not in known:
                found = f"the unknown key {quoted(key)}"
                problems.add(key_path([key]), found, "a key of a spec", nearest(key, known))
        self.parameters: _Parameters = _read_parameters(tables.get("parameters"), problems)

    def spec(self, source: str, replaced: bool) -> tuple[Spec, set[str]]:
        """Return the spec, and the parameters without use, where it may have them.

        Args:
            source: What the spec is called in results.
            replaced: Whether an override changed what could use parameters.

        Raises:
            SpecError: Something is wrong; every problem found is listed.
        """
        problems, declared = self.problems, self.parameters.declared
        dataset, written = self._dataset()
        asked = AskedEntry(dataset=dataset, declared=declared)
        pathways, families, graph = self._paths(asked)
        sizes = tuple(self._size(option) for option in declared.sizes)
        network = self._network(pathways)
        check_theory(
            network, pathways, graph=graph is not None, sized=bool(sizes), problems=problems
        )
        if network is not None and graph is not None:  # gates are its nodes', as given
            network = replace(network, activation="linear", layers=graph.depth)
        validation = self._table(ValidationModel, "validation")
        title = ""
        with problems.at("title"):
            title = check_text(self.tables.get("title", ""), longest=TITLE_LENGTH, empty=True)
        if dataset is None:
            problems.raise_if_any()
        assert dataset is not None
        spec = Spec(
            title=title or dataset.description.removesuffix("."),
            dataset=dataset,
            parameters=tuple(p for p in self.parameters.good if not p.integer),
            pathways=pathways,
            network=network,
            validation=ValidationSpec(**dict(validation or {})),
            source=source,
            sizes=sizes,
            families=families,
            written=written if sizes else {},
            graph=graph,
        )
        unused = self._unused(spec, replaced)
        _check_values(spec, problems)
        problems.raise_if_any()
        return spec, unused

    def _dataset(self) -> tuple[Dataset | None, dict[str, str]]:
        """Return the dataset, None where it is wrong, and the options of a task as written."""
        value, problems = self.tables.get("dataset"), self.problems
        if value is None:
            hint = 'For example: task = "xor"'
            problems.add("dataset", "nothing", "a table [dataset]", hint)
            return None, {}
        before, declared = len(problems.found), self.parameters.declared
        table = problems.table(value, "dataset")
        if len(problems.found) > before:
            return None, {}
        if "task" not in table:
            return read_user_dataset(table, declared, self.folder, problems), {}
        name = table.pop("task")
        task = next((task for task in self.tasks if task.name == name), None)
        if task is None:
            found = f"the unknown task {quoted(name)}" if isinstance(name, str) else shown(name)
            hint = nearest(str(name), [task.name for task in self.tasks])
            problems.add("dataset.task", found, "the name of a task", hint)
            return None, {}
        if self._ill_sizes.intersection(text for text in table.values() if isinstance(text, str)):
            return None, {}
        options = problems.check(task.options, table, "dataset", context=declared)
        with problems.at("dataset"):
            if options is not None:
                found = task.build(options)
                found = replace(
                    found,
                    inputs=found.inputs.promoted(declared.names),
                    targets=found.targets.promoted(declared.names),
                )
                written = _written_options(table, task.options)
                return found, {key: declared.respelled(text) for key, text in written.items()}
        return None, {}

    @property
    def _ill_sizes(self) -> set[str]:
        """The parameters meant as sizes with which something is wrong, which was said."""
        tables = self.problems.table(self.tables.get("parameters", {}), "parameters")
        meant = {
            name for name, each in tables.items() if isinstance(each, dict) and "integer" in each
        }
        return meant - self.parameters.declared.integers.keys()

    def _size(self, option: str) -> SizeSymbol:
        """Return the symbol that stands for a size of the task."""
        parameter = self.parameters.declared.sizes[option]
        task = next(task for task in self.tasks if task.name == self.tables["dataset"]["task"])
        limits = task.options.model_fields[option].metadata
        least = next(limit.ge for limit in limits if hasattr(limit, "ge"))
        return SizeSymbol(
            name=parameter.name,
            option=option,
            minimum=max(least, int(parameter.minimum or 0)),
            maximum=None if parameter.maximum is None else int(parameter.maximum),
            value=int(parameter.value or 0),
        )

    def _paths(
        self, asked: AskedEntry
    ) -> tuple[tuple[PathwaySpec, ...], tuple[PathwayFamily, ...], Network | None]:
        """Return the pathways and their families, or the graph and its paths."""
        if "node" not in self.tables and "edge" not in self.tables:
            return *read_pathways(self.tables.get("pathway"), asked, self.problems), None
        graph = read_graph(self.tables, asked, self.problems)
        if graph is None or asked.dataset is None:
            return (), (), None
        paths = graph.paths(asked.dataset.samples)
        return tuple(PathwaySpec.along(graph, path) for path in paths), (), graph

    def _table(self, kind: type[Model], name: str) -> Model | None:
        value = self.tables.get(name)
        return None if value is None else self.problems.check(kind, value, name)

    def _network(self, pathways: tuple[PathwaySpec, ...]) -> NetworkSpec | None:
        model = self._table(NetworkModel, "network")
        if model is None:
            return None
        given = dict(model)
        given["init_std"], given["init_std_out"] = model.init_std
        staged = any(pathway.stage > 1 for pathway in pathways)
        given["training"] = model.training or ("staged" if staged else "joint")
        return NetworkSpec(**given)

    def _unused(self, spec: Spec, replaced: bool) -> set[str]:
        """Return the parameters that occur nowhere; a problem each where nothing was replaced."""
        used = _used_names(spec)
        among = f" ({', '.join(sorted(used))})" if used else ""
        sizes = self.parameters.declared.sizes.values()
        unused = [
            parameter
            for parameter in self.parameters.good
            if parameter.name not in used and parameter not in sizes
        ]
        for parameter in () if replaced else unused:
            path = key_path(("parameters", parameter.given))
            if parameter.integer:
                found = "a whole-number parameter that is no size of the dataset"
                expected = f'a size of a task, as in contexts = "{parameter.given}"'
                hint = "Use it as a size, or remove integer = true."
                self.problems.add(f"{path}.integer", found, expected, hint)
            else:
                found = "a parameter on which no entry of the dataset and no gate depends"
                hint = "Use it in a formula, or remove it."
                self.problems.add(path, found, f"one that is used{among}", hint)
        return {parameter.given for parameter in unused}


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
