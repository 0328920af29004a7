r"""SymPy expressions as LaTeX, by this project's conventions.

What is printed is the expression that was given, not a simplified one: a sigmoid keeps the form
that is finite for every t, a difference begins with its positive part, and exponents are written on
one line. Only of products with square roots the shortest of several equal forms is printed.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache, lru_cache
from typing import Any

import sympy as sp
from sympy.printing.latex import LatexPrinter

from symreln.document.roots import PLACES, JoinedRoot, over_one, shortest_root_form, sign_first
from symreln.document.symbols import symbol_latex


class _Printer(LatexPrinter):
    """LaTeX by our conventions; ``slashed`` writes fractions on one line, for exponents.

    SymPy's own types are too narrow for what its printer passes, hence ``Any``.
    """

    def __init__(self, *, slashed: bool = False) -> None:
        super().__init__(
            {
                "ln_notation": True,
                "root_notation": True,
                "fold_frac_powers": True,
                "inv_trig_style": "full",
                "order": "none",  # products come arranged
                **PLACES,
            }
        )
        self.slashed = slashed

    def _print_Symbol(self, expr: Any, style: str = "plain") -> str:
        return symbol_latex(expr.name)

    _print_Dummy = _print_Symbol

    def _print_Pi(self, expr: Any) -> str:
        # In braces of its own, so that it is told from the letter of strengths.
        return r"{\pi}"

    def _print_Integral(self, expr: Any) -> str:
        return super()._print_Integral(expr).replace(r"\limits", "")  # ends stand beside the sign

    def _print_ExpBase(self, expr: Any, exp: str | None = None) -> str:
        power = slashed_latex(_falling(expr.args[0]))
        if exp is not None:  # SymPy asks for (e^x)^exp
            return rf"\left(e^{{{power}}}\right)^{{{exp}}}"
        return f"e^{{{power}}}"

    def _print_Rational(self, expr: Any) -> str:
        if expr.q == 1 or not self.slashed:
            return super()._print_Rational(expr)
        return f"{expr.p}/{expr.q}"

    def _print_Add(self, expr: Any, order: str | None = None) -> str:
        shared = over_one(expr)
        if shared is not None:
            return self._print_product(sp.Mul(*shared, evaluate=False))
        first, *rest = _ordered_terms(expr)
        return self.doprint(first) + "".join(map(self._signed, rest))

    def _signed(self, term: Any) -> str:
        """Return ``term`` with the sign that joins it to what stands before."""
        term = sign_first(term)
        if term.could_extract_minus_sign() and not term.is_Add:
            return f" - {self._bracketed(-term)}"
        return f" + {self._bracketed(term)}"

    def _bracketed(self, term: Any) -> str:
        printed = self.doprint(term)
        return rf"\left({printed}\right)" if term.is_Add else printed

    def _print_Mul(self, expr: Any) -> str:
        sigmoid = None if self.slashed else _sigmoid(expr)
        if sigmoid:
            return self._print_sigmoid(*sigmoid)
        logarithm = _with_base(expr)
        if logarithm is not None:
            return self.doprint(logarithm)
        form = shortest_root_form(sign_first(expr), _printer(False)._print_product)
        return self._print_product(_arranged(form))

    def _print_product(self, form: Any) -> str:
        """Return a product, or what is left of one, in the form that was chosen."""
        if isinstance(form, JoinedRoot):
            return self.doprint(form)
        if form.is_Mul and form.could_extract_minus_sign():
            # Here, since SymPy's own minus would bring its order back.
            return "- " + self._print_product(_arranged(_negated(form)))
        if self.slashed:
            return self._print_slashed(form)
        return self._beside(form) or super()._print_Mul(form)

    def _beside(self, form: Any) -> str:
        """Return a fraction beside roots, logarithms and arc tangents of one, too high in it."""
        above, below = sp.fraction(form, exact=True)
        high = [f for f in sp.Mul.make_args(above) if isinstance(f, JoinedRoot | sp.log | sp.atan)]
        shown = " ".join(map(self.doprint, high))
        if r"\frac" not in shown or below is sp.S.One or below.has(*map(type, high)):
            return ""
        # Not the quotient: SymPy would multiply a number before a sum out.
        rest = sp.Mul(*(f for f in form.args if f not in high), evaluate=False)
        return f"{super()._print_Mul(rest)} {shown}"

    def _print__Weighted(self, expr: Any) -> str:
        weight, of = expr.args
        return self.doprint(of) if weight == 1 else f"{self._bracketed(weight)} {self.doprint(of)}"

    def _print_JoinedRoot(self, expr: Any, exp: str | None = None) -> str:
        below, *degree = map(self.doprint, expr.args)
        root = rf"\sqrt{f'[{degree[0]}]' if degree else ''}{{{below}}}"
        return root if exp is None else f"{root}^{{{exp}}}"

    def _print__Logarithm(self, expr: Any, exp: str | None = None) -> str:
        argument, base = map(self.doprint, expr.args)
        power = f"^{{{exp}}}" if exp is not None else ""
        of = argument if expr.args[0].is_Symbol else rf"\left({argument}\right)"
        return rf"\log_{{{base}}}{power} {of}"

    def _print_Pow(self, expr: Any) -> str:
        sigmoid = None if self.slashed else _sigmoid(expr)
        if sigmoid:
            return self._print_sigmoid(*sigmoid)
        form = sign_first(expr)
        if form is not expr:
            return self.doprint(form)
        if self.slashed and expr.exp.is_Rational and expr.exp.is_negative:
            return self._print_slashed(expr)
        return super()._print_Pow(expr)

    def _print_sigmoid(self, plateau: Any, denominator: Any) -> str:
        return rf"\frac{{{slashed_latex(plateau)}}}{{{self.doprint(denominator)}}}"

    def _print_slashed(self, expr: Any) -> str:
        top, bottom = sp.fraction(expr, exact=True)
        if bottom is sp.S.One:
            return super()._print_Mul(expr)
        above, below = self._bracketed(top), self.doprint(bottom)
        root = bottom.as_base_exp()[1] == sp.S.Half
        single = root or isinstance(bottom, JoinedRoot | sp.Symbol | sp.log)
        single = single or (bottom.is_Integer and bottom.is_positive)
        return f"{above}/{below}" if single else f"{above}/({below})"


#: Coefficients of a mode, which stand before its amplitudes, and these before its strengths.
_COEFFICIENTS = frozenset(["s", "d", "lambda"])
_STRENGTHS = ("pi", "strength")


def _arranged(product: Any) -> Any:
    """Return a product in the order in which it is printed: numbers, coefficients, strengths, sums.

    Sums have their denominator taken out, and roots of one degree are one.
    """
    if not product.is_Mul:
        return product
    factors: list[Any] = []
    for factor in product.as_ordered_factors():
        factors += over_one(factor, symbols=True) or (factor,)
    number = sp.Mul(*(f for f in factors if f.is_Rational))
    number, others = _one_power(number, _joined([f for f in factors if not f.is_Rational]))
    others.sort(key=_place)
    return sp.Mul(*((number,) if number != 1 else ()), *others, evaluate=False)


def _negated(product: Any) -> Any:
    """Return a product that begins with a minus without it; SymPy's own minus multiplies out."""
    number, *others = product.args
    if not number.is_Number:
        return -product
    return sp.Mul(*((-number,) if number != -1 else ()), *others, evaluate=False)


