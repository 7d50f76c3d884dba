"""Optimizers: how parameters follow their gradients."""

from mt_nn.library.optim import swa_utils
from mt_nn.library.optim.adadelta import Adadelta
from mt_nn.library.optim.adafactor import Adafactor
from mt_nn.library.optim.adagrad import Adagrad
from mt_nn.library.optim.adamax import Adamax
from mt_nn.library.optim.asgd import ASGD
from mt_nn.library.optim.lamb import LAMB
from mt_nn.library.optim.lbfgs import LBFGS
from mt_nn.library.optim.lion import Lion
from mt_nn.library.optim.muon import Muon
from mt_nn.library.optim.nadam import NAdam
from mt_nn.library.optim.radam import RAdam
from mt_nn.library.optim.rmsprop import RMSprop
from mt_nn.library.optim.rprop import Rprop
from mt_nn.optim import lr_scheduler
from mt_nn.optim.adam import Adam, AdamW
from mt_nn.optim.optimizer import Optimizer
from mt_nn.optim.sgd import SGD

__all__ = [
    "ASGD",
    "LAMB",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Lion",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "lr_scheduler",
    "swa_utils",
]
