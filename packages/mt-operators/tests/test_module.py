"""Trees of modules: what belongs to them, their modes, their state and their errors."""

import pytest

from mt_operators import Module, Parameter, StateDictError


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


def test_members_are_found() -> None:
    tree = Tree()
    assert [name for name, _ in tree.named_parameters()] == ["bias", "left.weight", "right.weight"]
    assert [p.value for p in tree.parameters()] == [3.0, 1.0, 2.0]
    assert [name for name, _ in tree.named_modules()] == ["", "left", "right"]
    assert [name for name, _ in tree.named_children()] == ["left", "right"]
    assert list(tree.children()) == [tree.left, tree.right]
    assert tree(2.0) == 9.0


def test_shared_members_are_listed_once() -> None:
    tree = Tree()
    tree.right = tree.left
    assert [name for name, _ in tree.named_parameters()] == ["bias", "left.weight"]


def test_an_attribute_can_change_its_kind() -> None:
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


def test_modes_reach_the_whole_tree() -> None:
    tree = Tree()
    assert tree.eval() is tree
    assert not any(module.training for module in tree.modules())
    assert all(module.training for module in tree.train().modules())


def test_apply_visits_children_first() -> None:
    seen: list[Module] = []
    tree = Tree()
    tree.apply(seen.append)
    assert seen[-1] is tree
    assert set(map(type, seen[:-1])) == {Leaf}


def test_a_misspelt_attribute_names_the_nearest() -> None:
    with pytest.raises(
        AttributeError, match="Leaf has no attribute 'wieght'. Did you mean 'weight'"
    ):
        _ = Leaf(1.0).wieght


def test_a_property_that_fails_is_named() -> None:
    class Square(Module):
        @property
        def area(self) -> float:
            return self.side**2

    with pytest.raises(AttributeError, match="Square.area uses an attribute that is not there"):
        _ = Square().area


def test_forgotten_super_init() -> None:
    class Forgetful(Module):
        def __init__(self) -> None:
            self.weight = Parameter(1.0)

    with pytest.raises(AttributeError, match=r"call super\(\).__init__\(\) first in Forgetful"):
        Forgetful()


def test_no_forward() -> None:
    with pytest.raises(TypeError, match="Module defines no forward"):
        Module()(1.0)


def test_bad_member_names() -> None:
    with pytest.raises(ValueError, match="'a.b' cannot name"):
        Module().add_parameter("a.b", 1.0)
    with pytest.raises(ValueError, match="must not be empty"):
        Module().add_module("", Module())
    with pytest.raises(ValueError, match="'size' cannot name a member of Tree, which has"):
        Tree().add_module("size", Module())


def test_state_moves_between_equal_trees() -> None:
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


def test_a_state_that_does_not_fit() -> None:
    tree = Tree()
    with pytest.raises(StateDictError, match="missing: left.weight, right.weight; unexpected: up"):
        tree.load_state_dict({"bias": 1.0, "up": 2.0})
    assert tree.bias.value == 3.0
    tree.load_state_dict({"bias": 1.0, "up": 2.0}, strict=False)
    assert tree.bias.value == 1.0


def test_a_value_that_does_not_fit_changes_nothing() -> None:
    class Positive(Parameter):
        def check(self, value: float) -> None:
            if value <= 0:
                raise StateDictError(f"{value} is not positive.")

    tree = Tree()
    tree.last = Positive(1.0)
    before = tree.state_dict()
    with pytest.raises(StateDictError, match="last: -1.0 is not positive"):
        tree.load_state_dict({"bias": 9.0, "left.weight": 9.0, "right.weight": 9.0, "last": -1.0})
    assert tree.state_dict() == before


def test_repr_shows_the_tree() -> None:
    assert repr(Tree()) == "Tree(\n  (left): Leaf()\n  (right): Leaf()\n)"
