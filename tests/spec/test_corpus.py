"""Every wrong input ends in one clear error: never a traceback, never silence, never a wait."""

from __future__ import annotations

import pytest

from symreln.errors import InputError
from symreln.spec.finding import problem_of_character
from symreln.spec.reader import load
from tests.spec.corpus import Case, cases


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Case]:
    return {case.name: case for case in cases(tmp_path_factory.mktemp("corpus"))}


def test_corpus_is_large_and_its_names_are_unique(corpus: dict[str, Case], tmp_path):
    assert len(corpus) == len(list(cases(tmp_path)))
    assert len(corpus) >= 150


def test_every_case_is_refused_with_its_mend(corpus: dict[str, Case]):
    wrong = []
    for case in corpus.values():
        try:
            load(case.source)
        except InputError as error:
            message = str(error)
            if case.fragment not in message:
                wrong.append(f"{case.name}: {case.fragment!r} is not in:\n{message}")
            if any(problem_of_character(c) for c in message if c != "\n"):
                wrong.append(f"{case.name}: the message has a control character: {message!r}")
            if len(message) > 20_000:
                wrong.append(f"{case.name}: a message of {len(message)} characters")
        else:
            wrong.append(f"{case.name}: accepted")
    assert not wrong, "\n".join(wrong)


def test_every_problem_of_a_file_names_it(corpus: dict[str, Case]):
    """Except for names that are no file at all."""
    for case in corpus.values():
        if not case.source.endswith(".toml"):
            continue
        with pytest.raises(InputError) as caught:
            load(case.source)
        assert all(p.file == case.source for p in caught.value.problems), case.name  # type: ignore[attr-defined]
