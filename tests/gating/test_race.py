"""Races over a parameter: XoR, every interval asked at other numbers, and trained networks."""

from fractions import Fraction
from itertools import pairwise
from random import Random

import pytest

import symreln as sr
from symreln.errors import InputError, LimitReachedError
from symreln.exact.algebraic import AlgebraicNumber, order_key
from symreln.exact.domain import Range
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from symreln.gating import wall_polynomials
from symreln.gating.arrangement import flats
from symreln.gating.consistent import self_consistent_gates, sign_pattern
from symreln.gating.enumerate import RealisableGates
from symreln.gating.parameter_intervals import Piece
from symreln.gating.partial import partial_gates
from symreln.gating.race import race
from symreln.gating.race_pieces import Race, RacePiece
from symreln.gating.search import _search
from symreln.networks.gate_orbits import moved_gates
from tests.own_specs import own
from tests.strategies import FULL

WHOLE = Range(name="a")
#: Outputs and seeds of which leaving out crossings, or openings of irrational rates, is seen.
NEEDED = (1, 11), (2, 6)


def text(number: object) -> str | None:
    return None if number is None else str(number.to_sympy())


def within(piece: Piece, value: Fraction) -> bool:
    """Whether a number lies strictly inside an interval; floats cannot tell an end of it."""
    exact = AlgebraicNumber.rational(Scalar.of(value))
    if exact in (piece.low, piece.high):
        return False
    low = piece.low is None or piece.low.enclose() < exact.enclose()
    return low and (piece.high is None or exact.enclose() < piece.high.enclose())


def ends(part) -> tuple[str | None, str | None]:
    return text(part.piece.low), text(part.piece.high)


def spec(x: list, y: list, **parameter: object) -> sr.Spec:
    return sr.load(own(x, y, parameters={"a": parameter}))


@pytest.fixture(scope="module")
def xor():
    return sr.race("xor").found


def test_xor_is_the_known_answer(xor) -> None:
    """Single samples up to Delta = √(2/3), whole classes beyond; single ones end at √2."""
    found = xor.race
    assert [(*ends(part), part.order) for part in found.pieces] == [
        ("0", "0", (("1000",),)),
        ("0", "sqrt(6)/3", (("1000",), ("1100",))),
        ("sqrt(6)/3", "sqrt(2)", (("1100",), ("1000",))),
        ("sqrt(2)", None, (("1100",),)),
    ]
    # Irrational boundaries are exact, and in no piece.
    assert [part.closed for part in found.pieces] == [(True, True), *3 * [(False, False)]]
    values = ("0", "1/2", "81/100", "82/100", "141/100", "142/100", "9")
    places = [
        k for v in values for k, part in enumerate(found.pieces) if part.contains(Fraction(v))
    ]
    assert places == [0, 1, 1, 2, 2, 3, 3]
    assert [(text(b.value), b.kind, b.between, b.changes_winner) for b in found.boundaries] == [
        ("0", "existence", ("1100",), False),
        ("sqrt(6)/3", "speed", ("1100", "1000"), True),
        ("sqrt(2)", "existence", ("1000",), False),
    ]
    rates = {each.pattern: (text(each.rate), each.size) for each in xor.runners}
    assert rates == {"1000": ("sqrt(Delta**2 + 2)/4", 4), "1100": ("Abs(Delta)/2", 2)}


