r"""High agreement with a coefficient near 0: the effect of a frequent label.

Where one label makes up most of the labels, chance alone gives high agreement
(:math:`A_e = \sum_k p_k^2` is near 1), and the coefficient is what is left: the agreement on the
few items where another label was given (Feinstein & Cicchetti 1990,
doi:10.1016/0895-4356(90)90158-L).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from annomodels.coefficients.distances import Nominal
from annomodels.coefficients.formulas import evaluate_with
from annomodels.coefficients.parts.labels import one_against_rest
from annomodels.coefficients.parts.setup import Setup
from annomodels.coefficients.reasons import used_items
from annomodels.data.names import quoted

HIGH = 0.8
GAP = 0.25


@dataclass(frozen=True)
class Prevalence:
    """Effect of the most frequent label on agreement."""

    label: int  # its code
    share: float  # of the labels of items with two labels or more
    agreement: float  # observed
    s: float  # Bennett's S, NaN with a label set of one
    ac1: float
    items: int  # with two labels or more
    others: int  # of those, where some coder gave another label
    met: float  # share of the other labels whose partner is another one too


def prevalence(setup: Setup) -> Prevalence:
    """Find the most frequent label and what follows from it; needs items with two labels."""
    rows, point = setup.rows, setup.sample.point
    tables = setup.counts().tables(point, by_coder=False)
    shares = tables.pooled / tables.pooled.sum()
    label = int(shares.argmax())
    two = one_against_rest(tables)
    rest = float(2 * two.together[label, 0] + two.together[label, 1])
    used = used_items(rows, setup.request.convention)
    other = np.unique(rows.item[(rows.label != label) & used[rows.item]])
    percent, s, ac1 = (evaluate_with(how, tables, Nominal()) for how in (None, "uniform", "gwet"))
    return Prevalence(
        label=label,
        share=float(shares[label]),
        agreement=float(percent.value),
        s=float(s.value),
        ac1=float(ac1.value),
        items=int(used.sum()),
        others=len(other),
        met=float(2 * two.together[label, 0] / rest) if rest else float("nan"),
    )


def why_so_low(setup: Setup, found: Prevalence, value: float, by_chance: float) -> list[str]:
    """Sentences for a coefficient far below the observed agreement; none where it is not."""
    if not setup.nominal or found.agreement < HIGH or setup.request.coefficient.expectation is None:
        return []
    if not np.isnan(value) and value > found.agreement - GAP:
        return []
    name, label = setup.title, quoted(setup.data.labels[found.label])
    if found.others == 0:
        return [
            f"Every label is {label}. Agreement is full, but {name} is undefined: it asks "
            "whether coders tell items apart, and these data give them nothing to tell apart."
        ]
    if np.isnan(value):
        return []
    low = "less" if value < 0 else "little more" if value < 0.3 else "more"
    sentences = [
        f"Why {found.agreement:.1%} agreement gives {name} {number(value)}: {found.share:.1%} of "
        f"the labels are {label}, so coders who labelled without looking, as often {label} as "
        f"these do, would agree on {by_chance:.1%} of the pairs. The coders agree {low} "
        "than that.",
        f"All turns on the {_of(found.others, found.items)} where anyone gave another label: where "
        f"one coder did, another did too in {found.met:.0%} of the cases.",
    ]
    if found.s > value + GAP:
        sentences.append(
            f"S ({number(found.s)}) and AC1 ({number(found.ac1)}) stay high, as their chance level "
            f"does not rise with the share of {label}: they say that labels rarely differ, "
            f"{name} says how well coders tell {label} from the rest."
        )
    return sentences


def _of(part: int, whole: int) -> str:
    items = "item" if whole == 1 else "items"
    return f"{part:,} of {whole:,} {items}"


def number(x: float, digits: int = 3) -> str:
    """Format a number without a leading zero, as papers print coefficients."""
    text = f"{x:.{digits}f}" if round(x, digits) else f"{0:.{digits}f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text
