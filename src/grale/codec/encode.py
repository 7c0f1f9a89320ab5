"""Graphs to latents, one row each, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from grale.codec.failures import OnError, check_vectors
from grale.codec.intake import by_size, device_of, pairs_at_once, quietly, taken_in
from grale.codec.options import CodecOptions
from grale.codec.refine import refined

if TYPE_CHECKING:
    from grale.codec.graph_autoencoder import GraphAutoencoder


@quietly
def encode(
    model: GraphAutoencoder,
    items: Iterable[Any],
    options: CodecOptions,
    on_error: OnError,
    progress: Callable[[int], object] | None = None,
) -> NDArray[np.float32]:
    """Embed each item; see `GraphAutoencoder.encode`."""
    taken = taken_in(items, model.space, on_error)
    latents = np.full((taken.num_items, model.latent_dim), np.nan, dtype=np.float32)
    for rows, batch in by_size(taken.graphs, options.batch_size, pairs_at_once(model)):
        batch = batch.to(device_of(model))
        latent = refined(model, batch, model.encoded(batch), options.refine_steps)
        latents[[taken.rows[row] for row in rows]] = latent.float().cpu().numpy()
        if progress is not None:
            progress(len(rows))
    if on_error == "raise":
        check_vectors(latents, range(len(latents)))
    is_finite = np.isfinite(latents).all(axis=1)
    latents[~is_finite] = np.nan
    return latents[is_finite] if on_error == "skip" else latents
