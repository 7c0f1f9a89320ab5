"""Attention as one would first write it: graph by graph, head by head, entry by entry."""

import torch


def attention_reference(queries, keys, values, bias=None):
    """Softmax(Q K^T / sqrt(d) + bias) V; all of shape B H N d, bias of shape B H N M."""
    out = torch.zeros_like(queries)
    for b in range(queries.shape[0]):
        for h in range(queries.shape[1]):
            for i in range(queries.shape[2]):
                scores = [q_dot(queries[b, h, i], key) for key in keys[b, h]]
                if bias is not None:
                    scores = [score + bias[b, h, i, j] for j, score in enumerate(scores)]
                weights = torch.stack(scores).exp()
                out[b, h, i] = (weights / weights.sum()) @ values[b, h]
    return out


def q_dot(query, key):
    return (query * key).sum() / len(query) ** 0.5


def multi_head_reference(query, key, value, combine, num_heads, bias=None):
    """CONCAT of the heads, then the output projection; inputs B N d, bias B H N M."""
    width = query.shape[-1] // num_heads
    heads = []
    for h in range(num_heads):
        own = slice(h * width, (h + 1) * width)
        own_bias = None if bias is None else bias[:, h : h + 1]
        heads.append(
            attention_reference(
                query[:, None, :, own], key[:, None, :, own], value[:, None, :, own], own_bias
            )[:, 0]
        )
    return combine(torch.cat(heads, dim=-1))


def triangle_reference(layer, edges, node_mask):
    """A_ijk = Softmax_k(<q_ij, k_ik>) over real k, then sum_k A_ijk v_ik, per head."""
    attention = layer.attention
    query, key, value = attention.project(edges).chunk(3, dim=-1)
    width = edges.shape[-1] // attention.num_heads
    heads = []
    for h in range(attention.num_heads):
        own = slice(h * width, (h + 1) * width)
        scores = torch.einsum("bija,bika->bijk", query[..., own], key[..., own]) / width**0.5
        weights = scores.exp() * node_mask[:, None, None, :]
        weights = weights / weights.sum(dim=-1, keepdim=True)
        heads.append(torch.einsum("bijk,bika->bija", weights, value[..., own]))
    return attention.combine(torch.cat(heads, dim=-1))
