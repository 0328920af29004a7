"""A page as a reader meets it: in a headless Chromium, without a network, by mouse and keyboard."""

import json
from itertools import pairwise

import pytest

from symreln.document.document_model import (
    Code,
    Details,
    Document,
    Math,
    Section,
    Table,
    equation,
    prose,
)
from symreln.report import html
from tests.cases import derived
from tests.report import browser
from tests.report.sample import document

pytestmark = pytest.mark.skipif(browser.PATH is None, reason="needs Chromium")

WIDE = " + ".join(rf"x_{{{n}}}^2" for n in range(40))
WIDTHS = (1440, 1280, 390)


def wide_document():
    """Return what is wider than a phone: a table, an equation, words, formulas in the text."""
    cells = tuple(f"column-{n}" for n in range(12))
    blocks = (
        Table(header=cells, rows=(cells, cells), caption="Wide.", label="tab:wide"),
        equation(WIDE, label="eq:wide"),
        prose("In the text ", Math(WIDE), " and ", Code("x" * 90), "."),
        Details(summary="One", blocks=(prose("first"), equation(WIDE))),
        Details(summary="Two", blocks=(prose("second"),)),
    )
    sections = [Section(title=("Part ", Math("x")), label=f"s{n}", blocks=()) for n in "abc"]
    return Document(title="Wide", blocks=(Section(title="Folds", blocks=blocks), *sections))


@pytest.fixture(scope="module")
def addresses(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    derivation = derived("xor")
    pages = {
        "sample": html.render(document()),
        "wide": html.render(wide_document()),
        "xor": html.render(derivation.to_document()),
        "notebook": f"<!DOCTYPE html><title>n</title>{derivation._repr_html_()}",
    }
    for name, text in pages.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return {name: (folder / f"{name}.html").as_uri() for name in pages}


@pytest.fixture(scope="module")
def chromium():
    with browser.opened() as found:
        yield found


@pytest.fixture
def opened(chromium, addresses):
    tabs = []

    def tab(name, width=1280, **how):
        tabs.append(browser.Tab(chromium, addresses[name], width, **how))
        return tabs[-1]

    yield tab
    for each in tabs:
        each.close()


def click(tab, selector):
    """Click with the mouse what a selector finds, in the middle."""
    found = json.dumps(selector)
    x, y = tab.eval(
        f"(() => {{ const e = document.querySelector({found}); "
        "e.scrollIntoView({ block: 'center' }); "
        "const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()"
    )
    for kind in ("mousePressed", "mouseReleased"):
        tab.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)


@pytest.mark.parametrize("name", ["sample", "wide", "xor"])
def test_a_page_asks_for_nothing_and_has_nothing_to_complain_of(opened, addresses, name):
    tab = opened(name)
    tab.eval("document.fonts.ready.then(() => 1)")
    asked = [
        each["params"]["request"]["url"]
        for each in tab.said("Network.requestWillBeSent")
        if not each["params"]["request"]["url"].startswith("data:")
    ]
    assert asked == [addresses[name]]
    complaints = ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")
    assert tab.said(*complaints) == []
    assert tab.eval("document.fonts.check('16px \"STIX Two Math\"', '𝑥')")


PARTS_OUTSIDE = """(() => {
  document.querySelectorAll("details").forEach((each) => { each.open = true; });
  const box = (e) => e.getBoundingClientRect();
  const outside = [...document.querySelectorAll("body *")].filter((e) =>
    !e.closest(".scroll, svg, math.wide, .skip, .unseen")
    && (box(e).right > innerWidth + 1 || box(e).left < -1));
  const cut = [...document.querySelectorAll(".scroll")].filter((e) =>
    (e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX !== "auto")
    || e.scrollHeight > e.clientHeight + 1);
  const page = document.scrollingElement.scrollWidth;
  return [outside.map((e) => e.outerHTML.slice(0, 80)), cut.length, page <= innerWidth];
})()"""


@pytest.mark.parametrize("name", ["sample", "wide", "xor"])
@pytest.mark.parametrize("width", [*WIDTHS, 320])
def test_no_width_cuts_anything_or_scrolls_the_page(opened, name, width):
    assert opened(name, width).eval(PARTS_OUTSIDE) == [[], 0, True]


GROUND = "getComputedStyle(document.documentElement).backgroundColor"


