"""Files of fits that were damaged or crafted are refused in words, and read no other file."""

import errno
import io
import json
import shutil
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import annomodels as am
from annomodels.errors import AnnotationError
from annomodels.fitting.load import require_plain
from annomodels.io.sealed import MARK, SEAL, digest_of, write_tree

pytestmark = pytest.mark.slow

SECRET = "root:x:0:0:not of this fit" * 40


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("fits")
    rng = np.random.default_rng(1)
    rows = [(i, j, int(rng.random() < 0.7) + i % 2) for i in range(12) for j in range(4)]
    data = am.Annotations.from_records(rows, truth={0: 1, 3: 2})
    few: dict[str, Any] = {"chains": 2, "draws": 10, "warmup": 10, "seed": 1, "extend": False}
    return {
        name: am.fit(data, name, threads=1, **few).save(folder / f"{name}.nc")
        for name in ("hierarchical", "stack")
    }


def resealed(path: Path) -> None:
    """Give a file the seal that it would have, had it been written so."""
    with path.open("r+b") as file:
        size = file.seek(0, io.SEEK_END)
        seal = MARK + digest_of(file, size)
        file.seek(0, io.SEEK_END)
        file.write(seal)


def craft(path: Path, change: Callable[[h5py.File], Any]) -> None:
    """Change a file, and give it the seal that it would have."""
    with h5py.File(path, "r+") as file:
        change(file)
    while AFTER:
        with path.open("r+b") as whole:
            place, values = AFTER.pop()
            whole.seek(place)
            whole.write(values)
    resealed(path)


def test_a_fit_of_another_version_that_is_not_read_names_the_version(files, tmp_path) -> None:
    tree = am.load(files["stack"]).tree.copy()
    tree["stack"].dataset = tree["stack"].to_dataset().rename(log_mode="heft")
    tree.attrs["annomodels"] = "0.0.7"
    write_tree(tree, tmp_path / "old.nc")
    with pytest.raises(
        AnnotationError, match=r"Version 0\.0\.7 of annomodels wrote this fit"
    ) as told:
        am.load(tmp_path / "old.nc")
    assert "Fit the labels again" in told.value.problems[0].remedy


def replaced(file: h5py.File, name: str, values: Any) -> None:
    del file[name]
    file[name] = values


def attribute(file: h5py.File, group: str, name: str, change: Callable[[Any], Any]) -> None:
    file[group].attrs[name] = change(file[group].attrs[name])


def as_json(change: Callable[[Any], Any]) -> Callable[[Any], str]:
    return lambda text: json.dumps(change(json.loads(text)))


def external(file: h5py.File, name: str) -> None:
    """Put a data set in place whose bytes are those of another file."""
    shape, kind = file[name].shape, file[name].dtype
    where = [(str(Path(file.filename).parent / "secret"), 0, h5py.h5f.UNLIMITED)]
    del file[name]
    file.create_dataset(name, shape, kind, external=where)


def virtual(file: h5py.File, name: str) -> None:
    shape, kind = file[name].shape, file[name].dtype
    layout = h5py.VirtualLayout(shape=shape, dtype=kind)
    layout[:] = h5py.VirtualSource("secret", "x", shape=shape)
    del file[name]
    file.create_virtual_dataset(name, layout)


def bomb(file: h5py.File) -> None:
    file.create_dataset("truth/more", (2**34,), "f8", chunks=(2**20,), compression="gzip")


def chunk_bomb(file: h5py.File) -> None:
    """Put few values into a chunk that is large."""
    how = {"chunks": (2**24,), "maxshape": (None,), "compression": "gzip"}
    values = file.create_dataset("truth/more", (10,), "f8", **how)
    values.id.write_direct_chunk((0,), zlib.compress(bytes(2**27)))


def of_strings(file: h5py.File, **how: Any) -> None:
    """Let all of many texts be one."""
    texts = file.create_dataset("truth/more", (5_000,), h5py.string_dtype(), **how)
    texts[0] = "A" * 60_000
    file.flush()
    if how:
        mask, raw = texts.id.read_direct_chunk((0,))
        one = zlib.decompress(raw)[:16]
        texts.id.write_direct_chunk((0,), zlib.compress(one * 5_000), mask)
        return
    place, path = texts.id.get_offset(), file.filename
    with open(path, "rb") as whole:
        whole.seek(place)
        one = whole.read(16)
    AFTER.append((place, one * 5_000))


