"""Worlds to learn in: maps, their exact values, and Gymnasium environments (in `worlds.environment`)."""

from trimetric.rl.worlds.maps import FOUR_ROOM as FOUR_ROOM
from trimetric.rl.worlds.maps import MAZE as MAZE
from trimetric.rl.worlds.maps import GridMap as GridMap
from trimetric.rl.worlds.maps import random_maze as random_maze
from trimetric.rl.worlds.maps import read_map as read_map
from trimetric.rl.worlds.world import MAPS as MAPS
from trimetric.rl.worlds.world import World as World
