"""The Penn Treebank, word by word; then the network goes on with a text.

`ptb.train.txt`, `ptb.valid.txt` and `ptb.test.txt` lie in `penn-treebank` of the data folder. Where
the first is missing, a network learns from nine tenths of the second, and the last tenth of it is
for the validation. A word that does not occur in what it learns from is `<unk>`, as rare words are
in these files already.

So few words are soon known by heart. The validation had a perplexity of 145.2 with an LSTM of 400
features and dropout of 0.65, of 148.8 with 300 and 0.6, and of 155.8 if these were read in batches
of 20 columns instead of 10. More decay made it 150.2. Of several transformers, the one below with
dropout of 0.2 had the least.
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
    """Guesses the next word."""

    about = "the Penn Treebank, by words; generates text"
    models: ClassVar = {
        "lstm": Recipe(epochs=14, batch_size=10, lr=0.005),
        "transformer": Recipe(epochs=9, batch_size=20, lr=0.004),
    }
    samples = "words"
    window = 35
    between = " "
    end = "<eos>"
    length = 60

    def read(self) -> Parts:
        """Return the three files, or the second one divided, and the third."""
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
        """Return Adam with weights that decay."""
        return optim.AdamW(network.parameters(), self.settings.lr, weight_decay=0.1)

    def tokens_of(self, text: str) -> list[str]:
        """Return the words of a text, which are in lower case."""
        return text.split()

    def told(self, loss: float) -> str:
        """Tell the perplexity."""
        return f"perplexity {math.exp(loss) if loss < 709 else math.inf:.1f}"
