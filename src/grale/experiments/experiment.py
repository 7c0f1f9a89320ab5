"""What `grale reproduce` can make: a name, a sentence, and a module imported on use.

The module of a figure or table of an existing model has `make(model, config, progress)`; one that
trains the models it compares has `make(request)`. A new one is a file and a line in `reproduce.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module, metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from grale.experiments.contest import Noted
    from grale.experiments.picture import Picture
    from grale.experiments.request import Request
    from grale.experiments.table import Table

Counting = Callable[[str, int], AbstractContextManager[Callable[[int], object]]]
"""Shows a progress bar over some items; yields a function to call with how many more are done."""


@runtime_checkable
class Experiment(Protocol):
    """One figure or table."""

    @property
    def name(self) -> str:
        """Name for `grale reproduce`."""

    @property
    def summary(self) -> str:
        """One sentence for `--help`."""

    @property
    def options(self) -> tuple[str, ...]:
        """Options of `grale reproduce` that apply to it, besides --scale, --count, --out."""

    @property
    def trains_on_molecules(self) -> bool:
        """Whether it trains models on molecules."""

    def run(self, request: Request, counting: Counting) -> Sequence[Picture | Table]:
        """Make all its pictures and tables."""


@dataclass(frozen=True)
class OfModel:
    """A figure or table of one trained model."""

    name: str
    summary: str
    module: str
    counts: dict[str, int]
    """Graphs at each scale."""
    options: tuple[str, ...] = ("model", "data")
    trains_on_molecules: bool = False
    loader: str = "load"
    """Function of `grale.catalog` that loads the model."""

    def run(self, request: Request, counting: Counting) -> Sequence[Picture | Table]:
        """Load the model and make the figure or table."""
        from grale import catalog
        from grale.codec.identity import provenance
        from grale.experiments.picture import PictureConfig

        module: Any = import_module(self.module)
        count = request.count or self.counts[request.scale]
        config = PictureConfig(data=request.data, count=count, also=request.also)
        model = getattr(catalog, self.loader)(request.model)
        with counting(self.name, getattr(module, "PASSES", 1) * count) as advance:
            found: Sequence[Picture | Table] = module.make(model, config, advance)
        made_with = provenance(model, str(request.model), "both")
        return [each._replace(made_with=made_with) for each in found]


@dataclass(frozen=True)
class OfTrainings:
    """A figure or table that trains the models it compares."""

    name: str
    summary: str
    module: str
    function: str = "make"
    options: tuple[str, ...] = ("data", "max_minutes", "seeds")
    trains_on_molecules: bool = True

    def run(self, request: Request, counting: Counting) -> Sequence[Picture | Table]:
        """Train the missing models, and compare."""
        from grale.experiments.contest import noting_models

        make = getattr(import_module(self.module), self.function)
        with noting_models() as noted:
            found: Sequence[Picture | Table] = make(request)
        return [each._replace(made_with=_of_all(noted, request.folder, each)) for each in found]


def _of_all(noted: Noted, folder: Path, result: Picture | Table) -> dict[str, Any]:
    """What a result says of all models behind it: those that were trained, and its own."""
    models = {_within(path, folder): known for path, known in noted.items()}
    models |= (result.made_with or {}).get("models", {})
    return {"grale": metadata.version("grale"), "models": models}


def _within(path: Path, folder: Path) -> str:
    return (path.relative_to(folder) if path.is_relative_to(folder) else path).as_posix()
