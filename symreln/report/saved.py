"""A folder of results opened again: what it says, verified against its certificate, not derived."""

from __future__ import annotations

import html
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from symreln.base.summaries import Immutable, short_repr
from symreln.claims.curves import ModeCurve, Prediction
from symreln.claims.formulas import LOSS, Formula, Letter
from symreln.claims.numeric_formula import NumericFormula
from symreln.document.printed import read_printed
from symreln.errors import InputError, NoClosedFormError, NotSupportedError
from symreln.laws.law import HEAD_START, STRENGTH0, TIME, TIME_CONSTANT
from symreln.laws.loss import strength_symbol
from symreln.report.mode_table import ModeRow, Modes, certified, readable
from symreln.specs.arguments import float_times
from symreln.specs.finding import counted, nearest, shown
from symreln.specs.model import Parameter
from symreln.verdict.judge import Level
from symreln.verifier.folder import CERTIFICATE, verify_file
from symreln.verifier.reading import read_json

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class SavedValidation(Immutable):
    """The confrontation in a folder of results.

    Attributes:
        content: What validation.json says.
        curves: The losses of curves.npz by name: one row, or one a seed.
    """

    content: Mapping[str, Any]
    curves: Mapping[str, np.ndarray]

    @property
    def verdict(self) -> str:
        """The outcome of the loss."""
        return self.content["verdict"]

    @property
    def outcomes(self) -> str:
        """The verdicts on loss, modes and gates, in words."""
        return ", ".join(f"{k}: {v['outcome']}" for k, v in self.content["verdicts"].items())

    def to_json(self) -> dict[str, Any]:
        """Return what validation.json says."""
        return dict(self.content)

    def _summary(self) -> list[str]:
        metrics = {k: v for k, v in self.content["metrics"].items() if v is not None}
        told = [f"{k}: max |ΔL|/L(0) {v['max_abs_over_initial']:.3g}" for k, v in metrics.items()]
        return [f"{self.content['title']}: {self.content['seeds']} seeds", self.outcomes, *told]


