"""Item data of the page: texts, votes, contributions, probabilities and order of decisions."""

from __future__ import annotations

import base64
import json
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from annomodels.data.columns import COLUMNS, clean, short
from annomodels.data.names import label_text
from annomodels.io.writing import deflated
from annomodels.reporting.facts import Facts, before_audit
from annomodels.reporting.methods import folder_of
from annomodels.reporting.parts import BAR
from annomodels.summaries.why import parts_of, reason_draws, runner_up
from annomodels.types import Bools, Floats, Ints

ROOM = 3_600_000  # characters of all items on a page
FILES_ROOM = 1_600_000  # characters of all compressed tables
LONGEST = 2_000  # characters of a text; shorter if the items would not fit
# markup, line separators of scripts, and bidirectional control characters
_SIGNS = "<>&\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_TRUTH = "--truth"  # option that uses the decisions; new decisions replace earlier ones
_LIKELY = 0.0005  # probability below which a label is not listed
_MOST_LIKELY = 8  # labels listed per item


def queue(p_truth: Floats, known: Bools) -> Ints:
    """Order items by the expected number of wrong labels that deciding them removes."""
    # a decision removes the error of the gold label; items with known labels come last
    return np.argsort(np.where(known, 1.0, -(1.0 - p_truth.max(axis=1))), kind="stable")


def payload(facts: Facts, command: str) -> str:
    """Return the items as JSON for a script element, the most uncertain first."""
    data = facts.data
    p = np.asarray(facts.tree["truth"]["p_truth"].values, dtype=float)
    rows = _rows(facts, p)
    about = {
        "fit": fingerprint(facts),
        "labels": [short(name, 60) for name in data.labels],
        "names": [label_text(name) for name in data.labels],
        "coders": [short(name, 40) for name in data.coders],
        "columns": [short(name, 40) for name in facts.shown.columns],
        "wrong": float(facts.wrong.gold),
        "doubt": round(float((1 - p.max(axis=1))[facts.state != 3].sum()), 4),
        "left": data.n_items - len(rows),
        "states": list(facts.states.values()),
        "bar": list(BAR.values()),
        "decided": json.loads(facts.tree.attrs.get("decisions", "[]")),
        "command": follow_up(f"{command} {facts.tree.attrs.get('audits', '')}", _has_plan(facts)),
    }
    return assembled(about, rows)


def assembled(about: Mapping[str, object], rows: Sequence[str]) -> str:
    """Return the data of a page and its rows as JSON for a script element."""
    # texts of the data must not end the script element
    return inert(f'{_compact(about)[:-1]},"items":[{",".join(rows)}]}}')


def chance_of(p: float) -> tuple[float, str]:
    """Return a short probability, and its text as in all tables."""
    return round(p, 4), COLUMNS["probability"].written(p).text


def rows_with_room(entries: Iterable[list[object]]) -> list[str]:
    """Return the JSON of entries until the page is full."""
    rows: list[str] = []
    size = 0
    for entry in entries:
        row = _compact(entry)
        size += len(row.encode()) + 1
        if size > ROOM:
            break
        rows.append(row)
    return rows


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _has_plan(facts: Facts) -> bool:
    """Return True if the folder of the command contains the design of the audit."""
    if facts.estimate is None or facts.estimate.how != "audit":
        return False
    return Path(folder_of(facts), "audit.json").is_file()


def inert(text: str) -> str:
    """Escape all characters of JSON that are special in HTML."""
    for sign in _SIGNS:
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def fingerprint(facts: Facts) -> str:
    """Return the fingerprint of the labels without known truths."""
    return str(before_audit(facts.fit).data.replace(gold=None).fingerprint)


