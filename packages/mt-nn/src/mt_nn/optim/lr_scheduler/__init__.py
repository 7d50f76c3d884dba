"""Schedulers: how learning rates change from epoch to epoch, or from step to step.

One is made after the optimizer and stepped after it. Each changes the rate that it finds, so that
several can work on one optimizer.
"""

from mt_nn.optim.lr_scheduler.combined import ChainedScheduler, SequentialLR
from mt_nn.optim.lr_scheduler.cycles import (
    CosineAnnealingLR,
    CosineAnnealingWarmRestarts,
    CyclicLR,
    OneCycleLR,
)
from mt_nn.optim.lr_scheduler.decays import (
    ConstantLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from mt_nn.optim.lr_scheduler.plateau import ReduceLROnPlateau
from mt_nn.optim.lr_scheduler.scheduler import LRScheduler

# fmt: off
__all__ = [
    "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts",
    "CyclicLR", "ExponentialLR", "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR",
    "MultiplicativeLR", "OneCycleLR", "PolynomialLR", "ReduceLROnPlateau", "SequentialLR", "StepLR",
]
# fmt: on
