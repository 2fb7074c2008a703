"""A point among one-way gates and conveyor belts: the world, its exact directed distances, and its data."""

from trimetric.rl.worlds.directed.exact import ExactDistances as ExactDistances
from trimetric.rl.worlds.directed.flow import Flow as Flow
from trimetric.rl.worlds.directed.world import DirectedPoint as DirectedPoint
