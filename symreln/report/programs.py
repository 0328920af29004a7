"""The closed forms of a derivation as a module of Python that imports NumPy, JAX or PyTorch alone.

Strengths are written in the form that the program itself evaluates, which neither overflows nor
cancels: with e^{−x}, e^{−x} − 1 and ln(1 + x). SymPy prints it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, reduce
from typing import Any, Literal

import sympy as sp
from sympy.printing.numpy import NumPyPrinter

from symreln.base.records import record
from symreln.claims.derivation import Derivation, ModeDerivation
from symreln.claims.formulas import (
    LOSS,
    Alike,
    Formula,
    Formulas,
    Letter,
    evaluated_strength,
    formulas_of,
)
from symreln.errors import InputError
from symreln.laws.law import TIME, Law
from symreln.laws.ops import EVALUATED
from symreln.report.numeric_formula import NumericFormula, has_room, in_floats
from symreln.specs.finding import nearest, shown

Library = Literal["numpy", "jax", "torch"]

#: Characters of a function's arguments that stand on one line.
_WIDTH = 80
#: A docstring's lines are those that are given.
_NO_CONTROL = dict.fromkeys([*range(32), 127], " ")
_TENSORS = """

def _tensors(*values):
    return [torch.as_tensor(each, dtype=torch.float64) for each in values]
