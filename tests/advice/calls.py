"""Situations of Python: calls that only a script or a notebook can make."""

from __future__ import annotations

from tests.advice.follow import Situation as S

READ = "d = am.read('votes.csv', text='page')"
FIT = "f = am.load('out/fit.nc')"
NUMBERS = (
    "r = np.random.default_rng(1);; n = pd.DataFrame([(f't{i}', c, str(round(i % 9 + r.normal(), 1))) "
    "for i in range(30) for c in 'xyz'], columns=['item', 'coder', 'label'])"
)
SMALL = "chains=2, draws=60, warmup=40, seed=1"

SITUATIONS = (
    S(f"{FIT};; am.compare([f, f], by='nosuch')", (f"{FIT};; am.compare([f, f], by='item')",)),
    S(
        f"{READ};; p = am.fit(d, 'pooled', engine='em');; am.compare([p, p])",
        (f"{READ};; p = am.fit(d, 'pooled', engine='gibbs', {SMALL});; am.compare([p, p])",),
        also=("chains=", "draws=", "warmup=", "seed="),
    ),
    S(
        f"{READ};; am.fit(d, executor='nosuch')",
        (f"{READ};; am.fit(d, 'pooled', executor='threads', {SMALL})",),
        also=("chains=", "draws=", "warmup=", "seed="),
    ),
    S(
        f"{NUMBERS};; am.fit(am.Annotations.from_frame(n, scale='interval'), 'interval', executor='threads', {SMALL})",
        (
            f"{NUMBERS};; am.fit(am.Annotations.from_frame(n, scale='interval'), 'interval', {SMALL})",
        ),
    ),
    S(
        f"{FIT};; am.estimate(f, {{'i1': 'n'}}, use='nosuch')",
        (f"{FIT};; am.estimate(f, {{'i1': 'n'}}, use='fit')",),
    ),
    S(
        f"{FIT};; a = am.audit(f, 5, seed=1);; am.estimate(f, dict.fromkeys(a.table['item'], 'n'), a, use='audit')",
        (
            f"{FIT};; a = am.audit(f, 5, seed=1);; am.estimate(f, dict.fromkeys(a.table['item'], 'n'), a)",
        ),
        apart=("weights=",),
    ),
    S(
        f"{FIT};; am.estimate(f, {{'i1': 'n'}}, use='audit', weights={{'i1': 40}})",
        (
            f"{FIT};; am.estimate(f, {{'i1': 'n'}}, use='audit')",
            f"{FIT};; am.estimate(f, {{'i1': 'n'}}, weights={{'i1': 40}})",
        ),
    ),
    S(
        f"{FIT};; a = am.audit(f, 5, seed=1);; am.audit(f, 5, among=['i1'], earlier=a, seed=2)",
        (f"{FIT};; a = am.audit(f, 5, seed=1);; am.audit(f, 5, earlier=a, seed=2)",),
    ),
    S(
        f"{READ};; am.agreement(d, 'alpha', distance='linear')",
        (
            f"{READ.replace(')', ', labels=[' + chr(39) + 'n' + chr(39) + ', ' + chr(39) + 'y' + chr(39) + '], scale=' + chr(39) + 'ordinal' + chr(39) + ')')};; am.agreement(d, 'alpha', distance='linear')",
        ),
        also=("scale=",),
    ),
    S("am.coref.read('chains', crossing='nosuch')", ("am.coref.read('chains', crossing='keep')",)),
    S(
        "am.coref.read('chains', chain_from='nosuch')",
        ("am.coref.read('chains', chain_from='relations')",),
    ),
    S(
        "am.coref.write(am.coref.read('chains'), 'x.txt', format='nosuch')",
        ("am.coref.write(am.coref.read('chains'), 'x.jsonl', format='jsonlines', coder='ana')",),
        also=("coder=",),
    ),
    S(
        "am.coref.pair_posterior(am.coref.read('chains'), draws=0)",
        ("am.coref.pair_posterior(am.coref.read('chains'), draws=10)",),
    ),
    S(
        "am.design(items=20, coders=3, of='nosuch')",
        ("am.design(items=20, coders=3, of='alpha', replications=2)",),
        also=("replications=",),
    ),
    S(
        "am.simulate(items=20, coders=6, workload='nosuch')",
        ("am.simulate(items=20, coders=6, workload='even')",),
    ),
    S("am.simulate(items=20, coders=6, gold=30)", ("am.simulate(items=20, coders=6, gold=10)",)),
    S("am.read('votes.csv', item=3)", ("am.read('votes.csv', item='item')",)),
    S(
        f"{READ};; s = am.scan('votes.csv');; am.fit(s, 'pooled', engine='em', seed=1).save('out', force=False)",
        (
            f"{READ};; s = am.scan('votes.csv');; am.fit(s, 'pooled', engine='em', seed=1).save('fresh', force=True)",
        ),
    ),
    S(
        "am.fit(am.scan('votes.csv'), 'item-difficulty')",
        (f"am.fit(am.scan('votes.csv').to_annotations(), 'item-difficulty', {SMALL})",),
        also=("chains=", "draws=", "warmup=", "seed="),
    ),
    S(
        f"{READ};; am.breakdown(d, by='coder', name='kappa')",
        (f"{READ};; am.breakdown(d, by='pair', name='kappa')",),
    ),
    S(
        f"{READ};; am.breakdown(d, by='document', name='alpha')",
        ("d = am.read('votes.csv', group='page');; am.breakdown(d, by='document', name='alpha')",),
        also=("text=",),
    ),
    S(f"{FIT};; f.p_next(by='nosuch')", (f"{FIT};; f.p_next(by='item')",)),
    S(
        f"{FIT};; f.p_next(by='item', coders=['a'])",
        (f"{FIT};; f.p_next(by='coder', coders=['a'])",),
    ),
    S(f"{FIT};; f.next(coders=[])", (f"{FIT};; f.next(coders=['a'])", f"{FIT};; f.next()")),
    S(
        f"{FIT};; am.estimate(f, {{'i1': 'n'}}, Path('x.json'))",
        (f"{FIT};; am.estimate(f, {{'i1': 'n'}}, use='fit')",),
        files={"x.json": "{}"},
        also=("use=",),
    ),
    S(
        f"{FIT};; {READ};; g = am.fit(d, 'mace', {SMALL});; am.audit(g, 5, earlier=am.audit(f, 5))",
        (f"{READ};; g = am.fit(d, 'mace', {SMALL});; am.audit(g, 5)",),
    ),
    S(
        f"{FIT};; {READ};; g = am.fit(d, 'mace', {SMALL});; am.estimate(f, {{'i1': 'n'}}, use='fit').after(g)",
        (f"{FIT};; am.estimate(f, {{'i1': 'n'}}, use='fit').after(f)",),
        also=("text=", "chains=", "draws=", "warmup=", "seed="),
    ),
    S(
        f"{READ};; am.breakdown(d, by='coder', name='multi_kappa')",
        (f"{READ};; am.breakdown(d, by='pair', name='multi_kappa')",),
    ),
    S(
        f"{READ};; am.breakdown(d, by='coder', name='percent', missing='pairwise')",
        (f"{READ};; am.breakdown(d, by='pair', name='percent', missing='pairwise')",),
    ),
    S(
        "am.read('multi.csv')",
        ("am.read('multi.csv', question='stance')",),
        apart=("label=", "--question", "*"),
        also=("question=",),
    ),
    S(
        f"{READ};; am.fit(d, 'pooled', engine='em').to_arviz()",
        (f"{READ};; am.fit(d, 'pooled', engine='gibbs', {SMALL}).to_arviz()",),
        also=("chains=", "draws=", "warmup=", "seed="),
    ),
    S(f"{FIT};; f.next(by='nosuch')", (f"{FIT};; f.next(by='bits')",)),
    S(
        "import html, re;; '\\n'.join(re.findall('annomodels [^<]*', html.unescape(Path('out/report.html').read_text())))",
        (
            "estimate out --truth audit.csv",
            "audit out --size 12 -o a9.csv",
            "report out -o r9.html --truth truth.csv --use test",
            "run votes.csv -o out-decided --truth decisions.csv --chains 2 --draws 60 --sampler warmup=40",
        ),
        stays=True,
        apart=("--model", "--compare", "--force"),
    ),
)