def follow_up(command: str, plan: bool = False) -> str:
    """Return the command that repeats the run with the decisions.

    `plan` states that the output folder contains the design of the audit.

    >>> follow_up("annomodels run votes.csv -o out --force --seed 2")
    'annomodels run votes.csv -o out-decided --seed 2 --truth decisions.csv'
    >>> follow_up("annomodels run votes.csv -o out-decided --truth decisions.csv")
    'annomodels run votes.csv -o out-decided-2 --truth decisions.csv'
    >>> follow_up("annomodels run v.csv -o out --truth a.csv --truth a.csv", plan=True)
    'annomodels run v.csv -o out-decided --truth a.csv --truth out/audit.json --truth decisions.csv'
    """
    try:
        words = shlex.split(command)
    except ValueError:
        words = []
    if words[:2] != ["annomodels", "run"]:
        return "annomodels run votes.csv --truth decisions.csv -o decided"
    kept: list[str] = []
    folder = ""
    rest = iter(words)
    for word in rest:
        name, sign, value = word.partition("=")
        if name in (_TRUTH, "-o", "--output") and not sign:
            value = next(rest, "")
        if name in ("-o", "--output"):
            folder = value.rstrip("/") or value
            again = re.fullmatch(r"(.*-decided)(?:-(\d+))?", folder)
            kept += [name, f"{again[1]}-{int(again[2] or 1) + 1}" if again else f"{folder}-decided"]
        elif name == _TRUTH:
            # the page and its file include earlier decisions
            kept += [] if "decisions" in value or value in kept else [name, value]
        elif word != "--force":
            kept.append(word)
    design = f"{folder}/audit.json"
    if plan and design not in kept:
        kept += [_TRUTH, design]
    return shlex.join([*kept, _TRUTH, "decisions.csv"])


def _rows(facts: Facts, p: Floats) -> list[str]:
    """Return the JSON of each item until the page is full."""
    order = queue(p, facts.state == 3)
    make = _maker(facts, p)
    for longest in (LONGEST, 400, 120):
        rows = rows_with_room(make(i, longest) for i in order.tolist())
        if len(rows) == len(order) or not (facts.shown.text or facts.shown.columns):
            break
    return rows


def _maker(facts: Facts, p: Floats) -> Callable[[int, int], list[object]]:
    """Return a function that builds the entry of an item, with texts cut to a length."""
    data, shown, best = facts.data, facts.shown, p.argmax(axis=1)
    value = (10 * _contributions(facts, p)).round().astype(int)
    votes = np.column_stack([data.coder, data.label, value])
    reasons = facts.fit.gold().table["reason"].tolist()
    texts: Mapping[Any, str] = shown.text or dict(zip(data.items, data.texts or (), strict=False))

    def entry(i: int, longest: int) -> list[object]:
        likely = [k for k in np.argsort(-p[i], kind="stable")[:_MOST_LIKELY] if p[i, k] >= _LIKELY]
        name = data.items[i]
        return [
            label_text(name),
            int(best[i]),
            int(facts.state[i]),
            [each for k in likely for each in (int(k), *chance_of(float(p[i, k])))],
            votes[data.starts[i] : data.starts[i + 1]].ravel().tolist(),  # coder, label, value
            clean(reasons[i]),
            short(texts.get(name, ""), longest),
            *(short(column.get(name, ""), longest) for column in shown.columns.values()),
        ]

    return entry


def _contributions(facts: Facts, p: Floats) -> Floats:
    """Return the log-odds of gold label against runner-up that each label adds, [annotation]."""
    tree, data = facts.tree, facts.data
    second = runner_up(tree, data, p, np.arange(data.n_items))
    return parts_of(reason_draws(tree, data), data, p.argmax(axis=1), second)[0]


def packed(files: Mapping[str, str]) -> str:
    """Return the tables that fit into the page as JSON of compressed texts."""
    out: dict[str, str] = {}
    room = FILES_ROOM
    for name, text in files.items():
        made = base64.b64encode(deflated(text)).decode()
        if len(made) <= room:
            out[name] = made
            room -= len(made)
    return inert(json.dumps(out))
