"""Module: members, modes, buffers, state dictionaries, repr, copies, errors."""

import copy
import pickle
import threading
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mt_operators import (
    Buffer,
    MemberError,
    MemberNameError,
    Module,
    ModuleError,
    Parameter,
    StateDictError,
)


class Leaf(Module):
    def __init__(self, value: float) -> None:
        super().__init__()
        self.weight = Parameter(value)

    def forward(self, x: float) -> float:
        return x * self.weight.value


class Tree(Module):
    def __init__(self) -> None:
        super().__init__()
        self.left = Leaf(1.0)
        self.right = Leaf(2.0)
        self.bias = Parameter(3.0)
        self.size = 7

    def forward(self, x: float) -> float:
        return self.left(x) + self.right(x) + self.bias.value


def test_members_are_listed_with_names() -> None:
    tree = Tree()
    assert [name for name, _ in tree.named_parameters()] == ["bias", "left.weight", "right.weight"]
    assert [p.value for p in tree.parameters()] == [3.0, 1.0, 2.0]
    assert [name for name, _ in tree.named_modules()] == ["", "left", "right"]
    assert [name for name, _ in tree.named_children()] == ["left", "right"]
    assert list(tree.children()) == [tree.left, tree.right]
    assert tree(2.0) == 9.0


def test_remove_duplicate_lists_shared_members_once() -> None:
    tree = Tree()
    tree.right = tree.left
    assert [name for name, _ in tree.named_parameters()] == ["bias", "left.weight"]
    assert list(tree.children()) == [tree.left]
    assert [name for name, _ in tree.named_parameters(remove_duplicate=False)] == [
        "bias",
        "left.weight",
        "right.weight",
    ]
    assert [name for name, _ in tree.named_modules(remove_duplicate=False)] == ["", "left", "right"]
    tree.left = tree.right = Module()
    tree.right.inner = tree.other = Leaf(1.0)
    listed = ["", "left", "left.inner"]
    assert [name for name, _ in tree.named_modules()] == listed
    listed += ["right", "right.inner", "other"]
    assert [name for name, _ in tree.named_modules(remove_duplicate=False)] == listed
    tree.last = Leaf(2.0)  # follows a module that is already listed
    assert [name for name, _ in tree.named_modules()] == [*listed[:3], "last"]


def test_listings_follow_prefix_and_recurse() -> None:
    tree = Tree()
    assert [name for name, _ in tree.named_parameters("net")][:2] == ["net.bias", "net.left.weight"]
    assert [name for name, _ in tree.named_modules("net")] == ["net", "net.left", "net.right"]
    assert list(tree.parameters(recurse=False)) == [tree.bias]
    tree.left.register_buffer("mean", 0.5)
    assert dict(tree.named_buffers("net")) == {"net.left.mean": 0.5}
    assert list(tree.buffers(recurse=False)) == []


def test_member_can_become_none_or_be_deleted_but_not_become_a_number() -> None:
    tree = Tree()
    with pytest.raises(TypeError, match="Tree.left is a Module and cannot become a int"):
        tree.left = 5
    with pytest.raises(TypeError, match="Tree.bias is a Parameter and cannot become a float"):
        tree.bias = 5.0
    tree.left = None
    assert tree.left is None
    assert [name for name, _ in tree.named_parameters()] == ["bias", "right.weight"]
    tree.size = Parameter(1.0)
    assert "size" in dict(tree.named_parameters())
    del tree.size
    with pytest.raises(AttributeError):
        _ = tree.size


def test_train_and_eval_set_mode_of_all_modules() -> None:
    tree = Tree()
    assert tree.eval() is tree
    assert not any(module.training for module in tree.modules())
    assert all(module.training for module in tree.train().modules())
    tree.left.training = False
    assert [module.training for module in tree.modules()] == [True, False, True]


def test_child_can_override_train() -> None:
    class Frozen(Leaf):
        def train(self, mode: bool = True) -> "Frozen":
            return super().train(False)

    tree = Tree()
    tree.left = Frozen(1.0)
    assert [module.training for module in tree.train().modules()] == [True, False, True]


