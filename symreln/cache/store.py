"""A bounded folder of entries that are whole or absent, safe under concurrent runs.

An entry is one file of two lines of JSON: a header with the key and the digest of the second line,
and the content. A writer fills a new file and gives it the entry's name in one step, so that a
reader sees the old entry, the new one, or none. What is broken, foreign or unreadable counts as
absent: it is noted and computed again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
import stat
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FORMAT = "symreln-cache/1"
#: Bytes of all entries together; the oldest are dropped first. Digits takes 2 MB a derivation.
MOST_BYTES = 256 << 20
#: A larger entry would push out too many others.
LARGEST_ENTRY = MOST_BYTES // 8
#: Seconds after which a writer's unfinished file is taken for abandoned.
ABANDONED = 3600.0
#: After a write the folder has at most this share of its bound left, so that not every write sorts.
_KEEP = 0.9
#: What this cache calls its files, and only those are counted, dropped or cleared.
_ENTRY = re.compile(r"(?:derivation|spectrum)-[0-9a-f]{64}\.json", re.ASCII)
_UNFINISHED = re.compile(
    r"\.(?:derivation|spectrum)-[0-9a-f]{64}\.json\.[0-9a-f]{16}\.tmp", re.ASCII
)
_OFF = frozenset({"", "0", "off", "no", "none"})


def default_folder() -> Path | None:
    """Return the folder named by SYMRELN_CACHE, or the platform's; None where it says "off"."""
    named = os.environ.get("SYMRELN_CACHE")
    if named is not None:
        return None if named.strip().lower() in _OFF else Path(named).expanduser()
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local) / "symreln" / "Cache" if local else None
    home = Path(os.path.expanduser("~"))
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "symreln"
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG specification: a relative path is to be ignored.
    return (Path(base) if os.path.isabs(base) else home / ".cache") / "symreln"


@dataclass(kw_only=True)
class Store:
    """The entries in one folder.

    Attributes:
        folder: Where they are, or None for no cache: nothing is then found and nothing kept.
        most_bytes: Bound on all entries together.
        notes: What the user should hear about: entries that were ignored, a folder without use.
    """

    folder: Path | None = field(default_factory=default_folder)
    most_bytes: int = MOST_BYTES
    notes: list[str] = field(default_factory=list)
    _usable: bool | None = None

    def get(self, kind: str, key: str) -> Any | None:
        """Return the content of an entry, or None.

        Args:
            kind: What is stored.
            key: SHA-256, in hexadecimal, of all that the content depends on.
        """
        if self.folder is None or not self._private(create=False):
            return None
        path = self._path(kind, key)
        try:
            content = _read(path, kind, key)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            self.notes.append(f"cache: {path.name} is ignored and made again: {reason}")
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # what is used is not old
        return content

    def put(self, kind: str, key: str, content: Any) -> bool:
        """Keep an entry; return whether it was kept. A cache that fails costs time, no result."""
        if self.folder is None or not self._private(create=True):
            return False
        body = json.dumps(content, ensure_ascii=True, separators=(",", ":")).encode()
        if len(body) > min(LARGEST_ENTRY, self.most_bytes):
            return False
        header = {
            "format": FORMAT,
            "kind": kind,
            "key": key,
            "digest": hashlib.sha256(body).hexdigest(),
        }
        data = json.dumps(header).encode() + b"\n" + body + b"\n"
        try:
            _write(self._path(kind, key), data)
            self._bound()
        except OSError as error:
            self.notes.append(f"cache: nothing is kept in {self.folder}: {error.strerror}")
            return False
        return True

    def info(self) -> dict[str, Any]:
        """Return the folder, how many entries it has, and their bytes."""
        sizes = [status.st_size for _, status in self._entries()]
        return {
            "folder": None if self.folder is None else str(self.folder),
            "entries": len(sizes),
            "bytes": sum(sizes),
            "most_bytes": self.most_bytes,
        }

    def clear(self) -> int:
        """Remove all entries, and nothing else in the folder; return how many there were."""
        count = 0
        if self.folder is None or not self._private(create=False):
            return count
        for path, _ in self._entries():
            with contextlib.suppress(OSError):
                path.unlink()
                count += 1
        self._sweep(older_than=0.0)
        return count

    def _path(self, kind: str, key: str) -> Path:
        assert self.folder is not None
        return self.folder / f"{kind}-{key}.json"

    def _private(self, *, create: bool) -> bool:
        """Return whether the folder is there and nobody else may write into it."""
        assert self.folder is not None
        if self._usable is not None and (self._usable or not create):
            return self._usable
        try:
            if create:
                self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            status = self.folder.stat()
        except FileNotFoundError:
            return False
        except OSError as error:
            self._refuse(error.strerror or str(error))
            return False
        if not stat.S_ISDIR(status.st_mode):
            self._refuse("it is no folder")
        elif hasattr(os, "geteuid") and status.st_uid != os.geteuid():
            self._refuse("it belongs to another user")
        elif os.name == "posix" and status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            self._refuse("others may write into it (chmod 700 mends that)")
        else:
            self._usable = True
        return bool(self._usable)

    def _refuse(self, reason: str) -> None:
        if self._usable is None:
            self.notes.append(f"cache: {self.folder} is not used: {reason}")
        self._usable = False

    def _entries(self) -> list[tuple[Path, os.stat_result]]:
        found = []
        if self.folder is None:
            return found
        with contextlib.suppress(OSError), os.scandir(self.folder) as listing:
            for item in listing:
                if not _ENTRY.fullmatch(item.name):
                    continue
                with contextlib.suppress(OSError):  # another run may have dropped it
                    found.append((Path(item.path), item.stat(follow_symlinks=False)))
        return found

    def _bound(self) -> None:
        entries = self._entries()
        total = sum(status.st_size for _, status in entries)
        if total <= self.most_bytes:
            return
        for path, status in sorted(entries, key=lambda entry: entry[1].st_mtime_ns):
            if total <= self.most_bytes * _KEEP:
                break
            with contextlib.suppress(OSError):
                path.unlink()
            total -= status.st_size
        self._sweep(older_than=ABANDONED)

    def _sweep(self, *, older_than: float) -> None:
        """Remove what killed writers left."""
        if self.folder is None:
            return
        for path in self.folder.glob(".*.tmp"):
            if not _UNFINISHED.fullmatch(path.name):
                continue
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_mtime >= older_than:
                    path.unlink()


def _write(path: Path, data: bytes) -> None:
    name = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    handle = os.open(name, flags, 0o600)
    try:
        # Not brought to disk: a crash of the machine may leave half an entry, which its digest
        # shows.
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        os.replace(name, path)
    except BaseException:
        name.unlink(missing_ok=True)
        raise


def _read(path: Path, kind: str, key: str) -> Any:
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    # Not to hang on a pipe that somebody gave the name.
    handle = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(handle, "rb") as stream:
        status = os.fstat(stream.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > 2 * LARGEST_ENTRY:
            msg = "it is no entry of this cache"
            raise ValueError(msg)
        head, _, body = stream.read().partition(b"\n")
    header = json.loads(head)
    body = body.removesuffix(b"\n")
    wanted = {
        "format": FORMAT,
        "kind": kind,
        "key": key,
        "digest": hashlib.sha256(body).hexdigest(),
    }
    if header != wanted:
        msg = "it is broken, or not of this format"
        raise ValueError(msg)
    return json.loads(body)
