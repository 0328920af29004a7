"""Figures and fonts from a process of their own are those of this process, and it leaves no trace.

Bytes are compared, so that no test depends on which of the two was there.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import symreln as sr
from symreln.claims.prediction import closed_forms
from symreln.cli.request import Request
from symreln.errors import InputError
from symreln.report import drawer as drawers
from symreln.report import sketches
from symreln.report.drawer import Drawer
from symreln.report.figures import LossCurve, PathwayModes
from symreln.report.font import math_font
from symreln.report.plots import derivation_sketches
from symreln.report.write import write_derivation

CHARACTERS = "πλ√∑𝟏x"


@pytest.fixture(autouse=True)
def _two_cores(monkeypatch):
    monkeypatch.setattr(drawers, "cores", lambda: 2)


@pytest.fixture(scope="module")
def derivation():
    return sr.derive(sr.load("contextual-3"))


@pytest.fixture(scope="module")
def sketched(derivation):
    times = np.linspace(0.0, 400.0, 30)
    loss = np.exp(-times / 90) / 3
    curves = [
        LossCurve(label="ReLU", times=times, loss=loss, low=loss * 0.9, high=loss * 1.1),
        LossCurve(label="theory", times=times, loss=loss / 3, drop_time=0.1, rival=True),
    ]
    found = derivation_sketches(derivation, closed_forms(derivation.at_values, times))
    assert [sketch["name"] for sketch in found] == ["gates", "spectrum", "modes"]
    return (*found, sketches.loss_sketch(curves))


@pytest.fixture(scope="module")
def here(sketched):
    return tuple(sketches.draw(sketch) for sketch in sketched)


def alive(pid: int) -> bool:
    """Whether a process runs; one that ended and is not waited for does not."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] not in "ZX"


def ends(pid: int) -> bool:
    deadline = time.monotonic() + 20
    while alive(pid):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def process_of(drawer: Drawer) -> subprocess.Popen[bytes]:
    assert drawer._process is not None
    return drawer._process


def test_the_process_draws_the_same_bytes(sketched, here):
    with Drawer(beside=True) as drawer:
        drawn, font = drawer.draw(sketched), drawer.font(CHARACTERS)
        assert drawn() == here
        assert font() == math_font(CHARACTERS)
        process_of(drawer)  # nothing was drawn here because the process had failed
    assert all(drawing.pdf for drawing in here)


def test_without_pdf_there_is_none(sketched, here):
    with Drawer(beside=True) as drawer:
        drawn = drawer.draw(sketched[:1], pdf=False)()
    assert [(d.svg, d.pdf) for d in drawn] == [(here[0].svg, b"")]


def test_answers_belong_to_their_orders(sketched, here):
    with Drawer(beside=True) as drawer:
        orders = [drawer.draw([sketch]) for sketch in sketched]
        for order, drawing in reversed(list(zip(orders, here, strict=True))):
            assert order() == (drawing,)
            assert order() == (drawing,)


@given(st.lists(st.floats() | st.integers(-3, 3).map(float), min_size=1, max_size=5))
def test_numbers_come_through_json_as_they_are(numbers):
    values = np.array(numbers)
    modes = PathwayModes(label="p", times=values, strengths=values[None], plateaus=values)
    sketch = sketches.modes_sketch([modes], "t")
    (values_there,) = json.loads(json.dumps(sketch))["pathways"]
    back = sketches._arrays(values_there)
    for name in ("times", "strengths", "plateaus"):
        there, mine = back[name], getattr(modes, name)
        assert there.dtype == mine.dtype
        np.testing.assert_array_equal(there, mine)
        signs = np.signbit(there) == np.signbit(mine)
        assert (signs | np.isnan(mine)).all()  # the sign of NaN is nobody's


def test_gates_with_gains_are_read_from_their_letters(monkeypatch):
    seen = {}

    def kept(gates, names, *, gains, groups):
        seen.update(gates=gates, gains=gains, names=names, groups=groups)

    monkeypatch.setattr(sketches, "gate_pattern", kept)
    sketches._gates(json.loads(json.dumps(sketches.gates_sketch(["0g1"], ["p"], [("a", 3)]))))
    assert seen["gates"].tolist() == [[False, True, True]]
    assert seen["gains"].tolist() == [[False, True, False]]
    assert (seen["names"], seen["groups"]) == (["p"], [("a", 3)])


