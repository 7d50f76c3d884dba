"""Containers of modules and parameters: items, names, changes, errors, repr."""

from collections import OrderedDict
from typing import Any

import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_operators import MemberError
from mt_operators.core.errors import MemberNameError


def three_layers() -> list[Any]:
    return [nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1)]


def parameter_names(module: nn.Module) -> list[str]:
    return [name for name, _ in module.named_parameters()]


@pytest.mark.parametrize("container_type", [nn.Sequential, nn.ModuleList])
def test_sequential_and_module_list_behave_like_lists(container_type: Any) -> None:
    first, middle, last = layers = three_layers()
    container = (
        container_type(*layers) if container_type is nn.Sequential else container_type(layers)
    )
    assert (len(container), container[0], container[-1], list(container)) == (
        3,
        first,
        last,
        layers,
    )
    assert middle in container
    assert nn.ReLU() not in container
    assert parameter_names(container) == ["0.weight", "0.bias", "2.weight", "2.bias"]
    extra = nn.Tanh()
    assert container.append(extra) is container
    assert container.insert(1, nn.Identity()) is container
    assert list(container) == [first, container[1], middle, last, extra]
    assert parameter_names(container) == ["0.weight", "0.bias", "3.weight", "3.bias"]
    assert container.pop() is extra
    assert container.pop(1).__class__ is nn.Identity
    assert list(container) == layers
    container[1] = extra
    assert list(container.children()) == [first, extra, last]
    del container[0]
    assert (list(container), parameter_names(container)) == ([extra, last], ["1.weight", "1.bias"])
    del container[:1]
    assert list(container) == [last]
    assert list(container.extend(container)) == [last, last]
    assert list(container.insert(-1, extra)) == [last, extra, last]
    container += [middle]
    assert container[3] is middle
    joined = container + container_type(*[first] if container_type is nn.Sequential else [[first]])
    assert (type(joined), len(joined), len(container)) == (container_type, 5, 4)


@pytest.mark.parametrize("position", [3, -4])
def test_module_list_index_out_of_range_raises(position: int) -> None:
    container = nn.ModuleList(three_layers())
    with pytest.raises(IndexError, match=f"position {position} is out of range: .* has 3"):
        container[position]
    with pytest.raises(IndexError, match="out of range"):
        container[position] = nn.ReLU()
    with pytest.raises(IndexError, match="out of range"):
        del container[position]
    with pytest.raises(IndexError, match="out of range"):
        nn.Sequential().pop()
    assert len(container) == 3


def test_sequential_of_ordered_dict_uses_its_names() -> None:
    model = nn.Sequential(OrderedDict(hidden=nn.Linear(2, 3), squash=nn.Tanh()))
    assert parameter_names(model) == ["hidden.weight", "hidden.bias"]
    assert model(mt.ones(4, 2)).shape == (4, 3)
    assert model.get_submodule("squash") is model[1]
    assert nn.Sequential()(3) == 3


def test_slice_of_sequential_shares_modules_and_keeps_names() -> None:
    model = nn.Sequential(*three_layers())
    part = model[1:]
    assert type(part) is nn.Sequential
    assert parameter_names(part) == ["2.weight", "2.bias"]
    assert part(mt.ones(1, 3)).tolist() == model[2](mt.ones(1, 3)).tolist()
    part.append(nn.Tanh())  # it would be named "2", which is taken
    assert [name for name, _ in part.named_children()] == ["0", "1", "2"]
    assert len(nn.ModuleList(three_layers())[::2]) == 2


def test_invalid_members_raise_and_change_nothing() -> None:
    model = nn.Sequential(*three_layers())
    for change in (
        lambda: model.append(mt.relu),  # type: ignore[arg-type]
        lambda: model.insert(0, mt.relu),  # type: ignore[arg-type]
        lambda: model.__setitem__(0, mt.relu),  # type: ignore[arg-type]
        lambda: nn.ModuleList([mt.relu]),  # type: ignore[list-item]
        lambda: nn.ModuleDict({"a": mt.relu}),
        lambda: nn.ParameterList([1.0]),
        lambda: nn.ParameterDict({"a": 1.0}),
        lambda: model.append(model),
    ):
        with pytest.raises(MemberError):
            change()
    assert len(model) == 3
    with pytest.raises(NotImplementedError, match="defines no forward"):
        nn.ModuleList(three_layers())(mt.ones(1))


