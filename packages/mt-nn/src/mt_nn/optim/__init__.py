"""Optimizers, learning rate schedulers and weight averaging."""

from mt_nn.core.adam import Adam
from mt_nn.core.optimizer import Optimizer
from mt_nn.core.sgd import SGD
from mt_nn.optim import lr_scheduler, swa_utils
from mt_nn.optim.adam_variants import Adamax, AdamW, NAdam, RAdam
from mt_nn.optim.first_order import ASGD, Adadelta, Adagrad, RMSprop, Rprop
from mt_nn.optim.lbfgs import LBFGS
from mt_nn.optim.matrices import Adafactor, Muon

# fmt: off
__all__ = [
    "ASGD", "LBFGS", "SGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax",
    "Muon", "NAdam", "Optimizer", "RAdam", "RMSprop", "Rprop", "lr_scheduler", "swa_utils",
]
# fmt: on
