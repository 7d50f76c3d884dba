"""The implementation of operations on a device, and the launches of training steps."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt.bench import ways
from mt.bench.launches import recorded
from mt.testing import example
from mt.workspace import ROOT
from mt_nn import functional as F
from mt_nn.core.lenet import LeNet
from mt_nn.train.networks import LSTMLanguageModel, ResNet9, TextCNN, TransformerLanguageModel

Step = Callable[[], Any]


def trained(model: nn.Module, loss: Callable[[], mt.Tensor], **settings: Any) -> Step:
    """Return a training step as in the jobs, with AdamW, clipping and a learning rate schedule."""
    optimizer = nn.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.1, **settings)
    schedule = nn.optim.lr_scheduler.OneCycleLR(optimizer, 1e-3, total_steps=9)

    def step() -> None:
        optimizer.zero_grad()
        loss().backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()

    return step


def draw(*shape: int) -> mt.Tensor:
    return mt.tensor(np.random.default_rng(0).random(shape, np.float32))


def numbers(below: int, *shape: int) -> mt.Tensor:
    return mt.tensor(np.random.default_rng(1).integers(0, below, shape))


def classified(model: nn.Module, inputs: mt.Tensor, classes: int = 10, **settings: Any) -> Step:
    labels, loss = numbers(classes, len(inputs)), nn.CrossEntropyLoss(**settings)
    return trained(model, lambda: loss(model(inputs), labels))


def spoken(model: nn.Module, tokens: int = 50) -> Step:
    """Return a step of a language model, on consecutive windows."""
    texts = numbers(tokens, 13, 4)

    def loss() -> mt.Tensor:
        scores = model(texts[:-1], begins=False)
        return F.cross_entropy(scores, texts[1:].reshape(-1))

    return trained(model, loss)


class Reader(nn.Module):
    """A classifier of the last state of a recurrent network."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network, self.scores = network, nn.Linear(12, 10)

    def forward(self, inputs: mt.Tensor) -> mt.Tensor:
        scores: mt.Tensor = self.scores(self.network(inputs)[0][:, -1])
        return scores


def segmentation() -> Step:
    model, weight = example("segmentation").UNet(), mt.tensor([0.3, 1.0, 1.0])
    images, classes = draw(2, 1, 32, 32), numbers(3, 2, 32, 32)
    return trained(model, lambda: F.cross_entropy(model(images), classes, weight=weight))


def letters() -> Step:
    model, codes = example("language_model").LanguageModel(), numbers(20, 4, 65)
    return trained(
        model, lambda: F.cross_entropy(model(codes[:, :-1]).flatten(0, 1), codes[:, 1:].flatten())
    )


def oscillator() -> Step:
    module = example("oscillator")
    model = module.Motion()
    return trained(model, lambda: module.loss_of(model, module.END * mt.rand(64, 1)))


def autoencoder() -> Step:
    module = example("autoencoder")
    model, images = module.Autoencoder(), draw(8, 1, 8, 8)
    return trained(model, lambda: module.loss_of(model, images))


def translation() -> Step:
    module = example("translation")
    model = module.Translator(16)
    questions, lengths, answers = module.batch(random.Random(0), 4)

    def loss() -> mt.Tensor:
        scores, _ = model(questions, lengths, answers)
        return F.cross_entropy(scores.flatten(0, 1), answers.flatten())

    return trained(model, loss)


def transformer() -> Step:
    """Return a step of a transformer with two stacks, masks and dropout."""
    model = nn.Transformer(8, 2, 1, 1, 16)
    source, target, mask = draw(5, 3, 8), draw(4, 3, 8), model.generate_square_subsequent_mask(4)
    hidden = mt.tensor(np.arange(5) > np.array([[4], [2], [3]]))
    return trained(
        model,
        lambda: model(source, target, tgt_mask=mask, src_key_padding_mask=hidden).square().mean(),
    )


TRAINING: dict[str, Callable[[], Step]] = {
    "points": lambda: classified(
        nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2)), draw(16, 2), 2
    ),
    "digits": lambda: classified(LeNet(8), draw(8, 1, 8, 8), label_smoothing=0.1),
    "mnist": lambda: classified(LeNet(28, channels=(16, 32), hidden=128), draw(8, 1, 28, 28)),
    "cifar10": lambda: classified(ResNet9(3), draw(4, 3, 32, 32)),
    "sentiment": lambda: classified(TextCNN(50, 16, word_dropout=0.1), numbers(50, 4, 20), 2),
    "language, lstm": lambda: spoken(LSTMLanguageModel(50, 16, dropout=0.65)),
    "language, transformer": lambda: spoken(
        TransformerLanguageModel(50, 16, 2, 4, window=12, dropout=0.2)
    ),
    "rnn": lambda: classified(Reader(nn.RNN(5, 12, batch_first=True)), draw(4, 7, 5)),
    "gru": lambda: classified(Reader(nn.GRU(5, 12, 2, batch_first=True)), draw(4, 7, 5)),
    "transformer": transformer,
    "segmentation": segmentation,
    "language_model": letters,
    "oscillator": oscillator,
    "autoencoder": autoencoder,
}
"""Functions that create training steps of the jobs, of examples, and of common networks."""


@pytest.mark.parametrize("name", TRAINING)
def test_training_step_needs_no_transfer_or_synchronization(name: str) -> None:
    record = recorded(TRAINING[name])
    assert record.launches
    assert [record.uploads, record.downloads, record.synchronisations] == [0, 0, 0]


def test_packed_sequences_synchronize_only_for_uploads() -> None:
    """Lengths are on the host; the indices derived from them are uploaded like data."""
    record = recorded(translation)
    assert record.launches
    assert record.downloads == 0
    assert record.synchronisations == record.uploads  # only uploads synchronize


@pytest.mark.slow
def test_checked_in_table_of_operations_is_current() -> None:
    table = (ROOT / "packages" / "mt-cuda" / "docs" / "operations.md").read_text()
    made = "\n".join(ways.report()) + "\n"
    assert made == table, "run `hatch run ways`"