@pytest.mark.parametrize("mode", [1, "yes", None, [1.0]])
def test_train_rejects_non_bool_mode(mode: Any) -> None:
    with pytest.raises(ModuleError, match=r"train\(\) takes True or False; .* was given"):
        Tree().train(mode)


def test_apply_visits_children_first() -> None:
    seen: list[Module] = []
    tree = Tree()
    tree.left.add_module("inner", Leaf(5.0))
    assert tree.apply(seen.append) is tree
    assert seen == [tree.left.inner, tree.left, tree.right, tree]


def test_unknown_attribute_error_suggests_close_name() -> None:
    with pytest.raises(
        AttributeError, match="Leaf has no attribute 'wieght'. Did you mean 'weight'"
    ):
        _ = Leaf(1.0).wieght


def test_attribute_error_inside_property_names_the_property() -> None:
    class Square(Module):
        @property
        def area(self) -> float:
            return self.side**2

    with pytest.raises(AttributeError, match="Square.area uses a missing attribute"):
        _ = Square().area


def test_missing_super_init_call_raises_error_with_advice() -> None:
    class NoSuperInit(Module):
        def __init__(self, weight: bool) -> None:
            if weight:
                self.weight = Parameter(1.0)

    with pytest.raises(AttributeError, match=r"call super\(\).__init__\(\) first in NoSuperInit"):
        NoSuperInit(weight=True)
    with pytest.raises(AttributeError, match=r"call super\(\).__init__\(\) first in NoSuperInit"):
        next(NoSuperInit(weight=False).parameters())


def test_call_without_forward_raises() -> None:
    with pytest.raises(NotImplementedError, match="Module defines no forward"):
        Module()(1.0)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a.b", "'a.b' cannot name a member of Tree"),
        ("", "whose members have non-empty strings"),
        (0, "whose members have non-empty strings"),
        ("size", "'size' cannot name a member of Tree, which has an attribute of that name"),
        ("train", "'train' cannot name a member of Tree, whose class has an attribute"),
        ("forward", "'forward' cannot name a member of Tree, whose class has"),
        ("training", "'training' cannot name a member of Tree, whose class has"),
        ("_modules", "'_modules' cannot name a member of Tree"),
    ],
)
def test_add_methods_reject_invalid_names(name: Any, message: str) -> None:
    tree = Tree()
    for add in (
        lambda: tree.add_module(name, Module()),
        lambda: tree.add_parameter(name, 1.0),
        lambda: tree.register_parameter(name, Parameter(1.0)),
        lambda: tree.register_buffer(name, 1.0),
    ):
        with pytest.raises(MemberNameError, match=message):
            add()
    assert list(tree.state_dict()) == ["bias", "left.weight", "right.weight"]


@pytest.mark.parametrize("name", ["a.b", "", "train", "forward", "training", "_modules"])
@pytest.mark.parametrize("member", [Parameter(1.0), Buffer(1.0), Module()])
def test_assignment_of_member_rejects_invalid_names(name: str, member: Any) -> None:
    tree = Tree()
    with pytest.raises(MemberNameError, match=f"{name!r} cannot name a member of Tree"):
        setattr(tree, name, member)


def test_assignment_of_internal_dict_raises() -> None:
    with pytest.raises(MemberNameError, match="'_modules' cannot name .*choose another name"):
        Tree()._modules = {}


def test_add_methods_reject_names_in_use() -> None:
    tree = Tree()
    tree.register_buffer("mean", 0.0)
    for add in (
        lambda: tree.add_module("bias", Module()),
        lambda: tree.add_parameter("left", 1.0),
        lambda: tree.register_parameter("mean", None),
        lambda: tree.register_buffer("bias", 1.0),
    ):
        with pytest.raises(MemberNameError, match="has an attribute of that name"):
            add()