def _place(factor: Any) -> int:
    """Return where a factor stands among those of a product, among equal ones in SymPy's order."""
    base, power = factor.as_base_exp()
    if base.is_Symbol:
        if base.name.startswith(_STRENGTHS):
            return 2
        return 0 if base.name in _COEFFICIENTS else 1
    if not factor.free_symbols:
        return 0
    if isinstance(base, JoinedRoot):
        return 1
    root = power.is_Rational and power.q == 2
    last = isinstance(factor, sp.Function | sp.exp) or (base.is_Add and not root)
    return 3 if last else 1


def _one_power(number: Any, factors: list[Any]) -> tuple[Any, list[Any]]:
    """Return 2 · 2^(2/3) as 2^(5/3), likewise of other numbers; square roots stay as they are."""
    for place, factor in enumerate(factors):
        base, power = factor.as_base_exp()
        whole = base.is_Integer and base > 1 and number.is_positive
        if whole and power.is_Rational and power.q > 2:
            share = round(float(sp.log(number) / sp.log(base)))
            if share != 0 and base**share == number and power + share > -1:
                joined = sp.Pow(base, power + share, evaluate=False)
                return sp.S.One, [*factors[:place], joined, *factors[place + 1 :]]
    return number, factors


def _joined(factors: list[Any]) -> list[Any]:
    """Return the factors with roots of one degree, of positive letters and numbers, as one."""
    found: dict[int, list[Any]] = {}
    for factor in factors:
        base, power = factor.as_base_exp()
        small = power.is_Rational and power.q > 2 and 0 < power < 1
        if small and base.is_positive and (base.is_Symbol or base.is_Integer):
            found.setdefault(int(power.q), []).append(factor)
    joined = [(degree, roots) for degree, roots in found.items() if len(roots) > 1]
    kept = [f for f in factors if not any(f in roots for _, roots in joined)]
    return kept + [
        JoinedRoot(sp.Mul(*(root**degree for root in roots)), degree) for degree, roots in joined
    ]


def _falling(power: Any) -> Any:
    """Return an exponent with numbers taken out of its differences; of time the sign in front."""
    factors: list[Any] = []
    for factor in sp.Mul.make_args(power):
        signs = {term.could_extract_minus_sign() for term in sp.Add.make_args(factor)}
        content, rest = factor.as_content_primitive() if len(signs) == 2 else (sp.S.One, factor)
        factors += [content, rest]
    mixed = next((f for f in factors if f.is_Add), None)
    number = sp.Mul(*(f for f in factors if f.is_Rational))
    others = [f for f in factors if not f.is_Rational and f is not mixed]
    if mixed is None or not others:
        return power
    if number > 0 and any(factor.is_Symbol and factor.name == "t" for factor in others):
        number, mixed = -number, -mixed
    return sp.Mul(number, *others, mixed, evaluate=False)


