"""What a checked spec is: dataset, parameters, pathways, network.

The reader in :mod:`symreln.specs.reader` builds these from tables; everything behind the door may
trust them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from symreln.base.records import Immutable, record
from symreln.exact.domain import Range
from symreln.exact.scalar import Scalar
from symreln.networks.dataset import Dataset
from symreln.networks.gdln import Network
from symreln.networks.pathway import PathwaySpec, network_of
from symreln.networks.shared_edges import EdgeData, Sharing

if TYPE_CHECKING:
    import sympy as sp


@record
class Parameter:
    """A declared symbol.

    Attributes:
        name: An identifier, in all formulas and results.
        given: What the spec calls it: the same, but where formulas use that for something else
            (:mod:`symreln.specs.letters`).
        positive: Whether it is assumed > 0.
        nonnegative: Whether it is assumed >= 0.
        minimum: Smallest value allowed, or None.
        maximum: Largest value allowed, or None.
        value: The value used where numbers are needed, or None.
        integer: Whether it is a size (of contexts, of items) rather than a symbol of the data: the
            derivation is asked for every value of it, and all else is as at ``value``.
        option: The task's option that it then stands for: "contexts" or "items".

    Example:
        >>> import symreln as sr
        >>> (parameter,) = sr.load("xor").parameters
        >>> parameter.symbol, parameter.value
        (Delta, Fraction(0, 1))
    """

    name: str
    given: str = field(default="", compare=False)
    positive: bool = False
    nonnegative: bool = False
    integer: bool = False
    option: str = ""
    minimum: Fraction | None = None
    maximum: Fraction | None = None
    value: Fraction | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "given", self.given or self.name)

    @property
    def is_nonnegative(self) -> bool:
        """Whether it is >= 0 by what is declared."""
        least = self.minimum is not None and self.minimum >= 0
        return self.positive or self.nonnegative or least

    @property
    def range(self) -> Range:
        """Where it may lie."""
        low = self.minimum
        if self.positive or self.nonnegative:
            low = max(Fraction(0), low or Fraction(0))
        return Range(
            name=self.name, low=low, open_low=self.positive and low == 0, high=self.maximum
        )

    @property
    def symbol(self) -> sp.Symbol:
        """The SymPy symbol with the declared assumptions (real in any case)."""
        import sympy as sp

        if self.integer:
            return sp.Symbol(self.name, integer=True, positive=True)
        positive = self.positive or (self.minimum or 0) > 0
        sign = "positive" if positive else "nonnegative" if self.is_nonnegative else "real"
        return sp.Symbol(self.name, **{sign: True})


@record
class PathwayFamily:
    """Pathways that are written as one entry with ``each``: one for every value of a label.

    Attributes:
        members: Indices of the members in ``Spec.pathways``, in the order of the values.
        name: Template of the names, ``{label}`` standing for the value.
        gate: Template of the gates' text.
        inputs: Template of the inputs' text.
        outputs: Template of the outputs' text.
    """

    members: tuple[int, ...]
    name: str
    gate: str
    inputs: str = "all"
    outputs: str = "all"


@record
class NetworkSpec:
    """The network that is trained and predicted.

    Attributes:
        hidden: H, hidden units of the network that is imitated.
        init_std: Standard deviation of every initial weight, exact; of the first layer's where
            ``init_std_out`` is given.
        learning_rate: Step size of full-batch gradient descent, exact.
        loss: "sum" (over samples) or "mean"; it decides the time
            constant, 1/learning_rate of a mean and 1/(P learning_rate) of a sum.
        steps: Number of recorded steps, the initial state included.
        activation: "relu", or "linear" for a deep linear network.
        training: "joint", or "staged": later stages learn what the converged earlier ones left.
        layers: Layers of weights of every pathway.
        weight_decay: lambda; lambda/2 times the sum of all squared weights is added to the mean
            loss, P times that to a sum.
        init_std_out: Standard deviation of the second layer's initial weights, or None where it
            is the first layer's.
        strength0: Initial strength of every mode in formulas and predictions, in place of that
            which follows from the weights; None by default.
        batch_size: Samples of a training step; None for all, which the theory is of.

    Example:
        >>> import symreln as sr
        >>> network = sr.load("linear-hierarchy").network
        >>> network.hidden, network.tau(samples=8)
        (100, Fraction(25, 2))
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
    strength0: Fraction | None = None
    batch_size: int | None = None

    @property
    def stds(self) -> tuple[Fraction, Fraction]:
        """Standard deviations of the initial weights of the first and of the last layer."""
        return self.init_std, self.init_std if self.init_std_out is None else self.init_std_out

    @property
    def unusual(self) -> tuple[str, ...]:
        """The keys by which it is not two layers of equal initial scale without weight decay."""
        found = {
            "layers": self.layers != 2,
            "weight_decay": self.weight_decay != 0,
            "init_std": self.init_std_out is not None,
        }
        return tuple(name for name, differs in found.items() if differs)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that describe it: those of every network, and what is unusual of this one."""
        every = ("hidden", "init_std", "learning_rate", "loss", "steps", "activation", "training")
        optional = ("init_std_out", "strength0", "batch_size")
        given = (key for key in optional if getattr(self, key) is not None)
        return (*every, *(key for key in self.unusual if key not in every), *given)

    def tau(self, samples: int) -> Fraction:
        """Time constant in steps: 1/learning_rate for "mean", 1/(P learning_rate) for "sum"."""
        rate = self.learning_rate * (samples if self.loss == "sum" else 1)
        return 1 / rate


@record
class ValidationSpec:
    """When theory and training count as agreeing.

    Attributes:
        tolerance: Largest allowed ``max |ΔL|/L(0)`` between theory and a trained network.
        reason: Why this tolerance.

    Example:
        >>> import symreln as sr
        >>> sr.ValidationSpec().tolerance
        Fraction(1, 20)
    """

    tolerance: Fraction = Fraction(1, 20)
    reason: str = (
        "a difference above 5 % of the initial loss is plain to the eye in a figure of the curve"
    )


@record
class Spec(Immutable):
    """A checked spec: the only thing that the derivation takes.

    Attributes:
        title: Title of the derivation.
        dataset: Inputs and targets.
        parameters: Declared symbols that occur in the data or in gates, in the order declared.
        pathways: At least one, in the order given.
        network: The network to predict and train, or None for a derivation only.
        validation: Tolerance of the confrontation.
        source: Where the spec came from (a file name or a task's name).
        sizes: Parameters that stand for sizes of the task.
        families: Pathways written as one entry with ``each``.
        graph: The nodes and edges of which ``pathways`` are the gated paths, or None where
            pathways were given one by one, with one hidden layer each.
        find: "data" where gates come from the data: pathways are those found, none before that.

    Example:
        >>> import symreln as sr
        >>> spec = sr.load("contextual-3")
        >>> [pathway.name for pathway in spec.pathways], spec.values
        (['common', 'off_1', 'off_2', 'off_3'], {'c': Fraction(1, 1)})
    """

    title: str = "Untitled derivation"
    dataset: Dataset
    parameters: tuple[Parameter, ...] = ()
    pathways: tuple[PathwaySpec, ...]
    network: NetworkSpec | None = None
    validation: ValidationSpec = field(default_factory=ValidationSpec)
    source: str = ""
    sizes: tuple[Parameter, ...] = ()
    families: tuple[PathwayFamily, ...] = ()
    graph: Network | None = None
    find: str = ""

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
        if self.graph is not None:
            return self.graph
        if self.network is None:
            return network_of(self.pathways)
        return network_of(self.pathways, layers=self.network.layers, hidden=self.network.hidden)

    @property
    def gated_only(self) -> str:
        """Why no network without gates is trained beside the gated one, or ""."""
        if self.graph is not None:
            return "the nodes of a graph are gated as given, which no ReLU network is"
        gains = "no ReLU network realises the gains of {}, so that none was trained"
        units = "hidden units of {} alone are a gated network's, so that no network without gates "
        for why, key in ((gains, "has_gains"), (f"{units}was trained", "hidden")):
            names = [repr(each.name) for each in self.pathways if getattr(each, key)]
            if names:
                return why.format(", ".join(names))
        return ""

    def wider(self, factor: int) -> Spec:
        """Return the spec with so many times the hidden units, where pathways or nodes say them."""
        pathways = tuple(
            replace(p, hidden=None if p.hidden is None else p.hidden * factor)
            for p in self.pathways
        )
        graph = self.graph
        if graph is not None:
            nodes = (replace(n, size=n.size * (factor if n.is_hidden else 1)) for n in graph.nodes)
            graph = replace(graph, nodes=tuple(nodes))
        return replace(self, pathways=pathways, graph=graph)

    @cached_property
    def edges(self) -> EdgeData:
        """The paths of :attr:`network_graph`, and the correlations that drive its edges."""
        return EdgeData(graph=self.network_graph, dataset=self.dataset)

    @cached_property
    def sharing(self) -> Sharing | str:
        """How pathways share edges, those written one by one none; or why no list says it."""
        if self.graph is not None:
            return self.edges.sharing
        layers = 2 if self.network is None else self.network.layers
        return Sharing(uses=(1,) * layers, paths=1, widths=())

    @property
    def letters(self) -> tuple[str, ...]:
        """Names of the parameters that occur in the data or in gates, in the order declared."""
        matrices = (self.dataset.inputs, self.dataset.targets)
        gains = {g for pathway in self.pathways for g in pathway.gate if isinstance(g, Scalar)}
        parts = [(m.parameters, (*m.terms, *m.denominator.to_dict())) for m in matrices]
        parts += [(g.parameters, (*g.numerator.to_dict(), *g.denominator.to_dict())) for g in gains]
        powers = [zip(names, key, strict=True) for names, keys in parts for key in keys]
        used = {name for each in powers for name, power in each if int(power)}
        return tuple(dict.fromkeys(n for names, _ in parts for n in names if n in used))

    @property
    def values(self) -> dict[str, Fraction]:
        """Declared values of the parameters that have one."""
        return {p.name: p.value for p in self.parameters if p.value is not None}

    @property
    def has_values(self) -> bool:
        """Whether every parameter has a declared value."""
        return all(p.value is not None for p in self.parameters)

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

    @property
    def is_one_map(self) -> bool:
        """Whether its only pathway is all of a linear network: open throughout, from end to end."""
        if len(self.pathways) != 1:
            return False
        (first,) = self.pathways
        whole = (len(first.inputs), len(first.outputs)) == (self.dataset.n_x, self.dataset.n_y)
        return whole and not first.then and all(gain == 1 for gain in first.gate)

    def during(self, step: int) -> Spec:
        """Return the spec with the gates that an update at ``step`` is made with, for good."""
        return replace(self, pathways=tuple(path.during(step) for path in self.pathways))

    def at_values(self) -> Spec:
        """Return the spec with every parameter that has a value replaced by it."""
        return self.at(self.values)

    def at(self, values: Mapping[str, Fraction]) -> Spec:
        """Return the spec with parameters replaced by values."""
        dataset = replace(
            self.dataset,
            inputs=self.dataset.inputs.substitute(values),
            targets=self.dataset.targets.substitute(values),
        )
        left = tuple(p for p in self.parameters if p.name not in values)
        pathways = tuple(pathway.at(values) for pathway in self.pathways)
        graph = None if self.graph is None else self.graph.at(values)
        return replace(self, dataset=dataset, parameters=left, pathways=pathways, graph=graph)
