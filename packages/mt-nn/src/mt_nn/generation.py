"""Continue sequences of tokens with a language model, one token after the other."""

from __future__ import annotations

from typing import Any

from mt_nn.core.settings import integer
from mt_nn.errors import InputError
from mt_nn.functional import softmax
from mt_nn.layers.key_value_cache import KeyValueCache
from mt_nn.utils.modes import evaluation
from mt_nn.utils.settings import check
from mt_operators import Module
from mt_tensor import Generator, Tensor, argmax, cat, full, multinomial, topk


def generate(
    model: Module,
    ids: Tensor,
    max_new_tokens: int,
    *,
    temperature: float = 0.0,
    top_k: int | None = None,
    context: int | None = None,
    end: int | None = None,
    use_cache: bool = True,
    generator: Generator | None = None,
) -> Tensor:
    """Continue sequences with the tokens that a model predicts, in evaluation mode.

    The model is called as `model(ids, cache=cache)`, with tokens of shape (batch, steps), and
    returns the scores of the next token at each step, shape (batch, steps, tokens). The first call
    has all tokens, and the others have the last one, which follows `cache.steps` tokens.

    Args:
        model: a causal transformer that passes `cache` on to its layers.
        ids: the sequences, integers of shape (batch, steps), with at least one step.
        max_new_tokens: the number of tokens to append to each.
        temperature: the divisor of the scores before tokens are drawn; at 0, the token with the
            largest score is appended instead.
        top_k: the number of tokens with the largest scores that are drawn from; None for all.
        context: the largest number of tokens that the model can read; None for no limit. Longer
            sequences are read from their last `context` tokens. Since their positions change with
            each token, these are read again each time.
        end: the token that ends a sequence. If a sequence has ended, `end` is appended to it; if
            all have, the result may be shorter.
        use_cache: whether to keep keys and values. If not, the model is called as `model(ids)` with
            all tokens each time, which gives the same result, later.
        generator: draws the tokens; None for the default one.

    Returns:
        Integers of shape (batch, steps + new tokens).

    Raises:
        InputError: the tokens, or the shape of the scores, are invalid.
        SettingError: a setting is invalid.
    """
    if ids.ndim != 2 or 0 in ids.shape or ids.dtype.kind != "integer":
        raise InputError(
            "generate() takes integers of shape (batch, steps), with at least one step; shape "
            f"{ids.shape} and {ids.dtype.name} were given."
        )
    check("temperature", temperature, temperature >= 0, "at least 0")
    total = ids.shape[1] + integer("max_new_tokens", max_new_tokens, 0)
    limit = total if context is None else integer("context", context, 1)
    cache = KeyValueCache(min(limit, total)) if use_cache else None
    has_ended = full((ids.shape[0], 1), False, backend=ids.backend)
    with evaluation(model):
        while ids.shape[1] < total:
            scores = _next_scores(model, ids, limit, cache)
            token = _choose(scores, temperature, top_k, generator).to(ids.dtype)
            if end is not None:
                token = token.masked_fill(has_ended, end)
                has_ended = has_ended | (token == end)
            ids = cat([ids, token], 1)
            if end is not None and has_ended.all():
                break
    return ids


def _next_scores(model: Module, ids: Tensor, limit: int, cache: KeyValueCache | None) -> Tensor:
    """Return the scores of the next token of each sequence, shape (batch, tokens)."""
    call: Any = model
    if cache is None or ids.shape[1] > limit:
        scores = call(ids[:, -limit:])
    else:
        scores = call(ids[:, cache.steps :], cache=cache)
        if cache.steps != ids.shape[1]:
            raise InputError(
                f"{type(model).__name__} has not passed its cache on to its layers: after a call "
                f"with {ids.shape[1]} step(s), it holds {cache.steps}."
            )
    if scores.ndim != 3 or scores.shape[0] != ids.shape[0]:
        raise InputError(
            "generate() needs a model that returns scores of shape (batch, steps, tokens); "
            f"{type(model).__name__} returned shape {scores.shape}."
        )
    last: Tensor = scores[:, -1]
    return last


def _choose(
    scores: Tensor, temperature: float, top_k: int | None, generator: Generator | None
) -> Tensor:
    """Return a token for each row of scores, shape (batch, 1)."""
    if temperature == 0:
        return argmax(scores, -1, keepdim=True)
    if top_k is None:
        return multinomial(softmax(scores / temperature, -1), 1, generator=generator)
    best, tokens = topk(scores, min(integer("top_k", top_k, 1), scores.shape[-1]), -1)
    return tokens.gather(1, multinomial(softmax(best / temperature, -1), 1, generator=generator))
