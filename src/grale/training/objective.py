"""What a run minimises, as a module from a `StepInput` to values: distributed, compiled, autocast.

reconstruct   the model's loss of a batch (paper: algorithm "GRALE Loss")
match         edits between the two graphs of random pairs under the soft plan of the matcher
              (paper: "we fine-tune the matcher on random pairs of graphs")
flow          the velocity of a prior over the latents of another model (decisions/015)
regress       the latent of a graph from an input (paper: "Graph prediction", first stage)
predict       a graph from an input (its second stage, and the rivals of that table)
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from grale.codec.graph_autoencoder import GraphAutoencoder
from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.model.autoencoder import GRALE
from grale.model.beyond.pair_costs import PairCosts
from grale.training.config import TrainConfig
from grale.training.evaluation import evaluate
from grale.training.flow_objective import FlowObjective
from grale.training.prediction_objectives import PredictionObjective, RegressionObjective
from grale.training.step_input import StepInput
from grale.training.validation import Validation

VALIDATION_BATCH = 64  # graphs whose loss is taken together


class ReconstructionObjective(nn.Module):
    """Loss of reconstructing a batch of graphs, with its terms for the log."""

    groups_by_size = True
    uses_inputs = False

    def __init__(self, model: GraphAutoencoder, config: TrainConfig) -> None:
        super().__init__()
        self.model = model

    def forward(self, step: StepInput) -> dict[str, Float[Tensor, ""]]:
        """Loss under "loss", and other values for the log."""
        graphs = step.graphs(self.model.space.directed)
        return self.model.losses(graphs, step.noise, step.properties)

    @staticmethod
    def save(model: GraphAutoencoder, folder: Path) -> None:
        """Write the trained model."""
        model.save_pretrained(folder)

    @staticmethod
    def validate(model: GraphAutoencoder, graphs: Sequence[Graph]) -> Validation:
        """Reconstruct held-out graphs, or take their loss if the model has no decoder."""
        if not model.decodes:
            return _held_out_loss(model, graphs)
        found = evaluate(model, graphs)
        return Validation(
            {
                "exact": found.accuracy,
                "edit_distance": found.edit_distance,
                "size_right": found.size_accuracy,
            },
            f"{found.accuracy:.1%} of {found.num_targets} held-out graphs exact, edit distance <= "
            f"{found.edit_distance:.2f}, size right {found.size_accuracy:.1%}",
        )


def _held_out_loss(model: GraphAutoencoder, graphs: Sequence[Graph]) -> Validation:
    """Mean loss of held-out graphs, always in the same batches and with the same noise."""
    generator = torch.Generator().manual_seed(0)
    device = next(model.parameters()).device
    total, count = 0.0, 0
    for start in range(0, len(graphs), VALIDATION_BATCH):
        part = GraphBatch.from_graphs(graphs[start : start + VALIDATION_BATCH])
        noise = model.draw_noise(len(part), generator)
        if len(part) == 1 and count > 0:
            continue  # some losses compare the graphs of a batch
        with torch.no_grad():
            loss = model.losses(part.to(device), noise.to(device))["loss"]
        total, count = total + len(part) * float(loss), count + len(part)
    mean = total / count
    return Validation({"held_out_loss": mean}, f"loss {mean:.4f} of {count} held-out graphs")


class MatchingObjective(nn.Module):
    """Edits per node between pairs of graphs of a batch; the decoder is not used.

    Each graph is encoded once and matched with the next `pairs_per_graph`; the batch wraps around.
    """

    groups_by_size = False
    uses_inputs = False

    def __init__(self, model: GraphAutoencoder, config: TrainConfig) -> None:
        super().__init__()
        assert isinstance(model, GRALE)  # `TrainConfig` refuses others
        self.pairs_per_graph = config.pairs_per_graph
        self.model = model
        model.requires_grad_(False)
        for weight in model.weights_of_matching():
            weight.requires_grad_(True)

    def forward(self, step: StepInput) -> dict[str, Float[Tensor, ""]]:
        """Mean over the pairs under "loss", edits alone under "bound", the marginal error."""
        model, width = self.model, step.node_mask.shape[1]
        graphs = step.graphs(model.space.directed)
        features = model.featurizer(graphs, model.split_noise(step.noise)[0])
        nodes = model.encoder.nodes(features)[:, :width]
        first, second = neighbours(len(graphs), self.pairs_per_graph, nodes.device)
        costs = PairCosts.of(graphs[first], graphs[second], model.space.num_edge_classes)
        log_plan, marginal_error = model.matcher.between_inputs(nodes[first], nodes[second], costs)
        plan = log_plan.exp()
        edits = costs.bound(plan)
        error = (plan.sum(dim=1) - 1).square().sum(dim=1)
        loss = (edits / width + model.config.loss.marginal * error).mean()
        return {
            "loss": loss,
            "bound": edits.mean(),
            "marginal_error": marginal_error.max(),
        }

    @staticmethod
    def save(model: GraphAutoencoder, folder: Path) -> None:
        """Write the trained model."""
        model.save_pretrained(folder)

    @staticmethod
    def validate(model: GraphAutoencoder, graphs: Sequence[Graph]) -> Validation:
        """Match the first half of the held-out graphs with the second."""
        assert isinstance(model, GRALE)
        half = len(graphs) // 2
        found = model.match_many(list(zip(graphs[:half], graphs[half:])))
        bound = sum(match.edit_distance for match in found) / half
        return Validation(
            {"edit_distance": bound}, f"edit distance <= {bound:.2f} over {half} held-out pairs"
        )


def neighbours(
    count: int, pairs_per_graph: int, device: torch.device
) -> tuple[Int[Tensor, " P"], Int[Tensor, " P"]]:
    """Rows of the first and second graph of each pair; no pair of rows comes twice.

    >>> [rows.tolist() for rows in neighbours(4, 8, torch.device("cpu"))]
    [[0, 1, 2, 3, 0, 1], [1, 2, 3, 0, 2, 3]]
    """
    rows = torch.arange(count, device=device)
    firsts, seconds = [], []
    for step in range(1, min(pairs_per_graph, count // 2) + 1):
        kept = rows[: count // 2] if 2 * step == count else rows  # others come twice
        firsts.append(kept)
        seconds.append((kept + step) % count)
    return torch.cat(firsts), torch.cat(seconds)


OBJECTIVES: dict[str, Any] = {
    "reconstruct": ReconstructionObjective,
    "match": MatchingObjective,
    "flow": FlowObjective,
    "regress": RegressionObjective,
    "predict": PredictionObjective,
}
