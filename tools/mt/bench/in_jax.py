"""Training steps in JAX, with layers of Flax and optimizers of Optax, each compiled as a whole.

They correspond to steps of `workloads/steps.py`, with the same networks.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import optax
from flax import linen as nn
from jax import numpy as jnp
from jax import random

from mt.bench.workloads.registry import Program


def _step(network: Any, optimizer: Any, inputs: Any, classes: int) -> Program:
    """Return a step on random classes, which updates its own parameters and state."""
    keys = {"params": random.PRNGKey(0), "dropout": random.PRNGKey(1)}
    scores, parameters = network.init_with_output(keys, inputs)
    labels = random.randint(random.PRNGKey(2), scores.shape[:-1], 0, classes)

    def loss(parameters: Any, key: Any) -> Any:
        scores = network.apply(parameters, inputs, rngs={"dropout": key})
        return optax.softmax_cross_entropy_with_integer_labels(scores, labels).mean()

    @partial(jax.jit, donate_argnums=(0, 1))
    def step(parameters: Any, state: Any, key: Any) -> Any:
        key, step_key = random.split(key)
        value, gradients = jax.value_and_grad(loss)(parameters, step_key)
        updates, state = optimizer.update(gradients, state, parameters)
        return value, optax.apply_updates(parameters, updates), state, key

    kept = [parameters, optimizer.init(parameters), keys["dropout"]]

    def program() -> None:
        value, *kept[:] = step(*kept)
        value.block_until_ready()

    return program


def _lenet(batch: int) -> Program:
    layers = [
        nn.Conv(4, (3, 3)),
        nn.relu,
        nn.Conv(8, (3, 3)),
        nn.relu,
        lambda x: x.reshape(batch, 7, 4, 7, 4, 8).mean((2, 4)).reshape(batch, -1),
        nn.Dense(64),
        nn.relu,
        nn.Dropout(0.25, deterministic=False),
        nn.Dense(10),
    ]
    images = random.normal(random.PRNGKey(3), (batch, 28, 28, 1))
    return _step(nn.Sequential(layers), optax.sgd(0.01), images, 10)


def _perceptron() -> Program:
    network = nn.Sequential([nn.Dense(256), nn.relu, nn.Dense(10)])
    return _step(network, optax.adam(1e-3), random.normal(random.PRNGKey(3), (32, 784)), 10)


class _GPT(nn.Module):  # type: ignore[misc]
    """A transformer with causal attention, whose input and output share the embeddings."""

    tokens: int
    width: int
    layers: int
    heads: int

    @nn.compact  # type: ignore[untyped-decorator]
    def __call__(self, codes: Any) -> Any:
        steps = codes.shape[1]
        embedding = nn.Embed(self.tokens, self.width)
        small = nn.initializers.normal(0.02)
        x = embedding(codes) + self.param("positions", small, (steps, self.width))
        for _ in range(self.layers):
            heads = nn.DenseGeneral((3, self.heads, self.width // self.heads))(nn.LayerNorm()(x))
            seen = jax.nn.dot_product_attention(*jnp.moveaxis(heads, 2, 0), is_causal=True)
            x = x + nn.Dense(self.width)(seen.reshape(x.shape))
            x = x + nn.Dense(self.width)(nn.gelu(nn.Dense(4 * self.width)(nn.LayerNorm()(x))))
        bias = self.param("bias", nn.initializers.zeros, (self.tokens,))
        return embedding.attend(nn.LayerNorm()(x)) + bias


def _gpt(tokens: int, width: int, layers: int, heads: int, batch: int, window: int) -> Program:
    codes = random.randint(random.PRNGKey(3), (batch, window), 0, tokens)
    network = _GPT(tokens, width, layers, heads)
    return _step(network, optax.adamw(3e-4, weight_decay=0.01), codes, tokens)


STEPS: dict[str, Callable[[], Program]] = {
    "LeNet, batch 16, SGD": lambda: _lenet(16),
    "LeNet, batch 64, SGD": lambda: _lenet(64),
    "MLP 784-256-10, batch 32, Adam": _perceptron,
    "GPT, 4 layers of 128, 16 x 64 tokens, AdamW": lambda: _gpt(65, 128, 4, 4, 16, 64),
    "GPT-2 of 124 M parameters, 1 x 128 tokens, AdamW": lambda: _gpt(50257, 768, 12, 12, 1, 128),
}
"""Functions that create a step, by the name of the workload."""
