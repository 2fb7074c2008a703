from trimetric.nearness.solve import nearest_metric as nearest_metric
