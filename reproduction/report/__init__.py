"""The report: our tables and figures next to the paper's, on one page."""
