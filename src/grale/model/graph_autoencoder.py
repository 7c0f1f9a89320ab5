"""What every autoencoder of graphs here can do: GRALE and what the paper compares it with.

An architecture says how a batch becomes losses, latents, logits and a reconstruction; lists of
graphs in, arrays and graphs out, files and the hub are the same for all.

Departures: not in the paper.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from huggingface_hub import ModelHubMixin
from jaxtyping import Float
from torch import Tensor, nn

from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.graphs.space import GraphSpace
from grale.model import decoding, inference, reconstruction, storage
from grale.model import search as search_module
from grale.model.decoder import GraphLogits
from grale.model.failures import OnError, run_on_good
from grale.model.refined_encoding import Refinement

if TYPE_CHECKING:
    from numpy.typing import NDArray


class GraphAutoencoder(
    nn.Module, ModelHubMixin, library_name="grale", tags=["graphs", "autoencoder"]
):
    """Autoencoder over the graphs of one space."""

    architecture: ClassVar[str]
    """Name in configs and in saved models."""
    config_class: ClassVar[type[Any]]
    """Dataclass of its settings."""
    groups_by_size: ClassVar[bool] = True
    """Whether graphs of a training batch may be of similar size, which saves time."""

    def __init__(self, space: GraphSpace, config: Any) -> None:
        super().__init__()
        self.space, self.config = space, config

    @property
    @abstractmethod
    def latent_dim(self) -> int:
        """Length of one embedding row."""

    @abstractmethod
    def losses(
        self, graphs: GraphBatch, noise: Float[Tensor, "B ..."]
    ) -> dict[str, Float[Tensor, ""]]:
        """Loss of a training batch under "loss", and what else belongs into the log."""

    @abstractmethod
    def draw_noise(self, count: int, generator: torch.Generator) -> Float[Tensor, "B ..."]:
        """Randomness of one training step for `count` graphs, a row for each."""

    @abstractmethod
    def embed(self, graphs: GraphBatch) -> Float[Tensor, "B Z"]:
        """Latents of a batch; nothing random."""

    @abstractmethod
    def logits_of(self, latents: Float[Tensor, "B Z"]) -> GraphLogits:
        """Decode rows of latents; the model chooses sizes."""

    @abstractmethod
    def rebuild(
        self, graphs: GraphBatch, at_size: bool, latents: Float[Tensor, "B Z"] | None = None
    ) -> GraphBatch:
        """Encode and decode; column i of the result plays column i of `graphs`.

        With `at_size` the model is told the number of nodes; `latents` are decoded instead of the
        encoder's.
        """

    def start_refining(self, graphs: GraphBatch) -> Refinement:
        """Latents of a batch, and the loss that moves them (`grale.model.refined_encoding`)."""
        raise ValueError(f"{self.architecture} cannot refine latents; leave `refine` out")

    def recompute_activations(self, wanted: bool) -> None:
        """Trade time for memory in training: recompute layers in the backward pass, or not."""
        if wanted:
            raise ValueError(f"{self.architecture} cannot recompute activations; leave it out")

    def encode(
        self,
        graphs: Sequence[Any],
        batch_size: int = 256,
        on_error: OnError = "raise",
        refine: int = 0,
    ) -> NDArray[np.float32]:
        """Embed graphs: one row of length `latent_dim` per graph, in order.

        Parameters
        ----------
        graphs
            `grale.Graph`, networkx graphs or PyG `Data`, mixed as you like; for a model of
            molecules SMILES and RDKit molecules, too.
        batch_size
            Graphs encoded at once; they are grouped by size first.
        on_error
            What to do with a graph the model cannot hold: "raise", "null" (its row is NaN) or
            "skip" (it has no row). `why_not` gives the reasons.
        refine
            Vectors that do not decode to their graph are moved by so many gradient steps at most,
            until they do (decisions/011). 0 leaves them as the encoder gives them.
        """
        return inference.encode(self, graphs, batch_size, on_error, refine)

    def why_not(self, graphs: Sequence[Any]) -> list[str | None]:
        """Say for each graph why the model cannot take it, or None if it can."""
        screened = inference.screen(graphs, self.space)
        return [item if isinstance(item, str) else None for item in screened]

    def decode(
        self,
        latents: NDArray[np.floating[Any]],
        batch_size: int = 256,
        search: int = 1,
        on_error: OnError = "raise",
    ) -> list[Graph | None]:
        """Turn embedding rows into the most likely graphs; the model chooses their sizes.

        With a `search` above 1, so many of the likeliest graphs of a row are embedded until one
        falls on the row itself, as the graph that was encoded does (`verify` tells). Where none
        does, the likeliest is returned as usual. A row that is not finite, as `encode` leaves for
        a graph it cannot take, fails: it raises, is None ("null") or is left out ("skip").
        """

        def run(rows: NDArray[Any]) -> list[Graph]:
            return decoding.decode(self, rows, batch_size, search)

        return run_on_good(run, np.asarray(latents), inference.are_finite(latents), on_error)

    def verify(
        self,
        graphs: Sequence[Any],
        latents: NDArray[np.floating[Any]],
        batch_size: int = 256,
    ) -> NDArray[np.bool_]:
        """Say of each graph whether its embedding is its row, to a thousandth of its length.

        The graph that was encoded passes. For a trained GRALE no other graph is known to; models
        that cannot tell two graphs apart (untrained ones, rivals) give both the same answer.
        """
        return search_module.verify(self, graphs, latents, batch_size)

    def decode_smiles(
        self,
        latents: NDArray[np.floating[Any]],
        tries: int = 1,
        batch_size: int = 256,
        search: int = 1,
        on_error: OnError = "raise",
    ) -> list[str | None]:
        """Turn embedding rows into SMILES, None where no valid molecule was found.

        Charges and hydrogens are restored. With `tries` above 1, rows whose likeliest graph is no
        valid molecule go on with the next likeliest, so many graphs at most. `search` as in
        `decode`: a graph that is found so comes before the likeliest. `on_error` as in `decode`.
        """

        def run(rows: NDArray[Any]) -> list[str | None]:
            found = decoding.decode_smiles(self, rows, batch_size, 1, tries, search)
            return [best[0] if best else None for best in found]

        return run_on_good(run, np.asarray(latents), inference.are_finite(latents), on_error)

    def decode_candidates(
        self,
        latents: NDArray[np.floating[Any]],
        candidates: int = 5,
        tries: int = 20,
        batch_size: int = 256,
        search: int = 1,
    ) -> list[list[str]]:
        """Turn embedding rows into several distinct SMILES each, the likeliest first.

        At most `tries` graphs are looked at for each of the `candidates`. With a `search`, a graph
        that is found by it comes before them.
        """
        return decoding.decode_smiles(self, latents, batch_size, candidates, tries, search)

    def reconstruct(
        self,
        graphs: Sequence[Any],
        batch_size: int = 256,
        search: int = 1,
        on_error: OnError = "raise",
        refine: int = 0,
    ) -> list[Graph | None]:
        """Encode and decode; nodes come in the input's order where matched, others after.

        `search` as in `decode`, `refine` and `on_error` as in `encode`: None in the place of a
        graph that the model cannot take, or nothing.
        """

        def run(items: Sequence[Any]) -> list[Graph]:
            options = {"search": search, "refine": refine}
            return reconstruction.reconstruct(self, items, batch_size, **options).graphs

        if on_error == "raise":
            return [*run(graphs)]
        screened = inference.screen(graphs, self.space)
        is_good = np.array([isinstance(item, Graph) for item in screened], dtype=bool)
        return run_on_good(run, screened, is_good, on_error)

    def _save_pretrained(self, save_directory: Path) -> None:
        storage.save(self, save_directory)

    @classmethod
    def _from_pretrained(cls, *, model_id: str, **options: Any) -> Any:
        folder = storage.find(model_id, **options)
        space, config = storage.read_config(folder, cls.architecture, cls.config_class)
        return storage.load_weights(cls(space, config), folder)
