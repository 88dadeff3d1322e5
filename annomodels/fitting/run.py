"""Fit of a model to data of any kind, and its engines."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

from annomodels.data.annotations import Annotations, as_annotations
from annomodels.data.candidates import Candidates
from annomodels.data.schema import RawResult, conform
from annomodels.engines.settings import MEMORY, Interrupts, Settings
from annomodels.errors import NotApplicable, Option, Verb
from annomodels.fitting.fit import Fit
from annomodels.io.span_builder import Spans
from annomodels.models.answering import answers_of, result_draws
from annomodels.models.base import Model, is_proper
from annomodels.models.catalog import is_stack, require_suited, resolve, streamable, with_no_answers
from annomodels.models.encoded import require_learnable
from annomodels.progress import Progress, reporting
from annomodels.spans.fit import SpanFit, fit_spans
from annomodels.spans.model import SpanModel

if TYPE_CHECKING:
    from annomodels.scale.scanned import Scanned

# cells of all confusion matrices, and labels per row, that decide the default model
MOST_CELLS, LABELS_A_ROW = 1_000_000, 4
# factor by which chains are shorter for matrices so large that few draws are kept
SHORTER = 8
# most classes to check for swaps: an assignment has cubic cost
MOST_RELABELLED = 100
# stages from which an interrupt keeps the draws of a fit, or P(truth) of a stack
LAST_STAGES = ("items", "coders")
ENGINES = ("gibbs", "nuts", "em")
# options that a fit of spans knows
OF_SPANS = ("chains", "draws", "warmup", "seed", "threads")


@overload
def fit(data: Spans, model: SpanModel | None = None, **options: Any) -> SpanFit: ...


@overload
def fit(
    data: Annotations | Scanned | Candidates, model: str | Model | None = None, **options: Any
) -> Fit: ...


def fit(  # type: ignore[misc]  # the options of both are those that are named here
    data: Annotations | Scanned | Candidates | Spans,
    model: str | Model | SpanModel | None = None,
    *,
    engine: str = "auto",
    chains: int = 4,
    draws: int = 1000,
    warmup: int = 500,
    seed: int | None = None,
    starts: int | None = None,
    relabel: bool = True,
    extend: bool = True,
    target_accept: float = 0.9,
    time_limit: float | None = None,
    threads: int | None = None,
    partitions: int | None = None,
    memory: int = MEMORY,
    executor: object = None,
    progress: Progress | None = None,
) -> Fit | SpanFit:
    """Fit a model of annotation.

    Parameters
    ----------
    data
        Annotations; a scan of them (:func:`annomodels.scan`), fitted block by block; a path, which
        is read, or scanned if its tables have 20 million rows; mentions with candidates for their
        antecedents (:func:`annomodels.coref.pairs`); or spans (:func:`annomodels.read_spans`),
        whose result is a :class:`annomodels.spans.fit.SpanFit`.
    model
        A model or its name. The default is ``stack``, a model of the coders and the votes,
        calibrated on public data sets; or ``hierarchical`` or ``pooled`` if a stack does not
        apply, see :func:`default_model`. Others are ``dawid-skene``, ``class-conditional``,
        ``one-coin``, ``mace``, ``pooled``, ``logit-normal``, ``spammers`` and, with states of
        items, ``guess-level``, ``consensus``, ``easy-hard``, ``ambiguous``, ``readings``; see the
        docs on models. For mentions, use ``pairs`` (the default) or ``single``.
    engine
        Inference engine; em is a first look without intervals. Others: auto, gibbs and nuts.
    chains
        Number of chains.
    draws
        Draws kept of each chain.
    warmup
        Iterations of each chain before its draws.
    seed
        Random seed [default: a new one, which the result keeps].
    starts
        Number of starting points of em [default: 10; 1 for a scan]. The first is at the votes.
    relabel
        Reorder classes that a chain has swapped. Disabled with more than 100 classes.
    extend
        Continue sampling, thinned, up to 16 times as long if the chains have not mixed. Only gibbs
        does so, and not for mentions.
    target_accept
        Acceptance rate that ``nuts`` adapts its steps to.
    time_limit
        Seconds after which sampling stops; what was sampled is kept.
    threads
        Number of threads; all cores by default.
    partitions
        Number of parts of a pass over the items; the draws stay the same.
    memory
        Memory for the draws in bytes; draws of large models are thinned to fit.
    executor
        Where passes over the items run: "threads" or a Dask client [default: this process].
    progress
        Called as ``progress(stage, share_done, message)``; notebooks show a bar without it.

    Returns
    -------
    Fit

    Raises
    ------
    AnnotationError
        If the data have only one label or one coder, so that nothing can be estimated.
    NotApplicable
        If the engine does not support the model or an option.
    EngineError
        If inference failed.

    Examples
    --------
    >>> import annomodels as am
    >>> rows = [(i, j, int(i % 2 == 0 or j == i)) for i in range(6) for j in range(3)]
    >>> result = am.fit(am.Annotations.from_records(rows), chains=2, draws=200, seed=1)
    >>> result.tree["truth"]["p_truth"].shape
    (6, 2)
    """
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        raise NotApplicable(
            "NUMBA_DISABLE_JIT is set in the environment, and a fit without the compiler takes "
            "hours. Run it without: unset NUMBA_DISABLE_JIT"
        )
    settings = Settings(
        chains=chains, draws=draws, warmup=warmup,
        seed=secrets.randbits(31) if seed is None else seed,
        starts=starts, relabel=relabel, extend=extend,
        target_accept=target_accept, time_limit=time_limit, threads=threads,
        partitions=partitions, memory=memory, executor=executor,
    )  # fmt: skip
    if isinstance(data, Spans):
        if engine not in ("auto", "gibbs") or not isinstance(model, SpanModel | None):
            raise NotApplicable(
                "Spans have one model, sampled by gibbs: leave out model and engine."
            )
        settings.require_only(OF_SPANS, "Spans")
        how = {name: getattr(settings, name) for name in OF_SPANS}
        return fit_spans(data, model, **how, progress=progress)
    if isinstance(model, SpanModel):
        raise NotApplicable("This is a model of spans, but the data are not spans.")
    read = _read(data)
    if model is None:
        model = default_model(read, engine, executor=executor, partitions=partitions)
        if resolve(model).shared:
            draws, warmup = -(-draws // SHORTER), -(-warmup // SHORTER)
    resolved = resolve(model)
    name = choose(resolved, engine)
    settings = replace(settings, draws=draws, warmup=warmup, relabel=relabel and _few_labels(read))
    settings.require_known(name)
    named: Any = read
    if isinstance(read, Candidates):
        _require_links(resolved)
        silent = False
    elif isinstance(read, Annotations):
        require_suited(resolved, read)
        silent = _silent(read)
    else:
        _require_streamable(resolved, name)
        require_learnable(read.labels, read.n_coders, read.shared_items > 0, read.source)
        named = read.shell()
        silent = _silent(read)
    fitted = resolved.with_data(named)
    # a stack ignores answers of "don't know"
    whole = silent and not is_stack(fitted)
    fitted = with_no_answers(fitted, named) if whole else answers_of(fitted)
    run = runner(name, "stack" if is_stack(fitted) else fitted.truth)
    Interrupts.forget()
    late = Interrupts(False)

    def told(stage: str, share: float, message: str = "") -> None:
        if stage in LAST_STAGES:
            late.start()
        tell(stage, share, message)

    with late:
        with reporting(progress) as tell:
            result = run(fitted, read, replace(settings, progress=told))
        late.start()  # from here on, an interrupt keeps the draws
        found = _fit_of(read, named, fitted, settings, result)
    if late.noted:
        found.tree.attrs["stopped"] = "interrupted"
    Interrupts.pass_on()
    return found


def _read(data: object) -> Annotations | Scanned | Candidates:
    """Return labels of any kind; a path is scanned if its tables are large."""
    if isinstance(data, (str, os.PathLike)):
        from annomodels.scale.files import is_large
        from annomodels.scale.scanning import scan

        if is_large(data):
            return scan(data)
    read: Annotations | Candidates = as_annotations(data)
    return read


def _fit_of(
    data: Annotations | Scanned | Candidates,
    named: Annotations | Candidates,
    fitted: Model,
    settings: Settings,
    result: RawResult,
) -> Fit:
    result.posterior, fitted = result_draws(fitted, result.posterior), answers_of(fitted)
    n_chains, n_draws = result.lp.shape
    result.attrs = {
        "chains": n_chains,
        "draws": n_draws,
        "warmup": settings.warmup,
        "thin": 1,
        "swapped_chains": [],
        "relabelled_share": 0.0,
        "rhat_max": float("nan"),
        "ess_min": float("nan"),
        "command": "",
        **result.attrs,
        "seed": settings.seed,
        "data_fingerprint": data.fingerprint,
    }
    written = result.on_disk
    if written is None:
        return Fit(data, fitted, conform(result, named, fitted))
    result.attrs |= {"expected_errors": written.expected_errors, "blocks": written.blocks}
    tree = conform(result, named, fitted)
    return Fit(data, fitted, tree, written.folder, written.keeper)


def default_model(
    data: Annotations | Scanned | Candidates,
    engine: str = "auto",
    *,
    executor: object = None,
    partitions: int | None = None,
) -> str:
    """Return the name of the default model of :func:`fit`.

    For labels it is ``stack``, also for a scan and with an executor. It is ``hierarchical`` for
    NUTS or EM, if coders answered "don't know", if draws of a stack would take most of an hour
    (more than 70 million labels with two classes, fewer with more classes), and if the confusion
    matrices have more than a million cells. It is ``pooled``, with one matrix and chains of an
    eighth of the length, if labels in memory are too few for the rows of such matrices. For
    mentions it is ``pairs``.
    """
    if isinstance(data, Candidates):
        return "pairs"
    if engine not in ("auto", "gibbs"):
        return "hierarchical"
    from annomodels.data.alike import n_distinct
    from annomodels.models.mixtures.stack import Stack

    rows = data.n_coders * data.n_labels
    if rows * data.n_labels > MOST_CELLS:
        here = isinstance(data, Annotations) and executor is None and partitions is None
        return "pooled" if here and len(data) < LABELS_A_ROW * rows else "hierarchical"
    if _silent(data) or not Stack().affordable(len(data), n_distinct(data), data.n_labels):
        return "hierarchical"
    return "stack"


def _silent(data: Annotations | Scanned) -> bool:
    """Return True if coders answered "don't know"."""
    if isinstance(data, Annotations):
        return data.unanswered is not None and len(data.unanswered) > 0
    return bool(data.unanswered.any())


def _few_labels(data: Annotations | Scanned | Candidates) -> bool:
    return isinstance(data, Candidates) or len(data.labels) <= MOST_RELABELLED


def _require_links(model: Model) -> None:
    if model.truth != "link":
        raise NotApplicable(
            f"The {model.title} model describes labels of items, not mentions and their "
            "antecedents. Use pairs or single."
        )


def _require_streamable(model: Model, engine: str) -> None:
    """Refuse models with states of items, and engines that cannot stream."""
    if not streamable(model) or engine not in ("gibbs", "em"):
        raise NotApplicable(
            f"The {model.title} model with the engine {engine!r} needs the labels in memory. Use a "
            "stack, or a model from pooled to hierarchical with gibbs or em, or fit "
            f"{Verb('am.scan(...).to_annotations()', 'annomodels run without --stream')}."
        )


def choose(model: Model, engine: str = "auto") -> str:
    """Return the engine to use: Gibbs if the model is conjugate given the truth, else NUTS.

    >>> from annomodels.models import resolve
    >>> choose(resolve("hierarchical")), choose(resolve("logit-normal"))
    ('gibbs', 'nuts')
    """
    if engine == "auto":
        return model.engines[0]
    if engine not in ENGINES:
        raise NotApplicable(f"Unknown engine {engine!r}. Use auto, {', '.join(ENGINES)}.")
    if engine not in model.engines:
        raise NotApplicable(
            f"The engine {engine!r} does not support the {model.title} model. "
            f"Use {' or '.join(model.engines)}."
        )
    if engine != "em" and not is_proper(model):
        raise NotApplicable(
            "A model without proper priors has no posterior to sample. "
            f"Use {Option('engine', 'em')}, or give it priors."
        )
    return engine


def runner(engine: str, truth: str = "class") -> Callable[..., Any]:
    """Return the function of an engine for a type of truth, or for a stack."""
    run: Callable[..., Any]
    match engine, truth:
        case "gibbs", "number":
            from annomodels.engines.interval import run
        case "gibbs", "link":
            from annomodels.engines.links import run_gibbs as run
        case "gibbs", "stack":
            from annomodels.engines.stacking import run
        case "gibbs", _:
            from annomodels.engines.gibbs import run
        case "nuts", "number":
            from annomodels.engines.interval_nuts import run
        case "nuts", "link":
            from annomodels.engines.links import run_nuts as run
        case "nuts", _:
            from annomodels.engines.pymc.nuts import run
        case _:
            from annomodels.engines.em import run
    return run
