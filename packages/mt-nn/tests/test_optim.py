"""Optimizers: published formulas in float64, state, groups, hooks, errors."""

import copy
import json
import pickle
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn import optim
from mt_tensor.backends import backends

START = np.array([1.0, -2.0, 3.0])
STEPS = 5


def gradient(x: Any) -> Any:
    return np.cos(x) + 0.3 * x


def parameter_after_steps(make: Any) -> Any:
    """Return the parameter after `STEPS` steps with `gradient`."""
    x = nn.Parameter(mt.tensor(START))
    optimizer = make([x])
    for _ in range(STEPS):
        x.grad = mt.tensor(gradient(x.detach().numpy()))
        optimizer.step()
        optimizer.zero_grad()
        assert x.grad is None
    return x.detach().numpy()


@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("decay", [0.0, 0.1])
@pytest.mark.parametrize("nesterov", [False, True])
def test_sgd_matches_formula(momentum: float, decay: float, nesterov: bool) -> None:
    if nesterov and not momentum:
        return  # raises; see test_invalid_setting_raises
    x, velocity = START.copy(), None
    for _ in range(STEPS):
        g = gradient(x) + decay * x
        velocity = g if velocity is None else momentum * velocity + g
        x = x - 0.1 * (g + momentum * velocity if nesterov else velocity)
    ours = parameter_after_steps(
        lambda p: optim.SGD(p, 0.1, momentum=momentum, weight_decay=decay, nesterov=nesterov)
    )
    np.testing.assert_allclose(ours, x, rtol=1e-12)


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_adam_matches_formula(decay: float) -> None:
    x, mean, square = START.copy(), np.zeros(3), np.zeros(3)
    for t in range(1, STEPS + 1):
        g = gradient(x) + decay * x
        mean = 0.8 * mean + 0.2 * g
        square = 0.99 * square + 0.01 * g * g
        x = x - 0.1 * (mean / (1 - 0.8**t)) / (np.sqrt(square / (1 - 0.99**t)) + 1e-8)
    ours = parameter_after_steps(
        lambda p: optim.Adam(p, 0.1, betas=(0.8, 0.99), weight_decay=decay)
    )
    np.testing.assert_allclose(ours, x, rtol=1e-12)


OPTIMIZERS = [
    lambda p: optim.SGD(p, momentum=0.9),
    lambda p: optim.Adam(p, amsgrad=True),
    optim.AdamW,
    lambda p: optim.RMSprop(p, momentum=0.9, centered=True),
    optim.Adafactor,
    optim.Adagrad,
    optim.Adadelta,
    optim.NAdam,
    optim.Adamax,
    optim.RAdam,
    optim.Rprop,
    lambda p: optim.ASGD(p, t0=2),
]


@pytest.mark.parametrize("make", OPTIMIZERS)
def test_optimizer_with_loaded_state_takes_the_same_steps(make: Any, tmp_path: Any) -> None:
    """The state is saved as safetensors and JSON, and loaded by another optimizer."""
    x, resumed_x = (nn.Parameter(mt.tensor(START)) for _ in range(2))
    optimizer, resumed = make([x]), make([resumed_x])
    for _ in range(3):
        x.grad = mt.tensor(gradient(x.detach().numpy()))
        optimizer.step()
    state = optimizer.state_dict()
    tensors = {name: value for name, value in state["state"][0].items() if hasattr(value, "shape")}
    nn.save(tensors, tmp_path / "state.safetensors")
    numbers = {k: v for k, v in state["state"][0].items() if k not in tensors}
    rest = json.loads(json.dumps({"state": {0: numbers}, "param_groups": state["param_groups"]}))
    rest["state"]["0"].update(nn.load(tmp_path / "state.safetensors"))
    resumed.load_state_dict(rest)
    resumed_x.update(x.detach())
    for _ in range(2):
        for parameter, each in ((x, optimizer), (resumed_x, resumed)):
            parameter.grad = mt.tensor(gradient(parameter.detach().numpy()))
            each.step()
    np.testing.assert_array_equal(x.detach().numpy(), resumed_x.detach().numpy())


