"""Convert public data sets with expert gold into folders that the other benchmarks read.

    python benchmarks/public_sets.py --clones FOLDER --data FOLDER --to FOLDER

`--clones` has a copy of each repository in `REPOSITORIES`, in a folder OWNER+NAME (or in
OWNER+NAME/repo); a bare clone is enough. `--data` has the sets that need no conversion, and
the tables of llmbar and labelling_functions, which are converted from there. Each result has
labels.csv (item, coder, label) and gold.csv (item, label); counts are compared with `EXPECTED`.
No data of others are kept in this repository.
"""

import argparse
import ast
import csv
import gzip
import io
import json
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

Labels = list[tuple[str, str, str]]
Gold = dict[str, str]
Row = dict[str, str]

REPOSITORIES = (
    "bethgelab/model-vs-human",
    "CrowdTruth/Medical-Relation-Extraction",
    "dmg-illc/JUDGE-BENCH",
    "ipeirotis/Get-Another-Label",
    "MaastrichtU-IDS/OptimAL",
    "ScalerLab/JudgeBench",
)
# items with gold, coders, labels, and percent of votes that are right (ties split evenly)
EXPECTED = {
    "mvh_edge": (160, 10, 1566, 96.9),
    "mvh_sketch": (800, 7, 5560, 96.4),
    "mvh_stylized": (800, 5, 3988, 54.8),
    "mvh_low_pass": (1280, 4, 5096, 61.2),
    "mvh_colour": (1280, 4, 5094, 93.7),
    "mvh_uniform_noise": (1280, 4, 5082, 61.0),
    "mvh_eidolonI": (1280, 4, 5073, 55.8),
    "mvh_false_colour": (1120, 4, 4465, 92.7),
    "medrel_treat_exp": (621, 286, 9610, 79.1),
    "medrel_cause_adj": (929, 302, 14183, 78.1),
    "medrel_cause_exp": (975, 304, 14920, 76.3),
    "medicheck_alexa": (391, 6, 1215, 48.4),
    "medicheck_dialogpt": (401, 6, 1227, 73.6),
    "medicheck_reddit": (283, 6, 867, 36.7),
    "hitspam_cf": (100, 153, 42762, 66.0),
    "optimal_crowd": (191, 3, 573, 77.0),
    "judgebench": (350, 7, 2406, 68.4),
    "llmbar_all": (419, 130, 54339, 64.4),
    "llmbar_vanilla": (419, 12, 5018, 60.3),
    "lf_youtube": (1728, 10, 3260, 85.8),
}


class Clone:
    """Read files of the newest commit of a repository."""

    def __init__(self, clones: Path, name: str) -> None:
        folder = clones / name.replace("/", "+")
        self.folder = folder / "repo" if (folder / "repo").is_dir() else folder

    def _git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(self.folder), *arguments], check=True, capture_output=True
        )
        return done.stdout.decode("utf-8", "replace")

    def names(self, under: str) -> list[str]:
        """List the files of a folder."""
        return self._git("ls-tree", "-r", "--name-only", "HEAD", under).splitlines()

    def read(self, name: str) -> str:
        """Return the text of a file."""
        return self._git("show", f"HEAD:{name}")

    def rows(self, name: str) -> list[Row]:
        """Return the rows of a table."""
        return list(csv.DictReader(io.StringIO(self.read(name))))


def observers(clone: Clone) -> Iterator[tuple[str, Labels, Gold]]:
    """Convert objects seen by lab observers; an item is a picture, "na" is no answer."""
    for kind in (
        "edge", "sketch", "stylized", "low-pass", "colour", "uniform-noise", "eidolonI",
        "false-colour",
    ):  # fmt: skip
        labels: Labels = []
        gold: Gold = {}
        for name in clone.names(f"raw-data/{kind}/"):
            if "subject" not in name:
                continue
            for row in clone.rows(name):
                item = "_".join([row["condition"], *row["imagename"].split("_")[4:]])
                gold[item] = row["category"]
                if row["object_response"] != "na":
                    labels.append((item, row["subj"], row["object_response"]))
        yield f"mvh_{kind.replace('-', '_')}", labels, gold


def relations(clone: Clone) -> Iterator[tuple[str, Labels, Gold]]:
    """Convert medical relations: whether a coder names the relation that experts judge."""
    marks: dict[tuple[str, str], set[str]] = {}
    for name in clone.names("raw/RelEx/"):
        for row in clone.rows(name):
            key = row["sent_id"].removesuffix("-FS1").removesuffix("-FS2"), row["_worker_id"]
            marks.setdefault(key, set()).update(row["relations"].strip("[]").split("] ["))
    for relation, mark in (("treat", "TREATS"), ("cause", "CAUSES")):
        table = clone.rows(f"ground_truth_{relation}.csv")
        for column, ending in (("test_partition", "adj"), ("expert", "exp")):
            gold = {r["SID"]: r[column] for r in table if r[column] in {"1", "-1"}}
            labels = [
                (item, coder, "yes" if mark in named else "no")
                for (item, coder), named in marks.items()
                if item in gold
            ]
            seen = {item for item, *_ in labels}
            yield (
                f"medrel_{relation}_{ending}",
                labels,
                {i: "yes" if g == "1" else "no" for i, g in gold.items() if i in seen},
            )


def assistants(clone: Clone) -> Iterator[tuple[str, Labels, Gold]]:
    """Convert answers of assistants to medical questions; coders are places in a list."""
    table = clone.rows("data/medical-safety/original_data/medicheck-crowd.csv")
    for kind in ("alexa", "dialogpt", "reddit"):
        labels: Labels = []
        gold: Gold = {}
        for i, row in enumerate(table):
            given = ast.literal_eval(row[f"{kind}-response-cws"] or "[]")
            expert = row[f"{kind}-response-expert"]
            if given and expert:
                gold[str(i)] = expert
                labels += [(str(i), f"w{j}", label) for j, label in enumerate(given)]
        yield f"medicheck_{kind}", labels, gold


