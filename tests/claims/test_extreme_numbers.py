"""Numbers beyond float64 are derived exactly; what needs floats refuses them with the place."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

import pytest

import symreln as sr
from symreln.base.jsonio import dumps
from symreln.errors import InputError, LimitReachedError
from symreln.report.terminal import summary_of
from symreln.verifier import verify
from tests.own_specs import own, path

NETWORK = {"hidden": 20, "init_std": "1/1000", "learning_rate": "1/100", "steps": 50}


def tables(x: list, y: list, gate: object = "all", **more: object) -> dict:
    """The tables of a spec with one pathway."""
    return own(x, y, path("a", gate), **{"network": NETWORK, **more})


def derived(*given: object, **more: object) -> sr.Derivation:
    """Derive, verify the certificate from its text, and print everything once."""
    derivation = sr.derive(sr.load(tables(*given, **more)))
    verify(derivation.certificate)
    assert derivation.to_latex()
    assert dumps(derivation.to_json())
    return derivation


def test_a_number_beyond_float_is_printed_from_the_exact_one(tmp_path):
    derivation = derived([["1e400"]], [[1]])
    (mode,) = derivation.to_json()["pathways"][0]["modes"]
    assert Decimal(mode["s"]["decimal"]) == Decimal("1e400")
    assert Decimal(mode["s"]["radius"]) < Decimal("1e380")
    assert mode["s"]["minpoly"] == f"x - {10**400}"
    assert Fraction(mode["d"]["expr"]) == 10**800
    assert "'1.000000000e+400', '1.000000000e+800'" in str(summary_of(derivation))
    assert "2.00e+398 a step" in str(summary_of(derivation))
    derivation.save(tmp_path)
    assert not (tmp_path / "figures" / "vectors.pdf").exists()
    assert (tmp_path / "derivation.html").exists()
    for numbers in (derivation.evaluate, lambda: sr.validate(derivation, seeds=1)):
        with pytest.raises(InputError, match=r"dataset\.X: a number is too large"):
            numbers()


def test_integers_of_more_than_4300_digits_are_written_and_verified():
    derivation = derived([["1e300", 1], [2, "1e-400"]], [[1, "1e-400"]])
    numbers = re.findall(r"\d+", dumps(derivation.certificate) + dumps(derivation.to_json()))
    assert max(map(len, numbers)) > 4300
    assert derivation.pathways[0].modes[0].s.scientific(digits=3) == "5e+299"


@pytest.mark.parametrize("key", ["init_std", "learning_rate"])
@pytest.mark.parametrize("value", ["1e400", "1e-400"])
def test_a_network_beyond_float_is_derived_and_not_trained(tmp_path, key, value):
    derivation = derived([[1, 0], [0, 1]], [[1, 2]], network=NETWORK | {key: value})
    assert "free constants: 1" in str(summary_of(derivation))
    derivation.save(tmp_path, formats=["html"])
    assert (tmp_path / "derivation.html").exists()
    with pytest.raises(InputError, match=rf"network\.{key}: a number is too"):
        derivation.evaluate()


@pytest.mark.parametrize(
    ("std", "value"), [("1e160", "1.00000000000e+321"), ("1e-170", "1.00000000000e-339")]
)
def test_constants_beyond_float_are_their_decimals(std, value):
    """H init_std²/2 of 20 units: infinity in float64, or lost to zero."""
    found = derived([[1]], [[1]], network=NETWORK | {"init_std": std}).to_json()["constants"]
    assert found[0]["value"] == value


def test_too_many_terms_end_with_what_grew():
    names = [f"p{k}" for k in range(8)]
    parameters = {name: {"positive": True, "value": k + 2} for k, name in enumerate(names)}
    spec = sr.load(
        tables([[f"1/({name} + 1)" for name in names]], [[1] * 8], parameters=parameters)
    )
    with pytest.raises(LimitReachedError, match=r"Sigma\^x of pathway 'a' .* 6561 terms in 8 para"):
        sr.derive(spec)


def test_too_many_digits_end_with_what_grew():
    x = [f"1/{10 ** (600 + 7 * k) + 1}" for k in range(7)]
    gains = [f"1/{10 ** (200 + 7 * k) + 1}" for k in range(7)]
    with pytest.raises(LimitReachedError, match=r"1 terms with integers of \d+ digits"):
        sr.derive(sr.load(tables([x], [[1] * 7], gains)))


@pytest.mark.parametrize(("std", "scale"), [("1/10", "5"), ("1e-400", "5e+798")])
def test_the_regime_of_data_beyond_float64_is_named(std, scale):
    """The plateau is 1 and π0 = 20 init_std²/4: the scales were floats, inf or an error."""
    network = {**NETWORK, "init_std": std}
    regime = derived([["1e400"]], [["1e400"]], network=network).to_json()["regime"]
    assert Decimal(regime["relative_scale"]["largest"]) == Decimal(scale)
    assert regime["name"] == "rich"


@pytest.mark.parametrize("key", ["learning_rate", "init_std"])
def test_programs_refuse_what_float64_has_no_room_for(key: str, tmp_path) -> None:
    value = "1e-309" if key == "learning_rate" else ["1e-200", "1e-201"]
    spec = sr.load(tables([[1]], [[1]], network=NETWORK | {key: value}))
    with pytest.raises(InputError, match="too large or too small for a program"):
        sr.derive(spec).save(tmp_path, ["py"])
