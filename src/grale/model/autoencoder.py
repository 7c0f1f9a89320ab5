"""GRALE: a graph in, a vector, a graph out (paper: "GRALE architecture", algorithm "GRALE Loss").

    Z, X         = encoder(phi(x))
    G_hat, X_hat = decoder(Z)
    T            = matcher(X, X_hat)
    loss         = L_OT(phi*(x), G_hat, T)

`forward` is that algorithm on a padded batch. `encode`, `decode`, `reconstruct` and `match`
are for users: lists of graphs in, arrays and graphs out, nothing random.

Departures: none here; each part names its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from huggingface_hub import ModelHubMixin
from jaxtyping import Float
from torch import Tensor, nn

from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.graphs.space import GraphSpace
from grale.model import decoding, inference, pairs, storage
from grale.model.config import ModelConfig
from grale.model.decoder import Decoder, GraphLogits
from grale.model.encoder import Encoder
from grale.model.inference import OnError
from grale.model.loss import LossTerms, reconstruction_loss
from grale.model.matcher import SinkhornMatcher

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Reconstruction(NamedTuple):
    """What one pass over a batch gives."""

    logits: GraphLogits
    log_plan: Float[Tensor, "B N N"]
    latent: Float[Tensor, "B K D"]
    terms: LossTerms
    marginal_error: Float[Tensor, " B"]


class GRALE(nn.Module, ModelHubMixin, library_name="grale", tags=["graphs", "autoencoder"]):
    """Graph-level autoencoder over the graphs of one space."""

    def __init__(self, space: GraphSpace, config: ModelConfig) -> None:
        super().__init__()
        self.space, self.config = space, config
        self.encoder = Encoder(space, config)
        self.featurizer = self.encoder.featurizer
        self.decoder = Decoder(space, config, self.featurizer)
        self.matcher = SinkhornMatcher(config.node_dim, config.matcher)

    def forward(
        self, graphs: GraphBatch, noise: Float[Tensor, "B N n_f"] | None = None
    ) -> Reconstruction:
        """Encode, decode, match and compare; `noise` as in `Featurizer.forward`."""
        inputs = self.featurizer(graphs, noise)
        nodes, latent = self.encoder(inputs)
        slots, logits = self.decoder(latent)
        log_plan, marginal_error = self.matcher(nodes, slots)
        targets = self.featurizer.targets(inputs)
        terms = reconstruction_loss(targets, logits, log_plan, self.config.loss)
        return Reconstruction(logits, log_plan, latent, terms, marginal_error)

    def recompute_activations(self, wanted: bool) -> None:
        """Trade time for memory in training: recompute layers in the backward pass, or not."""
        for stack in (self.encoder.evoformer, self.decoder.evoformer):
            stack.recomputes = wanted

    @property
    def latent_dim(self) -> int:
        """Length of one embedding row, K x D."""
        return self.config.num_tokens * self.config.token_dim

    def encode(
        self, graphs: Sequence[Any], batch_size: int = 256, on_error: OnError = "raise"
    ) -> NDArray[np.float32]:
        """Embed graphs: one row of length K x D per graph, in order.

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
        """
        return inference.encode(self, graphs, batch_size, on_error)

    def why_not(self, graphs: Sequence[Any]) -> list[str | None]:
        """Say for each graph why the model cannot take it, or None if it can."""
        screened = inference.screen(graphs, self.space)
        return [item if isinstance(item, str) else None for item in screened]

    def decode(self, latents: NDArray[np.floating[Any]], batch_size: int = 256) -> list[Graph]:
        """Turn embedding rows into the most likely graphs; the model chooses their sizes."""
        return decoding.decode(self, latents, batch_size)

    def decode_smiles(
        self, latents: NDArray[np.floating[Any]], tries: int = 1, batch_size: int = 256
    ) -> list[str | None]:
        """Turn embedding rows into SMILES, None where no valid molecule was found.

        Charges and hydrogens are restored. With `tries` above 1, rows whose likeliest graph is no
        valid molecule go on with the next likeliest, so many graphs at most.
        """
        found = decoding.decode_smiles(self, latents, batch_size, 1, tries)
        return [best[0] if best else None for best in found]

    def decode_candidates(
        self,
        latents: NDArray[np.floating[Any]],
        candidates: int = 5,
        tries: int = 100,
        batch_size: int = 256,
    ) -> list[list[str]]:
        """Turn embedding rows into several distinct SMILES each, the likeliest first."""
        return decoding.decode_smiles(self, latents, batch_size, candidates, tries)

    def reconstruct(self, graphs: Sequence[Any], batch_size: int = 256) -> list[Graph]:
        """Encode and decode; nodes come in the input's order where matched, others after."""
        return inference.reconstruct(self, graphs, batch_size).graphs

    def match(self, first: Any, second: Any) -> pairs.Match:
        """Node correspondence of two graphs, with the edit distance it costs (an upper bound)."""
        return self.match_many([(first, second)])[0]

    def match_many(
        self, graphs: Sequence[tuple[Any, Any]], batch_size: int = 256
    ) -> list[pairs.Match]:
        """Node correspondences of many pairs, in order; each distinct graph is encoded once."""
        return pairs.match_many(self, graphs, batch_size)

    def _save_pretrained(self, save_directory: Path) -> None:
        storage.save(self, save_directory)

    @classmethod
    def _from_pretrained(cls, *, model_id: str, **options: Any) -> GRALE:
        folder = storage.find(model_id, **options)
        space, config = storage.read_config(folder)
        return storage.load_weights(cls(space, config), folder)
