"""One tiny text in six formats."""

import json
from pathlib import Path

# The dog that she saw barked . Ana fed it .   dog = {The dog .. barked}, gap; Ana = {she, Ana}
WORDS = ["The", "dog", "that", "she", "saw", "barked", ".", "Ana", "fed", "it", "."]
CONLL = """#begin document (nw/tiny); part 000
nw/tiny 0 0 The DT * - - - spk * (3
nw/tiny 0 1 dog NN * - - - spk * 3)
nw/tiny 0 2 that WDT * - - - spk * -
nw/tiny 0 3 she PRP * - - - spk * (1)
nw/tiny 0 4 saw VBD * - - - spk * -
nw/tiny 0 5 barked VBD * - - - spk * -
nw/tiny 0 6 . . * - - - spk * -

nw/tiny 0 0 Ana NNP * - - - spk * (1)
nw/tiny 0 1 fed VBD * - - - spk * -
nw/tiny 0 2 it PRP * - - - spk * (3)
nw/tiny 0 3 . . * - - - spk * -

#end document
"""


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
    (folder / "Basedata").mkdir(parents=True)
    (folder / "Markables").mkdir()
    (folder / "tiny.mmax").write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n<mmax_project>\n<words>tiny_words.xml</words>\n'
        "</mmax_project>\n",
        "utf-8",
    )
    (folder / "common_paths.xml").write_text(
        '<?xml version="1.0"?>\n<common_paths>\n<basedata_path>Basedata\\</basedata_path>\n'
        "<markable_path>Markables\\</markable_path>\n<annotations>\n"
        '<level name="phrase" schemefile="s.xml">$_phrase_level.xml</level>\n'
        '<level name="turn" schemefile="t.xml">$_turn_level.xml</level>\n'
        "</annotations>\n</common_paths>\n",
        "utf-8",
    )
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    words = "\n".join(f'<word id="word_{n + 1}">{w}</word>' for n, w in enumerate(WORDS))
    kind = '<!DOCTYPE words SYSTEM "words.dtd">\n' if doctype else ""
    (folder / "Basedata" / "tiny_words.xml").write_text(
        f"\ufeff{head}{kind}<words>\n{words}\n</words>\n", "utf-8"
    )
    spans = {"m1": "word_1..word_2", "m2": "word_4", "m3": "word_8", "m4": "word_10"}
    sets = {"m1": 3, "m2": 1, "m3": 1, "m4": 3}
    rows = "\n".join(
        f'<markable id="{m}" span="{s}" {more.get(m, attribute.format(sets[m]))}/>'
        for m, s in spans.items()
    )
    kind = '<!DOCTYPE markables SYSTEM "markables.dtd">\n' if doctype else ""
    (folder / "Markables" / "tiny_phrase_level.xml").write_text(
        f"{head}{kind}<markables>\n{rows}\n</markables>\n", "utf-8"
    )
    (folder / "Markables" / "tiny_turn_level.xml").write_text(
        f'{head}<markables>\n<markable id="m9" span="word_1..word_7"/>\n</markables>\n', "utf-8"
    )
    return folder / "tiny.mmax"


def write_brat(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tiny.txt").write_text("The dog that she saw barked.\nAna fed it.\n", "utf-8")
    (folder / "tiny.ann").write_text(
        "R1\tCoref Arg1:T4 Arg2:T1\nT1\tAnimal 0 7\tThe dog\nT2\tPerson 13 16\tshe\n"
        "T3\tPerson 29 32\tAna\nT4\tAnimal 37 39\tit\n*\tEquiv T2 T3\nR2\tNear Arg1:T1 Arg2:T3\n"
        "#1\tAnnotatorNotes T1\tsure\nA1\tSure T1\n",
        "utf-8",
    )
    return folder / "tiny.ann"


def write_json(folder: Path) -> Path:
    value = {
        "doc_key": "nw/tiny",
        "sentences": [WORDS[:7], WORDS[7:]],
        "clusters": [[[0, 1], [9, 9]], [[3, 3], [7, 7]]],
    }
    (folder / "tiny.jsonl").write_text(json.dumps(value) + "\n", "utf-8")
    return folder / "tiny.jsonl"


def write_chains(folder: Path) -> Path:
    rows = ["item,coder,chain", "tiny#0:0-2,ana,0:0-2|1:2-3", "tiny#0:3-4,ana,0:3-4|1:0-1"]
    rows += ["tiny#1:0-1,ana,0:3-4|1:0-1", "tiny#1:2-3,ana,0:0-2|1:2-3"]
    (folder / "chains.csv").write_text("\n".join(rows) + "\n", "utf-8")
    return folder / "chains.csv"