AFTER: list[tuple[int, bytes]] = []  # bytes to put into a crafted file once it is closed


def nested(file: h5py.File) -> None:
    group = file["truth"]
    for _ in range(500):
        group = group.create_group("g")


def data(**fields: Any) -> Callable[[h5py.File], Any]:
    return lambda f: attribute(f, "observed_data", "data", as_json(lambda d: d | fields))


CRAFTED: dict[str, Callable[[h5py.File], Any]] = {
    "external storage": lambda f: external(f, "truth/p_truth"),
    "virtual": lambda f: virtual(f, "truth/p_truth"),
    "external link": lambda f: replaced(f, "truth", h5py.ExternalLink("secret", "/truth")),
    "soft link": lambda f: replaced(f, "truth", h5py.SoftLink("/posterior")),
    "soft loop": lambda f: replaced(f, "truth", h5py.SoftLink("/truth")),
    "hard loop": lambda f: f.__setitem__("truth/loop", f["truth"]),
    "huge": bomb,
    "a huge chunk": chunk_bomb,
    "one packed text, many times": lambda f: of_strings(f, chunks=(5_000,), compression="gzip"),
    "one text, many times": of_strings,
    "groups in groups": nested,
    "many groups": lambda f: [f.create_group(f"g{n}") for n in range(2_500)],
    "a group of no fit": lambda f: f.create_group("more"),
    "many attributes": lambda f: [f["truth"].attrs.create(f"x{n}", n) for n in range(250)],
    "error below 0": lambda f: f["truth/p_truth_mcse"].__setitem__((0, 0), -5.0),
    "error of NaN": lambda f: f["truth/p_truth_mcse"].__setitem__((0, 0), np.nan),
    "error too large": lambda f: f["truth/p_truth_mcse"].__setitem__((0, 0), 1e9),
    "no warm-up": lambda f: f.attrs.__delitem__("warmup"),
    "skips are a list": data(skips=[]),
    "skips are nothing": data(skips=None),
    "skips are a set": data(skips={"set": [1]}),
    "declared is a number": data(declared=3),
    "scale is a list": data(scale=["nominal"]),
    "groups are a text": data(groups="abc"),
    "names are nothing": data(items=None),
    "named type": lambda f: f.__setitem__("truth/kind", np.dtype("f8")),
    "model is a list": lambda f: attribute(f, "/", "model", lambda _: "[1, 2]"),
    "model is unknown": lambda f: attribute(f, "/", "model", lambda _: '{"name": "x"}'),
    "model with strange priors": lambda f: attribute(
        f, "/", "model", as_json(lambda m: m | {"priors": {"prevalence": 3}})
    ),
    "no posterior": lambda f: f.__delitem__("posterior"),
    "no statistics": lambda f: f.__delitem__("sample_stats"),
    "no p_truth": lambda f: f.__delitem__("truth/p_truth"),
    "no confusion": lambda f: f.__delitem__("posterior/confusion"),
    "no attribute": lambda f: f.attrs.__delitem__("engine"),
    "seed is a text": lambda f: f.attrs.__setitem__("seed", "one"),
    "census is of numbers": lambda f: f.attrs.__setitem__("census", "[1, 2]"),
    "p of 7": lambda f: f["truth/p_truth"].__setitem__((0, 0), 7.0),
    "p of NaN": lambda f: f["truth/p_truth"].__setitem__((0, 0), np.nan),
    "p does not sum to 1": lambda f: f["truth/p_truth"].__setitem__((0, 0), 0.4321),
    "confusion below 0": lambda f: f["posterior/confusion"].__setitem__((0, 0, 0, 0, 0), -1.0),
    "prevalence is infinite": lambda f: f["posterior/prevalence"].__setitem__((0, 0, 0), np.inf),
    "wrong shape": lambda f: replaced(f, "truth/p_truth", np.full((2, 2), 0.5)),
    "p is text": lambda f: replaced(f, "truth/conditional_entropy", np.array([b"x"] * 12)),
    "item out of range": lambda f: f["observed_data/item"].__setitem__(-1, 99),
    "coder out of range": lambda f: f["observed_data/coder"].__setitem__(0, -3),
    "label out of range": lambda f: f["observed_data/label"].__setitem__(0, 99),
    "gold out of range": lambda f: f["observed_data/gold"].__setitem__(0, 99),
    "items without order": lambda f: f["observed_data/item"].__setitem__(0, 5),
    "data of no kind": lambda f: attribute(
        f, "observed_data", "data", as_json(lambda d: d | {"kind": "File"})
    ),
    "labels in a list": lambda f: attribute(
        f, "observed_data", "data", as_json(lambda d: d | {"labels": [[1], [2], [3]]})
    ),
    "one name for two": lambda f: attribute(
        f, "observed_data", "data", as_json(lambda d: d | {"coders": [1, 1, 2, 3]})
    ),
    "other names": lambda f: attribute(
        f, "observed_data", "data", as_json(lambda d: d | {"coders": [9, 1, 2, 3]})
    ),
}
OF_STACK: dict[str, Callable[[h5py.File], Any]] = {
    "no mode": lambda f: f.__delitem__("stack/log_mode"),
    "mixture above 0": lambda f: f["stack/log_mixture"].__setitem__((0, 0), 3.0),
    "mode above 0": lambda f: f["stack/log_mode"].__setitem__((0, 0), 3.0),
}


