"""Answers of Amazon's crowd elements, which MTurk and SageMaker both write as objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["answers_in"]

WHOLE = "answer"  # the question when a form has no names


def answers_in(content: Any) -> dict[str, Any]:
    """Labels by question in the object that a form sends.

    Parameters
    ----------
    content
        What was sent: ``{"sentiment": {"label": "pos"}}`` (crowd-classifier),
        ``{"sentiment": {"labels": ["a", "b"]}}``, ``{"q1": {"yes": true, "no": false}}`` (radio
        buttons), ``{"q1": "yes"}``, or ``{"yes": true, "no": false}`` without a name.

    Examples
    --------
    >>> answers_in({"sentiment": {"label": "pos"}, "q2": {"a": False, "b": True}})
    {'sentiment': 'pos', 'q2': ['b']}
    >>> answers_in({"yes": True, "no": False})
    {'answer': ['yes']}
    """
    if not isinstance(content, Mapping) or not content:
        return {}
    if all(isinstance(value, bool) for value in content.values()):
        return {WHOLE: _chosen(content)}
    return {str(name): _label(value) for name, value in content.items()}


def _label(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    for key in ("label", "labels"):
        if key in value:
            return value[key]
    if value and all(isinstance(part, bool) for part in value.values()):
        return _chosen(value)
    return value


def _chosen(options: Mapping[str, Any]) -> list[str]:
    return [str(name) for name, chosen in options.items() if chosen is True]
