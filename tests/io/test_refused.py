"""Files that hold no labels of coders are known by their names of columns, and say what to give."""

from __future__ import annotations

from pathlib import Path

import pytest

from annomodels import read
from annomodels.errors import AnnotationError

OWN = {
    "next": "item,coder,gain,n,label,probability",
    "gold": "item,label,probability,mcse,runner_up,runner_up_probability,n,votes,source",
    "items": "item,n,label,probability,entropy,reducible,irreducible,p_contested,reason",
    "coders": "coder,n,accuracy,skill,skill_low,share_right,bias,kind,advice",
    "agreement": "coefficient,title,value,observed,expected,n,low,high,note",
}


@pytest.mark.parametrize("name", OWN)
def test_a_table_of_our_own_is_no_file_of_labels(name: str, tmp_path: Path) -> None:
    path = tmp_path / "any.csv"
    size = OWN[name].count(",")
    rows = [f"i{n}" + f",{n % 2}" * size for n in range(9)]
    path.write_text("\n".join([OWN[name], *rows]) + "\n")
    with pytest.raises(AnnotationError, match=rf"This is {name}\.csv of annomodels") as caught:
        read(path)
    assert "annomodels" in caught.value.problems[0].remedy
    assert caught.value.proposal is None


CASES = {
    "SageMaker": '{"datasetObjectId": "7", "annotations": [{"workerId": "a"}]}\n',
    "INCEpTION": "Type,Collection,Document,Layer,Feature,Position,Flags,ana\nS,,d,L,f,0-1,U,x\n",
    "Qualtrics": 'Finished,Q1\nFin,A\n"{""ImportId"":""done""}","{""ImportId"":""QID1""}"\n1,x\n',
    "pattern of labels": "ben,ana,n\ngood,good,1\ngood,bad,1\n",
}


@pytest.mark.parametrize("name", CASES)
def test_an_export_that_is_not_read_is_called_by_its_name(name: str, tmp_path: Path) -> None:
    path = tmp_path / ("a.jsonl" if CASES[name][0] == "{" else "a.csv")
    path.write_text(CASES[name])
    with pytest.raises(AnnotationError, match=name) as caught:
        read(path)
    assert caught.value.proposal is None
