"""Networks for images, sentences and texts, small enough to be trained without a GPU.

`ResNet9` is after D. Page, "How to train your ResNet" (2018), `TextCNN` after Kim 2014,
https://arxiv.org/abs/1408.5882. The language models take integers of shape (steps, batch) and give
the scores of what comes next after each of them, one row for each, in their order. Scores are
products with the embeddings of the tokens, so that one table serves at both ends (Press and Wolf,
Using the output embedding, 2017).
"""

from __future__ import annotations

from collections.abc import Sequence

import mt_nn as nn
from mt_nn import init
from mt_nn.functional import linear, relu
from mt_nn.layers.attention import cached_causal_mask
from mt_tensor import Tensor, cat, no_grad, zeros

# --- Images ---------------------------------------------------------------------------------------


class ResNet9(nn.Module):
    """Eight convolutions and a linear layer.

    Args:
        channels: channels of the images; height and width may be any from 8 on.
        classes: how many classes there are.
        width: channels after the first convolution; the last ones have eight times as many. Page's
            network has 64; with half as many it takes a quarter of the time.
    """

    def __init__(self, channels: int = 3, classes: int = 10, width: int = 32) -> None:
        super().__init__()
        self.features = nn.Sequential(
            _convolution(channels, width),
            _convolution(width, 2 * width, pool=True),
            _Residual(2 * width),
            _convolution(2 * width, 4 * width, pool=True),
            _convolution(4 * width, 8 * width, pool=True),
            _Residual(8 * width),
        )
        self.classifier = nn.Sequential(
            nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Linear(8 * width, classes, bias=False)
        )

    def forward(self, images: Tensor) -> Tensor:
        """Return scores, (batch, classes), for images of shape (batch, channels, height, width)."""
        scores: Tensor = self.classifier(self.features(images)) / 8
        return scores


class _Residual(nn.Module):
    """Two convolutions, whose result is added to what they were given."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.change = nn.Sequential(
            _convolution(channels, channels), _convolution(channels, channels)
        )

    def forward(self, images: Tensor) -> Tensor:
        changed: Tensor = images + self.change(images)
        return changed


def _convolution(inputs: int, outputs: int, pool: bool = False) -> nn.Sequential:
    layers = [
        nn.Conv2d(inputs, outputs, 3, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(),
    ]
    return nn.Sequential(*layers, *([nn.MaxPool2d(2)] if pool else []))


# --- Sentences ------------------------------------------------------------------------------------


SPREAD = 0.1
"""The standard deviation of the numbers that stand for words, before anything is learnt: as small
as those of vectors that were learnt from much text."""


class TextCNN(nn.Module):
    """Convolutions over the words of a sentence, the maximum of each filter, and a linear layer.

    A window beyond each end sees nothing but padding, which has the number 0 and the vector 0: so
    the scores of a sentence do not depend on how far it is filled up in its batch.

    Args:
        tokens: how many words have numbers.
        features: numbers that stand for a word.
        classes: how many classes there are.
        filters: how many there are of each width.
        widths: how many words a filter sees.
        dropout: the share of maxima that is left out in training.
        word_dropout: the share of a word's numbers that is left out likewise.
    """

    def __init__(
        self,
        tokens: int,
        features: int,
        classes: int = 2,
        filters: int = 100,
        widths: Sequence[int] = (3, 4, 5),
        dropout: float = 0.5,
        word_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(tokens, features, padding_idx=0)
        with no_grad():
            self.embedding.weight.mul_(SPREAD)
        self.word_dropout = nn.Dropout(word_dropout)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(features, filters, width, padding=width) for width in widths
        )
        self.dropout = nn.Dropout(dropout)
        self.classifier = nn.Linear(filters * len(widths), classes)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the score of each class, (batch, classes), for sentences (batch, length)."""
        signals = self.word_dropout(self.embedding(tokens)).transpose(1, 2)
        largest = cat([convolve(signals).amax(2) for convolve in self.convolutions], 1)
        scores: Tensor = self.classifier(self.dropout(relu(largest)))
        return scores


# --- Texts, token by token ------------------------------------------------------------------------


