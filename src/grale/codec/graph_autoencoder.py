"""What every autoencoder of graphs can do: GRALE and the models the paper compares it with.

An architecture defines how a batch becomes losses, latents, logits and a reconstruction. Lists of
graphs, arrays, files and the hub are handled here, in the same way for all.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from huggingface_hub import ModelCard, ModelHubMixin
from jaxtyping import Float
from torch import Tensor

from grale.codec import decode as decoding
from grale.codec import describe as describing
from grale.codec import encode as encoding
from grale.codec import prior_storage, storage
from grale.codec import search as searching
from grale.codec.card import card_of, remove_stale_card
from grale.codec.encoded_batch import EncodedBatch
from grale.codec.failures import OnError, are_finite, check_on_error, run_on_good
from grale.codec.intake import rows_to_decode, screen
from grale.codec.logits import GraphLogits
from grale.codec.options import CodecOptions
from grale.codec.reconstruct import reconstruct, reconstruct_good
from grale.codec.with_prior import WithPrior
from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.graphs.space import GraphSpace
from grale.nn.recompute import RecomputingStack

if TYPE_CHECKING:
    from numpy.typing import NDArray


class GraphAutoencoder(
    WithPrior, ModelHubMixin, library_name="grale", tags=["graphs", "autoencoder"]
):
    """Autoencoder over the graphs of one space."""

    architecture: ClassVar[str]
    """Name in settings and in saved models."""
    config_class: ClassVar[type[Any]]
    """Dataclass of its settings."""
    groups_by_size: ClassVar[bool] = True
    """Whether a training batch may hold graphs of similar size only, which saves time."""
    decodes: ClassVar[bool] = True
    """Whether graphs come back from its embeddings; see `grale.codec.graph_embedder`."""
    former_names: ClassVar[Mapping[str, str]] = {}
    """Names of parts in older files of weights, and their names now."""

    def __init__(self, space: GraphSpace, config: Any) -> None:
        super().__init__()
        self.space, self.config = space, config

    @property
    @abstractmethod
    def latent_dim(self) -> int:
        """Length of one embedding row."""

    @property
    @abstractmethod
    def description_dim(self) -> int:
        """Length of one description."""

    @abstractmethod
    def losses(
        self,
        graphs: GraphBatch,
        noise: Float[Tensor, "B ..."],
        properties: Float[Tensor, "B p"] | None = None,
    ) -> dict[str, Float[Tensor, ""]]:
        """Loss of a training batch under "loss", and other values for the log."""

    @abstractmethod
    def draw_noise(self, count: int, generator: torch.Generator) -> Float[Tensor, "B ..."]:
        """Randomness of one training step for `count` graphs, one row each."""

    @abstractmethod
    def encoded(self, graphs: GraphBatch) -> EncodedBatch:
        """Encode a batch once, without randomness."""

    @abstractmethod
    def logits_of(self, latents: Float[Tensor, "B Z"]) -> GraphLogits:
        """Decode rows of latents; the model chooses sizes."""

    @abstractmethod
    def description_of(self, latents: Float[Tensor, "B Z"]) -> Float[Tensor, "B n_d"]:
        """Describe rows of latents; gradients pass through to the latents."""

    def embed(self, graphs: GraphBatch) -> Float[Tensor, "B Z"]:
        """Latents of a batch."""
        return self.encoded(graphs).latents

    def rebuild(self, graphs: GraphBatch, at_size: bool) -> GraphBatch:
        """Encode and decode; column i of the result plays column i of `graphs`."""
        encoded = self.encoded(graphs)
        return encoded.rebuild(encoded.latents, at_size)

    def recompute_activations(self, wanted: bool) -> None:
        """Trade time for memory in training: recompute layers in the backward pass, or not."""
        parts = [part for part in self.modules() if isinstance(part, RecomputingStack)]
        if wanted and not parts:
            raise ValueError(
                f"no part of this {self.architecture} model can recompute activations; leave it out"
            )
        for part in parts:
            part.recomputes = wanted

    def encode(
        self,
        graphs: Iterable[Any],
        batch_size: int = 256,
        on_error: OnError = "raise",
        refine: int = 0,
        progress: Callable[[int], object] | None = None,
    ) -> NDArray[np.float32]:
        """Embed graphs: one row of length `latent_dim` per graph, in order.

        The vectors decode to their graphs. To compare graphs, use `describe`.

        Parameters
        ----------
        graphs
            A list, a column of a data frame, an array or a generator of `grale.Graph`, networkx
            graphs or PyG `Data`, in any mix; also of SMILES and RDKit molecules, if the model was
            trained on molecules.
        batch_size
            Graphs encoded at once; they are grouped by size first.
        on_error
            What to do with a graph that the model cannot take: "raise", "null" (its row is NaN) or
            "skip" (it has no row). `why_not` gives the reasons.
        refine
            At most this many gradient steps on a vector that does not decode to its graph, until
            it does (decisions/011).
        progress
            Called after each batch with the number of its graphs.
        """
        options = CodecOptions(batch_size=batch_size, refine_steps=refine)
        return encoding.encode(self, graphs, options, on_error, progress)

    def describe(
        self,
        graphs_or_latents: Any,
        batch_size: int = 256,
        on_error: OnError = "raise",
    ) -> NDArray[np.float32]:
        """Describe graphs, or rows from `encode`: one row of `description_dim` each, in order.

        Similar graphs have near descriptions: use them for neighbours, maps and predictions. They
        cannot be decoded; use `encode` for that. An array of floats holds latents; anything else
        holds graphs.
        """
        options = CodecOptions(batch_size=batch_size)
        return describing.describe(self, graphs_or_latents, options, on_error)

    def why_not(self, graphs: Iterable[Any]) -> list[str | None]:
        """Say for each graph why the model cannot take it, or None if it can."""
        return [item if isinstance(item, str) else None for item in screen(graphs, self.space)]

    def decode(
        self,
        latents: Any,
        batch_size: int = 256,
        search: int = 1,
        on_error: OnError = "raise",
    ) -> list[Graph | None]:
        """Turn embedding rows into the most likely graphs; the model chooses their sizes.

        With `search` above 1, up to that many of the likeliest graphs of a row are embedded, until
        one has the row as its embedding, as the encoded graph does (see `verify`). If none has, the
        likeliest graph is returned as usual. A row that is not finite (`encode` writes one for a
        graph it cannot take) fails: it raises, is None ("null") or is left out ("skip"). Columns of
        `grale.embed_frame` and files read by `grale.read_vectors` are refused if another model
        made them.
        """
        options = CodecOptions(batch_size=batch_size, searched_graphs=search)

        def run(rows: NDArray[Any]) -> list[Graph]:
            return decoding.decode(self, rows, options)

        rows = rows_to_decode(self, latents)
        return run_on_good(run, rows, are_finite(rows), on_error)

    def verify(
        self,
        graphs: Sequence[Any],
        latents: NDArray[np.floating],
        batch_size: int = 256,
    ) -> NDArray[np.bool_]:
        """Say for each graph whether its embedding is its row, to a thousandth of its length.

        The graph that was encoded passes. For a trained GRALE, no other graph is known to pass; a
        model that cannot tell two graphs apart (untrained, or a rival) gives both the same answer.
        """
        return searching.verify(self, graphs, latents, batch_size)

    def decode_smiles(
        self,
        latents: Any,
        tries: int = 1,
        batch_size: int = 256,
        search: int = 1,
        on_error: OnError = "raise",
    ) -> list[str | None]:
        """Turn embedding rows into SMILES, None where no valid molecule was found.

        Charges and hydrogens are restored. If the likeliest graph of a row is not a valid molecule,
        the next likeliest are looked at, at most `tries` graphs in all. `search` as in `decode`: a
        graph found by it comes before the likeliest. `on_error` as in `decode`.
        """
        options = CodecOptions(batch_size=batch_size, searched_graphs=search, molecule_tries=tries)

        def run(rows: NDArray[Any]) -> list[str | None]:
            found = decoding.decode_smiles(self, rows, options)
            return [best[0] if best else None for best in found]

        rows = rows_to_decode(self, latents)
        return run_on_good(run, rows, are_finite(rows), on_error)

    def decode_candidates(
        self,
        latents: Any,
        candidates: int = 5,
        tries: int = 20,
        batch_size: int = 256,
        search: int = 1,
        on_error: OnError = "raise",
    ) -> list[list[str] | None]:
        """Turn embedding rows into several distinct SMILES each, the likeliest first.

        At most `tries` graphs are looked at for each of the `candidates`. `search` as in `decode`:
        a graph found by it comes first. `on_error` as in `decode`.
        """
        options = CodecOptions(
            batch_size=batch_size,
            searched_graphs=search,
            molecule_tries=tries,
            candidates=candidates,
        )

        def run(rows: NDArray[Any]) -> list[list[str]]:
            return decoding.decode_smiles(self, rows, options)

        rows = rows_to_decode(self, latents)
        return run_on_good(run, rows, are_finite(rows), on_error)

    def reconstruct(
        self,
        graphs: Iterable[Any],
        batch_size: int = 256,
        search: int = 1,
        on_error: OnError = "raise",
        refine: int = 0,
    ) -> list[Graph | None]:
        """Encode and decode; matched nodes come in the input's order, then the others.

        `search` as in `decode`, `refine` as in `encode`. A graph that the model cannot take raises,
        gives None ("null") or is left out ("skip"). `grale.codec.reconstruct` also returns the
        vectors and where each node went.
        """
        options = CodecOptions(batch_size=batch_size, searched_graphs=search, refine_steps=refine)

        check_on_error(on_error)
        if on_error == "raise":
            return [*reconstruct(self, graphs, options).graphs]
        items, found = reconstruct_good(self, screen(graphs, self.space), options)
        if on_error == "skip":
            return [*found.graphs]
        again = iter(found.graphs)
        return [next(again) if isinstance(item, Graph) else None for item in items]

    def _save_pretrained(self, save_directory: Path) -> None:
        storage.save(self, save_directory)
        if self.has_prior:
            prior_storage.save_prior(self.prior, save_directory)
        remove_stale_card(save_directory)

    def generate_model_card(self, *args: Any, **kwargs: Any) -> ModelCard:
        """Card of a saved model: what it is and how it is used, and nothing left open."""
        return ModelCard(card_of(self))

    @classmethod
    def from_pretrained(cls, pretrained_model_name_or_path: str | Path, **options: Any) -> Any:
        """Load a model of this class from a folder, or by its id from the hub.

        The hub's own method would read `config.json` unchecked, and wait for minutes if the server
        does not answer. The options are `revision`, `cache_dir`, `force_download`,
        `local_files_only`, `token` and `endpoint`.
        """
        return storage.load(cls, storage.find(str(pretrained_model_name_or_path), **options))
