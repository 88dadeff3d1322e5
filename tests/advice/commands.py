"""Situations of the command line: options that do not go together, outputs, gates."""

from __future__ import annotations

from tests.advice.follow import Situation as S

SHORT = "--chains 2 --draws 60 --sampler warmup=40"
FAST = f"--model dawid-skene {SHORT}"
EM = "--model pooled --engine em"
GROUPS = {"groups.csv": "coder,group\na,x\nb,x\nc,x\nd,y\ne,y\n"}
MARKED = {
    "marks.csv": "document,coder,start,end,label,body\n"
    + "".join(
        f"d{n},{coder},{start},{start + 4},{'Q' if coder == 'x' and start else 'P'},Anna saw Hans\n"
        for n in range(6)
        for coder in "xy"
        for start in (0, 9)
    )
}
PAIRS = {"pairs.csv": "item,left,right,page\n" + "".join(f"i{n},A,B,p{n % 2}\n" for n in range(40))}

SITUATIONS = (
    # options that exclude or need each other
    S(
        "simulate --items 20 --labels n,y --assume prevalence=a,b",
        ("simulate --items 20 --labels n,y --assume prevalence=0.9,0.1",),
    ),
    S("agree votes.csv --coefficient alhpa", ("agree votes.csv --coefficient alpha",)),
    S("agree votes.csv --read sets", ("agree votes.csv",)),
    S(
        "agree sets.json --read sets",
        (
            "agree sets.json --read sets --distance jaccard",
            "agree sets.json --read sets --distance nominal",
        ),
        files={
            "sets.json": '[{"item":"a","coder":"x","label":["p","q"]},{"item":"a","coder":"y","label":["p"]},{"item":"b","coder":"x","label":["q"]},{"item":"b","coder":"y","label":["q"]}]'
        },
    ),
    S("agree votes.csv --by document", ("agree votes.csv --by document --group page",)),
    S(
        "agree votes.csv --by pair --coefficient nonesuch",
        ("agree votes.csv --by pair --coefficient alpha",),
    ),
    S(
        "agree votes.csv --by item --coefficient kappa",
        ("agree votes.csv --by item --coefficient alpha",),
    ),
    S(
        "agree votes.csv --diagnose --coefficient icc_1",
        ("agree votes.csv --diagnose --coefficient alpha",),
    ),
    S(
        "agree votes.csv --diagnose --by coder",
        ("agree votes.csv --diagnose", "agree votes.csv --by coder"),
    ),
    S(
        "agree multi.csv --question '*' --by coder",
        (
            "agree multi.csv --question tone --by coder",
            "agree multi.csv --question tone --diagnose",
        ),
        apart=(
            "--question",
            "*",
        ),
    ),
    S(
        "agree votes.csv --diagnose --coefficient alpha --coefficient percent",
        ("agree votes.csv --diagnose --coefficient alpha",),
    ),
    S(
        "agree votes.csv --positive y",
        ("agree votes.csv --group page --by document --positive y",),
        also=("--group",),
    ),
    S(
        "agree votes.csv --methods m.md",
        ("agree multi.csv --question '*' --methods m.md", "agree votes.csv"),
        apart=("-o",),
        also=("--question", "*"),
    ),
    S(
        "agree votes.csv --by coder --distance linear",
        (
            "agree votes.csv --distance nominal",
            "agree votes.csv --convention gwet",
            "agree votes.csv --by coder",
        ),
    ),
    S(
        "agree project --coefficient alpha_u --by item",
        ("agree project --coefficient alpha_u",),
        apart=("--units", "--diagnose", "--distance", "--convention"),
    ),
    S("agree votes.csv --fail-if alhpa<0.1", ("agree votes.csv --fail-if alpha<0.001",)),
    S("agree votes.csv --fail-if nonsense", ("agree votes.csv --fail-if alpha<0.001",)),
    S(
        "agree votes.csv --fail-if alpha.middle<0.1",
        ("agree votes.csv --fail-if alpha.value<0.001",),
    ),
    S(
        "agree votes.csv --by coder --fail-if alpha.low<0",
        ("agree votes.csv --by coder --fail-if alpha.value<-1",),
    ),
    S("agree votes.csv --label label --question '*'", ("agree votes.csv --label label",)),
    S("agree dataset:anesthesia --scale a=ordinal", ("agree dataset:anesthesia --scale ordinal",)),
    S(
        "convert multi.csv --question tone --question stance",
        ("agree multi.csv --question tone --question stance", "convert multi.csv --question tone"),
    ),
    S(
        "agree far.csv --question '*'",
        ("check far.csv --question '*'",),
        stays=True,
        apart=("--labels",),
        files={"far.csv": "item,coder,tone,stance\na,x,p,q\nb,x,q,p\nc,x,p,p\n"},
    ),
    # fits
    S(
        "run votes.csv -o f --no-report --cache c",
        ("run votes.csv -o f --no-report --cache c --stream",),
    ),
    S("run votes.csv -o r --cache c", (f"run votes.csv -o r --cache c --stream {EM}",)),
    S(
        "run votes.csv -o f --no-report --prior-from out --stream",
        (
            f"run votes.csv -o f --no-report --prior-from out {SHORT}",
            "run votes.csv -o f --no-report --stream",
        ),
    ),
    S(
        "run votes.csv -o f --no-report --prior-from out --anonymize",
        (
            f"run votes.csv -o f --no-report --prior-from out {SHORT}",
            f"run votes.csv -o f --no-report --anonymize {EM}",
        ),
    ),
    S(
        "run votes.csv -o f --no-report --truth page --truth label",
        (f"run votes.csv -o f --no-report --truth truth.csv {EM}",),
    ),
    S(
        "run votes.csv -o f --no-report --truth page --use test",
        (f"run votes.csv -o f --truth truth.csv --use test {EM}",),
    ),
    S(
        "run multi.csv -o f --no-report --prior-from out --question '*'",
        (f"run multi.csv -o f --no-report --prior-from out --question tone {SHORT}",),
        also=("--question", "*"),
    ),
    S(
        "run votes.csv -o f --no-report --prior-from out --model mace",
        (f"run votes.csv -o f --no-report --prior-from out {SHORT}",),
    ),
    S(
        "run votes.csv -o f --no-report --prior-from out --groups groups.csv",
        (f"run votes.csv -o f --no-report --groups groups.csv {SHORT}",),
        files=GROUPS,
        apart=("--prior-from",),
    ),
    S(
        "run votes.csv -o f --no-report --groups groups.csv --covariates groups.csv",
        (f"run votes.csv -o f --no-report --groups groups.csv {SHORT}",),
        files=GROUPS,
    ),
    S(
        "run votes.csv -o f --no-report --groups groups.csv --model mace",
        (
            f"run votes.csv -o f --no-report --groups groups.csv {SHORT}",
            f"run votes.csv -o g --no-report --model mace {SHORT}",
        ),
        files=GROUPS,
    ),
    S(
        "run votes.csv -o f --no-report --covariates cov.csv",
        (f"run votes.csv -o f --no-report --covariates cov.csv --model scalar-difficulty {SHORT}",),
        files={"cov.csv": "coder,age\na,1\nb,2\nc,3\nd,4\ne,5\n"},
        compiles=True,
    ),
    S(f"run - -o f --no-report --stream {EM}", (f"run votes.csv -o f --no-report --stream {EM}",)),
    S(
        "run votes.csv -o f --no-report --stream --model item-difficulty",
        (
            "run votes.csv -o f --no-report --stream --model pooled --engine em",
            f"run votes.csv -o f --no-report {EM}",
        ),
    ),
    S(
        "run votes.csv -o f --no-report --stream --engine nuts --model pooled",
        ("run votes.csv -o f --no-report --stream --engine em --model pooled",),
    ),
    S(
        "run multi.csv -o f --no-report --stream --scale tone=ordinal --label tone",
        ("run multi.csv -o f --no-report --stream --label tone --model pooled --engine em",),
    ),
    S(
        "run multi.csv -o f --no-report --stream --question tone --question stance",
        (f"run multi.csv -o f --no-report --question tone {EM}",),
    ),
    # runs
    S(
        "run votes.csv -o r --no-report --show page",
        ("run votes.csv -o r --show page " + FAST, "run votes.csv -o r2 --no-report " + FAST),
    ),
    S(
        "run votes.csv -o r --no-report --truth truth.csv --use test",
        (
            f"run votes.csv -o r --truth truth.csv --use test {FAST}",
            f"run votes.csv -o r2 --no-report --truth truth.csv {FAST}",
        ),
    ),
    S(
        "run multi.csv -o r --question '*' --truth truth.csv",
        (f"run multi.csv -o r --question tone --truth truth.csv {FAST}",),
        also=(
            "--question",
            "*",
        ),
    ),
    S(
        "run - -o r --show page",
        (f"run votes.csv -o r --show page {FAST}",),
        stdin="item,coder,label\na,x,p\na,y,q\nb,x,p\nb,y,q\n",
    ),
    S("run votes.csv -o r --use fit", (f"run votes.csv -o r --use fit --truth truth.csv {FAST}",)),
    S(
        f"run votes.csv -o out {FAST}",
        (f"run votes.csv -o out --force {FAST}", f"run votes.csv -o fresh {FAST}"),
    ),
    S(
        "report out -o r.html --truth audit.csv",
        ("report out -o r2.html --truth audit.csv --use test",),
    ),
    S(
        "report taught -o r.html --truth truth.csv --use test",
        (f"run votes.csv -o r --no-report {EM}",),
        setup=(f"run votes.csv -o taught --no-report --truth truth.csv {EM}",),
        also=("--use",),
    ),
    S(
        "agree votes.csv -o truth.csv",
        ("agree votes.csv -o truth.csv --force", "agree votes.csv -o fresh.csv"),
    ),
    S(
        "report out -o r.html --truth audit.csv --truth decisions.csv",
        (
            f"run votes.csv -o r --truth audit.csv --truth out/audit.json --truth decisions.csv {FAST}",
        ),
        apart=("-o",),
    ),
    S(
        "report moved -o r.html --text page",
        (f"run votes.csv -o r --text page {FAST}",),
        setup=(
            "convert votes.csv --to long -o elsewhere.csv",
            f"run elsewhere.csv -o moved {FAST}",
            "Path('elsewhere.csv').unlink()",
        ),
        apart=("-o",),
    ),
    # tables of a fit
    S("gold out --item i1", ("gold out --item i1 --why",)),
    S(
        "gold out --state contested --to parquet",
        ("gold out --state contested", "gold out --to parquet -o all.parquet"),
        apart=("-o",),
    ),
    S("coders out --by label --target 0.8", ("coders out --target 0.8", "coders out --by label")),
    S("convert", ("convert --list", "convert votes.csv")),
    S(
        "check multi.csv --question '*' --fit out",
        ("check multi.csv --question tone --fit out", "check multi.csv --question '*'"),
    ),
    S(
        "gold out --why --soft",
        ("gold out --why", "gold out --soft"),
        apart=("--to", "--state", "--threshold"),
    ),
    S("gold votes.csv", (f"run votes.csv -o votes-out {FAST}",), apart=("-o",)),
    S(
        "compare out",
        ("compare out other2",),
        setup=(f"run votes.csv -o other2 --model mace {SHORT}",),
    ),
    S(
        "convert formula.csv --to wide -o w.csv",
        ("convert formula.csv --to wide -o w2.csv --spreadsheet",),
        files={"formula.csv": "item,coder,label\na,x,=1+1\na,y,q\nb,x,q\nb,y,q\n"},
    ),
    # audits
    S(
        "estimate out --truth weighed.csv --use fit --weights w",
        ("estimate out --truth weighed.csv --weights w",),
    ),
    S(
        "estimate out --truth audit.csv --wins A,B",
        ("estimate out --truth audit.csv --wins n,y --pairs left,right --items pairs.csv",),
        files=PAIRS,
        also=("--items",),
    ),
    S(
        "estimate out --truth audit.csv --pairs left --items pairs.csv",
        ("estimate out --truth audit.csv --pairs left,right --items pairs.csv",),
        files=PAIRS,
    ),
    S(
        "estimate out --truth audit.csv --by page",
        ("estimate out --truth audit.csv --by page --items pairs.csv",),
        files=PAIRS,
    ),
    S(
        "estimate out --truth audit.csv --table slices",
        ("estimate out --truth audit.csv --table slices --by page --items pairs.csv",),
        files=PAIRS,
        also=("--items",),
    ),
    S(
        "estimate out --truth audit.csv --table systems",
        ("estimate out --truth audit.csv --table systems --pairs left,right --items pairs.csv",),
        files=PAIRS,
        also=("--items",),
    ),
    S(
        "estimate out --truth audit.csv --label nosuch",
        ("estimate out --truth audit.csv --label y",),
    ),
    S(
        "estimate out --truth audit.csv --pairs left,right --wins n,nosuch --items pairs.csv",
        ("estimate out --truth audit.csv --pairs left,right --wins n,y --items pairs.csv",),
        files=PAIRS,
    ),
    S(
        "estimate out --truth truth.csv",
        (
            "estimate out --truth truth.csv --use audit",
            "estimate out --truth weighed.csv --weights w",
        ),
        setup=("Path('out/audit.json').unlink()",),
    ),
    # coreference
    S(
        "coref chains --by genre --read genre=(",
        ("coref chains --by genre --read 'genre=(.*)_' --draws 20",),
    ),
    S(
        "coref chains --by genre --read genre=t",
        ("coref chains --by genre --read 'genre=(.*)_' --draws 20",),
    ),
    S("coref chains --chain nosuch", ("coref chains --chain incl- --draws 20",)),
    S("estimate out --truth others.csv", ("estimate out --truth audit.csv",)),
    S(
        "estimate out --truth strange.csv",
        (
            f"run votes.csv -o new --labels n,y,q {FAST}",
            "estimate new --truth strange.csv --use fit",
        ),
        also=("--truth", "--use"),
        setup=(
            "Path('strange.csv').write_text(Path('audit.csv').read_text().replace('n', 'q', 3).replace('item', 'item').replace('qo', 'no'))",
        ),
    ),
    S(
        "estimate out --truth audit.csv --table coders",
        ("audit out --size 5 -o a3.csv --start-over",),
        setup=("audit out --size 5 -o a2.csv",),
        also=("--truth", "--table", "--size"),
    ),
    S(
        "agree votes.csv --by item --fail-if alpha.high<0",
        ("agree votes.csv --by item --fail-if alpha.value<-9",),
    ),
    S("coref project", ("coref project -o silver --draws 20",), stays=True),
    S(
        "run keyed.csv -o k --truth other.csv --use test " + FAST,
        ("run keyed.csv -o k2 --item other --truth other.csv --use test " + FAST,),
        files={
            "keyed.csv": "item,other,coder,label\n"
            + "".join(
                f"t{n},o{n},{c},{'ab'[(n + k) % 3 % 2]}\n"
                for n in range(20)
                for k, c in enumerate("xyz")
            ),
            "other.csv": "item,label\no1,a\no2,b\n",
        },
    ),
    S(
        "run told.csv -o k --truth gold --truth gold.csv --use test " + FAST,
        ("run told.csv -o k2 --truth gold.csv --use test " + FAST,),
        files={
            "told.csv": "item,gold,coder,label\n"
            + "".join(
                f"t{n},{'ab'[n % 2]},{c},{'ab'[(n + k) % 3 % 2]}\n"
                for n in range(20)
                for k, c in enumerate("xyz")
            ),
            "gold.csv": "item,label\nt1,b\nt2,a\n",
        },
    ),
    S(
        "check votes.csv",
        ("audit out --size 12 -o a9.csv",),
        stays=True,
        apart=("--model", "--check"),
        also=(),
    ),
    S(
        "run same.csv -o f --no-report --model dawid-skene",
        (f"run same.csv -o f --no-report --labels p,q --model dawid-skene {SHORT}",),
        files={"same.csv": "item,coder,label\na,x,p\na,y,p\nb,x,p\nb,y,p\n"},
    ),
    S(
        f"run rating.csv -o f --no-report --scale ordinal --labels low,mid,high --model stack {SHORT}",
        (
            f"run rating.csv -o f2 --no-report --scale ordinal --labels low,mid,high --model ordinal {SHORT}",
        ),
        compiles=True,
        files={
            "rating.csv": "item,coder,label\n"
            + "".join(
                f"t{n},{c},{('low', 'mid', 'high')[(n + k * n % 2) % 3]}\n"
                for n in range(20)
                for k, c in enumerate("xyz")
            )
        },
    ),
    S(
        "run votes.csv -o f --no-report --stream --read dont_know=n --read dont_know=y " + EM,
        (f"run votes.csv -o f --no-report --stream {EM}",),
    ),
    S(
        "run golden.csv -o f --no-report --stream --truth gold --labels a,b " + EM,
        (f"run golden.csv -o f --no-report --stream --truth gold --labels a,b,q {EM}",),
        files={
            "golden.csv": "item,coder,label,gold\n"
            + "".join(f"t{n},{c},{'ab'[n % 2]},q\n" for n in range(9) for c in "xy")
        },
    ),
    S(
        "run free.csv -o f --no-report --stream " + EM,
        (f"run free.csv -o f --no-report --stream --label kind {EM}",),
        files={
            "free.csv": "item,coder,label,kind\n"
            + "".join(
                f"t{n},{c},a long remark of its own about {n}{c},{'ab'[n % 2]}\n"
                for n in range(300)
                for c in "xy"
            )
        },
        apart=("--labels",),
        also=("--label",),
    ),
    S(
        f"run votes.csv -o far --truth audit.csv {FAST}",
        (
            f"run votes.csv -o far --truth audit.csv --truth out/audit.json {FAST}",
            f"run votes.csv -o far --force --truth audit.csv --use fit {FAST}",
        ),
    ),
    S(
        "estimate out --truth audit.csv --use audit",
        ("estimate out --truth audit.csv --truth elsewhere/audit.json",),
        setup=(
            "Path('elsewhere').mkdir()",
            "Path('out/audit.json').rename('elsewhere/audit.json')",
        ),
    ),
    # spans
    S(
        "audit marks --width 0.1 -o a.csv",
        ("audit marks --size 2 -o a.csv",),
    ),
    S(
        "report marks -o r.html --target 0.8",
        ("report marks -o r.html --force",),
        apart=("-o",),
        also=("--target",),
    ),
    S("coders marks --target 0.8", ("coders marks --by label", "coders marks --by coder")),
    S("gold marks --why", ("gold marks",), apart=("--soft",)),
    S("gold marks --to brat", ("gold marks --to brat -o texts",)),
    S(
        "run project -o m --model mace",
        (f"run project -o m {SHORT}",),
        apart=("--groups", "--covariates"),
    ),
    S(
        "run project -o m --time-limit 60",
        (f"run project -o m {SHORT}",),
    ),
    S(
        "run project -o m --show text",
        (f"run project -o m {SHORT}",),
        apart=("--target", "--prior-from"),
    ),
    S("check project --scale ordinal", ("check project", "check project --units exact")),
    S(
        "run marks.csv -o m " + SHORT,
        (f"run marks.csv -o m --read map=Q=P {SHORT}",),
        files=MARKED,
    ),
    S(
        "gold m --to brat -o texts",
        (f"run marks.csv -o m2 --text body {SHORT}", "gold m2 --to brat -o texts"),
        files=MARKED,
        setup=(f"run marks.csv -o m {SHORT}",),
        also=("--to",),
    ),
    S("am.read_spans('project', seen='some')", ("am.read_spans('project', seen='all')",)),
)
