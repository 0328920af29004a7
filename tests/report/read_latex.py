"""Reads our own printed LaTeX back into SymPy: the second route that checks the printer.

A descent over a grammar of its own, sharing nothing with the printer but the names of symbols.
"""

import re

import sympy as sp

from symreln.document.symbols import symbol_latex

TOKEN = re.compile(r"\\[A-Za-z]+|\d+(?:\.\d+)?|[A-Za-z]|[{}()\[\]^_/+,-]|\\,")


class Reader:
    def __init__(self, latex, symbols):
        # \left and \right only size brackets; an empty group only spaces a sign.
        latex = re.sub(r"\\(left|right)|\{\}|&", "", latex)
        self.names = {re.sub(r"\s", "", symbol_latex(s.name)): s for s in symbols}
        self.tokens = TOKEN.findall(latex)
        assert re.sub(r"\s", "", latex) == "".join(self.tokens)
        self.at = 0

    def read(self):
        value = self.sum()
        assert self.at == len(self.tokens), self.tokens[self.at :]
        return value

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, expected=None):
        token = self.peek()
        assert token
        assert expected is None or token == expected
        self.at += 1
        return token

    def sum(self):
        value = sp.S.Zero
        sign = 1
        if self.peek() in ("+", "-"):
            sign = -1 if self.take() == "-" else 1
        value += sign * self.product()
        while self.peek() in ("+", "-"):
            sign = -1 if self.take() == "-" else 1
            value += sign * self.product()
        return value

    def product(self):
        value = self.power()
        while self.peek() not in ("", "+", "-", "}", ")", "]"):
            if self.peek() == "/":
                self.take()
                value /= self.power()
            else:
                if self.peek() == r"\cdot":
                    self.take()
                value *= self.power()
        return value

    def power(self):
        base = self.atom()
        if self.peek() == "^":
            self.take()
            return base ** self.braced()
        return base

    def braced(self):
        self.take("{")
        value = self.sum()
        self.take("}")
        return value

    def atom(self):
        token = self.peek()
        if token == "(":
            self.take()
            value = self.sum()
            self.take(")")
            return value
        if token == "{":
            return self.braced()
        if token[0].isdigit():
            return sp.Rational(self.take())
        if token == r"\frac":
            self.take()
            return self.braced() / self.braced()
        if token == r"\sqrt":
            return self.root()
        if token == r"\ln":
            self.take()
            return sp.log(self.braced())
        return self.symbol()

    def root(self):
        self.take()
        degree = sp.Integer(2)
        if self.peek() == "[":
            self.take()
            degree = sp.Integer(self.take())
            self.take("]")
        return self.braced() ** (1 / degree)

    def symbol(self):
        name = self.group_text() if self.peek() == r"\mathrm" else self.take()
        if name == "e":
            return sp.E
        if self.peek() == "_":
            name += self.take() + self.raw_group()
        return self.names[name]

    def group_text(self):
        return self.take() + self.raw_group()

    def raw_group(self):
        text, depth = "", 0
        while True:
            token = self.take()
            text += token
            depth += (token == "{") - (token == "}")
            if depth == 0:
                return text


def read_latex(latex, symbols):
    return Reader(latex, symbols).read()
