"""The processes of one data-parallel run, as `torchrun` starts them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor

SETTLE_SECONDS = 0.2


@dataclass(frozen=True)
class Processes:
    """This process among those of the run.

    Args:
        rank: the number of this process.
        size: how many there are.
    """

    rank: int = 0
    size: int = 1

    @property
    def first(self) -> bool:
        """Whether this is the one that prints and writes."""
        return self.rank == 0

    def share(self, items: Tensor) -> Tensor:
        """The part of the rows that this process works on."""
        return items[self.rank :: self.size]

    def sum(self, values: Tensor) -> Tensor:
        """Add up the values of all processes, in place."""
        if self.size > 1:
            dist.all_reduce(values)
        return values


def started_together() -> Processes:
    """Read from the environment of `torchrun` which process this is; one process otherwise."""
    return Processes(int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1")))


@contextmanager
def connected(device: torch.device) -> Iterator[Processes]:
    """Connect to the other processes, unless they are connected already (then leave them connected)."""
    if dist.is_available() and dist.is_initialized():
        yield Processes(dist.get_rank(), dist.get_world_size())
        return
    processes = started_together()
    if processes.size == 1:
        yield processes
        return
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield processes
        dist.barrier()  # who leaves first would close connections that others still use
        # The group's end waits for its threads while it holds the interpreter's lock.  A thread that has still to let
        # go of its last tensor needs that lock, and both would wait forever.
        time.sleep(SETTLE_SECONDS)
    finally:
        dist.destroy_process_group()


class WorkerLostError(RuntimeError):
    """Another process of the run has died."""


@contextmanager
def explain_lost_workers(processes: Processes, remedy: str) -> Iterator[None]:
    """Say that a worker died, where torch says that a connection was closed.

    Args:
        processes: those of the run.
        remedy: what to do about it.
    """
    try:
        yield
    except RuntimeError as error:
        signs = ("connection", "peer", "gloo", "nccl")
        if processes.size == 1 or not any(sign in str(error).lower() for sign in signs):
            raise
        raise WorkerLostError(
            f"one of the {processes.size} processes of this run has died, so process {processes.rank} stops. {remedy}"
        ) from error
