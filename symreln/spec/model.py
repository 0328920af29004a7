"""What a checked spec is: dataset, parameters, pathways, network.

The reader in :mod:`symreln.spec.reader` builds these from TOML or from Python objects; everything
behind the door may trust them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from symreln.base.summaries import short_repr
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from symreln.exact.sparse import SparseMatrix

if TYPE_CHECKING:
    import sympy as sp

    from symreln.graphs.model import Graph

Label = int | str
Gain = int | Scalar
"""What a gate multiplies a sample by: 0, 1, or a gain in the declared parameters."""


def _frozen(mapping: Mapping) -> Mapping:
    return MappingProxyType(dict(mapping))


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A declared symbol.

    Attributes:
        name: An identifier.
        positive: Whether it is assumed > 0.
        nonnegative: Whether it is assumed >= 0.
        minimum: Smallest value allowed, or None.
        maximum: Largest value allowed, or None.
        value: The value used where numbers are needed, or None.
        integer: Whether it is a size (of contexts, of items) rather than a symbol of the data.
    """

    name: str
    positive: bool = False
    nonnegative: bool = False
    integer: bool = False
    minimum: Fraction | None = None
    maximum: Fraction | None = None
    value: Fraction | None = None

    @property
    def symbol(self) -> sp.Symbol:
        """The SymPy symbol with the declared assumptions (real in any case)."""
        import sympy as sp

        if self.positive or (self.minimum is not None and self.minimum > 0):
            return sp.Symbol(self.name, positive=True)
        if self.nonnegative or self.minimum == 0:
            return sp.Symbol(self.name, nonnegative=True)
        return sp.Symbol(self.name, real=True)


@dataclass(frozen=True, kw_only=True)
class SizeSymbol:
    """A size of a task for which a symbol stands: the derivation is asked for every value of it.

    Everything else in a :class:`Spec` is the ordinary spec at ``value``.

    Attributes:
        name: An identifier, declared with ``integer = true``.
        option: The task's option that it stands for: "contexts" or "items".
        minimum: Smallest value, at least what the option allows.
        maximum: Largest value, or None.
        value: The size at which numbers are computed and networks trained.
    """

    name: str
    option: str
    minimum: int
    maximum: int | None = None
    value: int

    @property
    def symbol(self) -> sp.Symbol:
        """The SymPy symbol: a positive integer."""
        import sympy as sp

        return sp.Symbol(self.name, integer=True, positive=True)


@short_repr
@dataclass(frozen=True, kw_only=True)
class PathwayFamily:
    """Pathways that are written as one entry with ``each``: one for every value of a label.

    Attributes:
        label: The label that ``each`` names.
        values: Its values, one a member, in the order in which they occur.
        members: Indices of the members in ``Spec.pathways``, in the same order.
        name: Template of the names, ``{label}`` standing for the value.
        gate: Template of the gates' text.
        inputs: Template of the inputs' text.
        outputs: Template of the outputs' text.
        stage: Training stage of all of them.
    """

    label: str
    values: tuple[Label, ...]
    members: tuple[int, ...]
    name: str
    gate: str
    inputs: str = "all"
    outputs: str = "all"
    stage: int = 1


@short_repr
@dataclass(frozen=True, kw_only=True)
class Dataset:
    """Inputs and targets, one column a sample.

    Attributes:
        inputs: X, shape (n_x, P), exact. Tasks give a view of a sparse matrix, dense when needed.
        targets: Y, shape (n_y, P), exact; likewise.
        labels: Labels of the samples, each of length P, for gate formulas.
        input_groups: Named groups of input indices.
        output_groups: Named groups of output indices.
        description: One sentence on where the data comes from.
        task: Name in the registry, or "" for a user's own data.
        options: The task's options as text, for the provenance table.
    """

    inputs: ExactMatrix
    targets: ExactMatrix
    labels: Mapping[str, tuple[Label, ...]] = field(default_factory=dict)
    input_groups: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    output_groups: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    description: str = ""
    task: str = ""
    options: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("labels", "input_groups", "output_groups", "options"):
            object.__setattr__(self, name, _frozen(getattr(self, name)))

    @cached_property
    def sparse_inputs(self) -> SparseMatrix:
        """X without its zeros."""
        return SparseMatrix.from_exact(self.inputs)

    @cached_property
    def sparse_targets(self) -> SparseMatrix:
        """Y without its zeros."""
        return SparseMatrix.from_exact(self.targets)

    @property
    def samples(self) -> int:
        """P, the number of samples."""
        return self.inputs.shape[1]

    @property
    def n_x(self) -> int:
        """The number of inputs."""
        return self.inputs.shape[0]

    @property
    def n_y(self) -> int:
        """The number of outputs."""
        return self.targets.shape[0]


