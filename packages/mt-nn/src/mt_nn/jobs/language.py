"""A language model of the words of the Penn Treebank, which can generate text.

`ptb.train.txt`, `ptb.valid.txt` and `ptb.test.txt` are read from the subfolder `penn-treebank` of
the data folder. If the first is missing, nine tenths of the second are used for training, and the
last tenth for validation. Words that do not occur in the training text are `<unk>`, as rare words
in these files already are.

With so few words, networks overfit soon. The validation perplexity was 145.2 with an LSTM of width
400 and dropout of 0.65; 148.8 with 300 and 0.6; 155.8 with the latter and batches of 20 columns
instead of 10; 150.2 with more weight decay. Of several transformers, the one below, with dropout of
0.2, was the best.
"""

from __future__ import annotations

import math
from typing import ClassVar

from mt_nn import optim
from mt_nn.data import Vocabulary, read_penn_treebank
from mt_nn.data.formats.texts import find, find_optional
from mt_nn.jobs.job import Parts, Recipe
from mt_nn.jobs.text import Text
from mt_nn.train.networks import LSTMLanguageModel, TransformerLanguageModel
from mt_operators import Module


class Language(Text):
    """Predict the next word."""

    about = "the Penn Treebank, by words; generates text"
    models: ClassVar = {
        "lstm": Recipe(epochs=14, batch_size=10, lr=0.005),
        "transformer": Recipe(epochs=9, batch_size=20, lr=0.004),
    }
    samples = "words"
    window = 35
    separator = " "
    end = "<eos>"
    length = 60

    def read(self) -> Parts:
        """Return the three files; without the first, the second one split, and the third."""
        folder = self.folder("penn-treebank")
        validation, test = (
            read_penn_treebank(find(folder, f"ptb.{name}.txt"), self.end)
            for name in ("valid", "test")
        )
        path = find_optional(folder, "ptb.train.txt")
        if path:
            training = read_penn_treebank(path, self.end)
        else:
            middle = len(validation) * 9 // 10
            training, validation = validation[:middle], validation[middle:]
        self.vocabulary = Vocabulary.build(training)
        return self.in_windows(training, validation, test)

    def network(self) -> Module:
        """Return an LSTM or a transformer."""
        words = len(self.vocabulary)
        if self.settings.model == "lstm":
            return LSTMLanguageModel(words, width=400, dropout=0.65)
        return TransformerLanguageModel(
            words, width=128, layers=2, heads=4, window=self.window, dropout=0.2
        )

    def optimizer(self, network: Module) -> optim.Optimizer:
        """Return AdamW."""
        return optim.AdamW(network.parameters(), self.settings.lr, weight_decay=0.1)

    def tokenize(self, text: str) -> list[str]:
        """Return the words of a text."""
        return text.split()

    def format_loss(self, loss: float) -> str:
        """Return the perplexity."""
        return f"perplexity {math.exp(loss) if loss < 709 else math.inf:.1f}"