def test_module_dict_behaves_like_dict_and_rejects_bad_names() -> None:
    first, _, last = three_layers()
    container = nn.ModuleDict({"in": first})
    container["out"] = last
    assert (list(container), len(container), "out" in container) == (["in", "out"], 2, True)
    assert parameter_names(container) == ["in.weight", "in.bias", "out.weight", "out.bias"]
    assert list(container.items()) == [("in", first), ("out", last)]
    container.update([("out", first)])
    assert container["out"] is first
    assert container.pop("out") is first
    assert container == container
    assert container != nn.ModuleDict({"in": first})
    assert {container: 1}[container] == 1
    with pytest.raises(KeyError, match="out"):
        container["out"]
    for name in ("a.b", "keys", ""):
        with pytest.raises(MemberNameError):
            container[name] = last
    container.clear()
    assert not parameter_names(container)
    assert not nn.ModuleDict()


def test_parameter_list_behaves_like_list_and_receives_gradients() -> None:
    parameter = nn.Parameter(mt.ones(2))
    container = nn.ParameterList([mt.zeros(3), parameter])
    assert container[1] is parameter
    assert isinstance(container[0], nn.Parameter)
    assert parameter_names(container) == ["0", "1"]
    container.append(mt.ones(1)).insert(0, mt.ones(4))
    assert [p.shape for p in container] == [(4,), (3,), (2,), (1,)]
    assert [p.shape for p in container[1:3]] == [(3,), (2,)]
    del container[0]
    container[0] = nn.Parameter(mt.ones(5))
    assert list(container.state_dict()) == ["0", "1", "2"]
    assert "(1): Parameter of shape (2,) and float32" in repr(container)
    sum((p * p).sum() for p in container).backward()
    assert parameter.grad is not None


def test_parameter_dict_behaves_like_dict() -> None:
    container = nn.ParameterDict({"scale": mt.ones(2)})
    container["shift"] = nn.Parameter(mt.zeros(2))
    assert parameter_names(container) == ["scale", "shift"]
    assert container.get("nothing") is None
    assert container.pop("scale").requires_grad
    assert "(shift): Parameter of shape (2,)" in repr(container)
    assert nn.ParameterDict(container)["shift"] is container["shift"]


@pytest.mark.parametrize(
    ("source", "order"),
    [
        ({"b": 1.0, "a": 0.0}, "ab"),
        (OrderedDict(b=1.0, a=0.0), "ba"),
        ([("b", 1.0), ("a", 0.0)], "ba"),
        (nn.ParameterDict([("b", mt.ones(1)), ("a", mt.ones(1))]), "ba"),
    ],
    ids=["dict", "OrderedDict", "pairs", "ParameterDict"],
)
def test_parameter_dict_sorts_plain_dicts_only(source: Any, order: str) -> None:
    pairs = source if isinstance(source, list) else source.items()
    values = [(name, mt.ones(1)) for name, _ in pairs]
    members = source if isinstance(source, nn.ParameterDict) else type(source)(values)
    updated = nn.ParameterDict({"z": mt.ones(1)})
    updated.update(members)
    assert list(nn.ParameterDict(members)) == [*order]
    assert list(updated) == ["z", *order]


@pytest.mark.parametrize(
    ("layer", "expected"),
    [
        (nn.Identity(3, a=4), "Identity()"),
        (nn.Unflatten(1, (2, -1)), "Unflatten(dim=1, unflattened_size=(2, -1))"),
        (nn.ReLU(), "ReLU()"),
        (nn.ReLU(inplace=True).eval(), "ReLU(inplace=True)"),
        (nn.GELU("tanh"), "GELU(approximate='tanh')"),
        (nn.ELU(inplace=True), "ELU(alpha=1.0, inplace=True)"),
        (nn.PReLU(3), "PReLU(num_parameters=3)"),
        (nn.Softmax(-1), "Softmax(dim=-1)"),
        (nn.Dropout2d(), "Dropout2d(p=0.5, inplace=False)"),
        (nn.LayerNorm(3), "LayerNorm((3,), eps=1e-05, elementwise_affine=True, bias=True)"),
        (nn.Embedding(9, 2, padding_idx=-1), "Embedding(9, 2, padding_idx=8)"),
        (nn.EmbeddingBag(9, 2), "EmbeddingBag(9, 2, mode='mean')"),
        (nn.GroupNorm(2, 4), "GroupNorm(2, 4, eps=1e-05, affine=True, bias=True)"),
    ],
)  # fmt: skip
def test_repr_of_layer_shows_its_settings(layer: nn.Module, expected: str) -> None:
    assert repr(layer) == expected
