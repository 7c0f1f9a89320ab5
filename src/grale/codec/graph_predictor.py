"""What every predictor of graphs can do: GRALE's, and those the paper compares it with.

    G_hat = f(phi(x))

An architecture defines how inputs and graphs become losses, and inputs logits. Lists, files and the
hub are handled here, in the same way for all.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from huggingface_hub import ModelCard, ModelHubMixin
from jaxtyping import Float, Int, UInt8
from torch import Tensor

from grale.codec import predict as predicting
from grale.codec import storage
from grale.codec.card import card_of_predictor, remove_stale_card
from grale.codec.failures import OnError
from grale.codec.identified import Identified
from grale.codec.logits import GraphLogits
from grale.codec.options import CodecOptions
from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.graphs.space import GraphSpace
from grale.inputs.reader import draw_turns
from grale.inputs.space import InputSpace

if TYPE_CHECKING:
    from collections.abc import Mapping


class GraphPredictor(
    Identified, ModelHubMixin, library_name="grale", tags=["graphs", "graph prediction"]
):
    """From inputs of one space to graphs of another."""

    architecture: ClassVar[str]
    """Name in settings and in saved models."""
    config_class: ClassVar[type[Any]]
    """Dataclass of its settings: `inputs`, `reader`, and what else it needs."""
    groups_by_size: ClassVar[bool] = True
    needs_size: ClassVar[bool] = False
    """Whether its published form is told the number of nodes; otherwise it predicts it."""
    predicts_edge_labels: ClassVar[bool] = True
    """Whether it tells edges apart, or predicts adjacency alone: every edge is labelled 1."""
    former_names: ClassVar[Mapping[str, str]] = {}

    def __init__(self, space: GraphSpace, config: Any) -> None:
        super().__init__()
        self.space, self.config = space, config
        self.num_draws = 0
        """Random numbers that a training step needs for each graph, besides turns of images."""

    @property
    def inputs(self) -> InputSpace:
        """Which inputs it takes."""
        found: InputSpace = self.config.inputs
        return found

    @abstractmethod
    def losses(
        self,
        graphs: GraphBatch,
        inputs: UInt8[Tensor, "B w"],
        noise: Float[Tensor, "B R"],
    ) -> dict[str, Float[Tensor, ""]]:
        """Loss of a training batch under "loss", and other values for the log."""

    @abstractmethod
    def logits_of(
        self, inputs: UInt8[Tensor, "B w"], num_nodes: Int[Tensor, " B"] | None = None
    ) -> GraphLogits:
        """Predict; `num_nodes` is the true size, which most predictors do not use here."""

    def draw_noise(self, count: int, generator: torch.Generator) -> Float[Tensor, "B R"]:
        """Randomness of one training step: how each image is turned, then numbers in [0, 1)."""
        turns = draw_turns(self.inputs, self.config.reader, count, generator)
        return torch.cat([turns, torch.rand(count, self.num_draws, generator=generator)], dim=1)

    def recompute_activations(self, wanted: bool) -> None:
        """Refuse to trade time for memory: predictors do not."""
        if wanted:
            raise ValueError("predictors do not recompute activations; leave out --recompute")

    def predict(
        self,
        inputs: Any,
        batch_size: int = 256,
        on_error: OnError = "raise",
        sizes: Sequence[int] | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> list[Graph | None]:
        """Predict the graph of each input, in order.

        Parameters
        ----------
        inputs
            Arrays: images of the model's size (bytes, or numbers in [0, 1]), or fingerprints; for
            a model of fingerprints also SMILES and RDKit molecules.
        batch_size
            Inputs at once.
        on_error
            What to do with an input that the model cannot take: "raise", "null" (its graph is
            None) or "skip" (it has no entry). `why_not` gives the reasons.
        sizes
            The true numbers of nodes, if they are known (as in the paper's measure); None to let
            the model decide.
        progress
            Called after each batch with the number of its inputs.
        """
        return predicting.predict(self, inputs, batch_size, on_error, sizes, progress)

    def predict_candidates(
        self,
        inputs: Any,
        candidates: int = 10,
        tries: int = 20,
        batch_size: int = 256,
    ) -> list[list[Graph]]:
        """Several distinct graphs for each input, the likeliest first.

        At most `tries` graphs are looked at for each of the `candidates`. In a molecular space,
        graphs that are not molecules are left out.
        """
        options = CodecOptions(batch_size=batch_size, molecule_tries=tries, candidates=candidates)
        return predicting.predict_candidates(self, inputs, options)

    def why_not(self, inputs: Any) -> list[str | None]:
        """Say for each input why the model cannot take it, or None if it can."""
        rows = predicting.screen_inputs(inputs, self.inputs)
        return [row if isinstance(row, str) else None for row in rows]

    def _save_pretrained(self, save_directory: Path) -> None:
        storage.save(self, save_directory)
        remove_stale_card(save_directory)

    def generate_model_card(self, *args: Any, **kwargs: Any) -> ModelCard:
        """Card of a saved predictor."""
        return ModelCard(card_of_predictor(self))

    @classmethod
    def from_pretrained(cls, pretrained_model_name_or_path: str | Path, **options: Any) -> Any:
        """Load a predictor of this class from a folder, or by its id from the hub."""
        return storage.load(cls, storage.find(str(pretrained_model_name_or_path), **options))