@pytest.mark.parametrize(
    ("add", "message"),
    [
        (lambda m: m.add_module("x", 5), r"add_module\(\) takes a Module; 5 was given"),
        (lambda m: m.add_module("x", Module), "takes a Module; <class"),
        (lambda m: m.add_parameter("x", Module()), r"takes a Parameter .*; Module\(\) was given"),
        (lambda m: m.add_parameter("x", Buffer(1.0)), r"Buffer\(1.0\) was given"),
        (lambda m: m.register_parameter("x", 1.0), "takes a Parameter or None; 1.0 was given"),
        (lambda m: m.register_buffer("x", Parameter(1.0)), r"takes a Buffer .*; Parameter\(1.0\)"),
        (lambda m: m.register_buffer("x", Module()), r"takes a Buffer .*; Module\(\)"),
    ],
)
def test_add_methods_reject_members_of_wrong_type(add: Any, message: str) -> None:
    tree = Tree()
    with pytest.raises(MemberError, match=message):
        add(tree)
    assert not hasattr(tree, "x")


def test_members_are_added_and_replaced_by_name() -> None:
    tree = Module()
    assert tree.add_parameter("a", 1.0).name == "a"
    shared = Parameter(2.0)
    assert tree.add_parameter("b", shared) is shared
    tree.register_parameter("c", None)
    assert tree.c is None
    tree.register_parameter("c", shared)
    tree.add_module("0", Leaf(3.0))
    tree.add_module("0", Leaf(4.0))
    assert tree.state_dict() == {"a": 1.0, "b": 2.0, "c": 2.0, "0.weight": 4.0}


def test_cycle_of_modules_raises() -> None:
    tree = Tree()
    with pytest.raises(MemberError, match="Tree.myself would be the Tree itself"):
        tree.myself = tree
    tree.left.inner = Leaf(1.0)
    with pytest.raises(MemberError, match="Leaf.top.left.inner would be the Leaf itself"):
        tree.left.inner.add_module("top", tree)
    assert "Leaf" in repr(tree)
    tree.right.inner = tree.left  # sharing without a cycle
    assert "right.inner.inner.weight" in tree.state_dict()


def test_module_errors_share_a_base_class() -> None:
    errors = (MemberError, MemberNameError, StateDictError)
    assert all(issubclass(error, ModuleError) for error in errors)


# --- Buffers ------------------------------------------------------------------------------------


def test_buffer_attribute_reads_and_writes_its_value() -> None:
    tree = Tree()
    tree.register_buffer("mean", 0.0)
    assert tree.mean == 0.0
    tree.mean += 2.0
    assert dict(tree.named_buffers()) == {"mean": 2.0}
    assert list(tree.buffers()) == [2.0]
    assert "mean" in dir(tree)
    assert "mean" not in dict(tree.named_parameters())
    del tree.mean
    assert not hasattr(tree, "mean")
    assert list(tree.buffers()) == []


def test_assigned_buffer_is_registered() -> None:
    tree = Tree()
    tree.mean = Buffer(1.0)
    tree.left.steps = Buffer(3, persistent=False)
    assert list(tree.named_buffers()) == [("mean", 1.0), ("left.steps", 3)]
    assert list(tree.state_dict()) == ["bias", "mean", "left.weight", "right.weight"]
    tree.register_buffer("cache", 4, persistent=False)
    assert "cache" not in tree.state_dict()


@pytest.mark.parametrize("value", [Parameter(1.0), Module()])
def test_buffer_cannot_become_parameter_or_module_unless_deleted(value: Any) -> None:
    tree = Tree()
    tree.mean = Buffer(1.0)
    with pytest.raises(MemberError, match="Tree.mean is a Buffer and cannot become a .* delete"):
        tree.mean = value
    with pytest.raises(MemberError, match="Tree.bias is a Parameter and cannot become a Buffer"):
        tree.bias = Buffer(1.0)
    del tree.mean
    tree.mean = value
    assert tree.mean is value


def test_named_buffers_lists_shared_buffer_once_and_omits_none() -> None:
    tree = Tree()
    tree.mean = tree.left.mean = Buffer(1.0)
    tree.register_buffer("later", None)
    assert tree.later is None
    assert dict(tree.named_buffers()) == {"mean": 1.0}
    assert [name for name, _ in tree.named_buffers(remove_duplicate=False)] == ["mean", "left.mean"]
    assert "later" not in tree.state_dict()
    tree.later = 5.0
    assert tree.state_dict()["later"] == 5.0


