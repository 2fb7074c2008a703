"""The report: our tables and figures beside the paper's, on one page."""