@dataclass(frozen=True, kw_only=True)
class _Head:
    """Where copies of a mode start.

    Attributes:
        letter: Its letter with its value.
        count: How many copies.
    """

    letter: Letter
    count: int

    @classmethod
    def of(cls, label: str, number: int, start: Mapping[str, Any]) -> _Head:
        """Return a start as derivation.json has it; ``number`` where copies start apart, else 0."""
        name = f"pitilde_{label.removeprefix('pi_')}" + (f"_{number}" if number else "")
        letter = Letter(
            symbol=sp.Symbol(name, positive=True),
            value=_decimal(start["strength0"]),
            says=f"head start of {label}",
            follows=True,
        )
        return cls(letter=letter, count=start.get("count", 1))


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class SavedDerivation(Immutable):
    """A derivation as its folder has it; what is not there is not made up.

    Attributes:
        folder: Where it lies.
        content: What derivation.json says.
        certificate: What certificate.json says.
        proven: What its check proved, line by line.
        validation: Of the folder of a run, its confrontation; None otherwise.
    """

    folder: Path
    content: Mapping[str, Any]
    certificate: Mapping[str, Any]
    proven: tuple[str, ...]
    validation: SavedValidation | None = None

    @property
    def title(self) -> str:
        """Title of the derivation."""
        return self.content["title"]

    @property
    def level(self) -> Level:
        """The weakest level of the stages."""
        return Level(self.content["verdict"]["level"])

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The declared parameters."""
        return tuple(
            Parameter(**{key: _number(value) for key, value in each.items()})
            for each in self.content["parameters"]
        )

    @cached_property
    def modes(self) -> Modes:
        """Every mode, as :attr:`symreln.Derivation.modes` has it."""
        return Modes(
            rows=tuple(
                self._row(pathway, mode)
                for pathway in self.content.get("pathways", ())
                for mode in pathway["modes"]
            )
        )

    @cached_property
    def loss(self) -> sp.Expr | None:
        """The loss in mode space, or None where it is no sum over modes."""
        text = self.content.get("loss", {}).get("expr")
        return None if text is None else self._read(text)

    def formula(self, name: str) -> Formula:
        """Return the closed form of a mode, or of the "loss".

        Raises:
            NoClosedFormError: It has none, or a mode has none in time.
            InputError: There is no such mode.
        """
        outrun = [label for label, heads in self._heads.items() if not heads]
        if outrun:
            msg = f"formula: {outrun[0]} has no closed form in time: earlier modes are slower"
            raise NoClosedFormError(msg)
        if name == LOSS:
            return self._loss_formula
        known = [row.label for row in self.modes] + [LOSS]
        if name not in known:
            msg = f"formula: found {shown(name)}, which is no mode. {nearest(str(name), known)}"
            raise InputError(msg)
        row = self.modes[name]
        if row.strength is None:
            msg = f"formula: {name} has no closed form ({row.family})"
            raise NoClosedFormError(msg)
        says = f"strength of {name} of pathway '{row.pathway}'"
        half, heads = (self._mode(name).get("half_time") or {}).get("expr"), self._heads[name]
        steps: Any = None
        if half is not None and len(heads) == 1:
            steps = self._read(half).xreplace({HEAD_START: heads[0].letter.symbol})
        return Formula(name=name, says=says, expr=row.strength, half_time=steps)

    def to_numpy(self, name: str) -> NumericFormula:
        """Return a closed form as a function of time and letters, as a derivation does."""
        formula = self.formula(name)
        free = formula.expr.free_symbols
        return NumericFormula(formula, [each for each in self._letters if each.symbol in free])

    def evaluate(self, times: Any = None) -> Prediction:
        """Return the curves of the closed forms; others were not saved.

        Args:
            times: Ascending times in steps; every step of the network by default.

        Raises:
            NotSupportedError: Some mode has no closed form in the folder.
        """
        if self.level not in (Level.CLOSED, Level.CLOSED_BY_SYMMETRY) or self.loss is None:
            msg = (
                f"evaluate: verdict '{self.level.value}': the curves are integrated, and the "
                f"folder has formulas only. Derive again: sr.derive(sr.load({self._source!r}))"
            )
            raise NotSupportedError(msg)
        grid = np.arange(self._steps, dtype=float) if times is None else float_times(times)
        learning = [row for row in self.modes if row.s != 0]
        curves = tuple(
            ModeCurve(
                pathway=row.pathway,
                label=row.label,
                closed=self.to_numpy(row.label)(grid),
                integrated=None,
                plateau=None,
                multiplicity=row.multiplicity,
            )
            for row in learning
        )
        loss = self.to_numpy(LOSS)(grid)
        return Prediction(
            times=grid,
            reduced=loss,
            method="closed forms of all modes, as saved",
            closed_loss=loss,
            modes=curves,
            judged="closed",
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the strengths and, below, the loss, as a derivation does."""
        # Here, because Matplotlib takes time to import.
        from symreln.report.plots import drawn_times
        from symreln.report.user_plots import plot_curves

        return plot_curves(self.evaluate(drawn_times(self._steps)), ax)

    def to_json(self) -> dict[str, Any]:
        """Return what derivation.json says."""
        return dict(self.content)

    def _summary(self) -> list[str]:
        lines = counted(len(self.proven), "line")
        said = [] if self.validation is None else [f"validation: {self.validation.outcomes}"]
        shown_ = [
            f"{row.label} of '{row.pathway}': s = {readable(row.s)}"
            for row in self.modes
            if row.s != 0
        ]
        return [
            self.title,
            f"verdict: {self.level.value}",
            f"saved in {self.folder}; {lines} of its certificate proven again",
            *said,
            *shown_,
        ]

    def _headline(self) -> str:
        return f"SavedDerivation({self.title!r}, {self.level.value})"

    def _repr_html_(self) -> str:
        """Return a few lines, the modes folded."""
        head = html.escape("\n".join(self._summary()[:4]))
        modes = self.modes._repr_html_()
        return f"<pre>{head}</pre><details><summary>modes</summary>{modes}</details>"

    @property
    def _source(self) -> str:
        return self.content["source"] or "spec.toml"

    @property
    def _steps(self) -> int:
        network = self.content.get("network")
        if network is None:
            msg = "the derivation has no network, which says how many steps there are"
            raise InputError(msg)
        return network["steps"]

    def _mode(self, label: str) -> Mapping[str, Any]:
        modes = (mode for pathway in self.content["pathways"] for mode in pathway["modes"])
        return next(mode for mode in modes if mode["label"] == label)

    def _row(self, pathway: Mapping[str, Any], mode: Mapping[str, Any]) -> ModeRow:
        label, strength, half = mode["label"], mode["strength"], mode["half_time"]
        numbers = {key: self._value(mode[key], label, key[0]) for key in ("s", "d", "d_eff")}
        closed = None
        if strength is not None:
            closed = self._mean(label, self._read(strength["expr"]))
        return ModeRow(
            label=label,
            pathway=pathway["name"],
            stage=pathway["stage"],
            s=numbers["s"] if numbers["s"] is not None else sp.S.Zero,
            d=numbers["d"],
            d_eff=numbers["d_eff"],
            multiplicity=mode["multiplicity"],
            family=mode["family"],
            strength=closed,
            half_time=None if not half or "decimal" not in half else float(half["decimal"]),
        )

    def _value(self, number: Mapping[str, Any] | None, label: str, letter: str) -> sp.Expr | None:
        """Return a number as :class:`symreln.report.mode_table.ModeRow` has it."""
        if number is None:
            return None
        if "minpoly" not in number:
            return self._read(number["expr"])
        if self.parameters or "decimal" not in number:
            return _letter(letter, label)
        return certified(number["decimal"])

    def _read(self, text: str) -> sp.Expr:
        return read_printed(text, self._symbols)

    @cached_property
    def _symbols(self) -> dict[str, sp.Symbol]:
        """What stands in formulas, by name."""
        labels = [m["label"] for p in self.content.get("pathways", ()) for m in p["modes"]]
        numbers = [_letter(letter, label) for label in labels for letter in "sd"]
        common = (TIME, TIME_CONSTANT, STRENGTH0, HEAD_START)
        return {
            **{each.name: each for each in (*numbers, *common)},
            **{label: strength_symbol(label) for label in labels},
            **{each.name: each.symbol for each in self.parameters},
        }

    def _mean(self, label: str, formula: Any) -> Any:
        """Return a formula from where a mode starts, in the mean over its copies."""
        if HEAD_START not in formula.free_symbols or not self._heads[label]:
            return formula
        whole = sum(head.count for head in self._heads[label])
        shares = [
            sp.Rational(head.count, whole) * formula.xreplace({HEAD_START: head.letter.symbol})
            for head in self._heads[label]
        ]
        return sp.Add(*shares)

    @cached_property
    def _heads(self) -> dict[str, tuple[_Head, ...]]:
        """Where modes start, by label: one a kind of copies, none where there is no closed form."""
        given = all(each.value is not None for each in self.parameters)
        starts = self.content.get("head_starts") or {}
        found = {}
        for pathway in self.content.get("pathways", ()):
            for mode in pathway["modes"]:
                label = mode["label"]
                # What no earlier mode drives starts as those of the first stage do.
                head = starts.get(label, {"strength0": (given and mode["strength0"]) or {}})
                copies = () if head is None else head.get("copies", (head,))
                found[label] = tuple(
                    _Head.of(label, number if len(copies) > 1 else 0, each)
                    for number, each in enumerate(copies, start=1)
                )
        return found

    @cached_property
    def _loss_formula(self) -> Formula:
        if self.loss is None:
            msg = "the loss is no sum over modes: stages interfere"
            raise NoClosedFormError(msg)
        apart = [label for label, heads in self._heads.items() if len(heads) > 1]
        if apart:
            # The mean of their squares is no square of the mean strength.
            msg = f"copies of {apart[0]} start apart: their loss is not in the folder. Derive again"
            raise NoClosedFormError(msg)
        strengths = {
            strength_symbol(row.label): row.strength
            for row in self.modes
            if row.strength is not None
        }
        loss: Any = self.loss.xreplace(strengths)
        return Formula(name=LOSS, says="mean loss over samples", expr=loss)

    @cached_property
    def _letters(self) -> tuple[Letter, ...]:
        """The letters of all formulas with the values that the folder has."""
        found = [
            Letter(symbol=each.symbol, value=each.value, says="parameter of the spec")
            for each in self.parameters
        ]
        network = self.content.get("network")
        tau = None if network is None else Fraction(network["tau"]["expr"])
        found.append(Letter(symbol=TIME_CONSTANT, value=tau, says="time constant in steps"))
        first = Letter(symbol=STRENGTH0, value=None, says="initial strength")
        for row in self.modes:
            mode = self._mode(row.label)
            found += [head.letter for head in self._heads[row.label]]
            if row.s != 0 and mode["strength0"] is not None:
                first = replace(first, value=_decimal(mode["strength0"]))
            for letter, key in (("s", "s"), ("d", "d_eff")):
                if mode[key] is not None:
                    symbol, value = _letter(letter, row.label), _decimal(mode[key])
                    found.append(Letter(symbol=symbol, value=value, says=symbol.name, follows=True))
        return (*found, first)


