"""Prior distributions as plain values: printable, comparable, independent of data.

Imports only the HTML display of the package. Each prior computes its log density for NumPy arrays
(for the Gibbs sampler and for tests); models pass the same hyperparameters to PyMC.
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
