import pytest
import torch


@pytest.fixture(scope="package", autouse=True)
def single_thread():
    """Tensors here are tiny: on a busy machine threads only wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