@short_repr
@dataclass(frozen=True, kw_only=True)
class Switch:
    """A gate that a pathway takes during the training.

    Attributes:
        step: The first update that is made with it, from 1.
        gate: 0 or 1 a sample, length P.
        gate_text: What the user wrote for it.
    """

    step: int
    gate: tuple[Gain, ...]
    gate_text: str


@short_repr
@dataclass(frozen=True, kw_only=True)
class PathwaySpec:
    """One pathway of the gated deep linear network, as asked for.

    Attributes:
        name: Unique name.
        gate: 0, 1 or an exact gain for every sample, length P.
        gate_text: What the user wrote for it.
        inputs: Indices of the inputs that the pathway sees, ascending.
        inputs_text: What the user wrote for them ("all", a group's name, or a list).
        outputs: Indices of the outputs that it writes to, ascending.
        outputs_text: What the user wrote for them.
        stage: Training stage, from 1.
        hidden: Hidden units of its own, or None for what the network gives to every pathway.
        boundary: Samples to which the pathway's inputs are made orthogonal, written / in its gate:
            it sees Π X, Π the projector on the complement of their inputs. Units of a partial gate
            have a pre-activation of 0 on them; see :mod:`symreln.gates.partial`.
        then: Gates that it takes later, by ascending step.
    """

    name: str
    gate: tuple[Gain, ...]
    gate_text: str = "all"
    inputs: tuple[int, ...]
    inputs_text: str = "all"
    outputs: tuple[int, ...]
    outputs_text: str = "all"
    stage: int = 1
    hidden: int | None = None
    boundary: tuple[int, ...] = ()
    then: tuple[Switch, ...] = ()

    @property
    def open_samples(self) -> tuple[int, ...]:
        """Indices of the samples on which the gate is not identically 0."""
        return tuple(index for index, value in enumerate(self.gate) if value != 0)

    @property
    def has_gains(self) -> bool:
        """Whether the gate takes other values than 0 and 1, which no ReLU gives."""
        return any(issubclass(kind, Scalar) for kind in set(map(type, self.gate)))

    def at(self, values: Mapping[str, Fraction]) -> PathwaySpec:
        """Return the pathway with parameters in its gains replaced by values.

        Raises:
            ZeroDivisionError: A gain is infinite there.
        """
        if not self.has_gains:
            return self
        return replace(self, gate=tuple(_gain_at(value, values) for value in self.gate))

    def during(self, step: int) -> PathwaySpec:
        """Return the pathway with the gate that an update at ``step`` is made with, for good."""
        taken = [switch for switch in self.then if switch.step <= step]
        if not taken:
            return replace(self, then=())
        return replace(self, gate=taken[-1].gate, gate_text=taken[-1].gate_text, then=())


def _gain_at(value: Gain, values: Mapping[str, Fraction]) -> Gain:
    """Return a gain at values, as 0 or 1 where it is one of them."""
    if isinstance(value, int):
        return value
    value = value.substitute(values)
    return int(value.to_fraction()) if value == 0 or value == 1 else value


