"""The tables of a spec file, every key once, and the JSON Schema of them.

The models check types, ranges and unknown keys of one table each; what needs more than one table
(samples against labels, gates against groups) is checked in the reader. A field's description says
what is expected there; messages and the JSON Schema both use it.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, ValidationInfo, create_model
from pydantic.json_schema import GenerateJsonSchema

from symreln.specs.finding import check_text, need
from symreln.specs.kinds import (
    Constant,
    GateEntries,
    Inputs,
    Matrix,
    Name,
    Outputs,
    PathwayGate,
    Positive,
    Share,
    Spreads,
    StrictModel,
    SwitchGate,
)
from symreln.specs.task import Task

MAX_HIDDEN = 1_000_000
_MAX_STEPS = 10_000_000
_MAX_BATCH = 1_000_000
_MAX_SWITCHES = 100
MAX_PATHWAYS = 1000
MAX_PARAMETERS = 8
"""Beyond these a typing mistake is more likely than a network: a million hidden units and ten
million recorded losses fill a machine's memory before anything is learned from them."""
TITLE_LENGTH = 300


def _whole(most: int, what: str = "", **default: Any) -> Any:
    """Return the field of a whole number from 1 on."""
    description = f"{what}a whole number from 1 to {most}"
    return Field(ge=1, le=most, description=description, **default)


def _indices(kind: str, default: str | None = "all", before: str = "") -> Any:
    text = f'{before}"all", the name of a group or of an {kind}, or a list of indices or names'
    return Field(default=default, description=text)


_EACH = Field(
    default=None,
    description='a label, as in each = "context": one entry a value, {context} in the texts stands '
    "for the value",
)
_NAME = Field(description="a unique name in quotes")
_GATE: Any = Field(
    default="all",
    description='"all", a formula over labels, or a list of 0, 1 and gains such as "g"',
)
EdgeName = Annotated[str, AfterValidator(lambda x: check_text(x, longest=240, empty=True))]
_NO_NAMES = Field(default=None, description="a number without names")


def _consistent(number: Fraction | None, info: ValidationInfo) -> Fraction | None:
    """Return a number said of a parameter that agrees with what was said before."""
    said, key = info.data, info.field_name
    if number is None:
        expected = "a whole number: the size at which numbers are computed"
        need(key != "value" or not said.get("integer"), "nothing", expected, "Add value = …")
        return None
    whole = number.denominator == 1 or not said.get("integer")
    need(whole, str(number), "a whole number, because integer = true")
    low, high, hint = said.get("minimum"), said.get("maximum"), "Change one of the two."
    limits = [
        (low is None or number >= low, f"at least the minimum {low}"),
        (high is None or number <= high, f"at most the maximum {high}"),
        (number > 0 or not said.get("positive"), "above 0, because positive = true"),
        (number >= 0 or not said.get("nonnegative"), "0 or above, because nonnegative = true"),
    ]
    for fits, needed in limits if key != "minimum" else ():
        need(fits, str(number), needed, hint)
    return number


_Said = Annotated[Constant | None, AfterValidator(_consistent)]


class ParameterModel(StrictModel):
    """``[parameters.NAME]``: a declared symbol."""

    positive: bool = Field(default=False, description="true or false: whether it is > 0")
    nonnegative: bool = Field(default=False, description="true or false: whether it is >= 0")
    integer: bool = Field(
        default=False,
        description="true or false: whether it is a size, as in contexts = "
        '"C"; it needs a value, and results are then asked for every size',
    )
    minimum: _Said = _NO_NAMES
    maximum: _Said = _NO_NAMES
    value: _Said = Field(
        default=None, description="a number without names, used where numbers are needed"
    )


class _SwitchModel(StrictModel):
    """``then``: the gate that a pathway takes at a step of the training."""

    step: int = _whole(_MAX_STEPS, "the first update made with this gate, ")
    gate: SwitchGate = Field(description='"all", a formula over labels, or a list of 0 and 1')


