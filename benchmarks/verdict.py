"""Measure how often each verdict is given, and whether the numbers then keep their promises.

    python benchmarks/verdict.py [--data FOLDER] [--json FILE] [--crowds 5] [--sets NAME ...]

Data: public sets with known truth (read by `truth.py`), and simulated crowds of `regimes.py`.
Some of these have no fault: their coders err independently given the truth, as models assume.
Columns: fits with the verdict; intervals of wrong labels that cover the real number; coders whose
share of right labels lies in its interval; fits whose P(truth) has a larger log loss than the
shares of the votes. The second table has one row for each public set and kind of crowd, with the
findings that decided.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import common
import regimes
import truth as truths

from annomodels.summaries.trust.checks import VERDICTS

# kinds of simulated crowds without a fault: independent errors given the truth, which show it
PLAIN = (
    "clean", "rare class", "adversaries", "spammers", "three coders", "sparse", "25 labels",
    "known truth",
)  # fmt: skip
SMALL = ("clean", "heavy tails", "noise, 2 classes")
GROUPS = ("public", "simulated without a fault", "simulated with a fault")
# log loss of the votes, and how much more of it counts as a loss: differences in the third digit
# of a mean are rounding
LOSES = 1.01


def measured(each: truths.Set, seed: int, draws: int) -> dict[str, Any]:
    """Fit the default; measure its promises and keep its verdict with the findings."""
    fit, seconds = truths.timed(each.data, None, seed, draws)
    votes = truths.measures(truths.vote_shares(each.data.votes), each.truth, each.known)
    found = truths.of_fit(each, fit, each.known, seconds)
    check = fit.check()
    return found | {
        "verdict": check.verdict,
        "loses": found["log_loss"] > LOSES * votes["log_loss"],
        "ratio": found["log_loss"] / max(votes["log_loss"], truths.FLOOR),
        "warnings": [one.name for one in check.findings if one.severity],
        "details": [one.name for one in check.findings if one.noted],
        "sizes": {one.name: one.value for one in check.findings},
    }


def promises(title: str, fits: list[dict[str, Any]]) -> list[str]:
    """Give the cells of some fits."""
    n = len(fits)

    def part(count: float, of: float) -> str:
        return f"{count:.0f} of {of:.0f}"

    return [
        title,
        f"{n}",
        part(sum(each["covered"] for each in fits), n),
        part(sum(e["coders_covered"] for e in fits), sum(e["coders"] for e in fits)),
        part(sum(each["loses"] for each in fits), n),
    ]


def table(done: dict[str, dict[str, list[dict[str, Any]]]]) -> str:
    """Give the table of verdicts."""
    rows = []
    for group, kinds in done.items():
        fits = [each for sets in kinds.values() for each in sets]
        for verdict in VERDICTS:
            some = [each for each in fits if each["verdict"] == verdict]
            if some:
                rows.append([group, *promises(verdict, some)])
    return common.markdown(
        ["data", "verdict", "fits", "wrong labels covered", "coders covered", "loses to the votes"],
        rows,
        left=2,
    )


def kinds_table(done: dict[str, dict[str, list[dict[str, Any]]]]) -> str:
    """Give a row for each set or kind of crowd."""
    rows = []
    for kinds in done.values():
        for name, fits in kinds.items():
            verdicts = Counter(each["verdict"] for each in fits)
            why = Counter(one for each in fits for one in each["warnings"])
            rows.append(
                [
                    name,
                    ", ".join(f"{verdict} {n}" for verdict, n in verdicts.most_common()),
                    *promises("", fits)[2:],
                    ", ".join(f"{one} {n}" for one, n in why.most_common(4)),
                ]
            )
    header = ["set", "verdicts", "wrong labels", "coders", "loses", "findings"]
    return common.markdown(header, rows, left=2)


def kept_promises(done: dict[str, dict[str, list[dict[str, Any]]]]) -> str:
    """State how often *no problem found* covers, by fit and with kinds of crowds counted once."""
    fits = covered = kinds = kinds_covered = 0.0
    for group in done.values():
        for each in group.values():
            found = [fit["covered"] for fit in each if fit["verdict"] == VERDICTS[1]]
            fits, covered = fits + len(found), covered + sum(found)
            # shares, so that the result does not depend on the number of crowds of a kind
            kinds += len(found) / len(each)
            kinds_covered += sum(found) / len(each)
    return (
        f"With *{VERDICTS[1]}*, intervals of wrong labels cover on {covered:.0f} of {fits:.0f} "
        f"fits ({100 * covered / max(fits, 1):.1f} %), and on "
        f"{100 * kinds_covered / max(kinds, 1):.1f} % if each public data set and each kind of "
        "crowd counts once."
    )


def main() -> None:
    """Measure, and write the tables."""
    parser = common.arguments_of_sets(__doc__, "verdict.md", 1000)
    parser.add_argument("--crowds", type=int, default=5, help="simulated crowds of each kind")
    parser.add_argument("--kinds", nargs="*", help="some of the simulated kinds")
    options = parser.parse_args()
    if options.reduced:
        options.crowds, options.draws = 1, 300
        options.sets = options.sets or ["bluebirds", "snow_wsd"]
        options.kinds = options.kinds or SMALL
    given = common.folders_of(options) if options.sets != [] else []
    done: dict[str, dict[str, list[dict[str, Any]]]] = {group: {} for group in GROUPS}

    def keep(group: str, name: str, each: truths.Set) -> None:
        found = measured(each, options.seed, options.draws)
        done[group].setdefault(name, []).append(found)
        common.say(f"{name}: {found['verdict']}, {', '.join(found['warnings'])}")
        common.keep(options.json, done)

    for place in truths.folders(given, options.sets):
        keep(GROUPS[0], place.name, truths.load(place))
    for name in regimes.REGIMES if options.kinds is None else options.kinds:
        for number in range(options.crowds):
            group = GROUPS[1] if name in PLAIN else GROUPS[2]
            keep(group, name, regimes.crowd(name, number, options.seed))
    said = f"{options.crowds} crowds of each simulated kind, seed {options.seed}."
    parts = [table(done), kept_promises(done), kinds_table(done), f"{said} {common.machine()}"]
    common.write(options.out, parts)


if __name__ == "__main__":
    main()
