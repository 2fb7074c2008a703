"""A ledger contains a run completely or not at all, whatever happens to the process that writes it."""

from __future__ import annotations

import json
import multiprocessing
from dataclasses import dataclass
from pathlib import Path

import pytest
from tiny_experiment import Cell

from reproduction.frame.experiment import Key, Result, added_later, key_of, settings
from reproduction.frame.ledger import Ledger, Run
from reproduction.frame.rows import Row, longest_trained


def run(seed: int, parts: int = 3) -> Run:
    cell = Cell(1, seed)
    results = [Result(f"metric {i}", [0.1 * seed, float("inf")], i) for i in range(parts)]
    return Run("tiny", key_of("tiny", cell), settings(cell), results, 1.5, "0.1.0", "abc")


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "sub" / "tiny.jsonl")


def test_what_is_written_comes_back(ledger: Ledger) -> None:
    assert ledger.rows() == []
    ledger.append([run(0), run(1)])
    ledger.append([run(2, parts=1)])
    rows = Ledger(ledger.path).rows()
    assert [(row.seed, row.metric, row.epochs) for row in rows] == [
        *((seed, f"metric {i}", i) for seed in (0, 1) for i in range(3)),
        (2, "metric 0", 0),
    ]
    assert rows[3].value == [0.1, float("inf")]
    assert rows[0].settings == {"size": 1, "sizes": [1, 2], "delay": 0.0}
    assert (rows[0].seconds, rows[0].version, rows[0].commit) == (1.5, "0.1.0", "abc")
    assert ledger.keys() == {key_of("tiny", Cell(1, seed)) for seed in range(3)}


def test_a_run_is_written_once(ledger: Ledger) -> None:
    ledger.append([run(0)])
    before = ledger.path.read_bytes()
    ledger.append([run(0)])
    Ledger(ledger.path).append([run(0)])
    assert ledger.path.read_bytes() == before


def test_a_write_that_was_cut_off_anywhere_is_as_if_it_had_not_been(ledger: Ledger) -> None:
    ledger.append([run(0)])
    first = ledger.path.read_bytes()
    ledger.append([run(1)])
    both = ledger.path.read_bytes()
    for cut in range(len(first), len(both)):
        ledger.path.write_bytes(both[:cut])
        complete = cut == len(both) - 1  # only the last new line is missing
        seeds = [0, 1] if complete else [0]
        assert sorted({row.seed for row in ledger.rows()}) == seeds
        if cut % 7 == 0 or cut > len(both) - 3:
            Ledger(ledger.path).append([run(2)])
            text = ledger.path.read_bytes()
            assert text.startswith(both if complete else first)
            lines = [json.loads(line) for line in text.splitlines()]
            assert [line["seed"] for line in lines] == [seed for seed in (*seeds, 2) for _ in range(3)]


def test_a_cut_in_the_very_first_write(ledger: Ledger) -> None:
    ledger.append([run(0)])
    whole = ledger.path.read_bytes()
    for cut in (1, len(whole) // 2, whole.index(b"\n"), whole.index(b"\n") + 1):
        ledger.path.write_bytes(whole[:cut])
        assert ledger.rows() == []
        Ledger(ledger.path).append([run(1)])
        assert [json.loads(line)["seed"] for line in ledger.path.read_text().splitlines()] == [1, 1, 1]


def test_a_broken_line_in_the_middle_is_named_and_left_alone(ledger: Ledger) -> None:
    ledger.append([run(0)])
    ledger.append([run(1)])
    lines = ledger.path.read_text().splitlines(keepends=True)
    ledger.path.write_text("".join([*lines[:1], '{"old": "format"}\n', *lines[2:]]))
    with pytest.warns(UserWarning, match=r"tiny\.jsonl, line 2: not a row"):
        assert {row.seed for row in ledger.rows()} == {1}  # a run that lacks a row is no run
    with pytest.warns(UserWarning, match="line 2"):
        Ledger(ledger.path).append([run(0)])
    with pytest.warns(UserWarning, match="line 2"):
        assert [row.seed for row in ledger.rows()] == [1, 1, 1, 0, 0, 0]
    assert '{"old": "format"}\n' in ledger.path.read_text()


def test_a_file_of_another_format_is_not_shortened(ledger: Ledger) -> None:
    ledger.path.parent.mkdir()
    ledger.path.write_text('{"old": "format"}\n{"old": "too"}\n')
    with pytest.warns(UserWarning, match="line 1"):
        ledger.append([run(0)])
    assert ledger.path.read_text().startswith('{"old": "format"}\n{"old": "too"}\n')


def _append(path: Path, seeds: list[int]) -> None:
    ledger = Ledger(path)
    for seed in seeds:
        ledger.append([run(seed)])


def test_two_processes_may_write_at_once(ledger: Ledger) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_append, args=(ledger.path, list(range(i, i + 60)))) for i in (0, 30)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    lines = [json.loads(line) for line in ledger.path.read_text().splitlines()]
    assert sorted(line["seed"] for line in lines) == [seed for seed in range(90) for _ in range(3)]
    assert len(ledger.rows()) == 270


def test_a_run_without_results_is_an_error(ledger: Ledger) -> None:
    with pytest.raises(ValueError, match="expected at least one result"):
        ledger.append([run(0, parts=0)])


def test_set_aside(ledger: Ledger) -> None:
    assert ledger.set_aside() is None
    for number in (1, 2):
        ledger.append([run(0)])
        old = ledger.set_aside()
        assert old is not None
        assert old.name == f"tiny.jsonl.{number}.old"
        assert old.exists()
        assert ledger.rows() == []


def test_the_hash_is_of_all_settings_but_the_seed() -> None:
    key = key_of("tiny", Cell(1, 0))
    assert key == Key(key_of("tiny", Cell(1, 5)).config, 0)
    others = [key_of("tiny", Cell(2, 0)), key_of("other", Cell(1, 0)), key_of("tiny", Cell(1, 0, sizes=(1,)))]
    assert len({key.config, *(other.config for other in others)}) == 4


def test_longest_takes_the_longest_trained_configuration_and_never_mixes() -> None:
    def row(config: str, seed: int, epochs: int, value: float) -> Row:
        return Row("tiny", config, seed, "mse", value, epochs, 1, "", "", {}, "", (0, 1))

    quick = [row("quick", seed, 10, 9.0) for seed in range(5)]
    full = [row("full", 1, 500, 3.0), row("full", 1, 1000, 2.0), row("full", 0, 800, 1.0)]
    assert [(r.seed, r.value) for r in longest_trained(quick + full)] == [(0, 1.0), (1, 2.0)]
    assert len(longest_trained(quick)) == 5
    assert longest_trained([]) == []


def test_a_setting_that_was_added_later_keeps_the_keys_of_older_runs() -> None:
    @dataclass(frozen=True)
    class Older:
        size: int
        seed: int

    @dataclass(frozen=True)
    class Newer(Older):
        decay: float = added_later(1.0)

    assert key_of("tiny", Newer(1, 0)) == key_of("tiny", Older(1, 0))
    assert key_of("tiny", Newer(1, 0, 0.5)) != key_of("tiny", Older(1, 0))