@pytest.mark.parametrize("case", [*CRAFTED, *OF_STACK])
def test_crafted_fits_are_refused_and_read_nothing_else(case, files, tmp_path, capsys):
    from annomodels.cli.main import main

    change = {**CRAFTED, **OF_STACK}[case]
    path = tmp_path / "fit.nc"
    shutil.copy(files["stack" if case in OF_STACK else "hierarchical"], path)
    (tmp_path / "secret").write_text(SECRET)
    craft(path, change)
    with pytest.raises(am.errors.AnnotationError, match="not a fit") as caught:
        am.load(path)
    assert "Fit again" in caught.value.problems[0].remedy
    assert main(["gold", str(path)]) == 3
    assert "not a fit" in capsys.readouterr().err


WEIRD = [5, -1, float("nan"), "[]", "{}", "null", "", "x", "[[1, 2], [3]]", "[{}]", '["a"]']


@pytest.mark.parametrize(
    ("command", "step"),
    [
        ("gold", 8),
        ("report", 20),
        pytest.param(
            "gold", 1, marks=pytest.mark.full("Every case; reduced runs have one in eight.")
        ),
    ],
)
def test_whatever_a_crafted_fit_says_no_command_fails_inside(
    command, step, files, tmp_path, capsys
):
    """Every attribute with values of other kinds, and every variable left out, or some of them."""
    from annomodels.cli.main import main

    with h5py.File(files["stack"]) as file:
        parts: list[str] = []
        file.visit(parts.append)
        cases: list[Callable[[h5py.File], Any]] = [
            lambda f, name=name, value=value: f.attrs.__setitem__(name, value)
            for n, name in enumerate(file.attrs)
            for value in WEIRD[n % 3 :: 3]
        ]
    cases += [lambda f, name=name: f.__delitem__(name) for name in parts]
    path, more = tmp_path / "fit.nc", ["-o", str(tmp_path / "r.html"), "--force"]
    for n, change in enumerate(cases[::step]):
        shutil.copy(files["stack"], path)
        craft(path, change)
        try:
            am.load(path)
        except AnnotationError:
            continue  # commands say the same
        code = main([command, str(path), *(more if command == "report" else [])])
        assert code in (0, 2, 3), (n, capsys.readouterr().err)
        capsys.readouterr()


def test_a_fit_of_a_newer_version_says_what_to_do(files, tmp_path, capsys):
    from annomodels.cli.main import main

    path = tmp_path / "fit.nc"
    for schema, told in (("2", "Update annomodels"), ("0", "Fit again")):
        shutil.copy(files["hierarchical"], path)
        with h5py.File(path, "r+") as file:
            file.attrs["schema"] = schema
        resealed(path)
        assert main(["gold", str(path)]) == 3
        said = capsys.readouterr().err
        assert "Another version of annomodels" in said
        assert told in said


