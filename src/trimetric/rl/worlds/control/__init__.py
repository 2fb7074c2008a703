"""Classic control tasks as goals to reach, with continuous observations: many instances at once."""

from trimetric.rl.worlds.control.mountain_car import MountainCar as MountainCar
from trimetric.rl.worlds.control.pendulum import Pendulum as Pendulum