def _ascending(then: list[_SwitchModel]) -> list[_SwitchModel]:
    for place, (before, after) in enumerate(pairwise(then), start=1):
        found, path = f"step {after.step} after step {before.step}", f"[{place}].step"
        need(after.step > before.step, found, "ascending steps", path=path)
    return then


class PathwayModel(StrictModel):
    """``[[pathway]]``: one pathway of the gated deep linear network."""

    name: Name = _NAME
    each: str | None = _EACH
    # Before the gate, which may be closed where another one follows.
    then: Annotated[list[_SwitchModel], AfterValidator(_ascending)] = Field(
        default_factory=list,
        max_length=_MAX_SWITCHES,
        description="gates that the pathway takes later, as in "
        'then = [{step = 800, gate = "context != 1"}]',
    )
    gate: PathwayGate = Field(
        default="all",  # type: ignore[assignment]  # read as every other value
        description='"all", a formula over labels, or a list of 0, 1, gains such as "g", and "/" '
        "for a sample to which the pathway's inputs are made orthogonal",
    )
    inputs: Inputs = _indices("input")
    outputs: Outputs = _indices("output")
    stage: int = _whole(100, default=1)
    hidden: int | None = _whole(
        MAX_HIDDEN, "hidden units of this pathway in place of network.hidden, ", default=None
    )


class NodeModel(StrictModel):
    """``[[node]]``: a layer of a graph, or a part of one."""

    name: Name = _NAME
    each: str | None = _EACH
    size: int | None = _whole(
        MAX_HIDDEN, "units of a hidden node, network.hidden by default, ", default=None
    )
    gate: GateEntries = _GATE
    inputs: Inputs | None = _indices("input", None, "of an input node: ")
    outputs: Outputs | None = _indices("output", None, "of an output node: ")


class EdgeModel(StrictModel):
    """``[[edge]]``: weights from one node of a graph to another."""

    source: str = Field(alias="from", description="the name of a node that is no output")
    target: str = Field(alias="to", description="the name of a node that is no input")
    name: EdgeName = Field(default="", description='a unique name; "from → to" by default')
    each: str | None = _EACH
    gate: GateEntries = _GATE


class NetworkModel(StrictModel):
    """``[network]``: the network that is predicted and trained."""

    hidden: int = _whole(MAX_HIDDEN, "hidden units, ")
    init_std: Spreads = Field(
        description="standard deviation of the initial weights, a number above 0, or a list of "
        "two, of the first and of the second layer"
    )
    layers: int = _whole(1000, "layers of weights of a pathway, ", default=2)
    weight_decay: Annotated[Constant, Field(ge=0)] = Field(
        default=0,  # type: ignore[assignment]  # read as every other value
        description="lambda, a number from 0 on: lambda/2 times the sum of all squared weights is "
        "added to the mean loss (to a sum, P times that)",
    )
    learning_rate: Positive = Field(description="a number above 0")
    strength0: Positive | None = Field(
        default=None,
        description="initial strength of every mode, a number above 0, in place of that which "
        "follows from the weights",
    )
    batch_size: int | None = _whole(
        _MAX_BATCH, "samples of a training step, all by default as in the theory, ", default=None
    )
    loss: Literal["sum", "mean"] = Field(default="sum", description='"sum" or "mean"')
    steps: int = _whole(_MAX_STEPS, "recorded losses, step 0 included, ")
    activation: Literal["relu", "linear"] = Field(default="relu", description='"relu" or "linear"')
    training: Literal["joint", "staged"] | None = Field(
        default=None,
        description='"joint" or "staged"; staged by default where a stage is above 1',
    )


class ValidationModel(StrictModel):
    """``[validation]``: when theory and training count as agreeing."""

    tolerance: Share = Field(
        description='largest max |ΔL|/L(0), a number above 0, at most 1, or in percent as "5%"'
    )
    reason: Annotated[str, AfterValidator(lambda x: check_text(x, longest=TITLE_LENGTH))] = Field(
        description="the reason for this tolerance, a text in quotes"
    )


