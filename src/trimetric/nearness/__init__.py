"""The metric that is nearest to a matrix: exact with a certificate, by triangle fixing, one-sided, or learned."""

from trimetric.files.matrices import read_matrix as read_matrix
from trimetric.files.matrices import write_matrix as write_matrix
from trimetric.nearness.dykstra import PAPER_SWEEPS as PAPER_SWEEPS
from trimetric.nearness.learned import LearnedSettings as LearnedSettings
from trimetric.nearness.measures import closure as closure
from trimetric.nearness.measures import is_metric as is_metric
from trimetric.nearness.measures import min_plus as min_plus
from trimetric.nearness.measures import violations as violations
from trimetric.nearness.report import RepairReport as RepairReport
from trimetric.nearness.report import repair_picture as repair_picture
from trimetric.nearness.report import repair_report as repair_report
from trimetric.nearness.report import save_picture as save_picture
from trimetric.nearness.result import NearestMetric as NearestMetric
from trimetric.nearness.result import Round as Round
from trimetric.nearness.solve import nearest_metric as nearest_metric
