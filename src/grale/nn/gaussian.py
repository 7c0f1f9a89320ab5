"""A diagonal Gaussian over latents, for variational autoencoders."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True)
class GaussianLatent:
    """The posterior q(z | G): a diagonal Gaussian for each graph."""

    mean: Float[Tensor, "B Z"]
    log_variance: Float[Tensor, "B Z"]

    def sample(self, noise: Float[Tensor, "B Z"]) -> Float[Tensor, "B Z"]:
        """Mu + sigma * noise, for standard normal noise."""
        return self.mean + (self.log_variance / 2).exp() * noise

    def divergence(self) -> Float[Tensor, " B"]:
        """KL(q || N(0, I)) = 1/2 sum(mu^2 + sigma^2 - log sigma^2 - 1)."""
        variance = self.log_variance.exp()
        return (self.mean.square() + variance - self.log_variance - 1).sum(dim=1) / 2
