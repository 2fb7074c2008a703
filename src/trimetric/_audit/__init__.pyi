from .measure import audit as audit
from .report import Audit as Audit
