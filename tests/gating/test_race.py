"""Chambers and races over a parameter: XoR, and every interval asked at other numbers."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings

from symreln.errors import InputError, LimitReachedError
from symreln.exact.domain import Range
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from symreln.gating import wall_polynomials
from symreln.gating.consistent import sign_pattern
from symreln.gating.enumerate import enumerate_gates, gates_along
from symreln.gating.parameter_intervals import over, pieces
from symreln.gating.race import race
from symreln.gating.race_pieces import Race
from symreln.gating.race_report import RaceReport
from symreln.gating.search import search
from symreln.specs.model import Spec
from symreln.task_library.load import load
from tests.campaigns.races import WHOLE, check_race, matrix, text, within
from tests.strategies import seeds


def ends(part: object) -> tuple[str | None, str | None]:
    return text(part.piece.low), text(part.piece.high)


def test_xor_is_the_known_answer() -> None:
    """Single samples up to Delta = √(2/3), whole classes beyond; single ones end at √2."""
    spec = load("xor")
    found = race(spec.dataset.inputs, spec.dataset.targets, spec.parameters[0].range)
    assert [(*ends(part), part.order) for part in found.pieces] == [
        ("0", "0", (("1000",),)),
        ("0", "sqrt(6)/3", (("1000",), ("1100",))),
        ("sqrt(6)/3", "sqrt(2)", (("1100",), ("1000",))),
        ("sqrt(2)", None, (("1100",),)),
    ]
    # Irrational boundaries are exact, and in no piece.
    assert [part.closed for part in found.pieces] == [(True, True), *3 * [(False, False)]]
    assert [(text(b.value), b.kind, b.between, b.changes_winner) for b in found.boundaries] == [
        ("0", "existence", ("1100",), False),
        ("sqrt(6)/3", "speed", ("1100", "1000"), True),
        ("sqrt(2)", "existence", ("1000",), False),
    ]
    rates = {r.pattern: text(r.rate) for rank in found.pieces[1].ranks for r in rank}
    assert rates == {"1000": "sqrt(Delta**2 + 2)/4", "1100": "Abs(Delta)/2"}
    assert {r.pattern: r.size for rank in found.pieces[1].ranks for r in rank} == {
        "1000": 4,
        "1100": 2,
    }


def test_xor_gates_change_at_zero_only() -> None:
    inputs = over(load("xor").dataset.inputs, "Delta")
    found = {piece.low is piece.high: [] for piece, _ in gates_along(inputs, Range(name="Delta"))}
    for piece, gates in gates_along(inputs, Range(name="Delta")):
        found[piece.is_root].append((text(piece.low), text(piece.high), len(gates or ())))
    assert [count for *_, count in found[False]] == [15] * len(found[False])
    assert ("0", "0", 9) in found[True]
    assert {count for *_, count in found[True]} == {9, 15} or len(found[True]) == 1


def test_an_irrational_boundary() -> None:
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


@given(seeds)
@settings(max_examples=2, deadline=None)
def test_the_race_holds_throughout(seed: int) -> None:
    """Few of them; many by ``python -m tests.campaigns.races``."""
    check_race(1, seed, every=8)


@pytest.mark.parametrize("seed", [2, 7])
def test_races_that_need_every_kind_of_critical_value(seed: int) -> None:
    """Chosen so that leaving out openings of irrational rates is seen; crossings are XoR's."""
    check_race(2, seed, every=8)


def test_a_gate_that_exists_where_two_rates_meet_only() -> None:
    """Orthogonal samples with targets (1, 0), (0, a): both together grow as one at a = 1."""
    a = Scalar.symbol("a", ("a",))
    inputs = ExactMatrix.identity(2, ("a",))
    residual = ExactMatrix.from_rows([[1, 0], [0, a]], ("a",))
    found = race(inputs, residual, Range(name="a", low=Fraction(0), open_low=True))
    assert [(*ends(part), part.order) for part in found.pieces] == [
        ("0", "1", (("10",), ("01",))),
        ("1", "1", (("11", "10", "01"),)),
        ("1", None, (("01",), ("10",))),
    ]
    assert [(b.kind, b.between, b.changes_winner) for b in found.boundaries] == [
        ("existence", ("11",), True),
        ("speed", ("10", "01"), True),
    ]


