"""What a streamed fit gives: draws of the parameters in memory, P(truth) of the items on disk."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from annomodels.data.names import label_text
from annomodels.errors import AnnotationError, NotApplicable, Problem
from annomodels.io.writing import OutputError, atomic_path, compression_of
from annomodels.models.base import Model
from annomodels.scale.checks import check_scanned
from annomodels.scale.gold import DEFAULT_THRESHOLD, write_gold
from annomodels.scale.keeper import Keeper
from annomodels.scale.scanned import Scanned
from annomodels.scale.truths import truth_path
from annomodels.summaries.draws import thinned
from annomodels.summaries.signal import doubtful, mean_skill
from annomodels.summaries.summary import Summary

if TYPE_CHECKING:
    import xarray as xr

    from annomodels.summaries.checks import Check

__all__ = ["ScannedFit"]

Floats = NDArray[np.float64]
FIT, TRUTH, ABOUT = "fit.nc", "truth", "about.json"


@dataclass(frozen=True, eq=False, repr=False)
class ScannedFit:
    """A model fitted to labels that are on disk; made by ``am.fit(am.scan(...))``.

    Parameters
    ----------
    data
        The scan.
    model
        The model with its priors.
    tree
        Draws of the parameters and what the run says of itself, as in
        :class:`annomodels.Fit`; its groups on items are empty.
    truth
        Folder with P(truth) as Parquet, one file for each block of items in their order, with the
        columns item, n, gold, ``p_<label>``, entropy and mcse.
    expected_errors
        Expected number of wrong labels among the most probable ones of items without known truth.
    """

    data: Scanned
    model: Model
    tree: xr.DataTree
    truth: Path
    expected_errors: float
    # keeps a temporary folder alive as long as it is needed
    _keeper: Keeper | None = None

    @property
    def engine(self) -> str:
        """Name of the engine that made it."""
        return str(self.tree.attrs["engine"])

    @property
    def seed(self) -> int:
        """Seed of the run."""
        return int(self.tree.attrs["seed"])

    @cached_property
    def believed(self) -> bool:
        """Whether the labels depend on a truth; else nothing but known truth is settled."""
        shell = self.data.shell()
        return not doubtful(mean_skill(thinned(self.tree, shell, 500), shell))

    def prevalence(self) -> Summary:
        """Give the share of each label among the truths, one row per label, with 95 % intervals."""
        import pandas as pd

        from annomodels.summaries.draws import interval

        draws = self.tree["posterior"].to_dataset()[["prevalence"]]
        values = draws["prevalence"].values.reshape(-1, self.data.n_labels)
        low, high = interval(values)
        table = pd.DataFrame(
            {
                "label": list(self.data.labels),
                "prevalence": values.mean(axis=0),
                "prevalence_low": low,
                "prevalence_high": high,
            }
        )
        return Summary("Prevalence", table, draws)

    def coders(self, target: float | None = None) -> Summary:
        """Give accuracy, skill, information and kind, one row per coder.

        The same table as :meth:`annomodels.Fit.coders`.

        Parameters
        ----------
        target
            Accuracy that coders should reach.
        """
        from annomodels.scale.unanswered import with_answers
        from annomodels.summaries.coders import coders

        shell = self.data.shell()
        found = coders(self.tree, shell, target=target)
        return with_answers(found, self.tree, shell, self.data.unanswered)

    def check(self) -> Check:
        """Say whether the result can be trusted, in sentences.

        Looks at the chains and at the design, as :meth:`annomodels.Fit.check` does; whether the
        model reproduces the labels needs the labels in memory and is not looked at.
        """
        return check_scanned(self.tree, self.data)

    def write_gold(
        self,
        path: str | os.PathLike[str],
        threshold: float | None = None,
        force: bool = False,
        *,
        only_settled: bool = False,
    ) -> Path:
        """Write the gold standard as Parquet or CSV, one row per item, block after block.

        Columns are item, label, probability, mcse, runner_up, runner_up_probability, n, settled,
        known and entropy. As in :meth:`annomodels.Fit.gold`, nothing but known truth is settled
        where the labels may depend on no truth.

        Parameters
        ----------
        path
            A name that ends in ``.parquet``, ``.csv`` or ``.tsv``.
        threshold
            Probability from which an item counts as settled; .95 by default.
        force
            Whether an existing file is replaced.
        only_settled
            Whether labels that are not settled are left empty.

        Raises
        ------
        NotApplicable
            When the ending is another, or the threshold is not between 0 and 1.
        OutputError
            When the file exists and `force` is not set, or cannot be written.
        """
        limit = DEFAULT_THRESHOLD if threshold is None else threshold
        with atomic_path(path, force) as temporary:
            write_gold(
                self.truth, self.data, Path(path), temporary, limit, self.believed, only_settled
            )
        return Path(path)

    def save(self, path: str | os.PathLike[str], force: bool = False) -> Path:
        """Save draws and P(truth) in a folder: ``fit.nc``, ``about.json``, ``truth/*.parquet``.

        Parameters
        ----------
        path
            The folder; it appears when it is complete.
        force
            Whether a folder that an earlier ``save`` wrote is replaced.

        Raises
        ------
        OutputError
            When there is such a folder and `force` is not set, or it holds something else.
        """
        target = Path(path)
        if target.exists() and not (force and (target / ABOUT).is_file()):
            remedy = "Choose another name, or say force=True (--force) to replace a saved fit."
            raise OutputError(Problem("There is a folder of this name.", str(target), remedy))
        work = target.with_name(f".{target.name}-{os.getpid()}")
        try:
            (work / TRUTH).mkdir(parents=True)
            for number in range(len(self.data.blocks)):
                shutil.copyfile(truth_path(self.truth, number), truth_path(work / TRUTH, number))
            self.tree.to_netcdf(work / FIT, engine="h5netcdf", encoding=compression_of(self.tree))
            about = {
                "kind": "scanned fit",
                "fingerprint": self.data.fingerprint,
                "items": self.data.n_items,
                "annotations": self.data.n_annotations,
                "source": self.data.source,
                "expected_errors": self.expected_errors,
            }
            (work / ABOUT).write_text(json.dumps(about, indent=1), "utf-8")
            if target.exists():
                shutil.rmtree(target)
            work.replace(target)
        finally:
            shutil.rmtree(work, ignore_errors=True)
        return target

    @classmethod
    def load(cls, path: str | os.PathLike[str], data: Scanned) -> ScannedFit:
        """Load what :meth:`save` wrote, together with the scan that was fitted.

        Parameters
        ----------
        path
            The folder.
        data
            The scan, such as ``am.scan(..., cache=...)`` finds it again.

        Raises
        ------
        AnnotationError
            When the folder holds no saved fit.
        NotApplicable
            When the fit is of other labels.
        """
        import xarray as xr

        from annomodels.models.catalog import from_dict

        folder = Path(path)
        try:
            about = json.loads((folder / ABOUT).read_text("utf-8"))
            tree = xr.load_datatree(folder / FIT, engine="h5netcdf")
            model = from_dict(json.loads(tree.attrs["model"]))
        except (OSError, KeyError, ValueError, TypeError) as error:
            remedy = "Give a folder that `fit.save` wrote."
            what = "This is not a fit of a scan."
            raise AnnotationError(Problem(what, str(folder), remedy)) from error
        if about["fingerprint"] != data.fingerprint:
            raise NotApplicable(f"{folder} holds a fit of other labels than this scan.")
        return cls(data, model, tree, folder / TRUTH, about["expected_errors"])

    def __repr__(self) -> str:
        attrs = self.tree.attrs
        prevalence = self.prevalence().table["prevalence"]
        shares = ", ".join(
            f"{label_text(name)} {share:.3f}"
            for name, share in zip(self.data.labels[:10], prevalence, strict=False)
        )
        return (
            f"{self.model.title} on {self.data!r}\n"
            f"{attrs['engine']}, {attrs['chains']} chains of {attrs['draws']} draws, "
            f"seed {attrs['seed']}, {float(attrs['seconds']):.1f} s\n"
            f"prevalence: {shares}; {self.expected_errors:,.1f} of the most probable labels are "
            "expected to be wrong"
        )