@pytest.mark.parametrize("backend", [b for b in ("simple", "fast") if b in backends()])
@pytest.mark.parametrize("make", OPTIMIZERS)
def test_backend_gives_the_steps_of_numpy(make: Any, backend: str) -> None:
    results = []
    for name in ("numpy", backend):
        with mt.use_backend(name):
            x = nn.Parameter(mt.tensor(START, dtype="float32"))
            optimizer = make([x])
            for _ in range(6):
                x.grad = mt.tensor(gradient(x.detach().numpy()))
                optimizer.step()
            results.append(x.detach().numpy())
    np.testing.assert_allclose(*results, rtol=1e-5)


@pytest.mark.parametrize("decoupled", [False, True])
@pytest.mark.parametrize("make", OPTIMIZERS)
def test_steps_use_the_current_learning_rate(make: Any, decoupled: bool) -> None:
    """The initial rate affects neither steps nor weight decay."""
    results = []
    for scheduled in (False, True):
        x = nn.Parameter(mt.tensor(START))
        optimizer = make([x])
        (group,) = optimizer.param_groups
        group |= {
            k: v
            for k, v in (("weight_decay", 0.1), ("decoupled_weight_decay", decoupled))
            if k in group
        }
        if scheduled:
            optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.5)
        else:
            group["lr"] = 0.5 * group["lr"]
        for _ in range(3):
            x.grad = mt.tensor(gradient(x.detach().numpy()))
            optimizer.step()
        results.append(x.tolist())
    assert results[0] == results[1]


def test_load_state_dict_copies_and_converts_the_state() -> None:
    x = nn.Parameter(mt.ones(1))
    optimizer = optim.Adam([x])
    x.grad = mt.ones(1)
    optimizer.step()
    other = optim.Adam([nn.Parameter(mt.ones(1, dtype="float64"))])
    other.load_state_dict(optimizer.state_dict())
    (state,) = other.state.values()
    assert state["exp_avg"].dtype is mt.float64
    before = state["exp_avg"].item()
    optimizer.step()
    assert state["exp_avg"].item() == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.pop("state"), "with 'state' and 'param_groups'"),
        (lambda s: s["param_groups"].append({"params": []}), r"groups of \[2, 0\] parameters"),
        (lambda s: s["param_groups"][0].pop("eps"), "a group lacks eps"),
        (lambda s: s["state"].update({7: {"step": 1}}), r"that are in no group: \[7\]"),
        (lambda s: s["state"][0].pop("exp_avg"), "parameter 0 has step, exp_avg_sq; expected"),
        (lambda s: s["state"][1].update(exp_avg=mt.ones(4)), r"has shape \(4,\) instead of \(2,"),
    ],
)
def test_state_dict_that_does_not_fit_raises_and_changes_nothing(change: Any, message: str) -> None:
    parameters = [nn.Parameter(mt.ones(3)), nn.Parameter(mt.ones(2))]
    optimizer = optim.Adam(parameters)
    for parameter in parameters:
        parameter.grad = mt.ones(*parameter.shape)
    optimizer.step()
    state = copy.deepcopy(optimizer.state_dict())
    state["param_groups"][0]["lr"] = 5.0
    change(state)
    with pytest.raises(nn.StateDictError, match=message):
        optimizer.load_state_dict(state)
    assert optimizer.param_groups[0]["lr"] == 1e-3
    assert len(optimizer.state) == 2


def test_loading_an_invalid_setting_raises() -> None:
    optimizer = optim.SGD([nn.Parameter(mt.ones(1))])
    state = optimizer.state_dict()
    state["param_groups"][0]["lr"] = "fast"
    with pytest.raises(nn.SettingError, match="lr must be at least 0; got 'fast'"):
        optimizer.load_state_dict(state)


