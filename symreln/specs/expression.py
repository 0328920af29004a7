"""Formulas in declared parameters: numbers, names, ``+ - * / **`` and parentheses.

And the one parser of formulas and gates: Python's tree of a text, and the place of every mistake.
Python sees no part of the text: every number, name and quoted text is a placeholder there, between
signs that are on a list. So it normalises no identifier, reads no number, knows no word but its
own, and nothing is ever executed.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from typing import NamedTuple, TypeVar

from flint import fmpz_mpoly

from symreln.base.records import record
from symreln.errors import SpecError
from symreln.exact.scalar import Scalar
from symreln.specs.finding import (
    Finding,
    cut,
    nearest,
    need,
    problem_of_character,
    quoted,
    shown,
)
from symreln.specs.number import MAX_BITS, exact_decimal, exact_number
from symreln.specs.spec import Parameter

_Found = TypeVar("_Found")

_MAX_CHARACTERS = 2000
_MAX_DEPTH = 50
"""Brackets in brackets: far above any formula, far below Python's stack."""
_LEVELS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}
_EXCERPT = 30
"""Characters shown on either side of the caret."""

_TOKEN = re.compile(
    r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<sign>\*\*|[=!<>]=|[-+*/<>&|,()\[\]{}]|not[ \t]+in\b)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<text>\"(?:[^\"\\]|\\[\"'\\])*\"|'(?:[^'\\]|\\[\"'\\])*')"
    r"|(?P<odd>[^ \t])",
    re.ASCII,
)
_ROOT = (
    "Declare a positive parameter r for the root, write r where the root is meant and r**2 where "
    "its square is, and give r a rational value."
)
_HINTS: Mapping[str, str] = {
    "^": "Write ** for a power.",
    "×": "Write * for a product.",
    "·": "Write * for a product.",
    "÷": "Write / for a quotient.",
    "−": "Write the ASCII minus sign -.",
    "–": "Write the ASCII minus sign -.",
    "√": _ROOT,
    "sqrt": _ROOT,
    ",": "Write a decimal point, not a comma.",
    "≠": "Write != for unequal.",
    "≤": "Write <= .",
    "≥": "Write >= .",
    "=": "Write == for equal.",
    "!": "Write not, or != for unequal.",
    "~": "Write not.",
    "∧": "Write and.",
    "∨": "Write or.",
    "¬": "Write not.",
}


@record
class Syntax:
    """What texts of one kind are made of.

    Attributes:
        made_of: All of it, in words.
        kinds: Kinds of tokens that are values: "number", "name", "text".
        signs: Signs, words and brackets, each as Python writes it.
        hint: What to do about a value that follows another one.
    """

    made_of: str
    kinds: frozenset[str]
    signs: Mapping[str, str]
    hint: str = ""


class _Token(NamedTuple):
    """One piece of a text.

    Attributes:
        kind: "number", "name", "text", "sign" or "end".
        text: Its characters.
        start: Position of the first one, from 0.
    """

    kind: str
    text: str
    start: int


