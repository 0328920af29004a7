"""A dask.distributed cluster does the same bytes."""

from __future__ import annotations

import builtins

import pytest

from symreln.errors import InputError
from symreln.sweep.board import Board
from symreln.sweep.cluster import cluster_size, run_on_cluster
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
