"""The heads of Trimetric as pure functions of JAX, with parameters as nested dictionaries.

A head is `head(params, x, y)`; `head.init(key)` makes the parameters.  Their names are those of the PyTorch module of
the same name, so that `params_of` and `load_params` convert both ways.
"""

from trimetric._support.optional import needing as _needing

with _needing("trimetric.integrations.jax", "jax"):
    import jax as _jax

from trimetric.integrations.jax.convert import head_of as head_of
from trimetric.integrations.jax.convert import load_params as load_params
from trimetric.integrations.jax.convert import params_of as params_of
from trimetric.integrations.jax.distances import interval_quasimetric as interval_quasimetric
from trimetric.integrations.jax.distances import norm_induced as norm_induced
from trimetric.integrations.jax.distances import residual_metric as residual_metric
from trimetric.integrations.jax.heads import Head as Head
from trimetric.integrations.jax.heads import NormHead as NormHead
from trimetric.integrations.jax.norms import deep_norm as deep_norm
from trimetric.integrations.jax.norms import euclidean as euclidean
from trimetric.integrations.jax.norms import mahalanobis as mahalanobis
from trimetric.integrations.jax.norms import symmetrized as symmetrized
from trimetric.integrations.jax.norms import wide_norm as wide_norm
from trimetric.integrations.jax.wrappers import calibrated as calibrated
from trimetric.integrations.jax.wrappers import corridor_metric as corridor_metric
from trimetric.integrations.jax.wrappers import neural_metric as neural_metric
from trimetric.integrations.jax.wrappers import symmetrized_metric as symmetrized_metric
from trimetric.integrations.jax.wrappers import toll_metric as toll_metric
from trimetric.integrations.jax.wrappers import wide_metric as wide_metric