class Parsed:
    """A text and its tree, in which every value is a name that :meth:`token` gives back.

    Attributes:
        source: The text.
        syntax: What it is made of.
        tree: Python's syntax tree.
    """

    def __init__(self, source: str, syntax: Syntax) -> None:
        self.source, self.syntax = source, syntax
        if len(source) > _MAX_CHARACTERS:
            found = f"a formula of {len(source)} characters"
            raise Finding(found, f"at most {_MAX_CHARACTERS}", "Split it into entries or labels.")
        self._tokens = list(self._cut())
        values = {kind: "value" for kind in syntax.kinds}
        pieces = (values.get(each.kind) or syntax.signs[each.text] for each in self._tokens)
        try:
            # One token a line, so that a node's line is its token.
            self.tree = ast.parse("\\\n".join(pieces), mode="eval").body
        except SyntaxError as error:
            raise self._misplaced(error) from None
        except (MemoryError, RecursionError):
            raise self._deep() from None
        if max(accumulate(_LEVELS.get(each.text, 0) for each in self._tokens)) > _MAX_DEPTH:
            raise self._deep()

    def evaluated(self, value: Callable[[ast.expr], _Found]) -> _Found:
        """Return the value of the tree.

        Raises:
            Finding: A value says so, or signs are nested deeper than Python's stack.
        """
        try:
            return value(self.tree)
        except RecursionError:
            raise self._deep() from None

    def _deep(self) -> Finding:
        expected = f"at most {_MAX_DEPTH} levels of nesting"
        return Finding(f"the formula {quoted(self.source)}", expected, "Simplify it.")

    def _cut(self) -> Iterator[_Token]:
        syntax = self.syntax
        for match in _TOKEN.finditer(self.source):
            token = _Token(match.lastgroup or "", match[0], match.start())
            if token.kind == "odd":
                found = f"the character {quoted(token.text)}"
                found = "a quotation mark" if token.text in "\"'" else found
                found = problem_of_character(token.text) or found
                raise self.wrong(token, found, syntax.made_of, _HINTS.get(token.text, ""))
            if token.text in syntax.signs:
                token = token._replace(kind="sign")
            elif token.kind not in syntax.kinds:
                raise self.unexpected(token, syntax.made_of)
            yield token

    def _misplaced(self, error: SyntaxError) -> Finding:
        """Return the finding of what Python says about the order of tokens."""
        tokens, line = self._tokens, error.end_lineno or error.lineno or 0
        if error.msg.endswith("was never closed"):
            return self.unexpected(tokens[line - 1], "its closing bracket")
        goes_on = not tokens or tokens[-1].text in self.syntax.signs.keys() - {")", "]", "}"}
        if line >= len(tokens) and goes_on:
            return self.unexpected(_Token("end", "", len(self.source)), self.syntax.made_of)
        token = tokens[line - 1]
        follows = line > 1 and token.kind != "sign"
        return self.unexpected(token, self.syntax.made_of, self.syntax.hint if follows else "")

    def token(self, node: ast.expr, shift: int = 0) -> _Token:
        """Return the token that a node begins with, or one that stands so many places after it."""
        return self._tokens[node.lineno - 1 + shift]

    def operator(self, node: ast.BinOp) -> _Token:
        """Return the token of an operator."""
        place = node.left.end_lineno or 0
        while self._tokens[place].text == ")":
            place += 1
        return self._tokens[place]

    def unexpected(self, token: _Token, expected: str, hint: str = "") -> Finding:
        """Return the finding that a token is not what is needed there."""
        found = "the end of the formula" if token.kind == "end" else quoted(token.text)
        return self.wrong(token, found, expected, _HINTS.get(token.text, hint))

    def wrong(self, token: _Token, found: str, expected: str, hint: str = "") -> Finding:
        """Return a finding with the place of a token marked by a caret under the text."""
        first = max(0, token.start - _EXCERPT)
        piece = self.source[first : token.start + _EXCERPT]
        visible = "".join(c if problem_of_character(c) is None else "�" for c in piece)
        excerpt = f"\n        {visible}\n        {' ' * (token.start - first)}^"
        return Finding(f"{found} at character {token.start + 1}", expected, hint + excerpt)


# -- formulas -------------------------------------------------------------------------------------

Value = Fraction | Scalar

_MAX_POWER = 64
_MAX_TERMS = 512
_MAX_DEGREE = 64
"""Exponents, and terms and total degree of any polynomial on the way: products and gcds of
polynomials of this size take milliseconds."""
_MAX_PRODUCTS = 1 << 14
"""Products of terms in one operation, before it is done."""

_FORMULA = Syntax(
    made_of="numbers, declared names, + - * / ** and parentheses",
    kinds=frozenset({"number", "name"}),
    signs={sign: sign for sign in ("+", "-", "*", "/", "**", "(", ")")},
    hint="Write * for a product.",
)


