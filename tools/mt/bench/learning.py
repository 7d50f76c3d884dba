"""The network, optimizer and training step of a job of `mt-train`, in either library.

All settings are those of the job, so that the measured program is the same.
"""

from __future__ import annotations

from typing import Any

from mt.bench.libraries import Library
from mt.bench.networks import network_of
from mt_nn.jobs.classification import Classification
from mt_nn.jobs.job import Job


class Learner:
    """The network of a job in either library, with the usual training step.

    Attributes:
        network: the network, randomly initialized.
        optimizer: the optimizer, in its fastest mode.
    """

    def __init__(self, job: Job, side: Library) -> None:
        self.network = network_of(job, side)
        self.optimizer = _optimizer(job, self.network, side)
        self._side, self._limit = side, job.clip_norm
        self._smoothing = job.smoothing if isinstance(job, Classification) else 0.0

    def step(self, *batch: Any) -> None:
        """Run a step on the arguments of the network, followed by the target."""
        *inputs, target = batch
        self.optimizer.zero_grad()
        scores = self.network(*inputs)
        loss = self._side.functional.cross_entropy(scores, target, label_smoothing=self._smoothing)
        loss.backward()
        if self._limit is not None:
            self._side.nn.utils.clip_grad_norm_(self.network.parameters(), self._limit)
        self.optimizer.step()


def _optimizer(job: Job, network: Any, side: Library) -> Any:
    """Return the optimizer of a job with its settings, in either library."""
    ours = job.optimizer(job.network())
    (group,) = ours.param_groups
    settings = {name: group[name] for name in ("lr", "betas", "eps", "weight_decay")}
    kind = getattr(side.optim, type(ours).__name__)
    return kind(network.parameters(), **settings, **side.fastest)
