"""New graphs, drawn from the prior of a model that has one."""

from __future__ import annotations

from collections.abc import Sequence

from grale.codec.sample import SampleOptions
from grale.graphs.molecules.molecule import is_molecular
from grale.model.autoencoder import GRALE
from grale.prior.conditions import parse_wanted
from grale.tasks.generate import GenerateConfig, NewGraph, generate
from grale.web.limits import Limits
from grale.web.rows import OK, Record, as_body


def condition_names(model: GRALE) -> list[str]:
    """What can be asked of new graphs; nothing of a model without a prior."""
    return [each.name for each in model.prior.settings.conditions] if model.has_prior else []


def sample_rows(
    model: GRALE, limits: Limits, count: int, where: Sequence[str], seed: int, tries: int
) -> list[Record]:
    """New graphs in the order of their draws, those that are not valid included."""
    config = GenerateConfig(
        count=count,
        wanted=parse_wanted(where),
        options=SampleOptions(seed=seed, batch_size=limits.batch_rows),
        tries=tries,
    )
    return [_record(new, model) for new in generate(model, config)]


def _record(new: NewGraph, model: GRALE) -> Record:
    is_valid = new.reason is None
    has_smiles = is_valid and is_molecular(model.space)
    state = OK if is_valid else {"status": "invalid", "reason": new.reason}
    return state | {
        "smiles": new.graph.to_smiles() if has_smiles else None,
        "graph": as_body(new.graph),
        "meets": new.meets,
    }
