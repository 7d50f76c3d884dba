"""Steps of the jobs of `mt-train`, on data of the shapes that they learn from."""

from __future__ import annotations

from typing import Any

from mt.bench.language_models import language_model
from mt.bench.libraries import Library
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
    nn = side.nn
    model = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(4),
        nn.Flatten(),
        nn.Linear(32 * 7 * 7, 128),
        nn.ReLU(),
        nn.Dropout(0.25),
        nn.Linear(128, 10),
    )
    images = side.tensors.randn(64, 1, 28, 28)
    return step_of(side, model, images, side.tensors.randint(0, 10, (64,)))


@workload("fashion, ResNet-9: a step of 128 images", 0.8, "jobs")
def _resnet9(side: Library) -> Program:
    nn = side.nn

    class Residual(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, channels: int) -> None:
            super().__init__()
            self.change = nn.Sequential(
                *convolved(channels, channels), *convolved(channels, channels)
            )

        def forward(self, images: Any) -> Any:
            return images + self.change(images)

    def convolved(inputs: int, outputs: int, pool: bool = False) -> list[Any]:
        layers = [
            nn.Conv2d(inputs, outputs, 3, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(),
        ]
        return [*layers, nn.MaxPool2d(2)] if pool else layers

    model = nn.Sequential(
        *convolved(1, 32),
        *convolved(32, 64, pool=True),
        Residual(64),
        *convolved(64, 128, pool=True),
        *convolved(128, 256, pool=True),
        Residual(256),
        nn.AdaptiveMaxPool2d(1),
        nn.Flatten(),
        nn.Linear(256, 10, bias=False),
    )
    images = side.tensors.randn(128, 1, 28, 28)
    return step_of(side, model, images, side.tensors.randint(0, 10, (128,)))


@workload("sentiment, convolutions: a step of 50 sentences", 0.8, "jobs")
def _text_cnn(side: Library) -> Program:
    nn = side.nn

    class TextCNN(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(9000, 128, padding_idx=0)
            self.word_dropout, self.dropout = nn.Dropout(0.5), nn.Dropout(0.5)
            self.convolutions = nn.ModuleList(
                [nn.Conv1d(128, 100, width, padding=width) for width in (3, 4, 5)]
            )
            self.classifier = nn.Linear(300, 2)

        def forward(self, tokens: Any) -> Any:
            signals = self.word_dropout(self.embedding(tokens)).transpose(1, 2)
            largest = [convolve(signals).amax(2) for convolve in self.convolutions]
            features = side.functional.relu(side.tensors.cat(largest, 1))
            return self.classifier(self.dropout(features))

    sentences = side.tensors.randint(1, 9000, (50, 45))
    for number, sentence in enumerate(sentences):
        sentence[5 + 40 * number // 49 :] = 0  # padding
    return step_of(side, TextCNN(), sentences, side.tensors.randint(0, 2, (50,)))


def _reading(tokens: int, steps: int, columns: int, **settings: Any) -> Make:
    """Return what makes a step of a network that reads windows of texts side by side."""

    def make(side: Library) -> Program:
        model = language_model(side, tokens, **settings)
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
