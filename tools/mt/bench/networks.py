"""The networks of the jobs of `mt-train`, in either library.

They correspond to those of `mt_nn.train` and of the sets of points, with the same names of
parameters, and are composed of layers that both libraries have.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from mt.bench.libraries import Library


def perceptron(side: Library, *, widths: Sequence[int]) -> Any:
    """Return linear layers with relu between them.

    Args:
        side: the library.
        widths: the number of inputs of the first layer, and of outputs of each.
    """
    nn = side.nn
    layers = []
    for before, after in pairwise(widths):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def small_lenet(side: Library) -> Any:
    """Return the course's LeNet for images of 28 x 28 pixels, whose steps are mostly overhead."""
    nn = side.nn
    return nn.Sequential(
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


def lenet(
    side: Library, *, size: int, channels: tuple[int, int], hidden: int, dropout: float
) -> Any:
    """Return a LeNet for images of one channel.

    Args:
        side: the library.
        size: the height and width of an image.
        channels: the channels of the first and the second convolution.
        hidden: the features between the linear layers.
        dropout: the dropout probability of these.
    """
    nn = side.nn
    pool = 2 if size <= 16 else 4

    class LeNet(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.features = nn.Sequential(
                nn.Conv2d(1, channels[0], 3, padding=1),
                nn.ReLU(),
                nn.Conv2d(channels[0], channels[1], 3, padding=1),
                nn.ReLU(),
                nn.MaxPool2d(pool),
                nn.Flatten(),
            )
            self.classifier = nn.Sequential(
                nn.Linear(channels[1] * (size // pool) ** 2, hidden),
                nn.ReLU(),
                nn.Dropout(dropout),
                nn.Linear(hidden, 10),
            )

        def forward(self, images: Any) -> Any:
            return self.classifier(self.features(images))

    return LeNet()


def resnet9(side: Library, *, channels: int, width: int) -> Any:
    """Return a ResNet-9.

    Args:
        side: the library.
        channels: the channels of an image.
        width: the channels of the first convolution.
    """
    nn = side.nn

    def convolved(inputs: int, outputs: int, pool: bool = False) -> Any:
        layers = [
            nn.Conv2d(inputs, outputs, 3, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(),
        ]
        return nn.Sequential(*layers, *([nn.MaxPool2d(2)] if pool else []))

    class Residual(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, channels: int) -> None:
            super().__init__()
            self.change = nn.Sequential(
                convolved(channels, channels), convolved(channels, channels)
            )

        def forward(self, images: Any) -> Any:
            return images + self.change(images)

    class ResNet9(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.features = nn.Sequential(
                convolved(channels, width),
                convolved(width, 2 * width, pool=True),
                Residual(2 * width),
                convolved(2 * width, 4 * width, pool=True),
                convolved(4 * width, 8 * width, pool=True),
                Residual(8 * width),
            )
            self.classifier = nn.Sequential(
                nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Linear(8 * width, 10, bias=False)
            )

        def forward(self, images: Any) -> Any:
            return self.classifier(self.features(images)) / 8

    return ResNet9()


def text_cnn(
    side: Library, *, tokens: int, features: int, dropout: float, word_dropout: float
) -> Any:
    """Return a network with convolutions over the words of a sentence, for two classes.

    Args:
        side: the library.
        tokens: the size of the vocabulary.
        features: the size of the embedding.
        dropout: the dropout probability of the maxima.
        word_dropout: the dropout probability of the embedding.
    """
    nn = side.nn

    class TextCNN(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(tokens, features, padding_idx=0)
            with side.tensors.no_grad():
                self.embedding.weight.mul_(0.1)
            self.word_dropout, self.dropout = nn.Dropout(word_dropout), nn.Dropout(dropout)
            self.convolutions = nn.ModuleList(
                [nn.Conv1d(features, 100, width, padding=width) for width in (3, 4, 5)]
            )
            self.classifier = nn.Linear(300, 2)

        def forward(self, sentences: Any) -> Any:
            signals = self.word_dropout(self.embedding(sentences)).transpose(1, 2)
            largest = [convolve(signals).amax(2) for convolve in self.convolutions]
            seen = side.functional.relu(side.tensors.cat(largest, 1))
            return self.classifier(self.dropout(seen))

    return TextCNN()


def language_model(
    side: Library, *, tokens: int, width: int, dropout: float, **settings: Any
) -> Any:
    """Return an LSTM or, given `heads`, a transformer.

    Args:
        side: the library.
        tokens: the size of the vocabulary.
        width: the size of the embedding.
        dropout: the dropout probability.
        settings: `layers` and, for a transformer, `heads` and `window`.
    """
    nn, functional = side.nn, side.functional

    class LanguageModel(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(tokens, width)
            nn.init.uniform_(self.embedding.weight, -0.1, 0.1)
            self.bias = nn.Parameter(side.tensors.zeros(tokens))

        def scores(self, seen: Any) -> Any:
            return functional.linear(seen.flatten(0, 1), self.embedding.weight, self.bias)

    class LSTM(LanguageModel):
        def __init__(self, layers: int = 1) -> None:
            super().__init__()
            self.dropout = nn.Dropout1d(dropout)
            between = dropout if layers > 1 else 0.0
            self.lstm = nn.LSTM(width, width, layers, dropout=between)
            self.states: dict[bool, Any] = {}

        def forward(self, codes: Any, begins: bool = True) -> Any:
            before = None if begins else self.states[self.training]
            seen, after = self.lstm(self.leave_out(self.embedding(codes)), before)
            self.states[self.training] = tuple(state.detach() for state in after)
            return self.scores(self.leave_out(seen))

        def leave_out(self, seen: Any) -> Any:
            return self.dropout(seen.permute(1, 2, 0)).permute(2, 0, 1)

    class Transformer(LanguageModel):
        def __init__(self, layers: int, heads: int, window: int) -> None:
            super().__init__()
            self.dropout = nn.Dropout(dropout)
            self.positions = nn.Parameter(0.02 * side.tensors.randn(window, width))
            layer = nn.TransformerEncoderLayer(
                width, heads, 4 * width, dropout, activation="gelu", norm_first=True
            )
            self.encoder = nn.TransformerEncoder(
                layer, layers, nn.LayerNorm(width), enable_nested_tensor=False
            )

        def forward(self, codes: Any, begins: bool = True) -> Any:
            steps = len(codes)
            mask = nn.Transformer.generate_square_subsequent_mask(steps)
            seen = self.embedding(codes) + self.positions[:steps].unsqueeze(1)
            encoded = self.encoder(self.dropout(seen), mask, is_causal=True)
            return self.scores(self.dropout(encoded))

    return (Transformer if "heads" in settings else LSTM)(**settings)
