"""A dask.distributed cluster does the same bytes."""

from __future__ import annotations

import builtins
from functools import partial

import pytest

from symreln.errors import InputError
from symreln.sweeps import executors
from symreln.sweeps.run import Missing, Shard, sweep
from tests.sweeps.examples import plan, spec, swept

__all__ = ["spec"]


def test_without_dask_the_mend_is_said(monkeypatch):
    genuine = builtins.__import__

    def lacking(name, *rest):
        if name.startswith("dask"):
            raise ImportError(name)
        return genuine(name, *rest)

    monkeypatch.setattr(builtins, "__import__", lacking)
    with pytest.raises(InputError, match=r"symreln\[dask\]"):
        executors.cluster_size("tcp://localhost:1")


@pytest.mark.filterwarnings("ignore")  # of dask's own threads and event loops
def test_a_cluster_makes_the_same_files(spec, tmp_path):
    distributed = pytest.importorskip("dask.distributed")
    one, other = plan(spec, tmp_path / "one"), plan(spec, tmp_path / "other")
    assert swept(one) == []
    failing = plan(spec, tmp_path / "failing")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    ) as cluster:
        address = cluster.scheduler_address
        assert executors.cluster_size(address) == 2
        start = partial(executors.cluster, address)
        assert sweep(other, Missing.of(other, Shard().seeds(other)), start, 2) == []
        spec.write_text(spec.read_text().replace("steps = 80", "steps = 81"))
        failures = sweep(failing, Missing.of(failing, Shard().seeds(failing)), start, 2)
    assert {f.seed for f in failures} == {None}
    assert len(failures) == 4
    assert all("changed while the sweep ran" in f.message for f in failures)
    for name in one.names:
        whole = (one.results.path / name).read_bytes()
        assert (other.results.path / name).read_bytes() == whole
