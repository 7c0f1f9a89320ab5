"""Descriptions of graphs or of latents, one row each, in order (decisions/013).

A latent holds everything about its graph, slot by slot. The description does not depend on the
order of the slots: use it to compare graphs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import logsigmoid

from grale.codec.encode import encode
from grale.codec.failures import OnError, are_finite
from grale.codec.intake import check_latents, decoded_at_once, device_of, quietly
from grale.codec.logits import GraphLogits
from grale.codec.options import CodecOptions
from grale.graphs.space import GraphSpace
from grale.nn.attention import full_precision

if TYPE_CHECKING:
    from grale.codec.graph_autoencoder import GraphAutoencoder

NODE_SCALE, EDGE_SCALE = 8.0, 16.0  # make sums over a graph about as large as means
LEAST_MASS = 1e-6


def describe(
    model: GraphAutoencoder, items: Any, options: CodecOptions, on_error: OnError
) -> NDArray[np.float32]:
    """Describe each graph or row of latents; see `GraphAutoencoder.describe`."""
    is_latents = isinstance(items, np.ndarray) and items.dtype.kind == "f" and items.shape != (0,)
    latents = items if is_latents else encode(model, items, options, on_error)
    if on_error == "raise" and is_latents:
        check_latents(latents, model.latent_dim)
    is_good = are_finite(latents)
    result = np.full((len(latents), model.description_dim), np.nan, dtype=np.float32)
    result[is_good] = _described(model, latents[is_good], options.batch_size)
    return result[is_good] if on_error == "skip" else result


@quietly
def _described(
    model: GraphAutoencoder, latents: NDArray[np.float32], batch_size: int
) -> NDArray[np.float32]:
    values = check_latents(latents, model.latent_dim)
    parts = [np.empty((0, model.description_dim), dtype=np.float32)]
    count = decoded_at_once(model, batch_size)
    for start in range(0, len(values), count):
        rows = torch.tensor(values[start : start + count]).to(device_of(model))
        found = model.description_of(rows.to(next(model.parameters()).dtype))
        parts.append(found.float().cpu().numpy())
    return np.concatenate(parts)


def pool_states(
    nodes: Float[Tensor, "B N d"], pairs: Float[Tensor, "B N N e"], logits: GraphLogits
) -> Float[Tensor, "B n_d"]:
    """Pool a decoder's states of slots and pairs of slots, weighted by their probability.

    p_j   = Sigmoid(h_hat_j),  q_jl = p_j p_l (1 - P(no edge between j and l))
    nodes = CONCAT[sum_j p_j F_j / 8,  sum_j p_j F_j / sum_j p_j,  max_j (F_j + log p_j)]
    pairs = CONCAT[sum_jl q_jl C_jl / 16,  sum_jl q_jl C_jl / sum_jl q_jl]
    """
    nodes, pairs, logits = full_precision(nodes), full_precision(pairs), logits.in_full_precision()
    exists = logits.node_mask.sigmoid()[..., None]
    node_sum = (nodes * exists).sum(dim=1)
    node_max = (nodes + logsigmoid(logits.node_mask)[..., None]).amax(dim=1)
    bonded = bond_probability(logits)
    pair_sum = torch.einsum("bjl,bjld->bd", bonded, pairs)
    return torch.cat(
        [
            node_sum / NODE_SCALE,
            node_sum / exists.sum(dim=1).clamp_min(LEAST_MASS),
            node_max,
            pair_sum / EDGE_SCALE,
            pair_sum / bonded.sum(dim=(1, 2))[:, None].clamp_min(LEAST_MASS),
        ],
        dim=1,
    )


def pooled_dim(node_dim: int, pair_dim: int) -> int:
    """Length of what :func:`pool_states` returns."""
    return 3 * node_dim + 2 * pair_dim


def bond_probability(logits: GraphLogits) -> Float[Tensor, "B N N"]:
    """q: both slots exist and an edge joins them; zero on the diagonal."""
    exists = logits.node_mask.sigmoid()
    bonded = 1 - logits.edge_label.softmax(dim=-1)[..., 0]
    bonded = bonded * exists[:, :, None] * exists[:, None, :]
    return bonded * (1 - torch.eye(bonded.shape[1], device=bonded.device, dtype=bonded.dtype))


def describe_logits(logits: GraphLogits) -> Float[Tensor, "B n_d"]:
    """Pool the predictions themselves, for a decoder without hidden states."""
    return pool_states(
        logits.node_label.softmax(dim=-1), logits.edge_label.softmax(dim=-1)[..., 1:], logits
    )


def dim_of_described_logits(space: GraphSpace) -> int:
    """Length of what :func:`describe_logits` returns."""
    return pooled_dim(space.num_node_labels, space.num_edge_labels)
