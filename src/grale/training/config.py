"""Settings of a training run (paper: appendix "Model and training hyperparameters").

Defaults are the paper's COLORING column.

Departures: Muon, weight averaging and the trapezoid schedule are options (decisions/006).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from grale.data.sources import DataConfig
from grale.inputs.config import ReaderConfig
from grale.model.config import ModelConfig
from grale.prior.config import PriorConfig
from grale.rivals.any2graph.config import Any2GraphConfig
from grale.rivals.fgwbary.config import FgwbaryConfig
from grale.rivals.graphmae.config import GraphmaeConfig
from grale.rivals.graphvae.config import GraphVaeConfig
from grale.rivals.infograph.config import InfographConfig
from grale.rivals.pigvae.config import PigvaeConfig
from grale.rivals.relationformer.config import RelationformerConfig
from grale.rivals.simgrace.config import SimgraceConfig
from grale.rivals.vgae.config import VgaeConfig
from grale.settings.build import build

Architecture = Literal[
    "grale", "pigvae", "graphvae", "simgrace", "infograph", "graphmae", "vgae", "prior",
    "predictor", "any2graph", "relationformer", "fgwbary",
]  # fmt: skip
PREDICTORS = ("predictor", "any2graph", "relationformer", "fgwbary")
"""Architectures that predict graphs from inputs."""
COMPARES_GRAPHS = ("simgrace", "infograph")
"""Architectures whose loss compares the graphs of a batch with each other."""


@dataclass(frozen=True, kw_only=True)
class OptimizerConfig:
    """Optimiser and learning-rate schedule."""

    kind: Literal["adam", "muon"] = "adam"
    """Adam for all weights, as in the paper, or Muon for hidden matrices and AdamW for the rest."""
    learning_rate: float = 1e-4
    """Peak learning rate of Adam or AdamW."""
    muon_learning_rate: float = 3e-3
    """Peak learning rate of Muon; unused by "adam"."""
    weight_decay: float = 0.0
    beta1: float = 0.9
    beta2: float = 0.999
    clip_norm: float = 0.1
    """Largest gradient norm; 0 for no clipping."""
    warmup_steps: int = 4_000
    schedule: Literal["cosine", "trapezoid"] = "cosine"
    """After warm-up: cosine to zero, or constant and then linear to zero."""
    decay_share: float = 0.4
    """Share of the run spent decaying in the trapezoid."""
    ema_decay: float = 0.0
    """Decay per step of the averaged weights used for evaluation; 0 for no averaging."""

    def __post_init__(self) -> None:
        if not 0 <= self.ema_decay < 1:
            raise ValueError(f"ema_decay must be in [0, 1), got {self.ema_decay}")
        if not 0 < self.decay_share <= 1:
            raise ValueError(f"decay_share must be in (0, 1], got {self.decay_share}")
        for name in ("learning_rate", "muon_learning_rate", "clip_norm", "warmup_steps"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must not be negative, got {getattr(self, name)}")


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """One training run."""

    data: DataConfig = field(default_factory=DataConfig)
    architecture: Architecture = "grale"
    """Which model to train; each has its own section of settings. SimGRACE, InfoGraph, GraphMAE and
    VGAE have no decoder; a prior is trained on the latents of another model (decisions/015)."""
    model: ModelConfig = field(default_factory=ModelConfig)
    """Of GRALE."""
    pigvae: PigvaeConfig = field(default_factory=PigvaeConfig)
    graphvae: GraphVaeConfig = field(default_factory=GraphVaeConfig)
    simgrace: SimgraceConfig = field(default_factory=SimgraceConfig)
    infograph: InfographConfig = field(default_factory=InfographConfig)
    graphmae: GraphmaeConfig = field(default_factory=GraphmaeConfig)
    vgae: VgaeConfig = field(default_factory=VgaeConfig)
    prior: PriorConfig = field(default_factory=PriorConfig)
    reader: ReaderConfig = field(default_factory=ReaderConfig)
    """Of all predictors: the network that reads their inputs."""
    any2graph: Any2GraphConfig = field(default_factory=Any2GraphConfig)
    relationformer: RelationformerConfig = field(default_factory=RelationformerConfig)
    fgwbary: FgwbaryConfig = field(default_factory=FgwbaryConfig)
    optimizer: OptimizerConfig = field(default_factory=OptimizerConfig)
    objective: Literal["reconstruct", "match", "flow", "regress", "predict"] = "reconstruct"
    """Reconstruct graphs, or lower the edits between random pairs. The latter trains the matcher
    and the node embeddings, and harms reconstruction. A prior learns a flow. A predictor learns
    latents (regress) or graphs (predict)."""
    pairs_per_graph: int = 8
    """For objective "match": with how many graphs of its batch each graph is matched."""
    seed: int = 0
    """Determines initial weights, order of graphs and noise."""
    start_from: str | None = None
    """Start from the weights of this model (shipped name, folder or hub id), not at random."""
    batch_size: int = 64
    """Graphs per step, over all devices."""
    max_steps: int = 300_000
    log_every: int = 20
    """Steps between two lines of the log."""
    validate_every: int = 1_000
    """Steps between two evaluations."""
    num_validation: int = 1_000
    """Graphs reconstructed at each evaluation."""
    patience: int = 0
    """Stop after this many evaluations without a better one, and return the best weights; 0 to
    train to the end and return the last ones."""

    def __post_init__(self) -> None:
        for name in _COUNTS:
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.objective == "match" and self.architecture != "grale":
            raise ValueError(f"objective=match needs architecture=grale, got {self.architecture}")
        if self.patience < 0:
            raise ValueError(f"patience must not be negative, got {self.patience}")
        if (self.objective == "flow") != (self.architecture == "prior"):
            raise ValueError(
                f"objective=flow and architecture=prior go together, got {self.objective} and "
                f"{self.architecture}"
            )
        self._check_prediction()
        smallest = min(self.batch_size, self.num_validation)
        if self.objective == "match" and smallest < 2:
            raise ValueError("a pair has two graphs: batch_size and num_validation must be above 1")
        if self.architecture in COMPARES_GRAPHS and smallest < 2:
            raise ValueError(
                f"{self.architecture} compares the graphs of a batch: "
                "batch_size and num_validation must be above 1"
            )

    def _check_prediction(self) -> None:
        """Predictors go with their objectives, and need inputs as they are on disk."""
        predicts = self.objective in ("regress", "predict")
        if predicts != (self.architecture in PREDICTORS):
            raise ValueError(
                f"objective=regress or predict goes with architecture={', '.join(PREDICTORS)}, got "
                f"{self.objective} and {self.architecture}"
            )
        if self.objective == "regress" and self.architecture != "predictor":
            raise ValueError(f"{self.architecture} has no latents; use objective=predict")
        if predicts and self.data.augment.share:
            raise ValueError("data.augment changes graphs, but not what they are predicted from")

    @property
    def architecture_config(self) -> Any:
        """Settings of the chosen architecture."""
        return getattr(self, "model" if self.architecture == "grale" else self.architecture)

    def check_same_run(self, saved: Mapping[str, Any]) -> None:
        """Refuse to resume a run with settings that would change it.

        Only its length and how often it reports may change.
        """
        before = asdict(build(TrainConfig, saved))  # newer settings get their defaults
        mine, old = _what_matters(asdict(self)), _what_matters(before)
        for name in mine:
            if mine[name] != old[name]:
                raise ValueError(
                    f"cannot resume: {name} is {mine[name]!r}, but the checkpoint has "
                    f"{old[name]!r}; use the same settings or another --out folder"
                )


def _what_matters(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings that change what is learned: not the length, the reports or the folder."""
    kept = {key: value for key, value in settings.items() if key not in _NEUTRAL}
    return kept | {"data": {k: v for k, v in kept["data"].items() if k not in _NEUTRAL_DATA}}


_REPORTS = ("max_steps", "log_every", "validate_every", "num_validation")
_NEUTRAL = (*_REPORTS, "patience")
_COUNTS = ("batch_size", "pairs_per_graph", *_REPORTS)
_NEUTRAL_DATA = ("num_workers", "on_bad_shard", "path")


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Where and how a run is carried out; only max_minutes changes what is learned."""

    resume: bool = False
    """Continue from the newest undamaged checkpoint."""
    max_minutes: float | None = None
    """Time budget for training steps; the schedule ends when it is spent."""
    accelerator: str = "auto"
    devices: int = 1
    """Processes on each machine."""
    num_nodes: int = 1
    """Machines."""
    precision: Literal["32-true", "bf16-mixed"] = "32-true"
    compile: bool = False
    """Whether to run the loss through torch.compile."""
    recompute_activations: bool = False
    """Keep one tensor per layer and recompute the rest in the backward pass: less memory."""
    save_every: int = 1_000
    """Steps between two checkpoints."""
    save_minutes: float = 5.0
    """Minutes between two checkpoints, if those steps take longer."""
    keep: int = 3
    """Checkpoints to keep."""
