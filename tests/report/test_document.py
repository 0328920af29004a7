import pytest

from symreln.document.document_model import (
    Citation,
    Drawing,
    Equation,
    Figure,
    Link,
    Math,
    Reference,
    Section,
    Source,
    Strong,
    Table,
    Theorem,
    equation,
    prose,
    walk,
)
from symreln.errors import InputError
from tests.report.sample import body


@pytest.mark.parametrize(
    ("make", "found"),
    [
        # What leads nowhere in a document, then parts that no renderer prints.
        (lambda: body(prose(Reference("eq:x"))), "'eq:x'"),
        (lambda: body(prose(Strong(Reference("deep")))), "'deep'"),
        (lambda: body(prose(Citation("Saxe2014"))), "'Saxe2014'"),
        (lambda: body(Figure(name="missing", alt="a")), "'missing'"),
        (lambda: body(equation("a", label="x"), equation("b", label="x")), "used twice"),
        (lambda: body(equation("a", label="1x")), "needs a letter"),
        (lambda: body(Theorem(kind="Remark", blocks=(prose(Reference("in")),))), "'in'"),
        (lambda: body(Table(header=(Reference("h"),), rows=())), "'h'"),
        (lambda: body(Section(title=Reference("t"), blocks=())), "'t'"),
        (lambda: Math(r"\input{x}"), r"\input"),
        (lambda: Equation(lines=()), "no lines"),
        (lambda: equation(r"\frac{a}{b"), "never closed"),
        (lambda: Link("x", "javascript:alert(1)"), "javascript:alert(1)"),
        (lambda: Link("x", "http://x"), "http://x"),
        (lambda: Link("x", "#nowhere"), "#nowhere"),
        (lambda: Table(header=("a", "b"), rows=(("1",),)), "row 0: 1 cells"),
        (lambda: Table(header=("a",), rows=(), alignment="x"), "alignment 'x'"),
        (lambda: Table(header=("a",), rows=(), label="t"), "without a caption"),
        (lambda: Figure(name="f", alt=" "), "no description"),
        (lambda: Theorem(kind="Proof", blocks=(), label="p"), "proofs have no number"),
        (lambda: Drawing(name="../x", svg=""), "'../x'"),
        (lambda: Source(key="a b", content="x"), "'a b'"),
        (lambda: Source(key="ab", content="x", url="ftp://x"), "ftp://x"),
    ],
)
def test_documents_and_parts_refuse(make, found):
    with pytest.raises(InputError) as caught:
        make()
    assert found in str(caught.value)


def test_sections_nest_three_deep():
    def nested(depth):
        blocks = ()
        for _ in range(depth):
            blocks = (Section(title="s", blocks=blocks),)
        return blocks

    assert len(list(walk(body(*nested(3)).blocks))) == 3
    with pytest.raises(InputError, match="4 deep"):
        body(*nested(4))
