"""The verifier beside a derivation: large certificates are checked by a process of their own.

That process is given the certificate's text and has nothing but the standard library
(``python -I -S verify.py``), so it shares no object with what made the certificate; meanwhile the
derivation's other checks go on.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Any, Self

from symreln import verify
from symreln.base.processors import cores
from symreln.errors import CertificateError

if TYPE_CHECKING:
    from types import TracebackType

#: Characters of a certificate from which a second process is worth its start (about 0.1 s): the
#: verifier reads about a million characters a second.
LARGE = 400_000


class Verification:
    """The check of a certificate, under way between ``with`` and the end of its block.

    Args:
        certificate: As JSON values.
    """

    def __init__(self, certificate: dict[str, Any]) -> None:
        self._certificate = certificate
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        """Start a process where that is worth it."""
        if cores() > 1:
            text = json.dumps(self._certificate).encode()
            if len(text) > LARGE:
                self._start(text)
        return self

    def _start(self, text: bytes) -> None:
        # A file, because a pipe that nobody reads yet would stop the writer.
        with tempfile.TemporaryFile() as handle:
            handle.write(text)
            handle.seek(0)
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-S", verify.__file__, "-"],
                    stdin=handle,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                )
            except OSError:
                self._process = None  # no interpreter to start: checked in this process

    def lines(self) -> tuple[str, ...]:
        """Return what was proven, a line a stage.

        Raises:
            CertificateError: The certificate was rejected.
        """
        if self._process is None:
            return verify.verify(self._certificate)
        out, err = self._process.communicate()
        if self._process.returncode:
            told = err.decode(errors="replace").strip().splitlines() or ["no message"]
            msg = f"the verifier's process ended with {self._process.returncode}: {told[-1]}"
            raise CertificateError(msg)
        return tuple(out.decode().splitlines())

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave no process behind."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.communicate()
