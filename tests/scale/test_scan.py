"""A scan gives what reading gives: the same codes and names, whatever the files look like."""

import os
import signal
import time
from pathlib import Path
from threading import Timer

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import annomodels as am
from annomodels.errors import AnnotationError
from annomodels.io.tables import chunks
from annomodels.io.writing import OutputError
from annomodels.scale import rows, scanning, sorting
from annomodels.scale.scanning import scan

WORDS = ["t2", "t10", "T3", "ünit 7", "10", "9.5", "1e3", "007", "a,b", "x\ty", "-4", "Z\n1"]


def table(n: int = 4000, seed: int = 0) -> pd.DataFrame:
    """Labels with gaps, repeats and known gold; some names that are hard to sort."""
    rng = np.random.default_rng(seed)
    items = np.array([*WORDS, *(f"item{i}" for i in range(n // 6))], dtype=object)
    truth = dict(zip(items, rng.choice(["no", "yes", "other", ""], len(items)), strict=True))
    item = rng.choice(items, n)
    return pd.DataFrame(
        {
            "task": item,
            "worker": [f"W{j}" for j in rng.integers(0, 30, n)],
            "label": rng.choice(["no", "yes", "maybe", ""], n, p=[0.4, 0.3, 0.2, 0.1]),
            "gold": [truth[name] for name in item],
        }
    )


def assert_same(found: am.Annotations, wanted: am.Annotations) -> None:
    assert (found.items, found.coders, found.labels) == (wanted.items, wanted.coders, wanted.labels)
    for name in ("item", "coder", "label", "gold"):
        assert np.array_equal(getattr(found, name), getattr(wanted, name)), name
    assert (found.skips, found.fingerprint) == (wanted.skips, wanted.fingerprint)


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, am.Annotations]:
    folder = tmp_path_factory.mktemp("labels")
    frame = table()
    frame.to_csv(folder / "all.csv", index=False)
    (folder / "parts").mkdir()
    frame[:1500].to_parquet(folder / "parts" / "1.parquet", row_group_size=400)
    frame[1500:].to_parquet(folder / "parts" / "2.parquet", row_group_size=900)
    frame.to_csv(folder / "zipped.tsv.gz", index=False, sep="\t")
    return folder, am.read(folder / "all.csv", truth="gold")


@pytest.mark.parametrize("name", ["all.csv", "parts", "parts/*.parquet", "zipped.tsv.gz"])
def test_a_scan_equals_reading(read: tuple[Path, am.Annotations], name: str) -> None:
    folder, wanted = read
    found = scan(str(folder / name), truth="gold")
    assert_same(found.to_annotations(), wanted)
    assert found.repeats == wanted.repeats
    assert any("item" in note and "nobody labeled" in note for note in found.notes)


@pytest.mark.slow
def test_little_memory_and_many_small_blocks_change_nothing(
    read: tuple[Path, am.Annotations], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, wanted = read
    whole = scan(folder / "parts", truth="gold")
    monkeypatch.setattr(rows, "MEMORY", "32MB")
    monkeypatch.setattr(rows, "BATCH", 100)
    monkeypatch.setattr(chunks, "ROWS", 300)
    monkeypatch.setattr(sorting, "BLOCK_LABELS", 64)
    found = scan(folder / "parts", truth="gold")
    assert len(found.blocks) > 50 > len(whole.blocks)
    assert_same(found.to_annotations(), wanted)
    for name in ("per_coder", "repeated_pairs", "repeats_agree"):
        assert np.array_equal(getattr(found, name), getattr(whole, name))
    sizes = ("repeats", "conflicts", "shared_items", "fewest", "most", "n_gold", "notes")
    assert [getattr(found, n) for n in sizes] == [getattr(whole, n) for n in sizes]


def test_the_order_of_rows_does_not_matter(read: tuple[Path, am.Annotations]) -> None:
    folder, wanted = read
    frame = table()
    # labels that a coder repeated keep their order, so only those rows stay in line
    again = frame.duplicated(["task", "worker"], keep=False)
    rest = frame[~again].sample(frac=1, random_state=3)
    pd.concat([rest, frame[again]]).to_parquet(folder / "shuffled.parquet")
    assert_same(scan(folder / "shuffled.parquet", truth="gold").to_annotations(), wanted)


def test_numbers_are_written_as_reading_writes_them(tmp_path: Path) -> None:
    columns = {
        "item": pa.array([1, 2, 10, 1, 2], pa.int64()),
        "coder": pa.array([1.0, 2.0, None, 3.0, 1.0]),
        "label": pa.array([True, False, None, True, False]),
    }
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    found = scan(tmp_path / "a.parquet")
    assert_same(found.to_annotations(), am.read(tmp_path / "a.parquet"))
    assert found.coders == ("1", "2", "3")
    columns["coder"] = pa.array([1.5, 2.0, None, 3.0, 1.5])
    pq.write_table(pa.table(columns), tmp_path / "b.parquet")
    assert_same(scan(tmp_path / "b.parquet").to_annotations(), am.read(tmp_path / "b.parquet"))


def test_a_column_of_texts_called_question_is_no_question(tmp_path: Path) -> None:
    asked = ["Is it far?", "Who is there?"]
    rows = [f"{i},{c},{'xy'[(i + c) % 2]},{asked[i]}" for i in range(2) for c in range(2)]
    path = tmp_path / "labels.csv"
    path.write_text("item,coder,label,question\n" + "\n".join(rows) + "\n")
    assert scan(path).n_items == am.read(path).n_items == 2


def test_known_gold_may_come_from_a_mapping(read: tuple[Path, am.Annotations]) -> None:
    folder, _ = read
    gold = {"t2": "no", "t10": "yes", "nobody": "no"}
    wanted = am.read(folder / "all.csv", truth=gold)
    assert_same(scan(folder / "parts", truth=gold).to_annotations(), wanted)


def test_gold_of_items_that_nobody_labelled_adds_no_label(tmp_path: Path) -> None:
    rows = [("a", "x", "1", "1"), ("a", "y", "2", "1"), ("b", "x", "", "9")]
    frame = pd.DataFrame(rows, columns=["item", "coder", "label", "gold"])
    frame.to_csv(tmp_path / "a.csv", index=False)
    found = scan(tmp_path / "a.csv", truth="gold")
    assert_same(found.to_annotations(), am.read(tmp_path / "a.csv", truth="gold"))
    assert found.labels == ("1", "2")


def test_all_problems_come_at_once_with_their_places(tmp_path: Path) -> None:
    frame = table(2000)
    frame.loc[700, "task"] = ""
    frame.loc[[1300, 1301], "worker"] = None
    frame.loc[[700, 1300, 1301], "label"] = "no"
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=500)
    with pytest.raises(AnnotationError) as caught:
        scan(tmp_path / "a.parquet", labels=["no", "yes"])
    problems = [str(problem) for problem in caught.value.problems]
    assert any("row group 2, row 701, column 'task'" in text for text in problems)
    assert any("row group 3, rows 1301, 1302, column 'worker'" in text for text in problems)
    assert sum("outside the declared set" in text for text in problems) == 4


def test_two_truths_of_an_item_are_a_problem(tmp_path: Path) -> None:
    rows = [("a", "x", "1", "1"), ("a", "y", "2", ""), ("a", "z", "2", "2"), ("b", "x", "1", "1")]
    frame = pd.DataFrame(rows, columns=["item", "coder", "label", "gold"])
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=2)
    with pytest.raises(AnnotationError, match=r"1 item with more than one gold: 'a'(.|\n)*row 3"):
        scan(tmp_path / "a.parquet", truth="gold")


def test_columns_and_files_that_are_not_there(tmp_path: Path) -> None:
    table(100).to_parquet(tmp_path / "1.parquet")
    table(100).rename(columns={"worker": "who"}).to_parquet(tmp_path / "2.parquet")
    with pytest.raises(AnnotationError, match=r"Column 'worker' (.|\n)*2\.parquet"):
        scan(tmp_path)
    with pytest.raises(AnnotationError, match="does not exist"):
        scan(tmp_path / "3.parquet")
    with pytest.raises(AnnotationError, match="No file matches the pattern"):
        scan(str(tmp_path / "*.csv"))


def test_a_pipe_or_a_device_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "votes.csv")
    with pytest.raises(AnnotationError, match="pipe or a device") as caught:
        scan([tmp_path / "votes.csv", "/dev/zero"])
    assert len(caught.value.problems) == 2


def test_free_text_is_not_taken_for_labels(tmp_path: Path) -> None:
    frame = pd.DataFrame({"item": range(5000), "coder": "ana", "label": range(5000)})
    frame.to_parquet(tmp_path / "a.parquet")
    with pytest.raises(AnnotationError, match="more than 1,000 different labels"):
        scan(tmp_path / "a.parquet")


def test_a_cache_is_used_again_until_the_files_change(tmp_path: Path) -> None:
    frame = table(500)
    frame.to_parquet(tmp_path / "a.parquet")
    said: list[str] = []
    first = scan(tmp_path / "a.parquet", cache=tmp_path / "kept")
    again = scan(
        tmp_path / "a.parquet", cache=tmp_path / "kept", progress=lambda *told: said.append(told[2])
    )
    assert said == ["found in the cache"]
    assert repr(again) == repr(first)
    assert_same(again.to_annotations(), first.to_annotations())
    frame[:400].to_parquet(tmp_path / "a.parquet")
    changed = scan(tmp_path / "a.parquet", cache=tmp_path / "kept")
    assert changed.n_annotations < first.n_annotations
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.parquet", "kept"]


def test_a_cache_of_another_version_is_written_anew(tmp_path: Path, monkeypatch) -> None:
    table(100).to_parquet(tmp_path / "a.parquet")
    with monkeypatch.context() as other:
        other.setattr("annomodels.scale.scanned.VERSION", 999)
        first = scan(tmp_path / "a.parquet", cache=tmp_path / "kept")
    about = tmp_path / "kept" / "scan.json"
    assert '"version": 999' in about.read_text()
    assert repr(scan(tmp_path / "a.parquet", cache=tmp_path / "kept")) == repr(first)
    assert '"version": 9' not in about.read_text()


def test_a_cache_never_takes_the_place_of_other_files(tmp_path: Path) -> None:
    table(100).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(OutputError, match="contains other files"):
        scan(tmp_path / "a.parquet", cache=tmp_path)


def test_nothing_is_left_behind_when_a_scan_fails(tmp_path: Path) -> None:
    frame = table(500)
    frame.loc[3, "worker"] = ""
    frame.loc[3, "label"] = "no"
    (tmp_path / "in").mkdir()
    frame.to_parquet(tmp_path / "in" / "a.parquet")
    with pytest.raises(AnnotationError):
        scan(tmp_path / "in", cache=tmp_path / "kept")
    assert [p.name for p in tmp_path.iterdir()] == ["in"]


def test_a_temporary_folder_goes_with_the_scan(tmp_path: Path) -> None:
    table(100).to_parquet(tmp_path / "a.parquet")
    found = scan(tmp_path / "a.parquet")
    folder = found.folder
    assert folder.is_dir()
    del found
    assert not folder.exists()


@pytest.fixture
def two_questions(tmp_path: Path) -> Path:
    """Write two questions into a file, with labels of their own; a row of one has no coder."""
    tone, topic = table(900, 1), table(700, 2)
    topic["label"] = topic["label"].replace({"no": "sports", "yes": "music"})
    frame = pd.concat([tone.assign(question="tone"), topic.assign(question="topic")])
    frame = frame.drop(columns="gold").sample(frac=1.0, random_state=3)
    faulty = pd.DataFrame([{"task": "t", "worker": "", "label": "no", "question": "tone"}])
    path = tmp_path / "both.csv"
    pd.concat([frame, faulty]).to_csv(path, index=False)
    return path


def test_one_of_several_questions_is_taken(two_questions: Path, tmp_path: Path) -> None:
    wanted = am.read(two_questions, question="topic")
    found = scan(two_questions, question="topic", cache=tmp_path / "cache")
    assert_same(found.to_annotations(), wanted)
    assert set(wanted.labels) == {"maybe", "music", "sports"}
    frame = pd.read_csv(two_questions, dtype=str, keep_default_na=False)[:-1]
    frame.to_csv(two_questions, index=False)
    other = scan(two_questions, question="tone", cache=tmp_path / "cache")
    assert set(other.labels) == {"maybe", "no", "yes"}
    assert_same(other.to_annotations(), am.read(two_questions, question="tone"))


def test_questions_are_never_mixed(two_questions: Path) -> None:
    with pytest.raises(AnnotationError) as caught:
        scan(two_questions)
    assert "2 questions: 'tone' (901 rows), 'topic' (700 rows)" in str(caught.value)
    with pytest.raises(AnnotationError, match="Did you mean 'topic'"):
        scan(two_questions, question="topics")
    with pytest.raises(AnnotationError, match="without a coder"):
        scan(two_questions, question="tone")
    frame = pd.read_csv(two_questions, dtype=str, keep_default_na=False)
    frame.drop(columns="question").to_csv(two_questions, index=False)
    with pytest.raises(AnnotationError, match="no column 'question'"):
        scan(two_questions, question="tone")


def test_a_column_named_question_may_hold_the_items(tmp_path: Path) -> None:
    frame = table(300).drop(columns="gold").rename(columns={"task": "question"})
    frame.to_csv(tmp_path / "a.csv", index=False)
    found = scan(tmp_path / "a.csv", item="question").to_annotations()
    assert_same(found, am.read(tmp_path / "a.csv", item="question"))


@pytest.mark.slow
def test_files_that_libraries_choke_on_are_a_problem_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "long.csv").write_text(f'item,coder,label,"{"x" * 150_000}"\na,b,c,d\n')
    assert scan(tmp_path / "long.csv").coders == ("b",)
    (tmp_path / "long row.csv").write_text("item,coder,label\na,b," + "x" * 40_000_000 + "\n")
    (tmp_path / "quote.csv").write_text('item,coder,label\na,"' + "x\n" * 100_000)
    table(300).to_parquet(tmp_path / "damaged.parquet")
    data = (tmp_path / "damaged.parquet").read_bytes()
    (tmp_path / "damaged.parquet").write_bytes(data[:40] + b"\xff" * 200 + data[240:])
    pq.write_table(
        pa.table({"item": [["a"], ["b"]], "coder": ["x", "y"], "label": ["1", "2"]}),
        tmp_path / "lists.parquet",
    )
    for name in ("quote.csv", "damaged.parquet", "lists.parquet"):
        with pytest.raises(AnnotationError, match=name):
            scan(tmp_path / name)
    with pytest.raises(AnnotationError, match="A row has more than 16 MB"):
        scan(tmp_path / "long row.csv")


