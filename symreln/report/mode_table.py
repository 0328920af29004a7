"""The modes of a derivation as a table: rows of exact values, for pandas, CSV and notebooks."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, overload

import sympy as sp

from symreln.base.jsonio import write_text
from symreln.base.records import record
from symreln.base.tables import plain_table
from symreln.claims.balls import half_time
from symreln.claims.formulas import formulas_of
from symreln.errors import InputError, NoClosedFormError, NotSupportedError
from symreln.specs.finding import cut, nearest, shown

if TYPE_CHECKING:
    import pandas as pd

    from symreln.claims.derivation import Derivation, ModeDerivation, PathwayDerivation
    from symreln.exact.algebraic import AlgebraicNumber

#: Rows that are shown, and characters of an exact number in them.
MOST_ROWS, ROOM = 12, 40
#: What stands in the place of the law of null modes, which start at zero and stay there.
NULL_FAMILY = "nothing to learn"
#: Digits that are certified of a half-time.
_DIGITS = 17
#: Digits of a number that has no short formula, and how many of them are shown.
_DECIMALS, _SHOWN = 20, 10
_HEADER = ("mode", "pathway", "s", "d", "d_eff", "multiplicity", "half-time", "family")


@record
class ModeRow:
    """One mode.

    Attributes:
        label: Symbol of its strength, "pi_1_2".
        pathway: Name of its pathway.
        stage: Stage of that.
        s: Singular value of Sigma^{yx}. A root of degree > 2 is a decimal of 20 certified digits;
            in a spec with parameters it is a letter.
        d: Matching eigenvalue of Sigma^x; None where the pathway has no joint eigenbasis.
        d_eff: The effective one: d where nothing couples; None where the mode does not close.
        multiplicity: How many equal modes the row stands for.
        family: Name of the law or of the reduction.
        strength: The closed form in t and letters; None where there is none.
        half_time: Steps until half of the plateau, at the declared values; None without.
    """

    label: str
    pathway: str
    stage: int
    s: sp.Expr
    d: sp.Expr | None
    d_eff: sp.Expr | None
    multiplicity: int
    family: str
    strength: sp.Expr | None
    half_time: float | None
    vectors: Callable[[], tuple[sp.ImmutableMatrix, sp.ImmutableMatrix]] | None = field(
        default=None, repr=False, compare=False
    )

    @property
    def u(self) -> sp.ImmutableMatrix:
        """Left singular vectors, shape (outputs, multiplicity), exact; of a null mode none."""
        return self._both()[0]

    @property
    def v(self) -> sp.ImmutableMatrix:
        """Right singular vectors, shape (inputs, multiplicity), as of ``u``."""
        return self._both()[1]

    def _both(self) -> tuple[sp.ImmutableMatrix, sp.ImmutableMatrix]:
        if self.vectors is None:
            msg = f"{self.label} is a null mode: it has no singular vectors that learn"
            raise InputError(msg)
        return self.vectors()


COLUMNS = tuple(each.name for each in fields(ModeRow) if each.name != "vectors")


@record
class Modes(Sequence[ModeRow]):
    """Modes, pathway by pathway and by decreasing s, null modes last.

    Attributes:
        rows: The rows.

    Example:
        >>> import symreln as sr
        >>> modes = sr.derive(sr.load("linear-hierarchy")).modes
        >>> modes[0].s, modes["pi_1_2"].multiplicity
        (sqrt(15)/8, 1)
        >>> modes.to_csv().splitlines()[0]
        'label,pathway,stage,s,d,d_eff,multiplicity,family,strength,half_time'
    """

    rows: tuple[ModeRow, ...]

    @overload
    def __getitem__(self, index: int | str) -> ModeRow: ...

    @overload
    def __getitem__(self, index: slice) -> Modes: ...

    def __getitem__(self, index: int | str | slice) -> ModeRow | Modes:
        """Return a row by its place or its label, or some rows."""
        if isinstance(index, slice):
            return Modes(rows=self.rows[index])
        if not isinstance(index, str):
            return self.rows[index]
        known = {row.label: row for row in self.rows}
        if index in known:
            return known[index]
        msg = f"modes: found {shown(index)}, which is no mode. {nearest(index, known)}"
        raise InputError(msg)

    def __len__(self) -> int:
        """Return how many rows there are."""
        return len(self.rows)

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with the rows' fields as columns; exact values are SymPy's.

        Raises:
            NotSupportedError: pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError as error:
            msg = "to_pandas needs pandas: python -m pip install pandas. to_csv() needs nothing"
            raise NotSupportedError(msg) from error
        data = {name: [getattr(row, name) for row in self.rows] for name in COLUMNS}
        return pd.DataFrame(data, columns=pd.Index(COLUMNS))

    def to_csv(self, path: str | Path | None = None) -> str:
        """Return the table as CSV, exact values as formulas; write it where a path is given."""
        text = io.StringIO()
        rows = ([getattr(row, name) for name in COLUMNS] for row in self.rows)
        csv.writer(text, lineterminator="\n").writerows([COLUMNS, *rows])
        if path is not None:
            write_text(Path(path), text.getvalue())
        return text.getvalue()

    def __repr__(self) -> str:
        rows = [_cells(row) for row in self.rows[:MOST_ROWS]]
        table = plain_table(self._title(), list(_HEADER), rows) if rows else self._title()
        return "\n".join(line.rstrip() for line in table.splitlines() if line.strip())

    def _title(self) -> str:
        left = len(self.rows) - MOST_ROWS
        more = f", the first {MOST_ROWS} of them; all: .to_csv()" if left > 0 else ""
        return f"{len(self.rows)} modes{more}"

    @classmethod
    def of(cls, derivation: Derivation) -> Modes:
        """Return all modes of a derivation."""
        try:
            formulas = {name: formula.expr for name, formula in derivation.ask(formulas_of).items()}
        except NoClosedFormError:
            formulas = {}
        return cls(
            rows=tuple(
                _row(derivation, pathway, mode, formulas.get(mode.label))
                for pathway in derivation.pathways
                for mode in pathway.modes
            )
        )


def _row(
    derivation: Derivation,
    pathway: PathwayDerivation,
    mode: ModeDerivation,
    strength: sp.Expr | None,
) -> ModeRow:
    symbols, place = derivation.spec.symbols, mode.label.removeprefix("pi_")
    if strength is None and mode.strength is not None:
        strength = mode.strength.expr
    found = None
    if mode.strength is not None and not mode.is_null:
        found = half_time(derivation, mode, _DIGITS).decimal
    return ModeRow(
        label=mode.label,
        pathway=pathway.name,
        stage=pathway.stage,
        s=_value(mode.s, symbols, f"s_{place}"),
        d=None if mode.d is None else _value(mode.d, symbols, f"d_{place}"),
        d_eff=None if mode.d_eff is None else _value(mode.d_eff, symbols, f"d_{place}"),
        multiplicity=mode.multiplicity,
        family=mode.family,
        strength=strength,
        half_time=None if found is None else float(found[0]),
        vectors=None if mode.is_null else partial(pathway.matrices, mode.label),
    )


def _value(number: AlgebraicNumber, symbols: Mapping[str, sp.Symbol], letter: str) -> sp.Expr:
    if number.parameters:
        return number.to_sympy(symbols, letter)
    return number.to_sympy() if number.is_radical else sp.Float(number.decimal()[0], _DECIMALS)


def _cells(row: ModeRow) -> list[str]:
    """Return a row of the repr. Null modes have no use for d and d_eff."""
    numbers = (row.s, *((None, None) if row.s == 0 else (row.d, row.d_eff)))
    steps = "" if row.half_time is None else f"{row.half_time:.4g}"
    family = NULL_FAMILY if row.s == 0 else row.family
    exact = ["" if x is None else cut(str(_readable(x)), ROOM) for x in numbers]
    return [row.label, row.pathway, *exact, str(row.multiplicity), steps, family]


def _readable(value: sp.Expr) -> sp.Expr:
    """Return a number in decimals where its formula has no room, or it has none."""
    if value.free_symbols or len(str(value)) <= ROOM:
        return sp.Float(value, _SHOWN) if isinstance(value, sp.Float) else value
    return value.evalf(_SHOWN)
