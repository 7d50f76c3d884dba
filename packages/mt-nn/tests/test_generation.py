"""Generation with a key/value cache: the same scores as without, and errors."""

from typing import Any

import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn.errors import InputError
from mt_nn.train.networks import TransformerLanguageModel

BACKENDS = ["numpy", pytest.param("fast", marks=pytest.mark.slow)]


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Any:
    if request.param == "fast":
        pytest.importorskip("mt_fast")
    with mt.use_backend(request.param):
        mt.manual_seed(0)
        yield request.param


class GPT(nn.Module):
    """A causal transformer."""

    def __init__(self, context: int = 16, rotary: bool = False) -> None:
        super().__init__()
        self.embedding = nn.Embedding(11, 8)
        self.positions = nn.SinusoidalPositions(8) if rotary else nn.LearnedPositions(context, 8)
        block = nn.TransformerEncoderLayer(8, 2, 16, 0.1, batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(block, 2, nn.LayerNorm(8))
        self.scores = nn.Linear(8, 11)

    def forward(self, ids: mt.Tensor, cache: nn.KeyValueCache | None = None) -> mt.Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(ids.shape[1])
        x = self.positions(self.embedding(ids), 0 if cache is None else cache.steps)
        return self.scores(self.blocks(x, mask, is_causal=True, cache=cache))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("parts", [(10,), (1,) * 10, (4, 1, 3, 2)])
def test_scores_with_cache_match_scores_without_cache(backend: str, dtype: str, parts: Any) -> None:
    model, ids, cache = GPT().to(dtype).eval(), mt.randint(11, (2, 10)), nn.KeyValueCache(10)
    with mt.no_grad():
        found = mt.cat([model(part, cache) for part in ids.split(parts, 1)], 1)
        assert mt.allclose(found, model(ids), rtol=1e-4, atol=1e-5 if dtype == "float32" else 1e-12)
    assert cache.steps == 10


def test_decoder_with_cache_and_memory_matches_full_pass() -> None:
    layer = nn.TransformerDecoderLayer(8, 2, 16, 0.0, batch_first=True)
    model, memory, x = nn.TransformerDecoder(layer, 2), mt.randn(2, 3, 8), mt.randn(2, 5, 8)
    cache, mask = nn.KeyValueCache(5), nn.Transformer.generate_square_subsequent_mask(5)
    with mt.no_grad():
        found = mt.cat([model(step, memory, cache=cache) for step in x.split(1, 1)], 1)
        assert mt.allclose(found, model(x, memory, mask, tgt_is_causal=True), atol=1e-5)


def test_cache_supports_steps_before_batch() -> None:
    model, tokens = TransformerLanguageModel(11, 8, 2, 2, 9).eval(), mt.randint(11, (9, 3))
    cache = nn.KeyValueCache(9)
    with mt.no_grad():
        found = mt.cat([model(step, cache=cache) for step in tokens.split(2)])
        assert mt.allclose(found, model(tokens), atol=1e-5)


def test_cache_with_unsupported_call_raises_input_error() -> None:
    model, ids, cache = GPT().eval(), mt.randint(11, (2, 3)), nn.KeyValueCache(4)
    with pytest.raises(InputError, match="records no gradients"):
        model(ids, cache)
    with mt.no_grad():
        model(ids, nn.KeyValueCache(4))
        model(ids, cache)
        with pytest.raises(InputError, match="max_steps=4 contains 3 step"):
            model(ids, cache)
        with pytest.raises(InputError, match="a batch of 2 sequences; 1 were"):
            model(ids[:1, :1], cache)
        attention, x = nn.MultiheadAttention(8, 2, batch_first=True), mt.randn(2, 3, 8)
        for settings in (
            {},
            {"need_weights": False, "key_padding_mask": mt.zeros(2, 3, dtype="bool")},
            {"need_weights": False, "attn_mask": mt.zeros(3, 3)},
        ):
            with pytest.raises(InputError, match="with a cache is causal"):
                attention(x, x, x, cache=nn.KeyValueCache(4), **settings)
