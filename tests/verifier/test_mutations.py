"""No single field of a certificate can be changed without being found out.

A changed certificate is either rejected, or, with its digest renewed, says the same in other words
or the truth about another problem; :func:`tests.certificates.claims` says what counts as words.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random

import pytest

import symreln as sr
from symreln.errors import CertificateError
from symreln.verifier import digest, verify
from tests.certificates import Json, certificates, claims, leaves, mutation, rederived
from tests.strategies import FULL
from tests.unchecked import derive_unchecked

SMALL = ("xor", "contextual", "coupled", "generic", "white", "leak", "gains", "rest")
TASKS = ("xor-linear", "contextual-3")
#: Mutations with a renewed digest.
MANY, SOME = (1300, 4000) if FULL else (60, 15)
if FULL:
    TASKS += ("contextual-4", "contextual-5", "contextual-different")


@cache
def of_task(name: str) -> Json:
    small = {"parameters.M.value": 3, "dataset.items": 2} if name == "routing" else {}
    return derive_unchecked(sr.load(name, small)).certificate


def accepted(certificate: Json) -> bool:
    try:
        verify(certificate)
    except CertificateError:
        return False
    return True


def campaign(certificate: Json, name: str, count: int) -> int:
    """Make mutations, renew the digest, and return how many were accepted as other words."""
    random = Random(name)
    paths = [path for path in leaves(certificate) if path[0] != "digest"]
    said, found = claims(certificate), 0
    for _ in range(count):
        with mutation(certificate, random, paths) as what:
            certificate["digest"] = digest(certificate)
            if accepted(certificate):
                found += 1
                claimed = claims(certificate)
                true = claimed == said or claimed == claims(rederived(certificate))
                assert true, f"{name}: accepted {what}"
        certificate["digest"] = digest(certificate)
    return found


@pytest.mark.parametrize("name", SMALL)
def test_with_a_stale_digest_everything_is_rejected(name: str) -> None:
    certificate = certificates()[name]
    random, paths = Random(name), list(leaves(certificate))
    for _ in range(30):
        with mutation(certificate, random, paths) as what:
            assert not accepted(certificate), f"{name}: accepted {what}"
    assert accepted(certificate)


@pytest.mark.parametrize(
    ("find", "name", "count"),
    [(lambda name: certificates()[name], name, MANY) for name in SMALL]
    + [(of_task, name, SOME) for name in TASKS]
    + [(of_task, "routing", 2 * MANY)],
)
def test_with_its_own_digest_only_other_words_pass(
    find: Callable[[str], Json], name: str, count: int
) -> None:
    assert campaign(find(name), name, count) < max(count // 8, 4)