"""


_GIVEN = '''

def _given(name, free, following):
    """Return the values of letters, declared ones where none is given."""
    changed = [each for each, (value, _) in free.items() if value is not None]
    left = [each for each, (value, _) in following.items() if value is None]
    if changed and left:
        raise TypeError(
            f"{name}: {', '.join(left)} follows from {', '.join(changed)}: give both, or derive "
            "at the other value"
        )
    return [given if given is not None else own for given, own in {**free, **following}.values()]
'''


class _PythonPrinter(NumPyPrinter):
    """Formulas in a library that has NumPy's names; numbers are Python's.

    SymPy's own types are too narrow for what its printer passes, hence ``Any``.
    """

    def __init__(self, module: str) -> None:
        self._module = module
        self._kf = {
            name: own.replace("numpy.", f"{module}.") for name, own in NumPyPrinter._kf.items()
        }
        super().__init__({"fully_qualified_modules": True})

    def _print_Pow(self, expr: Any, rational: bool = False) -> str:
        whole = rational or expr.base.is_number
        return str(self._hprint_Pow(expr, whole, f"{self._module}.sqrt"))

    def _print_Max(self, expr: Any) -> str:
        parts = [str(self.doprint(each)) for each in expr.args]
        return reduce(lambda one, other: f"{self._module}.maximum({one}, {other})", parts)


def _statements(exprs: Iterable[Any], printer: Any) -> tuple[list[str], list[str]]:
    """Return statements of what occurs in expressions more than once, and these as text."""
    names = sp.numbered_symbols("_x")
    parts, left = sp.cse(list(map(in_floats, exprs)), symbols=names, order="none")
    named = [f"{name} = {printer.doprint(part)}" for name, part in parts]
    return named, list(map(printer.doprint, left))


@record
class _Dialect:
    """How a library is written.

    Attributes:
        name: What is imported.
        says: What its user has to know, line by line.
        tensors: Whether its functions take tensors alone.
    """

    name: str
    says: tuple[str, ...]
    tensors: bool = False

    @cached_property
    def printer(self) -> _PythonPrinter:
        """How formulas are written with it."""
        return _PythonPrinter(self.name)

    @property
    def opening(self) -> str:
        """The import, and what functions share."""
        return f"import {self.name}\n{_TENSORS * self.tensors}"


_DIALECTS: Mapping[Library, _Dialect] = {
    "numpy": _Dialect(
        name="numpy",
        says=("Times and parameters are numbers or arrays that broadcast; results are float64.",),
    ),
    "jax": _Dialect(
        name="jax.numpy",
        says=(
            "JAX computes in float32, of relative error 1e-7, unless this was called before:",
            "    jax.config.update('jax_enable_x64', True)",
        ),
    ),
    "torch": _Dialect(
        name="torch",
        says=(
            "Times and parameters are numbers or float64 tensors that broadcast; gradients flow",
            "through them.",
        ),
        tensors=True,
    ),
}


def program(derivation: Derivation, library: Library = "numpy") -> str:
    """Return the text of a module with every strength, half-time and the loss as functions.

    Args:
        derivation: Whose modes have closed forms.
        library: The one that the module imports.

    Raises:
        NoClosedFormError: Not every mode that learns has one; the message says why.
        InputError: It knows no such library, float64 has no room for the value of a letter, or
            a formula divides by 0 at the declared values.
    """
    if library not in _DIALECTS:
        msg = f"to_python: found {shown(library)}, expected a library. "
        raise InputError(msg + nearest(str(library), _DIALECTS))
    formulas = formulas_of(derivation)
    _check_room(formulas)
    _check_quotients(formulas)
    module = _Module(dialect=_DIALECTS[library], formulas=formulas)
    parts = [f"{_opening(derivation, module)}\n{module.dialect.opening}"]
    if any(_follows(letter) for letter in formulas.letters.values()):
        parts[0] += _GIVEN
    for name, formula in formulas.items():
        parts += [module.loss(derivation, formula)] if name == LOSS else module.mode(formula)
    return "\n\n".join(parts)


def _check_quotients(formulas: Formulas) -> None:
    """Raise where a strength, or the loss, is 0/0 or 0·∞ at the declared values."""
    for name, each in formulas.items():
        letters = formulas.of(name)
        known = all(letter.value is not None for letter in letters)
        if known and each.learned is not None and each.learned[0]:
            quotients = _strength(each.learned) + 1 / each.learned[1].d
            NumericFormula(replace(each, evaluated=quotients), letters)(0)


def _check_room(formulas: Formulas) -> None:
    """Raise where float64 has no room for the value of a letter."""
    for name, each in formulas.letters.items():
        if not has_room(each.value):
            msg = (
                f"to_python: {name}, {each.says}, is too large or too small for a program in "
                "float64. Scale the data or the network"
            )
            raise InputError(msg)


def _opening(derivation: Derivation, module: _Module) -> str:
    letters = [f"    {e.symbol.name}: {e.says}" for e in module.formulas.letters.values()]
    laws = {f.learned[1].name for f in module.formulas.values() if f.learned is not None}
    missing = module.formulas.no_loss
    lines = [
        f"{derivation.spec.title}: learning dynamics in closed form, by symreln.",
        "",
        f"Law of a mode: {', '.join(sorted(laws))}. Times t are in steps of full-batch gradient",
        "descent, from 0; strengths have no unit; the loss is 1/(2P) sum |y - y_hat|^2, the mean",
        "over P samples. Defaults are the declared values: a letter that follows from another one",
        "is given with it.",
        *module.dialect.says,
        *(["", "Parameters:", *letters] if letters else []),
        *(["", f"There is no formula of the loss: {missing}."] if missing else []),
    ]
    return _docstring(lines, "")


@record
class _Module:
    """What the functions of a module have in common."""

    dialect: _Dialect
    formulas: Formulas

    def mode(self, formula: Formula) -> Iterator[str]:
        """Yield the functions of a strength and of its half-time."""
        assert formula.learned is not None  # the loss has a function of its own
        says, strength = formula.says, _strength(formula.learned)
        own = self._letters(strength)
        yield self._function(formula.name, says, [strength], own, formula.to_latex())
        half = replace(formula.learned[1], ops=EVALUATED).half_time
        if half is not None:
            says = f"Steps at which the {says} is half of its plateau"
            name, own = f"{formula.name}_half_time", self._letters(half)
            yield self._function(name, says, [half], own, timed=False)

    def loss(self, derivation: Derivation, formula: Formula) -> str:
        r"""Return the function of the loss, written so that it does not cancel near its end."""
        terms: list[Any] = [derivation.least_loss.to_sympy(derivation.spec.symbols)]
        modes = {mode.label: mode for each in derivation.pathways for mode in each.modes}
        for each in self.formulas.values():
            if each.learned is not None:
                count, law = each.learned
                left = law.s / law.d - self._call(each.name, each.learned)
                terms.append(sp.Rational(count, 2) * law.d * left**2)
                terms.append(self._never_learned(modes[each.name], count, law))
        terms = [each for each in terms if each != 0] or [sp.S.Zero]
        shown = rf"{formula.symbol}(t) = L_* + \sum \tfrac{{1}}{{2}} n d (s/d - \pi)^2"
        says = f"{formula.says}: the least-squares loss and what n equal modes each have left"
        return self._function(LOSS, says, terms, self.formulas.of(LOSS), shown)

    def _never_learned(self, mode: ModeDerivation, count: int, law: Law) -> sp.Expr:
        """Return what those of equal modes leave that a narrow pathway has no units for."""
        lost = mode.multiplicity - count
        known = {each.symbol for each in self.formulas.letters.values()}
        if not lost or law.s.free_symbols | law.d.free_symbols <= known:
            return lost * law.s**2 / law.d / 2
        assert mode.d_eff is not None  # of a mode with a law
        # Roots without radicals have letters, and these occur in no other formula.
        return sp.Float(lost * mode.s.to_float() ** 2 / mode.d_eff.to_float() / 2)

    def _call(self, name: str, learned: Alike) -> sp.Symbol:
        """Return the call of a function, as a symbol: it is printed as it is."""
        names = [each.symbol.name for each in self._letters(_strength(learned))]
        return sp.Symbol(f"{name}({', '.join([str(TIME), *(f'{n}={n}' for n in names)])})")

    def _letters(self, expr: sp.Expr) -> list[Letter]:
        free = expr.free_symbols
        return [each for each in self.formulas.letters.values() if each.symbol in free]

    def _function(
        self,
        name: str,
        says: str,
        terms: Sequence[Any],
        letters: list[Letter],
        shown: str = "",
        *,
        timed: bool = True,
    ) -> str:
        """Return a function of a sum, one term a line, its common parts named."""
        body, (first, *others) = _statements(terms, self.dialect.printer)
        if others:
            body += ["return (", f"    {first}", *(f"    + {each}" for each in others), ")"]
        else:
            body.append(f"return {f'0*{TIME}' if first == '0' else first}")  # in t's shape
        given = [str(TIME)] * timed
        names = [*given, *(each.symbol.name for each in letters)]
        following = list(filter(_follows, letters))
        free = [each for each in letters if each.value is not None and not each.follows]
        asked = [*free, *following] if free and following else []
        shown_letters = [
            f"{each.symbol.name}=None" if each in asked else self._argument(each)
            for each in letters
        ]
        arguments = ", ".join([*given, *["*"][: len(letters)], *shown_letters])
        if len(arguments) > _WIDTH:
            arguments = "".join(f"\n    {each}," for each in arguments.split(", ")) + "\n"
        whole = f"{says[:1].upper()}{says[1:]}."
        text = [_docstring([whole, "", shown] if shown else [whole], "    ")]
        if asked:
            text += [f"    {line}\n" for line in self._declared(name, free, following)]
        if self.dialect.tensors and names:
            text.append(f"    [{', '.join(names)}] = _tensors({', '.join(names)})\n")
        text += [f"    {line}\n" for line in body]
        return f"def {name}({arguments}):\n{''.join(text)}"

    def _declared(self, name: str, free: list[Letter], following: list[Letter]) -> Iterator[str]:
        """Yield the lines that put declared values in, where no letter is given that needs more."""
        yield f"[{', '.join(each.symbol.name for each in [*free, *following])}] = _given("
        yield f'    "{name}",'
        for letters in (free, following):
            pairs = (f'"{x.symbol.name}": ({x.symbol.name}, {_value(x)})' for x in letters)
            yield f"    {{{', '.join(pairs)}}},"
        yield ")"

    def _argument(self, letter: Letter) -> str:
        name = letter.symbol.name
        return name if letter.value is None else f"{name}={_value(letter)}"


def _follows(letter: Letter) -> bool:
    """Whether its declared value is that of other letters' declared values alone."""
    return letter.follows and letter.value is not None


def _value(letter: Letter) -> str:
    """Return the declared value of a letter."""
    value = letter.value
    assert value is not None
    if isinstance(value, Fraction) and value.denominator != 1:
        return f"{value.numerator} / {value.denominator}"
    return repr(float(value))


def _strength(learned: Alike) -> sp.Expr:
    """Return the strength as it is evaluated; 0 of a mode that nothing is learned of."""
    count, law = learned
    return evaluated_strength(law) if count else sp.Mul(0, TIME, evaluate=False)


def _docstring(lines: Sequence[str], indent: str) -> str:
    """Return lines as a docstring that no label of a spec can end."""
    first, *others = (line.replace('"', "'").translate(_NO_CONTROL) for line in lines)
    if not others and not first.endswith("\\"):
        return f'{indent}r"""{first}"""\n'
    text = [f'{indent}r"""{first}', *(f"{indent}{each}".rstrip() for each in others)]
    return "\n".join([*text, f'{indent}"""\n'])
