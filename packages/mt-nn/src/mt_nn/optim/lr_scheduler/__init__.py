"""Schedulers: how learning rates change from epoch to epoch, or from step to step.

One is made after the optimizer and stepped after it. Each changes the rate that it finds, so that
several can work on one optimizer.
"""

from mt_nn.optim.lr_scheduler.combined import ChainedScheduler, ReduceLROnPlateau, SequentialLR
from mt_nn.optim.lr_scheduler.scheduler import LRScheduler
from mt_nn.optim.lr_scheduler.schedules import (
    ConstantLR,
    CosineAnnealingLR,
    CosineAnnealingWarmRestarts,
    CyclicLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    OneCycleLR,
    PolynomialLR,
    StepLR,
)

# fmt: off
__all__ = [
    "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts",
    "CyclicLR", "ExponentialLR", "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR",
    "MultiplicativeLR", "OneCycleLR", "PolynomialLR", "ReduceLROnPlateau", "SequentialLR", "StepLR",
]
# fmt: on
