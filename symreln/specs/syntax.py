"""One parser for formulas and gates: Python's tree of a text, and the place of every mistake.

Python sees no part of the text: every number, name and quoted text is a placeholder there, between
signs that are on a list. So it normalises no identifier, reads no number, knows no word but its
own, and nothing is ever executed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate
from typing import NamedTuple, TypeVar

from symreln.base.records import record
from symreln.specs.finding import Finding, problem_of_character, quoted

Value = TypeVar("Value")

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
    re.ASCII | re.DOTALL,
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


class Token(NamedTuple):
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

    def evaluated(self, value: Callable[[ast.expr], Value]) -> Value:
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

    def _cut(self) -> Iterator[Token]:
        syntax = self.syntax
        for match in _TOKEN.finditer(self.source):
            token = Token(match.lastgroup or "", match[0], match.start())
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
            return self.unexpected(Token("end", "", len(self.source)), self.syntax.made_of)
        token = tokens[line - 1]
        follows = line > 1 and token.kind != "sign"
        return self.unexpected(token, self.syntax.made_of, self.syntax.hint if follows else "")

    def token(self, node: ast.expr, shift: int = 0) -> Token:
        """Return the token that a node begins with, or one that stands so many places after it."""
        return self._tokens[node.lineno - 1 + shift]

    def operator(self, node: ast.BinOp) -> Token:
        """Return the token of an operator."""
        place = node.left.end_lineno or 0
        while self._tokens[place].text == ")":
            place += 1
        return self._tokens[place]

    def unexpected(self, token: Token, expected: str, hint: str = "") -> Finding:
        """Return the finding that a token is not what is needed there."""
        found = "the end of the formula" if token.kind == "end" else quoted(token.text)
        return self.wrong(token, found, expected, _HINTS.get(token.text, hint))

    def wrong(self, token: Token, found: str, expected: str, hint: str = "") -> Finding:
        """Return a finding with the place of a token marked by a caret under the text."""
        first = max(0, token.start - _EXCERPT)
        piece = self.source[first : token.start + _EXCERPT]
        visible = "".join(c if problem_of_character(c) is None else "�" for c in piece)
        excerpt = f"\n        {visible}\n        {' ' * (token.start - first)}^"
        return Finding(f"{found} at character {token.start + 1}", expected, hint + excerpt)
