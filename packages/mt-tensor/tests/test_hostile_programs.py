"""`compile` and what varies between calls: a program gives what eager calls give, or is refused.

Each case calls a function several times, while something that the function depends on changes. It
gets a decorator, which is `mt.compile` or does nothing, and returns what the calls gave.
"""

import collections
import contextvars
import dataclasses
import functools
import itertools
import random
import threading
import types
import warnings
import weakref
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_tensor.errors import CompileError, CompileWarning

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
Case = Callable[[Decorator], list[Any]]

CASES: dict[str, Case] = {}
CALLS = 6
"""Enough for objects that are made anew for each call to get addresses of earlier ones."""


def case(function: Case) -> Case:
    CASES[function.__name__] = function
    return function


def row(*numbers: float) -> mt.Tensor:
    return mt.tensor([float(each) for each in numbers])


class Holder:
    """An object of a user's class."""

    def __init__(self, n: Any) -> None:
        self.n = n

    def times(self, x: mt.Tensor) -> mt.Tensor:
        return x * self.n

    __call__ = times


class Slotted:
    __slots__ = ("n",)

    def __init__(self, n: int) -> None:
        self.n = n


@dataclasses.dataclass
class Data:
    n: int


def with_a(make: Callable[[int], Any], read: Callable[[mt.Tensor, Any], mt.Tensor]) -> Case:
    """Return the case of an argument that is made anew for each call."""

    def calls(compiled: Decorator) -> list[Any]:
        function = compiled(read)
        return [function(row(1, 2), make(n)) for n in range(CALLS)]

    return calls


def with_one(
    make: Callable[[], Any], change: Callable[[Any, int], Any], read: Callable[..., mt.Tensor]
) -> Case:
    """Return the case of an argument that is changed between calls."""

    def calls(compiled: Decorator) -> list[Any]:
        function, held, results = compiled(read), make(), []
        for n in range(CALLS):
            change(held, n)
            results.append(function(row(1, 2), held))
        return results

    return calls


def around(
    make: Callable[[], Any], change: Callable[[Any, int], Any], read: Callable[..., mt.Tensor]
) -> Case:
    """Return the case of a free variable that is changed between calls."""

    def calls(compiled: Decorator) -> list[Any]:
        held, results = make(), []
        function = compiled(lambda x: read(x, held))
        for n in range(CALLS):
            change(held, n)
            results.append(function(row(1, 2)))
        return results

    return calls


def numbers(n: int) -> Iterator[int]:
    yield from range(n)


def setting_n(held: Any, n: int) -> None:
    held.n = n


def subclass(kind: type, value: Any) -> Callable[[int], Any]:
    """Return what makes instances of a subclass with an attribute."""
    own = type("Own", (kind,), {})

    def make(n: int) -> Any:
        made = own(value)
        made.n = n
        return made

    return make


