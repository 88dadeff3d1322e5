"""Situations of reading: files that need an option."""

from __future__ import annotations

import io
import json

import openpyxl

from tests.advice.follow import Situation as S

COUNTING = [f"t{n}" for n in range(12)]


def long(header: str, *rows: str) -> str:
    """Return a table of labels by two coders of twelve items; `rows` have {n} and {x}."""
    lines = [row.format(n=n, x="ab"[n % 2], y="ab"[n % 3 % 2]) for n in range(12) for row in rows]
    return "\n".join([header, *lines]) + "\n"


def book(**sheets: str) -> bytes:
    """Return a workbook with a table in each sheet."""
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, text in sheets.items():
        sheet = made.create_sheet(name)
        for line in text.splitlines():
            sheet.append(line.split(","))
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


PLAIN = long("item,coder,label", "t{n},x,{x}", "t{n},y,{y}")
TWICE = PLAIN + "t0,x,b\nt1,x,b\nt2,x,a\n" * 4
WORDS = long("item,coder,label", "t{n},x,low", "t{n},y,high")
NUMBERS = "item,coder,label\n" + "".join(
    f"t{n},{c},{(n * 7 + k * 13) % 61}.5\n" for n in range(40) for k, c in enumerate("xy")
)
WIDE = long("id,ann,bob,cem", "t{n},{x},{y},{x}")
MARKS = [("project", "units")]
# Label Studio: several choices of a coder
CHOSEN = json.dumps(
    [
        {
            "id": n,
            "data": {"text": f"t{n}"},
            "annotations": [
                {
                    "completed_by": coder,
                    "result": [
                        {
                            "from_name": "kind",
                            "to_name": "text",
                            "type": "choices",
                            "value": {"choices": choices},
                        }
                    ],
                }
                for coder, choices in (("x", ["cat"]), ("y", ["cat", "dog"][: 1 + n % 2]))
            ],
        }
        for n in range(12)
    ]
)

