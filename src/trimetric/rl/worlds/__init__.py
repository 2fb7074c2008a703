"""Worlds to learn in: maps, their exact values, and Gymnasium environments (in `worlds.environment`).

OGBench's pointmaze is in `worlds.pointmaze`, because it needs MuJoCo.
"""

from trimetric.rl.worlds.control import MountainCar as MountainCar
from trimetric.rl.worlds.control import Pendulum as Pendulum
from trimetric.rl.worlds.control.recipe import random_trajectories as random_trajectories
from trimetric.rl.worlds.directed import DirectedPoint as DirectedPoint
from trimetric.rl.worlds.directed import ExactDistances as ExactDistances
from trimetric.rl.worlds.directed import Flow as Flow
from trimetric.rl.worlds.directed.recipe import directed_trajectories as directed_trajectories
from trimetric.rl.worlds.gymnasium_tasks import GymnasiumTasks as GymnasiumTasks
from trimetric.rl.worlds.maps import FOUR_ROOM as FOUR_ROOM
from trimetric.rl.worlds.maps import MAZE as MAZE
from trimetric.rl.worlds.maps import GridMap as GridMap
from trimetric.rl.worlds.maps import random_maze as random_maze
from trimetric.rl.worlds.maps import read_map as read_map
from trimetric.rl.worlds.tasks import Task as Task
from trimetric.rl.worlds.tasks import TaskWorld as TaskWorld
from trimetric.rl.worlds.world import MAPS as MAPS
from trimetric.rl.worlds.world import World as World
