"""Hooks of state_dict() and load_state_dict(): order, arguments and results match torch."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_operators import StateDictError

torch = pytest.importorskip("torch")

LIBRARIES: list[Any] = [(torch, torch.nn, RuntimeError), (mt, nn, StateDictError)]


def model_of(layers: Any) -> Any:
    """Return a network with nested submodules and buffers."""
    inner = layers.Sequential(layers.BatchNorm1d(2, affine=False), layers.Linear(2, 1, bias=False))
    return layers.Sequential(layers.Linear(3, 2), inner)


def same_results(run: Callable[[Any, Any], Any]) -> Any:
    """Run a function with torch and mt_nn, check that the results are equal, and return one."""
    theirs, ours = (run(library, layers) for library, layers, _ in LIBRARIES)
    assert ours == theirs
    return ours


def load_or_error(model: Any, state: Any, strict: bool = True) -> Any:
    """Load a state; return missing and unexpected names, or which names the error mentions."""
    try:
        keys = model.load_state_dict(state, strict=strict)
    except (RuntimeError, StateDictError) as error:
        return "error", [name for name in ("extra", "0.weight", "odd") if name in str(error)]
    return list(keys.missing_keys), list(keys.unexpected_keys)


def test_state_hooks_are_called_in_torch_order_with_torch_arguments() -> None:
    def run(library: Any, layers: Any) -> Any:
        model, events = model_of(layers), []
        for name, submodule in model.named_modules():
            submodule.register_state_dict_pre_hook(
                lambda module, prefix, keep_vars, name=name: events.append(
                    ("saving", name, type(module).__name__, prefix, keep_vars)
                )
            )
            submodule.register_state_dict_post_hook(
                lambda module, state, prefix, metadata, name=name: events.append(
                    ("saved", name, type(module).__name__, list(state), prefix, list(metadata))
                )
            )
            submodule.register_load_state_dict_pre_hook(
                lambda module, state, prefix, metadata, strict, *lists, name=name: events.append(
                    ("loading", name, type(module).__name__, list(state), prefix, strict, *lists)
                )
            )
            submodule.register_load_state_dict_post_hook(
                lambda module, keys, name=name: events.append(("loaded", name, tuple(keys)))
            )
        state = model.state_dict()
        model.state_dict(prefix="net.", keep_vars=True)
        keys = model.load_state_dict(dict(state))
        loads = [event for event in events if event[0].startswith("load")]
        saves = [event for event in events if event not in loads]
        # mt_nn loads all values before it calls the first post hook; torch alternates.
        loads.sort(key=lambda event: event[0] == "loaded")
        return saves, loads, tuple(keys)

    saves, loads, keys = same_results(run)
    assert [event[:2] for event in saves[:4]] == [
        ("saving", ""),
        ("saving", "0"),
        ("saved", "0"),
        ("saving", "1"),
    ]
    assert [event[1] for event in loads if event[0] == "loaded"] == ["0", "1.0", "1.1", "1", ""]
    assert keys == ([], [])


def test_state_dict_hooks_can_change_the_saved_state() -> None:
    def run(library: Any, layers: Any) -> Any:
        model = model_of(layers)
        model.register_state_dict_pre_hook(
            lambda module, *_: module.register_buffer("epoch", library.tensor(3))
        )
        model[1].register_state_dict_post_hook(
            lambda module, state, prefix, metadata: state.__delitem__(f"{prefix}1.weight")
        )
        # The result is used for the outermost module only.
        model[1]._register_state_dict_hook(lambda *_: {"only": 1})
        names = [list(model.state_dict())]
        handle = model._register_state_dict_hook(
            lambda module, state, prefix, metadata: {name: 1 for name in state if "weight" in name}
        )
        names.append(list(model.state_dict()))
        handle.remove()
        names.append(list(model.state_dict(destination={"first": 1}, prefix="net.")))
        return names

    assert same_results(run)[1] == ["0.weight"]


def test_state_dict_with_keep_vars_contains_the_parameters_themselves() -> None:
    model = nn.Linear(2, 2)
    assert model.state_dict(keep_vars=True)["weight"] is model.weight
    assert not model.state_dict(keep_vars=False)["weight"].requires_grad
    buffers = nn.BatchNorm1d(2, affine=False)
    assert buffers.state_dict(keep_vars=True)["running_mean"] is buffers.running_mean


def rename_old_to_weight(state: Any, prefix: str, *_: Any) -> None:
    """Rename "old" to "weight" in a state."""
    if f"{prefix}old" in state:
        state[f"{prefix}weight"] = state.pop(f"{prefix}old")


@pytest.mark.parametrize("with_module", [False, True])
def test_load_state_dict_pre_hooks_can_rename_entries(with_module: bool) -> None:
    def run(library: Any, layers: Any) -> Any:
        model, modules = model_of(layers), []

        def root_hook(state: Any, prefix: str, *_: Any) -> None:
            state["1.1.old"] = state.pop("last")

        def last_hook(*arguments: Any) -> None:
            if with_module:
                modules.append(arguments[0] is model[1][1])
            rename_old_to_weight(*arguments[with_module:])

        model._register_load_state_dict_pre_hook(root_hook)
        model[1][1]._register_load_state_dict_pre_hook(last_hook, with_module=with_module)
        state = dict(model.state_dict())
        state["last"] = library.full_like(state.pop("1.1.weight"), 7.0)
        before = list(state)
        keys = load_or_error(model, state)
        return keys, modules, list(state) == before, model[1][1].weight.tolist()

    assert same_results(run)[0] == ([], [])


@pytest.mark.parametrize("strict", [True, False])
def test_missing_and_unexpected_names_with_hooks_match_torch(strict: bool) -> None:
    def run(library: Any, layers: Any) -> Any:
        model = model_of(layers)
        state = dict(model.state_dict())
        handles = [model.register_load_state_dict_pre_hook(lambda *_: None)]
        del state["0.weight"]
        state.update({"extra": 1, "1.1.extra.deep": 1, "0": 1, "1.2.weight": 1})
        results = [load_or_error(model, state, strict)]
        handles.append(
            model.register_load_state_dict_post_hook(
                lambda _, keys: [names.clear() for names in keys].clear()
            )
        )
        results.append(load_or_error(model, state, strict))
        for handle in handles:
            handle.remove()
        results.append(load_or_error(model, state, strict)[0] == "error")
        model[0].register_load_state_dict_pre_hook(lambda *arguments: arguments[-1].append("odd"))
        return [*results, load_or_error(model, state, strict)]

    results = same_results(run)
    assert results[1] == ([], [])
    assert results[3] == ("error", results[3][1])
    assert "odd" in results[3][1]


def test_nothing_is_loaded_if_a_hook_reports_an_error() -> None:
    model = model_of(nn)
    state = {name: value + 1 for name, value in model.state_dict().items()}
    before = {name: value.numpy().copy() for name, value in model.state_dict().items()}
    handle = model[1][1].register_load_state_dict_pre_hook(
        lambda *arguments: arguments[-1].append("the weight is of another version.")
    )
    with pytest.raises(StateDictError, match=r"does not fit Sequential \(the weight is of another"):
        model.load_state_dict(state)
    for name, value in model.state_dict().items():
        np.testing.assert_array_equal(value.numpy(), before[name])
    handle.remove()
    model.register_load_state_dict_pre_hook(lambda *_: None)
    with pytest.raises(StateDictError, match="missing: 0.weight"):
        model.load_state_dict({name: state[name] for name in state if name != "0.weight"})
    with pytest.raises(TypeError, match="takes a dictionary of values by name"):
        model.load_state_dict([state])
    with pytest.raises(StateDictError, match=r"load_state_dict\(\) takes strings as names"):
        model.load_state_dict({1: 2})
    model.load_state_dict(state, assign=True)
    assert model[0].weight._tensor.storage is state["0.weight"]._tensor.storage


def test_load_state_dict_pre_hook_receives_the_saved_version() -> None:
    def run(library: Any, layers: Any) -> Any:
        model, received = layers.Sequential(layers.Linear(2, 2)), []
        model[0].register_load_state_dict_pre_hook(
            lambda module, state, prefix, metadata, *_: received.append(dict(metadata))
        )
        state = torch.nn.Sequential(torch.nn.Linear(2, 2)).state_dict()
        if library is mt:
            converted = type(state)((name, mt.tensor(x.numpy())) for name, x in state.items())
            converted._metadata = state._metadata
            state = converted
        model.load_state_dict(state)
        model.load_state_dict(state, assign=True)
        return received

    assert same_results(run) == [{"version": 1}, {"version": 1, "assign_to_params_buffers": True}]


def test_post_hook_that_returns_a_value_raises() -> None:
    model = nn.Linear(2, 2)
    handle = model.register_state_dict_post_hook(lambda *_: {})
    with pytest.raises(TypeError, match=r"hook of register_state_dict_post_hook\(\) must return"):
        model.state_dict()
    handle.remove()
    model.register_load_state_dict_post_hook(lambda *_: 1)
    with pytest.raises(TypeError, match=r"register_load_state_dict_post_hook\(\) must return None"):
        model.load_state_dict(model.state_dict())
    with pytest.raises(TypeError, match="must be a function"):
        model.register_state_dict_pre_hook(1)
