"""Containers: members, their names, and changes."""

from collections import OrderedDict
from typing import Any

import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_operators import MemberError
from mt_operators.core.errors import MemberNameError


def three() -> list[Any]:
    return [nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1)]


def names(module: nn.Module) -> list[str]:
    return [name for name, _ in module.named_parameters()]


@pytest.mark.parametrize("kind", [nn.Sequential, nn.ModuleList])
def test_lists_of_modules(kind: Any) -> None:
    first, middle, last = layers = three()
    held = kind(*layers) if kind is nn.Sequential else kind(layers)
    assert (len(held), held[0], held[-1], list(held)) == (3, first, last, layers)
    assert middle in held
    assert nn.ReLU() not in held
    assert names(held) == ["0.weight", "0.bias", "2.weight", "2.bias"]
    extra = nn.Tanh()
    assert held.append(extra) is held
    assert held.insert(1, nn.Identity()) is held
    assert list(held) == [first, held[1], middle, last, extra]
    assert names(held) == ["0.weight", "0.bias", "3.weight", "3.bias"]
    assert held.pop() is extra
    assert held.pop(1).__class__ is nn.Identity
    assert list(held) == layers
    held[1] = extra
    assert list(held.children()) == [first, extra, last]
    del held[0]
    assert (list(held), names(held)) == ([extra, last], ["1.weight", "1.bias"])
    del held[:1]
    assert list(held) == [last]
    assert list(held.extend(held)) == [last, last]
    assert list(held.insert(-1, extra)) == [last, extra, last]
    held += [middle]
    assert held[3] is middle
    joined = held + kind(*[first] if kind is nn.Sequential else [[first]])
    assert (type(joined), len(joined), len(held)) == (kind, 5, 4)


@pytest.mark.parametrize("position", [3, -4])
def test_out_of_range_positions_raise(position: int) -> None:
    held = nn.ModuleList(three())
    with pytest.raises(IndexError, match=f"position {position} is out of range: .* has 3"):
        held[position]
    with pytest.raises(IndexError, match="out of range"):
        held[position] = nn.ReLU()
    with pytest.raises(IndexError, match="out of range"):
        del held[position]
    with pytest.raises(IndexError, match="out of range"):
        nn.Sequential().pop()
    assert len(held) == 3


def test_sequential_from_named_modules() -> None:
    model = nn.Sequential(OrderedDict(hidden=nn.Linear(2, 3), squash=nn.Tanh()))
    assert names(model) == ["hidden.weight", "hidden.bias"]
    assert model(mt.ones(4, 2)).shape == (4, 3)
    assert model.get_submodule("squash") is model[1]
    assert nn.Sequential()(3) == 3


def test_slice_shares_modules_and_keeps_names() -> None:
    model = nn.Sequential(*three())
    part = model[1:]
    assert type(part) is nn.Sequential
    assert names(part) == ["2.weight", "2.bias"]
    assert part(mt.ones(1, 3)).tolist() == model[2](mt.ones(1, 3)).tolist()
    part.append(nn.Tanh())  # it would be called "2", which is taken
    assert [name for name, _ in part.named_children()] == ["0", "1", "2"]
    assert len(nn.ModuleList(three())[::2]) == 2


def test_non_modules_raise_and_change_nothing() -> None:
    model = nn.Sequential(*three())
    for change in (
        lambda: model.append(mt.relu),  # type: ignore[arg-type]
        lambda: model.insert(0, mt.relu),  # type: ignore[arg-type]
        lambda: model.__setitem__(0, mt.relu),  # type: ignore[arg-type]
        lambda: nn.ModuleList([mt.relu]),  # type: ignore[list-item]
        lambda: nn.ModuleDict({"a": mt.relu}),
        lambda: nn.Residual(mt.relu),  # type: ignore[arg-type]
        lambda: nn.ParameterList([1.0]),
        lambda: nn.ParameterDict({"a": 1.0}),
        lambda: model.append(model),
    ):
        with pytest.raises(MemberError):
            change()
    assert len(model) == 3
    with pytest.raises(NotImplementedError, match="defines no forward"):
        nn.ModuleList(three())(mt.ones(1))


