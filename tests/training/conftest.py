"""A training run of seconds."""

from __future__ import annotations

from pathlib import Path

import pytest

from grale.settings.files import load_settings
from grale.training.config import TrainConfig

CONFIGS = Path(__file__).resolve().parents[2] / "configs"


@pytest.fixture
def smoke() -> TrainConfig:
    return load_settings(TrainConfig, CONFIGS / "smoke.yaml")
