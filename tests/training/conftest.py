"""A training run of seconds."""

from __future__ import annotations

import pytest

from grale.settings.files import load_settings
from grale.training.config import TrainConfig


@pytest.fixture
def smoke() -> TrainConfig:
    return load_settings(TrainConfig, "smoke")
