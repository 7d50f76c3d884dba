"""Four steps of gradient descent on `x * x` from 1; the rate of 0.1 is halved after two of them.

The rates come first, and then the values of x.
"""

from typing import Any

X, RATES = 1.0, [0.1, 0.1, 0.05, 0.05]


def autodiff() -> tuple[Any, Any]:
    from mt_autodiff import Scalar
    from mt_autodiff.examples.training import GradientDescent
    from mt_operators import Parameter

    parameter = Parameter(Scalar(X))
    optimizer = GradientDescent([parameter], momentum=0.0)
    for rate in RATES:
        parameter.value.grad = None
        (parameter.value * parameter.value).backward()
        optimizer.step(rate)
    return [RATES, parameter.value], None


def nn() -> tuple[Any, Any]:
    import mt_nn as nn
    import mt_tensor as mt

    x = nn.Parameter(mt.tensor(X))
    optimizer = nn.optim.SGD([x], lr=RATES[0])
    scheduler = nn.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    rates = []
    for _ in RATES:
        rates.append(scheduler.get_last_lr()[0])
        optimizer.zero_grad()
        (x * x).backward()
        optimizer.step()
        scheduler.step()
    return [rates, x], None


def reference() -> tuple[Any, Any]:
    x = X
    for rate in RATES:
        x -= rate * 2.0 * x
    return [RATES, x], None