def test_dictionaries_of_modules() -> None:
    first, _, last = three()
    held = nn.ModuleDict({"in": first})
    held["out"] = last
    assert (list(held), len(held), "out" in held) == (["in", "out"], 2, True)
    assert names(held) == ["in.weight", "in.bias", "out.weight", "out.bias"]
    assert list(held.items()) == [("in", first), ("out", last)]
    held.update([("out", first)])
    assert held["out"] is first
    assert held.pop("out") is first
    assert held == held
    assert held != nn.ModuleDict({"in": first})
    assert {held: 1}[held] == 1
    with pytest.raises(KeyError, match="out"):
        held["out"]
    for name in ("a.b", "keys", ""):
        with pytest.raises(MemberNameError):
            held[name] = last
    held.clear()
    assert not names(held)
    assert not nn.ModuleDict()


def test_lists_of_parameters() -> None:
    kept = nn.Parameter(mt.ones(2))
    held = nn.ParameterList([mt.zeros(3), kept])
    assert held[1] is kept
    assert isinstance(held[0], nn.Parameter)
    assert names(held) == ["0", "1"]
    held.append(mt.ones(1)).insert(0, mt.ones(4))
    assert [p.shape for p in held] == [(4,), (3,), (2,), (1,)]
    assert [p.shape for p in held[1:3]] == [(3,), (2,)]
    del held[0]
    held[0] = nn.Parameter(mt.ones(5))
    assert list(held.state_dict()) == ["0", "1", "2"]
    assert "(1): Parameter of shape (2,) and float32" in repr(held)
    sum((p * p).sum() for p in held).backward()
    assert kept.grad is not None


def test_dictionaries_of_parameters() -> None:
    held = nn.ParameterDict({"scale": mt.ones(2)})
    held["shift"] = nn.Parameter(mt.zeros(2))
    assert names(held) == ["scale", "shift"]
    assert held.get("nothing") is None
    assert held.pop("scale").requires_grad
    assert "(shift): Parameter of shape (2,)" in repr(held)
    assert nn.ParameterDict(held)["shift"] is held["shift"]


@pytest.mark.parametrize(
    ("given", "order"),
    [
        ({"b": 1.0, "a": 0.0}, "ab"),
        (OrderedDict(b=1.0, a=0.0), "ba"),
        ([("b", 1.0), ("a", 0.0)], "ba"),
        (nn.ParameterDict([("b", mt.ones(1)), ("a", mt.ones(1))]), "ba"),
    ],
    ids=["dict", "OrderedDict", "pairs", "ParameterDict"],
)
def test_a_dictionary_of_parameters_sorts_plain_mappings(given: Any, order: str) -> None:
    pairs = given if isinstance(given, list) else given.items()
    values = [(name, mt.ones(1)) for name, _ in pairs]
    made = given if isinstance(given, nn.ParameterDict) else type(given)(values)
    both = nn.ParameterDict({"z": mt.ones(1)})
    both.update(made)
    assert list(nn.ParameterDict(made)) == [*order]
    assert list(both) == ["z", *order]


def test_residual() -> None:
    block = nn.Residual(nn.Linear(3, 3))
    x = mt.ones(2, 3)
    assert block(x).tolist() == (x + block.module(x)).tolist()
    wider = nn.Residual(nn.Linear(3, 4), nn.Linear(3, 4, bias=False))
    assert wider(x).shape == (2, 4)
    assert names(wider) == ["module.weight", "module.bias", "shortcut.weight"]
    with pytest.raises(nn.InputError, match=r"has shape \(2, 4\), and the other branch \(2, 3\)"):
        nn.Residual(nn.Linear(3, 4))(x)


@pytest.mark.parametrize(
    ("layer", "shown"),
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
def test_layers_show_their_settings(layer: nn.Module, shown: str) -> None:
    assert repr(layer) == shown
