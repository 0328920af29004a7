"""The store: whole entries or none, for its owner only, bounded, under any number of runs."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from symreln.cache.store import ABANDONED, Store, default_folder

KEY = "a" * 64
POSIX = pytest.mark.skipif(os.name != "posix", reason="POSIX permissions")


@pytest.fixture
def store(tmp_path):
    return Store(folder=tmp_path / "cache")


def entry(store: Store, key: str = KEY) -> Path:
    assert store.folder is not None
    return store.folder / f"derivation-{key}.json"


def test_what_is_kept_comes_back_and_nothing_else(store):
    assert store.get("derivation", KEY) is None
    content = {"text": "ü\n", "numbers": [1, 2**80, 0.5], "none": None}
    assert store.put("derivation", KEY, content)
    assert store.get("derivation", KEY) == content
    assert store.get("spectrum", KEY) is None
    assert store.get("derivation", "b" * 64) is None
    assert store.notes == []


@POSIX
def test_only_the_owner_may_read(store):
    store.put("derivation", KEY, 1)
    assert stat.S_IMODE(entry(store).stat().st_mode) == 0o600
    assert stat.S_IMODE(entry(store).parent.stat().st_mode) == 0o700


@POSIX
def test_a_folder_that_others_may_write_to_is_not_used(store):
    store.put("derivation", KEY, "forged")
    entry(store).parent.chmod(0o777)
    fresh = Store(folder=store.folder)
    assert fresh.get("derivation", KEY) is None
    assert not fresh.put("derivation", KEY, 1)
    assert len(fresh.notes) == 1
    assert "others may write" in fresh.notes[0]


def _truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-3])


def _changed(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"content", b"forgery"))


def _other_key(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(KEY.encode(), b"c" * 64))


def _deep(path: Path) -> None:
    path.write_bytes(b"[" * 200_000)


def _link(path: Path) -> None:
    other = path.with_name("elsewhere")
    path.rename(other)
    path.symlink_to(other)


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"\xff\xfe\n\x00"),
        lambda path: path.write_bytes(b"{}\n{}\n"),
        lambda path: path.write_bytes(b"null"),
        _truncated,
        _changed,
        _other_key,
        _deep,
        pytest.param(_link, marks=POSIX),
        pytest.param(_pipe, marks=POSIX),
    ],
)
def test_a_broken_or_foreign_entry_is_noted_ignored_and_replaced(store, damage):
    store.put("derivation", KEY, {"content": 1})
    damage(entry(store))
    assert store.get("derivation", KEY) is None
    assert len(store.notes) == 1
    assert entry(store).name in store.notes[0]
    assert store.put("derivation", KEY, {"content": 2})
    assert store.get("derivation", KEY) == {"content": 2}


def test_a_folder_with_an_entrys_name_does_no_harm(store):
    store.put("derivation", "b" * 64, 1)
    entry(store).mkdir()
    assert store.get("derivation", KEY) is None
    assert not store.put("derivation", KEY, 2)
    assert store.notes


def test_the_oldest_entries_go_first_and_use_keeps_one_young(tmp_path):
    store = Store(folder=tmp_path / "c", most_bytes=4000)
    keys = [f"{i:064x}" for i in range(8)]
    for age, key in enumerate(keys[:6]):
        store.put("derivation", key, "x" * 400)
        os.utime(entry(store, key), (1000 + age, 1000 + age))
    store.get("derivation", keys[0])  # the oldest by writing, not by use
    for key in keys[6:8]:
        store.put("derivation", key, "x" * 400)
        left = sum(f.stat().st_size for f in entry(store).parent.iterdir())
        assert left <= 4000
    assert store.get("derivation", keys[0]) is not None
    assert store.get("derivation", keys[1]) is None
    assert store.get("derivation", keys[7]) is not None
    assert not store.put("derivation", KEY, "x" * 5000), "larger than the whole bound"


def test_clearing_leaves_what_is_not_ours(store):
    store.put("derivation", KEY, 1)
    mine = {
        "notes.json",
        f"thesis-{KEY}.json",
        f"thesis-derivation-{KEY}.json",
        f"derivation-{'z' * 64}.json",
        ".notes.tmp",
        f".derivation-{KEY}.json.backup.tmp",
    }
    for name in mine:
        entry(store).with_name(name).write_text("mine")
    entry(store).with_name(f".spectrum-{KEY}.json.{'0' * 16}.tmp").write_text("half")
    assert store.info()["entries"] == 1
    assert store.clear() == 1
    assert {p.name for p in entry(store).parent.iterdir()} == mine


@POSIX
def test_a_folder_that_others_may_write_to_is_not_cleared(store):
    store.put("derivation", KEY, 1)
    entry(store).parent.chmod(0o777)
    assert Store(folder=store.folder).clear() == 0
    assert entry(store).exists()


def test_an_abandoned_file_is_swept_and_a_young_one_is_not(tmp_path):
    store = Store(folder=tmp_path / "c", most_bytes=1000)
    store.put("derivation", KEY, "x" * 300)
    old, young = (entry(store).with_name(f".derivation-{KEY}.json.{n * 16}.tmp") for n in "ab")
    old.write_text("half")
    young.write_text("half")
    past = time.time() - 2 * ABANDONED
    os.utime(old, (past, past))
    for i in range(4):
        store.put("derivation", f"{i:064x}", "x" * 300)
    assert not old.exists()
    assert young.exists()


def test_where_the_cache_is(monkeypatch, tmp_path):
    monkeypatch.setenv("SYMRELN_CACHE", "off")
    assert default_folder() is None
    assert Store().get("derivation", KEY) is None
    assert not Store().put("derivation", KEY, 1)
    monkeypatch.setenv("SYMRELN_CACHE", str(tmp_path))
    assert default_folder() == tmp_path
    monkeypatch.delenv("SYMRELN_CACHE")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert default_folder() == tmp_path / "x" / "symreln"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_folder() == tmp_path / ".cache" / "symreln"


def test_a_cache_that_cannot_be_written_costs_a_note_and_no_result(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    store = Store(folder=blocked)
    assert not store.put("derivation", KEY, 1)
    assert store.get("derivation", KEY) is None
    assert len(store.notes) == 1


WRITER = """
import sys
from symreln.cache.store import Store
store = Store(folder=__import__("pathlib").Path(sys.argv[1]))
seed, rounds = int(sys.argv[2]), int(sys.argv[3])
print("ready", flush=True)
for i in range(rounds):
    store.put("derivation", "a" * 64, {"seed": seed, "body": str(seed) * 50_000})
    found = store.get("derivation", "a" * 64)
    assert found is not None and found["body"] == str(found["seed"]) * 50_000, found
assert not store.notes, store.notes
"""


def start(folder: Path, seed: int, rounds: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(folder), str(seed), str(rounds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_two_processes_that_write_and_read_one_key_see_whole_entries_only(tmp_path):
    runs = [start(tmp_path / "c", seed, 300) for seed in (1, 2)]
    for run in runs:
        _, error = run.communicate(timeout=120)
        assert run.returncode == 0, error


@POSIX
def test_a_writer_that_is_killed_leaves_no_broken_entry(tmp_path):
    for attempt in range(8):
        run = start(tmp_path / "c", 7, 10**9)
        assert run.stdout is not None
        run.stdout.readline()
        time.sleep(0.02 * attempt)
        run.send_signal(signal.SIGKILL)
        run.communicate()
        store = Store(folder=tmp_path / "c")
        found = store.get("derivation", KEY)
        assert found is None or found["body"] == "7" * 50_000
        assert store.notes == []


def test_entries_are_two_lines_of_json(store):
    store.put("derivation", KEY, ["x"])
    head, body = entry(store).read_text().splitlines()
    assert json.loads(head)["key"] == KEY
    assert json.loads(body) == ["x"]
