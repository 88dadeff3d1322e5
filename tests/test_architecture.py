"""The house stays as docs/architecture.md draws it: layers, light imports, small files."""

import ast
import importlib.util
import inspect
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import TopologicalSorter
from itertools import chain
from pathlib import Path
from string import Formatter

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "annomodels"
FILES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
    if path.name != "_version.py"  # written by the build
}
# functions with `Any` in their signature: lower it when you can
MOST_UNTYPED = 293
BUDGET = r"^\| `(\w+)/?` \| ([\d,]+) \|$"
HEAVY = {"pymc", "pytensor", "nutpie", "numba", "matplotlib", "dask", "jax", "numpyro"}

# The one arrow that points upward, inside a function: a constructor that reads a data frame.
EXCEPTIONS = {
    ("annomodels.data.annotations", "annomodels.io.reading"),
    ("annomodels.data.annotations", "annomodels.io.mappings"),
}


@cache
def trees() -> dict[str, ast.Module]:
    """Syntax trees of the files; parsed by the first test that asks, not by all who collect."""
    return {module: ast.parse(path.read_text("utf-8")) for module, path in FILES.items()}


@cache
def nodes() -> dict[str, list[ast.AST]]:
    """All nodes of the trees; a walk takes longer than most tests."""
    return {module: list(ast.walk(tree)) for module, tree in trees().items()}


def part_of(module: str) -> str:
    """Folder or file right below annomodels/; empty for the package itself."""
    return [*module.split("."), ""][1]