#: X, Y and the range of a; the pieces with their order, and the boundaries.
KNOWN = {
    # Orthogonal samples with targets (1, 0), (0, a): both together grow as one at a = 1 alone.
    "a gate at one value": (
        ([[1, 0], [0, 1]], [[1, 0], [0, "a"]], {"positive": True}),
        [
            ("0", "1", (("10",), ("01",))),
            ("1", "1", (("11", "10", "01"),)),
            ("1", None, (("01",), ("10",))),
        ],
        [("1", "existence", ("11",), True), ("1", "speed", ("10", "01"), True)],
    ),
    # A unit on sample 1 sees sample 2 with a; it must stay off it once a > 0.
    "full gates become partial": (
        ([[1, "a"], [0, 1]], [[1, -3]], {"minimum": -1, "maximum": 1}),
        [
            ("-1", "0", (("01",), ("10",))),
            ("0", "1/3", (("/1",), ("1/",))),
            ("1/3", "1", (("11",), ("1/",))),
        ],
        [
            ("0", "existence", ("10", "1/", "01", "/1"), True),
            ("1/3", "existence", ("11", "/1"), True),
        ],
    ),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_races(name: str) -> None:
    (x, y, limits), orders, boundaries = KNOWN[name]
    found = sr.race(spec(x, y, **limits)).found.race
    assert found.complete
    assert [(*ends(part), part.order) for part in found.pieces] == orders
    changes = [(text(b.value), b.kind, b.between, b.changes_winner) for b in found.boundaries]
    assert changes == boundaries
    if "1/" in found.classes:  # |x_1 off x_2|/2 = 1/(2√(1 + a²))
        (rate,) = (r.rate for r in found.pieces[-1].runners if r.pattern == "1/")
        assert rate.to_float({"a_": Fraction(3, 4)}) == pytest.approx(0.5 / (1 + 9 / 16) ** 0.5)


@pytest.mark.parametrize(
    ("x", "r", "value", "between"),
    [
        ([[2, 0, 0, 2], [-2, 1, -1, -2]], [-1, "-a", "-a-1", 2], "1 + sqrt(2)", ("0100", "/01/")),
        (
            [[-1, 0, 1, -1], [-1, -2, -2, -1]],
            [-1, 1, "1-a", "1-a"],
            "sqrt(2)/4 + 3/2",
            ("1111", "1/01"),
        ),
    ],
)
def test_a_partial_gate_wins_over_part_of_the_range(x, r, value, between) -> None:
    """A speed boundary between a full and a partial gate, exact, and met on both sides."""
    asked = spec(x, [r], minimum=-3, maximum=3)
    found = sr.race(asked)
    swaps = [
        (text(b.value), b.between)
        for b in found.found.race.boundaries
        if b.changes_winner and b.kind == "speed"
    ]
    assert (value, between) in swaps
    for part in found.found.race.pieces:
        at = {"a_": part.piece.sample}
        data = asked.dataset
        x, r = data.inputs.substitute(at), data.targets.substitute(at)
        here = _search(x, r, RealisableGates.of(x))
        assert here.candidates[0].s == part.ranks[0][0].s
        assert any(sign_pattern(signs) in part.winners for signs in here.winners)
    for each in found.to_json()["candidates"]:
        assert each["kind"] == ("partial" if "/" in each["pattern"] else "full")
        assert len(each["fractions"]) == each["pattern"].count("/")
        assert all(0 <= float(number["decimal"]) <= 1 for number in each["fractions"])


def test_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    both = sr.load(own([["a", "b"]], [[1, 2]], parameters={"a": {}, "b": {}}))
    linear = sr.load("xor", {"network.activation": "linear"})
    for asked, said in (
        ({"spec": both}, "found 2 parameters in the spec"),
        ({"spec": both, "over": "a"}, "b has no value, and a race is over one parameter"),
        ({"spec": "xor", "over": "q"}, r'found no parameter "q" .* one of these: Delta'),
        ({"spec": "xor", "stage": 2}, "the last stage of the spec is 1"),
        ({"spec": "linear-hierarchy"}, "found a spec without parameters"),
        ({"spec": "contextual-3", "stage": 2, "seeds": 1}, "found --seeds 1 with --stage 2"),
        ({"spec": linear, "seeds": 1}, "no gates to find"),
    ):
        with pytest.raises(InputError, match=said):
            sr.race(**asked)
    monkeypatch.setattr(wall_polynomials, "_MOST_MINORS", 3)
    with pytest.raises(LimitReachedError, match="4 minors"):
        sr.race("xor")


# -- random data -----------------------------------------------------------------------------------


def entry(random: Random, degree: int) -> Scalar:
    a = Scalar.symbol("a", ("a",))
    total = Scalar(("a",), random.randint(-2, 2))
    for power in range(1, degree + 1):
        total = total + a**power * random.choice([0, 0, 1, -1])
    return total


def matrix(random: Random, height: int, width: int, degree: int) -> ExactMatrix:
    rows = [[entry(random, degree) for _ in range(width)] for _ in range(height)]
    return ExactMatrix.from_rows(rows, ("a",))


def order_at(found: Race, part: RacePiece, inputs: ExactMatrix, r: ExactMatrix) -> list[list[str]]:
    """Derive the ranks anew from all gates, without symmetries or critical values."""
    listed = RealisableGates.of(inputs)
    gates = [(tuple(int(v) for v in gate), 1) for gate in listed.gates]
    every = [(tuple(signs), 1) for flat in flats(inputs) for signs in flat.signs.tolist()]
    both = self_consistent_gates(inputs, r, gates) + partial_gates(inputs, r, every)
    ranks: list[list[str]] = []
    last = None
    for each in sorted(both, key=lambda each: order_key(each.s, {})):
        kind = sign_pattern(max(moved_gates(each.signs, found.group)))
        if last is None or last != each.s:
            ranks.append([])
        if kind not in ranks[-1]:
            ranks[-1].append(kind)
        last = each.s
    return [sorted(rank, reverse=True) for rank in ranks]


@pytest.mark.parametrize(
    ("outputs", "seed"),
    [*(NEEDED if FULL else ()), *((1 + n % 2, 1000 + n) for n in range(40 if FULL else 2))],
)
def test_random_races_are_those_at_single_values(outputs: int, seed: int) -> None:
    """Derived anew at random numbers, and at those at which intervals were decided."""
    random = Random(seed)
    inputs, residual = matrix(random, 2, 3, 1), matrix(random, outputs, 3, 1)
    if inputs.is_constant and residual.is_constant:
        return
    found = race(inputs, residual, WHOLE)
    values = [Fraction(random.randint(-60, 60), 17) for _ in range(4)]
    values += [p.piece.sample for p in found.pieces][::4]
    for value in values:
        x, r = inputs.substitute({"a": value}), residual.substitute({"a": value})
        for part in found.pieces:
            if part.piece.sample == value or (not part.piece.is_root and within(part.piece, value)):
                wanted = order_at(found, part, x, r)
                shown = [sorted(set(rank), reverse=True) for rank in part.order]
                assert shown == wanted
    intervals = [part for part in found.pieces if not part.piece.is_root]
    turns = [b.piece.low for a, b in pairwise(intervals) if a.winners != b.winners]
    inner = {text(b.value) for b in found.boundaries if b.changes_winner}
    assert {text(value) for value in turns} == inner
    for part in found.pieces:
        for rank in part.ranks:
            for runner in rank:
                if runner.rate is not None:
                    there = runner.rate.to_float({"a": part.piece.sample})
                    assert there == pytest.approx(float(runner.s))
