"""A trained model as ONNX files, to run without torch (not in the paper).

    encoder      featurised graphs -> latents       (paper's pooling)
    nodes, pooling                                  the same in two parts, if the pooling is by
                                                    transport: between them, nodes are assigned to
                                                    slots (`linear_sum_assignment` of the scores)
    decoder      latents -> scores of nodes and edges
    description  latents -> descriptions

Graphs are padded to the largest size of the model; the number of graphs is free. What goes in is
what `featurised` returns. `export.json` names the files, their inputs, and the model.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from grale.codec.identity import provenance
from grale.files import write_whole
from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.model.autoencoder import GRALE
from grale.model.featurizer import GraphInputs
from grale.model.matcher import TIE_BREAK, Matcher, SinkhornMatcher

OPSET = 18
EXAMPLES = 2  # graphs to trace with; any number can be run
INPUTS = ("node_feats", "noise", "edge_labels", "path_code", "node_mask")
LOGITS = ("node_mask", "node_label", "edge_label")
DESCRIPTION_FILE = "export.json"


class Part(NamedTuple):
    """One file of an export."""

    name: str
    module: nn.Module
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    example: tuple[Tensor, ...]


def export_model(
    model: GRALE, folder: Path, name: str, say: Callable[[str], object] = lambda _: None
) -> list[Path]:
    """Write all parts of a model, and `export.json`, into a folder; return the files.

    `name` is how to call the model, `say` is called with each part that is begun.
    """
    if not isinstance(model, GRALE):
        raise ValueError(f"only GRALE can be exported, not {type(model).__name__}")
    model = model.eval()
    files = []
    parts = parts_of(model)
    for part in parts:
        say(part.name)
        files.append(write_whole(folder / f"{part.name}.onnx", _onnx_bytes(part)))
    about = {
        **provenance(model, name, "both"),
        "opset": OPSET,
        "max_nodes": model.space.max_nodes,
        "num_node_labels": model.space.num_node_labels,
        "num_edge_labels": model.space.num_edge_labels,
        "directed": model.space.directed,
        "latent_dim": model.latent_dim,
        "description_dim": model.description_dim,
        "tie_break": TIE_BREAK,
        "parts": {part.name: {"inputs": part.inputs, "outputs": part.outputs} for part in parts},
    }
    text = json.dumps(about, indent=2) + "\n"
    return [*files, write_whole(folder / DESCRIPTION_FILE, text.encode())]


def featurised(model: GRALE, graphs: Sequence[Graph]) -> dict[str, NDArray[Any]]:
    """Inputs of the encoder for some graphs: phi(x) in canonical order, padded."""
    wide = GraphBatch.from_graphs(graphs, model.space.max_nodes)
    inputs, _ = model.featurizer.in_canonical_order(wide)
    batch = inputs.graphs
    values = (inputs.node_feats, inputs.noise, batch.edge_labels, inputs.path_code, batch.node_mask)
    return {name: value.cpu().numpy() for name, value in zip(INPUTS, values)}


def parts_of(model: GRALE) -> list[Part]:
    """The modules to export, each with an example of its inputs."""
    smallest = Graph([0, 0], [(0, 1)], directed=model.space.directed)
    values = featurised(model, [smallest] * EXAMPLES)
    inputs = tuple(torch.from_numpy(values[name]) for name in INPUTS)
    latents = torch.zeros(EXAMPLES, model.latent_dim)
    if model.config.pooling == "transport":
        with torch.no_grad():
            nodes, pairs, _ = NodesPart(model)(*inputs)
        order = torch.arange(model.space.max_nodes).expand(EXAMPLES, -1).contiguous()
        hidden = ("nodes", "pairs")
        encoder = [
            Part("nodes", NodesPart(model), INPUTS, (*hidden, "scores"), inputs),
            Part(
                "pooling",
                PoolingPart(model),
                (*hidden, "node_mask", "permutation"),
                ("latents",),
                (nodes, pairs, inputs[-1], order),
            ),
        ]
    else:
        encoder = [Part("encoder", EncoderPart(model), INPUTS, ("latents",), inputs)]
    described = ("descriptions",)
    return [
        *encoder,
        Part("decoder", DecoderPart(model), ("latents",), LOGITS, (latents,)),
        Part("description", DescriptionPart(model), ("latents",), described, (latents,)),
    ]


class ModelPart(nn.Module):
    """Some of what a model does, as tensors in and tensors out."""

    def __init__(self, model: GRALE) -> None:
        super().__init__()
        self.model = model


class EncoderPart(ModelPart):
    """Featurised graphs to latents."""

    def forward(self, *inputs: Tensor) -> Tensor:
        """Latents (B, K x D)."""
        return self.model.encoded_inputs(_inputs(self.model, *inputs)).latent.flatten(1)


class NodesPart(ModelPart):
    """Featurised graphs to states of nodes and pairs, and scores of nodes with slots."""

    def forward(self, *inputs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Nodes, pairs, and the scores that say which slot plays which node."""
        scores: list[Tensor] = []
        asked = _AskedMatcher(self.model, scores)
        encoder = self.model.encoder
        given = _inputs(self.model, *inputs)
        hidden = encoder.backbone(given)
        nodes = encoder.padded(encoder.node_output(hidden.nodes), given)
        encoder.pooling(nodes, hidden.pairs, given.graphs, cast(Matcher, asked))
        return nodes, hidden.pairs, scores[0]


