"""Feed-forward layer (paper: appendix "Feed-Forward Block").

FF(X) = MLP[X],  or ReLU(Linear[X]) when the hidden width is None
"""

from __future__ import annotations

from torch import Tensor, nn


class FeedForward(nn.Module):
    """The same small network on the last dimension of every entry."""

    def __init__(self, dim: int, hidden_dim: int | None) -> None:
        super().__init__()
        if hidden_dim is None:
            self.net = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(inplace=True))
        else:
            self.net = nn.Sequential(
                nn.Linear(dim, hidden_dim), nn.ReLU(inplace=True), nn.Linear(hidden_dim, dim)
            )

    def forward(self, x: Tensor) -> Tensor:
        """Apply to the last dimension."""
        return self.net(x)
