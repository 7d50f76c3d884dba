"""What users find in `mt_nn.optim.lr_scheduler`, and where it is defined."""

from mt_nn.optim.lr_scheduler.combined import ChainedScheduler as ChainedScheduler
from mt_nn.optim.lr_scheduler.combined import SequentialLR as SequentialLR
from mt_nn.optim.lr_scheduler.cycles import CosineAnnealingLR as CosineAnnealingLR
from mt_nn.optim.lr_scheduler.cycles import (
    CosineAnnealingWarmRestarts as CosineAnnealingWarmRestarts,
)
from mt_nn.optim.lr_scheduler.cycles import CyclicLR as CyclicLR
from mt_nn.optim.lr_scheduler.cycles import OneCycleLR as OneCycleLR
from mt_nn.optim.lr_scheduler.decays import ConstantLR as ConstantLR
from mt_nn.optim.lr_scheduler.decays import ExponentialLR as ExponentialLR
from mt_nn.optim.lr_scheduler.decays import LambdaLR as LambdaLR
from mt_nn.optim.lr_scheduler.decays import LinearLR as LinearLR
from mt_nn.optim.lr_scheduler.decays import MultiplicativeLR as MultiplicativeLR
from mt_nn.optim.lr_scheduler.decays import MultiStepLR as MultiStepLR
from mt_nn.optim.lr_scheduler.decays import PolynomialLR as PolynomialLR
from mt_nn.optim.lr_scheduler.decays import StepLR as StepLR
from mt_nn.optim.lr_scheduler.plateau import ReduceLROnPlateau as ReduceLROnPlateau
from mt_nn.optim.lr_scheduler.scheduler import LRScheduler as LRScheduler
