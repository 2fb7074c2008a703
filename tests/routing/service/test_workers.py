"""The command as a process: workers that share the map, that are replaced when they die, and that finish their work."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from running_service import town_model

pytest.importorskip("uvicorn")

CLIENT = httpx.Client(timeout=30, trust_env=False, verify=False, limits=httpx.Limits(max_keepalive_connections=0))


@dataclass(frozen=True)
class Command:
    process: subprocess.Popen[str]
    url: str

    def numbers(self, name: str) -> list[float]:
        text = CLIENT.get(f"{self.url}/metrics").text
        return [float(line.split()[-1]) for line in text.splitlines() if line.startswith(name)]


@pytest.fixture
def command(town_file: Path, tmp_path: Path) -> Iterator[Command]:
    from trimetric.routing import read_roads

    model = tmp_path / "town.safetensors"
    town_model(read_roads(town_file).graph).save(model)
    words = [sys.executable, "-m", "trimetric", "serve", str(town_file), "--model", str(model), "--port", "0"]
    words += ["--workers", "2", "--cache", str(tmp_path / "cache")]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"listening on (http://127\.0\.0\.1:\d+)", line):
            break
    else:
        pytest.fail(process.stderr.read() if process.stderr else "no output")
    yield Command(process, found[1])
    process.kill()
    process.communicate(timeout=20)


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="needs the processes of Linux")
def test_workers_are_replaced_and_finish_their_work(command: Command) -> None:
    town, learned = "-7.999,41.001;-7.995,41.004", {"sources": ["1000", "1077"], "engine": "learned"}
    for _ in range(10):  # on either worker
        assert CLIENT.get(f"{command.url}/table/v1/driving/{town}").json()["code"] == "Ok"
        assert CLIENT.post(f"{command.url}/distances", json=learned).json()["code"] == "Ok"
    resident, private = (command.numbers(f"trimetric_worker_{kind}_bytes{{") for kind in ("resident", "private"))
    assert len(resident) == 2
    for whole, own in zip(resident, private, strict=True):
        assert own < 0.5 * whole, "most of the memory is shared"

    first = children(command.process.pid)
    os.kill(first[0], signal.SIGKILL)
    end = time.monotonic() + 30
    while sum(command.numbers("trimetric_worker_starts_total{")) < 3:
        assert time.monotonic() < end
        time.sleep(0.1)
    assert len(set(children(command.process.pid)) - set(first)) == 1

    # A request that is being answered when the service is told to stop gets its answer.
    rows = [[((31 * i * j) % 97) + 1 if i != j else 0 for j in range(300)] for i in range(300)]
    answers: list[int] = []
    asking = threading.Thread(
        target=lambda: answers.append(CLIENT.post(f"{command.url}/audit", json={"matrix": rows}).status_code)
    )
    asking.start()
    while sum(command.numbers("trimetric_requests_open")) < 2:  # that one, and the one that asks for this
        assert asking.is_alive()
    command.process.send_signal(signal.SIGTERM)
    assert command.process.wait(timeout=30) == 0
    asking.join(timeout=30)
    assert answers == [200]
    with pytest.raises(httpx.ConnectError):
        CLIENT.get(f"{command.url}/health")
