"""The main way through the package holds together: labels in, gold standard and verdict out."""

import annomodels as am
from annomodels.summaries.trust.checks import VERDICTS


def test_from_labels_to_a_gold_standard(tmp_path):
    path = tmp_path / "labels.csv"
    rows = [
        f"t{i},c{j},{'yes' if (i + (i == j)) % 2 else 'no'}" for i in range(12) for j in range(4)
    ]
    path.write_text("\n".join(["item,coder,label", *rows]) + "\n")
    data = am.read(path)
    assert (data.n_items, data.n_coders, data.n_labels) == (12, 4, 2)
    assert am.agreement(data).table["value"].notna().any()
    fit = am.fit(data, "hierarchical", chains=2, draws=100, warmup=50, extend=False, seed=1)
    assert fit.gold().table["label"].tolist() == ["no", "yes"] * 6
    assert len(fit.coders().table) == 4
    assert fit.check().verdict in VERDICTS
