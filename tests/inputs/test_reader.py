"""The network that reads inputs: batch-mates and padding change nothing, turns turn images."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from grale.inputs.config import ReaderConfig
from grale.inputs.image_tokens import NUM_TURNS, turned
from grale.inputs.reader import InputEncoder, Reader, draw_turns
from grale.nn import half
from prediction_setup import BITS, COUNTS, IMAGE, READER, random_rows

ATOL = 1e-5  # float32, a few dozen sums


@pytest.mark.parametrize("space", [IMAGE, BITS, COUNTS], ids=lambda space: space.kind)
def test_an_input_does_not_depend_on_its_batch(space) -> None:
    torch.manual_seed(0)
    reader = Reader(space, READER, num_queries=3).eval()
    rows = torch.from_numpy(random_rows(space, 4))
    rows[0] = 0
    rows[0, :2] = 1  # a small set beside large ones: it is padded
    with torch.no_grad():
        together, alone = reader(rows), torch.cat([reader(row[None]) for row in rows])
    assert together.shape == (4, 3, READER.dim)
    torch.testing.assert_close(together, alone, atol=ATOL, rtol=1e-4)
    assert not torch.allclose(together[0], together[1], atol=1e-2)


def test_the_mean_of_an_input_leaves_out_padding() -> None:
    torch.manual_seed(0)
    encoder = InputEncoder(BITS, READER).eval()
    rows = torch.from_numpy(random_rows(BITS, 2))
    rows[0] = 0
    rows[0, 5] = 1
    with torch.no_grad():
        tokens, is_real = encoder(rows)
        assert is_real.sum(dim=1).tolist() == [2, 1 + int(rows[1].sum())]
        wanted = tokens[0, :2].mean(dim=0)
        torch.testing.assert_close(encoder.mean(rows)[0], wanted, atol=ATOL, rtol=1e-4)


def test_counts_are_seen_and_bits_do_not_have_any() -> None:
    torch.manual_seed(0)
    rows = torch.zeros(2, 64, dtype=torch.uint8)
    rows[0, 3], rows[1, 3] = 1, 2
    for space, differs in ((COUNTS, True), (BITS, False)):
        with torch.no_grad():
            read = Reader(space, READER, 1).eval()(rows)
        assert torch.equal(read[0], read[1]) != differs


def test_the_eight_turns_of_an_image_are_those_of_a_square() -> None:
    image = torch.arange(48, dtype=torch.uint8).reshape(1, 4, 4, 3)
    found = turned(image.expand(NUM_TURNS, -1, -1, -1), torch.arange(NUM_TURNS)).numpy()
    plain = image[0].numpy()
    flipped = plain[:, ::-1]
    wanted = [np.rot90(each, turn) for each in (plain, flipped) for turn in range(4)]
    assert np.array_equal(found, np.stack(wanted))
    assert len({each.tobytes() for each in found}) == NUM_TURNS


def test_turns_are_drawn_for_images_only() -> None:
    generator = torch.Generator().manual_seed(0)
    drawn = draw_turns(IMAGE, READER, 200, generator)
    assert set(drawn.flatten().tolist()) == set(range(NUM_TURNS))
    assert draw_turns(BITS, READER, 5, generator).tolist() == [[0.0]] * 5
    still = ReaderConfig(dim=16, num_heads=2, turns=False)
    assert draw_turns(IMAGE, still, 5, generator).abs().sum() == 0


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"dim": 10, "num_heads": 4}, "multiple of num_heads"),
        ({"channels": (4,)}, "two numbers"),
        ({"num_layers": 0}, "between 1 and"),
        ({"num_layers": 5_000}, "at most"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        ReaderConfig(**settings)


@pytest.mark.parametrize("space", [IMAGE, BITS], ids=lambda space: space.kind)
def test_bfloat16_changes_what_is_read_by_little(space, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    reader, rows = Reader(space, READER, num_queries=3), torch.from_numpy(random_rows(space, 4))
    found = []
    for is_rough in (False, True):
        monkeypatch.setattr(half, "processor_multiplies_bfloat16", lambda found=is_rough: found)
        found.append(reader(rows))
    assert found[1].dtype == torch.float32
    assert not torch.equal(*found)
    cosines = torch.nn.functional.cosine_similarity(*(each.flatten(1) for each in found))
    assert cosines.min() > 0.999
    found[1].sum().backward()
    assert all(weight.grad.dtype == torch.float32 for weight in reader.parameters())
