"""Meaning of the rows of ``annomodels check``."""

CHECKS = (
    "overlap groups: items that are linked by coders who labelled several of them. With more than "
    "one, coders of different groups cannot be compared.",
    "scale: nominal takes labels as names; say --scale ordinal, interval or ratio if they have an "
    "order or are numbers.",
    "fingerprint: the same for the same labels, in whatever order; it tells readers of a paper "
    "which data were used.",
)
