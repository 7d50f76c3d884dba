"""Networks that guess each token of a text from those before it: an LSTM, and a transformer.

Both take integers of shape (steps, batch) and give the scores of what comes next after each of
them, one row for each, in their order. Scores are products with the embeddings of the tokens, so
that one table serves at both ends (Press and Wolf, Using the output embedding, 2017).
"""

from __future__ import annotations

from mt_nn import init
from mt_nn.core.dropout import Dropout
from mt_nn.core.module import Module
from mt_nn.core.parameter import Parameter
from mt_nn.functional import linear
from mt_nn.layers.attention import remembered_mask
from mt_nn.layers.dropout import Dropout1d
from mt_nn.layers.embedding import Embedding
from mt_nn.layers.normalization import LayerNorm
from mt_nn.layers.positions import LearnedPositions
from mt_nn.layers.recurrent import LSTM
from mt_nn.layers.transformer import TransformerEncoder, TransformerEncoderLayer
from mt_tensor import Tensor, zeros

States = tuple[Tensor, Tensor]
"""What an LSTM remembers: hidden and cell states, shape (layers, batch, width) each."""


class _LanguageModel(Module):
    """What both have: the table of tokens at both ends.

    Args:
        tokens: how many there are.
        width: features of each.
    """

    def __init__(self, tokens: int, width: int) -> None:
        super().__init__()
        self.embedding = Embedding(tokens, width)
        init.uniform_(self.embedding.weight, -0.1, 0.1)
        self.bias = Parameter(zeros(tokens))

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
        self.dropout = Dropout1d(dropout)
        self.lstm = LSTM(width, width, layers, dropout=dropout if layers > 1 else 0.0)
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
        self.dropout = Dropout(dropout)
        self.positions = LearnedPositions(window, width, dim=0)
        layer = TransformerEncoderLayer(
            width, heads, 4 * width, dropout, activation="gelu", norm_first=True
        )
        self.encoder = TransformerEncoder(layer, layers, LayerNorm(width))

    def forward(self, tokens: Tensor, begins: bool = True) -> Tensor:
        """Return scores, shape (steps * batch, tokens), given tokens of shape (steps, batch).

        Args:
            tokens: a window of each text of the batch.
            begins: whether the texts begin here, which makes no difference: a transformer sees
                nothing of the window before.
        """
        mask = remembered_mask(len(tokens), tokens.backend)
        seen = self.dropout(self.positions(self.embedding(tokens)))
        return self.scores(self.dropout(self.encoder(seen, mask, is_causal=True)))
