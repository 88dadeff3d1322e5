"""Poesio and Artstein (2005), The reliability of anaphoric annotation, reconsidered."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

import annomodels as am
from annomodels.coref import (
    Document,
    Judgment,
    Layer,
    Markable,
    Span,
    agreement,
    ambiguous_places,
    antecedent_agreement,
    antecedent_positions,
    category_table,
    chain_labels,
    document_of_judgments,
    explicit_ambiguity,
    set_distance,
    to_mpa_frame,
)
from annomodels.coref.conditions import chains

FILE = Path(__file__).resolve().parents[1] / "cases" / "coref_judgments.toml"
JUDGMENTS = tomllib.loads(FILE.read_text("utf-8"))
CONDITIONS = ["none", "partial", "incl-", "excl-", "incl+", "excl+"]
PLACES = ["with place", "without place"]
MEASURES = ["passonneau", "jaccard", "dice", "masi", "nominal", "K"]


def golden(cases: dict[str, Any], order: tuple[int, ...] = (0, 1, 2)) -> Document:
    held = cases["chain_construction_golden"]
    coders = {f"c{place}": tuple(held["coders"][n]) for place, n in enumerate(order)}
    return document_of_judgments("g", coders, order=held["order"], turns=held["turns"])


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("chain", CONDITIONS)
@pytest.mark.parametrize("measure", MEASURES)
def test_chain_construction(cases: dict[str, Any], chain: str, place: str, measure: str) -> None:
    expected = cases["chain_construction_golden"]["results"][f"{chain}|{place}"][measure]
    drop = [] if place == "with place" else ["m4"]
    for order in ((0, 1, 2), (2, 0, 1)):
        text = golden(cases, order)
        if measure == "K":
            found = agreement(text, chain, coefficient="K", drop=drop)
        else:
            found = agreement(text, chain, measure, drop=drop)
        assert found.value == pytest.approx(expected, abs=1e-6)


def test_section_4_3_up_then_down_but_never_up_again() -> None:
    full = chains({"B": ["A"], "D": ["C"], "E": ["A", "C"]})
    assert full["E"] == set("ABCDE")
    assert full["A"] == full["B"] == set("ABE")
    assert full["C"] == full["D"] == set("CDE")


def document_of(case: dict[str, Any]) -> Document:
    """Make the text of a case of coref_judgments.toml."""
    coders: dict[str, Any] = {}
    for names, said in case["coders"].items():
        judged = [judgment.split() for judgment in said.split(", ")]
        kinds = {one: kind for one, kind, *_ in judged}
        points = {
            one: [set(reading.split("&")) for reading in rest[0].split("|")]
            for one, _, *rest in judged
            if rest
        }
        coders |= dict.fromkeys(names.split(", "), (kinds, points))
    order, turns = case["order"].split(), case.get("turns", "").split()
    return document_of_judgments("t", coders, order=order, turns=turns)


def named(label: Any) -> Any:
    return label if isinstance(label, str) else sorted(label)


@pytest.mark.parametrize("case", JUDGMENTS.values(), ids=JUDGMENTS)
def test_judgments(case: dict[str, Any]) -> None:
    text = document_of(case)
    for side, key in enumerate(("labels", "observed_labels")):
        for chain, of_coders in case.get(key, {}).items():
            found = chain_labels(text, chain)[side]
            for coder, labels in of_coders.items():
                assert {one: named(found[coder][one]) for one in labels} == labels, chain
    for expected in case.get("agreement", []):
        options = {key: expected[key] for key in ("chain", "distance") if key in expected}
        coefficient = agreement(text, **options)
        for key in expected.keys() - options.keys():
            value = getattr(coefficient, key)
            assert (list(value) if key == "notes" else value) == expected[key]
    for expected in case.get("places", []):
        table = ambiguous_places(text, "none", **expected.get("options", {})).table
        kinds = table.set_index("text")["kind"].to_dict()
        assert {place: kinds[place] for place in expected["kinds"]} == expected["kinds"]
    if "ambiguous" in case:
        judgments = explicit_ambiguity(text).table
        assert judgments["category"].value_counts().to_dict() == case["ambiguous"]["categories"]
        assert judgments["span"].nunique() == case["ambiguous"]["spans"]
    if "frame" in case:
        frame = to_mpa_frame(text)
        assert frame[["item", "coder", "label"]].to_numpy().tolist() == case["frame"]
        data = am.Annotations.from_frame(frame)
        assert (data.n_items, data.n_coders) == (3, 2)
    for coder, groups in case.get("groups", {}).items():
        found = [sorted(span.name for _, span in group) for group in text.layers[coder].groups]
        assert found == groups


@pytest.mark.parametrize("distance", ["passonneau", "jaccard", "dice", "masi", "nominal"])
def test_section_5_4_the_first_it(cases: dict[str, Any], first_it: Document, distance: str) -> None:
    held = cases["poesio_artstein_published"]["item_it_3_1"]
    assert held["labels"] == {"E2+boxcar": 9, "E2": 6, "boxcar": 3}
    found = agreement(first_it, "none", distance, drop=["E2", "boxcar"])
    assert found.observed == pytest.approx(held["item_disagreement"][distance])
    assert agreement(first_it, "none", distance).observed == pytest.approx(found.observed / 3)
    row = ambiguous_places(first_it, "none").table.set_index("text").loc["it"]
    assert (row["kind"], row["explicit"], row["implicit"]) == ("explicit and implicit", True, True)
    assert (row["multiple"], row["first"], row["second"]) == (9, 6, 3)
    assert len(explicit_ambiguity(first_it).table) == 9


def votes_of_table_2(published: dict[str, list[int]]) -> Document:
    """Make a first half with 72 markables, 18 coders and the counts of table 2."""
    votes: list[list[str]] = []
    for category in ("phrase", "segment", "place", "none"):
        other = "none" if category != "none" else "phrase"
        for others, times in enumerate(published[category][:3]):
            votes += [[category] * (18 - others) + [other] * others] * times
    votes += [["phrase"] * 9 + ["segment"] * 4 + ["none"] * 5] * (72 - len(votes))
    order = [f"m{n:02}" for n in range(72)]
    coders: dict[str, Any] = {}
    for c in range(18):
        said = {m: of_all[c] for m, of_all in zip(order, votes, strict=True)}
        points = {m: ["turn"] for m, k in said.items() if k in ("phrase", "segment")}
        coders[f"c{c:02}"] = (said, points)
    return document_of_judgments("3.2a", coders, order=order, turns=["turn"])


def test_table_2_category_agreement(cases: dict[str, Any]) -> None:
    published = cases["poesio_artstein_published"]["table2"]
    table = category_table(votes_of_table_2(published), published["columns"]).table
    for category in ("phrase", "segment", "place", "none"):
        assert table.loc[category].tolist()[:3] == published[category][:3]
    assert int(table.loc["(any)"].max()) == 49  # "in 49 cases out of 72 at least 16 agreed"
    assert table.loc["segment"].tolist()[3] == 72 - 1 - (72 - 49)


def test_section_5_2_shares_of_explicit_ambiguity() -> None:
    assert round(100 * 15 / 72, 1) == 20.8
    assert round(100 * 8 / 76, 1) == 10.5
    assert round(100 * 35 / (72 * 18), 1) == 2.7


def test_table_4_exclusive_never_above_inclusive_and_dice_never_below_jaccard(
    cases: dict[str, Any],
) -> None:
    for rows in ("incl-top", "excl-top"), ("incl+top", "excl+top"):
        inclusive, exclusive = (cases["poesio_artstein_published"]["table4"][r] for r in rows)
        assert all(e < i for e, i in zip(exclusive, inclusive, strict=True))
    text = golden(cases)
    for distance in ("passonneau", "jaccard", "dice", "masi"):
        for top in "-+":
            excl, incl = (agreement(text, f"{kind}{top}", distance) for kind in ("excl", "incl"))
            assert excl.value <= incl.value
            assert excl.expected == incl.expected
    for chain in CONDITIONS:
        assert agreement(text, chain, "dice").value >= agreement(text, chain, "jaccard").value


def test_table_3_alpha_is_that_of_table_4_without_chains(cases: dict[str, Any]) -> None:
    held = cases["poesio_artstein_published"]
    first = held["table3"]["first"]
    assert held["table4"]["none"][0] == first["with"]["alpha"]
    assert held["table4"]["none"][3] == first["without"]["alpha"]
    text = golden(cases)
    assert agreement(text, "none").value > agreement(text, "none", coefficient="K").value


def spans_of_antecedents() -> Document:
    """Three coders; the antecedents of two pronouns are stretches of words."""
    stretches = {"x1": (0, 3), "x2": (0, 5), "x3": (2, 5), "y1": (40, 44), "y2": (43, 49)}
    marks = {one: Markable(one, Span.between(*ends), "segment") for one, ends in stretches.items()}
    marks |= {one: Markable(one, Span((n,))) for one, n in (("it", 20), ("that", 60))}
    said = {"ana": ("x1", "y1"), "ben": ("x2", "y1"), "cho": ("x3", "y2")}
    layers = {
        coder: Layer(
            coder,
            marks,
            {m: Judgment(m, "segment", (a,)) for m, a in zip(("it", "that"), pair, strict=True)},
        )
        for coder, pair in said.items()
    }
    return Document("3.3", ("w",) * 70, layers=layers)


@pytest.mark.parametrize("distance", ["jaccard", "dice", "passonneau"])
def test_artstein_poesio_2006_antecedents_as_sets_of_words(distance: str) -> None:
    found = antecedent_agreement(spans_of_antecedents(), distance)
    words = [set(range(0, 4)), set(range(0, 6)), set(range(2, 6)), set(range(40, 45))]
    words += [words[3], set(range(43, 50))]
    pairs = [(n, m) for n in range(6) for m in range(6) if n != m]
    apart = {p: set_distance(words[p[0]], words[p[1]], distance) for p in pairs}
    within = [apart[p] for p in pairs if p[0] // 3 == p[1] // 3]
    assert found.observed == pytest.approx(sum(within) / len(within))
    assert found.expected == pytest.approx(sum(apart.values()) / len(apart))


def test_artstein_poesio_2006_positions_absolute_and_relative() -> None:
    text = spans_of_antecedents()
    value = {}
    for relative in (False, True):
        for edge in ("begin", "end"):
            data = antecedent_positions(text, edge, relative=relative)  # type: ignore[arg-type]
            found = am.agreement(data, "alpha", draws=0)
            value[edge, relative] = (found.observed, found.value)
    # beginnings 0 0 2 | 40 40 43, from the pronouns -20 -20 -18 | -20 -20 -17
    observed = ((0 + 4 + 4) / 3 + (0 + 9 + 9) / 3) / 2
    assert value["begin", False][0] == pytest.approx(observed)
    assert value["begin", True][0] == pytest.approx(observed)  # only chance changes
    assert value["begin", False][1] > 0.95
    assert value["begin", True][1] < 0.2
    assert value["end", False][1] > value["end", True][1]


def test_slides_alpha_of_printed_disagreements() -> None:
    for observed, expected, printed in (
        (54331, 2.82e7, 0.998),
        (21237, 2.88e7, 0.999),
        (54331, 65257, 0.167),
        (21237, 24200, 0.122),
    ):
        assert 1 - observed / expected == pytest.approx(printed, abs=6e-4)
