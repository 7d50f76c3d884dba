"""The training loop: forward, loss, backward, step; and evaluation without recording."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from mt_nn import functional
from mt_nn.optim import Optimizer
from mt_operators import Module
from mt_tensor import Tensor, no_grad

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
        model: returns scores (batch, classes).
        batches: inputs and classes.
        optimizer: changes the model's parameters.
        on_batch: called with the loss after each batch.
    """
    model.train()
    epoch = Epoch()
    right, seen = 0.0, 0
    for inputs, target in batches:
        scores = model(inputs)
        loss = functional.cross_entropy(scores, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        epoch.losses.append(loss.item())
        right += functional.accuracy(scores, target) * len(target)
        seen += len(target)
        on_batch(epoch.losses[-1])
    epoch.accuracy = right / max(seen, 1)
    return epoch


@no_grad()
def evaluate(model: Module, batches: Iterable[Batch]) -> Epoch:
    """Return loss and accuracy of the model in evaluation mode, which is left as it was."""
    was_training = model.training
    model.eval()
    epoch = Epoch()
    right, seen = 0.0, 0
    for inputs, target in batches:
        scores = model(inputs)
        epoch.losses.append(functional.cross_entropy(scores, target).item())
        right += functional.accuracy(scores, target) * len(target)
        seen += len(target)
    epoch.accuracy = right / max(seen, 1)
    model.train(was_training)
    return epoch
