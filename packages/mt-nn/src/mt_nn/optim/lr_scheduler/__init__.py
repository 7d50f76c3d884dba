"""Learning rate schedulers.

Call `scheduler.step()` after the optimizer's steps of an epoch. Most schedulers compute the next
rate from the current one, so that several can act on one optimizer.
"""

# fmt: off
from mt_nn.optim.lr_scheduler.combined import ChainedScheduler, ReduceLROnPlateau, SequentialLR
from mt_nn.optim.lr_scheduler.scheduler import LRScheduler
from mt_nn.optim.lr_scheduler.schedules import (
    ConstantLR, CosineAnnealingLR, CosineAnnealingWarmRestarts, CyclicLR, ExponentialLR, LambdaLR,
    LinearLR, MultiplicativeLR, MultiStepLR, OneCycleLR, PolynomialLR, StepLR,
)

__all__ = [
    "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts",
    "CyclicLR", "ExponentialLR", "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR",
    "MultiplicativeLR", "OneCycleLR", "PolynomialLR", "ReduceLROnPlateau", "SequentialLR", "StepLR",
]