def test_a_ragged_row_that_is_not_utf_8_is_an_error_and_nothing_else(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "labels.csv"
    path.write_bytes(b"item,coder,label\na,ana,yes\nb,\x8a\nc,ana,no\n")
    with pytest.raises(AnnotationError, match="The text cannot be read as a table"):
        am.scan(path)
    assert capfd.readouterr().err == ""


def test_no_way_to_treat_repeats_is_refused(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text(table(40).to_csv(index=False))
    with pytest.raises(am.errors.AnnotationError, match="Use 'error', 'first' or 'all'"):
        am.scan(path, repeats="keep")


BLOCKS = ["overwritten", "cut", "gone", "a folder", *(["a pipe"] if os.name == "posix" else [])]
FIELDS = ["null", "[]", "[" * 100_000, '{"version": 7}', "\0", ""]


@pytest.mark.parametrize("damage", [*BLOCKS, *FIELDS, "counts", "another file"])
def test_a_damaged_cache_is_sorted_again(tmp_path, damage):
    path, about = tmp_path / "votes.csv", tmp_path / "cache" / "scan.json"
    path.write_text(table(400).to_csv(index=False))
    options = {"repeats": "all", "cache": tmp_path / "cache"}
    first = am.scan(path, **options)
    kept = about.read_bytes()
    if damage == "another file":
        (tmp_path / "cache" / "other.npy").touch()
    elif damage == "counts":
        about.write_text(about.read_text().replace('"most": ', '"most": -'))
    elif damage in FIELDS:
        about.write_text(damage)
    for block in sorted((tmp_path / "cache").rglob("*.[np]*")) if damage in BLOCKS else ():
        whole = block.read_bytes()
        block.unlink()
        if damage == "cut":
            block.write_bytes(whole[:2])
        elif damage == "a folder":
            block.mkdir()
        elif damage == "a pipe":
            os.mkfifo(block)
        elif damage == "overwritten":
            middle = len(whole) // 2
            block.write_bytes(whole[:middle] + b"\xff" * 20 + whole[middle + 20 :])
    again = am.scan(path, **options)
    assert repr(again) == repr(first)
    assert again.to_annotations().fingerprint == first.to_annotations().fingerprint
    assert about.read_bytes() == kept


@pytest.mark.parametrize("linked", [False, True])
def test_a_cache_that_is_no_folder_stays(tmp_path, linked):
    path, cache = tmp_path / "votes.csv", tmp_path / "cache"
    path.write_text(table(400).to_csv(index=False))
    if linked:  # to itself
        cache.symlink_to(cache)
    else:
        cache.write_text("mine")
    with pytest.raises(OutputError, match="this is a file"):
        am.scan(path, repeats="all", cache=cache)
    assert cache.is_symlink() or cache.read_text() == "mine"
    assert sorted(tmp_path.iterdir()) == [cache, path]


def append(path: Path) -> None:
    with path.open("a") as file:
        file.write("t1,new,no,yes\n")


def cut(path: Path) -> None:
    os.truncate(path, 1001)


def overwrite(path: Path) -> None:
    """Change a byte, and leave the size and the time as they were."""
    about, whole = path.stat(), path.read_bytes()
    middle = whole.rindex(b"no", 0, len(whole) // 2)
    path.write_bytes(whole[:middle] + b"ye" + whole[middle + 2 :])
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))


def remove(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize("change", [append, cut, overwrite, remove])
@pytest.mark.parametrize("late", [False, True])
def test_labels_that_change_while_they_are_read_are_refused(tmp_path, monkeypatch, change, late):
    path = tmp_path / "votes.csv"
    path.write_text(table(40_000).to_csv(index=False))
    read = scanning._read

    def changing(request, folder):
        if late:
            found = read(request, folder)
        change(path)
        return found if late else read(request, folder)

    monkeypatch.setattr(scanning, "_read", changing)
    reason = "No such file" if change is remove else "changed while they were read"
    with pytest.raises(am.errors.AnnotationError, match=reason):
        am.scan(path, repeats="all", cache=tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("limit", ["memory", "disk"])
def test_a_lack_of_room_is_one_sentence_and_leaves_nothing(tmp_path, monkeypatch, limit):
    path = tmp_path / "votes.csv"
    path.write_text(table(20_000).to_csv(index=False))
    if limit == "memory":
        monkeypatch.setattr(rows, "MEMORY", "1MB")
        expected = pytest.raises(OutputError, match=r"cannot be sorted(.|\n)*Free memory")
    else:
        resource = pytest.importorskip("resource")
        monkeypatch.setattr(rows, "MEMORY", "24MB")
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
        expected = pytest.raises(OSError, match=r"sorted|large")
    try:
        with expected:
            am.scan(path, repeats="all", cache=tmp_path / "cache")
    finally:
        if limit == "disk":
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [p.name for p in tmp_path.iterdir()] == ["votes.csv"]


@pytest.mark.parametrize("stage", ["reading", "sorting"])
def test_an_interrupted_scan_ends_at_once_and_leaves_nothing(tmp_path, monkeypatch, stage):
    """Ctrl-C is the same in a query, which runs outside Python, as anywhere else."""
    path = tmp_path / "votes.csv"
    path.write_text(table(400).to_csv(index=False))
    run, slow = rows.CodedRows._run, "create table t as select count(*) from range(100000000000)"

    def stopped(self: rows.CodedRows, query: str) -> None:
        if query.startswith("insert into rows" if stage == "reading" else "\ncreate table names"):
            Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
            run(self, slow)
        run(self, query)

    monkeypatch.setattr(rows.CodedRows, "_run", stopped)
    began = time.process_time()
    with pytest.raises(KeyboardInterrupt):
        am.scan(path, repeats="all", cache=tmp_path / "cache")
    assert time.process_time() - began < 5  # an interrupt that DuckDB had to notice took ten
    assert [p.name for p in tmp_path.iterdir()] == ["votes.csv"]


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="no time of the last change of any kind")
def test_a_cache_is_not_used_for_labels_that_changed_behind_their_time(tmp_path):
    path, options = tmp_path / "votes.csv", {"repeats": "all", "cache": tmp_path / "cache"}
    path.write_text(table(40_000).to_csv(index=False))
    first = am.scan(path, **options)
    overwrite(path)
    assert am.scan(path, **options).fingerprint != first.fingerprint
