"""A small network learns a line that does not pass through zero.

With tensors alone, the parameters to update are listed by hand. If one is forgotten, it keeps its
value without any error: here the last bias, so that the network is off by the height of the line.
A module registers each parameter when it is assigned.
"""

from typing import Any

STEPS, RATE, HEIGHT = 400, 0.05, 10.0


def data() -> tuple[Any, Any]:
    """Return points, and the value of the line at each."""
    import mt_tensor as mt

    x = mt.linspace(-1.0, 1.0, 32).view(32, 1)
    return x, 3.0 * x + HEIGHT


def report(count: int, loss: Any) -> None:
    """Print how many parameters were updated, and the error of the network."""
    print(f"{count} parameters moved; mean square error {loss.item():.4f}")


def before() -> None:
    """Keep tensors and a list of them."""
    import mt_tensor as mt

    mt.manual_seed(0)
    x, y = data()
    first, second = mt.randn(1, 8, requires_grad=True), mt.randn(8, 1, requires_grad=True)
    parameters = [first, second]
    height = mt.zeros(1, requires_grad=True)  # added later
    loss: Any = None
    for _ in range(STEPS):
        loss = ((x @ first).tanh() @ second + height - y).square().mean()
        for parameter in parameters:
            parameter.grad = None
        loss.backward()
        with mt.no_grad():
            for parameter in parameters:
                parameter.sub_(parameter.grad, alpha=RATE)
    report(len(parameters), loss)


def after() -> None:
    """Use a module and its parameters."""
    import mt_nn as nn
    import mt_tensor as mt

    mt.manual_seed(0)
    x, y = data()
    model = nn.Sequential(nn.Linear(1, 8, bias=False), nn.Tanh(), nn.Linear(8, 1))
    optimizer = nn.optim.SGD(model.parameters(), lr=RATE)
    loss: Any = None
    for _ in range(STEPS):
        loss = (model(x) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    report(len(list(model.parameters())), loss)
