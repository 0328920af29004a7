"""``python -m symreln.verifier certificate.json``: check a certificate, "-" for stdin."""

import sys

from . import CertificateError, verify_file


def main() -> None:
    """Print what is proven, or end with code 2 and the reason."""
    try:
        lines = verify_file(sys.argv[1] if len(sys.argv) == 2 else "certificate.json")
    except CertificateError as error:
        sys.stderr.write(f"{error}\n")
        raise SystemExit(2) from None
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
