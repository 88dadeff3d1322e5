"""Notes of summaries, by code, from the messages of this folder."""

from __future__ import annotations

from functools import partial

from annomodels.data.messages import messages_beside, note

say = partial(note, messages_beside(__file__))
