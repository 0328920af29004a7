"""The shape of a spec file: strict models that know every key, and the JSON Schema of it.

The models check types, ranges and unknown keys of one table each; what needs more than one table
(samples against labels, formulas against parameters) is checked in the reader. A field's
description says what is expected there; messages and the JSON Schema both use it.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, WithJsonSchema

from symreln.spec.number import DecimalText

MAX_HIDDEN = 1_000_000
MAX_STEPS = 10_000_000
MAX_STAGE = 100
MAX_SWITCHES = 100
MAX_PATHWAYS = 1000
MAX_PARAMETERS = 8
MAX_LAYERS = 1000
"""Beyond these a typing mistake is more likely than a network: a million hidden units and ten
million recorded losses fill a machine's memory before anything is learned from them."""


def _number(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float | str | Fraction | DecimalText):
        msg = "no number"
        raise ValueError(msg)
    return value


def _number_or_two(value: object) -> object:
    if isinstance(value, list | tuple):
        if len(value) != 2:
            msg = "not two numbers"
            raise ValueError(msg)
        return [_number(entry) for entry in value]
    return _number(value)


def _list_or_text(value: object) -> object:
    if not isinstance(value, str | list | tuple):
        msg = "neither text nor list"
        raise ValueError(msg)
    return value


_FORMULA_SCHEMA = {"anyOf": [{"type": "number"}, {"type": "string"}]}
Formula = Annotated[object, PlainValidator(_number), WithJsonSchema(_FORMULA_SCHEMA)]
"""A number, or a formula as text: ``1``, ``0.5``, ``"1/3"``, ``"2*c"``."""

Formulas = Annotated[
    object,
    PlainValidator(_number_or_two),
    WithJsonSchema(
        {
            "anyOf": [
                *_FORMULA_SCHEMA["anyOf"],
                {"type": "array", "items": _FORMULA_SCHEMA, "minItems": 2, "maxItems": 2},
            ]
        }
    ),
]
"""A formula, or a list of two."""

Entries = Annotated[
    object,
    PlainValidator(_list_or_text),
    WithJsonSchema(
        {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}]}
    ),
]
"""A name or formula as text, or a list of whole numbers."""

Names = Annotated[
    object,
    PlainValidator(_list_or_text),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]
"""A name as text, or a list of names."""

GateEntries = Annotated[
    object,
    PlainValidator(_list_or_text),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": _FORMULA_SCHEMA}]}),
]
"""A formula over labels as text, or a list of 0, 1 and gains."""

Matrix = Annotated[
    Any, WithJsonSchema({"type": "array", "items": {"type": "array", "items": _FORMULA_SCHEMA}})
]


def _or_size_symbol(schema: dict[str, Any]) -> None:
    """Let the JSON Schema of a size take the name of an integer parameter as well."""
    kept = {key: schema.pop(key) for key in ("title", "description", "default") if key in schema}
    number = {**schema}
    schema.clear()
    schema.update(kept, anyOf=[number, {"type": "string"}])


def size_field(*, description: str, **limits: Any) -> Any:
    """Return the field of a task's option that is a whole number or an integer parameter's name.

    The reader puts the parameter's value in its place before the model sees it.

    Args:
        description: What is expected, for messages.
        limits: ``ge``, ``le`` and ``default``, as for pydantic's Field.
    """
    text = f"{description}, or the name of a parameter with integer = true"
    return Field(description=text, json_schema_extra=_or_size_symbol, **limits)


def size_options(model: type[BaseModel]) -> dict[str, int]:
    """Return the options that a symbol may stand for, each with its smallest value."""
    return {
        name: next(limit.ge for limit in field.metadata if hasattr(limit, "ge"))
        for name, field in model.model_fields.items()
        if field.json_schema_extra is _or_size_symbol
    }


