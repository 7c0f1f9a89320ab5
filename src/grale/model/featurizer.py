"""Featurizers phi and phi* (paper: appendix "Featurizer").

    F(x)    = CONCAT[F_0, A F_0, ..., A^k F_0]
    C_ij(x) = CONCAT[F_i, F_j, ONE-HOT(A_ij), PE(SP_ij)]    (edge labels, if any, replace A)
    phi(x)  = (F(x) + Noise, C(x)),   phi*(x) = PADDING(F(x), C(x))

C is never concatenated: its parts are passed on, and the encoder's first linear layer is applied
to each part (`backbone.py`).

Departures: at inference, the noise follows a node's canonical position (decisions/003). Some labels
may be hidden from the encoder in training (decisions/013). The encoding of "no path" is zero.
Targets hold ONE-HOT and PE only, since F_i and F_j are scored at the nodes.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import one_hot

from grale.codec.values import VALUE_SCALE, edge_values, node_values
from grale.graphs.batch import GraphBatch
from grale.graphs.canonical import by_canonical_position, canonical_positions
from grale.graphs.paths import UNREACHABLE, diffuse_labels
from grale.graphs.permute import inverse_permutation, permute_batch
from grale.graphs.space import GraphSpace
from grale.model.config import FeaturizerConfig
from grale.nn.positions import path_encoding


@dataclass(frozen=True)
class GraphInputs:
    """phi(x), in parts."""

    graphs: GraphBatch
    node_feats: Float[Tensor, "B N n_f"]
    """F without noise; zero on padding."""
    noise: Float[Tensor, "B N n_f"]
    """Added to F at the input: noise, minus hidden labels; zero on padding."""
    path_code: Int[Tensor, "B N N"]
    """Row of the path encoding of each pair: its length, or max_nodes for no path."""
    path_table: Float[Tensor, "P n_p"]
    """The path encoding (paper: PE)."""
    node_values: Float[Tensor, "B N f"] | None = None
    """Continuous features, standardised; None if graphs have none."""
    edge_values: Float[Tensor, "B N N g"] | None = None


@dataclass(frozen=True)
class GraphTargets:
    """phi*(x): what the decoder should predict, one entry per term of the loss."""

    node_mask: Float[Tensor, "B N"]
    node_label: Float[Tensor, "B N n_0"]
    node_feature: Float[Tensor, "B N n_d"]
    edge_label: Float[Tensor, "B N N n_c"]
    edge_feature: Float[Tensor, "B N N n_p"]

    def __getitem__(self, rows: list[int]) -> GraphTargets:
        return GraphTargets(*(getattr(self, field.name)[rows] for field in fields(self)))


class Featurizer(nn.Module):
    """Turns batches of labelled graphs into inputs and targets; has no weights."""

    path_table: Float[Tensor, "P n_p"]
    noise_table: Float[Tensor, "N n_f"]

    def __init__(self, space: GraphSpace, config: FeaturizerConfig) -> None:
        super().__init__()
        self.space, self.config = space, config
        self.feature_dim = space.num_node_labels * (config.diffusion_order + 1)
        self.path_dim = config.path_dim if config.use_paths else 0
        self.register_buffer(
            "path_table", path_encoding(space.max_nodes, self.path_dim), persistent=False
        )
        self.register_buffer("noise_table", self._table(0), persistent=False)

    def forward(
        self, graphs: GraphBatch, noise: Float[Tensor, "B M n"] | None = None
    ) -> GraphInputs:
        """phi(x), with noise from :meth:`draw_noise`, or by default by canonical position."""
        labels = self._one_hot_nodes(graphs)
        node_feats = self._diffused(labels, graphs)
        drawn = self.canonical_noise(graphs) if noise is None else noise[:, : graphs.max_nodes]
        noise = drawn[..., : self.feature_dim] * graphs.node_mask[..., None] * self.config.noise_std
        if drawn.shape[-1] > self.feature_dim:
            is_seen = drawn[..., -1:] >= self.config.hidden_share
            noise = noise + self._diffused(labels * is_seen, graphs) - node_feats
        return GraphInputs(
            graphs,
            node_feats,
            noise,
            self._path_code(graphs),
            self.path_table,
            node_values(graphs, self.space),
            edge_values(graphs, self.space),
        )

    def in_canonical_order(self, graphs: GraphBatch) -> tuple[GraphInputs, Int[Tensor, "B M"]]:
        """phi(x) of the graphs with their nodes in canonical order, and each node's place in it.

        So all rounding, and every tie, is the same however the nodes were numbered.
        """
        places = canonical_positions(told_apart(graphs, self.space))
        ordered = permute_batch(graphs, inverse_permutation(places))
        noise = self.noise_table[: graphs.max_nodes].expand(len(graphs), -1, -1)
        return self(ordered, noise), places

    @property
    def node_target_dim(self) -> int:
        """Continuous targets of a node: diffused labels and features."""
        labels = self.space.num_node_labels
        return self.feature_dim - labels + self.space.node_feature_dim

    @property
    def edge_target_dim(self) -> int:
        """Continuous targets of a pair: its encoded path and features."""
        return self.path_dim + self.space.edge_feature_dim

    def draw_noise(self, count: int, generator: torch.Generator) -> Float[Tensor, "B N n"]:
        """Fresh noise for a training batch of `count` graphs of any size.

        Standard normal numbers for the features and, if labels are hidden, one uniform number for
        each node: its label is hidden if that is below the share.
        """
        shape = (count, self.space.max_nodes, self.feature_dim)
        noise = torch.randn(shape, generator=generator, device=generator.device)
        if self.noise_dim > self.feature_dim:
            chance = torch.rand((*shape[:2], 1), generator=generator, device=generator.device)
            noise = torch.cat([noise, chance], dim=-1)
        return noise.to(self.noise_table)

    @property
    def noise_dim(self) -> int:
        """Numbers that :meth:`draw_noise` draws for each node."""
        return self.feature_dim + (self.config.hidden_share > 0)

    def targets(self, inputs: GraphInputs) -> GraphTargets:
        """phi*(x), computed from phi(x)."""
        graphs = inputs.graphs
        num_labels = self.space.num_node_labels
        dtype = inputs.node_feats.dtype
        return GraphTargets(
            graphs.node_mask.to(dtype),
            inputs.node_feats[..., :num_labels],
            _joined(inputs.node_feats[..., num_labels:], inputs.node_values),
            one_hot(graphs.edge_labels, self.space.num_edge_classes).to(dtype),
            _joined(self.path_table[inputs.path_code], inputs.edge_values),
        )

    def _diffused(
        self, labels: Float[Tensor, "B N n_0"], graphs: GraphBatch
    ) -> Float[Tensor, "B N n_f"]:
        return diffuse_labels(labels, graphs.adjacency, self.config.diffusion_order)

    def _one_hot_nodes(self, graphs: GraphBatch) -> Float[Tensor, "B N n_0"]:
        labels = one_hot(graphs.node_labels, self.space.num_node_labels)
        return (labels * graphs.node_mask[..., None]).to(self.path_table.dtype)

    def _path_code(self, graphs: GraphBatch) -> Int[Tensor, "B N N"]:
        if not self.config.use_paths:
            return torch.zeros_like(graphs.edge_labels)
        lengths = graphs.path_length
        return torch.where(lengths == UNREACHABLE, self.space.max_nodes, lengths)

    def canonical_noise(self, graphs: GraphBatch, draws: int = 1) -> Float[Tensor, "B N n_f"]:
        """Noise by canonical position; with several draws, all graphs under each draw in turn.

        The first draw is the usual one.
        """
        if self.config.noise_std == 0:
            shape = (draws * len(graphs), graphs.max_nodes, self.feature_dim)
            return self.noise_table.new_zeros(shape)
        graphs = told_apart(graphs, self.space)
        others = (self._table(draw).to(self.noise_table) for draw in range(1, draws))
        tables = torch.stack([self.noise_table, *others], dim=1)
        return by_canonical_position(tables, graphs).movedim(2, 0).flatten(0, 1)

    def _table(self, draw: int) -> Float[Tensor, "N n_f"]:
        generator = torch.Generator().manual_seed(self.config.noise_seed + draw)
        shape = (self.space.max_nodes, self.feature_dim)
        return torch.randn(shape, generator=generator, dtype=torch.float32)


def _joined(targets: Tensor, values: Tensor | None) -> Tensor:
    return targets if values is None else torch.cat([targets, values.to(targets)], dim=-1)


def told_apart(graphs: GraphBatch, space: GraphSpace) -> GraphBatch:
    """Graphs whose node labels also tell continuous features apart, for canonical positions.

    Features count in thousandths of their deviation; those of edges, at both of their ends.
    """
    on_nodes, on_edges = node_values(graphs, space), edge_values(graphs, space)
    labels = graphs.node_labels
    if on_nodes is not None:
        for column in _whole(on_nodes).unbind(-1):
            labels = _hashed(labels * 31 + column)
    if on_edges is not None:
        for column in _whole(on_edges).unbind(-1):
            labels = _hashed(labels * 31 + _hashed(column * graphs.adjacency).sum(dim=2))
    if labels is graphs.node_labels:
        return graphs
    return replace(graphs, node_labels=(labels & _POSITIVE) * graphs.node_mask)


def _whole(values: Tensor) -> Tensor:
    return (values / VALUE_SCALE * 1000).round().long()


def _hashed(values: Tensor) -> Tensor:
    values = (values ^ (values >> 15)) * 0x2545F4914F6CDD1D
    return values ^ (values >> 29)


_POSITIVE = 2**40 - 1  # room for what is computed with labels
