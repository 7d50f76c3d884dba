"""Adaptive softmax: efficient log-probabilities for many classes, a few of which are frequent."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from mt_nn.core.containers import Sequential
from mt_nn.core.linear import Linear
from mt_nn.core.settings import integer
from mt_nn.errors import InputError, SettingError
from mt_nn.layers.containers import ModuleList
from mt_nn.utils import settings
from mt_nn.utils.factory import DeclaredLayer
from mt_tensor import Tensor, cat
from mt_tensor.errors import IndexingError
from mt_tensor.extending import require_tensors


class ASMoutput(NamedTuple):
    """The result of `AdaptiveLogSoftmaxWithLoss`.

    Attributes:
        output: log-probability of the target of each sample.
        loss: the negative mean of `output`.
    """

    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(DeclaredLayer):
    """Compute log-probabilities of classes in clusters, with fewer weights for rare classes.

    The head scores the frequent classes, and clusters of the others. The log-probability of a class
    in a cluster is that of the cluster plus that within the cluster (Grave et al. 2017,
    "Efficient softmax approximation for GPUs").

    Args:
        in_features: number of features of the input.
        n_classes: number of classes, in order of descending frequency.
        cutoffs: the first class of each cluster; classes before belong to the head.
        div_value: factor by which the number of features decreases from cluster to cluster.
        head_bias: whether the head has a bias.
        device, dtype: those of the parameters.

    Attributes:
        head: scores of frequent classes and of clusters.
        tail: for each cluster, a projection and scores of its classes.
    """

    in_features: int
    n_classes: int
    cutoffs: Sequence[int]
    div_value: float = 4.0
    head_bias: bool = False

    def _check(self) -> None:
        self.in_features = in_features = integer("in_features", self.in_features, 1)
        self.n_classes = n_classes = integer("n_classes", self.n_classes, 2)
        cutoffs, div_value = self.cutoffs, self.div_value
        sequence = cutoffs if isinstance(cutoffs, tuple | list) else ()
        given = [integer("a cutoff", cutoff, 1) for cutoff in sequence]
        is_valid = bool(given) and given[-1] < n_classes and sorted(set(given)) == given
        expected = f"ascending integers from 1 to {n_classes - 1}"
        settings.check("cutoffs", cutoffs, is_valid, expected)
        positive = settings.number("div_value", div_value) > 0
        settings.check("div_value", div_value, positive, "positive")
        self.cutoffs = [*given, n_classes]
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(given)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=self.head_bias)
        self.tail = ModuleList()
        for number, (first, end) in enumerate(itertools.pairwise(self.cutoffs), start=1):
            width = int(in_features // div_value**number)
            if not width:
                raise SettingError(
                    f"cluster {number} would have no features with in_features={in_features} and "
                    f"div_value={div_value}: use a smaller div_value, or fewer cutoffs."
                )
            projection = Linear(in_features, width, bias=False)
            self.tail.append(Sequential(projection, Linear(width, end - first, bias=False)))

    def forward(self, input: Tensor, target: Tensor) -> ASMoutput:
        """Return the log-probability of the target of each sample, and their negative mean.

        Args:
            input: shape (batch, in_features), or (in_features,).
            target: class indices, integers of shape (batch,), or ().

        Raises:
            InputError: a shape is invalid, or the target is not an integer tensor.
            IndexingError: a class is out of range.
        """
        self._check_input(input)
        require_tensors("AdaptiveLogSoftmaxWithLoss", target)
        if target.shape != input.shape[:-1] or target.dtype.kind != "integer":
            raise InputError(
                f"AdaptiveLogSoftmaxWithLoss takes integer targets of shape {input.shape[:-1]} for "
                f"an input of shape {input.shape}; shape {target.shape} and {target.dtype.name} "
                "were given."
            )
        if target.numel() and not ((target >= 0) & (target < self.n_classes)).all():
            raise IndexingError(
                f"AdaptiveLogSoftmaxWithLoss takes classes from 0 to {self.n_classes - 1}; classes "
                f"from {target.min().item()} to {target.max().item()} were given."
            )
        rows, classes = input.reshape(-1, self.in_features), target.reshape(-1).long()
        head = self.head(rows).log_softmax(1)
        in_head = classes
        for number, first in enumerate(self.cutoffs[:-1]):
            in_head = in_head.masked_fill(classes >= first, self.shortlist_size + number)
        output = head.gather(1, in_head.unsqueeze(1)).squeeze(1)
        for number, (first, end) in enumerate(itertools.pairwise(self.cutoffs)):
            members = ((classes >= first) & (classes < end)).argwhere().squeeze(1)
            if members.numel():
                scores = self.tail[number](rows.index_select(0, members)).log_softmax(1)
                within = (classes.index_select(0, members) - first).unsqueeze(1)
                output = output.index_add(0, members, scores.gather(1, within).squeeze(1))
        output = output.reshape(target.shape)
        return ASMoutput(output, -output.mean())

    def log_prob(self, input: Tensor) -> Tensor:
        """Return the log-probabilities of all classes, shape (batch, n_classes)."""
        self._check_input(input)
        head = self.head(input).log_softmax(-1)
        parts = [head[..., : self.shortlist_size]]
        for number, cluster in enumerate(self.tail):
            log_cluster = head[..., self.shortlist_size + number].unsqueeze(-1)
            parts.append(cluster(input).log_softmax(-1) + log_cluster)
        return cat(parts, -1)

    def predict(self, input: Tensor) -> Tensor:
        """Return the most probable class of each sample, integers of shape (batch,)."""
        return self.log_prob(input).argmax(-1)

    def _check_input(self, input: Tensor) -> None:
        require_tensors("AdaptiveLogSoftmaxWithLoss", input)
        if input.ndim not in (1, 2) or input.shape[-1] != self.in_features:
            raise InputError(
                f"AdaptiveLogSoftmaxWithLoss takes shape (batch, {self.in_features}) or "
                f"({self.in_features},); {input.shape} was given."
            )
