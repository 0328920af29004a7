"""Public functions with hostile arguments: an answer, or an error that says what is needed."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest

import symreln as sr
from symreln.claims.derivation import Derivation
from symreln.errors import InputError, SymrelnError
from tests.own_specs import LINEAR, own

NETWORK = LINEAR | {"hidden": 4, "init_std": "1/10", "learning_rate": "1/10", "steps": 5}
FIRST, SECOND = [["1/100", "0"], ["0", "1/100"]], [["1/100", "0"], ["0", "-1/100"]]


@lru_cache(maxsize=1)
def derived() -> Derivation:
    return sr.derive(sr.load(own([[1, 0], [0, 1]], [[3, 0], [0, 2]], network=NETWORK)))


@lru_cache(maxsize=1)
def balanced():
    return sr.from_weights(derived(), FIRST, SECOND)


def hostile() -> list[object]:
    nan, inf, huge = float("nan"), float("inf"), 10**400
    numbers = [True, -1, 0, 1.5, nan, inf, -inf, huge, 1j, Fraction(-1, 3), Decimal("NaN")]
    texts = ["", "x", "1/0", "[1", "\x00", "é" * 5000, b"x"]
    lists = [[], [[]], {}, {"a": 1}, [None], ["x"], [nan], [-1], [huge], range(3), iter([1, "a"])]
    arrays = [np.array([]), np.array([[0.5]]), np.array(["a"]), np.float32(nan), np.int64(-3)]
    return [None, *numbers, *texts, *lists, *arrays, object(), int, len, np.array([2, 1])]


CALLS = {
    "load": lambda h: sr.load(h),
    "load, overrides": lambda h: sr.load("xor", overrides=h),
    "load, one override": lambda h: sr.load("xor", overrides=[h]),
    "derive": lambda h: sr.derive(h),
    "validate": lambda h: sr.validate(h),
    "validate, seeds": lambda h: sr.validate(derived(), seeds=h),
    "validate, rng": lambda h: sr.validate(derived(), seeds=1, rng=h),
    "evaluate": lambda h: derived().evaluate(h),
    "enclose": lambda h: derived().enclose(h, digits=3),
    "enclose, digits": lambda h: derived().enclose([0], digits=h),
    "starting_at": lambda h: derived().starting_at(h),
    "from_weights": lambda h: sr.from_weights(h, FIRST, SECOND),
    "from_weights, w1": lambda h: sr.from_weights(derived(), h, SECOND),
    "from_weights, w2": lambda h: sr.from_weights(derived(), FIRST, h),
    "weights, to_numpy": lambda h: balanced().to_numpy(h),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_hostile_argument_gets_an_answer_or_an_error_of_ours(name):
    wrong = []
    for value in hostile():
        try:
            CALLS[name](value)
        except SymrelnError as error:
            if not str(error) or len(str(error)) > 2000:
                wrong.append(f"{value!r}: a message of {len(str(error))} characters")
        except Exception as error:
            wrong.append(f"{str(value)[:40]!r}: {type(error).__name__}: {error}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: sr.validate(derived(), rng=-1), "rng: found -1; give a whole number from 0"),
        (lambda: sr.validate(derived(), seeds=1.5), "seeds: found 1.5; give a whole number from 1"),
        (lambda: sr.validate(3), "Write sr.validate"),
        (lambda: derived().starting_at("x"), 'strength0: found "x"; give a number above 0'),
        (lambda: balanced().to_numpy([-1]), "give a sequence of finite steps from 0 on"),
        (lambda: sr.from_weights(derived(), FIRST, "x"), "w2"),
        (lambda: sr.load(3), "load: found 3; give a spec file, its tables as a mapping"),
        (lambda: sr.load("xor", overrides="a=1"), r"give a list of key=value texts"),
    ],
)
def test_messages_say_what_was_found_and_what_is_needed(call, says):
    with pytest.raises(InputError) as error:
        call()
    assert says in str(error.value)


def test_numbers_of_numpy_are_numbers():
    plain, array = derived().enclose([0, 2], 5), derived().enclose(np.array([0, 2]), 5)
    assert {k: [b.str(5) for b in v] for k, v in plain.items()} == {
        k: [b.str(5) for b in v] for k, v in array.items()
    }
    start = np.float64(0.001)
    one, two = (derived().starting_at(s).enclose([1], 9) for s in (start, Fraction(1, 1000)))
    assert str(one) == str(two)
    assert sr.validate(derived(), seeds=np.int64(1), rng=np.int64(2)).seeds == 1
    times = np.array([0.0, 3.0])
    np.testing.assert_array_equal(balanced().to_numpy(times), balanced().to_numpy([0, 3]))
