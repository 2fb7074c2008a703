"""Checks of the arrays of `Trajectories` before anything is learned; errors name what is wrong, and in which row."""

from __future__ import annotations

from typing import Any

import numpy as np

ROWS_AT_ONCE = 1 << 16
"""rows of a memory-mapped log that are in memory at once"""


def checked_observations(value: Any) -> np.ndarray:
    """Check the observations of a log.

    Args:
        value: vectors, images or numbers of states.

    Returns:
        The array; float64 becomes float32.
    """
    array = _real("observations", value)
    if array.ndim == 0 or len(array) < 2:
        raise ValueError(f"observations: expected at least two rows, shape (N, ...), got shape {array.shape}")
    if array.ndim == 1 and not np.issubdtype(array.dtype, np.integer):
        raise ValueError(
            f"observations: expected vectors (N, features), images, or whole numbers of states (N,), got shape "
            f"{array.shape} and dtype {array.dtype}"
        )
    if array.ndim == 1 and int(array.min()) < 0:
        row = int((array < 0).argmax())
        raise ValueError(f"observations: expected numbers of states >= 0, got {array[row]} in row {row}")
    _check_finite("observations", array)
    return array


def checked_ends(value: Any, rows: int) -> np.ndarray:
    """Check where episodes end.

    Args:
        value: the row of the last observation of each episode.
        rows: of the log.
    """
    given = np.asarray(value)
    if given.ndim != 1 or not len(given) or not np.issubdtype(given.dtype, np.integer):
        raise ValueError(
            f"ends: expected the row of the last observation of each episode, whole numbers (E,), got shape "
            f"{given.shape} and dtype {given.dtype}"
        )
    ends = given.astype(np.int64)
    if int(ends[-1]) != rows - 1:
        raise ValueError(f"ends: expected the last one to be row {rows - 1}, the last observation, got {ends[-1]}")
    lengths = np.diff(ends, prepend=-1)
    if (lengths < 1).any():
        episode = int((lengths < 1).argmax())
        raise ValueError(f"ends: expected ascending rows from 0, got {ends[episode]} for episode {episode}")
    if (lengths < 2).any():
        episode = int((lengths < 2).argmax())
        raise ValueError(
            f"ends: expected at least two observations (one step) in each episode, got one in episode {episode} "
            f"(row {ends[episode]})"
        )
    return ends


def checked_terminated(value: Any, episodes: int) -> np.ndarray:
    """Check which episodes ended in a terminal state.

    Args:
        value: truth values, or None for none of them.
        episodes: of the log.
    """
    if value is None:
        return np.zeros(episodes, dtype=np.bool_)
    given = np.asarray(value)
    if given.shape != (episodes,) or given.dtype != np.bool_:
        raise ValueError(
            f"terminated: expected {episodes} truth values, one for each episode, got shape {given.shape} and dtype "
            f"{given.dtype}"
        )
    return given


def checked_costs(value: Any, rows: int, ends: np.ndarray) -> np.ndarray:
    """Check the costs of the steps; what lies in the last row of an episode is not looked at.

    Args:
        value: a number per row.
        rows: of the log.
        ends: last rows of the episodes.
    """
    costs = _real("costs", value).astype(np.float64)
    if costs.shape != (rows,):
        raise ValueError(f"costs: expected one for each of the {rows} rows, shape ({rows},), got shape {costs.shape}")
    bad = ~((costs > 0) & np.isfinite(costs))
    bad[ends] = False
    if bad.any():
        row = int(bad.argmax())
        raise ValueError(
            f"costs: expected finite numbers above 0 (rewards below 0), got {costs[row]:g} in row {row}; "
            "a step that costs nothing would make two states one"
        )
    costs[ends] = 0.0
    return costs


def checked_actions(value: Any, rows: int, ends: np.ndarray) -> np.ndarray:
    """Check what was done in each row; what lies in the last row of an episode is not looked at.

    Args:
        value: vectors, or numbers of actions.
        rows: of the log.
        ends: last rows of the episodes.
    """
    actions = _real("actions", value)
    whole = np.issubdtype(actions.dtype, np.integer)
    if len(actions) != rows or actions.ndim != (1 if whole else 2):
        raise ValueError(
            f"actions: expected one for each of the {rows} rows, vectors ({rows}, A) or whole numbers ({rows},), got "
            f"shape {actions.shape} and dtype {actions.dtype}"
        )
    _check_finite("actions", actions, skip=ends)
    return actions


def action_bounds(value: Any, actions: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Check that vectors of actions are in their range.

    Args:
        value: the lowest and the highest value, or None.
        actions: of the log.
        ends: last rows of the episodes.

    Returns:
        Both as vectors (A,); None for actions that are numbers, and where no range is known.
    """
    if value is None:
        return None
    if actions.ndim == 1:
        raise ValueError("action_range: expected None for actions that are numbers; num_actions= says how many")
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise ValueError(f"action_range: expected the lowest and the highest value, got {value!r}")
    low, high = (np.broadcast_to(_real("action_range", own), actions.shape[1:]).astype(np.float32) for own in value)
    if not (low < high).all():
        raise ValueError(f"action_range: expected lowest values below the highest, got {low.tolist()}, {high.tolist()}")
    for start in range(0, len(actions), ROWS_AT_ONCE):
        part = actions[start : start + ROWS_AT_ONCE]
        out = (part < low) | (part > high)
        out[ends[(ends >= start) & (ends < start + len(part))] - start] = False
        if out.any():
            row, column = (int(place) for place in np.argwhere(out)[0])
            raise ValueError(
                f"actions: expected values from {low[column]:g} to {high[column]:g}, got {part[row, column]:g} in row "
                f"{start + row}, column {column}"
            )
    return low, high


def action_count(value: Any, actions: np.ndarray, ends: np.ndarray) -> int | None:
    """Check numbers of actions.

    Args:
        value: how many actions there are; None for one more than the largest number.
        actions: of the log.
        ends: last rows of the episodes.

    Returns:
        How many there are; None for actions that are vectors.
    """
    if actions.ndim == 2:
        if value is not None:
            raise ValueError(f"num_actions: expected None for actions that are vectors, got {value!r}")
        return None
    taken = np.delete(actions, ends)
    count = int(taken.max()) + 1 if value is None else int(value)
    out = (actions < 0) | (actions >= count)
    out[ends] = False
    if out.any():
        row = int(out.argmax())
        raise ValueError(f"actions: expected numbers from 0 to {count - 1}, got {actions[row]} in row {row}")
    return count


def _real(name: str, value: Any) -> np.ndarray:
    array = value if isinstance(value, np.ndarray) else np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name}: expected real numbers, got dtype {array.dtype}")
    if array.dtype.kind == "b":
        return array.astype(np.uint8)
    return array.astype(np.float32) if array.dtype in (np.float64, np.longdouble) and name != "costs" else array


def _check_finite(name: str, array: np.ndarray, *, skip: np.ndarray | None = None) -> None:
    if array.dtype.kind != "f":
        return
    for start in range(0, len(array), ROWS_AT_ONCE):
        bad = ~np.isfinite(array[start : start + ROWS_AT_ONCE])
        if skip is not None:
            bad[skip[(skip >= start) & (skip < start + len(bad))] - start] = False
        if bad.any():
            row, *place = (int(axis) for axis in np.argwhere(bad)[0])
            column = f", column {place[0]}" if len(place) == 1 else f", place {tuple(place)}" if place else ""
            got = array[start + row][tuple(place)]
            raise ValueError(f"{name}: expected finite numbers, got {got:g} in row {start + row}{column}")