def test_step_calls_the_closure_with_gradients_enabled() -> None:
    x = nn.Parameter(mt.tensor([3.0]))
    optimizer = optim.SGD([x], lr=0.5)

    def closure() -> mt.Tensor:
        optimizer.zero_grad()
        loss = x.square().sum()
        loss.backward()
        return loss

    with mt.no_grad():
        assert optimizer.step(closure).item() == 9
    assert x.item() == 0
    assert optimizer.step() is None


def test_add_param_group_adds_valid_groups_only() -> None:
    a, b = nn.Parameter(mt.ones(1)), nn.Parameter(mt.ones(1))
    optimizer = optim.SGD([a], lr=0.5)
    optimizer.add_param_group({"params": b, "lr": 0.25})
    a.grad = b.grad = mt.ones(1)
    optimizer.step()
    assert (a.item(), b.item()) == (0.5, 0.75)
    with pytest.raises(nn.SettingError, match="twice"):
        optimizer.add_param_group({"params": [a]})
    with pytest.raises(nn.SettingError, match="lr must be at least 0; got -1"):
        optimizer.add_param_group({"params": [nn.Parameter(mt.ones(1))], "lr": -1})
    with pytest.raises(nn.SettingError, match="a group for SGD must be a dictionary"):
        optimizer.add_param_group([a])  # type: ignore[arg-type]
    assert len(optimizer.param_groups) == 2


def test_each_param_group_has_its_own_learning_rate() -> None:
    a, b, c = (nn.Parameter(mt.ones(1)) for _ in range(3))
    optimizer = optim.SGD([{"params": a}, {"params": [b], "lr": 1.0}, {"params": [c]}], lr=0.5)
    a.grad = b.grad = mt.ones(1)
    optimizer.step()
    assert (a.item(), b.item(), c.item()) == (0.5, 0.0, 1.0)


def test_optimizer_of_single_tensor_instead_of_list_raises() -> None:
    with pytest.raises(TypeError, match=r"takes a list of parameters.*\[tensor\]"):
        optim.SGD(nn.Parameter(mt.ones(2)))


