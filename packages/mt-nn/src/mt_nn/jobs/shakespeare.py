"""A language model of the characters of Shakespeare's plays, which can generate text.

The file `input.txt` of char-rnn (Karpathy 2015) is read from the subfolder `tiny-shakespeare` of
the data folder. Its last tenth is held out: half for validation, half for the test.
"""

from __future__ import annotations

from typing import ClassVar

from mt_nn.data import Vocabulary, read_text
from mt_nn.data.formats.texts import find
from mt_nn.jobs.job import Parts, Recipe
from mt_nn.jobs.text import Text
from mt_nn.train.networks import LSTMLanguageModel, TransformerLanguageModel
from mt_operators import Module


class Shakespeare(Text):
    """Predict the next character."""

    about = "Shakespeare's plays, by characters; generates text"
    models: ClassVar = {
        "lstm": Recipe(epochs=8, batch_size=64, lr=0.004),
        "transformer": Recipe(epochs=8, batch_size=32, lr=0.002),
    }
    samples = "characters"
    window = 64
    separator = ""
    end = "\n"
    length = 400

    def read(self) -> Parts:
        """Return nine tenths of the text for training, and one twentieth each for the others."""
        text = read_text(find(self.folder("tiny-shakespeare"), "input.txt"))
        self.vocabulary = Vocabulary(sorted({*text, self.end}))
        first, second = len(text) * 90 // 100, len(text) * 95 // 100
        return self.in_windows(text[:first], text[first:second], text[second:])

    def network(self) -> Module:
        """Return an LSTM or a transformer."""
        if self.settings.model == "lstm":
            return LSTMLanguageModel(len(self.vocabulary), width=256)
        return TransformerLanguageModel(
            len(self.vocabulary), width=128, layers=4, heads=4, window=self.window
        )

    def tokenize(self, text: str) -> list[str]:
        """Return the characters of a text."""
        return list(text)

    def format_loss(self, loss: float) -> str:
        """Return the cross-entropy in nats per character."""
        return f"{loss:.4f} nats per character"
