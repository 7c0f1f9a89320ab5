"""Kernels to run Sinkhorn on."""

import torch
from torch.nn.functional import normalize

from strategies import generator_from


def random_log_kernel(seed, batch=3, size=6, scale=1.0, dtype=torch.float64):
    return scale * torch.randn(batch, size, size, generator=generator_from(seed), dtype=dtype)


def matched_log_kernel(seed, noise, sizes, batch=24, max_nodes=10, width=32, temperature=0.1):
    """Kernel of a matcher that has learnt: matched pairs lie close on the unit sphere.

    Inputs are random directions in the default width; slots are the inputs in a hidden order,
    each moved by about `noise` times its length. All padded inputs have one embedding, as in
    the model. Also returned: which inputs are real.
    """
    generator = generator_from(seed)
    shape = (batch, max_nodes, width)
    inputs = torch.randn(shape, generator=generator, dtype=torch.float64)
    num_nodes = torch.randint(sizes[0], sizes[1] + 1, (batch, 1), generator=generator)
    is_real = torch.arange(max_nodes) < num_nodes
    inputs = normalize(torch.where(is_real[:, :, None], inputs, inputs[:, -1:]), dim=-1)
    moves = torch.randn(shape, generator=generator, dtype=torch.float64) / width**0.5
    hidden = torch.rand(batch, max_nodes, generator=generator).argsort(dim=1)
    slots = normalize(inputs + noise * moves, dim=-1)[torch.arange(batch)[:, None], hidden]
    return -(2 - 2 * inputs @ slots.transpose(1, 2)) / temperature, is_real
