"""A model that may have a prior over its latents, to draw new graphs from (decisions/015)."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grale.codec import decode as decoding
from grale.codec import prior_storage
from grale.codec import sample as sampling
from grale.codec.identified import Identified
from grale.codec.identity import Origin
from grale.codec.options import CodecOptions
from grale.graphs.graph import Graph

if TYPE_CHECKING:
    from grale.prior.conditions import Wanted
    from grale.prior.integrate import Sampler
    from grale.prior.latent_prior import LatentPrior


class WithPrior(Identified):
    """What a model does with its prior; the rest of it is in `grale.codec.graph_autoencoder`."""

    folder: Path | None = None
    """Where the model was loaded from; its prior is there, if it has one."""

    def __init__(self) -> None:
        super().__init__()
        self._prior: list[LatentPrior] = []  # in a list: its weights are not those of the model

    @property
    @abstractmethod
    def latent_dim(self) -> int:
        """Length of one embedding row."""

    @property
    def has_prior(self) -> bool:
        """Whether new graphs can be drawn from the model."""
        return bool(self._prior) or prior_storage.has_prior(self.folder)

    @property
    def prior(self) -> LatentPrior:
        """The prior over the latents, read when it is first used; an error if there is none."""
        if not self.has_prior:
            raise ValueError(
                "this model has no prior, so it cannot draw new graphs; "
                "train one with `grale train prior` (docs/generation.md), or choose another model"
            )
        if not self._prior:
            assert self.folder is not None  # `has_prior` looked there
            origin: Origin = self.__dict__["origin"]  # the weights may have changed since
            self._prior.append(prior_storage.load_prior(self.folder, origin.contents))
        return self._prior[0].to(next(self.parameters()).device)

    def use_prior(self, prior: LatentPrior) -> None:
        """Use a prior that is in memory; it must have been trained on latents of this model."""
        mine, theirs = self.latent_dim, prior.settings.tokens.latent_dim
        if theirs != mine:
            raise ValueError(
                f"this prior is for latents of {theirs} numbers, but this model has {mine}"
            )
        self._prior = [prior]

    def sample(
        self,
        count: int,
        conditions: Wanted | None = None,
        seed: int = 0,
        *,
        steps: int = sampling.STEPS,
        sampler: Sampler = "renoise",
        guidance: float = 1.0,
        batch_size: int = 256,
    ) -> list[Graph]:
        """Draw new graphs from the prior, decoded as they are: a few are not valid molecules.

        Parameters
        ----------
        count
            How many.
        conditions
            What is wanted, by name: ``{"size": 20}``, or a `grale.prior.conditions.Range`. The
            prior knows the names in `model.prior.settings.conditions`.
        seed
            Equal seeds give equal graphs.
        steps, sampler, guidance
            See `grale.codec.sample.SampleOptions`.
        batch_size
            Graphs drawn at once.
        """
        options = sampling.SampleOptions(
            seed=seed, steps=steps, sampler=sampler, guidance=guidance, batch_size=batch_size
        )
        model: Any = self
        drawn = sampling.sample_latents(model, count, conditions or {}, options)
        codec_options = CodecOptions(batch_size=batch_size)
        return [graph for rows in drawn for graph in decoding.decode(model, rows, codec_options)]