@pytest.mark.parametrize("copy_of", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copied_optimizer_keeps_its_state(copy_of: Any) -> None:
    x = nn.Parameter(mt.ones(1))
    optimizer = optim.SGD([x], lr=0.1, momentum=0.9)
    x.grad = mt.ones(1)
    optimizer.step()
    copied_optimizer = copy_of(optimizer)
    copied_optimizer.step()
    optimizer.step()
    (copied,) = copied_optimizer.param_groups[0]["params"]
    assert copied.item() == x.item() == pytest.approx(0.71)


def test_zero_grad_with_set_to_none_false_zeroes_in_place() -> None:
    x = nn.Parameter(mt.ones(2))
    optimizer = optim.SGD([x])
    (x * 3).sum().backward()
    optimizer.zero_grad(set_to_none=False)
    assert x.grad is not None
    assert x.grad.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda p: optim.SGD([]), "SGD was given no parameters"),
        (lambda p: optim.SGD([p, p]), "twice"),
        (lambda p: optim.SGD([p * 1]), "a non-leaf tensor of float32 cannot be optimized"),
        (lambda p: optim.SGD([mt.arange(2)]), "a leaf tensor of int64 cannot be optimized"),
        (lambda p: optim.SGD([{"lr": 1.0}]), "lacks 'params'; it has lr"),
        (lambda p: optim.SGD([3.0]), "takes tensors; 3.0 was given"),
        (lambda p: optim.SGD([p], lr=-1), "lr must be at least 0; got -1"),
        (lambda p: optim.SGD([p], nesterov=True), "nesterov needs a momentum"),
        (lambda p: optim.SGD([{"params": [p], "rate": 1}]), "SGD has no setting rate; it has lr"),
        (lambda p: optim.Adam([p], betas=(0.9, 1.0)), r"betas must be two numbers in \[0, 1\)"),
        (lambda p: optim.Adam([p], betas=0.9), "betas must be two numbers"),
        (lambda p: optim.Adam([p], lr=float("nan")), "lr must be at least 0; got nan"),
        (lambda p: optim.AdamW([{"params": [p], "eps": -1}]), "eps must be at least 0"),
        (lambda p: optim.SGD([p], maximize=1), "maximize must be True or False; got 1"),
        (lambda p: optim.RMSprop([p], alpha=1.5), "alpha must be from 0 to 1; got 1.5"),
        (lambda p: optim.Adadelta([p], rho=-0.1), "rho must be from 0 to 1"),
        (lambda p: optim.Adagrad([p], lr_decay=-1), "lr_decay must be at least 0"),
        (lambda p: optim.NAdam([p], momentum_decay=-1), "momentum_decay must be at least 0"),
        (lambda p: optim.NAdam([p], betas=(1, 0.5)), "betas must be two numbers"),
        (lambda p: optim.Rprop([p], etas=(2, 3)), "etas must be two numbers, one between 0 and 1"),
        (lambda p: optim.Rprop([p], step_sizes=1), "step_sizes must be two numbers"),
        (lambda p: optim.ASGD([p], t0="late"), "t0 must be a number; got 'late'"),
        (lambda p: optim.SGD([p], dampening=None), "dampening must be a number"),
        (lambda p: optim.LBFGS([p], line_search_fn="wolfe"), "None or 'strong_wolfe'"),
        (lambda p: optim.LBFGS([p], max_iter=0), "max_iter"),
        (lambda p: optim.LBFGS([{"params": p}, {"params": p}]), "supports one group"),
        (lambda p: optim.SGD([p], lr=mt.ones(2)), "a tensor of one element"),
        (lambda p: optim.SGD([p], lr=mt.tensor(-1.0)), "lr must be at least 0; got -1.0"),
        (lambda p: optim.Adam([p], capturable=True), "capturable=True is not supported"),
        (lambda p: optim.SGD([p], differentiable=True), "gradients cannot flow through them"),
        (lambda p: optim.SGD([p], foreach=True, fused=True), "cannot both be True"),
        (lambda p: optim.SGD([p], foreach="yes"), "foreach must be None, True or False"),
        (lambda p: optim.SGD({p}), "takes parameters in order"),
        (lambda p: optim.SGD([("a", p), nn.Parameter(mt.ones(1))]), "name all of them"),
        (
            lambda p: optim.SGD(
                [{"params": [("a", p)]}, {"params": [nn.Parameter(mt.ones(1))]}],
            ),
            "without names",
        ),
    ],
)
def test_invalid_setting_raises(make: Any, message: str) -> None:
    with pytest.raises(nn.SettingError, match=message):
        make(nn.Parameter(mt.ones(1)))


@pytest.mark.parametrize(
    "make",
    [
        lambda p: optim.SGD(p, 0.05, momentum=0.9),
        lambda p: optim.Adam(p, 0.1),
        lambda p: optim.AdamW(p, 0.1, weight_decay=1e-4, amsgrad=True),
        lambda p: optim.RMSprop(p, 0.05),
        lambda p: optim.Adagrad(p, 0.5),
        lambda p: optim.Adadelta(p, 5.0, eps=1e-3),
        lambda p: optim.NAdam(p, 0.1),
        lambda p: optim.Adamax(p, 0.1),
        lambda p: optim.RAdam(p, 0.2),
    ],
)
def test_optimizer_fits_a_line(make: Any) -> None:
    mt.manual_seed(0)
    model = nn.Linear(1, 1)
    x = mt.linspace(-1, 1, 20).view(-1, 1)
    optimizer = make(model.parameters())
    for _ in range(200):
        loss = nn.functional.mse_loss(model(x), 2 * x + 3)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert model.weight.item() == pytest.approx(2, abs=0.01)
    assert model.bias.item() == pytest.approx(3, abs=0.01)


# --- Compatibility with torch ---------------------------------------------------------------------


def test_foreach_fused_and_capturable_have_no_effect() -> None:
    expected, *others = (
        parameter_after_steps(lambda p, how=how: optim.Adam(p, 0.1, **how)).tolist()
        for how in ({}, {"foreach": True}, {"fused": True}, {"foreach": False, "capturable": False})
    )
    assert others == [expected] * 3


