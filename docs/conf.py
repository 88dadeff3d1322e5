"""How Sphinx builds these pages. Warnings are errors, and nothing is fetched from the network."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml
from sphinx.errors import ExtensionError

from annomodels import __version__

sys.path.insert(0, str(Path(__file__).parent))

from commands import pages as command_pages  # files beside this one
from elsewhere import as_markdown
from evidence import FIGURE, figure, numbers
from execute import executed, shows
from formulas import known
from llms import llms_text
from pictures import WORDS, first_screen
from plates import write as write_plates
from readme import README, stale
from reports import write as write_reports

project = "annomodels"
author = "The annomodels developers"
project_copyright = "The annomodels developers; Apache-2.0"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
]

source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_templates", "tables", "generated/*.md", "Thumbs.db", ".DS_Store"]
templates_path = ["_templates"]

myst_enable_extensions = ["deflist", "dollarmath", "colon_fence", "substitution"]
# prices are no formulas: no space inside the dollars, and no digit after them
myst_dmath_allow_space = False
myst_dmath_allow_digits = False
myst_substitutions = numbers()
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
html_static_path = ["_static"]
html_extra_path = ["generated/extra"]
html_math_renderer = "mathml"


def _inline(translator: Any, node: Any) -> None:
    translator.body.append(latex2mathml.tex2mathml(known(node.astext())))
    raise nodes.SkipNode


def _block(translator: Any, node: Any) -> None:
    formula = latex2mathml.tex2mathml(known(node.astext()), as_block=True)
    translator.body.append(f'<div class="math">{formula}</div>\n')
    raise nodes.SkipNode


def _generate(app: Any) -> None:
    """Write what pages include: tables, pictures of models, pages of commands, reports."""
    folder = Path(app.srcdir) / "generated"
    (folder / "elsewhere.md").write_text(as_markdown(), "utf-8")
    write_plates(folder / "plates")
    (folder / "glossary.md").write_text(_glossary(), "utf-8")
    (folder / "bibliography.md").write_text(_bibliography(), "utf-8")
    if FIGURE.read_text("utf-8") != figure():
        raise ExtensionError("images/wrong-labels.svg is old: run python docs/readme.py")


def _glossary() -> str:
    from annomodels.reporting.sections.details import GLOSSARY

    terms = [f"{word}\n: {text}\n" for word, text in sorted(GLOSSARY, key=lambda x: x[0].lower())]
    return "\n".join(terms)


def _bibliography() -> str:
    from annomodels.reporting.words import sources

    found = sorted(sources().values(), key=lambda s: (s.author.lstrip("{").lower(), s.year))
    lines = [f"* {source.text.replace('https://', '<https://', 1)}" for source in found]
    return "\n".join(f"{line}>" if "<https://" in line else line for line in lines) + "\n"


def _before(app: Any, config: Any) -> None:
    """Write the pages and files that Sphinx looks for when it begins."""
    folder = Path(app.srcdir)
    extra = folder / "generated" / "extra"
    extra.mkdir(parents=True, exist_ok=True)
    (extra / "llms.txt").write_text(llms_text(folder), "utf-8")
    write_reports(extra / "reports")
    if first_screen(extra / "reports" / "crowd.html") != WORDS.read_text("utf-8"):
        raise ExtensionError("images/report.png is old: run python docs/pictures.py")
    if stale(README.read_text("utf-8")):
        raise ExtensionError("The output in README.md is old: run python docs/readme.py")
    (folder / "generated" / "cli").mkdir(exist_ok=True)
    for name, text in command_pages().items():
        _keep(folder / "generated" / "cli" / f"{name}.md", text)


def _keep(path: Path, text: str) -> None:
    """Write a file unless it has this text, so that Sphinx does not read it again."""
    if not path.exists() or path.read_text("utf-8") != text:
        path.write_text(text, "utf-8")


EXECUTED = ("tutorials/", "howto/", "guide/", "coming-from/")


def _execute(app: Any, name: str, source: list[str]) -> None:
    """Run the code of the pages whose results are shown."""
    if name.startswith(EXECUTED) or name in ("index", "quickstart", "gallery"):
        page, source[0] = source[0], executed(source[0], name)
        code = page.count("```python\n") + page.count("```console\n")
        if code and not shows(page, source[0]):
            raise ExtensionError(f"The code of {name} shows too little.")
        if name == "gallery" and "<figure" not in source[0]:
            raise ExtensionError("The gallery shows no figure.")


def setup(app: Any) -> None:
    """Show formulas as MathML, which browsers draw without a script from a server."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.connect("config-inited", _before)
    app.connect("builder-inited", _generate)
    app.connect("source-read", _execute)
    app.add_css_file("drawn.css")