def test_a_process_that_dies_is_not_missed(sketched, here):
    with Drawer(beside=True) as drawer:
        drawn = drawer.draw(sketched)
        process_of(drawer).kill()
        assert drawn() == here
        assert drawer._process is None
        assert drawer.font(CHARACTERS)() == math_font(CHARACTERS)


def test_a_process_that_talks_nonsense_is_not_believed(sketched, here, monkeypatch):
    script = "import sys; sys.stdin.readline(); print('{', flush=True); sys.stdin.read()"

    def start():
        pipe = subprocess.PIPE
        return subprocess.Popen([sys.executable, "-c", script], stdin=pipe, stdout=pipe)

    monkeypatch.setattr(drawers, "_start", start)
    with Drawer(beside=True) as drawer:
        assert drawer.draw(sketched)() == here


def test_a_process_that_cannot_start_is_not_missed(sketched, here, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with Drawer(beside=True) as drawer:
        assert drawer._process is None
        assert drawer.draw(sketched)() == here


def test_what_cannot_be_drawn_is_told_by_this_process():
    modes = PathwayModes(label="m", times=np.arange(3.0), strengths=np.eye(2))
    with Drawer(beside=True) as drawer, pytest.raises(InputError, match="Give one value"):
        drawer.draw([sketches.modes_sketch([modes], "t")])()


@pytest.mark.parametrize(("beside", "number"), [(False, 2), (True, 1)])
def test_no_process_where_none_is_wanted_or_fits(beside, number, monkeypatch):
    monkeypatch.setattr(drawers, "cores", lambda: number)
    with Drawer(beside=beside) as drawer:
        assert drawer._process is None


def test_documents_are_the_same_on_both_routes(derivation, tmp_path):
    write_derivation(derivation, tmp_path / "here")
    with Drawer(beside=True) as drawer:
        written = write_derivation(derivation, tmp_path / "beside", drawer=drawer)
        process_of(drawer)
    names = [path.relative_to(tmp_path / "beside") for path in written]
    assert len(names) == 7
    for name in names:
        assert (tmp_path / "beside" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()


@pytest.mark.parametrize(
    ("asked", "beside"),
    [
        ({"command": "derive"}, True),
        ({"command": "derive", "formats": ("json", "html")}, True),
        ({"command": "derive", "formats": ("json",)}, False),
        ({"command": "derive", "memory_limit": 1 << 30}, False),
        ({"command": "derive", "time_limit": 9.0}, True),
        ({"command": "run"}, True),
        ({"command": "validate"}, True),
        ({"command": "steps"}, False),
    ],
)
def test_which_commands_start_one(asked, beside):
    assert Request(spec="xor", **asked).draws_beside == beside


def test_deriving_in_python_starts_no_process(tmp_path, monkeypatch):
    monkeypatch.setattr(drawers, "_start", lambda: pytest.fail("a process was started"))
    sr.derive(sr.load("xor")).save(tmp_path)
    assert (tmp_path / "derivation.html").exists()


def test_it_imports_nothing_that_derives():
    """It would take as long to be ready as the derivation that it is to be ready for."""
    code = (
        "import sys\n"
        "from symreln.report.drawer_process import _prepare\n"
        "_prepare()\n"
        "print([name for name in ('sympy', 'flint', 'scipy', 'pydantic') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout == "[]\n"


# -- it never outlives the one that started it ----------------------------------------------------


def test_it_ends_with_the_block_whatever_happens():
    drawer = Drawer(beside=True)
    processes = []

    def work():
        with drawer:
            processes.append(process_of(drawer))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()
    assert processes[0].returncode is not None


def test_it_ends_with_its_stdin():
    process = drawers._start()
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(20) == 0
    assert process.stdout is not None
    process.stdout.close()


_OWNER = """
import time
from symreln.report import drawer
drawer.cores = lambda: 2
with drawer.Drawer(beside=True) as found:
    print(found._process.pid, flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="reads /proc")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("wait", [0.0, 1.5])
def test_it_ends_with_its_owner(number, wait):
    owner = subprocess.Popen(
        [sys.executable, "-c", _OWNER], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert owner.stdout is not None
    try:
        pid = int(owner.stdout.readline())
        time.sleep(wait)  # while it imports, or when it waits for orders
        assert alive(pid)
        os.kill(owner.pid, number)
        owner.wait(20)
        assert ends(pid)
    finally:
        owner.kill()
        owner.wait()
        owner.stdout.close()
