"""How the site is built: `sphinx-build -W --keep-going -b html docs docs/_build/html`."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported
os.environ.setdefault("COLUMNS", "88")  # of the outputs of commands: as wide as the text

from latex2mathml.converter import convert

import symreln

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

# Of what notebooks and figures do, only what went wrong.
for _name in ("fontTools", "traitlets"):
    logging.getLogger(_name).setLevel(logging.WARNING)

project = "symreln"
author = "The symreln developers"
copyright = f"2025, {author}"
release = symreln.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
    "sphinxcontrib.bibtex",
]
exclude_patterns = [
    "_build",
    "gallery",
    "**/*.ipynb",
    "auto_gallery/*.py",
    "sg_execution_times.rst",
]

highlight_language = "none"
html_theme = "furo"
html_title = f"symreln {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_math_renderer = "mathml"

myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

# Notebooks run when the site is built, in a folder of their own; an error ends the build.
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True
nb_output_stderr = "remove"  # progress

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
python_use_unqualified_type_names = True
napoleon_use_ivar = True
napoleon_use_rtype = False

bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "unsrt"

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "image_scrapers": ("matplotlib",),
    "capture_repr": (),
    "copyfile_regex": r"^$",
}


def _inline(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(convert(node.astext()))


def _block(self: HTML5Translator, node: nodes.math_block) -> None:
    number = f'<span class="eqno">({node["number"]})</span>' if node["number"] else ""
    shown = convert(node.astext(), display="block")
    self.body.append(self.starttag(node, "div", CLASS="math"))
    self.body.append(f"{number}{shown}</div>\n")


def _skip(visit: Any) -> Any:
    from docutils.nodes import SkipNode

    def visited(self: HTML5Translator, node: Any) -> None:
        visit(self, node)
        raise SkipNode

    return visited


def setup(app: Sphinx) -> None:
    """Render mathematics as MathML: no script, no font and no network is needed to read it."""
    app.add_html_math_renderer("mathml", (_skip(_inline), None), (_skip(_block), None))
