"""Whole training steps, as users write them: zero_grad, forward, backward, optimizer.

A side that compiles does so as its documentation recommends: this project compiles the whole step,
torch the network.
"""

from __future__ import annotations

from typing import Any

from mt.bench.libraries import Library
from mt.bench.networks import networks_of
from mt.bench.workloads.registry import Make, Program, workload


def _trained(side: Library, model: Any, optimizer: Any, *batch: Any) -> Program:
    """Return a step of a network on a batch, whose last part is the target."""
    network = side.network(model)

    def step(*given: Any) -> Any:
        *inputs, target = given
        optimizer.zero_grad()
        loss = side.functional.cross_entropy(network(*inputs), target)
        loss.backward()
        optimizer.step()
        return loss.detach()

    whole = side.step(step)
    return lambda: whole(*batch)


def _classes(side: Library, count: int, batch: int) -> Any:
    return side.tensors.randint(0, count, (batch,))


def lenet_step(batch: int) -> Make:
    """Return a function that creates a step of the course's LeNet on a batch of this size."""

    def make(side: Library) -> Program:
        nn = side.nn
        model = nn.Sequential(
            nn.Conv2d(1, 4, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(4, 8, 3, padding=1),
            nn.ReLU(),
            nn.AvgPool2d(4),
            nn.Flatten(),
            nn.Linear(392, 64),
            nn.ReLU(),
            nn.Dropout(0.25),
            nn.Linear(64, 10),
        )
        optimizer = side.optim.SGD(model.parameters(), lr=0.01, **side.fastest)
        images = side.tensors.randn(batch, 1, 28, 28)
        return _trained(side, model, optimizer, images, _classes(side, 10, batch))

    return make


def _perceptron(side: Library) -> Program:
    nn = side.nn
    model = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))
    optimizer = side.optim.Adam(model.parameters(), lr=1e-3, **side.fastest)
    return _trained(side, model, optimizer, side.tensors.randn(32, 784), _classes(side, 10, 32))


def _gpt(tokens: int, width: int, layers: int, heads: int, batch: int, window: int) -> Make:
    def make(side: Library) -> Program:
        network = networks_of(side).TransformerLanguageModel
        model = network(tokens, width, layers, heads, window)
        optimizer = side.optim.AdamW(model.parameters(), lr=3e-4, **side.fastest)
        codes = side.tensors.randint(0, tokens, (window, batch))
        return _trained(side, model, optimizer, codes, _classes(side, tokens, window * batch))

    return make


def _resnet(side: Library) -> Program:
    nn = side.nn

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, inputs: int, outputs: int) -> None:
            super().__init__()
            step = outputs // inputs
            self.change = nn.Sequential(
                nn.Conv2d(inputs, outputs, 3, stride=step, padding=1, bias=False),
                nn.BatchNorm2d(outputs),
                nn.ReLU(),
                nn.Conv2d(outputs, outputs, 3, padding=1, bias=False),
                nn.BatchNorm2d(outputs),
            )
            self.short = nn.Identity() if step == 1 else nn.Conv2d(inputs, outputs, 1, stride=step)

        def forward(self, images: Any) -> Any:
            return (self.short(images) + self.change(images)).relu()

    model = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1, bias=False),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        Block(16, 16),
        Block(16, 32),
        Block(32, 64),
        nn.AvgPool2d(8),
        nn.Flatten(),
        nn.Linear(64, 10),
    )
    optimizer = side.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, **side.fastest)
    images = side.tensors.randn(32, 3, 32, 32)
    return _trained(side, model, optimizer, images, _classes(side, 10, 32))


def _lstm(side: Library) -> Program:
    model = networks_of(side).LSTMLanguageModel(5000, 200, layers=2)
    optimizer = side.optim.Adam(model.parameters(), lr=1e-3, **side.fastest)
    codes = side.tensors.randint(0, 5000, (35, 20))
    return _trained(side, model, optimizer, codes, _classes(side, 5000, 35 * 20))


for _name, _target, _make in (
    ("LeNet, batch 16, SGD", 0.40, lenet_step(16)),
    ("LeNet, batch 64, SGD", 0.40, lenet_step(64)),
    ("MLP 784-256-10, batch 32, Adam", 0.75, _perceptron),
    ("GPT, 4 layers of 128, 16 x 64 tokens, AdamW", 0.90, _gpt(65, 128, 4, 4, 16, 64)),
    ("ResNet of 8 layers, 32 images of 3 x 32 x 32, SGD", 0.85, _resnet),
    ("LSTM language model, 2 layers of 200, 20 x 35 words, Adam", 0.85, _lstm),
    ("GPT-2 of 124 M parameters, 1 x 128 tokens, AdamW", 0.90, _gpt(50257, 768, 12, 12, 1, 128)),
):
    workload(_name, _target, "steps")(_make)