def test_load_state_dict_keeps_foreach_and_capturable() -> None:
    optimizer = optim.Adam([nn.Parameter(mt.ones(1))], foreach=True)
    state = optimizer.state_dict()
    state["param_groups"][0] |= {"capturable": True, "foreach": None, "lr": 0.5}
    optimizer.load_state_dict(state)
    group = optimizer.param_groups[0]
    assert (group["capturable"], group["foreach"], group["lr"]) == (False, True, 0.5)


def test_step_hooks_are_called_before_and_after_the_step() -> None:
    x = nn.Parameter(mt.tensor([3.0]))
    optimizer = optim.SGD([x], lr=0.5)
    calls: list[Any] = []

    def closure() -> float:
        calls.append("closure")
        x.grad = mt.ones(1)
        return 1.0

    before = optimizer.register_step_pre_hook(lambda o, args, kwargs: ((o, closure), {}))
    optimizer.register_step_post_hook(lambda o, args, kwargs: calls.append((o, x.item())))
    assert optimizer.step() == 1.0
    assert calls == ["closure", (optimizer, 2.5)]
    before.remove()
    assert optimizer.step() is None
    assert calls[2:] == [(optimizer, 2.0)]
    optimizer.register_step_pre_hook(lambda o, args, kwargs: 3)
    with pytest.raises(TypeError, match="must return None or a tuple of arguments"):
        optimizer.step()
    with pytest.raises(TypeError, match="a hook must be a function"):
        optimizer.register_step_pre_hook("hook")  # type: ignore[arg-type]


def test_user_optimizer_can_define_step_only() -> None:
    class Halving(optim.SGD):
        """Halve the rate after each step."""

        def step(self, closure: Any = None) -> Any:
            loss = super().step(closure)
            self.param_groups[0]["lr"] /= 2
            return loss

    class Counting(optim.Optimizer):
        """Define `step`, as optimizers written for torch do."""

        def __init__(self, params: Any) -> None:
            super().__init__(params, {"lr": 0.5})

        @mt.no_grad()
        def step(self, closure: Any = None) -> None:
            for group in self.param_groups:
                for parameter in group["params"]:
                    state = self.state[parameter]
                    if not state:
                        state["total"] = mt.zeros_like(parameter)
                    state["total"].add_(parameter.grad)
                    parameter.sub_(state["total"], alpha=group["lr"])

    class Nothing(optim.Optimizer):
        """Define neither `step` nor `update`."""

    x = nn.Parameter(mt.tensor([3.0]))
    x.grad = mt.ones(1)
    optimizer = Halving([x], lr=1.0)
    calls: list[Any] = []
    optimizer.register_step_post_hook(lambda *args: calls.append(args))
    optimizer.step()
    optimizer.step()
    assert (x.item(), len(calls)) == (1.5, 2)
    counting, resumed = Counting([x]), Counting([x])
    counting.step()
    resumed.load_state_dict(counting.state_dict())
    resumed.step()
    assert x.item() == 0.0
    assert (counting.state[x]["total"].item(), resumed.state[x]["total"].item()) == (1, 2)
    with pytest.raises(NotImplementedError, match=r"Nothing must define update\(\), or step"):
        Nothing([x], {}).step()


def test_state_dict_hooks_can_change_the_state() -> None:
    optimizer = optim.SGD([nn.Parameter(mt.ones(1))], lr=0.5)
    order: list[str] = []
    optimizer.register_state_dict_pre_hook(lambda o: order.append("second"))
    optimizer.register_state_dict_pre_hook(lambda o: order.append("first"), prepend=True)
    optimizer.register_state_dict_post_hook(lambda o, state: {**state, "version": 2})
    state = optimizer.state_dict()
    assert (order, state["version"]) == (["first", "second"], 2)
    state["param_groups"][0]["lr"] = 0.25

    def doubled(_: Any, state_dict: Any) -> Any:
        return {**state_dict, "param_groups": [{**state_dict["param_groups"][0], "lr": 0.75}]}

    optimizer.register_load_state_dict_pre_hook(doubled)
    optimizer.register_load_state_dict_post_hook(lambda o: order.append("loaded"))
    optimizer.load_state_dict(state)
    assert (optimizer.param_groups[0]["lr"], order[-1]) == (0.75, "loaded")
    copied = copy.deepcopy(optimizer)
    assert "version" not in copied.state_dict()


