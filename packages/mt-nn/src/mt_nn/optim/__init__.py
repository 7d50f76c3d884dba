"""Optimizers: how parameters follow their gradients."""

from mt_nn.optim import lr_scheduler, swa_utils
from mt_nn.optim.adagrad import Adadelta, Adagrad
from mt_nn.optim.adam import Adam, AdamW
from mt_nn.optim.adam_variants import Adamax, NAdam, RAdam
from mt_nn.optim.large_batches import LAMB, Lion
from mt_nn.optim.optimizer import Optimizer
from mt_nn.optim.rmsprop import RMSprop
from mt_nn.optim.sgd import SGD

__all__ = [
    "LAMB",
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Lion",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "lr_scheduler",
    "swa_utils",
]
