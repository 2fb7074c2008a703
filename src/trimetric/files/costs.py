"""The two costs of travel that files may hold side by side."""

from __future__ import annotations

from typing import Literal

Cost = Literal["duration", "distance"]
