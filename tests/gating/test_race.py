"""Races over a parameter: XoR, every interval asked at other numbers, and trained networks."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings

import symreln as sr
from symreln.errors import InputError, LimitReachedError
from symreln.exact.domain import Range
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from symreln.gating import wall_polynomials
from symreln.gating.confronted import confront, confronted_points
from symreln.gating.consistent import sign_pattern
from symreln.gating.enumerate import enumerate_gates, gates_along
from symreln.gating.observed import nearest_observer
from symreln.gating.parameter_intervals import over, pieces
from symreln.gating.search import search
from tests.app.command import command
from tests.campaigns.race_winners import TOLERANCE, compared
from tests.campaigns.races import WHOLE, check_race, matrix, text, within
from tests.strategies import seeds


def ends(part) -> tuple[str | None, str | None]:
    return text(part.piece.low), text(part.piece.high)


def spec(x: list, y: list, **parameter: object) -> sr.Spec:
    data = {"dataset": {"X": x, "Y": y}, "pathway": [{"name": "all"}]}
    return sr.load({**data, "parameters": {"a": parameter}})


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


def test_the_command_says_so(tmp_path: Path) -> None:
    typed = ["race", "xor", "--set", "parameters.Delta.value=2", "--out", str(tmp_path)]
    shown = command(*typed)[1]
    assert "Delta = sqrt(6)/3: the speeds of 1100, 1000 cross, the winner changes" in shown
    assert "\nfastest for 0 ≤ Delta < sqrt(6)/3: 1000\n" in shown
    assert "\nfastest for sqrt(6)/3 < Delta: 1100\n" in shown
    drawn = (tmp_path / "race.svg").read_text("utf-8")
    assert "<!-- all open, 1111: no ReLU unit -->" in drawn
    found = json.loads((tmp_path / "race.json").read_text())
    assert (found["format"], found["winner"]) == ("symreln-race/2", ["1100"])
    kinds = [(b["value"]["expr"], b["kind"]) for b in found["boundaries"]]
    assert kinds == [("0", "existence"), ("sqrt(6)/3", "speed"), ("sqrt(2)", "existence")]
    speeds = {c["pattern"]: c["speed"]["decimal"] for c in found["candidates"]}
    assert speeds["1100"] == "1"


def test_a_winner_is_called_proven_where_the_parameter_has_a_value(xor) -> None:
    assert xor.winner_proven
    assert not replace(xor, race=replace(xor.race, why="partial gates")).winner_proven
    (delta,) = xor.spec.parameters
    unknown = replace(xor.spec, parameters=(replace(delta, value=None),))
    assert not replace(xor, spec=unknown).winner_proven


def test_gates_of_the_data_change_at_critical_values() -> None:
    delta = over(sr.load("xor").dataset.inputs, "Delta")
    counts = {
        (piece.is_root, len(gates or ()))
        for piece, gates in gates_along(delta, Range(name="Delta"))
    }
    assert counts == {(False, 15), (True, 9)}
    a = Scalar.symbol("a", ("a",))
    inputs = ExactMatrix.from_rows([[1, a, 1], [0, 1, a * a - 2]], ("a",))
    found = list(gates_along(inputs, Range(name="a", low=Fraction(0), open_low=True)))
    # x_1 = (1, 0) and x_3 = (1, a² - 2) are parallel at √2; x_2 = (a, 1) and x_3 where a³ = 2a + 1.
    assert [(text(piece.low), text(piece.high)) for piece, _ in found] == [
        ("0", "sqrt(2)"),
        ("sqrt(2)", "1/2 + sqrt(5)/2"),
        ("1/2 + sqrt(5)/2", None),
    ]
    assert all(set(one or ()) != set(two or ()) for (_, one), (_, two) in pairwise(found))


@given(seeds)
@settings(max_examples=15, deadline=None)
def test_gates_hold_throughout_an_interval(seed: int) -> None:
    random = Random(seed)
    inputs = matrix(random, 2, 4, 2)
    found = list(gates_along(inputs, WHOLE))
    for value in (Fraction(random.randint(-60, 60), 17) for _ in range(6)):
        for piece, gates in found:
            if not piece.is_root and within(piece, value):
                there = enumerate_gates(inputs.substitute({"a": value}))
                assert gates == [tuple(map(int, gate)) for gate in there.gates]


@pytest.mark.parametrize(("kind", "seed"), [(1, 11), (2, 2), (2, 7)])
def test_the_race_holds_throughout(kind: int, seed: int) -> None:
    """Chosen so that leaving out openings of irrational rates is seen; many by the campaign."""
    check_race(kind, seed, every=8)


def test_pieces_cover_the_range_and_ends_count() -> None:
    a = Scalar.symbol("a", ("a",))
    polynomials = [(a * a - 2).numerator, (a * a * a - 3 * a + 1).numerator, (a - 1).numerator]
    found = pieces(polynomials, ("a",), Range(name="a", low=Fraction(0), high=Fraction(3)))
    assert [float(p.low) for p in found if p.is_root] == [0, 1, 3]
    inner = [p for p in found if not p.is_root]
    assert [float(p.low) for p in inner] == pytest.approx([0, 0.34729635, 1, 2**0.5, 1.53208889])
    assert all(within(piece, piece.sample) for piece in inner)
    assert len(pieces(polynomials, ("a",), WHOLE)) == 7 + 1
    assert pieces([], ("a",), WHOLE)[0].sample == 0


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
        here = search(data.inputs.substitute(at), data.targets.substitute(at))
        assert here.candidates[0].s == part.ranks[0][0].s
        assert any(sign_pattern(signs) in part.winners for signs in here.winners)
    for each in found.to_json()["candidates"]:
        assert each["kind"] == ("partial" if "/" in each["pattern"] else "full")
        assert len(each["fractions"]) == each["pattern"].count("/")
        assert all(0 <= float(number["decimal"]) <= 1 for number in each["fractions"])


def test_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    two = {"dataset": {"X": [["a", "b"]], "Y": [[1, 2]]}, "pathway": [{"name": "all"}]}
    both = sr.load({**two, "parameters": {"a": {}, "b": {}}})
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


# -- trained networks -----------------------------------------------------------------------------


def test_points_lie_on_both_sides_of_every_boundary(xor) -> None:
    points = confronted_points(xor.race, 2)
    marks = [float(mark.value) for mark in xor.race.boundaries]
    for low, high in zip([0.0, *marks[1:]], [*marks[1:], 9.0], strict=True):
        assert sum(low < point < high for point in points) == 2
    assert points[0] == 0
    # The last interval has no end: it is drawn as wide as the one before it.
    low, high = xor.race.ends(len(xor.race.pieces) - 1)
    assert high - low == pytest.approx(2**0.5 - (2 / 3) ** 0.5)


@pytest.mark.parametrize(
    ("value", "std"), [("1/2", "1/10000"), ("9/10", ["1/5000", "1/20000"]), ("3/2", "1/10000")]
)
def test_networks_take_the_shares_at_infinite_width(xor, value: str, std) -> None:
    given = sr.load("xor", {"network.init_std": std})
    point = confront(xor.race, given, Fraction(value), 20, 3)
    assert point.agrees, point.classes
    assert point.fastest_taken
    assert point.left < 1e-6
    # Units that have not grown show where single samples stop being self-consistent.
    (units,) = (each.units for each in point.classes if each.pattern == "1000")
    assert (units > 0.5) is (Fraction(value) ** 2 < 2)


def test_the_linear_solution_is_named_and_impossible(xor) -> None:
    (other,) = xor.beside
    assert (other.pattern, other.name, other.realisable) == ("1111", "all open", False)
    assert other.speed.to_float({"Delta": Fraction(3)}) == pytest.approx(3.0)
    answer = sr.race(sr.load("xor", {"network.steps": 60}), seeds=1, points=1)
    points = answer.to_json()["confronted"]["points"]
    assert len(points) == 4
    files = answer.files()
    assert "no ReLU unit can have it" in files["race.md"]
    assert "| Delta | theory" in files["race.md"]
    assert "\n| 0 | 1000 |" in files["race.md"]
    assert len(repr(answer)) < 3000


def test_units_are_counted_for_the_nearest_gate_and_told_from_those_beside_it() -> None:
    x = np.eye(3)
    observe = nearest_observer(x, [[(1, -1, -1), (-1, 1, -1)], [(1, 1, -1)]])
    w = np.array([[[1.0, -1, -1], [-1, 2, -1], [2, 2, -1], [3, 1, 0], [1, 1, 1]]])
    found = observe(0, (w,))
    assert found[0].tolist() == [0, 0, 1, 1, 1]
    observe = nearest_observer(x, [[(1, 1, -1)], [(1, 0, -1)], [(1, -1, -1)]])
    w = np.array([[[2.0, 1, -1], [2, 1e-3, -1], [2, -1e-3, -1], [2, -1, -1]]])
    assert observe(0, (w,))[0].tolist() == [0, 1, 1, 2]


@pytest.mark.parametrize("seed", [0, 2, 5, 7])
def test_the_winner_is_what_units_grow_at(seed: int) -> None:
    """A slice of the campaign."""
    found = compared(seed)
    assert max(found.above, found.below) < TOLERANCE
