"""The training loop: forward, loss, backward, step; and evaluation without recording."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from mt_nn import functional
from mt_nn.modes import evaluation
from mt_nn.optim import Optimizer
from mt_operators import Module
from mt_tensor import Tensor

Batch = tuple[Tensor, Tensor]


@dataclass
class Epoch:
    """What came of one pass over the data.

    Attributes:
        losses: the mean loss of each batch.
        accuracy: the share of samples classified rightly, from 0 to 1.
    """

    losses: list[float] = field(default_factory=list)
    accuracy: float = 0.0

    @property
    def loss(self) -> float:
        """The mean over the batches; nan if there were none."""
        return sum(self.losses) / len(self.losses) if self.losses else float("nan")


def train_epoch(
    model: Module,
    batches: Iterable[Batch],
    optimizer: Optimizer,
    on_batch: Callable[[float], None] = lambda loss: None,
) -> Epoch:
    """Train on each batch once.

    Args:
        model: returns scores (batch, classes); it is left in training mode.
        batches: inputs and classes.
        optimizer: changes the model's parameters.
        on_batch: called with the loss after each batch.
    """

    def learn(loss: Tensor) -> None:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    model.train()
    return _run(model, batches, learn, on_batch)


def evaluate(model: Module, batches: Iterable[Batch]) -> Epoch:
    """Return loss and accuracy of the model in evaluation mode.

    Every module is back in its own mode afterwards, also when a batch raises.
    """
    with evaluation(model):
        return _run(model, batches)


def _run(
    model: Module,
    batches: Iterable[Batch],
    learn: Callable[[Tensor], None] = lambda loss: None,
    on_batch: Callable[[float], None] = lambda loss: None,
) -> Epoch:
    """Pass over the data once; `learn` is called with the loss of each batch as a tensor."""
    epoch = Epoch()
    right, seen = 0.0, 0
    for inputs, target in batches:
        scores = model(inputs)
        loss = functional.cross_entropy(scores, target)
        learn(loss)
        epoch.losses.append(loss.item())
        right += functional.accuracy(scores, target) * len(target)
        seen += len(target)
        on_batch(epoch.losses[-1])
    epoch.accuracy = right / max(seen, 1)
    return epoch