@record
class Declared:
    """The names that formulas of a spec may use.

    Attributes:
        names: Declared parameters, in order, as they are written in results.
        written: How a name in the spec's formulas is written in results, where it differs.
        integers: Parameters that may stand for sizes, by their names in the spec; None for what
            is declared wrong, which was said.
        sizes: Those that do, by the option; filled as the options of a task are read, of which
            later ones may use them beside the names.
    """

    names: tuple[str, ...] = ()
    written: Mapping[str, str] = field(default_factory=dict)
    integers: Mapping[str, Parameter | None] = field(default_factory=dict)
    sizes: dict[str, Parameter] = field(default_factory=dict)

    @staticmethod
    def constant(text: object) -> Fraction:
        """Return the exact value of a number, or of a formula without names.

        Raises:
            Finding: It is no such formula.
        """
        value = _evaluate(text, None)
        assert isinstance(value, Fraction)
        return value

    def value(self, text: object) -> Value:
        """Return the exact value of a formula, a Fraction where no name occurs in it.

        Args:
            text: The formula, or a number.

        Raises:
            Finding: It is no formula, uses an undeclared name, or is too large.
        """
        return _evaluate(text, self._spelled(self.names))

    def _spelled(self, names: tuple[str, ...]) -> dict[str, str]:
        """Return names in results by how formulas of the spec spell them."""
        given = {written: name for name, written in self.written.items()}
        return {given.get(name, name): name for name in names}

    def respelled(self, text: str) -> str:
        """Return a text of the spec with its names as they are written in results."""
        return re.sub(r"\w+", lambda match: self.written.get(match[0], match[0]), text)

    def parse(self, text: object) -> Scalar:
        """Return the exact value of a formula in these names and sizes, in Q(names).

        The formula must make sense for every size; the value is that at the declared sizes.

        Raises:
            Finding: It is no such formula, or infinite at the declared sizes.

        Example:
            >>> Declared(names=("c",)).parse("(c**2 - 1)/(c - 1) + 0.5")
            Scalar((2*c + 3)/2)
        """
        sizes = {size.name: size.value or Fraction(0) for size in self.sizes.values()}
        names = (*self.names, *sizes)
        value = Scalar.of(_evaluate(text, self._spelled(names)), names)
        try:
            return value.substitute(sizes)
        except ZeroDivisionError:
            listed = ", ".join(f"{name} = {size}" for name, size in sizes.items())
            raise Finding(f"a formula that is infinite at {listed}", "a finite value") from None

    def size(self, name: str, option: str) -> int:
        """Return the value of the parameter that stands for a size.

        Raises:
            SpecError: There is no such parameter, or it is another size already.
        """
        hint = nearest(name, self.integers)
        if name in self.written:
            hint = f"Add integer = true and a value to [parameters.{name}]."
        found = f"the name {quoted(name)}, which no parameter with integer = true has"
        expected = "a whole number, or the name of a parameter with integer = true"
        hint = hint or f"Declare it: [parameters.{name[:30]}] integer = true."
        need(name in self.integers, found, expected, hint)
        parameter = self.integers[name]
        if parameter is None:
            raise SpecError([])
        twice = parameter.name in (size.name for size in self.sizes.values())
        need(not twice, f"{name}, which is another size already", "its own")
        self.sizes[option] = replace(parameter, option=option)
        return int(parameter.value or 0)


def _evaluate(text: object, spelled: Mapping[str, str] | None) -> Value:
    """Return the value of a formula in names by their spelling, None where none may stand."""
    if not isinstance(text, str):
        if isinstance(text, int | float | Fraction | Decimal) and not isinstance(text, bool):
            return exact_number(text)
        raise Finding(shown(text), "a number or a formula in quotes")
    formula = _Formula(text, spelled)
    return formula.parsed.evaluated(formula.value)