@dataclass(frozen=True, kw_only=True)
class NetworkSpec:
    """The network that is trained and predicted.

    Attributes:
        hidden: H, hidden units of the network that is imitated.
        init_std: Standard deviation of every initial weight, exact; of the first layer's where
            ``init_std_out`` is given.
        learning_rate: Step size of full-batch gradient descent, exact.
        loss: "sum" (over samples) or "mean"; it decides the time constant, theory.md 1.
        steps: Number of recorded steps, the initial state included.
        activation: "relu", or "linear" for a deep linear network.
        training: "joint" or "staged", theory.md 2.
        layers: Layers of weights of every pathway.
        weight_decay: lambda; lambda/2 times the sum of all squared weights is added to the mean
            loss, P times that to a sum.
        init_std_out: Standard deviation of the second layer's initial weights, or None where it
            is the first layer's.
    """

    hidden: int
    init_std: Fraction
    learning_rate: Fraction
    loss: Literal["sum", "mean"] = "sum"
    steps: int
    activation: Literal["relu", "linear"] = "relu"
    training: Literal["joint", "staged"] = "joint"
    layers: int = 2
    weight_decay: Fraction = Fraction(0)
    init_std_out: Fraction | None = None

    @property
    def unusual(self) -> tuple[str, ...]:
        """The keys by which it differs from two layers that start alike without weight decay."""
        found = {
            "layers": self.layers != 2,
            "weight_decay": self.weight_decay != 0,
            "init_std": self.init_std_out is not None,
        }
        return tuple(name for name, differs in found.items() if differs)

    def tau(self, samples: int) -> Fraction:
        """Time constant in steps: 1/learning_rate for "mean", 1/(P learning_rate) for "sum"."""
        rate = self.learning_rate * (samples if self.loss == "sum" else 1)
        return 1 / rate


@dataclass(frozen=True, kw_only=True)
class ValidationSpec:
    """When theory and training count as agreeing.

    Attributes:
        tolerance: Largest allowed max |ΔL|/L(0) between theory and a trained network.
        reason: Why this tolerance.
    """

    tolerance: Fraction = Fraction(1, 20)
    reason: str = (
        "a difference above 5 % of the initial loss is plain to the eye in a figure of the curve"
    )


@short_repr
@dataclass(frozen=True, kw_only=True)
class Spec:
    """A checked spec: the only thing that the derivation takes.

    Attributes:
        title: Title of the derivation.
        dataset: Inputs and targets.
        parameters: Declared symbols that occur in the data or in gates, in the order declared.
        pathways: At least one, in the order given.
        network: The network to predict and train, or None for a derivation only.
        validation: Tolerance of the confrontation.
        source: Where the spec came from (a file name or a task's name).
        sizes: Symbols that stand for sizes of the task; the spec is the ordinary one at their
            values, and the derivation is asked for every size.
        families: Pathways written as one entry with ``each``.
        written: The task's options as written, where there are sizes: "c/C" where the dataset
            holds c/3.
        graph: The nodes and edges of which ``pathways`` are the gated paths, or None where
            pathways were given one by one, with one hidden layer each.
    """

    title: str = "Untitled derivation"
    dataset: Dataset
    parameters: tuple[Parameter, ...] = ()
    pathways: tuple[PathwaySpec, ...]
    network: NetworkSpec | None = None
    validation: ValidationSpec = field(default_factory=ValidationSpec)
    source: str = ""
    sizes: tuple[SizeSymbol, ...] = ()
    families: tuple[PathwayFamily, ...] = ()
    written: Mapping[str, str] = field(default_factory=dict)
    graph: Graph | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "written", _frozen(self.written))

    @property
    def values(self) -> dict[str, Fraction]:
        """Declared values of the parameters that have one."""
        return {p.name: p.value for p in self.parameters if p.value is not None}

    @property
    def symbols(self) -> dict[str, sp.Symbol]:
        """SymPy symbols of the parameters, with their assumptions."""
        return {p.name: p.symbol for p in self.parameters}

    @property
    def stages(self) -> tuple[int, ...]:
        """The stages that occur, ascending; (1,) for joint training."""
        if self.network is not None and self.network.training == "joint":
            return (1,)
        return tuple(sorted({pathway.stage for pathway in self.pathways}))

    @property
    def switches(self) -> tuple[int, ...]:
        """Steps at which a gate switches, ascending."""
        return tuple(sorted({each.step for path in self.pathways for each in path.then}))

    def during(self, step: int) -> Spec:
        """Return the spec with the gates that an update at ``step`` is made with, for good."""
        return replace(self, pathways=tuple(path.during(step) for path in self.pathways))

    def at_values(self) -> Spec:
        """Return the spec with every parameter that has a value replaced by it."""
        dataset = replace(
            self.dataset,
            inputs=self.dataset.inputs.substitute(self.values),
            targets=self.dataset.targets.substitute(self.values),
        )
        left = tuple(p for p in self.parameters if p.value is None)
        pathways = tuple(pathway.at(self.values) for pathway in self.pathways)
        graph = None if self.graph is None else self.graph.at(self.values)
        return replace(self, dataset=dataset, parameters=left, pathways=pathways, graph=graph)
