"""Check a certificate with exact integer arithmetic, using nothing but the standard library.

``python -m symreln.verifier certificate.json`` (or its folder), or :func:`verify`. No SymPy, no
FLINT, no floats, and no other module of symreln: a copy of this folder checks certificates by
itself (``python -m verifier certificate.json``). The fields of a certificate are listed in
``docs/certificate.md``. What the checks prove, and why, stands at the top of the modules, which are
read in this order:

- :mod:`.numbers`, :mod:`.matrices`: polynomials, their ratios, matrices of them;
- :mod:`.reading`: how they are spelled, and the bounds of what is read;
- :mod:`.modes`, :mod:`.stages`: gated pathways;
- :mod:`.routing`: the routing network;
- :mod:`.sizes`: every size at once;
- :mod:`.certificate`, :mod:`.folder`: all of it together, and the files beside it.
"""

from .certificate import FORMAT, verify
from .folder import verify_file
from .numbers import CertificateError
from .reading import digest
from .stages import LEVELS

__all__ = ["FORMAT", "LEVELS", "CertificateError", "digest", "verify", "verify_file"]
