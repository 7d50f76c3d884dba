"""What users find in `mt_nn.optim`, and where it is defined."""

from mt_nn.optim.adadelta import Adadelta as Adadelta
from mt_nn.optim.adafactor import Adafactor as Adafactor
from mt_nn.optim.adagrad import Adagrad as Adagrad
from mt_nn.optim.adamax import Adamax as Adamax
from mt_nn.optim.asgd import ASGD as ASGD
from mt_nn.optim.lamb import LAMB as LAMB
from mt_nn.optim.lbfgs import LBFGS as LBFGS
from mt_nn.optim.lion import Lion as Lion
from mt_nn.optim.muon import Muon as Muon
from mt_nn.optim.nadam import NAdam as NAdam
from mt_nn.optim.radam import RAdam as RAdam
from mt_nn.optim.rmsprop import RMSprop as RMSprop
from mt_nn.optim.rprop import Rprop as Rprop
from mt_nn.optim import lr_scheduler as lr_scheduler
from mt_nn.optim import swa_utils as swa_utils
from mt_nn.core.adam import Adam as Adam
from mt_nn.core.adam import AdamW as AdamW
from mt_nn.core.optimizer import Optimizer as Optimizer
from mt_nn.core.sgd import SGD as SGD