def test_files_without_a_seal_are_refused(files, tmp_path):
    """Those of earlier versions, and those that another library wrote again."""
    path = tmp_path / "fit.nc"
    path.write_bytes(files["stack"].read_bytes()[:-SEAL])
    with pytest.raises(am.errors.AnnotationError, match="an earlier version wrote it"):
        am.load(path)


def test_others_can_read_a_sealed_file(files):
    import xarray as xr

    tree = xr.open_datatree(files["stack"], engine="h5netcdf")
    assert tree["truth"]["p_truth"].shape == (12, 3)
    tree.close()


def garbled(whole: bytes, rng: np.random.Generator) -> bytes:
    """Bytes of a file after an accident: overwritten, cut out, put in twice, zeroed, cut off."""
    some = bytearray(whole)
    at, size = int(rng.integers(len(some))), int(rng.integers(1, 2000))
    match int(rng.integers(6)):
        case 0:
            for place in rng.integers(len(some), size=int(rng.integers(1, 20))):
                some[place] ^= int(rng.integers(1, 256))
        case 1:
            some[at : at + size] = rng.bytes(size)
        case 2:
            del some[at : at + size]
        case 3:
            some[at:at] = some[at : at + size]
        case 4:
            some[at : at + size] = bytes(len(some[at : at + size]))
        case _:
            del some[at:]
    return bytes(some)


@pytest.mark.parametrize(
    "count", [200, pytest.param(3000, marks=[pytest.mark.slow, pytest.mark.calibration])]
)
def test_garbled_fits_are_refused(count, files, tmp_path):
    rng = np.random.default_rng(count)
    wholes = [path.read_bytes() for path in files.values()]
    path = tmp_path / "fit.nc"
    for n in range(count):
        whole = wholes[n % 2]
        path.write_bytes(damaged := garbled(whole, rng))
        try:
            am.load(path)
        except am.errors.AnnotationError:
            continue
        assert damaged == whole


UNREAD = {
    "huge": "far larger than its file",
    "a huge chunk": "far larger than its file",
    "one packed text, many times": "texts are compressed",
    "one text, many times": "refers to one text many times",
    "groups in groups": "a group that no fit has",
    "many groups": "more parts than a fit has",
    "many attributes": "more attributes than a fit writes",
}


@pytest.mark.parametrize("case", UNREAD)
def test_bombs_are_refused_before_they_are_read(case, files, tmp_path):
    path = tmp_path / "fit.nc"
    shutil.copy(files["hierarchical"], path)
    craft(path, CRAFTED[case])
    with path.open("rb") as opened, pytest.raises(ValueError, match=UNREAD[case]):
        require_plain(opened)


# -- disks --------------------------------------------------------------------------------------

SAVE = """
import sys
import annomodels as am
fit = am.load(sys.argv[1])
try:
    fit.save(sys.argv[2], force=True)
except am.errors.AnnomodelsError as error:
    print(str(error).splitlines()[0])
"""


def test_a_full_disk_is_a_sentence_and_no_crash(files, small_disk):
    words = [sys.executable, "-c", SAVE, str(files["stack"]), str(small_disk / "fit.nc")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "The disk is full.\n"
    assert list(small_disk.iterdir()) == []


@pytest.mark.parametrize("room", [0, 1, 100, 5_000, 20_000, 40_000])
def test_the_library_never_meets_the_error_of_a_disk(room, files, tmp_path, monkeypatch):
    """Wherever the disk ends, the file is let go of in order, and the error is told."""
    from annomodels.io import sealed

    class Full(io.FileIO):
        def write(self, data: Any) -> int:
            left = room - self.tell()
            if left <= 0:
                raise OSError(errno.ENOSPC, "No space left on device")
            return super().write(memoryview(data)[:left]) or 0

    tree = am.load(files["stack"]).tree
    before = h5py.h5f.get_obj_count(h5py.h5f.OBJ_ALL, h5py.h5f.OBJ_FILE)  # of other tests
    monkeypatch.setattr(Path, "open", lambda path, *_, **__: Full(path, "w+b"))
    with pytest.raises(OSError, match="No space left"):
        sealed.write_tree(tree, tmp_path / "fit.nc")
    assert h5py.h5f.get_obj_count(h5py.h5f.OBJ_ALL, h5py.h5f.OBJ_FILE) <= before
