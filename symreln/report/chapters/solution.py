"""The solution family of decoupled modes, where it is not two balanced layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.claims.constants import count_of_printed
from symreln.claims.from_weights import white_inputs
from symreln.claims.orbits import short_list
from symreln.claims.starts import printed_starts
from symreln.document.mathtext import to_latex
from symreln.document.model import Block, Citation, Code, Math, Reference, equation, prose
from symreln.document.numerals import decimal_latex
from symreln.document.typeset import typeset
from symreln.document.words import fraction_latex
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.scalar import Scalar
from symreln.laws.choice import expected_start
from symreln.laws.depth import Depth
from symreln.laws.two_layer import TwoLayer
from symreln.specs.number import WrittenDecimal

if TYPE_CHECKING:
    from fractions import Fraction

    from symreln.claims.derivation import Derivation, ModeDerivation
    from symreln.claims.orbits import PathwayOrbit
    from symreln.document.inlines import Inline
    from symreln.laws.law import Law
    from symreln.report.abbreviations import Abbreviations
    from symreln.specs.model import NetworkSpec


#: What is assumed where a ReLU network is linear at half speed.
HALF_SPEED = (
    " It is twice that of a linear network: the data are closed under a change of sign, and a "
    "bias-free ReLU network whose units come in pairs of opposite signs is then linear, at half "
    "speed (Zhang, Saxe and Latham 2024); small random weights come in such pairs on average. "
    "Weight decay counts twice in this unit of time."
)


def time_constant(network: NetworkSpec, *, twice: bool) -> str:
    """Return the LaTeX of the time constant in terms of the learning rate.

    Args:
        network: It says whether losses are summed over samples.
        twice: Whether the network is a ReLU network that is linear at half speed.
    """
    top = 2 if twice else 1
    return rf"{top}/(P \eta)" if network.loss == "sum" else rf"{top}/\eta"


def other_family(derivation: Derivation) -> ModeDerivation | None:
    """Return a mode whose family is not two balanced layers, or None where there is none."""
    modes = (mode for pathway in derivation.pathways for mode in pathway.modes)
    return next((m for m in modes if m.strength is not None and m.family != TwoLayer.name), None)


def family_solution(mode: ModeDerivation, weight_decay: Fraction, coupled: bool) -> list[Block]:
    """Say which family was taken, why the earlier ones were not, and what it solves.

    Args:
        mode: A mode with a trajectory.
        weight_decay: λ, 0 for none.
        coupled: Whether couplings change what some mode's d is.
    """
    assert mode.strength is not None
    follows = _implicit(mode)
    decay = ("weight decay ", Math(rf"\lambda = {fraction_latex(weight_decay)}"), " and ")
    replaced = (Math("d"), " replaced by ", Math(r"d_{\mathrm{eff}}"), " where pathways couple")
    named = (*(decay if weight_decay else ()), *(replaced if coupled else ()))
    if not coupled:
        named = named[:-1]
    blocks: list[Block] = [
        prose(f"Every mode evolves on its own. The solution family is “{mode.family}”: {mode.why}.")
    ]
    if mode.passed_over:
        reasons = "; ".join(f"“{name}”: {why}" for name, why in mode.passed_over)
        blocks.append(prose(*typeset(f"Families asked before and passed over: {reasons}.")))
    return [
        *blocks,
        prose("The strength ", Math(r"\pi"), " of a mode, that of its layers' product, solves"),
        equation(mode.strength.equation + (",", ".")[not (named or follows)], label="eq:mode"),
        *follows,
        prose(
            *(("with ", *named, ". ") if named else ()),
            *_proof(mode.strength),
            " Source of the decoupled mode equations: ",
            Citation("Saxe2014"),
            ". Assumed: aligned initial weights.",
        ),
    ]


def _proof(strength: Law) -> list:
    """Say what is proven of a solution, or that there is none."""
    if not strength.closed:
        return [
            Reference("eq:mode"),
            " follows from the equations of the two amplitudes by identities that cancel to "
            "exactly 0. It has no closed form: strengths are integrated in float64.",
        ]
    return [
        "Each solution below was substituted into ",
        Reference("eq:mode"),
        " and the residual cancelled to exactly 0, with every quantity a free symbol; so was "
        "its value at ",
        Math("t = 0"),
        ".",
    ]


def _implicit(mode: ModeDerivation) -> list[Block]:
    """Give the time as a function of the strength, once for all modes."""
    if not implicit(mode):
        return []
    assert isinstance(mode.strength, Depth)
    power = rf"1/{to_latex(mode.strength.layers)}"
    return [
        prose(
            "and has no explicit solution here, but the time as a function of the strength, with ",
            Math(r"\rho_0"),
            " that of ",
            Math(r"\pi_0"),
            ",",
        ),
        equation(
            rf"t(\pi) &= \frac{{\tau}}{{s}} \left(\frac{{d}}{{s}}\right)^{{1 - 2/L}} "
            r"\left[T(\rho) - T(\rho_0)\right], \quad "
            rf"\rho = \left(\frac{{d \pi}}{{s}}\right)^{{{power}}},",
            rf"T(\rho) &= {to_latex(mode.strength.stage)}",
            label="eq:implicit",
        ),
    ]


def implicit(mode: ModeDerivation) -> bool:
    """Whether only the time is in closed form, as a function of the strength."""
    return isinstance(mode.strength, Depth) and mode.strength.expr is None


def implicit_formula(group: PathwayOrbit, mode: ModeDerivation, names: Abbreviations) -> str:
    """Return the line of such a solution: its factor and the variable of T."""
    strength = mode.strength
    assert isinstance(strength, Depth)
    scale, height = (group.renamed(mode, e) for e in (strength.scale, strength.plateau))
    power = rf"1/{to_latex(strength.layers)}"
    share = r"\pi" if height == 1 else rf"\left(\frac{{\pi}}{{{names.latex(height)}}}\right)"
    return (
        rf"t({group.symbol(mode)} = \pi) &= {names.latex(scale)} "
        rf"\left[T(\rho) - T(\rho_0)\right], \quad \rho = {share}^{{{power}}}"
    )


def whole_matrices(derivation: Derivation) -> list[Block]:
    """Say that the whole matrices have a solution, where weights would have to be given."""
    if not white_inputs(derivation):
        return []
    return [
        prose(
            "The inputs are white, so that the whole weight matrices have a closed form, without "
            "alignment or small weights: from weights with ",
            Math(r"W_2^{\top} W_2 - W_1 W_1^{\top} = \lambda I"),
            " that you give, ",
            Code("symreln.from_weights(derivation, w1, w2)"),
            " has it, in floats and in certified balls (Braun and others 2022, Dominé and others "
            "2024). Weights from the initialisation distribution fulfil this in the mean only.",
        )
    ]


def start_latex(value: Fraction) -> str:
    """Return an initial strength as it is printed everywhere: a decimal, with its error if any."""
    return decimal_latex(*AlgebraicNumber.rational(Scalar.of(value)).decimal({}, 21), digits=6)


def start_content(derivation: Derivation) -> list[Inline | str]:
    """Say where strengths start: π₀, with κ of the pathways that have one."""
    if derivation.given_start is not None:
        return ["Strengths start where was asked, at ", _start(derivation.given_start)]
    content: list[Inline | str] = []
    starts = derivation.ask(printed_starts)
    for place, each in enumerate(starts):
        content += ["; " if place else "The initial strength is "]
        if each.kappa is None:
            content += [_start(each.strength0)]
            origin = ", expected of the initialisation distribution"
        else:
            kappa, error = each.kappa
            formula = rf"\tfrac{{1}}{{2}} \kappa H \sigma^2 = {start_latex(each.strength0)}"
            content += [Math(rf"\pi_0 = {formula}")]
            origin = f", a Monte Carlo estimate with κ = {kappa} ± {error:.2g}, exact from here on"
        where = "" if len(starts) == 1 else f" in {short_list(each.pathways)}"
        content += typeset(where + origin)
    return content


def _start(strength0: Fraction) -> Math:
    return Math(rf"\pi_0 = {start_latex(strength0)}")


def time_constant_latex(derivation: Derivation) -> str:
    """Return tau as it is printed everywhere: a decimal where the learning rate was written so."""
    network = derivation.spec.network
    assert network is not None
    assert derivation.tau is not None
    decimals = isinstance(network.learning_rate, WrittenDecimal)
    return fraction_latex(derivation.tau, decimals=decimals)


def family_start(derivation: Derivation) -> list[Block]:
    """Say where the modes of such a network start."""
    network = derivation.spec.network
    if network is None:
        return []
    if derivation.strength0 is None:
        return [
            prose(
                f"The initial strength of a product of {derivation.known.layers} random matrices "
                "is not derived: the formulas hold for any ",
                Math(r"\pi_0"),
                ", and no numbers are printed here. `symreln validate` and `evaluate()` in Python "
                "predict them, from single modes of random layers that are followed.",
            )
        ]
    start = expected_start(derivation.known)
    content: list = start_content(derivation)
    if start.imbalance:
        content += [
            ", with the conserved product ",
            Math(rf"\delta = |a + b|\,|a - b| = {decimal_latex(str(start.imbalance), digits=6)}"),
            " of its amplitudes' sum and difference (vectors over the hidden units)",
        ]
        decays = derivation.known.lowers_plateaus
        content += [", which decays under weight decay"] if decays else []
    return [
        prose(*content, "."),
        count_of_printed(derivation),
    ]
