"""``annomodels methods``: the paragraph to paste into a paper."""

from __future__ import annotations

from pathlib import Path

from annomodels.cli.declared import as_command
from annomodels.cli.options import option, writing_of
from annomodels.cli.tables import emit_text, loaded, to_json

FORMS = ("md", "tex", "bib", "json")


@as_command(
    "methods fit.nc",
    "methods fit.nc -o methods.tex",
    "methods fit.nc --format bib -o references.bib",
)
@option("-o --output", "File to write to [default: stdout].", metavar="FILE")
@option(
    "--format form",
    "Markdown, LaTeX (natbib, booktabs), or the BibTeX entries [default: by the ending of FILE, "
    "else md].",
    FORMS,
)
@option("--json as_json", "The same as --format json.", bool, section="writing")
def command(fit: str, output: str | None, force: bool, form: str | None, as_json: bool) -> None:
    """Write a methods section for FIT with its sources.

    It covers data, agreement, model, inference and results with intervals, and has a table of the
    agreement coefficients.
    """
    from annomodels.reporting.methods import bibtex, methods, methods_latex

    ending = Path(output or "").suffix.removeprefix(".").lower()
    writing = writing_of(output, force, form, as_json).check(*(f".{one}" for one in FORMS))
    chosen = writing.form or (ending if ending in FORMS else "md")
    found = loaded(fit)
    told = str(found.tree.attrs.get("command", ""))
    if chosen == "json":
        parts = {
            "markdown": methods(found, told),
            "latex": methods_latex(found, told),
            "bibtex": bibtex(found),
        }
        emit_text(to_json(parts), writing)
    elif chosen == "bib":
        emit_text(bibtex(found), writing)
    else:
        emit_text((methods if chosen == "md" else methods_latex)(found, told), writing)
