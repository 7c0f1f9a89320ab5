"""Graphs and models that the tests of lists in, lists out share."""

import jaxtyping
import pytest
import torch

from grale.graphs.space import GraphSpace
from grale.model.autoencoder import GRALE
from model.sample_graphs import symmetric_graphs
from strategies import random_graph


@pytest.fixture
def graphs(rng):
    """Graphs of 1 to 12 nodes, symmetric and random, connected or not."""
    return [*symmetric_graphs(), *(random_graph(rng) for _ in range(5)), random_graph(rng, 12)]


@pytest.fixture
def unchecked():
    """Leave the types of arguments to the code under test, as users do."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture
def directed_model(tiny_config):
    torch.manual_seed(0)
    space = GraphSpace(max_nodes=8, num_node_labels=4, num_edge_labels=2, directed=True)
    return GRALE(space, tiny_config).eval()
