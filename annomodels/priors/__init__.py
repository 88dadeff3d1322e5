"""Prior distributions as plain values: printable, comparable, free of data.

Imports how objects are shown, and nothing else of the package. Each prior gives its log density
for NumPy arrays (used by the Gibbs sampler and by tests); the models hand the same numbers to
PyMC.
"""

from annomodels.priors.columns import Covariates
from annomodels.priors.scales import HalfNormal, LogNormal, Pareto, ScalePrior
from annomodels.priors.shares import (
    Beta,
    CoderRows,
    Diagonal,
    Dirichlet,
    Rows,
    from_dict,
    to_dict,
)
from annomodels.priors.usable import (
    FixedDiagonal,
    FixedRows,
    Needs,
    NonNegative,
    Probability,
    Proper,
    ProperRows,
    Scale,
)

__all__ = [
    "Beta",
    "CoderRows",
    "Covariates",
    "Diagonal",
    "Dirichlet",
    "FixedDiagonal",
    "FixedRows",
    "HalfNormal",
    "LogNormal",
    "Needs",
    "NonNegative",
    "Pareto",
    "Probability",
    "Proper",
    "ProperRows",
    "Rows",
    "Scale",
    "ScalePrior",
    "from_dict",
    "to_dict",
]