# --- State --------------------------------------------------------------------------------------


def test_load_state_dict_copies_state_to_equal_tree() -> None:
    source, target = Tree(), Tree()
    source.bias.update(10.0)
    target.load_state_dict(source.state_dict())
    assert (
        target.state_dict()
        == source.state_dict()
        == {
            "bias": 10.0,
            "left.weight": 1.0,
            "right.weight": 2.0,
        }
    )


def test_load_state_dict_rejects_missing_and_unexpected_names_if_strict() -> None:
    tree = Tree()
    with pytest.raises(StateDictError, match="missing: left.weight, right.weight; unexpected: up"):
        tree.load_state_dict({"bias": 1.0, "up": 2.0})
    assert tree.bias.value == 3.0
    tree.load_state_dict({"bias": 1.0, "up": 2.0}, strict=False)
    assert tree.bias.value == 1.0


def test_load_state_dict_with_rejected_value_changes_nothing() -> None:
    class Positive(Parameter):
        def checked_copy(self, saved: float) -> float:
            if saved <= 0:
                raise StateDictError(f"{saved} is not positive.")
            return saved

    tree = Tree()
    tree.last = Positive(1.0)
    before = tree.state_dict()
    with pytest.raises(StateDictError, match="last: -1.0 is not positive"):
        tree.load_state_dict({"bias": 9.0, "left.weight": 9.0, "right.weight": 9.0, "last": -1.0})
    assert tree.state_dict() == before


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (5, "takes a dictionary of values by name; int was given"),
        (Leaf(1.0), "Leaf was given. Pass the result of state_dict"),
        ([("weight", 1.0)], "list was given"),
        ({1: 1.0}, r"load_state_dict\(\) takes strings as names; 1 was found"),
    ],
)
def test_load_state_dict_rejects_non_dictionaries_and_non_string_names(
    state: Any, message: str
) -> None:
    error = StateDictError if isinstance(state, dict) else TypeError
    for strict in (True, False):
        with pytest.raises(error, match=message):
            Leaf(1.0).load_state_dict(state, strict)


def test_load_state_dict_returns_missing_and_unexpected_keys() -> None:
    tree = Tree()
    assert tree.load_state_dict(Tree().state_dict()) == ([], [])
    keys = tree.load_state_dict({"left.weight": 5.0, "up": 1.0}, strict=False)
    assert keys.missing_keys == ["bias", "right.weight"]
    assert keys.unexpected_keys == ["up"]


def test_shared_parameter_is_saved_and_loaded_under_each_name() -> None:
    tree = Tree()
    tree.right.weight = tree.left.weight
    state = tree.state_dict()
    assert state == {"bias": 3.0, "left.weight": 1.0, "right.weight": 1.0}
    tree.load_state_dict({**state, "left.weight": 8.0, "right.weight": 8.0})
    assert tree.left.weight.value == tree.right.weight.value == 8.0
    with pytest.raises(StateDictError, match="missing: right.weight"):
        tree.load_state_dict({"bias": 3.0, "left.weight": 1.0})


class FakeTensor:
    """A value with the methods that scalars and tensors share."""

    def __init__(self, data: float, shape: tuple[int, ...] = ()) -> None:
        self.data, self.shape, self.requires_grad = data, shape, False

    def requires_grad_(self, requires_grad: bool = True) -> None:
        self.requires_grad = requires_grad

    def detach(self) -> "FakeTensor":
        return copy.copy(self)._constant()

    def clone(self) -> "FakeTensor":
        return copy.copy(self)

    def _constant(self) -> "FakeTensor":
        self.requires_grad = False
        return self


def test_loaded_values_are_copies_that_require_grad() -> None:
    source, one, two = (Leaf(FakeTensor(float(i))) for i in range(3))  # type: ignore[arg-type]
    state = source.state_dict()
    assert not state["weight"].requires_grad
    for target in (one, two):
        target.load_state_dict(state)
    values = [leaf.weight.value for leaf in (source, one, two)]
    assert all(value.requires_grad and value.data == 0.0 for value in values)
    assert len({id(value) for value in (*values, state["weight"])}) == 4