def open(directory: str | Path) -> SavedDerivation:
    """Open a folder of results: of ``save``, of the command derive, or of run with its training.

    Nothing is derived again. The certificate is checked, and that every file belongs to it.

    Args:
        directory: The folder.

    Raises:
        CertificateError: The certificate does not hold, or a file was changed or is of another
            derivation.
        InputError: It is no such folder.

    Example:
        >>> import symreln as sr, tempfile
        >>> derivation = sr.derive(sr.load("linear-hierarchy"))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     written = derivation.save(folder, ["json"])
        ...     saved = sr.open(folder)
        >>> saved.level.value, saved.modes[0].s == derivation.modes[0].s
        ('closed', True)
    """
    if not isinstance(directory, str | os.PathLike):
        msg = f"open: found {shown(directory)}; give the folder that derivation.save(dir) wrote"
        raise InputError(msg)
    folder = Path(directory)
    if folder.is_file():
        msg = f"open: found a file, {folder}; give the folder that holds it"
        raise InputError(msg)
    if not folder.is_dir():
        msg = f"open: found no folder {folder}"
        raise InputError(msg)
    for name in (CERTIFICATE, "derivation.json"):
        if not (folder / name).is_file():
            msg = (
                f"open: found no {name} in {folder}. derivation.save({str(folder)!r}) writes it, "
                "and so does `symreln derive` with --format json, which is the default"
            )
            raise InputError(msg)
    proven = verify_file(folder)
    validation = None
    if (folder / "validation.json").is_file():
        validation = SavedValidation(
            content=read_json(folder / "validation.json"), curves=_curves(folder / "curves.npz")
        )
    return SavedDerivation(
        folder=folder,
        content=read_json(folder / "derivation.json"),
        certificate=read_json(folder / CERTIFICATE),
        proven=proven,
        validation=validation,
    )


def _curves(path: Path) -> dict[str, np.ndarray]:
    if not path.is_file():
        return {}
    with np.load(path, allow_pickle=False) as held:
        return {name: held[name] for name in held.files}


def _letter(letter: str, label: str) -> sp.Symbol:
    """Return what stands for a number of a mode that no formula in radicals says."""
    name = f"{letter}_{label.removeprefix('pi_')}"
    return sp.Symbol(name, nonnegative=True) if letter == "s" else sp.Symbol(name, real=True)


def _decimal(number: Mapping[str, Any]) -> float | None:
    return None if number.get("decimal") is None else float(number["decimal"])


def _number(value: Any) -> Any:
    """Return a bound or a value as a fraction; names and truth values as they are."""
    numeric = isinstance(value, str) and value.lstrip("-")[:1].isdigit()
    return Fraction(value) if numeric else value
