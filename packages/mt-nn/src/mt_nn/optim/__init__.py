"""Optimizers: how parameters follow their gradients."""

from mt_nn.core.adam import Adam
from mt_nn.core.optimizer import Optimizer
from mt_nn.core.sgd import SGD
from mt_nn.optim import lr_scheduler, swa_utils
from mt_nn.optim.adadelta import Adadelta
from mt_nn.optim.adafactor import Adafactor
from mt_nn.optim.adagrad import Adagrad
from mt_nn.optim.adamax import Adamax
from mt_nn.optim.adamw import AdamW
from mt_nn.optim.asgd import ASGD
from mt_nn.optim.lamb import LAMB
from mt_nn.optim.lbfgs import LBFGS
from mt_nn.optim.lion import Lion
from mt_nn.optim.muon import Muon
from mt_nn.optim.nadam import NAdam
from mt_nn.optim.radam import RAdam
from mt_nn.optim.rmsprop import RMSprop
from mt_nn.optim.rprop import Rprop

# fmt: off
__all__ = [
    "ASGD", "LAMB", "LBFGS", "SGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax",
    "Lion", "Muon", "NAdam", "Optimizer", "RAdam", "RMSprop", "Rprop", "lr_scheduler", "swa_utils",
]
# fmt: on