class _Weighted(sp.Function):
    """The product of its arguments, printed as the first times the second; only for print."""


def weighted(term: Any, variables: Collection[Any]) -> Any:
    r"""Return a product as its coefficient, in one fraction, times its powers of some variables.

    Example:
        >>> x, y = sp.symbols("a c", positive=True)
        >>> to_latex(weighted(-(x**2) * (y**2 / 3 + sp.Rational(1, 8)) / 2, [x]))
        '- \\frac{8 c^{2} + 3}{48} a^{2}'
    """
    split: Any = term.as_independent(*variables, as_Add=False)
    weight, of = split
    if of == 1:
        return term
    negative = weight.could_extract_minus_sign()
    factors: tuple[Any, ...] = sp.Mul.make_args(-weight if negative else weight)
    # Sums alone: SymPy would factor below roots too, which have the form of the tables.
    merged: list[Any] = [sp.together(f) if f.is_Add else f for f in factors]
    product: Any = _Weighted(sp.Mul(*merged), of)
    return -product if negative else product


class _Logarithm(sp.Function):
    """The logarithm of its first argument to the base of its second, only for print."""


def _with_base(product: Any) -> Any:
    """Return a product with ln x / ln b as one logarithm to base b, or None where there is none."""
    factors: Any = sp.Mul.make_args(product)
    above = [f for f in factors if isinstance(f, sp.log)]
    below = [f for f in factors if f.is_Pow and f.exp == -1 and isinstance(f.base, sp.log)]
    if len(above) != 1 or len(below) != 1 or not below[0].base.args[0].is_Integer:
        return None
    rest = (f for f in factors if f is not above[0] and f is not below[0])
    logarithm: Any = _Logarithm(above[0].args[0], below[0].base.args[0])
    return sp.Mul(logarithm, *rest)


def _sigmoid(expr: Any) -> tuple[sp.Expr, sp.Expr] | None:
    r"""Return (plateau, 1 + (…) e^{…}) where ``expr`` is their quotient; None elsewhere.

    Or with (1 + …)^{…} for e^{…}, as in gradient descent's steps.
    """
    factors: tuple[Any, ...] = sp.Mul.make_args(expr)
    found = [f for f in factors if f.is_Pow and f.exp == -1 and _is_sigmoid_denominator(f.base)]
    if len(found) != 1:
        return None
    plateau = sp.Mul(*(f for f in factors if f is not found[0]))
    parts: Any = sp.preorder_traversal(plateau)
    return None if any(map(_is_faded, parts)) else (plateau, found[0].base)


def _is_sigmoid_denominator(base: Any) -> bool:
    if not base.is_Add or len(base.args) != 2 or sp.S.One not in base.args:
        return False
    other = next(term for term in base.args if term is not sp.S.One)
    return any(_is_faded(factor) for factor in sp.Mul.make_args(other))


def _is_faded(factor: Any) -> bool:
    """Whether a factor is e^{…}, or (1 + …)^{…} with a symbol in its exponent."""
    return isinstance(factor, sp.exp) or (factor.is_Pow and bool(factor.exp.free_symbols))


def _ordered_terms(expr: sp.Expr) -> tuple[sp.Expr, ...]:
    """Return the terms of a sum as they are printed: SymPy's order, a positive one first."""
    terms: list[Any] = list(map(sign_first, expr.as_ordered_terms()))
    positive = next((t for t in terms if not t.could_extract_minus_sign()), terms[0])
    terms.remove(positive)
    if not expr.free_symbols:  # what is added comes before what is taken off
        terms.sort(key=lambda term: term.could_extract_minus_sign())
    if _is_sigmoid_denominator(expr):
        return (sp.S.One, *(t for t in (positive, *terms) if t is not sp.S.One))
    if terms == [sp.S.One] and sp.fraction(positive)[1].free_symbols:  # 1 + s/τ
        return (sp.S.One, positive)
    return (positive, *terms)


@cache
def _printer(slashed: bool) -> _Printer:
    return _Printer(slashed=slashed)


@lru_cache(maxsize=1024, typed=True)  # a document and its JSON print the same formulas
def to_latex(expr: sp.Basic) -> str:
    r"""Return the LaTeX of ``expr``, without delimiters.

    Example:
        >>> s, t = sp.symbols("s t", positive=True)
        >>> to_latex(s / 3 - sp.exp(-2 * s * t / sp.Symbol("tau")))
        '\\frac{s}{3} - e^{- 2 s t/\\tau}'
    """
    return _printer(False).doprint(expr)


def slashed_latex(expr: sp.Basic) -> str:
    r"""Return the LaTeX of ``expr`` with fractions written on one line: ``s/(2 d)``."""
    return _printer(True).doprint(expr)
