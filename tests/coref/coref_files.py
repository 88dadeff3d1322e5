"""One tiny text in six formats, from the files of cases/coref_tiny."""

import shutil
from pathlib import Path

TINY = Path(__file__).resolve().parents[1] / "cases" / "coref_tiny"
# The dog that she saw barked . Ana fed it .   dog = {The dog .. barked}, gap; Ana = {she, Ana}
CONLL = (TINY / "tiny.conll").read_text("utf-8")
WORDS = [line.split()[3] for line in CONLL.splitlines() if line.startswith("nw/tiny")]


def conllu(entities: dict[int, str], misc: dict[int, str] | None = None) -> str:
    lines = ["# newdoc id = nw/tiny", "# global.Entity = eid-etype-head-other", "# sent_id = 1"]
    for n, word in enumerate(WORDS):
        if n == 7:
            lines += ["", "# sent_id = 2"]
        place = n + 1 if n < 7 else n - 6
        parts = [f"Entity={entities[n]}"] if n in entities else []
        parts += [misc[n]] if misc and n in misc else []
        lines.append("\t".join([str(place), word, *["_"] * 7, "|".join(parts) or "_"]))
    return "\n".join([*lines, "", ""])


CORPUS_ENTITIES = {0: "(e3-animal-2-", 1: "e3)", 3: "(e1-person-1-)", 7: "(e1-person-1-)"}
CORPUS_ENTITIES |= {9: "(e3-animal-1-)"}


def write_mmax(
    folder: Path, attribute: str = 'coref_class="set_{}"', doctype: bool = True, **more: str
) -> Path:
    """Write an MMAX2 project like those of the tool, with a document type and Windows slashes."""
    shutil.copytree(TINY / "mmax", folder, dirs_exist_ok=True)
    phrases = folder / "Markables" / "tiny_phrase_level.xml"
    sets = {"m1": 3, "m2": 1, "m3": 1, "m4": 3}
    given = {m: attribute.format(n) for m, n in sets.items()} | more
    phrases.write_text(phrases.read_text("utf-8").format(**given), "utf-8")
    if not doctype:
        for path in (phrases, folder / "Basedata" / "tiny_words.xml"):
            lines = path.read_text("utf-8").splitlines(keepends=True)
            kept = [line for line in lines if not line.startswith("<!DOCTYPE")]
            path.write_text("".join(kept), "utf-8")
    return folder / "tiny.mmax"


def write_brat(folder: Path) -> Path:
    shutil.copytree(TINY / "brat", folder, dirs_exist_ok=True)
    return folder / "tiny.ann"


def write_json(folder: Path) -> Path:
    return shutil.copy(TINY / "tiny.jsonl", folder / "tiny.jsonl")


def write_chains(folder: Path) -> Path:
    return shutil.copy(TINY / "chains.csv", folder / "chains.csv")
