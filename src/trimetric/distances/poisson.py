"""Poisson quasimetrics: how likely random counts are in the wrong order."""

from __future__ import annotations

import math
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from trimetric._audit.axioms import Axioms
from trimetric._support import checks
from trimetric.distances.base import Distance
from trimetric.distances.groups import Groups
from trimetric.kernels.poisson import log_probability_not_larger
from trimetric.norms.activations import PoolName
from trimetric.norms.constraints import nonnegative

PoissonShape = Literal["half-line", "gaussian"]


class PoissonQuasimetric(Distance):
    r"""The pooled $\alpha_i\,(1 - \prod_j \Pr[N_j(x) \le N_j(y)])$ over groups of coordinates $j$; $\alpha_i \ge 0$.

    $N_j(x)$ counts the points of a Poisson process in a set $A_j(x)$, with the same process for all points x (PQE, Wang
    and Isola 2022).  For one draw of the processes, let $q(x, y)$ be 0 if $N_j(x) \le N_j(y)$ for all j, and 1
    otherwise.  Then $q(x, x) = 0$, and if q is 0 for $(x, y)$ and for $(y, z)$ then it is 0 for $(x, z)$: q is a
    quasimetric.  The value of a group is the mean of q over draws.  Only the measures of set differences matter:
    $N_j(x) \le N_j(y)$ if a Poisson variable of rate $a = \mu(A_j(x) \setminus A_j(y))$ is not larger than an
    independent one of rate $b = \mu(A_j(y) \setminus A_j(x))$.

    - `shape="half-line"` (LH): $A(x) = (-\infty, x)$ under the Lebesgue measure.  One set contains the other, so the
      probability is $e^{-(x_j - y_j)^+}$, and a group is $1 - \exp(-\sum_j (x_j - y_j)^+)$.
    - `shape="gaussian"` (GG): $A(x)$ is the half-line, of weight $\lambda_j \ge 0$, and in addition the region below
      the density of $\mathcal N(x, 1)$, of weight $c_j \ge 0$, both learned.  Two such regions differ by
      $g = 2\Phi(|x_j - y_j|/2) - 1$ in either direction, so $a = \lambda_j (x_j - y_j)^+ + c_j\,g$ and
      $b = \lambda_j (y_j - x_j)^+ + c_j\,g$.  Neither set contains the other, so both counts are random.  The published
      form weighs the region by a Gaussian around 0 instead of adding a half-line: rates and gradients then
      vanish far from 0 (deviation D14).

    A group saturates at $\alpha_i$: wrap it in `Calibrated`, or fit $\gamma$-discounted distances.

    Args:
        dim: number of coordinates.
        components: groups of coordinates; by default groups of 4.
        shape: of the sets.
        pool: of the components.

    Examples:
        >>> distance = PoissonQuasimetric(1)
        >>> x, y = torch.tensor([0.0]), torch.tensor([1.0])
        >>> round(distance(y, x).item(), 4), bool(distance(x, y) == 0)  # 1 - 1/e down, nothing up
        (0.6321, True)
    """

    def __init__(
        self,
        dim: int,
        *,
        components: int | None = None,
        shape: PoissonShape = "half-line",
        pool: PoolName = "mean",
    ) -> None:
        checks.one_of("shape", shape, ("half-line", "gaussian"))
        groups = Groups(dim, components, width=4)  # a wider one is near 1 for most pairs at the start
        super().__init__(dim, num_components=groups.count, pool=pool)
        self.groups, self.shape = groups, shape
        self.raw_weight = nn.Parameter(torch.ones(groups.count))
        if shape == "gaussian":
            self.raw_rates = nn.Parameter(torch.ones(2, groups.count, groups.width))
        self.axioms = Axioms(homogeneous=False)

    @property
    def weight(self) -> Float[Tensor, " k"]:
        """The weights alpha of the groups."""
        return nonnegative(self.raw_weight)

    @property
    def rates(self) -> Float[Tensor, "2 k w"]:
        """The weights lambda of the half-lines and c of the Gaussian regions."""
        return nonnegative(self.raw_rates)

    def components(
        self, x: Float[Tensor, "*#batch dim"], y: Float[Tensor, "*#batch dim"]
    ) -> Float[Tensor, "*#batch k"]:
        excess = self.groups.split(x - y)
        if self.shape == "half-line":
            log_ordered = -excess.relu()
        else:
            half_line, gaussian = self.rates
            common = gaussian * torch.erf(excess.abs() / math.sqrt(8))  # erf(t / sqrt 2) = 2 Phi(t) - 1
            log_ordered = log_probability_not_larger(
                torch.addcmul(common, half_line, excess.relu()), torch.addcmul(common, half_line, (-excess).relu())
            )
        return self.weight * -torch.expm1(log_ordered.sum(dim=-1))

    @property
    def definition_floats(self) -> int:
        return (4 if self.shape == "half-line" else 16) * self.num_components * self.groups.width