class _Formula:
    """The value of one formula; the size of every result is bounded."""

    def __init__(self, text: str, spelled: Mapping[str, str] | None) -> None:
        self.parsed = Parsed(text, _FORMULA)
        self.spelled = spelled or {}
        self.parameters = tuple(self.spelled.values())
        self.names_allowed = spelled is not None

    def value(self, node: ast.expr) -> Value:
        chain = []  # a long sum is a deep tree to the left
        while isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Pow):
            chain.append(node)
            node = node.left
        found = self._part(node)
        for step in reversed(chain):
            found = self._combined(step, found, self.value(step.right))
        return found

    def _part(self, node: ast.expr) -> Value:
        match node:
            case ast.BinOp(left=base, right=exponent):
                return self._power(self.parsed.operator(node), self.value(base), exponent)
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return -self.value(inner)
            case ast.UnaryOp(op=ast.UAdd(), operand=inner):
                return self.value(inner)
            case ast.Name():
                token = self.parsed.token(node)
                return self._name(token) if token.kind == "name" else self._number(token)
        hint = "There are no functions; write * for a product."
        raise self.parsed.unexpected(self.parsed.token(node), _FORMULA.made_of, hint)

    def _number(self, token: _Token) -> Fraction:
        try:
            return exact_decimal(token.text)
        except Finding as wrong:
            raise self.parsed.wrong(token, wrong.found, wrong.expected, wrong.hint) from None

    def _name(self, token: _Token) -> Scalar:
        if token.text in self.spelled:
            return Scalar.symbol(self.spelled[token.text], self.parameters)
        declare = f"eclare it: [parameters.{token.text[:30]}]."
        hint = (
            f"{nearest(token.text, self.spelled)} Or d{declare}" if self.spelled else f"D{declare}"
        )
        known = f"declared names ({', '.join(self.spelled) or 'none here'})"
        found = f"the undeclared name {quoted(token.text)}"
        hint = hint if self.names_allowed else "This must be a number."
        raise self.parsed.wrong(token, found, known, hint)

    def _combined(self, node: ast.BinOp, a: Value, b: Value) -> Value:
        sign = self.parsed.operator(node)
        if isinstance(node.op, ast.Div):
            b = self._inverse(sign, b)
        if isinstance(node.op, ast.Sub):
            b = -b
        combine = operator.add if isinstance(node.op, ast.Add | ast.Sub) else operator.mul
        return self._bounded(sign, combine, a, b)

    def _power(self, sign: _Token, base: Value, node: ast.expr) -> Value:
        exponent = self._exponent(sign, self.value(node))
        if exponent < 0:
            base = self._inverse(sign, base)
        found: Value = Fraction(1)
        for _ in range(abs(exponent)):
            found = self._bounded(sign, operator.mul, found, base)
        return found

    def _inverse(self, sign: _Token, value: Value) -> Value:
        if value == 0:
            raise self.parsed.wrong(sign, "a division by zero", "a divisor that is not zero")
        return 1 / value

    def _exponent(self, sign: _Token, value: Value) -> int:
        constant = isinstance(value, Fraction) or value.is_constant
        number = Scalar.of(value).to_fraction() if constant else None
        if number is None or number.denominator != 1:
            found = "an exponent that is no whole number"
        elif abs(number) > _MAX_POWER:
            found = f"the exponent {cut(str(number))}"
        else:
            return int(number)
        expected = f"a whole exponent from -{_MAX_POWER} to {_MAX_POWER}"
        raise self.parsed.wrong(sign, found, expected)

    def _bounded(self, sign: _Token, combine: Callable[..., Value], a: Value, b: Value) -> Value:
        """Return a + b or a * b, neither it nor the work for it too large."""
        hint, many = "Write the formula in a smaller form.", "a result of too many terms"
        terms_a, terms_b = (max(len(part.coeffs()) for part in _parts(x)) for x in (a, b))
        if terms_a * terms_b > _MAX_PRODUCTS:
            raise self.parsed.wrong(sign, many, f"at most {_MAX_TERMS} terms", hint)
        found = combine(a, b)
        for part in _parts(found):
            degree, coefficients = int(part.total_degree()), part.coeffs()
            bits = max((int(x).bit_length() for x in coefficients), default=0)
            for amount, most, what, unit in (
                (degree, _MAX_DEGREE, f"a result of degree {degree}", "degree at most {}"),
                (bits, MAX_BITS, f"a result of {bits} bits", "at most {} bits"),
                (len(coefficients), _MAX_TERMS, many, "at most {} terms"),
            ):
                if amount > most:
                    raise self.parsed.wrong(sign, what, unit.format(most), hint)
        return found


def _parts(value: Value) -> tuple[fmpz_mpoly, fmpz_mpoly]:
    """Return numerator and denominator as polynomials."""
    scalar = Scalar.of(value) if isinstance(value, Fraction) else value
    return scalar.numerator, scalar.denominator
