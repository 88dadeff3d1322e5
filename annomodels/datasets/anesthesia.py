"""Five anaesthetists grade the fitness of 45 patients (Dawid & Skene 1979)."""

from __future__ import annotations

from annomodels.data.annotations import Annotations
from annomodels.datasets.info import Dataset

ABOUT = Dataset(
    "anesthesia",
    "45 patients, 5 anaesthetists, fitness on a scale from 1 to 4; the first graded thrice",
    "Dawid & Skene (1979), Maximum likelihood estimation of observer error-rates using the EM "
    "algorithm, Applied Statistics 28(1):20-28, Table 1.",
    "10.2307/2346806",
    "Coder 1 gave three labels to each patient. Patient 7 has 1, 2, 2 by coder 1, as printed; some "
    "copies in circulation differ there.",
)

# The three assessments of coder 1, then those of coders 2 to 5, for patients 1 to 45.
TABLE = """
111 1111  333 4334  112 2122  222 3121  222 3222  222 3322  122 2111  333 3433  222 2223
232 2223  444 4444  222 3343  111 1111  222 3212  121 1111  111 2111  111 1111  111 1111
222 2221  222 1322  222 2222  222 2221  222 3222  221 2222  111 1111  111 1111  232 2222
111 1111  111 1111  112 1121  111 1111  333 3233  111 1111  222 2222  222 3232  433 4343
221 2232  232 3233  333 3432  111 1111  111 1111  121 2111  232 2222  121 1111  222 2222
"""


def load() -> Annotations:
    """Labels in the order in which they are printed."""
    grades = TABLE.split()
    rows = [
        (str(patient), str(coder), label)
        for patient, (first, others) in enumerate(zip(grades[::2], grades[1::2], strict=True), 1)
        for coder, labels in enumerate((first, *others), 1)
        for label in labels
    ]
    return Annotations.from_records(
        rows, labels=["1", "2", "3", "4"], scale="ordinal", source="anesthesia"
    )
