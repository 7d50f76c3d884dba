"""The network, optimizer and training step of a job of `mt-train`, in either library.

All settings are those of the job, so that the measured program is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mt.bench.libraries import Library
from mt.bench.networks import language_model, lenet, perceptron, resnet9, text_cnn
from mt_nn.core.containers import Sequential
from mt_nn.core.lenet import LeNet
from mt_nn.jobs import job_class
from mt_nn.jobs.classification import Classification
from mt_nn.jobs.images import Images
from mt_nn.jobs.job import Job, Recipe
from mt_nn.train.networks import LSTMLanguageModel, ResNet9, TextCNN, TransformerLanguageModel

EARLIER = ("scalars", "weights")
"""Models of the stages before tensors, which have no equivalent in torch."""


def models_of(name: str) -> Mapping[str, Recipe]:
    """Return the models of a job that have a twin."""
    models = job_class(name).models
    return {model: recipe for model, recipe in models.items() if model not in EARLIER}


class Learner:
    """The network of a job in either library, with the usual training step.

    Attributes:
        network: the network, randomly initialized.
        optimizer: the optimizer, in its fastest mode.
    """

    def __init__(self, job: Job, side: Library) -> None:
        self.network = twin_of(job, side)
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


def twin_of(job: Job, side: Library) -> Any:
    """Return the randomly initialized network of a job, in either library.

    Raises:
        TypeError: it has no twin.
    """
    ours: Any = job.network()
    makers: dict[type, Callable[[], Any]] = {
        Sequential: lambda: perceptron(
            side,
            widths=[layer.in_features for layer in ours[::2]] + [ours[-1].out_features],
        ),
        LeNet: lambda: lenet(
            side,
            size=job.shape[1] if isinstance(job, Images) else 0,
            channels=(ours.features[0].out_channels, ours.features[2].out_channels),
            hidden=ours.classifier[0].out_features,
            dropout=ours.classifier[2].p,
        ),
        ResNet9: lambda: resnet9(
            side,
            channels=ours.features[0][0].in_channels,
            width=ours.features[0][0].out_channels,
        ),
        TextCNN: lambda: text_cnn(
            side,
            tokens=ours.embedding.num_embeddings,
            features=ours.embedding.embedding_dim,
            dropout=ours.dropout.p,
            word_dropout=ours.word_dropout.p,
        ),
        LSTMLanguageModel: lambda: language_model(
            side,
            tokens=ours.embedding.num_embeddings,
            width=ours.embedding.embedding_dim,
            dropout=ours.dropout.p,
            layers=ours.lstm.num_layers,
        ),
        TransformerLanguageModel: lambda: language_model(
            side,
            tokens=ours.embedding.num_embeddings,
            width=ours.embedding.embedding_dim,
            dropout=ours.dropout.p,
            layers=ours.encoder.num_layers,
            heads=ours.encoder.layers[0].self_attn.num_heads,
            window=len(ours.positions.weight),
        ),
    }
    if type(ours) not in makers:
        raise TypeError(f"{type(ours).__name__} has no twin in torch.")
    return makers[type(ours)]()


def _optimizer(job: Job, network: Any, side: Library) -> Any:
    """Return the optimizer of a job with its settings, in either library."""
    ours = job.optimizer(job.network())
    (group,) = ours.param_groups
    settings = {name: group[name] for name in ("lr", "betas", "eps", "weight_decay")}
    kind = getattr(side.optim, type(ours).__name__)
    return kind(network.parameters(), **settings, **side.fastest)