CASES |= {
    "a new object": with_a(Holder, lambda x, o: x * o.n),
    "a new object with slots": with_a(Slotted, lambda x, o: x * o.n),
    "a new object that is called": with_a(Holder, lambda x, o: o(x)),
    "a method of a new object": with_a(lambda n: Holder(n).times, lambda x, f: f(x)),
    "a new dataclass": with_a(Data, lambda x, o: x * o.n),
    "a new namespace": with_a(lambda n: types.SimpleNamespace(n=n), lambda x, o: x * o.n),
    "a new class": with_a(lambda n: type("K", (), {"n": n}), lambda x, k: x * k.n),
    "a new function": with_a(lambda n: lambda v: v * n, lambda x, f: f(x)),
    "a new function with a default": with_a(lambda n: lambda v, n=n: v * n, lambda x, f: f(x)),
    "a new partial": with_a(lambda n: functools.partial(lambda n, v: v * n, n), lambda x, f: f(x)),
    "an iterator": with_a(lambda n: iter([n, n + 1]), lambda x, each: x * next(each)),
    "a generator": with_a(numbers, lambda x, each: x * sum(each)),
    "a decimal number": with_a(Decimal, lambda x, d: x * float(d)),
    "a fraction": with_a(Fraction, lambda x, d: x * float(d)),
    "a number of NumPy": with_a(np.float32, lambda x, d: x * float(d)),
    "a set": with_a(lambda n: {n, n + 2}, lambda x, s: x * sum(s)),
    "a frozen set": with_a(lambda n: frozenset({n, n + 2}), lambda x, s: x * sum(s)),
    "a deque": with_a(lambda n: collections.deque([n]), lambda x, s: x * s[0]),
    "a list of a subclass": with_a(subclass(list, [1]), lambda x, s: x * s.n),
    "an int of a subclass": with_a(subclass(int, 1), lambda x, s: x * s.n),
    "a str of a subclass": with_a(subclass(str, "a"), lambda x, s: x * s.n),
    "an iterator that goes on": with_one(
        itertools.count, lambda _, __: None, lambda x, i: x * next(i)
    ),
    "an object whose attribute changes": with_one(
        lambda: Holder(0), setting_n, lambda x, o: x * o.n
    ),
    "a dictionary whose value changes": with_one(
        dict, lambda d, n: d.update(n=n), lambda x, d: x * d["n"]
    ),
    "a view of a dictionary": with_one(
        lambda: types.MappingProxyType(shared),
        lambda _, n: shared.update(n=n),
        lambda x, d: x * d["n"],
    ),
    "bytes that change": with_one(
        lambda: bytearray([0]), lambda b, n: b.__setitem__(0, n), lambda x, b: x * b[0]
    ),
    "a list that is appended to": with_one(
        list, lambda _, __: None, lambda x, s: (s.append(1), x * len(s))[1]
    ),
    "a list that is popped from": with_one(
        lambda: [*range(2 * CALLS)], lambda _, __: None, lambda x, s: x * s.pop()
    ),
    "a free object": around(lambda: Holder(0), setting_n, lambda x, o: x * o.n),
    "a free list in an object": around(
        lambda: Holder([0]), lambda o, n: setattr(o, "n", [row(n, n)]), lambda x, o: x * o.n[0]
    ),
    "a free nested number": around(
        lambda: {"a": [{"b": 0}]},
        lambda d, n: d["a"][0].update(b=n),
        lambda x, d: x * d["a"][0]["b"],
    ),
    "a free counter": around(
        collections.Counter, lambda c, _: c.update("k"), lambda x, c: x * c["k"]
    ),
    "a free iterator": around(itertools.count, lambda _, __: None, lambda x, i: x * next(i)),
    "a context variable": around(
        lambda: contextvars.ContextVar("v"), lambda v, n: v.set(n), lambda x, v: x * v.get()
    ),
    "a thread local": around(threading.local, setting_n, lambda x, v: x * v.n),
    "an array": around(
        lambda: np.ones(2, np.float32), lambda a, n: a.fill(n), lambda x, a: x * mt.tensor(a)
    ),
    "random numbers of Python": around(
        lambda: random.Random(0), lambda _, __: None, lambda x, r: x * r.random()
    ),
    "random numbers of NumPy": around(
        lambda: np.random.default_rng(0), lambda _, __: None, lambda x, r: x * float(r.random())
    ),
}

shared: dict[str, int] = {}


@case
def weak_reference(compiled: Decorator) -> list[Any]:
    held, results = Holder(0), []
    function = compiled(lambda x, reference: x * reference().n)
    for held.n in range(CALLS):
        results.append(function(row(1, 2), weakref.ref(held)))
    return results


@case
def order_of_a_dictionary(compiled: Decorator) -> list[Any]:
    @compiled
    def folded(x: mt.Tensor, factors: dict[str, float]) -> mt.Tensor:
        for place, name in enumerate(factors):
            x = x * (place + 1) + factors[name]
        return x

    return [folded(row(1, 2), each) for each in ({"a": 1, "b": 2}, {"b": 2, "a": 1})]


@case
def order_of_a_free_dictionary(compiled: Decorator) -> list[Any]:
    factors = collections.OrderedDict(a=2.0, b=3.0)

    def folded(x: mt.Tensor) -> mt.Tensor:
        for factor in factors.values():
            x = x * factor + 1
        return x

    function = compiled(folded)
    before = function(row(1, 2))
    factors.move_to_end("a")
    return [before, function(row(1, 2))]


