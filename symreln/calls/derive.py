"""Deriving: the call, and everything that can be asked of a derivation."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import sympy as sp

from symreln.base.lazy import lazy
from symreln.base.records import record
from symreln.claims import derivation, solve
from symreln.claims.integration import network_of
from symreln.claims.probes import learning_modes
from symreln.claims.relaxation import diverging
from symreln.claims.rules import lines_of, rule_of
from symreln.document.document_model import Document, on_paper
from symreln.errors import InputError
from symreln.exact.scalar import Scalar
from symreln.pipeline import derive as pipeline
from symreln.pipeline.certificate import certificate
from symreln.report.latex_style import Style
from symreln.specs.arguments import exact_value
from symreln.task_library.load import spec_of

if TYPE_CHECKING:
    import os

    from flint import arb
    from matplotlib.axes import Axes

    from symreln.calls import outputs
    from symreln.calls.outputs import Outputs
    from symreln.claims import balls, constants, early, equilibria, formulas, narrow, prediction
    from symreln.claims.constants import Constant
    from symreln.claims.curves import Prediction
    from symreln.claims.early import EarlyStrengths
    from symreln.claims.equilibria import CompetitionEnd
    from symreln.claims.exceptional import ExceptionalSets
    from symreln.claims.formulas import Formula
    from symreln.claims.narrow import NarrowPathway
    from symreln.claims.regime import TrainingRegime
    from symreln.report import (
        content,
        derivation_json,
        html,
        latex,
        mode_table,
        numeric_formula,
        programs,
        summary,
        user_plots,
        write,
    )
    from symreln.report.mode_table import Modes
    from symreln.report.numeric_formula import NumericFormula
    from symreln.sizes.every_size import EverySize
    from symreln.sizes.routing_claim import Routing
    from symreln.specs.spec import Spec
else:
    (outputs,) = lazy("calls", "outputs")
    balls, constants, early, equilibria, formulas, narrow, prediction = lazy(
        "claims", "balls constants early equilibria formulas narrow prediction"
    )
    content, derivation_json, html, latex = lazy("report", "content derivation_json html latex")
    mode_table, numeric_formula, programs, summary, user_plots, write = lazy(
        "report", "mode_table numeric_formula programs summary user_plots write"
    )

Times = Sequence[float] | np.ndarray
#: For which to_python writes programs.
Library = Literal["numpy", "jax", "torch"]


@record
class Derivation(derivation.Derivation):
    """Everything derived from a spec, with what a user asks of it.

    Example:
        >>> import symreln as sr
        >>> derivation = sr.derive("linear-hierarchy")
        >>> [mode.s for mode in derivation.modes]
        [sqrt(15)/8, sqrt(7)/8, sqrt(3)/8, 1/8]
    """

    @classmethod
    def of(cls, derived: derivation.Derivation) -> Self:
        """Return a derivation that shares what was found of ``derived`` already."""
        if isinstance(derived, cls):
            return derived
        made = object.__new__(cls)
        vars(made).update(vars(derived))
        return made

    def __reduce_ex__(self, protocol: object) -> tuple[Any, ...]:
        """Return what makes it again: its spec, of which everything follows."""
        return derive, (self.spec,)

    @property
    def certificate(self) -> dict[str, Any] | None:
        """The certificate of every exact claim, as JSON values (symreln.verifier).

        None of nodes and edges that are no routing network: what is derived of these is checked by
        the program alone.
        """
        return self.ask(certificate)

    @property
    def routing(self) -> Routing | None:
        """The routing network for every M and K, where edges make one and modes close."""
        return self.ask(rule_of("routing"))

    def to_document(self) -> Document:
        """Return the whole derivation as a document, without figures."""
        return content.derivation_document(self)

    def to_latex(
        self,
        *,
        fragment: bool = False,
        prefix: str = "",
        level: int = 1,
        numbering: str = "labelled",
        full: bool = False,
    ) -> str:
        r"""Return the whole derivation as a LaTeX document, or as text for ``\input``.

        Args:
            fragment: Whether preamble, title and bibliography are left to a paper.
            prefix: What every label begins with, so that those of two derivations differ.
            level: What the outermost sections are: 1 sections, 2 subsections, 3 subsubsections.
            numbering: "labelled": equations that the text refers to have numbers of the paper;
                "all": every one has; a capital letter such as "S": none has, and the former have
                tags (S1), (S2).
            full: Whether it has everything that the page folds.

        Example:
            >>> import symreln as sr
            >>> text = sr.derive("linear-hierarchy").to_latex(fragment=True, prefix="hierarchy:")
            >>> r"\label{hierarchy:" in text, "documentclass" in text
            (True, False)
        """
        style = Style(prefix=prefix, level=level, numbering=numbering)
        render = latex.fragment if fragment else latex.render
        document = self.to_document()
        return render(document if full else on_paper(document), style)

    def to_json(self) -> dict[str, Any]:
        """Return what derivation.json says, made once."""
        return self.ask(derivation_json.derivation_to_json)

    def save(
        self,
        directory: str | Path,
        formats: Sequence[str] = (),
        *,
        latex: Sequence[str] = (),
        full: bool = False,
    ) -> list[Path]:
        """Write derivation.json, certificate.json, derivation.tex, .html and the figures.

        Args:
            directory: Folder, made if it is not there.
            formats: What to write beside the certificate: some of json, tex, html, py, fragment
                (LaTeX to include) and pdf (which needs the extra ``symreln[pdf]``); the first
                three by default.
            latex: How LaTeX is written: prefix=ctx: of labels, level=2 for subsections,
                numbering=all, or =S for starred equations with tags (S1), figures=FOLDER.
            full: Whether to put all that the page folds into documents on paper, too.

        Example:
            >>> import symreln as sr, tempfile
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     sorted(path.name for path in sr.derive("xor").save(folder, "json"))
            ['certificate.json', 'derivation.json']
        """
        style = Style.of(latex)
        return write.write_derivation(self, directory, formats=formats, style=style, full=full)

    def _summary(self) -> list[str]:
        return summary.derivation_summary(self)

    def _repr_html_(self) -> str:
        """Return the document in a frame of its own, folded, for a notebook."""
        return html.framed(self.to_document(), self._headline())

    def _repr_latex_(self) -> str | None:
        """Return trajectories and loss, as the first page has them, for a notebook as LaTeX."""
        return content.displayed_formulas(self)

    @property
    def family(self) -> EverySize | None:
        """The answer for every size; None where no size of the task is a symbol."""
        return self.ask(rule_of("family"))

    @property
    def constants(self) -> tuple[Constant, ...]:
        """Every number of the printed closed forms that is not in the spec."""
        return self.ask(constants.printed_constants)

    @property
    def final_loss(self) -> Scalar | sp.Expr:
        """The loss in the end, the least-squares value unless decay or few units keep it above."""
        found = self.ask(rule_of("loss"))
        if found.rational is not None and not self.spec.parameters:
            return Scalar.of(found.rational)
        return self.least_loss if found.settled is None else found.settled

    @property
    def free_constants(self) -> int:
        """How many of them were assumed or fitted."""
        return constants.count_free(self.constants)

    @property
    def races(self) -> tuple[CompetitionEnd, ...]:
        """How the competitions of coupled modes end; none where no stage has any."""
        return self.ask(equilibria.races_of)

    @property
    def narrow(self) -> tuple[NarrowPathway, ...]:
        """Pathways with fewer hidden units than modes, and which modes they learn."""
        return self.ask(narrow.narrow_pathways)

    @property
    def unsupported(self) -> dict[str, str]:
        """Why no hidden unit keeps the gate of a pathway, by name, at the declared values."""
        return self.ask(early.unsupported_pathways)

    @property
    def early(self) -> EarlyStrengths:
        """κ of the modes that learn first, at the declared values; needs a network."""
        return self.ask(early.EarlyStrengths.of)

    @property
    def regime(self) -> TrainingRegime | None:
        """Whether initial weights are small beside what is learned; None where it is not known."""
        return self.ask(rule_of("regime"))

    @property
    def exceptional(self) -> ExceptionalSets | None:
        """Where the answer, which holds for generic parameters, ends; None without parameters."""
        return self.ask(rule_of("exceptional"))

    @cached_property
    def at_values(self) -> Derivation:
        """The derivation made again, exactly, at the parameters' declared values.

        Raises:
            InputError: A parameter has no declared value.
        """
        return Derivation.of(self.ask(solve.at_values)) if self.spec.parameters else self

    @property
    def modes(self) -> Modes:
        """Every mode with its exact values, as a table: ``.to_pandas()``, ``.to_csv()``.

        Example:
            >>> import symreln as sr
            >>> sr.derive(sr.load("linear-hierarchy")).modes["pi_1_1"].half_time
            148.1...
        """
        return self.ask(mode_table.Modes.of)

    def formula(self, name: str) -> Formula:
        """Return the closed form of a mode or of the loss, in t and letters.

        Args:
            name: Label of a mode such as "pi_1_1", or "loss".

        Raises:
            NoClosedFormError: Not every mode that learns has one; the message says why.
            InputError: There is none of that name.

        Example:
            >>> import symreln as sr
            >>> formula = sr.derive(sr.load("linear-hierarchy")).formula("pi_1_1")
            >>> sorted(map(str, formula.half_time.free_symbols))
            ['pi_0', 'tau']
        """
        found = self.ask(formulas.formulas_of).named(name)
        mode = next((m for _, m in learning_modes(self) if m.label == name), None)
        if mode is None or found.half_time is not None:
            return found
        half = balls.half_time(self, mode, 21).decimal  # where symbols have no formula
        return found if half is None else replace(found, half_time=sp.Float(half[0], 21))

    def to_numpy(self, name: str) -> NumericFormula:
        """Return a closed form as a function of time and letters, these at their declared values.

        Args:
            name: As of :meth:`formula`.

        Example:
            >>> import symreln as sr
            >>> loss = sr.derive(sr.load("linear-hierarchy")).to_numpy("loss")
            >>> bool(loss(0) > loss(10_000))
            True
        """
        found = self.ask(formulas.evaluated_formulas)
        return numeric_formula.NumericFormula(found.named(name), found.of(name))

    def to_python(self, library: Library = "numpy") -> str:
        """Return a program that computes every closed form by a library alone.

        Args:
            library: "numpy", "jax" or "torch".

        Example:
            >>> import symreln as sr
            >>> "import torch" in sr.derive("linear-hierarchy").to_python("torch")
            True
        """
        return programs.program(self, library)

    def starting_at(self, strength0: Fraction | float) -> Derivation:
        """Return the derivation with another initial strength of every mode in all that it says.

        Args:
            strength0: π₀, above 0, in place of that which follows from the weights; of a ReLU
                network from κ of the early phase.

        Raises:
            InputError: There is no network, or it is no number above 0.

        Example:
            >>> import symreln as sr
            >>> sr.derive("linear-hierarchy").starting_at("1/1000").strength0
            Fraction(1, 1000)
        """
        needed = "give a number above 0, for example Fraction(1, 1000)"
        given = exact_value(strength0, "strength0", needed)
        if given <= 0:
            msg = f"strength0: found {given}; {needed}"
            raise InputError(msg)
        network = replace(network_of(self.spec), strength0=given)
        # Gates from the data are given from here on: an effective network starts from weights.
        return replace(self, spec=replace(self.spec, network=network, find=""))

    def evaluate(self, times: Times | None = None) -> Prediction:
        """Return the predicted curves in float64: ``.loss``, and ``.modes`` with a curve each.

        They are what is judged beside trained networks, from the printed initial strength π₀.

        Args:
            times: Ascending times in steps, from 0; every step of the network by default.

        Example:
            >>> import symreln as sr
            >>> sr.derive(sr.load("linear-hierarchy")).evaluate([0, 500]).loss.round(3).tolist()
            [2.0, 0.06]
        """
        _warn(self)
        return prediction.predict(self.at_values, times)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the strengths of the modes and, below, the loss.

        Args:
            ax: Where, divided in two; a new figure by default.

        Returns:
            The axes of the strengths.

        Raises:
            InputError: There is no network, or a parameter has no value.

        Example:
            >>> import symreln as sr
            >>> ax = sr.derive(sr.load("linear-hierarchy")).plot()
            >>> [panel.get_ylabel() for panel in ax.figure.axes][1]
            'loss $L(t)$'
        """
        return user_plots.plot_derivation(self, ax)

    def predict(self, steps: Times | None = None) -> Outputs:
        """Return the predicted outputs ŷ(t) of every sample: ``.values``, ``.by_mode``, ``.plot``.

        Args:
            steps: Ascending times in steps, from 0; every step of the network by default.

        Example:
            >>> import symreln as sr
            >>> found = sr.derive("linear-hierarchy").predict([0, 200, 2000])
            >>> found.values.shape, found.values[-1, 0, :2].round(3).tolist()
            ((3, 8, 15), [1.0, 1.0])
        """
        _warn(self)
        return outputs.Outputs.of(self.at_values, steps)

    def enclose(
        self, times: Sequence[int | Fraction], digits: int = 50
    ) -> dict[str, tuple[arb, ...]]:
        """Return certified balls of every closed-form strength at the given times.

        Args:
            times: Exact times in steps.
            digits: Correct decimal digits asked for.

        Returns:
            Label of a mode -> one ball a time, each proven to contain the true value.

        Raises:
            NoClosedFormError: The verdict has no closed form.

        Example:
            >>> import symreln as sr
            >>> sr.derive("linear-hierarchy").enclose([1000], digits=10)["pi_1_4"][0].str(10)
            '[0.9999544759 +/- 4.46e-11]'
        """
        return balls.enclose(self, times, digits)


def derive(spec: Spec | str | os.PathLike[str]) -> Derivation:
    """Derive the dynamics exactly, of pathways or of nodes and edges.

    Args:
        spec: A checked spec, a spec file, or the name of a ready-made spec.

    Raises:
        InputError: The exact data cannot be treated, or what was handed in is no spec.
        LimitReachedError: Correlations have too many terms or digits.

    Example:
        >>> import symreln as sr
        >>> sr.derive("linear-hierarchy").verdict.level.value
        'closed'
    """
    found = Derivation.of(pipeline.derive(spec_of(spec, "derive")))
    _warn(found)
    return found


def _warn(derivation: Derivation) -> None:
    """Warn of steps at which gradient descent diverges, as the terminal does."""
    for line in lines_of(derivation, diverging):
        warnings.warn(line.removeprefix("warning: "), stacklevel=3)
