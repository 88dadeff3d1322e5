"""Can a streamed fit be believed? The findings that do not need the labels in memory."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from annomodels.scale.scanned import Scanned
from annomodels.summaries.checks import VERDICTS, Check
from annomodels.summaries.findings_data import group_finding, overlap_finding, volume_finding
from annomodels.summaries.findings_fit import fit_findings
from annomodels.summaries.findings_model import signal_finding

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["check_scanned"]


def check_scanned(tree: xr.DataTree, data: Scanned) -> Check:
    """Look at the chains and at the design of the data.

    Parameters
    ----------
    tree
        Result of a streamed fit.
    data
        What was fitted.

    Returns
    -------
    Check
        With the limits of :func:`annomodels.summaries.checks.check`, without the findings on
        whether the model reproduces the labels.
    """
    import pandas as pd

    findings = [
        *fit_findings(tree, data.shell()),
        overlap_finding(data.compared_items / data.n_items),
        group_finding(data.components),
        signal_finding(tree, data.shell()),
    ]
    if json.loads(tree.attrs["model"]).get("name", "") == "dawid-skene":
        findings.append(volume_finding(data.per_coder))
    bad = sorted((f for f in findings if f.severity), key=lambda finding: -finding.severity)
    columns = ["name", "value", "limit", "ok", "sentence"]
    table = pd.DataFrame([finding.row() for finding in findings], columns=columns)
    sentences = [finding.sentence for finding in bad] or [
        f"The chains agree (R-hat at most {findings[0].value:.3f}, at least "
        f"{findings[1].value:,.0f} effective draws); whether the model reproduces the labels was "
        "not looked at."
    ]
    worst = max(finding.severity for finding in findings)
    return Check(VERDICTS[worst], tuple(dict.fromkeys(sentences)), table)
