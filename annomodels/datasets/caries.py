"""Five dentists judge 3,869 X-rays of teeth (Espeland & Handelman 1989)."""

from __future__ import annotations

from annomodels.data.annotations import Annotations
from annomodels.datasets.info import Dataset

ABOUT = Dataset(
    "caries",
    "3,869 dental X-rays, 5 dentists, caries (1) or none (0)",
    "Espeland & Handelman (1989), Using latent class models to characterize and assess relative "
    "error in discrete measurements, Biometrics 45(2):587-599.",
    "10.2307/2531847",
    "Printed as 32 patterns with their counts; here every X-ray is an item of its own. Pattern "
    "10000 occurs 22 times; some copies in circulation have 12.",
)

# Number of X-rays for each pattern of the five calls, from 00000 to 11111 in binary order.
COUNTS = (
    *(1880, 789, 43, 75, 23, 63, 8, 22, 188, 191, 17, 67, 15, 85, 8, 56),
    *(22, 26, 6, 14, 1, 20, 2, 17, 2, 20, 6, 27, 3, 72, 1, 100),
)


def load() -> Annotations:
    """One item for each X-ray, numbered in the order of the patterns."""
    rows = []
    item = 0
    for pattern, count in enumerate(COUNTS):
        calls = format(pattern, "05b")
        for _ in range(count):
            item += 1
            rows += [(str(item), str(coder), call) for coder, call in enumerate(calls, 1)]
    return Annotations.from_records(rows, labels=["0", "1"], source="caries")
