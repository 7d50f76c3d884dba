"""The networks of the jobs that read texts, in either library.

They are those of `mt_nn.train`, with the same parameters under the same names, composed of layers
that both libraries have.
"""

from __future__ import annotations

from typing import Any

from mt.bench.libraries import Library


def language_model(side: Library, tokens: int, width: int, dropout: float, **settings: Any) -> Any:
    """Return an LSTM or, given `heads`, a transformer.

    Args:
        side: the library.
        tokens: how many there are.
        width: features of each.
        dropout: how likely a feature is left out in training.
        settings: `layers` and, of a transformer, `heads` and `window`.
    """
    nn, functional = side.nn, side.functional

    class LanguageModel(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(tokens, width)
            nn.init.uniform_(self.embedding.weight, -0.1, 0.1)
            self.bias = nn.Parameter(side.tensors.zeros(tokens))
            self.dropout = nn.Dropout(dropout)

        def scores(self, seen: Any) -> Any:
            rows = self.dropout(seen).flatten(0, 1)
            return functional.linear(rows, self.embedding.weight, self.bias)

    class LSTM(LanguageModel):
        def __init__(self, layers: int = 1) -> None:
            super().__init__()
            between = dropout if layers > 1 else 0.0
            self.lstm = nn.LSTM(width, width, layers, dropout=between)
            self.states: dict[bool, Any] = {}

        def forward(self, codes: Any, begins: bool = True) -> Any:
            before = None if begins else self.states[self.training]
            seen, after = self.lstm(self.dropout(self.embedding(codes)), before)
            self.states[self.training] = tuple(state.detach() for state in after)
            return self.scores(seen)

    class Transformer(LanguageModel):
        def __init__(self, layers: int, heads: int, window: int) -> None:
            super().__init__()
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
            return self.scores(self.encoder(self.dropout(seen), mask, is_causal=True))

    return (Transformer if "heads" in settings else LSTM)(**settings)
