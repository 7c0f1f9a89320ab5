"""The affinity matrix that graph-matching solvers maximise (paper: table on graph matching).

    K_(ij),(ij) = 1[f_i = g_j],    K_(ij),(kl) = 1/2 (1[C_ik = D_jl] + 1[D_jl != none])
    Edit = n_2 + n_1 (n_1 - 1) / 2 + m_2 - x' K x

for n_1 <= n_2 nodes, i != k and j != l; m_2 is the number of edges of the second graph. The index
of (i, j) is j n_1 + i. K is not negative, which the solvers need.

The paper does not print its affinity.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float32

from grale.graphs.graph import Graph


def affinity(g1: Graph, g2: Graph) -> Float32[np.ndarray, "M M"]:
    """K of two undirected graphs, the first not larger than the second."""
    n1, n2 = g1.num_nodes, g2.num_nodes
    if n1 > n2:
        raise ValueError(f"the first graph has {n1} nodes, more than the second ({n2}); swap them")
    if g1.directed or g2.directed:
        raise ValueError("the affinity is for undirected graphs")
    first, second = g1.label_matrix(), g2.label_matrix()
    equal = first[None, :, None, :] == second[:, None, :, None]  # j i l k
    values = 0.5 * equal + 0.5 * (second != 0)[:, None, :, None]
    values = values * ~np.eye(n1, dtype=bool)[None, :, None, :]
    values = values * ~np.eye(n2, dtype=bool)[:, None, :, None]
    matrix = values.reshape(n1 * n2, n1 * n2)
    labels = g1.node_labels[None, :] == g2.node_labels[:, None]
    np.fill_diagonal(matrix, labels.reshape(-1))
    return matrix.astype(np.float32)
