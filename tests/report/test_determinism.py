"""The same document gives the same bytes, also in another process with another hash seed."""

import contextlib
import io
from pathlib import Path

from tests.own_process import printed

SCRIPT = """
import hashlib, sympy as sp
import symreln as sr
from symreln.report import html, latex, typst
from tests.report.sample import document

sample = document()
parts = [html.render(sample), latex.render(sample), typst.render(sample).hex()]
parts += [latex.fragment(sample)]
parts += [sr.derive(sr.load("linear-hierarchy")).to_latex(fragment=True, prefix="w:")]
parts += [drawing.svg for drawing in sample.figures]
parts += [drawing.pdf.hex() for drawing in sample.figures]
print([hashlib.sha256(part.encode()).hexdigest() for part in parts])
"""
HEAVY = (
    "sympy", "scipy", "matplotlib", "flint", "fontTools", "numpy", "typst",
)  # fmt: skip


def run(code, seed):
    return printed(code, PYTHONHASHSEED=seed, PYTHONPATH=str(Path(__file__).parents[2]))


def test_bytes_are_equal_under_other_hash_seeds():
    """Here, and in a process of its own; two have the same by chance once in 2**32."""
    here = io.StringIO()
    with contextlib.redirect_stdout(here):
        exec(SCRIPT, {})
    assert run(SCRIPT, "1") == here.getvalue()


def test_modules_load_what_they_need_when_they_need_it():
    modules = ["document.document_model", "base.jsonio"]
    rest = ("latex", "html", "typst")
    modules += [f"report.{name}" for name in rest]
    code = "import sys\n" + "".join(f"import symreln.{name}\n" for name in modules)
    code += f"print([name for name in {HEAVY!r} if name in sys.modules])"
    assert run(code, "0").strip() == "[]"
