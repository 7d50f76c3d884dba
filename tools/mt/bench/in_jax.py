"""Training steps in JAX, which has no layers: written with arrays, and compiled as a whole.

They correspond to steps of `workloads/steps.py`, with the same networks, and with optimizers
written out as formulas.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

Program = Callable[[], object]


def _initial(random: Any, shapes: dict[str, tuple[int, ...]]) -> dict[str, Any]:
    """Return small random parameters."""
    keys = random.split(random.PRNGKey(0), len(shapes))
    pairs = zip(keys, shapes.items(), strict=True)
    return {name: 0.05 * random.normal(key, shape) for key, (name, shape) in pairs}


def _stepping(loss: Any, parameters: Any, state: Any, update: Any, *batch: Any) -> Program:
    """Return a step that is compiled as a whole, and updates its own state."""
    jax: Any = import_module("jax")
    kept = [parameters, state, jax.random.PRNGKey(1)]

    def step(parameters: Any, state: Any, key: Any, *batch: Any) -> Any:
        key, own = jax.random.split(key)
        value, gradients = jax.value_and_grad(loss)(parameters, own, *batch)
        parameters, state = update(parameters, gradients, state)
        return value, parameters, state, key

    compiled = jax.jit(step, donate_argnums=(0, 1))

    def program() -> None:
        value, *kept[:] = compiled(*kept, *batch)
        value.block_until_ready()

    return program


def _sgd(parameters: Any, gradients: Any, state: Any) -> Any:
    jax: Any = import_module("jax")
    return jax.tree.map(lambda x, g: x - 0.01 * g, parameters, gradients), state


def _adam(decay: float) -> Any:
    jax: Any = import_module("jax")

    def update(parameters: Any, gradients: Any, state: Any) -> Any:
        count, mean, square = state
        count = count + 1
        mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, gradients)
        square = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, square, gradients)

        def moved(x: Any, m: Any, v: Any) -> Any:
            size = (v / (1 - 0.999**count)) ** 0.5 + 1e-8
            return x * (1 - 1e-3 * decay) - 1e-3 * m / (1 - 0.9**count) / size

        return jax.tree.map(moved, parameters, mean, square), (count, mean, square)

    return update


def _adam_state(parameters: Any) -> Any:
    jax: Any = import_module("jax")
    zeros = jax.tree.map(lambda x: 0 * x, parameters)
    return jax.numpy.zeros(()), zeros, jax.tree.map(lambda x: 0 * x, parameters)


def _cross_entropy(scores: Any, classes: Any) -> Any:
    jax: Any = import_module("jax")
    chosen = jax.nn.log_softmax(scores)[jax.numpy.arange(len(classes)), classes]
    return -chosen.mean()


def _lenet(batch: int) -> Program:
    jax: Any = import_module("jax")
    np, lax, random = jax.numpy, jax.lax, jax.random
    shapes = {
        "k1": (4, 1, 3, 3),
        "b1": (4, 1, 1),
        "k2": (8, 4, 3, 3),
        "b2": (8, 1, 1),
        "w1": (392, 64),
        "c1": (64,),
        "w2": (64, 10),
        "c2": (10,),
    }

    def loss(p: Any, key: Any, images: Any, classes: Any) -> Any:
        x = jax.nn.relu(lax.conv(images, p["k1"], (1, 1), "SAME") + p["b1"])
        x = jax.nn.relu(lax.conv(x, p["k2"], (1, 1), "SAME") + p["b2"])
        x = x.reshape(len(x), 8, 7, 4, 7, 4).mean((3, 5)).reshape(len(x), -1)
        x = jax.nn.relu(x @ p["w1"] + p["c1"])
        x = np.where(random.bernoulli(key, 0.75, x.shape), x / 0.75, 0)
        return _cross_entropy(x @ p["w2"] + p["c2"], classes)

    images = random.normal(random.PRNGKey(2), (batch, 1, 28, 28))
    classes = random.randint(random.PRNGKey(3), (batch,), 0, 10)
    return _stepping(loss, _initial(random, shapes), (), _sgd, images, classes)


def _perceptron() -> Program:
    jax: Any = import_module("jax")
    random = jax.random
    shapes = {"w1": (784, 256), "b1": (256,), "w2": (256, 10), "b2": (10,)}

    def loss(p: Any, _: Any, x: Any, classes: Any) -> Any:
        hidden = jax.nn.relu(x @ p["w1"] + p["b1"])
        return _cross_entropy(hidden @ p["w2"] + p["b2"], classes)

    first = _initial(random, shapes)
    x = random.normal(random.PRNGKey(2), (32, 784))
    classes = random.randint(random.PRNGKey(3), (32,), 0, 10)
    return _stepping(loss, first, _adam_state(first), _adam(0.0), x, classes)


def _gpt(tokens: int, width: int, layers: int, heads: int, batch: int, window: int) -> Program:
    jax: Any = import_module("jax")
    np, random = jax.numpy, jax.random
    shapes: dict[str, tuple[int, ...]] = {
        "tokens": (tokens, width),
        "places": (window, width),
        "bias": (tokens,),
    }
    for n in range(layers):
        shapes |= {
            f"{n} in": (width, 3 * width),
            f"{n} out": (width, width),
            f"{n} up": (width, 4 * width),
            f"{n} down": (4 * width, width),
            f"{n} biases": (9 * width,),
        }

    def normal(x: Any) -> Any:
        x = x - x.mean(-1, keepdims=True)
        return x * (x * x + 1e-5).mean(-1, keepdims=True) ** -0.5

    def loss(p: Any, _: Any, codes: Any, classes: Any) -> Any:
        x = p["tokens"][codes] + p["places"]
        mask = np.tril(np.ones((window, window), bool))
        for n in range(layers):
            a, b, c, d = np.split(p[f"{n} biases"], [3 * width, 4 * width, 8 * width])
            parts = (normal(x) @ p[f"{n} in"] + a).reshape(batch, window, 3, heads, -1)
            query, key, value = parts.transpose(2, 0, 3, 1, 4)
            fit = query @ key.swapaxes(-1, -2) / math.sqrt(width // heads)
            seen = jax.nn.softmax(np.where(mask, fit, -np.inf)) @ value
            x = x + seen.transpose(0, 2, 1, 3).reshape(batch, window, width) @ p[f"{n} out"] + b
            x = x + jax.nn.gelu(normal(x) @ p[f"{n} up"] + c) @ p[f"{n} down"] + d
        scores = normal(x) @ p["tokens"].T + p["bias"]
        return _cross_entropy(scores.reshape(-1, tokens), classes)

    first = _initial(random, shapes)
    codes = random.randint(random.PRNGKey(2), (batch, window), 0, tokens)
    classes = random.randint(random.PRNGKey(3), (batch * window,), 0, tokens)
    return _stepping(loss, first, _adam_state(first), _adam(0.01), codes, classes)


STEPS: dict[str, Callable[[], Program]] = {
    "LeNet, batch 16, SGD": lambda: _lenet(16),
    "LeNet, batch 64, SGD": lambda: _lenet(64),
    "MLP 784-256-10, batch 32, Adam": _perceptron,
    "GPT, 4 layers of 128, 16 x 64 tokens, AdamW": lambda: _gpt(65, 128, 4, 4, 16, 64),
    "GPT-2 of 124 M parameters, 1 x 128 tokens, AdamW": lambda: _gpt(50257, 768, 12, 12, 1, 128),
}
"""Functions that create a step, by the name of the workload."""
