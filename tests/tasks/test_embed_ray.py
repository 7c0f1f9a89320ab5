"""Embedding on Ray gives the rows of one process."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from grale.tasks.embed import EmbedConfig
from tasks.embedded_rows import ROWS, embed


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_a_ray_that_is_started_here_is_new_and_listens_on_this_machine_alone(monkeypatch) -> None:
    import ray

    from grale.tasks import embed_ray

    asked: list[dict[str, object]] = []
    monkeypatch.setattr(ray, "init", lambda **options: asked.append(options))
    embed_ray._start(None, 2)
    embed_ray._start("10.0.0.1:6379", None)
    started, joined = asked
    assert (started["address"], started["_node_ip_address"]) == ("local", "127.0.0.1")
    assert started["include_dashboard"] is False
    assert joined["address"] == "10.0.0.1:6379"
    assert "_node_ip_address" not in joined


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_a_ray_cluster_gives_the_same_rows(tmp_path, molecule_model, source) -> None:
    import ray
    from ray.cluster_utils import Cluster

    from grale.tasks.embed_ray import embed_with_ray

    model, out = str(tmp_path / "model"), tmp_path / "ray.parquet"
    molecule_model.save_pretrained(model)
    embed(molecule_model, source, tmp_path / "local.parquet")
    reports: list[object] = []
    head = {"num_cpus": 1, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        config = EmbedConfig(shard_rows=3, batch_size=2)
        address = cluster.address
        before = embed_with_ray(model, source, out, config, address, None, reports.append)
        ray.shutdown()
        strict = EmbedConfig(on_error="raise", shard_rows=3, batch_size=2)
        with pytest.raises(ValueError, match=r"^row \d .* null or skip to continue$"):
            embed_with_ray(model, source, tmp_path / "z", strict, address)
    finally:
        ray.shutdown()
        cluster.shutdown()
    assert before == 0
    assert sum(report.rows for report in reports) == len(ROWS)
    assert_same_rows(tmp_path / "local.parquet", out)


def assert_same_rows(first: Path, second: Path) -> None:
    one, other = pq.read_table(first), pq.read_table(second)
    assert one.drop(["embedding"]) == other.drop(["embedding"])
    for ours, theirs in zip(
        one.column("embedding").to_pylist(), other.column("embedding").to_pylist(), strict=True
    ):
        assert (ours is None) == (theirs is None)
        if ours is not None:
            np.testing.assert_allclose(ours, theirs, atol=1e-5)
