"""Measure on data what a distance promises."""

from trimetric._audit.measure import audit as audit
from trimetric._audit.report import Audit as Audit
