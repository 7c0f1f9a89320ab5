"""Small predictors of images, one per architecture."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from grale.graphs.space import GraphSpace
from prediction_setup import IMAGE, READER, random_rows


@pytest.fixture
def image_predictor() -> Callable[..., tuple]:
    """Makes an untrained predictor of up to four nodes, and inputs for it."""

    def make(kind: type, settings: type, **changes) -> tuple:
        torch.manual_seed(0)
        space = GraphSpace(max_nodes=4, num_node_labels=4)
        model = kind(space, settings(inputs=IMAGE, reader=READER, **changes))
        return model, torch.from_numpy(random_rows(IMAGE, 4))

    return make
