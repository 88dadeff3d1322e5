"""The map of these pages for language models: ``llms.txt``, in the form of https://llmstxt.org."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["llms_text", "pages"]

_ABOUT = """# annomodels

> Python package and command line: from several labels per item to gold labels with probabilities,
> coder quality, ambiguous items, and agreement coefficients with intervals.

Install from a clone of the repository: `pip install .` (Python 3.12 or newer; no release is on a
package index yet). One command does the main job: `annomodels run votes.csv -o out`. In Python:

```python
import annomodels as am

data = am.read("votes.csv")     # or am.Annotations.from_frame(df): columns item, coder, label
print(am.agreement(data))       # coefficients with intervals; NaN with a reason, never an error
fit = am.fit(data, seed=1)      # a model of coders and the votes, calibrated
print(fit.check())              # verdict, with reasons
fit.gold(); fit.coders(); fit.items(); fit.labels(); fit.why("item name"); fit.plot.coders()
```

Marked text (brat, INCEpTION, CoNLL, Label Studio, Prodigy, doccano, tables) becomes gold spans:
`annomodels run project -o out`, `annomodels gold out --to brat -o gold`; in Python
`am.fit(am.read_spans("project"))`.

Every table is a Summary: `.table` (pandas), `.draws` (xarray), `.notes`. Options of commands:
`annomodels COMMAND --help`; `--format json` works on all of them.
"""
_HIDDEN = {"_build", "generated", "tables", "_static", "_templates"}


def pages(folder: Path) -> dict[str, tuple[str, str]]:
    """Title and first sentence of each page, by its name without ending."""
    found = {}
    for path in sorted(folder.rglob("*.md")):
        name = path.relative_to(folder).with_suffix("").as_posix()
        if name.split("/")[0] in _HIDDEN or name in ("index", "changelog"):
            continue
        text = re.sub(r"^```.*?^```$", "", path.read_text("utf-8"), flags=re.M | re.S)
        title = re.search(r"^# (.+)$", text, re.M)
        plain = [part for part in text.split("\n\n") if re.match(r"[A-Za-z*`]", part)]
        first = " ".join((plain or [""])[0].split())
        first = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", first)
        sentence = re.match(r".*?[.:?](?= |$)", first)
        if title:
            found[name] = (title[1], sentence[0].rstrip(":") if sentence else first)
    return found


def llms_text(folder: Path) -> str:
    """Text of the file."""
    words = {"tutorials": "Tutorials", "howto": "How-to guides", "guide": "Guide"}
    words |= {"coming-from": "Other packages", "models": "Models", "research": "Research notes"}
    sections: dict[str, list[str]] = {word: [] for word in ("Reference", *words.values())}
    for name, (title, sentence) in pages(folder).items():
        line = f"- [{title}]({name}.html)" + (f": {sentence}" if sentence else "")
        sections[words.get(name.split("/")[0], "Reference")].append(line)
    parts = [f"## {word}\n\n" + "\n".join(lines) + "\n" for word, lines in sections.items()]
    return "\n".join([_ABOUT, *parts])
