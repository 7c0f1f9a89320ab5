"""Small tensors: a second thread costs more than it brings."""

import torch

torch.set_num_threads(1)