@pytest.mark.parametrize("bad", ["hello", None, [1.0], {}, 1j])
def test_load_state_dict_rejects_other_types_for_number(bad: object) -> None:
    tree = Tree()
    state = {**tree.state_dict(), "bias": 9.0, "right.weight": bad}
    with pytest.raises(StateDictError, match="right.weight: .* was given for a number"):
        tree.load_state_dict(state)
    assert tree.bias.value == 3.0


def test_load_state_dict_with_uncopyable_value_changes_nothing() -> None:
    tree = Tree()
    tree.extra = Parameter([1.0])  # type: ignore[arg-type]
    with pytest.raises(StateDictError, match="extra: lock cannot be copied"):
        tree.load_state_dict({**tree.state_dict(), "bias": 9.0, "extra": threading.Lock()})
    assert tree.bias.value == 3.0


def test_loaded_lists_are_copies() -> None:
    one, two = (Leaf([0.0]) for _ in range(2))  # type: ignore[arg-type]
    state = {"weight": [1.0]}
    one.load_state_dict(state)
    two.load_state_dict(state)
    one.weight.value[0] = 9.0
    assert (two.weight.value, state) == ([1.0], {"weight": [1.0]})


def test_load_state_dict_rejects_values_of_other_shapes() -> None:
    tree = Tree()
    tree.left.weight = tree.right.weight = Parameter(FakeTensor(1.0, (2, 3)))
    tree.mean = Buffer(FakeTensor(1.0, (4,)))
    state = tree.state_dict()
    for change, message in (
        (
            {"mean": FakeTensor(0.0, (5,))},
            r"mean: FakeTensor of shape \(5,\) was given for a Buffer of shape \(4,\)",
        ),
        ({"mean": [0.0] * 4}, "mean: list was given for a Buffer"),
        ({"right.weight": FakeTensor(0.0)}, r"right.weight: FakeTensor of shape \(\) was"),
    ):
        with pytest.raises(StateDictError, match=message):
            tree.load_state_dict({**state, "bias": 0.0, **change})
        assert tree.bias.value == 3.0
    tree.mean = FakeTensor(1.0)  # the shape of a number, ()
    tree.load_state_dict({**state, "mean": 2.0})
    assert tree.mean == 2.0


# --- Repr ---------------------------------------------------------------------------------------


def test_repr_shows_values_and_children() -> None:
    tree = Tree()
    tree.mean = Buffer(0.5)
    del tree.right
    tree.empty = Module()
    assert (
        repr(tree)
        == """Tree(
  bias=3.0, mean=0.5
  (left): Leaf(weight=1.0)
  (empty): Module()
)"""
    )


def test_extra_repr_replaces_values_in_repr() -> None:
    class Layer(Leaf):
        def extra_repr(self) -> str:
            return self.settings

    tree, layer = Tree(), Layer(1.0)
    tree.left = layer
    del tree.right
    layer.settings = "size=3"
    assert repr(layer) == "Layer(size=3)"
    layer.settings = ""
    assert repr(layer) == "Layer()"
    layer.settings = "a=1\nb=2"
    assert repr(tree) == "Tree(\n  bias=3.0\n  (left): Layer(\n    a=1\n    b=2\n  )\n)"


def test_repr_contains_custom_repr_of_child() -> None:
    class CustomRepr(Leaf):
        def __repr__(self) -> str:
            return "odd\none"

    tree = Module()
    tree.child = CustomRepr(1.0)
    assert repr(tree) == "Module(\n  (child): odd\n  one\n)"


def test_repr_shortens_long_values() -> None:
    line = repr(Leaf("many\n" * 1000))  # type: ignore[arg-type]
    assert line.startswith("Leaf(weight='many")
    assert "..." in line
    assert len(line) < 60


def test_state_dict_of_deep_tree_needs_no_recursion() -> None:
    depth = 2000
    tree: Module = Leaf(1.0)
    for _ in range(depth):
        parent = Module()
        parent.child = tree
        tree = parent
    (name,) = tree.state_dict()
    assert name.count(".") == depth


