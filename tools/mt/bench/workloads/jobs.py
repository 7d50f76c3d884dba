"""Steps of the jobs of `mt-train`, on data of the shapes that they learn from."""

from __future__ import annotations

from typing import Any

from mt.bench.libraries import Library
from mt.bench.networks import language_model, lenet, resnet9, text_cnn
from mt.bench.workloads.registry import Make, Program, workload


def step_of(side: Library, model: Any, inputs: Any, classes: Any) -> Program:
    """Return a step of Adam by the cross-entropy of what a model makes of its inputs."""
    optimizer = side.optim.Adam(model.parameters(), lr=1e-3, **side.fastest)

    def step() -> None:
        optimizer.zero_grad()
        side.functional.cross_entropy(model(inputs), classes).backward()
        optimizer.step()

    return step


@workload("mnist, LeNet: a step of 64 images", 0.8, "jobs")
def _lenet(side: Library) -> Program:
    images = side.tensors.randn(64, 1, 28, 28)
    model = lenet(side, size=28, channels=(16, 32), hidden=128, dropout=0.25)
    return step_of(side, model, images, side.tensors.randint(0, 10, (64,)))


@workload("fashion, ResNet-9: a step of 128 images", 0.8, "jobs")
def _resnet9(side: Library) -> Program:
    images = side.tensors.randn(128, 1, 28, 28)
    model = resnet9(side, channels=1, width=32)
    return step_of(side, model, images, side.tensors.randint(0, 10, (128,)))


@workload("sentiment, convolutions: a step of 50 sentences", 0.8, "jobs")
def _text_cnn(side: Library) -> Program:
    sentences = side.tensors.randint(1, 9000, (50, 45))
    for number, sentence in enumerate(sentences):
        sentence[5 + 40 * number // 49 :] = 0  # padding
    model = text_cnn(side, tokens=9000, features=128, dropout=0.5, word_dropout=0.5)
    return step_of(side, model, sentences, side.tensors.randint(0, 2, (50,)))


def _reading(tokens: int, steps: int, columns: int, **settings: Any) -> Make:
    """Return what makes a step of a network that reads windows of texts side by side."""

    def make(side: Library) -> Program:
        model = language_model(side, tokens=tokens, **settings)
        codes = side.tensors.randint(0, tokens, (steps, columns))
        return step_of(side, model, codes, side.tensors.randint(0, tokens, (steps * columns,)))

    return make


workload("language, LSTM: a step of 35 x 20 words", 0.8, "jobs")(
    _reading(5800, 35, 20, width=300, dropout=0.6)
)
workload("language, transformer: a step of 35 x 20 words", 0.8, "jobs")(
    _reading(5800, 35, 20, width=128, dropout=0.2, layers=2, heads=4, window=35)
)
workload("shakespeare, LSTM: a step of 64 x 64 characters", 0.8, "jobs")(
    _reading(65, 64, 64, width=256, dropout=0.0)
)
workload("shakespeare, transformer: a step of 64 x 32 characters", 0.8, "jobs")(
    _reading(65, 64, 32, width=128, dropout=0.0, layers=4, heads=4, window=64)
)