def page_table() -> dict[str, tuple[str, ...]]:
    """Part -> parts it may import, from the table of docs/architecture.md."""
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)(?:\.py|/)` \|.*\|([^|]*)\|$", page, flags=re.MULTILINE)
    return {part: tuple(re.findall(r"`(\w+)`", allowed)) for part, allowed in rows}


def is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def run_on_import(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not is_for_types(node):
            yield from run_on_import(node)


def imports(some: Iterable[ast.AST]) -> Iterator[str]:
    """Full names that nodes import."""
    for node in some:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"relative import in line {node.lineno}"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in FILES else str(node.module)


def looked_up(module: str) -> Iterator[str]:
    """Full names that a file loads by name: texts that say a module, where modules are loaded so.

    A text may be a whole name, or a place below the folder, such as ``hierarchical:Class``.
    """
    if "import_module" not in {n.attr for n in nodes()[module] if isinstance(n, ast.Attribute)}:
        return
    folder = module if FILES[module].stem == "__init__" else module.rpartition(".")[0]
    for text in texts(nodes()[module]):
        name = text.partition(":")[0]
        for full in (name, f"{folder}.{name}"):
            if full in FILES and full not in (folder, module):
                yield full


def texts(some: Iterable[ast.AST]) -> Iterator[str]:
    for node in some:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@cache
def graph() -> dict[str, set[str]]:
    """Files that each file needs, whenever it loads them."""
    return {
        module: {name for name in (*imports(inside), *looked_up(module)) if name in FILES}
        for module, inside in nodes().items()
        if module != "annomodels"
    }


def test_the_architecture_page_lists_every_part_of_the_package() -> None:
    assert set(page_table()) == {part_of(module) for module in FILES} - {""}


def test_the_page_lets_nothing_import_what_stands_below_it() -> None:
    order = list(page_table())
    for part, allowed in page_table().items():
        assert all(order.index(other) < order.index(part) for other in allowed), part


def test_a_file_imports_only_what_the_page_allows() -> None:
    table = page_table()
    assert not [
        (module, name)
        for module, names in graph().items()
        for name in names
        if part_of(name) not in {part_of(module), "", *table[part_of(module)]}
        and (module, name) not in EXCEPTIONS
    ]


def test_there_are_no_import_cycles() -> None:
    # A folder's __init__ says what the folder is; it may pass names of its own files on.
    needed = {
        module: {name for name in names if (module, name) not in EXCEPTIONS} - {"annomodels"}
        for module, names in graph().items()
    }
    TopologicalSorter(needed).prepare()


def test_heavy_packages_load_inside_functions() -> None:
    for module in graph():
        if part_of(module) == "kernels":
            continue
        loaded = set(imports(run_on_import(trees()[module])))
        tops = {name.split(".")[0] for name in loaded}
        assert not {top for top in tops if top in HEAVY or top.startswith("arviz")}, module
        assert not {name for name in loaded if part_of(name) == "kernels"}, module


def length(path: Path) -> int:
    return len(path.read_text("utf-8").splitlines())


def test_every_folder_stays_within_its_budget() -> None:
    """Lines per folder, from the table of docs/architecture.md: lower a number when you can."""
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    budget = {part: int(n.replace(",", "")) for part, n in re.findall(BUDGET, page, re.MULTILINE)}
    lines: Counter[str] = Counter()
    for path in (*FILES.values(), *PACKAGE.rglob("*.pyi")):
        folder = path.relative_to(PACKAGE).parts[0]
        lines[folder if path.parent != PACKAGE else "files"] += length(path)
    assert set(budget) == set(lines)
    assert not {part: (n, budget[part]) for part, n in lines.items() if n > budget[part]}


def untyped(some: Iterable[ast.AST]) -> Iterator[str]:
    for node in some:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            parts = (node.args, node.returns or ast.Pass())
            if any(isinstance(n, ast.Name) and n.id == "Any" for p in parts for n in ast.walk(p)):
                yield node.name


def test_few_functions_have_any_in_their_signature() -> None:
    assert sum(len(list(untyped(inside))) for inside in nodes().values()) <= MOST_UNTYPED


def test_a_file_is_no_longer_than_can_be_read() -> None:
    assert not {name: n for name, path in FILES.items() if (n := length(path)) > 700}


def bound(body: list[ast.stmt]) -> Iterator[str]:
    """Names that statements bind, those under an `if` or `try` left out: these are alternatives."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            if not any("overload" in ast.unparse(each) for each in node.decorator_list):
                yield node.name
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (
                n.id
                for t in targets
                for n in ast.walk(t)
                if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
            )


def test_what_benchmarks_and_documentation_import_exists() -> None:
    """No other test runs them as a whole, so a name that moves would be noticed late."""
    lost = []
    for path in [
        *ROOT.glob("benchmarks/*.py"),
        *ROOT.glob("docs/*.py"),
        *ROOT.glob("examples/*.py"),
    ]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("annomodels"):
                module = importlib.import_module(str(node.module))
                lost += [
                    (path.name, f"{node.module}.{each.name}")
                    for each in node.names
                    if not hasattr(module, each.name)
                    and importlib.util.find_spec(f"{node.module}.{each.name}") is None
                ]
    assert lost == []


def test_no_two_classes_have_one_name() -> None:
    places: dict[str, list[str]] = {}
    for module, tree in trees().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(module)
    assert not {name: found for name, found in places.items() if len(found) > 1}


def test_no_module_binds_a_name_twice() -> None:
    twice = {
        module: [name for name, n in Counter(bound(tree.body)).items() if n > 1]
        for module, tree in trees().items()
    }
    assert not {module: names for module, names in twice.items() if names}


def test_every_file_says_what_it_is_and_every_folder_states_its_law() -> None:
    assert not [module for module, tree in trees().items() if not ast.get_docstring(tree)]
    folders = [m for m, path in FILES.items() if path.stem == "__init__" and m != "annomodels"]
    assert not [m for m in folders if "import" not in (ast.get_docstring(trees()[m]) or "").lower()]


def test_names_use_the_words_of_the_package() -> None:
    everything = list(chain.from_iterable(nodes().values()))
    names = {n.name for n in everything if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    names |= {n.arg for n in everything if isinstance(n, ast.arg)}
    words = {word.lower() for name in names for word in re.findall(r"[A-Z]?[a-z]+", name)}
    assert not words & {"rater", "raters", "worker", "annotator", "annotators"}


# -- models declare their parameters, and say what they can do -----------------------------------

# what every model ends with, what samplers say of every draw, and what the posterior mean of an
# item's number is called too; everything else is known to the file of its model
COMMON = {"prevalence", "confusion", "log_likelihood", "truth_mean"}
ASKING = {"isinstance", "issubclass"}
# where a name that is an ordinary word too (accuracy, scale) would reach into draws
DRAWS = re.compile(r"posterior|tree|draws_of|population|held|arrays")


def declared_names() -> set[str]:
    from annomodels.models import MODELS, Answering, GroupedCoders, ScalarDifficulty, resolve
    from annomodels.priors import Beta

    models = [MODELS[name]() for name in MODELS]
    models += [GroupedCoders(members=(0, 1)), Answering()]
    models += [ScalarDifficulty(discrimination=0.5, guessing=Beta(1.0, 1.0))]
    models += [resolve("interval"), resolve("pairs"), resolve("single")]
    return {
        each.name
        for model in models
        for k in (2, 3)
        for each in (*model.parameters(k), *model.variables(k))
    }


def looks_into_draws(some: Iterable[ast.AST]) -> Iterator[str]:
    """Texts by which something is looked up in draws: as a key, with `in`, or as an argument."""
    for node in some:
        if isinstance(node, ast.Subscript):
            where, what = node.value, [node.slice]
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            where, what = node.comparators[0], [node.left]
        elif isinstance(node, ast.Call):
            where, what = node.func, node.args
        else:
            continue
        if DRAWS.search(ast.unparse(where)):
            yield from (key for part in what for key in texts(ast.walk(part)))


def test_no_parameter_of_a_model_is_named_outside_the_models() -> None:
    # A word of one part is refused where draws are looked into, a compound anywhere.
    names = declared_names() - COMMON
    found = []
    for module, inside in nodes().items():
        if part_of(module) in ("models", "kernels"):
            continue
        said = {text for text in texts(inside) if "_" in text} | set(looks_into_draws(inside))
        found += [(module, name) for name in sorted(said & names)]
    assert not found


def test_nothing_outside_the_models_asks_which_model_it_is() -> None:
    from annomodels.models import MODELS
    from annomodels.models.catalog import PLACES

    families = {"ConfusionModel", "ConjugateModel", "StateModel", "Model", *PLACES}
    found = []
    for module, inside in nodes().items():
        if part_of(module) == "models":
            continue
        if not [name for name in graph().get(module, ()) if part_of(name) == "models"]:
            continue  # an Ordinal of the coefficients is a distance
        for node in inside:
            if isinstance(node, ast.Call) and ast.unparse(node.func) in (
                "isinstance",
                "issubclass",
            ):
                asked = {n.id for n in ast.walk(node.args[1]) if isinstance(n, ast.Name)}
                found += [(module, name) for name in sorted(asked & families)]
            if isinstance(node, ast.Compare) and "model" in ast.unparse(node).lower():
                found += [
                    (module, name) for name in sorted(set(texts(ast.walk(node))) & set(MODELS))
                ]
    assert not found


MOST_ATTRIBUTES, MOST_METHODS = 8, 18


def test_a_model_has_few_attributes_and_methods() -> None:
    """What one caller needs, or one model can do, is a function or a protocol beside the class."""
    (model,) = [
        node
        for node in trees()["annomodels.models.base"].body
        if isinstance(node, ast.ClassDef) and node.name == "Model"
    ]
    named = [node for node in model.body if isinstance(node, ast.AnnAssign)]
    attributes = [
        name
        for node in named
        if "ClassVar" in ast.unparse(node.annotation)
        and not (name := ast.unparse(node.target)).startswith("__")
    ]
    methods = [node.name for node in model.body if isinstance(node, ast.FunctionDef)]
    assert len(attributes) <= MOST_ATTRIBUTES, attributes
    assert len(methods) <= MOST_METHODS, methods
    # nor does it inherit others
    assert [ast.unparse(base) for base in model.bases] == ["Html", "ABC"]


def modules_after(code: str) -> set[str]:
    """Top-level names in sys.modules after a fresh interpreter ran the code."""
    script = f"{code}\nimport sys; print(*{{name.split('.')[0] for name in sys.modules}})"
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return set(run.stdout.splitlines()[-1].split())


def test_importing_the_package_is_light() -> None:
    loaded = modules_after("import annomodels")
    assert not loaded & {*HEAVY, "arviz", "arviz_stats", "arviz_base", "numpy", "pandas", "xarray"}


COUNTING = """
import annomodels as am
from annomodels.cli.main import main
data = am.datasets.load("trains")
am.agreement(data), am.diagnose(data, draws=10), am.coref.agreement
main(["agree", "dataset:trains", "--by", "pair"])
"""


@pytest.mark.slow
def test_agreement_loads_no_models() -> None:
    heavy = {*HEAVY, "arviz", "arviz_stats", "arviz_base"} - {"dask"}  # xarray imports it
    assert not modules_after(COUNTING) & heavy


PUBLIC = {
    *("Aggregator", "Annotations", "Fit", "Questions", "Summary"),
    *("from_hf", "read", "read_questions", "read_spans"),
    *("scan", "write", "write_gold"),
    *("agreement", "breakdown", "diagnose", "compare", "fit", "load", "prior_from", "report"),
    *("advise", "audit", "design", "estimate", "simulate"),
    *("models", "priors", "coefficients", "coref", "datasets", "errors", "compat"),
}


def test_every_public_name_exists_and_is_described() -> None:
    import annomodels

    assert annomodels.__all__ == sorted(PUBLIC)
    assert not [name for name in annomodels.__all__ if not getattr(annomodels, name).__doc__]


BORDER = {"zipfile", "tarfile", "gzip", "bz2", "lzma", "zlib", "xml", "csv"}


def test_only_io_takes_what_comes_from_outside_apart() -> None:
    loaded = {
        module: {name.split(".")[0] for name in imports(inside)}
        for module, inside in nodes().items()
        # a plot as SVG is no stranger's: matplotlib drew it a moment before
        if part_of(module) != "io" and module != "annomodels.plots.style"
    }
    assert not {module: names & BORDER for module, names in loaded.items() if names & BORDER}


OPTION = re.compile(r"(?<![\w-])--[a-z]{2}[\w-]*")


def test_options_of_reading_are_named_as_data() -> None:
    """A front end cannot spell ``scale='ordinal'`` in a text; it can spell an ``Option``."""
    from annomodels.io.reading import read

    names = "|".join(set(inspect.signature(read).parameters) - {"data", "missing"})
    keyword = re.compile(rf"(?<![\w.({{])(?:{names})=(?:['\"\[]|\.\.\.|$)")
    raw = [
        (module, text)
        for module, inside in nodes().items()
        if part_of(module) in ("io", "data", "models", "auditing", "planning", "scale")
        for text in texts(inside)
        if keyword.search(text) and ">>>" not in text and "\n" not in text
    ]
    assert not raw, 'write {Option("scale", "ordinal")}'


def test_messages_name_options_as_python_does() -> None:
    """The command line spells them by its own options; commands to copy stand as they are."""
    spelled_twice = [
        (module, found[0], text)
        for module, inside in nodes().items()
        if part_of(module) not in ("cli", "plots", "reporting")  # the page is for both readers
        for text in texts(inside)
        if (found := OPTION.search(text))
        and found[0] != "--debug"
        and "annomodels " not in text[: found.start()]
        and "\n" not in text
    ]
    assert not spelled_twice, 'write scale="ordinal" or scale=, not --scale'


def said(folder: Path) -> Iterator[tuple[str, list[str], ast.Call]]:
    """Yield the calls of `say` with their place and code, or two of which they choose one."""
    for path in folder.rglob("*.py"):
        if path.parent != folder and path.with_name("messages.toml").exists():
            continue  # it has messages of its own
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(call, ast.Call) or ast.unparse(call.func) != "say" or not call.args:
                continue
            first = call.args[0]
            ways = (first.body, first.orelse) if isinstance(first, ast.IfExp) else (first,)
            if codes := [str(one.value) for one in ways if isinstance(one, ast.Constant)]:
                yield f"{path.name}:{call.lineno}", codes, call


@pytest.mark.parametrize("part", ["auditing", "coefficients", "planning", "reporting", "summaries"])
def test_every_message_that_is_said_exists_and_gets_its_values(part: str) -> None:
    messages = tomllib.loads((PACKAGE / part / "messages.toml").read_text("utf-8"))
    calls = list(said(PACKAGE / part))
    assert calls
    for place, codes, call in calls:
        needed = {name for code in codes for _, name, *_ in Formatter().parse(messages[code])}
        given = {word.arg for word in call.keywords if word.arg}
        spread = any(word.arg is None for word in call.keywords)
        assert given <= needed, (place, codes)
        assert spread or given == needed - {None}, (place, codes)