class StrictModel(BaseModel):
    """A table of the spec: no unknown keys, no conversions."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, arbitrary_types_allowed=True
    )


class ParameterModel(StrictModel):
    """``[parameters.NAME]``: a declared symbol."""

    positive: bool = Field(default=False, description="true or false: whether it is > 0")
    nonnegative: bool = Field(default=False, description="true or false: whether it is >= 0")
    minimum: Formula | None = Field(default=None, description="a number without names")
    maximum: Formula | None = Field(default=None, description="a number without names")
    value: Formula | None = Field(
        default=None, description="a number without names, used where numbers are needed"
    )
    integer: bool = Field(
        default=False,
        description="true or false: whether it is a size, as in contexts = "
        '"C"; it needs a value, and results are then derived for every size',
    )


class SwitchModel(StrictModel):
    """``then``: the gate that a pathway takes at a step of the training."""

    step: int = Field(
        ge=1,
        le=MAX_STEPS,
        description=f"the first update made with this gate, a whole number from 1 to {MAX_STEPS}",
    )
    gate: GateEntries = Field(description='"all", a formula over labels, or a list of 0 and 1')


class PathwayModel(StrictModel):
    """``[[pathway]]``: one pathway of the gated deep linear network."""

    name: str = Field(description="a unique name in quotes")
    each: str | None = Field(
        default=None,
        description="a label, as in each = "
        '"context": one pathway a value, {context} in the texts stands for the value',
    )
    gate: GateEntries = Field(
        default="all",
        description='"all", a formula over labels, or a list of 0, 1, gains such as "g", and "/" '
        "for a sample to which the pathway's inputs are made orthogonal",
    )
    inputs: Entries = Field(
        default="all", description='"all", the name of a group of inputs, or a list of indices'
    )
    outputs: Entries = Field(
        default="all", description='"all", the name of a group of outputs, or a list of indices'
    )
    stage: int = Field(
        default=1, ge=1, le=MAX_STAGE, description=f"a whole number from 1 to {MAX_STAGE}"
    )
    hidden: int | None = Field(
        default=None,
        ge=1,
        le=MAX_HIDDEN,
        description=f"hidden units of this pathway alone, a whole number from 1 to {MAX_HIDDEN}; "
        "what network.hidden gives to every pathway by default",
    )
    then: list[SwitchModel] = Field(
        default_factory=list,
        max_length=MAX_SWITCHES,
        description="gates that the pathway takes later, as in "
        'then = [{step = 800, gate = "context != 1"}]',
    )


class NodeModel(StrictModel):
    """``[[node]]``: a layer of a graph, or a part of one."""

    name: str = Field(description="a unique name in quotes")
    each: str | None = Field(
        default=None,
        description="a label, as in each = "
        '"context": one node a value, {context} in the texts stands for the value',
    )
    size: int | None = Field(
        default=None,
        ge=1,
        le=MAX_HIDDEN,
        description="units of a hidden node, a whole number; network.hidden by default",
    )
    gate: GateEntries = Field(
        default="all",
        description='"all", a formula over labels, or a list of 0, 1 and gains such as "g"',
    )
    inputs: Entries | None = Field(
        default=None,
        description='of an input node: "all", the name of a group of inputs, or a list of indices',
    )
    outputs: Entries | None = Field(
        default=None,
        description='of an output node: "all", the name of a group of outputs, or a list of '
        "indices",
    )


class EdgeModel(StrictModel):
    """``[[edge]]``: weights from one node of a graph to another."""

    source: str = Field(alias="from", description="the name of a node that is no output")
    target: str = Field(alias="to", description="the name of a node that is no input")
    name: str = Field(default="", description='a unique name; "from → to" by default')
    each: str | None = Field(
        default=None,
        description="a label, as in each = "
        '"context": one edge a value, {context} in the texts stands for the value',
    )
    gate: GateEntries = Field(
        default="all",
        description='"all", a formula over labels, or a list of 0, 1 and gains such as "g"',
    )


class NetworkModel(StrictModel):
    """``[network]``: the network that is predicted and trained."""

    hidden: int = Field(
        ge=1, le=MAX_HIDDEN, description=f"hidden units, a whole number from 1 to {MAX_HIDDEN}"
    )
    init_std: Formulas = Field(
        description="standard deviation of the initial weights, a number above 0, or a list of "
        "two, of the first and of the second layer"
    )
    layers: int = Field(
        default=2,
        ge=1,
        le=MAX_LAYERS,
        description=f"layers of weights of a pathway, a whole number from 1 to {MAX_LAYERS}",
    )
    weight_decay: Formula = Field(
        default=0,
        description="lambda, a number from 0 on: lambda/2 times the sum of all squared weights is "
        "added to the mean loss (to a sum, P times that)",
    )
    learning_rate: Formula = Field(description="a number above 0")
    loss: Literal["sum", "mean"] = Field(default="sum", description='"sum" or "mean"')
    steps: int = Field(
        ge=1,
        le=MAX_STEPS,
        description=f"recorded losses, step 0 included, a whole number from 1 to {MAX_STEPS}",
    )
    activation: Literal["relu", "linear"] = Field(default="relu", description='"relu" or "linear"')
    training: Literal["joint", "staged"] | None = Field(
        default=None,
        description='"joint" or "staged"; staged by default where a stage is above 1',
    )


class ValidationModel(StrictModel):
    """``[validation]``: when theory and training count as agreeing."""

    tolerance: Formula = Field(
        description='largest max |ΔL|/L(0), a number above 0, at most 1, or in percent as "5%"'
    )
    reason: str = Field(description="the reason for this tolerance, a text in quotes")


class GroupsModel(StrictModel):
    """``[dataset.groups]``: named groups of inputs and of outputs."""

    inputs: dict[str, Any] = Field(
        default_factory=dict, description="a table of lists of input indices"
    )
    outputs: dict[str, Any] = Field(
        default_factory=dict, description="a table of lists of output indices"
    )


class UserDatasetModel(StrictModel):
    """``[dataset]`` with a user's own data: matrices, CSV files, or an NPZ file."""

    X: Matrix | None = Field(default=None, description="a list of rows, one a feature")
    Y: Matrix | None = Field(default=None, description="a list of rows, one an output")
    inputs: str | None = Field(default=None, description="name of a CSV file, one row a sample")
    targets: str | None = Field(default=None, description="name of a CSV file, one row a sample")
    data: str | None = Field(default=None, description="name of an NPZ file with X and Y")
    delimiter: Literal[",", ";", "\t"] | None = Field(
        default=None, description='"," or ";" or "\\t"'
    )
    labels: dict[str, Any] = Field(
        default_factory=dict, description="a table of lists, one entry a sample"
    )
    groups: dict[str, Any] = Field(
        default_factory=dict, description="a table with the tables inputs and outputs"
    )


