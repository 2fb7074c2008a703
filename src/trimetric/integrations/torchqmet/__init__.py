"""The class names and signatures of the library torchqmet, backed by the distances of Trimetric.

Written from the public documentation of torchqmet; it contains none of its code, and does not import it.  Code written
for torchqmet changes one line: `from trimetric.integrations import torchqmet`.
"""

from trimetric.integrations.torchqmet import iqe as iqe
from trimetric.integrations.torchqmet import mrn as mrn
from trimetric.integrations.torchqmet import neural_norms as neural_norms
from trimetric.integrations.torchqmet import pqe as pqe
from trimetric.integrations.torchqmet import reductions as reductions
from trimetric.integrations.torchqmet import transforms as transforms
from trimetric.integrations.torchqmet.base import QuasimetricBase as QuasimetricBase
from trimetric.integrations.torchqmet.iqe import IQE as IQE
from trimetric.integrations.torchqmet.iqe import IQE2 as IQE2
from trimetric.integrations.torchqmet.mrn import MRN as MRN
from trimetric.integrations.torchqmet.mrn import MRNFixed as MRNFixed
from trimetric.integrations.torchqmet.neural_norms import DeepNorm as DeepNorm
from trimetric.integrations.torchqmet.neural_norms import WideNorm as WideNorm
from trimetric.integrations.torchqmet.pqe import PQE as PQE
from trimetric.integrations.torchqmet.pqe import PQEGG as PQEGG
from trimetric.integrations.torchqmet.pqe import PQELH as PQELH
