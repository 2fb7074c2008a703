"""Value functions of grid worlds (section 3.4, appendix F), and the search for a head."""

from reproduction.frame.registry import Entry

EXPERIMENTS = (
    Entry(
        name="values",
        target="reproduction.experiments.values.experiment:Values",
        about="value functions of grid worlds: planning to goals never trained on",
        sections={
            "figure_value_it_sparsity": "Value functions: success (SPL) by the fraction of goals seen",
            "figure_value_it_viz": "Value functions: errors and success by cell",
            "figure_value_it_dataset": "Value functions: the environments",
            "table_vi_arches": "Value functions: the architectures (settings)",
            "figure_value_it_sparsity_app": "Value functions: SPL and MSE, training and test",
            "figure_value_iteration_value_heatmaps": "Value functions: learned values",
            "figure_value_iteration_se_heatmaps": "Value functions: squared errors",
            "figure_value_iteration_spl_heatmaps": "Value functions: SPL",
        },
        claims={
            "figure_value_it_sparsity": "Norms plan better than MLP and ICNN; asymmetry defeats Euclidean",
            "figure_value_it_viz": "Wide Norms: smaller errors than the MLP, and more cells reached",
            "figure_value_it_dataset": "Two grid worlds, with constant or uneven rewards",
            "table_vi_arches": "Architectures of the value functions",
            "figure_value_it_sparsity_app": "Norms have a higher MSE than MLP and ICNN, and yet plan better",
            "figure_value_iteration_value_heatmaps": "Learned values by cell",
            "figure_value_iteration_se_heatmaps": "Norms have mostly smaller errors than MLP and ICNN",
            "figure_value_iteration_spl_heatmaps": "Norms reach more cells than MLP and ICNN",
        },
    ),
    Entry(
        name="values-search",
        target="reproduction.experiments.values.search:ValuesSearch",
        about="which head plans best, on goals held out of the training goals",
        sections={
            "table_value_search": "Beyond the paper: the search for a head of value functions",
        },
        claims={
            "table_value_search": "Which head plans best to goals that it was not trained on?",
        },
    ),
)
