"""From noise to tokens: the two kinds of path that a flow may follow (Lipman et al. 2023).

    flat     x_t = (1 - t) x_0 + t x_1                         velocity x_1 - x_0
    sphere   x_t = (sin((1-t) a) x_0 + sin(t a) x_1) / sin a   a: angle between the two tokens

On the sphere, every token moves on the great circle from a random direction to its own, at constant
speed (Chen and Lipman 2024, "Flow Matching on General Geometries").
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import normalize

from grale.prior.config import PriorSettings

Tokens = Float[Tensor, "B K D"]
Time = Float[Tensor, "B 1 1"]
SMALLEST_ANGLE = 1e-4  # below, sin a / a is 1 in float32
LARGEST_ANGLE = 3.1415  # opposite tokens have no shortest way


@runtime_checkable
class Path(Protocol):
    """Geometry of the space that tokens move in."""

    def start(self, noise: Tokens) -> Tokens:
        """Where standard normal noise lies."""

    def point(self, start: Tokens, end: Tokens, time: Time) -> Tokens:
        """x_t."""

    def velocity(self, start: Tokens, end: Tokens, time: Time) -> Tokens:
        """Derivative of x_t by t."""

    def tangent(self, x: Tokens, v: Tokens) -> Tokens:
        """The part of v that does not leave the space at x."""

    def moved(self, x: Tokens, v: Tokens) -> Tokens:
        """Where a step of v from x ends."""


class FlatPath:
    """Straight lines."""

    def start(self, noise: Tokens) -> Tokens:
        """Noise itself."""
        return noise

    def point(self, start: Tokens, end: Tokens, time: Time) -> Tokens:
        """(1 - t) x_0 + t x_1."""
        return (1 - time) * start + time * end

    def velocity(self, start: Tokens, end: Tokens, time: Time) -> Tokens:
        """x_1 - x_0."""
        return end - start

    def tangent(self, x: Tokens, v: Tokens) -> Tokens:
        """All of v."""
        return v

    def moved(self, x: Tokens, v: Tokens) -> Tokens:
        """End of the step x + v."""
        return x + v


class SpherePath:
    """Great circles on the sphere of radius sqrt(D)."""

    def start(self, noise: Tokens) -> Tokens:
        """Random directions."""
        return on_sphere(noise)

    def point(self, start: Tokens, end: Tokens, time: Time) -> Tokens:
        """x_t; two equal tokens stay where they are."""
        angle = _angle(start, end)
        ways = torch.sin((1 - time) * angle) * start + torch.sin(time * angle) * end
        return on_sphere(ways / torch.sin(angle))

    def velocity(self, start: Tokens, end: Tokens, time: Time) -> Tokens:
        """Give a (cos(t a) x_1 - cos((1-t) a) x_0) / sin a."""
        angle = _angle(start, end)
        ways = torch.cos(time * angle) * end - torch.cos((1 - time) * angle) * start
        return angle * ways / torch.sin(angle)

    def tangent(self, x: Tokens, v: Tokens) -> Tokens:
        """Return v without its part along x."""
        return v - (v * x).sum(dim=-1, keepdim=True) / x.shape[-1] * x

    def moved(self, x: Tokens, v: Tokens) -> Tokens:
        """Along the great circle of v, as far as v is long."""
        v = self.tangent(x, v)
        angle = v.norm(dim=-1, keepdim=True) / x.shape[-1] ** 0.5
        ratio = torch.sinc(angle / torch.pi)  # sin(angle) / angle
        return on_sphere(torch.cos(angle) * x + ratio * v)


def on_sphere(tokens: Tokens) -> Tokens:
    """Tokens of length sqrt(D)."""
    return normalize(tokens, dim=-1) * tokens.shape[-1] ** 0.5


def build_path(settings: PriorSettings) -> Path:
    """Choose the path that the settings name."""
    return PATHS[settings.config.path]()


PATHS: dict[str, type[FlatPath] | type[SpherePath]] = {"flat": FlatPath, "sphere": SpherePath}


def _angle(start: Tokens, end: Tokens) -> Float[Tensor, "B K 1"]:
    cosine = (normalize(start, dim=-1) * normalize(end, dim=-1)).sum(dim=-1, keepdim=True)
    return torch.arccos(cosine.clamp(-1, 1)).clamp(SMALLEST_ANGLE, LARGEST_ANGLE)
