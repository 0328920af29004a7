"""Order of learning by design: which values of a parameter give it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from symreln.api import Derivation, derive
from symreln.base.progress import phase
from symreln.base.summaries import short_repr
from symreln.calls.gates import GateAnswer
from symreln.errors import InputError, NotSupportedError
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.scalar import Scalar
from symreln.gating.mode_orders import DesignReport, design_report
from symreln.specs.arguments import exact_value
from symreln.specs.finding import nearest, shown
from symreln.specs.model import Spec
from symreln.task_library.load import spec_of

if TYPE_CHECKING:
    import os


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class Design(GateAnswer):
    """What :func:`symreln.design` found.

    Attributes:
        found: The order on every interval of the parameter.
    """

    found: DesignReport

    def at(self, value: Fraction | float | str) -> Spec:
        """Return the spec with a value of the parameter, to derive and train it there.

        A derivation of it numbers modes anew, by decreasing singular value there;
        ``found.labels_at(value)`` says what they are called. Pathways keep their names.

        Args:
            value: A number, exact or a decimal, or a text such as "1/3".

        Raises:
            InputError: It is no number, or outside of what is declared.
        """
        name = self.found.parameter
        number = exact_value(value, "design: value", "give a number such as 2 or Fraction(1, 3)")
        limits = next(each.range for each in self.spec.parameters if each.name == name)
        if not limits.contains(AlgebraicNumber.rational(Scalar.of(number, ()))):
            msg = f"design: value: found {number}, but {limits.text} is declared"
            raise InputError(msg)
        return _valued(self.spec, {name: number})


def design(
    spec: Spec | str | os.PathLike[str], order: Sequence[str], *, over: str | None = None
) -> Design:
    """Find for which values of a parameter modes are learned in a wanted order, exactly.

    In the limit of small initial weights modes that start together are learned by decreasing
    singular value, and two can change places only where these are equal.

    Args:
        spec: A spec with a parameter, its file or its name; other parameters take their values.
        order: Labels of modes such as "pi_1_2", or names of pathways, which stand for their first
            mode; the one to be learned first comes first.
        over: The parameter; the only one by default.

    Raises:
        InputError: No parameter is meant, or a name is not known.
        NotSupportedError: A graph; a mode that has no closed form of its own, or is of a later
            stage.

    Example:
        >>> import symreln as sr
        >>> spec = sr.spec([[1, 0], [0, 1]], [["a", 0], [0, 1]],
        ...                pathways=[sr.pathway("shared")], parameters={"a": {"positive": True}})
        >>> found = sr.design(spec, ["pi_1_2", "pi_1_1"], over="a")
        >>> [str(value) for value in found.found.witnesses]
        ['1/2']
    """
    given = spec_of(spec, "design")
    if isinstance(order, str) or not all(isinstance(name, str) for name in order):
        msg = f"design: found {order!r} as order. Give names, for example ['pi_1_2', 'pi_1_1']"
        raise InputError(msg)
    if given.graph is not None:
        msg = "design: the spec has nodes and edges. Orders are of modes of pathways"
        raise NotSupportedError(msg)
    names = [parameter.name for parameter in given.parameters]
    over = names[0] if over is None and len(names) == 1 else over
    if over not in names:
        found = "no parameter" if over is None else shown(over)
        msg = f"design: found {found}, expected a parameter of the spec. "
        raise InputError(msg + (nearest(str(over), names) if names else "It has none"))
    with phase("design"):
        left = [p.name for p in given.parameters if p.value is None and p.name != over]
        if left:
            msg = f"design: {left[0]} has no value. Declare one; only {over} stays open"
            raise InputError(msg)
        derivation = derive(_free(given, over))
        assert isinstance(derivation, Derivation)
        return Design(found=design_report(derivation, over, order), spec=given)


def _valued(spec: Spec, values: dict[str, Fraction]) -> Spec:
    """Return a spec with other declared values."""
    changed = tuple(
        replace(p, value=values[p.name]) if p.name in values else p for p in spec.parameters
    )
    return replace(spec, parameters=changed)


def _free(spec: Spec, over: str) -> Spec:
    """Return a spec of which all parameters but one have been put in."""
    own = next(p for p in spec.parameters if p.name == over)
    open_ = tuple(replace(p, value=None) if p is own else p for p in spec.parameters)
    # With its value again: labels number modes as they are ordered there.
    return replace(replace(spec, parameters=open_).at_values(), parameters=(own,))