States = tuple[Tensor, Tensor]
"""What an LSTM remembers: hidden and cell states, shape (layers, batch, width) each."""


class _LanguageModel(nn.Module):
    """What both have: the table of tokens at both ends.

    Args:
        tokens: how many there are.
        width: features of each.
    """

    def __init__(self, tokens: int, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(tokens, width)
        init.uniform_(self.embedding.weight, -0.1, 0.1)
        self.bias = nn.Parameter(zeros(tokens))

    def scores(self, seen: Tensor) -> Tensor:
        """Return scores, shape (steps * batch, tokens), of features (steps, batch, width)."""
        return linear(seen.flatten(0, 1), self.embedding.weight, self.bias)


class LSTMLanguageModel(_LanguageModel):
    """An LSTM, which can read a long text in windows: it remembers where the last one has ended.

    The text that it learns from and one that it is evaluated on are remembered beside each other.

    Args:
        tokens: how many there are.
        width: features of each, and of the states.
        layers: how many LSTMs there are, one after the other.
        dropout: how likely a feature is left out in training: of tokens, between layers, at last.
            Before the layers and after them it is left out at all steps of a window (Gal and
            Ghahramani, A theoretically grounded application of dropout in recurrent neural
            networks, 2016), so that no other step can tell it.

    Attributes:
        learning: the states after the last window that it has learnt from; None before the first.
            They are not saved with the parameters, for they belong to the text.
    """

    def __init__(self, tokens: int, width: int, layers: int = 1, dropout: float = 0.0) -> None:
        super().__init__(tokens, width)
        self.dropout = nn.Dropout1d(dropout)
        self.lstm = nn.LSTM(width, width, layers, dropout=dropout if layers > 1 else 0.0)
        self.learning: States | None = None
        self._evaluated: States | None = None

    def forward(self, tokens: Tensor, begins: bool = True) -> Tensor:
        """Return scores, shape (steps * batch, tokens), given tokens of shape (steps, batch).

        Args:
            tokens: a window of each text of the batch.
            begins: whether the texts begin here; otherwise they go on where the last window of this
                mode, training or evaluation, has ended.
        """
        before = self.learning if self.training else self._evaluated
        embedded = self._leave_out(self.embedding(tokens))
        seen, (hidden, cell) = self.lstm(embedded, None if begins else before)
        after = hidden.detach(), cell.detach()
        if self.training:
            self.learning = after
        else:
            self._evaluated = after
        return self.scores(self._leave_out(seen))

    def _leave_out(self, seen: Tensor) -> Tensor:
        """Leave features out, in training, at all steps: (steps, batch, width)."""
        left: Tensor = self.dropout(seen.permute(1, 2, 0))
        return left.permute(2, 0, 1)


class TransformerLanguageModel(_LanguageModel):
    """A transformer in which each step sees itself and those before it, in one window.

    Args:
        tokens: how many there are.
        width: features of each; a multiple of `heads`.
        layers: how many layers there are.
        heads: how many ways of attention each layer has.
        window: how many steps it can see.
        dropout: the probability that a feature is left out in training.
    """

    def __init__(
        self, tokens: int, width: int, layers: int, heads: int, window: int, dropout: float = 0.0
    ) -> None:
        super().__init__(tokens, width)
        self.dropout = nn.Dropout(dropout)
        self.positions = nn.LearnedPositions(window, width, dim=0)
        layer = nn.TransformerEncoderLayer(
            width, heads, 4 * width, dropout, activation="gelu", norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, layers, nn.LayerNorm(width))

    def forward(self, tokens: Tensor, begins: bool = True) -> Tensor:
        """Return scores, shape (steps * batch, tokens), given tokens of shape (steps, batch).

        Args:
            tokens: a window of each text of the batch.
            begins: whether the texts begin here, which makes no difference: a transformer sees
                nothing of the window before.
        """
        mask = cached_causal_mask(len(tokens), tokens.backend)
        seen = self.dropout(self.positions(self.embedding(tokens)))
        return self.scores(self.dropout(self.encoder(seen, mask, is_causal=True)))
