"""Optimizers: how parameters follow their gradients."""

from mt_nn.optim.adam import Adam
from mt_nn.optim.optimizer import Optimizer
from mt_nn.optim.sgd import SGD

__all__ = ["SGD", "Adam", "Optimizer"]