def spam(clone: Clone) -> Iterator[tuple[str, Labels, Gold]]:
    """Convert tasks of a market place that are spam or not."""
    folder = "data/HITspam-UsingCrowdflower"
    labels = [tuple(line.split("\t")) for line in clone.read(f"{folder}/labels.txt").splitlines()]
    gold = dict(line.split("\t") for line in clone.read(f"{folder}/gold.txt").splitlines())
    seen = {item for _, item, _ in labels}
    yield (
        "hitspam_cf",
        [(item, coder, label) for coder, item, label in labels],
        {item: label for item, label in gold.items() if item in seen},
    )


def indications(clone: Clone) -> Iterator[tuple[str, Labels, Gold]]:
    """Convert relations of drugs and diseases; items with three labels, one on each line."""
    labels: Labels = []
    gold: Gold = {}
    for i, row in enumerate(clone.rows("labeling/data/expert/expert_resolved_all.csv")):
        given = row["workers_answers"].splitlines()
        if len(given) == 3:
            gold[str(i)] = plain(row["expert_consensus"])
            labels += [(str(i), f"w{j}", plain(label)) for j, label in enumerate(given)]
    yield "optimal_crowd", labels, gold


def plain(text: str) -> str:
    return "_".join(text.replace(":", " ").lower().replace("_", " ").split())


def judges(clone: Clone) -> Iterator[tuple[str, Labels, Gold]]:
    """Convert verdicts on pairs of answers: reward models, and a judge in both orders."""
    labels: Labels = []
    gold: Gold = {}
    start = "outputs/dataset=judgebench,response_model=gpt-4o-2024-05-13,judge_name="
    swapped = {"A>B": "B>A", "B>A": "A>B"}
    for name in clone.names("outputs/"):
        if not name.startswith((start + "reward_model", start + "arena_hard,judge_model=o1-mini")):
            continue
        model = name.rpartition("judge_model=")[2].removesuffix(".jsonl")
        for line in clone.read(name).splitlines():
            pair = json.loads(line)
            gold[pair["pair_id"]] = pair["label"]
            first, second = (j["decision"] for j in pair["judgments"])
            given = [first] if "reward_model" in name else [first, swapped.get(second, second)]
            labels += [
                (pair["pair_id"], f"{model} {order}", label)
                for order, label in enumerate(given)
                if label in swapped
            ]
    yield "judgebench", labels, gold


def prompts(data: Path) -> Iterator[tuple[str, Labels, Gold]]:
    """Convert first verdicts of language models: of all prompts, and of the plain one."""
    with gzip.open(data / "llmbar" / "labels.csv.gz", "rt", encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    with open(data / "llmbar" / "gold.csv", encoding="utf-8") as file:
        gold = {row["item"]: row["label"] for row in csv.DictReader(file)}
    for name, prompt in (("llmbar_all", ""), ("llmbar_vanilla", "Vanilla")):
        first: dict[tuple[str, str], str] = {}
        for row in table:
            if row["item"] in gold and prompt in ("", row["prompt"]):
                first.setdefault((row["item"], row["coder"]), row["label"])
        yield name, [(*key, label) for key, label in first.items()], gold


def rules(data: Path) -> Iterator[tuple[str, Labels, Gold]]:
    """Convert labels by rules that may abstain."""
    folder = data / "labelling_functions"
    with open(folder / "labels.csv", encoding="utf-8") as file:
        labels = [(r["item"], r["coder"], r["label"]) for r in csv.DictReader(file)]
    with open(folder / "gold.csv", encoding="utf-8") as file:
        gold = {r["item"]: r["label"] for r in csv.DictReader(file)}
    labels = [one for one in labels if one[2] != "abstain"]
    seen = {item for item, *_ in labels}
    yield "lf_youtube", labels, {i: g for i, g in gold.items() if i in seen}


def votes_right(labels: Labels, gold: Gold) -> float:
    """Return the share of items with gold whose majority vote is right; ties are split."""
    given: dict[str, Counter[str]] = defaultdict(Counter)
    for item, _, label in labels:
        given[item][label] += 1
    right = 0.0
    for item, truth in gold.items():
        if not given[item]:
            continue
        most = max(given[item].values())
        tied = [label for label, n in given[item].items() if n == most]
        right += (truth in tied) / len(tied)
    return right / len(gold)


def written(folder: Path, labels: Labels, gold: Gold) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, header, rows in (
        ("labels.csv", ("item", "coder", "label"), sorted(labels)),
        ("gold.csv", ("item", "label"), sorted(gold.items())),
    ):
        with open(folder / name, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([header, *rows])


def converted(clones: Path, data: Path) -> Iterable[tuple[str, Labels, Gold]]:
    makers = observers, relations, assistants, spam, indications, judges
    for make, name in zip(makers, REPOSITORIES, strict=True):
        yield from make(Clone(clones, name))
    yield from prompts(data)
    yield from rules(data)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--to", type=Path, required=True)
    options = parser.parse_args()
    wrong = 0
    for name, labels, gold in converted(options.clones, options.data):
        if name not in EXPECTED:  # `--data` has it
            continue
        written(options.to / name, labels, gold)
        found = (
            len(gold), len({c for _, c, _ in labels}), len(labels),
            round(100 * votes_right(labels, gold), 1),
        )  # fmt: skip
        wrong += found != EXPECTED[name]
        print(f"{name}: {found}" + ("" if found == EXPECTED[name] else f", not {EXPECTED[name]}"))
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
