"""The letters of formulas: the program's own, and how a user's parameter keeps apart from them.

A parameter whose name a formula uses for something else, or that would be printed as another
parameter is, is written with underscores at its end, in print with bars: t is time, ``t_`` the
parameter. It has that one name in expressions, print, results and programs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from keyword import kwlist

#: What formulas and lemmas call something; with an index of digits or letters, too. Letters of
#: tasks (c, Delta, C, n, m) are not among them.
_HEADS = frozenset(
    {*"abdefghijklpqrstuvwxyz", *"BDEFGHIKLMNOPQRSTUVWXY", "alpha", "beta", "gamma", "delta", "eta"}
    | {"theta", "kappa", "lambda", "mu", "nu", "pi", "pitilde", "rho", "sigma", "tau", "chi", "phi"}
    | {"Gamma", "Lambda", "Phi", "Sigma"}
)
_WORDS = frozenset({*kwlist, "imbalance", "strength", "loss", "infty", "oo", "zoo", "nan"})
#: Indexed letters whose head is a task's letter.
_INDEXED = frozenset({("n", "x"), ("n", "y"), ("m", "alpha")})
#: What programs import, and functions that formulas call.
_CALLED = frozenset({"numpy", "jax", "torch", "math", "np", "sqrt", "exp", "log", "sinh", "cosh"})
_SPELLINGS = {"lamda": "lambda"}
_PIECES = re.compile(r"([^\W\d_]+)|(\d+)")
#: Marks a user's letter.
MARK = "_"


def pieces(name: str) -> list[str]:
    """Return the letter of a name and the parts of its index, as they are printed.

    Example:
        >>> pieces("lamda"), pieces("pi_1_2"), pieces("c1")
        (['lambda'], ['pi', '1', '2'], ['c', '1'])
    """
    found = [match[0] for match in _PIECES.finditer(name)]
    return [_SPELLINGS.get(piece, piece) for piece in found]


def _is_own(name: str) -> bool:
    """Whether the program calls something by this name, or prints something so.

    Example:
        >>> [_is_own(name) for name in ("t", "pi_0", "s_scale", "c", "lambda_")]
        [True, True, False, False, False]
    """
    if name.endswith(MARK):
        return False
    head, *index = pieces(name) or [""]
    if not index and (head in _WORDS or head in _CALLED):
        return True
    if head == "log" and index:  # a program's letter for a logarithm
        return _is_own("_".join(index))
    of_letters = all(len(part) == 1 or part.isdigit() or part in _HEADS for part in index)
    return (head, *index) in _INDEXED or (head in _HEADS and of_letters)


def written_names(names: Iterable[str]) -> dict[str, str]:
    """Return how each parameter is written, by the name that its user gave it.

    Example:
        >>> written_names(["t", "c", "alpha1", "alpha_1"])
        {'t': 't_', 'c': 'c', 'alpha1': 'alpha1_', 'alpha_1': 'alpha_1__'}
    """
    taken: set[tuple[str, ...]] = set()
    found = {}
    # Who may keep a name does so whatever is declared before.
    for name in sorted(names, key=_is_own):
        written = name + MARK * _is_own(name)
        while _printed(written) in taken:
            written += MARK
        taken.add(_printed(written))
        found[name] = written
    return {name: found[name] for name in names}


def _printed(name: str) -> tuple[str, ...]:
    marks = name[len(name.rstrip(MARK)) :]
    return (*pieces(name), marks)
