"""A key/value cache changes how long generating takes, and nothing else."""

from typing import Any

import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn.errors import InputError, SettingError
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
    """A causal transformer; `calls` are the numbers of steps that it was called with."""

    def __init__(self, context: int = 16, rotary: bool = False) -> None:
        super().__init__()
        self.embedding = nn.Embedding(11, 8)
        self.positions = nn.SinusoidalPositions(8) if rotary else nn.LearnedPositions(context, 8)
        block = nn.TransformerEncoderLayer(8, 2, 16, 0.1, batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(block, 2, nn.LayerNorm(8))
        self.scores = nn.Linear(8, 11)
        self.calls: list[int] = []

    def forward(self, ids: mt.Tensor, cache: nn.KeyValueCache | None = None) -> mt.Tensor:
        self.calls.append(ids.shape[1])
        mask = nn.Transformer.generate_square_subsequent_mask(ids.shape[1])
        x = self.positions(self.embedding(ids), 0 if cache is None else cache.steps)
        return self.scores(self.blocks(x, mask, is_causal=True, cache=cache))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("context", [None, 6])
def test_the_cache_does_not_change_the_tokens(backend: str, dtype: str, context: Any) -> None:
    model, ids = GPT().to(dtype), mt.randint(11, (3, 4))
    cached = nn.generate(model, ids, 12, context=context)
    assert model.calls == ([4] + 11 * [1] if context is None else [4, 1, 1] + 9 * [6])
    assert model.training
    assert mt.equal(cached, nn.generate(model, ids, 12, context=context, use_cache=False))
    assert cached.shape == (3, 16)
    assert mt.equal(cached[:, :4], ids)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("parts", [(10,), (1,) * 10, (4, 1, 3, 2)])
def test_scores_are_those_without_a_cache(backend: str, dtype: str, parts: Any) -> None:
    model, ids, cache = GPT().to(dtype).eval(), mt.randint(11, (2, 10)), nn.KeyValueCache(10)
    with mt.no_grad():
        found = mt.cat([model(part, cache) for part in ids.split(parts, 1)], 1)
        assert mt.allclose(found, model(ids), rtol=1e-4, atol=1e-5 if dtype == "float32" else 1e-12)
    assert cache.steps == 10


def test_a_decoder_with_memory() -> None:
    layer = nn.TransformerDecoderLayer(8, 2, 16, 0.0, batch_first=True)
    model, memory, x = nn.TransformerDecoder(layer, 2), mt.randn(2, 3, 8), mt.randn(2, 5, 8)
    cache, mask = nn.KeyValueCache(5), nn.Transformer.generate_square_subsequent_mask(5)
    with mt.no_grad():
        found = mt.cat([model(step, memory, cache=cache) for step in x.split(1, 1)], 1)
        assert mt.allclose(found, model(x, memory, mask, tgt_is_causal=True), atol=1e-5)


def test_the_steps_may_come_before_the_batch() -> None:
    model, tokens = TransformerLanguageModel(11, 8, 2, 2, 9).eval(), mt.randint(11, (9, 3))
    cache = nn.KeyValueCache(9)
    with mt.no_grad():
        found = mt.cat([model(step, cache=cache) for step in tokens.split(2)])
        assert mt.allclose(found, model(tokens), atol=1e-5)


def test_tokens_are_drawn_by_the_generator() -> None:
    model, ids = GPT(), mt.randint(11, (2, 3))

    def drawn(**settings: Any) -> mt.Tensor:
        generator = mt.Generator().manual_seed(3)
        return nn.generate(model, ids, 8, generator=generator, **settings)

    assert mt.equal(drawn(temperature=1.0), drawn(temperature=1.0, use_cache=False))
    assert not mt.equal(drawn(temperature=1.0), drawn(temperature=30.0))
    assert mt.equal(drawn(temperature=1.0, top_k=1), drawn())
    assert mt.equal(drawn(temperature=1e-4), drawn())
    few = drawn(temperature=50.0, top_k=2)
    with mt.no_grad():
        best = model.eval()(few[:, :-1])[:, 2:].topk(2, -1)[1]
    assert ((best == few[:, 3:].unsqueeze(-1)).any(-1)).all()


def test_sequences_end() -> None:
    model, ids = GPT(), mt.randint(11, (3, 2))
    free = nn.generate(model, ids, 10)
    end = free[0, 4].item()
    found = nn.generate(model, ids, 10, end=end)
    for row, other in zip(found.tolist(), free.tolist(), strict=True):
        stop = other[2:].index(end) + 3 if end in other[2:] else len(row)
        assert row[:stop] == other[:stop]
        assert set(row[stop:]) <= {end}
    assert mt.equal(nn.generate(model, ids[:1], 10, end=end)[0, -1], mt.tensor(end))
    assert nn.generate(model, ids[:1], 10, end=end).shape[1] <= 5


def test_no_tokens() -> None:
    ids = mt.randint(11, (2, 3))
    assert mt.equal(nn.generate(GPT(), ids, 0), ids)


@pytest.mark.parametrize(
    ("ids", "settings", "error", "said"),
    [
        ([[0.5]], {}, InputError, "integers of shape"),
        ([3], {}, InputError, "integers of shape"),
        ([[]], {}, InputError, "at least one step"),
        ([[3]], {"temperature": -1.0}, SettingError, "temperature"),
        ([[3]], {"context": 0}, SettingError, "context"),
    ],
)
def test_wrong_arguments(ids: Any, settings: Any, error: Any, said: str) -> None:
    with pytest.raises(error, match=said):
        nn.generate(GPT(), mt.tensor(ids), 3, **settings)


def test_models_that_ignore_the_cache_are_found_out() -> None:
    class Deaf(GPT):
        def forward(self, ids: mt.Tensor, cache: Any = None) -> mt.Tensor:
            return super().forward(ids)

    ids = mt.randint(11, (2, 3))
    with pytest.raises(InputError, match="Deaf has not passed its cache on to its layers"):
        nn.generate(Deaf(), ids, 3)
    with pytest.raises(InputError, match="returns scores of shape"):
        nn.generate(nn.Sequential(nn.Embedding(11, 8), nn.Flatten()), ids, 3, use_cache=False)


def test_what_a_cache_refuses() -> None:
    model, ids, cache = GPT().eval(), mt.randint(11, (2, 3)), nn.KeyValueCache(4)
    with pytest.raises(InputError, match="has no gradients"):
        model(ids, cache)
    with mt.no_grad():
        model(ids, nn.KeyValueCache(4))
        model(ids, cache)
        with pytest.raises(InputError, match="max_steps=4 has 3 step"):
            model(ids, cache)
        with pytest.raises(InputError, match="a batch of 2; one of 1"):
            model(ids[:1, :1], cache)
        attention, x = nn.MultiheadAttention(8, 2, batch_first=True), mt.randn(2, 3, 8)
        for settings in (
            {},
            {"need_weights": False, "key_padding_mask": mt.zeros(2, 3, dtype="bool")},
            {"need_weights": False, "attn_mask": mt.zeros(3, 3)},
        ):
            with pytest.raises(InputError, match="with a cache is causal"):
                attention(x, x, x, cache=nn.KeyValueCache(4), **settings)