@case
def a_dictionary_changed_inside(compiled: Decorator) -> list[Any]:
    @compiled
    def counting(x: mt.Tensor, counts: dict[str, int]) -> mt.Tensor:
        counts["n"] = counts.get("n", 0) + 1
        return x * counts["n"]

    counts: dict[str, int] = {}
    return [*[counting(row(1, 2), counts) for _ in range(CALLS)], counts["n"]]


@case
def one_list_given_twice(compiled: Decorator) -> list[Any]:
    @compiled
    def appended(x: mt.Tensor, a: list[float], b: list[float]) -> mt.Tensor:
        a.append(2.0)
        return x * len(b)

    both = [1.0]
    return [
        appended(row(1), [1.0], [1.0]),
        appended(row(1), both, both),
        appended(row(1), [1.0], [1.0]),
    ]


@case
def attributes_of_the_function(compiled: Decorator) -> list[Any]:
    def counted(x: mt.Tensor) -> mt.Tensor:
        counted.calls += 1  # type: ignore[attr-defined]
        return x * counted.calls  # type: ignore[attr-defined]

    counted.calls = 0  # type: ignore[attr-defined]
    function = compiled(counted)
    return [function(row(1, 2)) for _ in range(CALLS)]


@case
def a_default_that_grows(compiled: Decorator) -> list[Any]:
    @compiled
    def grown(x: mt.Tensor, seen: list[int] = []) -> mt.Tensor:  # noqa: B006 - the case
        seen.append(1)
        return x * len(seen)

    return [grown(row(1, 2)) for _ in range(CALLS)]


@case
def a_nonlocal_counter(compiled: Decorator) -> list[Any]:
    count = 0

    @compiled
    def counted(x: mt.Tensor) -> mt.Tensor:
        nonlocal count
        count += 1
        return x * count

    return [counted(row(1, 2)) for _ in range(CALLS)]


@case
def results_in_a_list(compiled: Decorator) -> list[Any]:
    results: list[mt.Tensor] = []

    @compiled
    def kept(x: mt.Tensor) -> None:
        results.append(x * 2)

    for n in range(CALLS):
        kept(row(n))
    return results


@case
def methods_of_new_objects(compiled: Decorator) -> list[Any]:
    class Scaled:
        def __init__(self, n: int) -> None:
            self.n = n

        @compiled
        def times(self, x: mt.Tensor) -> mt.Tensor:
            return x * self.n  # type: ignore[no-any-return]

    return [Scaled(n).times(row(1, 2)) for n in range(CALLS)]


@case
def kinds_of_numbers(compiled: Decorator) -> list[Any]:
    function = compiled(lambda x, n: x * n if n is True else x + n)
    given = (1, True, 1.0, 0, False, 0.0, -0.0, float("nan"), float("inf"))
    return [function(row(1, 2), n) for n in given]


@case
def one_tensor_returned_twice(compiled: Decorator) -> list[Any]:
    def twice(x: mt.Tensor) -> tuple[mt.Tensor, mt.Tensor]:
        doubled = x * 2
        return doubled, doubled

    function, results = compiled(twice), []
    for n in range(CALLS):
        a, b = function(row(n))
        a.add_(1)
        results += [a is b, b]
    return results


@case
def a_tensor_and_its_view_returned(compiled: Decorator) -> list[Any]:
    def both(x: mt.Tensor) -> tuple[mt.Tensor, mt.Tensor]:
        doubled = x * 2
        return doubled, doubled[:1]

    function, results = compiled(both), []
    for n in range(CALLS):
        a, b = function(row(n, n))
        a.add_(1)
        results.append(b)
    return results


@case
def a_view_of_an_argument_returned(compiled: Decorator) -> list[Any]:
    function, results = compiled(lambda x: x[:1]), []
    for n in range(CALLS):
        x = row(n, 1)
        part = function(x)
        x.mul_(5)
        results.append(part)
    return results


