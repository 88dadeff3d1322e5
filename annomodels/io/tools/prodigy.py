"""Prodigy: JSON lines of ``db-out``, one file for all coders or one for each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from annomodels.data.validation import counted, some
from annomodels.io.objects import at, keys_of
from annomodels.io.records import Records
from annomodels.io.source import Options, Source
from annomodels.io.tools.refused import is_known

_UNNAMED = re.compile(r"(?:^|-)\d{4}-\d{2}-\d{2}_\d{2}-\d{2}-\d{2}$")


def is_prodigy(source: Source, options: Options) -> bool:
    if source.inside is not None:
        names = source.inside.ending(".jsonl")
        return bool(names) and is_prodigy(source.member(names[0]), options)
    return not is_known(source, "prodigy-images") and any(
        "_task_hash" in record and "answer" in record for record in source.sample
    )


def _records(found: Records) -> Iterator[tuple[int, dict[str, Any], str]]:
    """Row, record and coder; without a name of a session the file stands for the coder."""
    unnamed: dict[str, None] = {}
    for part in found.source.parts(".jsonl"):
        for row, record in found.objects(part.objects):
            coder = record.get("_annotator_id") or record.get("_session_id") or part.stem
            coder = coder if isinstance(coder, str) else part.stem
            if _UNNAMED.search(coder):
                unnamed[coder] = None
            yield row, record, coder
    if unnamed:
        found.note(
            f"{counted(len(unnamed), 'coder')} named by a time, which Prodigy writes for sessions "
            f"without a name: {some(unnamed)}. One person may stand behind several."
        )


def read_prodigy(found: Records) -> None:
    """Answers and accepted marks; what was ignored is a skip, what was rejected is left out."""
    source, options = found.source, found.options
    if options.item is not None and source.inside is None:
        keys = keys_of(source.sample)
        keys += [key.removeprefix("meta.") for key in keys if key.startswith("meta.")]
        found.require(keys, options.item, "item")
    views: dict[str, None] = {}
    for row, record, coder in _records(found):
        item, answer = at(record, options.item or "_input_hash"), record.get("answer")
        if item is None and options.item is not None:
            item = at(record.get("meta"), options.item)
        text = record.get(found.text_field(record))
        views[str(record.get("_view_id") or "unnamed")] = None
        found.text(item, text)
        if answer == "accept":
            found.document(item, coder, text, _places(record.get("tokens")))
            spans = record.get("spans")
            for place, span in zip(_places(spans), spans or (), strict=False):
                found.mark(item, coder, "spans", place, span.get("label"))
        is_choice = "accept" in record or "options" in record
        if answer == "ignore":
            found.skip(item)
            continue
        if not is_choice and not isinstance(record.get("label"), str) and "spans" in record:
            continue
        if is_choice and answer != "accept":
            found.leave_out("they were rejected")
        elif is_choice:
            found.add(item, coder, "choice", record.get("accept"), row)
        else:
            label = record.get("label")
            found.add(item, coder, label if isinstance(label, str) else "answer", answer, row)
    if len(views) > 1:
        found.problem(
            f"It mixes {counted(len(views), 'kind')} of questions: {some(views)} (_view_id).",
            "Export one dataset for each of them (prodigy db-out NAME).",
            of_labels=True,
            code="several-kinds",
        )


def _places(parts: Any) -> list[tuple[int, int]]:
    """Start and end of tokens or spans; nothing if one has none."""
    try:
        return [(int(part["start"]), int(part["end"])) for part in parts or ()]
    except (KeyError, TypeError, ValueError):
        return []
