"""A convolutional network for sentences, after Kim 2014, https://arxiv.org/abs/1408.5882."""

from __future__ import annotations

from collections.abc import Sequence

from mt_nn.core.dropout import Dropout
from mt_nn.core.linear import Linear
from mt_nn.core.module import Module
from mt_nn.functional import relu
from mt_nn.layers.containers import ModuleList
from mt_nn.layers.convolution import Conv1d
from mt_nn.layers.embedding import Embedding
from mt_tensor import Tensor, cat, no_grad

SPREAD = 0.1
"""The standard deviation of the numbers that stand for words, before anything is learnt: as small
as those of vectors that were learnt from much text."""


class TextCNN(Module):
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
        self.embedding = Embedding(tokens, features, padding_idx=0)
        with no_grad():
            self.embedding.weight.mul_(SPREAD)
        self.word_dropout = Dropout(word_dropout)
        self.convolutions = ModuleList(
            Conv1d(features, filters, width, padding=width) for width in widths
        )
        self.dropout = Dropout(dropout)
        self.classifier = Linear(filters * len(widths), classes)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the score of each class, (batch, classes), for sentences (batch, length)."""
        signals = self.word_dropout(self.embedding(tokens)).transpose(1, 2)
        largest = cat([convolve(signals).amax(2) for convolve in self.convolutions], 1)
        scores: Tensor = self.classifier(self.dropout(relu(largest)))
        return scores
