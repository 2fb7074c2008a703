"""The arrays of `Trajectories` from what other libraries log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from trimetric._support.printable import printable
from trimetric.rl.transitions.log import Transitions

Fields = dict[str, Any]


def from_ogbench(data: Any, *, action_range: tuple[Any, Any] | None) -> Fields:
    """Take compact arrays, or arrays with `next_observations`."""
    if not isinstance(data, Mapping) and not hasattr(data, "keys"):
        raise TypeError(f"data: expected a mapping from names to arrays, got {type(data).__name__}")
    arrays = {name: np.asarray(_of(data, name)) for name in ("observations", "actions", "terminals")}
    rows = len(arrays["observations"]) if arrays["observations"].ndim else 0
    for name, array in arrays.items():
        if array.ndim == 0 or len(array) != rows:
            raise ValueError(f"data[{name!r}]: expected {rows} rows, as many observations, got shape {array.shape}")
    stops = [arrays["terminals"]] + ([np.asarray(data["timeouts"])] if "timeouts" in data else [])
    for name, array in zip(("terminals", "timeouts"), stops, strict=False):
        if array.shape != (rows,) or not np.isin(array, (0, 1)).all():
            raise ValueError(f"data[{name!r}]: expected {rows} numbers that are 0 or 1, got shape {array.shape}")
    ended = np.logical_or.reduce(stops)
    if rows and not ended[-1]:
        ended = ended.copy()
        ended[-1] = True  # the last episode is cut off
    last = np.nonzero(ended)[0]
    terminal = arrays["terminals"].astype(bool)[last] if len(stops) > 1 else None
    found = {"observations": arrays["observations"], "actions": arrays["actions"], "ends": last}
    if "next_observations" in data:
        following = np.asarray(data["next_observations"])
        if following.shape != arrays["observations"].shape:
            raise ValueError(
                f"data['next_observations']: expected the shape of observations, {arrays['observations'].shape}, got "
                f"{following.shape}"
            )
        inside = np.delete(np.arange(rows), last)
        broken = (following[inside] != arrays["observations"][inside + 1]).reshape(len(inside), -1).any(axis=1)
        if broken.any():
            raise ValueError(
                "data['next_observations']: expected what the next row of observations holds, up to the end of an "
                f"episode, got something else in row {int(inside[broken.argmax()])}; Trajectories.from_transitions "
                "takes steps in any order"
            )
        found = _with_final_rows(arrays["observations"], following, arrays["actions"], last)
    return {**found, "terminated": terminal, "action_range": action_range if found["actions"].ndim > 1 else None}


def _with_final_rows(observations: np.ndarray, following: np.ndarray, actions: np.ndarray, last: np.ndarray) -> Fields:
    """Rows of transitions to rows of observations: what was seen after the last step of an episode becomes a row."""
    return {
        "observations": np.insert(observations, last + 1, following[last], axis=0),
        "actions": np.insert(actions, last + 1, actions[last], axis=0),
        "ends": last + 1 + np.arange(len(last)),
    }


def _of(data: Any, name: str) -> Any:
    if name not in data:
        held = ", ".join(printable(str(key), limit=30) for key in list(data.keys())[:8]) or "none"
        raise ValueError(f"data: expected an array {name!r}, got {held}")
    return data[name]


def from_minari(dataset: Any) -> Fields:
    """Take the episodes of a Minari data set."""
    if not hasattr(dataset, "iterate_episodes"):
        raise TypeError(f"dataset: expected a Minari data set, got {type(dataset).__name__}")
    episodes, rewarded = [], True
    for episode in dataset.iterate_episodes():
        seen = episode.observations
        seen = seen["observation"] if isinstance(seen, Mapping) else seen
        costs = -np.asarray(episode.rewards, dtype=np.float64)
        rewarded &= bool((costs > 0).all())
        ended = bool(np.asarray(episode.terminations)[-1])
        episodes.append({"observations": seen, "actions": episode.actions, "costs": costs, "terminated": ended})
    if not rewarded:
        for own in episodes:
            del own["costs"]
    return from_episodes(episodes) | _range_of(getattr(dataset, "action_space", None))


def _range_of(space: Any) -> Fields:
    if space is not None and hasattr(space, "low") and np.isfinite(space.low).all() and np.isfinite(space.high).all():
        return {"action_range": (space.low.ravel(), space.high.ravel())}
    return {"num_actions": int(space.n)} if space is not None and hasattr(space, "n") else {}


def from_episodes(episodes: Iterable[Mapping[str, Any]]) -> Fields:
    """Join episodes, with a last row of zeros for what only steps have."""
    parts: dict[str, list[np.ndarray]] = {"observations": [], "actions": [], "costs": []}
    terminated: list[bool] = []
    count = 0
    for number, episode in enumerate(episodes):
        place = f"episodes[{number}]"
        if not isinstance(episode, Mapping) or "observations" not in episode:
            raise ValueError(f"{place}: expected a mapping with 'observations', got {_keys(episode)}")
        seen = np.asarray(episode["observations"])
        if seen.ndim == 0 or len(seen) < 2:
            raise ValueError(f"{place}['observations']: expected at least two rows (one step), got shape {seen.shape}")
        parts["observations"].append(seen)
        for name in ("actions", "costs"):
            if episode.get(name) is None:
                continue
            own = np.asarray(episode[name])
            if own.ndim == 0 or len(own) != len(seen) - 1:
                raise ValueError(
                    f"{place}[{name!r}]: expected {len(seen) - 1} rows, one less than observations, got shape "
                    f"{own.shape}"
                )
            parts[name].append(np.concatenate([own, np.zeros_like(own[:1])]))
        terminated.append(bool(episode.get("terminated", False)))
        count += 1
    if not count:
        raise ValueError("episodes: expected at least one, got none")
    joined: Fields = {}
    for name, own in parts.items():
        if own and len(own) != count:
            raise ValueError(f"episodes: expected {name!r} in all of the {count} episodes or in none, got {len(own)}")
        shapes = {piece.shape[1:] for piece in own}
        if len(shapes) > 1:
            raise ValueError(f"episodes: expected {name!r} of one shape, got {', '.join(map(str, sorted(shapes)))}")
        if own:
            joined[name] = np.concatenate(own)
    lengths = [len(own) for own in parts["observations"]]
    return {**joined, "ends": np.cumsum(lengths) - 1, "terminated": np.array(terminated)}


def _keys(episode: Any) -> str:
    return (
        (", ".join(map(str, list(episode)[:8])) or "none") if isinstance(episode, Mapping) else type(episode).__name__
    )


def from_transitions(transitions: Transitions) -> Fields:
    """Chain steps."""
    n = len(transitions)
    before, after = (own.reshape(n, -1) for own in (transitions.observations, transitions.next_observations))
    breaks = np.ones(n, dtype=bool)
    breaks[:-1] = (after[:-1] != before[1:]).any(axis=1)
    terminal = np.zeros(n, dtype=bool) if transitions.terminals is None else transitions.terminals
    last = np.nonzero(breaks | terminal)[0]
    actions = np.zeros(n, dtype=np.int64) if transitions.actions is None else transitions.actions
    found = _with_final_rows(transitions.observations, transitions.next_observations, actions, last)
    if transitions.actions is None:
        del found["actions"]
    costs = np.insert(transitions.costs, last + 1, 0.0)
    return {**found, "costs": costs, "terminated": terminal[last]}