class PoolingPart(ModelPart):
    """States of nodes and pairs to latents, once each node has its slot."""

    def forward(
        self, nodes: Tensor, pairs: Tensor, node_mask: Tensor, permutation: Tensor
    ) -> Tensor:
        """Latents (B, K x D); `permutation[b, i]` is the slot of node i."""
        labels = torch.zeros_like(node_mask, dtype=torch.int64)
        edges = torch.zeros_like(pairs[..., 0], dtype=torch.int64)
        graphs = GraphBatch(node_mask, labels, edges, self.model.space.directed)
        given = cast(Matcher, _GivenMatcher(permutation))
        pooled = self.model.encoder.pooling(nodes, pairs, graphs, given)
        return self.model.on_sphere(pooled.latent).flatten(1)


class DecoderPart(ModelPart):
    """Latents to scores."""

    def forward(self, latents: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Scores of existence (B, N), node labels (B, N, n) and edge labels (B, N, N, m)."""
        logits = self.model.logits_of(latents)
        return logits.node_mask, logits.node_label, logits.edge_label


class DescriptionPart(ModelPart):
    """Latents to descriptions."""

    def forward(self, latents: Tensor) -> Tensor:
        """One row per latent."""
        return self.model.description_of(latents)


class _GivenMatcher:
    """Gives a permutation that was found elsewhere."""

    def __init__(self, permutation: Tensor) -> None:
        self.permutation = permutation

    def hard(self, nodes: Tensor, slots: Tensor) -> Tensor:
        return self.permutation


class _AskedMatcher:
    """Keeps the scores that it is asked to assign, and gives any permutation."""

    def __init__(self, model: GRALE, scores: list[Tensor]) -> None:
        if not isinstance(model.matcher, SinkhornMatcher):
            raise ValueError(f"cannot export a {type(model.matcher).__name__} as scores of nodes")
        self.matcher, self.scores = model.matcher, scores

    def hard(self, nodes: Tensor, slots: Tensor) -> Tensor:
        left, right = self.matcher.embed_in(nodes), self.matcher.embed_out(slots)
        self.scores.append(self.matcher.log_kernel(left, right))
        return torch.arange(nodes.shape[1]).expand(nodes.shape[0], -1)


def _inputs(model: GRALE, *values: Tensor) -> GraphInputs:
    node_feats, noise, edge_labels, path_code, node_mask = values
    labels = torch.zeros_like(node_mask, dtype=torch.int64)
    graphs = GraphBatch(node_mask, labels, edge_labels, model.space.directed)
    return GraphInputs(graphs, node_feats, noise, path_code, model.featurizer.path_table)


def _onnx_bytes(part: Part) -> bytes:
    """Export one part; torch's own messages are kept from the terminal."""
    try:
        import onnxscript  # noqa: F401  what torch's exporter needs
    except ImportError as error:
        raise ImportError("exporting needs the extra onnx: pip install 'grale[onnx]'") from error
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)  # it lists what it does not need
    count = torch.export.Dim("count", min=1)
    shapes = tuple({0: count} for _ in part.example)
    is_variadic = part.name in ("encoder", "nodes")
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), torch.no_grad():
        warnings.simplefilter("ignore")  # of the exporter, about its own parts
        program = torch.onnx.export(
            part.module,
            part.example,
            dynamo=True,
            opset_version=OPSET,
            input_names=list(part.inputs),
            output_names=list(part.outputs),
            dynamic_shapes=(shapes,) if is_variadic else shapes,
            verbose=False,
        )
    assert program is not None  # torch returns one if it is not told to write a file
    shapes_found = {value.name: value.shape for value in program.model.graph.inputs}
    fixed = [name for name, shape in shapes_found.items() if shape and isinstance(shape[0], int)]
    if fixed:
        raise ValueError(f"{part.name}: torch has fixed the number of graphs in {fixed}")
    return bytes(program.model_proto.SerializeToString())