SITUATIONS = (
    # repeats and keys
    S(
        "agree keyed.csv",
        (
            "agree keyed.csv --item item,page",
            "agree keyed.csv --read repeats=all",
            "agree keyed.csv --read repeats=first",
        ),
        files={
            "keyed.csv": long(
                "item,coder,label,page", *(f"s{{n}},{c},{{x}},{p}" for c in "xy" for p in (1, 2, 3))
            )
        },
    ),
    S(
        "run twice.csv -o f --no-report --stream --model pooled --engine em --read repeats=first",
        ("run twice.csv -o f --no-report --stream --model pooled --engine em --read repeats=all",),
        files={"twice.csv": TWICE},
    ),
    # scale, labels
    S(
        "agree words.csv --scale ordinal",
        ("agree words.csv --scale ordinal --labels low,mid,high",),
        files={"words.csv": WORDS},
    ),
    S(
        "agree words.csv --distance linear",
        ("agree words.csv --distance linear --labels low,mid,high --scale ordinal",),
        files={"words.csv": WORDS},
        also=("--scale",),
    ),
    S(
        "agree numbers.csv",
        ("agree numbers.csv --scale interval",),
        files={"numbers.csv": NUMBERS},
        apart=("--labels", "--scale"),
    ),
    S(
        "check ratings.csv",
        ("check ratings.csv --scale ordinal", "check ratings.csv --scale interval"),
        files={
            "ratings.csv": long(
                "item,coder,label", "t{n},x,1", "t{n},y,2", "t{n},z,3", "t{n},v,4", "t{n},w,5"
            )
        },
    ),
    S(
        "agree free.csv --label label",
        ("agree free.csv --label kind",),
        files={
            "free.csv": "item,coder,label,kind\n"
            + "".join(
                f"t{n},{c},a long remark of its own about {n}{c},{'ab'[n % 2]}\n"
                for n in range(120)
                for c in "xy"
            )
        },
        apart=("--labels",),
    ),
    S(
        "agree longlabels.csv --label label",
        ("agree longlabels.csv --label kind",),
        files={
            "longlabels.csv": "item,coder,label,kind\n"
            + "".join(f"t{n},{c},{'word ' * 60},{'ab'[n % 2]}\n" for n in range(9) for c in "xy")
        },
        apart=("--labels",),
    ),
    S(
        "agree golden.csv --truth gold",
        ("agree golden.csv --truth gold --labels a,b,q",),
        files={"golden.csv": long("item,coder,label,gold", "t{n},x,{x},q", "t{n},y,{y},q")},
    ),
    S("check votes.csv --read dont_know=nosuch", ("check votes.csv",)),
    S(
        "check same.csv --read dont_know=p",
        ("check same.csv",),
        files={"same.csv": "item,coder,label\na,x,p\na,y,p\nb,x,p\nb,y,p\n"},
    ),
    S(
        "check na.csv",
        ("check na.csv --missing none",),
        files={"na.csv": long("item,coder,label", "t{n},x,{x}", "t{n},y,none")},
    ),
    S(
        "check empty.csv",
        ("check empty.csv --label other",),
        files={"empty.csv": long("item,coder,label,other", "t{n},x,,{x}", "t{n},y,,{y}")},
        also=("--label",),
        apart=("--missing",),
    ),
    S("check votes.csv --read map=n=", ("check votes.csv --missing n",), also=("--read map",)),
    S("check votes.csv --read map=n=z --read map=y=z", ("check votes.csv --read map=n=z",)),
    S(
        "check apart.csv",
        ("check apart.csv --read map=pos=p --read map=neg=n",),
        files={
            "apart.csv": "item,coder,label\n"
            + "".join(f"t{n},x,{'pn'[n % 2]}\nt{n},y,{['pos', 'neg'][n % 2]}\n" for n in range(30))
        },
        apart=("--labels",),
    ),
    S(
        "agree badlist.json",
        ("agree badlist.json --read sets",),
        files={
            "badlist.json": json.dumps(
                [
                    {"item": f"t{n}", "coder": c, "label": ["p", "q"][: 1 + n % 2]}
                    for n in range(9)
                    for c in "xy"
                ]
            )
        },
    ),
    # columns
    S(
        "check odd.csv",
        ("check odd.csv --item ding --coder wer --label was",),
        files={
            "odd.csv": long(
                "ding,wer,was,note", "t{n},x,{x},some words here", "t{n},y,{y},others there"
            )
        },
        apart=(
            "--read format",
            "--coder-columns",
            "--truth",
            "--text",
            "--group",
        ),
    ),
    S(
        "check one.csv --label was",
        ("check one.csv --label was --coder wer",),
        files={"one.csv": long("item,wer,was", "t{n},x,{x}", "t{n},y,{y}")},
        apart=("--read format",),
    ),
    S(
        "check wide.csv --read format=wide --coder ann",
        ("check wide.csv --read format=wide",),
        files={"wide.csv": WIDE},
    ),
    S(
        "check wide.csv --read format=wide --label ann",
        ("check wide.csv --read format=wide",),
        files={"wide.csv": WIDE},
    ),
    S(
        "check gold.csv",
        ("check gold.csv --truth gold",),
        files={"gold.csv": long("item,coder,label,gold", "t{n},x,{x},{x}", "t{n},y,{y},{x}")},
    ),
    S(
        "agree truth_as_label/reviews.csv",
        (
            "agree truth_as_label/reviews.csv --label response --truth label",
            "agree truth_as_label/reviews.csv --label label",
        ),
    ),
    S(
        "check headless.csv",
        ("check headless.csv --read columns=item,coder,label",),
        files={"headless.csv": PLAIN.partition("\n")[2]},
        apart=("--read format", "--item", "--coder", "--label"),
    ),
    S(
        "check matrix.csv --read format=matrix --item t",
        ("check matrix.csv --read format=matrix",),
        files={"matrix.csv": "a,b,a\nb,b,a\na,a,a\nb,b,b\n"},
        apart=("--coder", "--label", "--truth", "--group", "--text"),
    ),
    S(
        "check digits.csv",
        ("check digits.csv --read format=matrix",),
        files={"digits.csv": "1,2,3\n" + "1,2,2\n3,3,3\n1,1,2\n2,2,1\n" * 3},
    ),
    S(
        "check sums.csv",
        ("check sums.csv --read format=wide",),
        files={
            "sums.csv": "item,k1,k2,k3\n"
            + "".join(f"t{n},{n % 3},{(n + 1) % 3},{3 - n % 3 - (n + 1) % 3}\n" for n in range(12))
        },
    ),
    S(
        "check means.csv",
        ("check means.csv --read format=wide",),
        files={
            "means.csv": "item,ann,bob\n"
            + "".join(f"t{n},{n * 0.37:.2f},{n * 0.41:.2f}\n" for n in range(12))
        },
        apart=("--scale", "--labels"),
    ),
    S(
        "check title.csv",
        ("check title.csv --read skip_rows=2",),
        files={"title.csv": "A study\nof 2026\n" + WIDE},
    ),
    S(
        "check spaces.csv",
        ("check spaces.csv --read 'delimiter= '",),
        files={"spaces.csv": PLAIN.replace(",", " ")},
    ),
    S(
        "check two.xlsx",
        ("check two.xlsx --read sheet=main",),
        files={"two.xlsx": book(main=PLAIN, about="a,b\n1,2\n")},
    ),
    S(
        "check coders.xlsx",
        ("check coders.xlsx --read 'sheet=*'",),
        files={
            "coders.xlsx": book(
                ana=long("item,label", "t{n},{x}"), ben=long("item,label", "t{n},{y}")
            )
        },
        stays=True,
    ),
    S(
        "check coded.csv",
        ("check coded.csv --read encoding=cp1252",),
        files={"coded.csv": PLAIN.replace("t1,", "tä,").encode("cp1252")},
    ),
    S(
        "check wide16.csv",
        ("check wide16.csv --read encoding=utf-16-le",),
        files={"wide16.csv": PLAIN.encode("utf-16-le")},
    ),
    S(
        "check rows.json --read columns=a,b,c",
        ("check rows.json",),
        files={
            "rows.json": json.dumps(
                [
                    {"item": f"t{n}", "coder": c, "label": "ab"[n % 2]}
                    for n in range(9)
                    for c in "xy"
                ]
            )
        },
        apart=("--read skip_rows",),
    ),
    S("check votes.csv --read format=prodigy", ("check votes.csv",)),
    # questions
    S(
        "agree multi.csv",
        (
            "agree multi.csv --question tone",
            "agree multi.csv --question '*'",
            "agree multi.csv --label tone",
        ),
    ),
    S("check votes.csv --question tone", ("check votes.csv",), apart=("--read question_column",)),
    S(
        "check asks.csv --question tone",
        ("check asks.csv --question tone --read question_column=about",),
        files={
            "asks.csv": long(
                "item,coder,label,about",
                "t{n},x,{x},tone",
                "t{n},y,{y},tone",
                "t{n},x,{x},stance",
                "t{n},y,{y},stance",
            )
        },
        apart=("--question",),
    ),
    S(
        "check multi.csv --scale nosuch=nominal --question tone",
        ("check multi.csv --scale tone=nominal --question tone",),
    ),
    # several files
    S(
        "check train.csv test.csv",
        ("check ana=train.csv ben=test.csv",),
        files={
            "train.csv": long("item,label", "t{n},{x}"),
            "test.csv": long("item,label", "t{n},{y}"),
        },
        apart=("--coder", "--coder-columns"),
    ),
    S(
        "check one.csv two.csv",
        ("check one.csv two.csv --read repeats=all", "check one.csv"),
        files={"one.csv": PLAIN, "two.csv": PLAIN},
    ),
    # spans
    S(
        "am.read('project')",
        ("am.read('project', units='exact')", "am.fit(am.read_spans('project'))"),
    ),
    S("agree votes.csv --units exact", ("agree votes.csv",)),
    S(
        "agree votes.csv --coefficient alpha_u",
        ("agree votes.csv",),
        also=("--coefficient",),
        apart=("--units",),
    ),
    S(
        "coref labeled",
        ("coref labeled --read chain_from=label --draws 20",),
        setup=(
            "[(Path('labeled', c).mkdir(parents=True), Path('labeled', c, 'd.txt').write_text('Ana said she ran. Bob ran.'), Path('labeled', c, 'd.ann').write_text(m)) for c, m in (('ana', 'T1\\tc1 0 3\\tAna\\nT2\\tc1 9 12\\tshe\\nT3\\tc2 18 21\\tBob\\n'), ('ben', 'T1\\tc1 0 3\\tAna\\nT2\\tc1 9 12\\tshe\\nT3\\tc2 18 21\\tBob\\n'))]",
        ),
        apart=("--read relations", "--units"),
    ),
    S(
        "coref related",
        ("coref related --read relations=Same --draws 20",),
        setup=(
            "[(Path('related', c).mkdir(parents=True), Path('related', c, 'd.txt').write_text('Ana said she ran. Bob ran.'), Path('related', c, 'd.ann').write_text('T1\\tP 0 3\\tAna\\nT2\\tP 9 12\\tshe\\nT3\\tP 18 21\\tBob\\nR1\\tSame Arg1:T1 Arg2:T2\\n')) for c in ('ana', 'ben')]",
        ),
        apart=("--read chain_from", "--units"),
    ),
    S(
        "coref single --read chain_from=label",
        ("coref single --read relations=Same --draws 20",),
        setup=(
            "[(Path('single', c).mkdir(parents=True), Path('single', c, 'd.txt').write_text('Ana said she ran. Bob ran.'), Path('single', c, 'd.ann').write_text('T1\\tP 0 3\\tAna\\nT2\\tQ 9 12\\tshe\\nT3\\tR 18 21\\tBob\\nR1\\tSame Arg1:T1 Arg2:T2\\n')) for c in ('ana', 'ben')]",
        ),
        also=("--read relations",),
    ),
    # exports
    S(
        "check doccano_projects/project_folder",
        ("check doccano_projects/project_folder --item text",),
    ),
    S("check json_label_lists/multi.json", ("check json_label_lists/multi.json --read sets",)),
    S(
        "agree chosen.json --distance masi",
        ("agree chosen.json --read sets --distance masi",),
        files={"chosen.json": CHOSEN},
    ),
    S(
        "check varcoder/ratings.csv",
        ("check varcoder/ratings.csv --question clarity",),
        apart=("--scale",),
        stays=True,
    ),
    S(
        "agree golden.csv --truth gold --labels a,b",
        ("agree golden.csv --truth gold --labels a,b,q",),
        files={"golden.csv": long("item,coder,label,gold", "t{n},x,{x},q", "t{n},y,{y},q")},
    ),
    S(
        "check related",
        ("coref related --draws 20",),
        setup=(
            "[(Path('related', c).mkdir(parents=True), Path('related', c, 'd.txt').write_text('Ana said she ran. Bob ran.'), Path('related', c, 'd.ann').write_text('T1\\tP 0 3\\tAna\\nT2\\tP 9 12\\tshe\\nT3\\tP 18 21\\tBob\\nR1\\tCoref Arg1:T1 Arg2:T2\\n')) for c in ('ana', 'ben')]",
        ),
        stays=True,
    ),
    S(
        "check survey.csv",
        ("check survey.csv --question angry --read question_column=item --item text",),
        files={
            "survey.csv": "item,text,coder,label\n"
            + "".join(
                f"{q},s{n},{c},{v[n % 2]}\n"
                for q, v in (("angry", ("yes", "no")), ("color", ("red", "blue")))
                for n in range(12)
                for c in "xy"
            )
        },
        also=("--item", "--read question_column", "--question"),
        apart=("--labels", "--read repeats"),
    ),
    S(
        "check consensus_first/papers.csv --question claim",
        ("check consensus_first/papers.csv --question claim --truth claim",),
        apart=("--coder-columns", "--scale"),
    ),
    S(
        "check asked.csv",
        ("check asked.csv --read format=wide",),
        files={
            "asked.csv": "id,Is it angry?,Is it sad?\n"
            + "".join(
                f"t{n},{('yes', 'no')[n % 2]},{('yes', 'no')[n % 3 % 2]}\n" for n in range(12)
            )
        },
        apart=("--coder", "--question"),
    ),
    S(
        "check genre.csv",
        (
            "check genre.csv --coder-columns ann,bob",
            "check genre.csv --group genre",
            "check genre.csv --text genre",
            "check genre.csv --truth genre --labels a,b,news,fiction",
        ),
        files={
            "genre.csv": "item,ann,bob,genre\n"
            + "".join(
                f"t{n},{'ab'[n % 2]},{'ab'[n % 3 % 2]},{('news', 'fiction')[n % 2]}\n"
                for n in range(12)
            )
        },
        apart=("--item", "--coder", "--label", "--read format"),
        also=("--labels",),
    ),
)