@case
def one_tensor_given_twice(compiled: Decorator) -> list[Any]:
    def summed(a: mt.Tensor, b: mt.Tensor) -> mt.Tensor:
        a.mul_(2)
        return a + b

    function, x = compiled(summed), row(1, 2)
    given = ((row(1, 2), row(3, 4)), (x, x), (row(1, 2), row(3, 4)), (x, x[:]))
    return [function(*each).clone() for each in given]


@case
def a_hook_with_state(compiled: Decorator) -> list[Any]:
    weight, count = row(1, 2).requires_grad_(), [0]

    def counted(grad: mt.Tensor) -> mt.Tensor:
        count[0] += 1
        return grad * count[0]

    weight.register_hook(counted)

    @compiled
    def gradient(x: mt.Tensor) -> Any:
        weight.grad = None
        (weight * x).sum().backward()
        return weight.grad.clone()  # type: ignore[union-attr]

    return [gradient(row(1, 2)) for _ in range(CALLS)]


@case
def a_hook_after_accumulation(compiled: Decorator) -> list[Any]:
    weight, count = row(1, 2).requires_grad_(), [0]

    def scaled(x: mt.Tensor) -> None:
        count[0] += 1
        x.grad = x.grad * count[0]  # type: ignore[operator]

    weight.register_post_accumulate_grad_hook(scaled)

    @compiled
    def gradient(x: mt.Tensor) -> Any:
        weight.grad = None
        (weight * x).sum().backward()
        return weight.grad.clone()  # type: ignore[union-attr]

    return [gradient(row(1, 2)) for _ in range(CALLS)]


def result_changed(operation: Callable[[mt.Tensor], mt.Tensor]) -> Case:
    """Return the case of a result that is changed in place before its backward."""

    def calls(compiled: Decorator) -> list[Any]:
        weight = mt.tensor(np.linspace(-1, 1, 12).reshape(3, 4)).requires_grad_()
        function, results = compiled(lambda: operation(weight)), []
        for _ in range(3):
            weight.grad = None
            result = function()
            try:
                with mt.no_grad():
                    result.mul_(3.0)
                result.sum().backward()
                results.append(weight.grad.clone())
            except mt.errors.InPlaceError:
                results.append("refused")
        return results

    return calls


CASES |= {
    f"{name} changed before backward": result_changed(operation)
    for name, operation in {
        "softmax": lambda x: mt.softmax(x, 1),
        "log_softmax": lambda x: mt.log_softmax(x, 1),
        "tanh": mt.tanh,
        "sigmoid": mt.sigmoid,
        "exp": mt.exp,
        "relu": mt.relu,
        "sqrt": lambda x: (x + 2).sqrt(),
        "square": lambda x: x * x,
        "cumsum": lambda x: x.cumsum(1),
    }.items()
}


def plain(value: Any) -> Any:
    """Return results as values that can be compared."""
    if isinstance(value, mt.Tensor):
        return value.dtype.name, value.detach().tolist()
    return value


def same(a: Any, b: Any) -> bool:
    if isinstance(a, tuple):
        return a[0] == b[0] and np.allclose(a[1], b[1], 1e-6, 0, equal_nan=True)
    return bool(a == b)


@pytest.mark.parametrize("backend", ["numpy", "fast"])
@pytest.mark.parametrize("name", CASES)
def test_what_varies_between_calls_is_seen_or_refused(name: str, backend: str) -> None:
    if backend == "fast":
        pytest.importorskip("mt_fast")
    with mt.use_backend(backend), warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        expected = [plain(each) for each in CASES[name](lambda function: function)]
        try:
            results = [plain(each) for each in CASES[name](mt.compile)]
        except CompileError:
            return
    assert len(results) == len(expected)
    assert all(map(same, expected, results)), (expected, results)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("an iterator", "<lambda> is given an object of type list_iterator"),
        ("a free iterator", "<lambda> reads 'held', an object of type count"),
        ("a thread local", "an object of type _local"),
        ("an int of a subclass", "an object of type Own"),
        ("weak_reference", "an object of type ReferenceType"),
    ],
)
def test_what_cannot_be_compared_is_refused(name: str, says: str) -> None:
    with pytest.raises(CompileError, match=says):
        CASES[name](mt.compile)
