"""A dask.distributed cluster does the same bytes."""

from __future__ import annotations

import builtins

import pytest

from symreln.errors import InputError, LimitReachedError
from symreln.sweeps.run import Missing, Shard, cluster, sweep
from tests.sweeps.examples import arguments, command, contents, files, plan, spec, swept

__all__ = ["spec"]


def test_without_dask_the_mend_is_said(monkeypatch):
    genuine = builtins.__import__

    def lacking(name, *rest):
        if name.startswith("dask"):
            raise ImportError(name)
        return genuine(name, *rest)

    monkeypatch.setattr(builtins, "__import__", lacking)
    with pytest.raises(InputError, match=r"symreln\[dask\]"), cluster("tcp://localhost:1"):
        pass


@pytest.mark.filterwarnings("ignore")  # of dask's own threads and event loops
def test_a_cluster_makes_the_same_files(spec, tmp_path, capsys):
    distributed = pytest.importorskip("dask.distributed")
    one, failing = plan(spec, tmp_path / "one"), plan(spec, tmp_path / "failing")
    assert swept(one) == []
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    ) as local:
        address, other = local.scheduler_address, tmp_path / "other"
        assert command(capsys, *arguments(spec, other, "--dask", address))[0] == 0
        spec.write_text(spec.read_text().replace("steps = 80", "steps = 81"))
        with cluster(address) as (executor, workers):
            assert workers == 2
            failures = sweep(failing, Missing.of(failing, Shard()), executor, workers)
        with (
            pytest.raises(LimitReachedError, match="a worker process was killed"),
            cluster(address),
        ):
            raise distributed.KilledWorker(one, None, 3)  # as its results do
    assert [f.seed for f in failures] == 4 * [None]
    assert all("changed while the sweep ran" in f.message for f in failures)
    assert contents(one.tasks) == contents(other / "tasks")
    assert len(contents(one.tasks)) == len(files(one))