@pytest.mark.parametrize("dark", [False, True])
def test_colours_follow_the_system_then_the_button_for_the_visit(opened, addresses, dark):
    tab = opened("sample", dark=dark)
    button = "document.querySelector('header button')"
    first = tab.eval(GROUND)
    assert (first == "rgb(23, 24, 27)") is dark
    assert tab.eval(f"{button}.getAttribute('aria-pressed')") == str(dark).lower()
    click(tab, "header button")
    second = tab.eval(GROUND)
    assert (second == "rgb(23, 24, 27)") is not dark
    assert tab.eval(f"{button}.getAttribute('aria-pressed')") == str(not dark).lower()

    def again():
        tab.load(addresses["sample"])
        return tab.eval(GROUND)

    # Chromium's storage hears of the choice in its own time; a reader takes longer to come back.
    assert any(again() == second for _ in range(20))


OPENED = "[...document.querySelectorAll('main details')].map((each) => each.open)"


def test_folds_open_one_by_one_and_all_at_once(opened):
    tab = opened("wide")
    assert tab.eval(OPENED) == [False, False]
    tab.eval("document.querySelector('main summary').focus()")
    tab.press(" ", 32, " ")
    assert tab.eval(OPENED) == [True, False]
    click(tab, "main .tools button")
    assert tab.eval(OPENED) == [True, True]
    click(tab, "main .tools button:last-child")
    assert tab.eval(OPENED) == [False, False]


STATUS = "document.querySelector('[role=status]').textContent"
CATCH = """window.copied = []; navigator.clipboard.writeText = async (text) => copied.push(text);"""


def test_latex_of_an_equation_is_copied_by_the_keyboard(opened):
    tab = opened("wide")
    tab.eval(CATCH)
    tab.eval("document.querySelector('.equation .copy').focus()")
    label = "document.activeElement.getAttribute('aria-label')"
    assert tab.eval(label) == "Copy LaTeX of equation (1)"
    tab.press("Enter", 13, "\r")
    assert tab.eval("copied") == [WIDE]
    assert tab.eval(STATUS) == "LaTeX of equation (1) copied"
    assert tab.eval(label) == "Copy LaTeX of equation (1)"  # the focus stayed


def test_a_screen_reader_finds_its_way(opened):
    tab = opened("wide")
    nodes = tab.call("Accessibility.getFullAXTree")["nodes"]
    found = [
        (node["role"]["value"], node.get("name", {}).get("value", ""))
        for node in nodes
        if not node.get("ignored")
    ]
    roles = [role for role, _ in found]
    assert [roles.count(role) for role in ("banner", "navigation", "main", "status")] == [1] * 4
    assert ("table", "Table 1") in found
    assert roles.count("columnheader") == 12
    assert roles.count("rowheader") == 2
    assert ("button", "Dark colours") in found
    levels = tab.eval("[...document.querySelectorAll('h1, h2, h3, h4')].map((e) => +e.tagName[1])")
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert all(name for role, name in found if role in ("button", "link", "image", "navigation"))


def test_the_first_tab_skips_to_the_content(opened):
    tab = opened("wide")
    tab.press("Tab", 9)
    assert tab.eval("document.activeElement.textContent") == "Skip to the content"
    tab.press("Enter", 13, "\r")
    assert tab.eval("location.hash") == "#content"


def test_contents_stand_beside_a_wide_page_and_fold_on_a_phone(opened):
    seen = "document.querySelector('nav a').checkVisibility()"
    assert opened("wide", 1280).eval(seen)
    phone = opened("wide", 390)
    assert not phone.eval(seen)
    click(phone, "nav summary")
    assert phone.eval(seen)


def test_without_its_script_a_page_has_all_words_and_no_dead_button(opened):
    tab, words = opened("wide", script=False), "document.body.textContent.length"
    assert tab.eval("document.querySelectorAll('button').length") == 0
    added = "[...document.querySelectorAll('button')].map((e) => e.textContent).join('').length"
    other = opened("wide")
    assert tab.eval(words) == other.eval(words) - other.eval(added)
    assert tab.eval("getComputedStyle(document.querySelector('main')).display") == "block"


def test_the_frame_of_a_notebook_works_and_keeps_to_itself(opened):
    tab = opened("notebook")
    assert tab.eval("document.querySelector('details').open") is False
    tab.eval("document.querySelector('details').open = true")
    frame = tab.inside("about:srcdoc")
    theme = "document.documentElement.dataset.theme ?? ''"
    assert frame.eval(f"document.querySelector('header button').click(); {theme}") == "dark"
    assert tab.eval(theme) == ""
    complaints = ("Log.entryAdded", "Runtime.exceptionThrown")
    assert tab.said(*complaints) == frame.said(*complaints) == []
