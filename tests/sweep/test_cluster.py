"""A dask.distributed cluster does the same bytes."""

from __future__ import annotations

import base64
import builtins
import json

import pytest

from symreln.errors import InputError
from symreln.sweep.board import Board
from symreln.sweep.cluster import _settle, answer, cluster_size, run_on_cluster
from symreln.sweep.run import Shard, missing, sweep
from tests.sweep.examples import plan, spec
from tests.sweep.test_run import run_here

__all__ = ["spec"]
WHOLE = Shard(index=1, parts=1)


def test_without_dask_the_mend_is_said(monkeypatch):
    genuine = builtins.__import__

    def lacking(name, *rest):
        if name.startswith("dask"):
            raise ImportError(name)
        return genuine(name, *rest)

    monkeypatch.setattr(builtins, "__import__", lacking)
    with pytest.raises(InputError, match=r"symreln\[dask\]"):
        cluster_size("tcp://localhost:1")


@pytest.mark.filterwarnings("ignore")  # of dask's own threads and event loops
def test_a_cluster_makes_the_same_files(spec, tmp_path):
    distributed = pytest.importorskip("dask.distributed")
    one, other = plan(spec, tmp_path / "one"), plan(spec, tmp_path / "other")
    run_here(Board(one, WHOLE.seeds(one), [2] * 4))
    wanted = WHOLE.seeds(other)
    failing = plan(spec, tmp_path / "failing")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    ) as cluster:
        address = cluster.scheduler_address
        assert cluster_size(address) == 2
        work = lambda board: run_on_cluster(board, address)  # noqa: E731
        assert sweep(other, wanted, missing(other, wanted), work, 2) == []
        spec.write_text(spec.read_text().replace("steps = 80", "steps = 81"))
        failures = sweep(failing, wanted, missing(failing, wanted), work, 2)
    assert {f.seed for f in failures} == {None}
    assert len(failures) == 4
    assert all("changed while the sweep ran" in f.message for f in failures)
    for name in one.names:
        whole = (one.results.path / name).read_bytes()
        assert (other.results.path / name).read_bytes() == whole


@pytest.mark.parametrize("kind", ["outside", "another's", "fewer", "damaged"])
def test_a_worker_writes_no_file_but_those_it_was_asked_for(spec, tmp_path, kind):
    """A cluster's worker may be anyone's: what it answers is not where files go."""
    pytest.importorskip("dask.distributed")
    whole = plan(spec, tmp_path / "out")
    board = Board(whole, WHOLE.seeds(whole), [2] * 4)
    task = board.next()
    assert task is not None
    genuine = json.loads(answer(json.dumps(task[1])))["files"]
    ((name, text),) = genuine.items()
    evil = {
        "outside": {**genuine, "../../evil": base64.b64encode(b"x").decode()},
        "another's": {next(iter(whole.names - {name})): text},
        "fewer": {},
        "damaged": {name: base64.b64encode(base64.b64decode(text)[:-1]).decode()},
    }[kind]
    before = sorted(tmp_path.rglob("*"))
    _settle(board, task, Answered(json.dumps({"files": evil})))
    (failure,) = board.failures
    assert failure.exit_code == 1
    assert ("asked for" in failure.message) is (kind != "damaged")
    assert sorted(tmp_path.rglob("*")) == before


class Answered:
    """A future of dask's that is done."""

    def __init__(self, text: str) -> None:
        self.text = text

    def result(self) -> str:
        """Return what the worker answered."""
        return self.text

    def release(self) -> None:
        """Let go of it."""