# --- Copies -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "duplicate", [copy.deepcopy, lambda tree: pickle.loads(pickle.dumps(tree))]
)
def test_copies_are_equal_and_independent_and_keep_sharing(duplicate: Any) -> None:
    tree = Tree()
    tree.right.weight = tree.left.weight
    tree.mean = Buffer(1.0, persistent=False)
    tree.left.eval()
    copied = duplicate(tree)
    assert repr(copied) == repr(tree)
    assert [m.training for m in copied.modules()] == [True, False, True]
    assert copied.left.weight is copied.right.weight
    assert copied.state_dict() == tree.state_dict()
    copied.mean = 5.0
    copied.left.weight.update(9.0)
    copied.extra = Leaf(1.0)
    assert (tree.mean, tree.left.weight.value, hasattr(tree, "extra")) == (1.0, 1.0, False)


# --- Random trees -------------------------------------------------------------------------------

Spec = tuple[int, tuple[bool, ...], list[Any]]
"""The number of parameters, whether each buffer is persistent, and the children of a module."""

specs = st.recursive(
    st.tuples(st.integers(0, 2), st.lists(st.booleans(), max_size=2), st.just([])),
    lambda children: st.tuples(
        st.integers(0, 2), st.lists(st.booleans(), max_size=2), st.lists(children, max_size=3)
    ),
    max_leaves=8,
)


def build(
    spec: Spec, module_type: Any = Module, parameter: Any = Parameter, value: Any = float
) -> Any:
    """Build the tree of a spec, of our modules or torch's."""
    parameters, buffers, children = spec
    module = module_type()
    for i, child in enumerate(children):  # first: the order of listings must not depend on it
        module.add_module(str(i), build(child, module_type, parameter, value))
    for i, persistent in enumerate(buffers):
        module.register_buffer(f"b{i}", value(i), persistent)
    for i in range(parameters):
        module.register_parameter(f"p{i}", parameter(value(i)))
    return module


@given(specs)
def test_state_dict_round_trip_keeps_state(spec: Spec) -> None:
    source, target = build(spec), build(spec)
    for i, parameter in enumerate(source.parameters()):
        parameter.update(100.0 + i)
    assert target.load_state_dict(source.state_dict()) == ([], [])
    assert list(target.state_dict().items()) == list(source.state_dict().items())
    assert copy.deepcopy(source).state_dict() == source.state_dict()


@given(specs)
def test_listed_names_are_unique_and_lead_to_their_members(spec: Spec) -> None:
    tree = build(spec)
    for listed in (tree.named_modules(), tree.named_parameters(), tree.named_buffers()):
        pairs = list(listed)
        assert len(dict(pairs)) == len(pairs)
        for name, found in pairs:
            at = tree
            for part in name.split(".") if name else ():
                at = getattr(at, part)
            assert at is found


def test_shared_child_is_listed_under_its_first_name() -> None:
    tree = Module()
    first, second = Module(), Module()
    for name, child in (("a", first), ("b", second), ("shared", first)):
        tree.add_module(name, child)
    assert list(tree.named_children()) == [("a", first), ("b", second)]


@settings(deadline=None)  # the first example imports torch
@given(specs, st.booleans(), st.booleans())
def test_names_and_their_order_match_torch(spec: Spec, recurse: bool, once: bool) -> None:
    torch = pytest.importorskip("torch")
    ours = build(spec)
    theirs = build(spec, torch.nn.Module, torch.nn.Parameter, lambda i: torch.tensor(float(i)))
    for tree in (ours, theirs):
        if "0" in tree._modules:
            tree.add_module("shared", tree._modules["0"])
    listings = (
        lambda tree: list(tree.state_dict()),
        lambda tree: [name for name, _ in tree.named_children()],
        lambda tree: [name for name, _ in tree.named_modules(prefix="x", remove_duplicate=once)],
        lambda tree: [name for name, _ in tree.named_parameters("x", recurse, once)],
        lambda tree: [name for name, _ in tree.named_buffers("x", recurse, once)],
    )
    for listing in listings:
        assert listing(ours) == listing(theirs)
