"""Interfaces of other libraries: crowd-kit and scikit-learn, Hugging Face data sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from annomodels.data.annotations import Annotations
from annomodels.errors import NotApplicable
from annomodels.fitting.fit import Fit
from annomodels.fitting.run import fit

if TYPE_CHECKING:
    from annomodels.models.base import Model


ITEM, CODER, LABEL, GOLD = "task", "worker", "label", "agg_label"


def from_hf(dataset: Any, **reading: Any) -> Annotations:
    """Read a split of a Hugging Face data set.

    Class labels become their names, also inside lists. Each row has one label, or a list with the
    labels of all coders.

    Parameters
    ----------
    dataset
        A ``datasets.Dataset``.
    **reading
        Options of :func:`annomodels.read`, such as `item`, `coder` and `label`.

    Raises
    ------
    NotApplicable
        If `dataset` is a dictionary of splits or not a data set.
    AnnotationError
        If the rows cannot be read as labels; lists all problems.

    Examples
    --------
    >>> import annomodels as am
    >>> am.from_hf(datasets.load_dataset("name", split="train"), label="label")  # doctest: +SKIP
    """
    import pandas as pd

    if isinstance(dataset, Mapping):
        splits = ", ".join(map(repr, dataset))
        raise NotApplicable(f"The data set has splits ({splits}). Choose one: dataset['train'].")
    if not (hasattr(dataset, "features") and hasattr(dataset, "to_dict")):
        made = type(dataset).__name__
        raise NotApplicable(f"{made!r} is not a Hugging Face data set. Use Annotations.from_frame.")
    columns = dataset.to_dict()
    for name, feature in dataset.features.items():
        names = getattr(getattr(feature, "feature", feature), "names", None)
        if names:
            columns[name] = [_named(value, names) for value in columns[name]]
    return Annotations.from_frame(pd.DataFrame(columns), **reading)


def _named(value: Any, names: Sequence[str]) -> Any:
    """Return the name of a class code (-1 is a missing label here), or names of a list."""
    if isinstance(value, list):
        return [_named(part, names) for part in value]
    return None if value is None or value < 0 else names[value]


class Aggregator:
    """Aggregate labels with ``fit_predict`` and ``fit_predict_proba``, as crowd-kit does.

    Tables have the columns task, worker and label, or item, coder and label. Results have the type
    of the input: pandas results are indexed by task; polars and pyarrow results have a column task.

    Parameters
    ----------
    model
        A model or its name, as for :func:`annomodels.fit`.
    engine, chains, draws, seed
        As for :func:`annomodels.fit`; ``engine="em"`` is as fast as crowd-kit, without draws.

    Attributes
    ----------
    fit_ : Fit
        The fit, with intervals and checks.
    labels_
        Most probable label of each task.
    probas_
        P(truth = k) for each task.
    priors_
        Mean prevalence of each label.
    errors_
        Mean probability that a worker gives a label, by worker and label given (rows) and true
        label (columns), as in crowd-kit.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [("t1", "a", "x"), ("t1", "b", "x"), ("t1", "c", "y"), ("t2", "a", "y")]
    >>> rows += [("t2", "b", "y"), ("t2", "c", "y"), ("t3", "a", "x"), ("t3", "b", "x")]
    >>> votes = pd.DataFrame(rows, columns=["task", "worker", "label"])
    >>> Aggregator(engine="em", seed=1).fit_predict(votes)
    task
    t1    x
    t2    y
    t3    x
    Name: agg_label, dtype: object
    """

    fit_: Fit
    labels_: Any
    probas_: Any
    priors_: Any
    errors_: Any

    def __init__(
        self,
        model: str | Model = "hierarchical",
        *,
        engine: str = "auto",
        chains: int = 4,
        draws: int = 1000,
        seed: int | None = None,
    ) -> None:
        self.model = model
        self.engine = engine
        self.chains = chains
        self.draws = draws
        self.seed = seed

    def fit(self, data: object, true_labels: object = None) -> Aggregator:
        """Fit the model to a table.

        Parameters
        ----------
        data
            Columns task, worker, label; or item, coder, label.
        true_labels
            Known truth: a pandas Series indexed by task, or a mapping.

        Returns
        -------
        Aggregator
            Itself.

        Raises
        ------
        AnnotationError
            If columns are missing or nothing can be estimated from the labels.
        NotApplicable
            If `true_labels` is neither a Series nor a mapping.
        """
        columns = getattr(data, "columns", getattr(data, "column_names", ()))
        names = {str(name) for name in columns}
        item, coder = (
            own if own in names and crowd_kit not in names else crowd_kit
            for own, crowd_kit in (("item", ITEM), ("coder", CODER))
        )
        labeled = Annotations.from_frame(
            data, item=item, coder=coder, label=LABEL, truth=_mapping(true_labels)
        )
        self.fit_ = fit(
            labeled,
            self.model,
            engine=self.engine,
            chains=self.chains,
            draws=self.draws,
            seed=self.seed,
        )
        self._summarise(_make_of(data))
        return self

    def fit_predict(self, data: object, true_labels: object = None) -> Any:
        """Fit, and return the most probable label of each task.

        Parameters
        ----------
        data, true_labels
            As for :meth:`fit`.

        Returns
        -------
        Series or table
            For pandas a Series ``agg_label`` indexed by task; else a table of task, agg_label.
        """
        return self.fit(data, true_labels).labels_

    def fit_predict_proba(self, data: object, true_labels: object = None) -> Any:
        """Fit, and return the probability of each label for each task.

        Parameters
        ----------
        data, true_labels
            As for :meth:`fit`.

        Returns
        -------
        table
            For pandas indexed by task, one column for each label; else with a column task.
        """
        return self.fit(data, true_labels).probas_

    def _summarise(self, make: Any) -> None:
        import pandas as pd

        data, tree = self.fit_.data, self.fit_.tree
        tasks = pd.Index(data.items, name=ITEM)
        labels = pd.Index(data.labels, name=LABEL)
        p = tree["truth"].to_dataset()["p_truth"].values
        best = [data.labels[k] for k in p.argmax(axis=1)]
        self.labels_ = make(pd.Series(best, tasks, dtype=object, name=GOLD))
        self.probas_ = make(pd.DataFrame(p, tasks, labels))
        posterior = tree["posterior"].to_dataset().mean(("chain", "draw"))
        self.priors_ = make(pd.Series(posterior["prevalence"].values, labels, name="prior"))
        confusion = posterior["confusion"].values
        if confusion.ndim == 2:  # one matrix for all
            confusion = confusion[None].repeat(data.n_coders, axis=0)
        given = pd.MultiIndex.from_product([data.coders, data.labels], names=[CODER, LABEL])
        rows = confusion.transpose(0, 2, 1).reshape(-1, data.n_labels)
        self.errors_ = make(pd.DataFrame(rows, given, labels))


def _mapping(true_labels: object) -> Mapping[Any, Any] | None:
    if true_labels is None or isinstance(true_labels, Mapping):
        return true_labels
    if hasattr(true_labels, "to_dict") and hasattr(true_labels, "index"):
        return dict(true_labels.to_dict())
    what = f"true_labels is {type(true_labels).__name__!r}."
    raise NotApplicable(f"{what} Give a pandas Series indexed by task, or a mapping.")


def _make_of(data: Any) -> Any:
    """Return a converter of results to the table type of `data`."""
    import narwhals as nw

    frame = nw.from_native(data)
    space = frame.__native_namespace__()
    if space.__name__ == "pandas":
        return lambda result: result

    def converted(result: Any) -> Any:
        table = result.reset_index()
        columns = {str(name): table[name].tolist() for name in table.columns}
        return nw.from_dict(columns, backend=space).to_native()

    return converted
