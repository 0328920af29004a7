"""What readers of documents stumbled over."""

from __future__ import annotations

import re
from fractions import Fraction

import symreln as sr
from symreln.report.terminal import summary_of
from tests.cases import derived
from tests.own_specs import LINEAR, own


def test_sizes_that_are_symbols_are_among_the_declared_parameters():
    spec = sr.load(
        "contextual-C", ["dataset.items=n", "parameters.n.integer=true", "parameters.n.value=4"]
    )
    derivation = sr.derive(spec)
    text = derivation.to_latex(full=True)
    assert r"$C$, the number of contexts: $2 \leq C$, 3 where a formula does not" in text
    assert r"$n$, the number of items: $2 \leq n$, 4 where a formula does not" in text
    assert "{context}" not in text.replace(r"\{", "{").replace(r"\}", "}")
    assert "one for each context" in text


NETWORK = LINEAR | {"hidden": 50, "init_std": "0.001", "learning_rate": "0.05", "steps": 101}
SMALL = own(
    [["0.5", "-0.5", "0.5", "-0.5"], ["0.5", "0.5", "-0.5", "-0.5"]],
    [["1.25", "-0.35", "0.35", "-1.25"], ["0.05", "0.45", "-0.45", "-0.05"]],
    network=NETWORK | {"weight_decay": "0.05"},
)


def test_decimals_of_the_user_are_decimals_on_the_page_and_exact_in_the_file():
    derivation = sr.derive(sr.load(SMALL))
    page = derivation.to_latex(full=True).split(r"\begin{document}")[1]
    assert r"X &= \begin{pmatrix} 0.5 & -0.5 & 0.5 & -0.5" in page
    assert r"0.05 & 0.45 & -0.45 & -0.05" in page
    assert r"\Sigma^{yx}(1) &= \begin{pmatrix} 0.4 & 0.225" in page
    assert page.count(r"\texttt{0.05}") == 2
    # One notation for initial strengths: on the first page and among the constants.
    assert page.count(r"2.5 \times 10^{-5}") == 2
    assert "e-0" not in page
    assert derivation.spec.network.weight_decay == Fraction(1, 20)


def test_what_is_computed_from_decimals_is_a_decimal_where_it_has_few_places():
    """In tables and formulas, and on the terminal; the file has the fractions."""
    data = {
        "X": [["0.8", 0], ["-0.8", 0], [0, "1.2"], [0, "-1.2"]],
        "Y": [["0.7*c", 0], ["-0.7*c", 0], [0, "0.9"], [0, "-0.9"]],
    }
    parameters = {"c": {"positive": True, "value": "0.4"}}
    network = SMALL["network"] | {"learning_rate": "0.16"}
    spec = {**SMALL, "dataset": data, "parameters": parameters, "network": network}
    derivation = sr.derive(sr.load(spec))
    page = derivation.to_latex(full=True).split(r"\begin{document}")[1]
    for shown in (
        r"Y &= \begin{pmatrix} 0.7 c & 0",
        r"\begin{pmatrix} 0.28 c & - 0.28 c",
        r"$\pi_{1,1}$ & $1.08$ & $1.44$ & $\frac{103}{144}$ & $33.633(1)$ & 1",
        r"$\pi_{1,2}$ & $0.56 c$ & $0.64$ & $\max\left(0, 0.875 c - 0.078125\right)$ & $169.23(1)$",
        r"\left(1 + \frac{1.03}{\tau}\right)^{- 2 t}",
        r"the time constant is $\tau = 1/\eta = 6.25$ steps",
    ):
        assert shown in page, shown
    assert r"\frac{25}{4}" not in page
    network.pop("weight_decay")  # where plateaus are s/d
    plain = sr.derive(sr.load({**spec, "network": network})).to_latex(full=True)
    assert r"$\pi_{1,1}$ & $1.08$ & $1.44$ & $0.75$ & $" in plain
    assert r"$\pi_{1,2}$ & $0.56 c$ & $0.64$ & $0.875 c$ & $" in plain
    spec.pop("network")  # where the table has decimals of s in place of half-times
    plain = sr.derive(sr.load(spec)).to_latex(full=True)
    assert r"$\pi_{1,2}$ & $0.56 c$ & $0.64$ & $0.875 c$ & $0.224$ & 1" in plain
    head, table, *_ = summary_of(derivation).values()
    assert [row[1] for row in table[2]] == ["1.08", "0.56*c", "0"], head
    modes = derivation.to_json()["pathways"][0]["modes"]
    assert [mode["s"]["expr"] for mode in modes[:2]] == ["27/25", "14*c/25"]
    assert modes[0]["s"]["decimal"] == "1.08"


def test_plateaus_of_sums_of_roots_are_formulas_too():
    page = sr.derive(sr.load(SMALL)).to_latex(full=True)
    assert r"& $0.25$ & $\frac{\sqrt{146} + \sqrt{610} - 4}{20}$ & $273.42(1)$ & 1" in page
    alone = {key: value for key, value in SMALL.items() if key != "network"}
    page = sr.derive(sr.load(alone)).to_latex(full=True)
    assert r"$\frac{\sqrt{146} + \sqrt{610}}{20}$ & $0.459765(1)$" in page


def test_what_is_used_is_named_before():
    page = derived("linear-hierarchy").to_latex(full=True)
    page = page.split(r"\begin{document}")[1]
    for named, used in (
        (r"$x_\mu$ and $y_\mu$, in $X$ and $Y$", r"I_p x_\mu"),
        (r"L = \tfrac{1}{2P} \sum_\mu \|y_\mu", r"$\tfrac{1}{2P} \sum_\mu \|y_\mu\|^2 = 2$"),
        (r"In blocks $I$ is an identity matrix", r"\frac{1}{8}\,I"),
    ):
        assert 0 <= page.index(named) < page.index(used), named


def test_no_source_is_listed_that_nothing_cites():
    page = derived("linear-hierarchy").to_latex(full=True)
    listed = set(re.findall(r"\\bibitem\{(\w+)\}", page))
    cited = set(re.findall(r"\\cite(?:\[[^]]*\])?\{(\w+)\}", page))
    assert listed == cited
