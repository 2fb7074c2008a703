"""Requests that the OpenAPI document allows, and some that it does not, never make the service fail."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from running_service import Running

pytest.importorskip("schemathesis")

ARGUMENTS = ["--checks", "not_a_server_error", "--mode", "all", "--no-color"]


def run(town: Running, phases: str, examples: int, folder: Path) -> None:
    # In a process of its own: its plug-in of pytest would join the suite otherwise.
    program = Path(sys.executable).with_name("schemathesis")
    words = [program, "run", f"{town.url}/openapi.json", *ARGUMENTS, "--max-examples", str(examples)]
    words += ["--seed", "1", "--phases", phases]
    found = subprocess.run(
        words, capture_output=True, text=True, cwd=folder, env={**os.environ, "CI": "1"}, timeout=900
    )
    assert found.returncode == 0, found.stdout[-3000:] + found.stderr[-2000:]
    assert "Tested: 13" in found.stdout, found.stdout
    text = town.get("/metrics").text
    for name in ("table", "nearest", "route", "distances", "closest", "audit", "field"):
        answered = f'trimetric_requests_total{{endpoint="{name}",status="2xx"}} 0'
        assert answered not in text.splitlines(), f"{name}: expected some good requests too"


def test_the_document_lists_all_endpoints(town: Running) -> None:
    document = httpx.get(f"{town.url}/openapi.json").json()
    for service in ("table", "nearest", "route"):
        assert "get" in document["paths"][f"/{service}/v1/{{profile}}/{{coordinates}}"]
        assert "post" in document["paths"][f"/{service}/v1/{{profile}}"]
    assert {"/distances", "/nearest", "/audit", "/field", "/health", "/metrics", "/about"} <= set(document["paths"])


@pytest.mark.slow
def test_many_requests_never_fail(town: Running, tmp_path: Path) -> None:
    run(town, "examples,coverage,fuzzing", 100, tmp_path)


def test_some_requests_never_fail(town: Running, tmp_path: Path) -> None:
    run(town, "examples,fuzzing", 2, tmp_path)