class _GroupsModel(StrictModel):
    """``[dataset.groups]``: named groups of inputs and of outputs."""

    inputs: dict[str, Any] = Field(default={}, description="a table of lists of input indices")
    outputs: dict[str, Any] = Field(default={}, description="a table of lists of output indices")


class _NamesModel(StrictModel):
    """``[dataset.names]``: what every input and every output is called."""

    inputs: list[str] = Field(default=[], description="a list of texts, one an input")
    outputs: list[str] = Field(default=[], description="a list of texts, one an output")


class UserDatasetModel(StrictModel):
    """``[dataset]`` with a user's own data: matrices, CSV files, or an NPZ file."""

    X: Matrix | None = Field(default=None, description="a list of rows, one a feature")
    Y: Matrix | None = Field(default=None, description="a list of rows, one an output")
    inputs: str | None = Field(default=None, description="name of a CSV file, one row a sample")
    targets: str | None = Field(default=None, description="name of a CSV file, one row a sample")
    data: str | None = Field(
        default=None, description="name of an NPZ file with X and Y, one row a sample"
    )
    header: bool | None = Field(
        default=None, description="true or false: whether first rows of CSV files are names"
    )
    labels: dict[str, Any] = Field(default={}, description="a table of lists, one entry a sample")
    groups: _GroupsModel = Field(
        default={},  # type: ignore[assignment]  # read as every other value
        description="a table with the tables inputs and outputs",
    )
    names: _NamesModel = Field(
        default={},  # type: ignore[assignment]
        description="a table with the lists inputs and outputs: what they are called",
    )


class GatesModel(StrictModel):
    """``[gates]``: where gates come from that are not given."""

    find: Literal["data"] | None = Field(
        default=None, description='"data": gates come from the data, without any [[pathway]]'
    )
    found: Literal["data"] | None = Field(
        default=None, description='"data": every [[pathway]] was found in the data before'
    )


class SpecModel(StrictModel):
    """A spec file."""

    title: str = Field(default="", description="a text in quotes")
    dataset: dict[str, Any] = Field(description="a table: [dataset] with a task or your own data")
    parameters: dict[str, ParameterModel] = Field(
        default={}, description="tables: [parameters.NAME]"
    )
    pathway: list[PathwayModel] = Field(
        default=[], description="tables [[pathway]]; without any, gates come from the data"
    )
    gates: GatesModel | None = Field(default=None, description="a table: [gates]")
    node: list[NodeModel] = Field(default=[], description="tables [[node]]: the nodes of a graph")
    edge: list[EdgeModel] = Field(default=[], description="tables [[edge]]: the edges of a graph")
    network: NetworkModel | None = Field(default=None, description="a table: [network]")
    validation: ValidationModel | None = Field(default=None, description="a table: [validation]")


class _ForToml(GenerateJsonSchema):
    """A schema without null, which TOML does not have, and without titles made of names."""

    def nullable_schema(self, schema: Any) -> dict[str, Any]:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: Any) -> dict[str, Any]:
        found = super().default_schema(schema)
        return {key: value for key, value in found.items() if (key, value) != ("default", None)}

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def json_schema(tasks: Iterable[Task]) -> dict[str, Any]:
    """Return the JSON Schema of a spec file, for editors and for ``symreln schema``.

    Args:
        tasks: Those that ``dataset.task`` may name.
    """
    schema = SpecModel.model_json_schema(schema_generator=_ForToml)
    models: list[type[StrictModel]] = [UserDatasetModel]
    for task in tasks:
        name = "".join(part.capitalize() for part in task.name.split("-"))
        field: Any = (Literal[task.name], Field(description=task.summary))  # type: ignore[valid-type]
        models.append(create_model(f"{name}Dataset", __base__=task.options, task=field))
    for model in models:
        own = model.model_json_schema(schema_generator=_ForToml)
        schema["$defs"] |= own.pop("$defs", {}) | {model.__name__: own}
    datasets = [{"$ref": f"#/$defs/{model.__name__}"} for model in models]
    schema["properties"]["dataset"] = {"anyOf": datasets}
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return {**schema, "title": "symreln spec"}
