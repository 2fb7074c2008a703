"""Logged episodes: their arrays, where they come from, and their files."""

from trimetric.rl.trajectories.files import read_trajectories as read_trajectories
from trimetric.rl.trajectories.recording import record as record
from trimetric.rl.trajectories.trajectories import Trajectories as Trajectories
