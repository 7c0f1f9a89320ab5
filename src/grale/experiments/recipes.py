"""Training settings that experiments start from; each contender changes a few of them.

They are those of `configs/`: coloring10, pool16, aids-match, and the paper's coloring20 and
pubchem16 (a test compares them). The rivals have the same depth, heads and length of the latent.

Departures: none.
"""

from __future__ import annotations

from typing import Any, Literal

Scale = Literal["smoke", "cpu", "paper"]

_OPTIMIZER = {
    "kind": "muon",
    "learning_rate": 2e-3,
    "muon_learning_rate": 8e-3,
    "clip_norm": 1.0,
    "warmup_steps": 100,
    "schedule": "trapezoid",
    "decay_share": 0.5,
    "ema_decay": 0.998,
}
_MATCHER = {"affinity": "sphere", "temperature": 0.1, "num_sweeps": 50, "grad_sweeps": 5}
_IN_ROUNDS = {"temperature": 1.0, "num_sweeps": 20, "rounds": 16, "edit_weight": 4.0}
_LOSS = {"node_feature": 0.05, "edge_feature": 0.5, "marginal": 10.0, "normalise_by": "size"}
_SMALL = {
    "num_tokens": 4,
    "token_dim": 32,
    "num_layers": 3,
    "node_dim": 64,
    "edge_dim": 32,
    "outer_dim": 16,
    "norm": "pre",
    "matcher": _MATCHER,
    "loss": _LOSS,
}

_PIGVAE = {"latent_dim": 128, "num_layers": 3, "message_dim": 64, "dropout": 0.0, "norm": "pre"}

COLORING10: dict[str, Any] = {
    "data": {"source": "coloring10", "num_graphs": 300_000},
    "model": _SMALL,
    "pigvae": _PIGVAE,
    "optimizer": _OPTIMIZER,
    "batch_size": 64,
    "max_steps": 40_000,
}
POOL16: dict[str, Any] = {
    "data": {"source": "shards", "path": "data/pool16"},
    "model": _SMALL | {"num_tokens": 8, "node_dim": 96},
    "pigvae": _PIGVAE | {"latent_dim": 256},
    "graphvae": {"latent_dim": 256},
    "optimizer": _OPTIMIZER,
    "batch_size": 64,
    "max_steps": 100_000,
}
PAPER_COLORING: dict[str, Any] = {"data": {"source": "coloring20", "num_graphs": 300_000}}
PAPER_MOLECULES: dict[str, Any] = {
    "data": {"source": "shards", "path": "data/pubchem16"},
    "model": {"num_tokens": 8, "node_hidden_dim": 128},
    "pigvae": {"latent_dim": 256},
    "graphvae": {"latent_dim": 256},
    "optimizer": {"warmup_steps": 8_000},
    "batch_size": 128,
    "max_steps": 700_000,
}
AIDS_MATCH: dict[str, Any] = {
    "objective": "match",
    "data": {"source": "shards", "path": "data/aids"},
    "model": {name: _SMALL[name] for name in ("num_layers", "node_dim", "edge_dim", "outer_dim")}
    | {"norm": "pre", "matcher": _MATCHER | _IN_ROUNDS, "loss": {"marginal": 10.0}},
    "optimizer": _OPTIMIZER | {"muon_learning_rate": 6e-3, "warmup_steps": 50, "ema_decay": 0.99},
    "batch_size": 32,
    "max_steps": 20_000,
    "validate_every": 200,
    "num_validation": 56,
}
SMOKE = [
    "model.num_layers=1", "model.node_dim=16", "model.edge_dim=8", "model.outer_dim=4",
    "model.num_tokens=2", "model.token_dim=8", "batch_size=8", "max_steps=3",
    "optimizer.warmup_steps=1", "num_validation=8", "pigvae.num_layers=1",
    "pigvae.message_dim=8", "graphvae.encoder_dim=8", "graphvae.decoder_dims=[16]",
]  # fmt: skip


def recipe(data: Literal["coloring", "molecules"], scale: Scale) -> dict[str, Any]:
    """Settings to start from on a dataset at a scale."""
    if scale == "paper":
        return PAPER_COLORING if data == "coloring" else PAPER_MOLECULES
    return COLORING10 if data == "coloring" else POOL16