class SpecModel(StrictModel):
    """A spec file."""

    title: str = Field(default="", description="a text in quotes")
    dataset: dict[str, Any] = Field(description="a table: [dataset] with a task or your own data")
    parameters: dict[str, ParameterModel] = Field(
        default_factory=dict, description="tables: [parameters.NAME]"
    )
    pathway: list[PathwayModel] = Field(
        default_factory=list, description="at least one table [[pathway]], or a graph"
    )
    node: list[NodeModel] = Field(
        default_factory=list, description="tables [[node]]: the nodes of a graph"
    )
    edge: list[EdgeModel] = Field(
        default_factory=list, description="tables [[edge]]: the edges of a graph"
    )
    network: NetworkModel | None = Field(default=None, description="a table: [network]")
    validation: ValidationModel | None = Field(default=None, description="a table: [validation]")


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a spec file, for editors and for ``symreln schema``."""
    from pydantic import create_model

    from symreln.tasks.registry import TASKS

    schema = SpecModel.model_json_schema()
    definitions = schema["$defs"]
    models: list[type[StrictModel]] = [UserDatasetModel, GroupsModel]
    for task in TASKS:
        name = "".join(part.capitalize() for part in task.name.split("-"))
        field: Any = (Literal[task.name], Field(description=task.summary))  # type: ignore[valid-type]
        models.append(create_model(f"{name}Dataset", __base__=task.options, task=field))
    for model in models:
        own = model.model_json_schema(ref_template="#/$defs/{model}")
        definitions.update(own.pop("$defs", {}))
        definitions[model.__name__] = own
    definitions["UserDatasetModel"]["properties"]["groups"] = {"$ref": "#/$defs/GroupsModel"}
    datasets = [model.__name__ for model in models if model is not GroupsModel]
    schema["properties"]["dataset"] = {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in datasets]}
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return {**_without_null(schema), "title": "symreln spec"}


def _without_null(schema: Any) -> Any:
    """Return a schema without null, which TOML does not have, and without generated titles."""
    if isinstance(schema, list):
        return [_without_null(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {
        key: _without_null(value)
        for key, value in schema.items()
        if not (key == "title" and isinstance(value, str))
        and not (key == "default" and value is None)
    }
    if "anyOf" in kept:
        options = [option for option in kept.pop("anyOf") if option != {"type": "null"}]
        # A single alternative is written flat; nested alternatives are merged.
        flat = [
            o
            for option in options
            for o in (option["anyOf"] if list(option) == ["anyOf"] else [option])
        ]
        kept = {**kept, "anyOf": flat} if len(flat) > 1 else {**kept, **flat[0]}
    return kept
