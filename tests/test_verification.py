"""The verifier in a process of its own says what it says in this one."""

from __future__ import annotations

import copy

import pytest

import symreln as sr
from symreln.errors import CertificateError
from symreln.pipeline import verification
from symreln.verify import digest, verify


@pytest.fixture(scope="module")
def certificate():
    return sr.derive(sr.load("contextual-3")).certificate


@pytest.fixture(autouse=True)
def _every_size(monkeypatch):
    monkeypatch.setattr(verification, "LARGE", 0)
    monkeypatch.setattr(verification, "cores", lambda: 2)


def test_the_process_proves_the_same(certificate):
    with verification.Verification(certificate) as found:
        assert found._process is not None
        assert found.lines() == verify(certificate)


def test_the_process_rejects_what_is_wrong(certificate):
    wrong = copy.deepcopy(certificate)
    wrong["stages"][1]["final_loss"] = "1 / 7"
    wrong["digest"] = digest(wrong)
    with (
        verification.Verification(wrong) as found,
        pytest.raises(CertificateError, match="final_loss"),
    ):
        found.lines()


def test_an_error_elsewhere_leaves_no_process(certificate):
    with (
        pytest.raises(ZeroDivisionError),
        verification.Verification(certificate) as found,
    ):
        raise ZeroDivisionError
    assert found._process is not None
    assert found._process.returncode is not None


def test_without_a_second_core_it_is_checked_here(certificate, monkeypatch):
    monkeypatch.setattr(verification, "cores", lambda: 1)
    with verification.Verification(certificate) as found:
        assert found._process is None
        assert found.lines() == verify(certificate)
