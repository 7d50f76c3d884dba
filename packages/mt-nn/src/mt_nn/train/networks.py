"""Networks for images, sentences and texts, small enough to train without a GPU.

`ResNet9` follows D. Page, "How to train your ResNet" (2018), and `TextCNN` Kim 2014,
https://arxiv.org/abs/1408.5882. The language models take integers, shape (steps, batch), and return
scores of the next token, shape (steps * batch, tokens). Input and output layer share the embeddings
(Press and Wolf 2017, "Using the output embedding to improve language models").
"""

from __future__ import annotations

from collections.abc import Sequence

import mt_nn as nn
from mt_nn import KeyValueCache, init
from mt_nn.functional import linear, relu
from mt_nn.layers.attention import cached_causal_mask
from mt_tensor import Tensor, cat, no_grad, zeros

# --- Images ---------------------------------------------------------------------------------------


class ResNet9(nn.Module):
    """Eight convolutions and a linear layer.

    Args:
        channels: the number of channels of the images; height and width must be at least 8.
        classes: the number of classes.
        width: the number of channels after the first convolution; the last ones have eight times
            as many. The network of David Page has 64; 32 take a quarter of the time.
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
    """Two convolutions, whose result is added to their input."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.change = nn.Sequential(
            _convolution(channels, channels), _convolution(channels, channels)
        )

    def forward(self, images: Tensor) -> Tensor:
        result: Tensor = images + self.change(images)
        return result


def _convolution(inputs: int, outputs: int, pool: bool = False) -> nn.Sequential:
    layers = [
        nn.Conv2d(inputs, outputs, 3, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(),
    ]
    return nn.Sequential(*layers, *([nn.MaxPool2d(2)] if pool else []))


# --- Sentences ------------------------------------------------------------------------------------


EMBEDDING_STD = 0.1
"""The standard deviation of initial word embeddings, similar to that of pretrained ones."""


class TextCNN(nn.Module):
    """Convolutions over the words of a sentence, max pooling over time, and a linear layer.

    Padding has the index 0 and an embedding of zeros. Sentences are padded so that one window at
    each end contains only padding, so scores do not depend on the padding in a batch.

    Args:
        tokens: the size of the vocabulary.
        features: the size of embeddings.
        classes: the number of classes.
        filters: the number of filters of each width.
        widths: the widths of filters, in words.
        dropout: the dropout probability of the maxima.
        word_dropout: the dropout probability of the elements of embeddings.
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
            self.embedding.weight.mul_(EMBEDDING_STD)
        self.word_dropout = nn.Dropout(word_dropout)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(features, filters, width, padding=width) for width in widths
        )
        self.dropout = nn.Dropout(dropout)
        self.classifier = nn.Linear(filters * len(widths), classes)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return scores, shape (batch, classes), for sentences of shape (batch, length)."""
        signals = self.word_dropout(self.embedding(tokens)).transpose(1, 2)
        largest = cat([convolve(signals).amax(2) for convolve in self.convolutions], 1)
        scores: Tensor = self.classifier(self.dropout(relu(largest)))
        return scores


# --- Language models ------------------------------------------------------------------------------


States = tuple[Tensor, Tensor]
"""The hidden and the cell state of an LSTM, shape (layers, batch, width) each."""


class _LanguageModel(nn.Module):
    """Base class of language models: embeddings that input and output layer share.

    Args:
        tokens: the size of the vocabulary.
        width: the size of embeddings.
    """

    def __init__(self, tokens: int, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(tokens, width)
        init.uniform_(self.embedding.weight, -0.1, 0.1)
        self.bias = nn.Parameter(zeros(tokens))

    def scores(self, features: Tensor) -> Tensor:
        """Return scores, shape (steps * batch, tokens), for features (steps, batch, width)."""
        return linear(features.flatten(0, 1), self.embedding.weight, self.bias)


class LSTMLanguageModel(_LanguageModel):
    """An LSTM that reads a long text in windows, and keeps its state from one to the next.

    There are separate states for training and for evaluation.

    Args:
        tokens: the size of the vocabulary.
        width: the size of embeddings and states.
        layers: the number of layers.
        dropout: the dropout probability after the embedding, between layers, and after the last
            one. Before the first layer and after the last one, the same features are dropped at all
            steps of a window (Gal and Ghahramani 2016, "A theoretically grounded application of
            dropout in recurrent neural networks").

    Attributes:
        training_state: the state after the last window in training mode; None before the first. It
            is not saved with the parameters, because it belongs to the text.
    """

    def __init__(self, tokens: int, width: int, layers: int = 1, dropout: float = 0.0) -> None:
        super().__init__(tokens, width)
        self.dropout = nn.Dropout1d(dropout)
        self.lstm = nn.LSTM(width, width, layers, dropout=dropout if layers > 1 else 0.0)
        self.training_state: States | None = None
        self._evaluation_state: States | None = None

    def forward(self, tokens: Tensor, begins: bool = True) -> Tensor:
        """Return scores, shape (steps * batch, tokens), given tokens of shape (steps, batch).

        Args:
            tokens: a window of each text of the batch.
            begins: whether the texts begin with this window; otherwise, continue from the state
                after the last window in this mode, training or evaluation.
        """
        before = self.training_state if self.training else self._evaluation_state
        embedded = self._drop(self.embedding(tokens))
        features, (hidden, cell) = self.lstm(embedded, None if begins else before)
        after = hidden.detach(), cell.detach()
        if self.training:
            self.training_state = after
        else:
            self._evaluation_state = after
        return self.scores(self._drop(features))

    def _drop(self, features: Tensor) -> Tensor:
        """Drop the same features at all steps; shape (steps, batch, width)."""
        dropped: Tensor = self.dropout(features.permute(1, 2, 0))
        return dropped.permute(2, 0, 1)


class TransformerLanguageModel(_LanguageModel):
    """A transformer with causal attention within a window.

    Args:
        tokens: the size of the vocabulary.
        width: the size of embeddings; a multiple of `heads`.
        layers: the number of layers.
        heads: the number of attention heads of each layer.
        window: the largest number of steps.
        dropout: the dropout probability.
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

    def forward(
        self, tokens: Tensor, begins: bool = True, cache: KeyValueCache | None = None
    ) -> Tensor:
        """Return scores, shape (steps * batch, tokens), given tokens of shape (steps, batch).

        Args:
            tokens: a window of each text of the batch; with a cache, its next tokens.
            begins: ignored, because a transformer keeps no state between windows.
            cache: the keys and values of the tokens before these, or None.
        """
        mask = causal_mask(tokens)
        before = 0 if cache is None else cache.steps
        features = self.dropout(self.positions(self.embedding(tokens), before))
        encoded = self.encoder(features, mask, is_causal=True, cache=cache)
        return self.scores(self.dropout(encoded))


def causal_mask(tokens: Tensor) -> Tensor:
    """Return the causal mask of a window of tokens, with which none attends to later ones."""
    return cached_causal_mask(len(tokens), tokens.backend)
