"""What a checked spec is: dataset, parameters, pathways, network.

The reader in :mod:`symreln.spec.reader` builds these from tables; everything behind the door may
trust them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from symreln.exact.sparse import SparseMatrix
from symreln.network.model import Network, Path
from symreln.network.parts import Edge, Gain, Node, Switch, gate_at
from symreln.summaries import short_repr

if TYPE_CHECKING:
    import sympy as sp

Label = int | str


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
    def is_nonnegative(self) -> bool:
        """Whether it is >= 0 by what is declared."""
        least = self.minimum is not None and self.minimum >= 0
        return self.positive or self.nonnegative or least

    @property
    def symbol(self) -> sp.Symbol:
        """The SymPy symbol with the declared assumptions (real in any case)."""
        import sympy as sp

        if self.positive or (self.minimum is not None and self.minimum > 0):
            return sp.Symbol(self.name, positive=True)
        if self.is_nonnegative:
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

    @classmethod
    def along(cls, network: Network, path: Path) -> PathwaySpec:
        """Return what a path of a network applies to the dataset: its gate, inputs and outputs."""
        source, target = network.node(path.source), network.node(path.target)
        return cls(
            name=network.name(path),
            gate=path.gate,
            gate_text="product of the gates on its nodes and edges",
            inputs=source.inputs,
            inputs_text=source.inputs_text or "all",
            outputs=target.outputs,
            outputs_text=target.outputs_text or "all",
        )

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
        return replace(self, gate=gate_at(self.gate, values)) if self.has_gains else self

    def during(self, step: int) -> PathwaySpec:
        """Return the pathway with the gate that an update at ``step`` is made with, for good."""
        taken = [switch for switch in self.then if switch.step <= step]
        if not taken:
            return replace(self, then=())
        return replace(self, gate=taken[-1].gate, gate_text=taken[-1].gate_text, then=())


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
    graph: Network | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "written", _frozen(self.written))

    @cached_property
    def network_graph(self) -> Network:
        """The network as nodes and edges, however the spec is written: ``.paths(P)`` are its paths.

        That of a graph is ``graph``. A [[pathway]] is shorthand for two edges through a node of
        its own, which has its name, gate, stage and units (L - 1 nodes where the network has L
        layers, and a gated edge where it has one). Nodes that hold the same inputs or outputs are
        one, called "x: all" or "y: context_1". Where nothing says how many units a node has, they
        are as many as every map between its ends needs.

        New code asks this alone, and ``dataset``; ``pathways`` and ``graph`` are its two spellings.
        """
        return self.graph or _network(self.pathways, self.network)

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


def _network(pathways: tuple[PathwaySpec, ...], network: NetworkSpec | None) -> Network:
    """Return the nodes and edges for which pathways are shorthand."""
    layers = 2 if network is None else network.layers
    taken = {pathway.name for pathway in pathways}

    def free(name: str) -> str:
        while name in taken:
            name += "'"
        taken.add(name)
        return name

    ends: dict[tuple[str, tuple[int, ...]], Node] = {}
    hidden: list[Node] = []
    edges: list[Edge] = []
    for path in pathways:
        for kind in ("inputs", "outputs"):
            indices, text = getattr(path, kind), getattr(path, f"{kind}_text")
            if (kind, indices) not in ends:
                name = free(f"{'x' if kind == 'inputs' else 'y'}: {text}")
                held: dict[str, Any] = {kind: indices, f"{kind}_text": text}
                ends[kind, indices] = Node(name=name, size=len(indices), **held)
        fewest = min(len(path.inputs), len(path.outputs))
        size = path.hidden or (fewest if network is None else network.hidden)
        gate = None if all(gain == 1 for gain in path.gate) else path.gate
        own = [path.name, *(free(f"{path.name} ({layer})") for layer in range(2, layers))]
        trail = [ends["inputs", path.inputs].name, ends["outputs", path.outputs].name]
        if layers == 1:
            source, target = trail
            edges.append(
                Edge(
                    name=path.name,
                    source=source,
                    target=target,
                    gate=gate,
                    gate_text=path.gate_text,
                )
            )
            continue
        first = Node(
            name=path.name,
            size=size,
            gate=gate,
            gate_text=path.gate_text,
            stage=path.stage,
            boundary=path.boundary,
            then=path.then,
        )
        hidden += [first, *(Node(name=name, size=size) for name in own[1:])]
        trail[1:1] = own
        edges += [Edge(name=f"{a} → {b}", source=a, target=b) for a, b in pairwise(trail)]
    inputs = [node for node in ends.values() if node.inputs]
    outputs = [node for node in ends.values() if node.outputs]
    return Network(nodes=(*inputs, *hidden, *outputs), edges=tuple(edges))
