"""Which coders to show first when there are more than fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

_RANK = {
    **{"adversary": 0, "reversed": 0, "spammer": 1, "uninformative": 1},
    **{"biased": 2, "good": 3, "not enough evidence": 4},
}


def notable(coders: pd.DataFrame, most: int | None = None) -> NDArray[np.intp]:
    """Row numbers of the coders a lead wants to see first.

    Adversaries, then spammers, then biased coders, then the others, each from the worst skill
    upwards (reliability, where labels are numbers); coders about whom too little is known come
    last.

    Parameters
    ----------
    coders
        Table of ``fit.coders()``.
    most
        How many to keep; None keeps all.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"kind": ["good", "spammer"], "skill": [0.8, 0.0], "n": [9, 9]})
    >>> notable(table).tolist()
    [1, 0]
    """
    rank = coders["kind"].map(_RANK).fillna(3).to_numpy()
    worth = coders["skill" if "skill" in coders else "reliability"].to_numpy(dtype=float)
    order = np.lexsort((-coders["n"].to_numpy(), worth, rank))
    return order if most is None else order[:most]
