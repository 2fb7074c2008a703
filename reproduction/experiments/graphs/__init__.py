"""Shortest paths of graphs (section 3.3, appendix E), and what the paper's own search returns."""

from reproduction.frame.registry import Entry

EXPERIMENTS = (
    Entry(
        name="graphs",
        target="reproduction.experiments.graphs.experiment:Graphs",
        about="shortest paths of six graphs from noisy landmarks; our fast protocol by default",
        sections={
            "table_graph_stats": "The graphs",
            "table_graph_results": "Shortest paths: test MSE with 50,000 training pairs",
            "figure_symmetric_graph_learning_curves": "Symmetric graphs: learning curves",
            "figure_asymmetric_graph_learning_curves": "Asymmetric graphs: learning curves",
        },
        claims={
            "table_graph_stats": "Statistics of six graphs",
            "table_graph_results": "Norms tend to beat Euclidean embeddings, and often the MLP",
            "figure_symmetric_graph_learning_curves": "Symmetric graphs, by pairs: norms beat Euclidean, often MLP",
            "figure_asymmetric_graph_learning_curves": "Asymmetric graphs, by pairs: norms beat Euclidean, often MLP",
        },
    ),
    Entry(
        name="graphs-astar",
        target="reproduction.experiments.graphs.astar:GraphsAstar",
        about="what the paper's search returns on directed graphs",
        sections={
            "table_graph_astar": "Beyond the paper: its search on directed graphs",
        },
        claims={
            "table_graph_astar": "Are the paper's distances on directed graphs shortest paths?",
        },
    ),
    Entry(
        name="graphs-metrize",
        target="reproduction.experiments.graphs.metrize:GraphsMetrize",
        about="a network made a metric: corridor and distillation, next to the same network without the guarantee",
        sections={
            "table_graph_metrize": "Beyond the paper: an unconstrained network, made a metric",
        },
        claims={
            "table_graph_metrize": "What does the guarantee cost, if the network is the same?",
        },
    ),
    Entry(
        name="graphs-start",
        target="reproduction.experiments.graphs.start:GraphsStart",
        about="bounds of landmarks, and what starts as one, on the paper's graphs: clean and noisy",
        sections={
            "table_graph_start": "Beyond the paper: the start from landmarks",
        },
        claims={
            "table_graph_start": "Is a bound of landmarks a better start than random weights?",
        },
    ),
)