def test_lbfgs_needs_a_closure_and_can_be_resumed(tmp_path: Any) -> None:
    x = nn.Parameter(mt.tensor([3.0, -1.0]))
    make = lambda: optim.LBFGS([x], max_iter=2, line_search_fn="strong_wolfe")  # noqa: E731
    optimizer = make()
    with pytest.raises(TypeError, match="pass a closure"):
        optimizer.step()

    def closure() -> mt.Tensor:
        optimizer.zero_grad()
        loss = (x[0] - 1) ** 4 + (x[0] - x[1] ** 2) ** 2
        loss.backward()
        return loss

    for _ in range(2):
        optimizer.step(closure)
    nn.save_checkpoint(tmp_path / "c.safetensors", optimizer=optimizer)
    start, (original,) = x.detach().clone(), [optimizer]
    optimizer.step(closure)
    expected = x.tolist()
    x.update(start)
    optimizer = make()
    nn.load_checkpoint(tmp_path / "c.safetensors", optimizer=optimizer)
    optimizer.step(closure)
    assert x.tolist() == expected
    state = original.state_dict()
    state["state"][0].pop("ro")
    with pytest.raises(nn.StateDictError, match="lacks ro"):
        optimizer.load_state_dict(state)
    state["state"][0] |= {"ro": [], "d": mt.ones(5)}
    with pytest.raises(nn.StateDictError, match="d is not a vector of 2 elements"):
        optimizer.load_state_dict(state)


def test_lbfgs_extends_its_step_on_a_linear_loss() -> None:
    x = nn.Parameter(mt.tensor([0.0]))
    optimizer = optim.LBFGS([x], max_iter=3, line_search_fn="strong_wolfe")

    def closure() -> mt.Tensor:
        optimizer.zero_grad()
        loss = -x.sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    assert x.item() == 100  # three evaluations, each ten times as far as the previous one


def test_hooks_are_called_in_order_of_registration() -> None:
    optimizer = optim.SGD([nn.Parameter(mt.ones(1))], lr=0.5)
    order: list[Any] = []
    for number in (1, 2, 3):
        optimizer.register_step_pre_hook(lambda *args, n=number: order.append(("before", n)))
        optimizer.register_step_post_hook(lambda *args, n=number: order.append(("after", n)))
    optimizer.step()
    assert order == [(when, n) for when in ("before", "after") for n in (1, 2, 3)]


def test_lbfgs_default_max_eval_depends_on_max_iter() -> None:
    for settings, expected in (
        ({}, (20, 25)),
        ({"max_iter": 8}, (8, 10)),
        ({"max_eval": 3}, (20, 3)),
    ):
        (group,) = optim.LBFGS([nn.Parameter(mt.ones(1))], **settings).param_groups
        assert (group["max_iter"], group["max_eval"]) == expected
        assert (group["tolerance_grad"], group["tolerance_change"]) == (1e-7, 1e-9)
        assert (group["lr"], group["history_size"], group["line_search_fn"]) == (1, 100, None)


def test_annotations_in_user_subclasses_are_not_settings() -> None:
    class Counting(optim.RAdam):
        title: str
        count: int = 0

    class Named(optim.NAdam):
        title: str

        def __init__(self, params: Any, title: str) -> None:
            super().__init__(params, lr=0.5)
            self.title = title

    weight = nn.Parameter(mt.ones(1))
    counting, named = Counting([weight], 0.25), Named([weight], "mine")
    assert counting.count == 0
    assert "count" not in counting.defaults
    assert counting.param_groups[0]["lr"] == 0.25
    assert (named.title, named.param_groups[0]["lr"]) == ("mine", 0.5)
