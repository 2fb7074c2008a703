"""Are routing matrices metric? What is broken in published instances, what repairs change, and what a solver gains."""

from reproduction.frame.registry import Entry

EXPERIMENTS = (
    Entry(
        name="routing",
        target="reproduction.experiments.routing.experiment:Routing",
        about="broken triangles of published routing instances, and what repairs change",
        sections={
            "table_routing_broken": "Beyond the paper: are routing matrices metric?",
            "table_routing_repairs": "Beyond the paper: repairs of routing matrices",
        },
        claims={
            "table_routing_broken": "Do published matrices of routing problems keep the triangle inequality?",
            "table_routing_repairs": "Does the nearest metric change less than shortest paths do?",
        },
    ),
    Entry(
        name="routing-solve",
        target="reproduction.experiments.routing.solving:RoutingSolve",
        about="solutions of PyVRP before and after a repair, at equal processor time",
        sections={"table_routing_solve": "Beyond the paper: what a solver gains from a repair"},
        claims={"table_routing_solve": "Do solutions get better when the matrix is repaired?"},
    ),
)
