"""Map models: few numbers per node against landmark bounds, exact engines and published methods."""

from reproduction.frame.registry import Entry

EXPERIMENTS = (
    Entry(
        name="maps",
        target="reproduction.experiments.maps.experiment:Maps",
        about="map models of road networks and generated graphs, beside landmarks at equal bytes",
        sections={
            "table_maps_jinan": "Beyond the paper: a road network with a published workload",
            "table_maps": "Beyond the paper: map models and landmarks at equal bytes",
            "table_maps_astar": "Beyond the paper: A* with a certified map model",
        },
        claims={
            "table_maps_jinan": "Is a certified metric more accurate than published models of its size?",
            "table_maps": "Is a map model ever worse than the landmarks that it starts from?",
            "table_maps_astar": "Does a learned lower bound expand fewer nodes than landmarks?",
        },
    ),
)
