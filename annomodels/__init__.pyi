# The public names, each of which stands here only; __init__.py loads them from this list.

from annomodels import coefficients as coefficients
from annomodels import compat as compat
from annomodels import coref as coref
from annomodels import datasets as datasets
from annomodels import errors as errors
from annomodels import models as models
from annomodels import priors as priors
from annomodels.auditing.estimate import estimate as estimate
from annomodels.auditing.sample import audit as audit
from annomodels.coefficients.agreement import agreement as agreement
from annomodels.coefficients.parts.breakdown import breakdown as breakdown
from annomodels.coefficients.parts.diagnose import diagnose as diagnose
from annomodels.compat import Aggregator as Aggregator
from annomodels.compat import from_hf as from_hf
from annomodels.data.annotations import Annotations as Annotations
from annomodels.data.summary import Summary as Summary
from annomodels.fitting.compare import compare as compare
from annomodels.fitting.earlier import prior_from as prior_from
from annomodels.fitting.fit import Fit as Fit
from annomodels.fitting.load import load as load
from annomodels.fitting.run import fit as fit
from annomodels.io.reading import Questions as Questions
from annomodels.io.reading import read as read
from annomodels.io.reading import read_questions as read_questions
from annomodels.io.reading import read_spans as read_spans
from annomodels.io.writers.catalog import write as write
from annomodels.io.writers.catalog import write_gold as write_gold
from annomodels.planning.advise import advise as advise
from annomodels.planning.design import design as design
from annomodels.planning.simulate import simulate as simulate
from annomodels.reporting.page import report as report
from annomodels.scale.scanning import scan as scan

__version__: str
