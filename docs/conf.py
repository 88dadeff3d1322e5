"""How Sphinx builds these pages. Warnings are errors, and nothing is fetched from the network."""

from __future__ import annotations

from annomodels import __version__

project = "annomodels"
author = "The annomodels developers"
project_copyright = "The annomodels developers; Apache-2.0"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_click",
]

source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "tables", "Thumbs.db", ".DS_Store"]
templates_path = ["_templates"]

myst_enable_extensions = ["deflist", "dollarmath", "colon_fence"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_theme = "furo"
html_title = f"annomodels {release}"
html_theme_options = {"navigation_with_keys": True}
html_show_sourcelink = False
html_copy_source = False
