"""Hostile and random input to the door, in full: ten times what the daily tests draw.

``python -m tests.campaigns.door`` takes some minutes and ends with 1 where a test fails.
"""

from __future__ import annotations

import os
import sys

import pytest

if __name__ == "__main__":
    os.environ["SYMRELN_EXAMPLES"] = "full"
    sys.exit(pytest.main(["-q", "tests/specs"]))