def test_pieces_cover_the_range_and_ends_count() -> None:
    a = Scalar.symbol("a", ("a",))
    polynomials = [(a * a - 2).numerator, (a * a * a - 3 * a + 1).numerator, (a - 1).numerator]
    found = pieces(polynomials, ("a",), Range(name="a", low=Fraction(0), high=Fraction(3)))
    roots = [float(p.low) for p in found if p.is_root]
    assert roots == [0, 1, 3]
    inner = [float(p.low) for p in found if not p.is_root]
    assert inner == pytest.approx([0, 0.3472963553, 1, 2**0.5, 1.5320888862])
    for piece in found:
        if not piece.is_root:
            assert within(piece, piece.sample)
    whole = pieces(polynomials, ("a",), WHOLE)
    assert len(whole) == 7 + 1
    assert pieces([], ("a",), WHOLE)[0].sample == 0


def test_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = load("xor")
    inputs, limits = spec.dataset.inputs, Range(name="Delta")
    at = spec.at_values().dataset
    with pytest.raises(InputError, match="found none in the data"):
        race(at.inputs, at.targets, limits)
    b = Scalar.symbol("b", ("a", "b"))
    several = ExactMatrix.from_rows([[b, Scalar.symbol("a", ("a", "b"))]], ("a", "b"))
    with pytest.raises(InputError, match="expected exactly one"):
        race(several, several, WHOLE)
    monkeypatch.setattr(wall_polynomials, "MOST_MINORS", 3)
    with pytest.raises(LimitReachedError, match="4 minors"):
        race(inputs, spec.dataset.targets, limits)


def test_a_boundary_between_both_kinds() -> None:
    """One input off the plane of the other: the full gate ends where the partial one starts."""
    a = Scalar.symbol("a", ("a",))
    # A unit on sample 1 sees sample 2 with a; it must stay off it once a > 0.
    inputs = ExactMatrix.from_rows([[1, a], [0, 1]], ("a",))
    residual = ExactMatrix.from_rows([[1, -3]], ("a",))
    found = race(inputs, residual, Range(name="a", low=Fraction(-1), high=Fraction(1)))
    assert found.complete
    assert [(*ends(part), part.order) for part in found.pieces] == [
        ("-1", "0", (("01",), ("10",))),
        ("0", "1/3", (("/1",), ("1/",))),
        ("1/3", "1", (("11",), ("1/",))),
    ]
    assert [(text(b.value), b.kind, b.between, b.changes_winner) for b in found.boundaries] == [
        ("0", "existence", ("10", "1/", "01", "/1"), True),
        ("1/3", "existence", ("11", "/1"), True),
    ]
    rates = {r.pattern: r.rate for rank in found.pieces[-1].ranks for r in rank}
    # |x_1 off x_2|/2 = 1/(2√(1 + a²)).
    rate = rates["1/"]
    assert rate is not None
    assert rate.to_float({"a": Fraction(3, 4)}) == pytest.approx(0.5 / (1 + 9 / 16) ** 0.5)


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
def test_a_partial_gate_wins_over_part_of_the_range(
    x: list, r: list, value: str, between: tuple[str, str]
) -> None:
    """A speed boundary between a full and a partial gate, exact, and met on both sides."""
    spec = load(
        {
            "dataset": {"X": x, "Y": [r]},
            "parameters": {"a": {"minimum": -3, "maximum": 3}},
            "pathway": [{"name": "all"}],
        }
    )
    inputs, residual = spec.dataset.inputs, spec.dataset.targets
    found = race(inputs, residual, spec.parameters[0].range)
    swaps = [
        (text(b.value), b.between)
        for b in found.boundaries
        if b.changes_winner and b.kind == "speed"
    ]
    assert (value, between) in swaps
    for part in found.pieces:
        at = {"a_": part.piece.sample}
        here = search(inputs.substitute(at), residual.substitute(at))
        assert here.candidates[0].s == part.ranks[0][0].s
        assert any(sign_pattern(signs) in part.winners for signs in here.winners)


def test_a_winner_is_called_proven_where_the_parameter_has_a_value():
    xor = load("xor")
    found = race(xor.dataset.inputs, xor.dataset.targets, xor.parameters[0].range)
    here = load("xor", ["parameters.Delta.value=1/2"])

    def report(one: Race, spec: Spec = here) -> RaceReport:
        return RaceReport(race=one, spec=spec, learned=spec)

    assert report(found).winner_proven
    assert not report(replace(found, why="partial gates were not asked")).winner_proven
    (delta,) = here.parameters
    unknown = replace(here, parameters=(replace(delta, value=None),))
    assert not report(found, unknown).winner_proven
