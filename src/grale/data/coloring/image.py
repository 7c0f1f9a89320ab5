"""The image that goes with a COLORING graph (paper: appendix "Datasets", COLORING).

    image = clip(blur(palette[color of the cell]) + noise, 0, 1)

As in Any2Graph's code, the blur runs over the three channels too.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float32
from scipy.ndimage import gaussian_filter

from grale.data.coloring.block import NOISE_STREAM, ColoringConfig, random_stream
from grale.data.coloring.generate import coloring_instance
from grale.data.coloring.palette import COLORING_PALETTE

BLUR = 0.4  # standard deviation of the Gaussian filter, in pixels
NOISE = 0.02  # standard deviation of the noise, images being in [0, 1]


def coloring_image(config: ColoringConfig, seed: int, index: int) -> Float32[np.ndarray, "G G 3"]:
    """Draw the image of graph number `index`, values in [0, 1].

    Neighbouring indices share the work: walk through a range in order.
    """
    instance = coloring_instance(config, seed, index)
    flat = np.array(COLORING_PALETTE)[instance.graph.node_labels[instance.cells]]
    noise = random_stream(seed, NOISE_STREAM, index).normal(0.0, NOISE, flat.shape)
    blurred = gaussian_filter(flat, BLUR, mode="nearest")
    return np.clip(blurred + noise, 0.0, 1.0).astype(np.float32)
