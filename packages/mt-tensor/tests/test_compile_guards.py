"""compile: if state changes between calls, results equal those of eager calls, or a call raises.

Each case calls a function several times, and changes something that the function depends on between
calls. Each case takes a decorator, `mt.compile` or the identity, and returns the results of the
calls.
"""

import collections
import contextvars
import dataclasses
import enum
import functools
import itertools
import math
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
from mt_autodiff import GraphFreedError
from mt_tensor.errors import CompileError, CompileWarning

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
Case = Callable[[Decorator], list[Any]]

CASES: dict[str, Case] = {}
CALLS = 6
"""The number of calls: enough for new objects to reuse the addresses of earlier ones."""


def case(function: Case) -> Case:
    CASES[function.__name__] = function
    return function


def row(*numbers: float) -> mt.Tensor:
    return mt.tensor([float(each) for each in numbers])


class Holder:
    """A user-defined class."""

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


def new_argument(make: Callable[[int], Any], read: Callable[[mt.Tensor, Any], mt.Tensor]) -> Case:
    """Return a case that passes a new object at each call."""

    def calls(compiled: Decorator) -> list[Any]:
        function = compiled(read)
        return [function(row(1, 2), make(n)) for n in range(CALLS)]

    return calls


def changed_argument(
    make: Callable[[], Any], change: Callable[[Any, int], Any], read: Callable[..., mt.Tensor]
) -> Case:
    """Return a case that changes an argument between calls."""

    def calls(compiled: Decorator) -> list[Any]:
        function, state, results = compiled(read), make(), []
        for n in range(CALLS):
            change(state, n)
            results.append(function(row(1, 2), state))
        return results

    return calls


def captured(
    make: Callable[[], Any], change: Callable[[Any, int], Any], read: Callable[..., mt.Tensor]
) -> Case:
    """Return a case that changes a captured variable between calls."""

    def calls(compiled: Decorator) -> list[Any]:
        state, results = make(), []
        function = compiled(lambda x: read(x, state))
        for n in range(CALLS):
            change(state, n)
            results.append(function(row(1, 2)))
        return results

    return calls


def numbers(n: int) -> Iterator[int]:
    yield from range(n)


def set_n(state: Any, n: int) -> None:
    state.n = n


def subclass(kind: type, value: Any) -> Callable[[int], Any]:
    """Return a factory of instances of a subclass with an attribute."""
    class_ = type("Subclass", (kind,), {})

    def make(n: int) -> Any:
        instance = class_(value)
        instance.n = n
        return instance

    return make


CASES |= {
    "a new object": new_argument(Holder, lambda x, o: x * o.n),
    "a new object with slots": new_argument(Slotted, lambda x, o: x * o.n),
    "a new object that is called": new_argument(Holder, lambda x, o: o(x)),
    "a method of a new object": new_argument(lambda n: Holder(n).times, lambda x, f: f(x)),
    "a new dataclass": new_argument(Data, lambda x, o: x * o.n),
    "a new namespace": new_argument(lambda n: types.SimpleNamespace(n=n), lambda x, o: x * o.n),
    "a new class": new_argument(lambda n: type("K", (), {"n": n}), lambda x, k: x * k.n),
    "a new function": new_argument(lambda n: lambda v: v * n, lambda x, f: f(x)),
    "a new function with a default": new_argument(
        lambda n: lambda v, n=n: v * n, lambda x, f: f(x)
    ),
    "a new partial": new_argument(
        lambda n: functools.partial(lambda n, v: v * n, n), lambda x, f: f(x)
    ),
    "an iterator": new_argument(lambda n: iter([n, n + 1]), lambda x, each: x * next(each)),
    "a generator": new_argument(numbers, lambda x, each: x * sum(each)),
    "a Decimal": new_argument(Decimal, lambda x, d: x * float(d)),
    "a Fraction": new_argument(Fraction, lambda x, d: x * float(d)),
    "a NumPy scalar": new_argument(np.float32, lambda x, d: x * float(d)),
    "a set": new_argument(lambda n: {n, n + 2}, lambda x, s: x * sum(s)),
    "a frozen set": new_argument(lambda n: frozenset({n, n + 2}), lambda x, s: x * sum(s)),
    "a deque": new_argument(lambda n: collections.deque([n]), lambda x, s: x * s[0]),
    "a list subclass": new_argument(subclass(list, [1]), lambda x, s: x * s.n),
    "an int subclass": new_argument(subclass(int, 1), lambda x, s: x * s.n),
    "a str subclass": new_argument(subclass(str, "a"), lambda x, s: x * s.n),
    "an iterator that continues": changed_argument(
        itertools.count, lambda _, __: None, lambda x, i: x * next(i)
    ),
    "an object whose attribute changes": changed_argument(
        lambda: Holder(0), set_n, lambda x, o: x * o.n
    ),
    "a dictionary whose value changes": changed_argument(
        dict, lambda d, n: d.update(n=n), lambda x, d: x * d["n"]
    ),
    "a mapping proxy": changed_argument(
        lambda: types.MappingProxyType(shared),
        lambda _, n: shared.update(n=n),
        lambda x, d: x * d["n"],
    ),
    "a bytearray that changes": changed_argument(
        lambda: bytearray([0]), lambda b, n: b.__setitem__(0, n), lambda x, b: x * b[0]
    ),
    "a list that is appended to": changed_argument(
        list, lambda _, __: None, lambda x, s: (s.append(1), x * len(s))[1]
    ),
    "a list that is popped from": changed_argument(
        lambda: [*range(2 * CALLS)], lambda _, __: None, lambda x, s: x * s.pop()
    ),
    "a captured object": captured(lambda: Holder(0), set_n, lambda x, o: x * o.n),
    "a captured list in an object": captured(
        lambda: Holder([0]), lambda o, n: setattr(o, "n", [row(n, n)]), lambda x, o: x * o.n[0]
    ),
    "a captured nested number": captured(
        lambda: {"a": [{"b": 0}]},
        lambda d, n: d["a"][0].update(b=n),
        lambda x, d: x * d["a"][0]["b"],
    ),
    "a captured counter": captured(
        collections.Counter, lambda c, _: c.update("k"), lambda x, c: x * c["k"]
    ),
    "a captured iterator": captured(itertools.count, lambda _, __: None, lambda x, i: x * next(i)),
    "a context variable": captured(
        lambda: contextvars.ContextVar("v"), lambda v, n: v.set(n), lambda x, v: x * v.get()
    ),
    "a thread local": captured(threading.local, set_n, lambda x, v: x * v.n),
    "an array": captured(
        lambda: np.ones(2, np.float32), lambda a, n: a.fill(n), lambda x, a: x * mt.tensor(a)
    ),
    "a random.Random": captured(
        lambda: random.Random(0), lambda _, __: None, lambda x, r: x * r.random()
    ),
    "a NumPy generator": captured(
        lambda: np.random.default_rng(0), lambda _, __: None, lambda x, r: x * float(r.random())
    ),
}

shared: dict[str, int] = {}


@case
def weak_reference(compiled: Decorator) -> list[Any]:
    state, results = Holder(0), []
    function = compiled(lambda x, reference: x * reference().n)
    for state.n in range(CALLS):
        results.append(function(row(1, 2), weakref.ref(state)))
    return results


@case
def order_of_a_dictionary(compiled: Decorator) -> list[Any]:
    @compiled
    def folded(x: mt.Tensor, factors: dict[str, float]) -> mt.Tensor:
        for index, name in enumerate(factors):
            x = x * (index + 1) + factors[name]
        return x

    return [folded(row(1, 2), each) for each in ({"a": 1, "b": 2}, {"b": 2, "a": 1})]


@case
def order_of_a_captured_dictionary(compiled: Decorator) -> list[Any]:
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
def one_list_passed_twice(compiled: Decorator) -> list[Any]:
    @compiled
    def appended(x: mt.Tensor, a: list[float], b: list[float]) -> mt.Tensor:
        a.append(2.0)
        return x * len(b)

    shared = [1.0]
    return [
        appended(row(1), [1.0], [1.0]),
        appended(row(1), shared, shared),
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
def results_appended_to_a_list(compiled: Decorator) -> list[Any]:
    results: list[mt.Tensor] = []

    @compiled
    def append_doubled(x: mt.Tensor) -> None:
        results.append(x * 2)

    for n in range(CALLS):
        append_doubled(row(n))
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
def types_of_numbers(compiled: Decorator) -> list[Any]:
    function = compiled(lambda x, n: x * n if n is True else x + n)
    values = (1, True, 1.0, 0, False, 0.0, -0.0, float("nan"), float("inf"))
    return [function(row(1, 2), n) for n in values]


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
def one_tensor_passed_twice(compiled: Decorator) -> list[Any]:
    def summed(a: mt.Tensor, b: mt.Tensor) -> mt.Tensor:
        a.mul_(2)
        return a + b

    function, x = compiled(summed), row(1, 2)
    arguments = ((row(1, 2), row(3, 4)), (x, x), (row(1, 2), row(3, 4)), (x, x[:]))
    return [function(*each).clone() for each in arguments]


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


def changed_result(operation: Callable[[mt.Tensor], mt.Tensor]) -> Case:
    """Return a case that changes the result in place before the backward pass."""

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
                results.append("InPlaceError")
        return results

    return calls


CASES |= {
    f"{name} changed before backward": changed_result(operation)
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


# --- State that is not an argument ----------------------------------------------------------------

SCALE = 1.0


def scaled(x: mt.Tensor) -> mt.Tensor:
    return x * SCALE


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Twice:
    """A descriptor that returns twice the attribute `hidden`."""

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return instance.hidden * 2


class Described:
    twice = Twice()

    def __init__(self) -> None:
        self.hidden = 0


class Dynamic:
    def __init__(self) -> None:
        self.values = {"n": 0}

    def __getattr__(self, name: str) -> Any:
        return self.__dict__["values"][name]


class Summed:
    def __init__(self) -> None:
        self.items = [0]

    @property
    def n(self) -> int:
        return sum(self.items)


class EqualsEverything:
    def __init__(self, n: int) -> None:
        self.n = n

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 1


class Shared:
    n = 0

    @classmethod
    def by_class(cls) -> int:
        return cls.n

    @staticmethod
    def static() -> int:
        return Shared.n


class Doubled(mt.Function):
    factor = 2.0

    @staticmethod
    def forward(ctx: Any, x: mt.Tensor) -> mt.Tensor:
        return x * Doubled.factor

    @staticmethod
    def backward(ctx: Any, grad: mt.Tensor) -> Any:
        return grad * Doubled.factor


store = {"v": 0}


@functools.lru_cache
def cached_tensor() -> mt.Tensor:
    return row(store["v"], 1)


def multiplied_by(n: int) -> Callable[[mt.Tensor], mt.Tensor]:
    def multiplied(x: mt.Tensor) -> mt.Tensor:
        return x * n

    return multiplied


def set_global_scale(n: int) -> None:
    globals()["SCALE"] = float(n)


def set_class_attribute(n: int) -> None:
    Shared.n, Doubled.factor = n, float(n)


def clear_cache(n: int) -> None:
    store["v"] = n
    cached_tensor.cache_clear()


def changed_global(change: Callable[[int], None], read: Callable[[mt.Tensor], mt.Tensor]) -> Case:
    """Return a case that changes global state between calls."""

    def calls(compiled: Decorator) -> list[Any]:
        function, results = compiled(read), []
        for n in range(CALLS):
            change(n)
            results.append(function(row(n, 1)))
        return results

    return calls


CASES |= {
    "a global variable of a helper": changed_global(set_global_scale, scaled),
    "a class attribute": changed_global(set_class_attribute, lambda x: x * Shared.n),
    "a class method": changed_global(set_class_attribute, lambda x: x * Shared.by_class()),
    "a static method": changed_global(set_class_attribute, lambda x: x * Shared.static()),
    "a class attribute of a Function": changed_global(
        set_class_attribute, lambda x: Doubled.apply(x) * 1
    ),
    "a cached tensor": changed_global(clear_cache, lambda x: x * cached_tensor()),
    "a descriptor": captured(
        Described, lambda d, n: setattr(d, "hidden", n), lambda x, d: x * d.twice
    ),
    "a dynamic attribute": captured(
        Dynamic, lambda d, n: d.values.update(n=n), lambda x, d: x * d.n
    ),
    "a property": captured(Summed, lambda s, n: s.items.append(n), lambda x, s: x * s.n),
    "a long list": captured(
        lambda: [0.0] * 2000, lambda d, n: d.__setitem__(3, float(n)), lambda x, d: x * d[3]
    ),
    "a long dictionary": captured(
        lambda: dict.fromkeys(range(2000), 0), lambda d, n: d.update({3: n}), lambda x, d: x * d[3]
    ),
    "a large array": captured(
        lambda: np.zeros(5000), lambda a, n: a.fill(n), lambda x, a: x * float(a[3])
    ),
    "an array that shares memory with a tensor": captured(
        lambda: (array := np.zeros(2, np.float32), mt.from_numpy(array)),
        lambda both, n: both[0].fill(n),
        lambda x, both: x * both[1],
    ),
    "a long list as argument": changed_argument(
        lambda: [0.0] * 2000, lambda d, n: d.__setitem__(3, float(n)), lambda x, d: x * d[3]
    ),
    "a member of an enum": new_argument(
        lambda n: [Colour.RED, Colour.BLUE][n % 2], lambda x, c: x * c.value
    ),
    "an object that equals everything": new_argument(EqualsEverything, lambda x, o: x * o.n),
    "a key that equals everything": new_argument(
        lambda n: {EqualsEverything(n): 1}, lambda x, d: x * next(iter(d)).n
    ),
    "a range": new_argument(lambda n: range(n + 1), lambda x, r: x * len(r)),
    "a slice": new_argument(lambda n: slice(n % 2, None), lambda x, s: x[s] * 1),
    "an ellipsis": new_argument(lambda n: [..., slice(None, 1)][n % 2], lambda x, i: x[i] * 1),
    "bytes": new_argument(lambda n: bytes([n]), lambda x, b: x * b[0]),
    "a memory view": new_argument(lambda n: memoryview(bytes([n])), lambda x, m: x * m[0]),
    "a complex number": new_argument(lambda n: complex(n, 1), lambda x, c: x * c.real),
    "nested containers": new_argument(
        lambda n: ((n, [n + 1]), {"a": n}), lambda x, t: x * (t[0][1][0] + t[1]["a"])
    ),
    "a ChainMap": new_argument(lambda n: collections.ChainMap({"a": n}), lambda x, c: x * c["a"]),
    "a UserDict": new_argument(lambda n: collections.UserDict(a=n), lambda x, c: x * c["a"]),
    "a dtype": new_argument(lambda n: [mt.float32, mt.float64][n % 2], lambda x, d: x.to(d) * 1),
    "a shape": new_argument(lambda n: mt.ones(n + 1, 2).shape, lambda x, s: x * s[0]),
    "a Python module": new_argument(
        lambda n: [math, types][n % 2], lambda x, m: x * (2 if m is math else 3)
    ),
    "a builtin function": new_argument(lambda n: [len, sum][n % 2], lambda x, f: x * f([3, 4])),
    "a closure": new_argument(multiplied_by, lambda x, f: f(x)),
    "a float with type() tested": new_argument(
        float, lambda x, n: x * n if type(n) is float else -x
    ),
    "a float with isinstance() tested": new_argument(
        float, lambda x, n: x * n if isinstance(n, float) else -x
    ),
    "a float passed to math.sqrt": new_argument(float, lambda x, n: x * math.sqrt(n)),
    "the name of a tensor": changed_argument(
        lambda: row(1, 2),
        lambda w, n: setattr(w, "name", "ab"[n % 2]),
        lambda x, w: x * w * (2 if w.name == "a" else 3),
    ),
    "a number of dimensions": new_argument(lambda n: mt.ones(n + 1), lambda x, w: x.sum() * len(w)),
    "a keyword": new_argument(lambda n: n, lambda x, n, m=3: x * n + m),
}


def called_with(calls: Callable[[], list[tuple[Any, ...]]], function: Callable[..., Any]) -> Case:
    """Return a case that calls a function with each of these arguments."""

    def run_all(compiled: Decorator) -> list[Any]:
        run = compiled(function)
        return [mt.Tensor.clone(run(*arguments)) for arguments in calls()]

    return run_all


def views(*slices: tuple[slice, ...]) -> Callable[[], list[tuple[Any, ...]]]:
    """Return a function that returns the arguments of each call: slices of one tensor."""

    def calls() -> list[tuple[Any, ...]]:
        x = row(1, 2, 3, 4)
        return [tuple(x[each] for each in group) for group in slices]

    return calls


def doubled_first(a: mt.Tensor, b: mt.Tensor) -> mt.Tensor:
    a.mul_(2)
    return a + b


FIRST, MIDDLE, LAST = slice(0, 2), slice(1, 3), slice(2, 4)

CASES |= {
    "views that overlap": called_with(
        views((FIRST, LAST), (FIRST, MIDDLE), (FIRST, FIRST), (MIDDLE, LAST)), doubled_first
    ),
    "one tensor passed twice, or two": called_with(
        lambda: [(x := row(1, 2), x), (x, row(3, 4)), (x, x[:]), (x, x)],
        lambda a, b: a * 2 if a is b else a * 3,
    ),
    "one tensor twice in a list, or two": called_with(
        lambda: [([x := row(1, 2), x],), ([x, row(3, 4)],), ([x, x],)],
        lambda xs: xs[0] * 2 if xs[0] is xs[1] else xs[0] * 3,
    ),
    "storage offset": called_with(
        views((FIRST,), (MIDDLE,), (LAST,)), lambda x: x * x.storage_offset()
    ),
    "strides": called_with(
        lambda: [
            (x := mt.arange(6.0).view(2, 3),), (x.T,), (x[:, ::2],), (x[1:],), (x,), (x[:, 1:],)
        ],
        lambda x: x.view(-1) if x.is_contiguous() else -x.reshape(-1),
    ),
    "dtypes": called_with(
        lambda: [(row(1, 2).to(each),) for each in (mt.float32, mt.float64, mt.int64, mt.float32)],
        lambda x: x * 2 + mt.ones(2),
    ),
    "None or a tensor": called_with(
        lambda: [(row(1, 2),), (row(1, 2), row(2, 2)), (row(1, 2), None), (row(1, 2), 0)],
        lambda x, m=None: x if m is None else x * m,
    ),
    "a number of arguments": called_with(
        lambda: [(row(1, 2),), (row(1, 2), row(3, 4)), (row(1, 2),)],
        lambda *xs: sum(xs, row(0, 0)) * len(xs),
    ),
    "a leaf or not": called_with(
        lambda: [(x := row(1, 2).requires_grad_(),), (x * 1,), (x.detach(),), (x,)],
        lambda x: x * (2 if x.is_leaf else 3),
    ),
    "a number of iterations": called_with(
        lambda: [(row(1, 2), n) for n in (0, 3, 1, 3)],
        lambda x, n: functools.reduce(lambda y, _: y * 2, range(n), x) * 1,
    ),
}  # fmt: skip


# --- Random numbers, modes, and state -------------------------------------------------------------


@case
def a_generator(compiled: Decorator) -> list[Any]:
    function = compiled(lambda x, generator: x + mt.rand(2, generator=generator))
    generator = mt.Generator().manual_seed(3)
    results = [function(row(1, 2), generator) for _ in range(CALLS)]
    return results + [function(row(1, 2), generator.manual_seed(n % 2)) for n in range(CALLS)]


@case
def the_default_generator(compiled: Decorator) -> list[Any]:
    function, results = compiled(lambda x: x + mt.rand(2) * mt.randn(2)), []
    for seed in (4, 5, 4):
        mt.manual_seed(seed)
        results += [function(row(1, 2)) for _ in range(3)]
    return results


@case
def grad_mode(compiled: Decorator) -> list[Any]:
    weight, results = row(1, 2).requires_grad_(), []
    function = compiled(lambda x: x * weight)
    for n in range(4):
        with mt.set_grad_enabled(n % 2 == 0):
            result = function(row(1, 2))
        results += [result, result.requires_grad]
    return results


@case
def autocast(compiled: Decorator) -> list[Any]:
    function, results = compiled(lambda x: x @ x), []
    for n in range(4):
        with mt.autocast("cpu", dtype=mt.bfloat16, enabled=n % 2 == 0):
            results.append(function(mt.ones(2, 2)))
    return results


@case
def the_default_dtype(compiled: Decorator) -> list[Any]:
    function, results = compiled(lambda x: x * 1 + mt.zeros(2).sum()), []
    for dtype in (mt.float32, mt.float64, mt.float32):
        mt.set_default_dtype(dtype)
        results.append(function(mt.tensor([1, 2])))
    return results


@case
def another_backend(compiled: Decorator) -> list[Any]:
    function = compiled(lambda x: x * mt.full((2,), 3.0, backend=x.backend))
    names = ("numpy", "simple", "numpy")
    results = [function(mt.tensor([1.0, 2.0], backend=name)) for name in names]
    return [*results, *[result.backend.name for result in results]]


@case
def an_index_out_of_range(compiled: Decorator) -> list[Any]:
    function, results = compiled(lambda x, at: mt.index_select(x, 0, at)), []
    for at in (0, 1, 5, 1):
        try:
            results.append(function(row(1, 2), mt.tensor([at])))
        except IndexError:
            results.append("out of range")
    return results


@case
def a_nested_compiled_function(compiled: Decorator) -> list[Any]:
    factor = [0]
    inner = compiled(lambda x: x * factor[0])
    outer, results = compiled(lambda x: inner(x) + 1), []
    for factor[0] in range(CALLS):
        results.append(outer(row(1, 2)))
    return results


@case
def threads(compiled: Decorator) -> list[Any]:
    function, results = compiled(lambda x, n: x * n), []
    for n in range(CALLS):
        thread = threading.Thread(target=lambda n=n: results.append(function(row(1, 2), n)))
        thread.start()
        thread.join()
    return results


@case
def a_tuple_of_tensors(compiled: Decorator) -> list[Any]:
    state = {"h": (row(0, 0), row(1, 1))}

    def step(x: mt.Tensor) -> mt.Tensor:
        a, b = state["h"]
        state["h"] = (a + x, b * 2)
        return state["h"][0] + state["h"][1]

    function = compiled(step)
    return [function(row(n, 1)) for n in range(CALLS)]


@case
def tensors_exchanged(compiled: Decorator) -> list[Any]:
    state = {"a": row(1, 2), "b": row(3, 4)}

    def step(x: mt.Tensor) -> mt.Tensor:
        state["a"], state["b"] = state["b"], state["a"]
        return x + state["a"] * 2

    function = compiled(step)
    return [function(row(n, 1)) for n in range(CALLS)]


@case
def one_tensor_in_two_places(compiled: Decorator) -> list[Any]:
    state = {"a": row(0, 0)}
    state["b"] = state["a"]

    def step(x: mt.Tensor) -> mt.Tensor:
        state["a"].add_(x)
        return state["b"] * 1

    function, results = compiled(step), []
    for n in range(CALLS):
        if n == 3:
            state["b"] = state["a"].clone()
        results.append(function(row(n, 1)))
    return results


@case
def a_new_tensor_put_in_two_places(compiled: Decorator) -> list[Any]:
    state: dict[str, Any] = {"a": row(0, 0), "b": row(0, 0)}

    def step(x: mt.Tensor) -> mt.Tensor:
        state["a"] = state["b"] = x * 2
        return state["a"]

    function, results = compiled(step), []
    for n in range(CALLS):
        result = function(row(n, 1))
        results += [result, state["a"] is state["b"], state["a"] is result]
    return results


# --- Gradients ------------------------------------------------------------------------------------


def changed_weight(change: Callable[[dict[str, Any], int], None]) -> Case:
    """Return a case that changes a weight between calls that compute its gradient."""

    def calls(compiled: Decorator) -> list[Any]:
        state: dict[str, Any] = {"w": row(1, 2).requires_grad_()}

        def step(x: mt.Tensor) -> Any:
            weight = state["w"]
            weight.grad = None
            loss = (weight * x * (2 if weight.requires_grad else 3)).sum()
            if weight.requires_grad:
                loss.backward()
            return loss.detach() if weight.grad is None else weight.grad.clone()

        function, results = compiled(step), []
        for n in range(CALLS):
            change(state, n)
            results.append(function(row(n, 1)))
        return results

    return calls


@mt.no_grad()
def overwrite(state: dict[str, Any], n: int) -> None:
    state["w"].copy_(row(n, n))


CASES |= {
    "elements of a weight": changed_weight(overwrite),
    "another weight": changed_weight(lambda state, n: state.update(w=row(n, n).requires_grad_())),
    "a weight that is frozen": changed_weight(
        lambda state, n: state["w"].requires_grad_(n % 2 == 0)
    ),
}


def before_backward(change: Callable[[mt.Tensor, mt.Tensor], Any]) -> Case:
    """Return a case that changes memory between forward and backward."""

    def calls(compiled: Decorator) -> list[Any]:
        weight, data, results = row(1, 2).requires_grad_(), mt.ones(6, 2), []
        function = compiled(lambda batch: (batch * weight * weight).sum())
        for n in range(3):
            weight.grad = None
            loss = function(data[2 * n : 2 * n + 2])
            with mt.no_grad():
                change(data, weight)
            try:
                loss.backward()
                results.append(weight.grad.clone())  # type: ignore[union-attr]
            except mt.errors.InPlaceError:
                results.append("InPlaceError")
        return results

    return calls


CASES |= {
    "a batch changed before backward": before_backward(lambda data, _: data.add_(1)),
    "a weight changed before backward": before_backward(lambda _, weight: weight.add_(1)),
    "one row changed before backward": before_backward(lambda data, _: data[5].add_(1)),
}


@case
def backward_once_and_twice(compiled: Decorator) -> list[Any]:
    weight, results = row(1, 2).requires_grad_(), []
    function = compiled(lambda x: (x * weight).exp().sum())
    for keep in (True, False, True):
        loss = function(row(1, 1))
        loss.backward(retain_graph=keep)
        try:
            loss.backward()
            results.append(weight.grad.clone())  # type: ignore[union-attr]
        except GraphFreedError:
            results.append("freed")
    return results


@case
def gradients_that_accumulate(compiled: Decorator) -> list[Any]:
    def step(x: mt.Tensor) -> Any:
        (x * x).sum().backward()
        return x.grad.clone()  # type: ignore[union-attr]

    function, x, results = compiled(step), row(1, 2).requires_grad_(), []
    for n in range(CALLS):
        results.append(function(x))
        if n == 2:
            x.grad = None
    return results


@case
def a_gradient_that_is_read(compiled: Decorator) -> list[Any]:
    function = compiled(lambda x: x.detach() * (x.grad if x.grad is not None else 7))
    x, results = row(1, 2).requires_grad_(), []
    for n in range(CALLS):
        x.grad = None if n % 3 == 2 else row(n, n)
        results.append(function(x))
    return results


@case
def a_gradient_that_is_returned(compiled: Decorator) -> list[Any]:
    weight, results = row(1, 2).requires_grad_(), []

    def step(x: mt.Tensor) -> Any:
        weight.grad = None
        (x * weight).sum().backward()
        return weight.grad

    function = compiled(step)
    for n in range(CALLS):
        result = function(row(n, n))
        results += [result, result is weight.grad]
    return results


@case
def an_old_gradient_that_is_returned(compiled: Decorator) -> list[Any]:
    weight, results = row(1, 2).requires_grad_(), []

    def step(x: mt.Tensor) -> Any:
        old, weight.grad = weight.grad, None
        (x * weight).sum().backward()
        return old

    function = compiled(step)
    for n in range(CALLS):
        old = weight.grad
        result = function(row(n, n))
        results += [result, result is old]
    return results


@case
def a_weight_that_is_also_an_argument(compiled: Decorator) -> list[Any]:
    weight = row(1, 2).requires_grad_()

    def step(x: mt.Tensor) -> mt.Tensor:
        with mt.no_grad():
            weight.add_(1)
        return (x * weight).sum()

    function = compiled(step)
    return [function(weight.detach()), function(row(3, 4)), function(weight.detach())]


# --- Constants, containers and objects ------------------------------------------------------------


def set_items(state: Any, *items: Any) -> None:
    """Replace the items of a set or dictionary."""
    state.clear()
    state.update(items)


def sign(x: mt.Tensor, number: Any) -> mt.Tensor:
    return x * math.copysign(1, number)


def length(x: mt.Tensor, value: Any) -> mt.Tensor:
    return x * len(str(value))


class OtherHolder(Holder):
    def times(self, x: mt.Tensor) -> mt.Tensor:
        return x * 5


class OneSlot:
    __slots__ = "scale"  # noqa: PLC0205 - the case


class PrivateSlot:
    __slots__ = ("__n",)

    def set(self, n: int) -> None:
        self.__n = n

    def get(self) -> int:
        return self.__n


class Cached:
    m = 0

    @functools.cached_property
    def n(self) -> int:
        return self.m * 2


class Class:
    sizes = (0, 1)
    holder = Holder(0)
    numbers: set[int] = set()  # noqa: RUF012 - the case

    @staticmethod
    def static(x: mt.Tensor) -> mt.Tensor:
        return x

    def method(self, x: mt.Tensor) -> mt.Tensor:
        return x


def subclass_attribute(kind: type, *arguments: Any) -> Case:
    """Return a case that changes an attribute of an instance of a subclass in an object."""
    class_ = type("Subclass", (kind,), {})
    return captured(
        lambda: Holder(class_(*arguments)),
        lambda h, n: setattr(h.n, "n", n),
        lambda x, h: x * h.n.n,
    )


def in_an_object(
    make: Callable[[], Any], change: Callable[[Any, int], Any], read: Callable[[Any], Any]
) -> Case:
    """Return a case that changes a value in an object."""
    return captured(
        lambda: Holder(make()), lambda h, n: change(h.n, n), lambda x, h: x * float(read(h.n))
    )


def no_change(state: Any, n: int) -> None:
    pass


ZEROS = (0.0, -0.0)

CASES |= {
    "a NumPy zero": new_argument(lambda n: np.float32(ZEROS[n % 2]), sign),
    "a complex zero": new_argument(
        lambda n: complex(0, ZEROS[n % 2]), lambda x, z: sign(x, z.imag)
    ),
    "a Decimal exponent": new_argument(lambda n: Decimal(["1.0", "1.00"][n % 2]), length),
    "the end of a range": new_argument(lambda n: range(0, 3 + n % 2, 2), lambda x, r: x * r.stop),
    "the type of a key": new_argument(lambda n: {[1, True, 1.0][n % 3]: 2}, length),
    "a captured NumPy zero": captured(
        lambda: Holder(0),
        lambda h, n: setattr(h, "n", np.float32(ZEROS[n % 2])),
        lambda x, h: sign(x, h.n),
    ),
    "a captured Decimal exponent": captured(
        lambda: Holder(0),
        lambda h, n: setattr(h, "n", Decimal(["1.0", "1.00"][n % 2])),
        lambda x, h: length(x, h.n),
    ),
    "a captured set": captured(set, set_items, lambda x, s: x * sum(s)),
    "a captured set of tensors": captured(
        set, lambda s, n: set_items(s, row(n, n)), lambda x, s: x * next(iter(s))
    ),
    "a captured long set": captured(
        lambda: set(range(2000)),
        lambda s, n: (s.discard(n), s.add(5000 + n)),
        lambda x, s: x * sum(s),
    ),
    "a key that changes": captured(
        lambda: collections.defaultdict(int),
        lambda d, n: set_items(d, ("k" * n, 1)),
        lambda x, d: x * (len(next(iter(d))) + len(d)),
    ),
    "a key that changes its type": captured(
        dict, lambda d, n: set_items(d, ([1, True][n % 2], 1)), length
    ),
    "an array in a tuple": captured(
        lambda: (np.zeros(1), 1), lambda t, n: t[0].fill(n), lambda x, t: x * float(t[0][0])
    ),
    "a zero in an array": captured(
        lambda: np.zeros(1), lambda a, n: a.fill(ZEROS[n % 2]), lambda x, a: sign(x, a[0])
    ),
    "an array of objects": captured(
        lambda: np.array([Holder(0), 1], dtype=object),
        lambda a, n: setattr(a[0], "n", n),
        lambda x, a: x * a[0].n,
    ),
    "an array that the function changes": captured(
        lambda: np.zeros(1), no_change, lambda x, a: x * float(np.add(a, 1, out=a)[0])
    ),
    "an iterator in an object": in_an_object(itertools.count, no_change, next),
    "a random.Random in an object": in_an_object(
        lambda: random.Random(0), no_change, random.Random.random
    ),
    "a NumPy generator in an object": in_an_object(
        lambda: np.random.default_rng(0), no_change, np.random.Generator.random
    ),
    "a bytearray in an object": in_an_object(
        lambda: bytearray(1), lambda b, n: b.__setitem__(0, n), lambda b: b[0]
    ),
    "a UserDict in an object": in_an_object(
        lambda: collections.UserDict(n=0), lambda d, n: d.update(n=n), lambda d: d["n"]
    ),
    "a thread local in an object": in_an_object(threading.local, set_n, lambda v: v.n),
    "an attribute of a dictionary": subclass_attribute(dict),
    "an attribute of a list": subclass_attribute(list),
    "an attribute of a set": subclass_attribute(set),
    "an attribute of an int": subclass_attribute(int),
    "an attribute of an array": captured(
        lambda: np.zeros(1).view(type("Subclass", (np.ndarray,), {})), set_n, lambda x, a: x * a.n
    ),
    "an attribute of a list argument": changed_argument(
        type("Subclass", (list,), {}), set_n, lambda x, s: x * s.n
    ),
    "keywords of a partial": captured(
        lambda: functools.partial(lambda v, n=0: v * n),
        lambda p, n: p.keywords.update(n=n),
        lambda x, p: p(x),
    ),
    "arguments of a partial": captured(
        lambda: functools.partial(lambda n, v: v * n, 0),
        lambda p, n: p.__setstate__((p.func, (n,), {}, {})),
        lambda x, p: p(x),
    ),
    "a default that is replaced": captured(
        lambda: lambda v, n=0: v * n,
        lambda f, n: setattr(f, "__defaults__", (n,)),
        lambda x, f: f(x),
    ),
    "code that is replaced": captured(
        lambda: lambda v: v * 0,
        lambda f, n: setattr(f, "__code__", [lambda v: v, lambda v: v * 2][n % 2].__code__),
        lambda x, f: f(x),
    ),
    "an attribute of a function": captured(
        lambda: lambda v: v,
        lambda f, n: setattr(f, "n", n) if n > 2 else None,
        lambda x, f: x * getattr(f, "n", 1),
    ),
    "the class of an object": captured(
        lambda: Holder(1),
        lambda h, n: setattr(h, "__class__", [Holder, OtherHolder][n % 2]),
        lambda x, h: h.times(x),
    ),
    "a method of an object": captured(
        lambda: Holder(1),
        lambda h, n: setattr(h, "times", lambda v: v * n),
        lambda x, h: h.times(x),
    ),
    "one slot": captured(OneSlot, lambda s, n: setattr(s, "scale", n), lambda x, s: x * s.scale),
    "a private slot": captured(PrivateSlot, PrivateSlot.set, lambda x, s: x * s.get()),
    "a cached property": captured(
        Cached,
        lambda c, n: (vars(c).pop("n", 0), setattr(c, "m", n)),
        lambda x, c: x * c.n,
    ),
    "a tuple of a class": changed_global(
        lambda n: setattr(Class, "sizes", (n, 1)), lambda x: x * Class.sizes[0]
    ),
    "a set of a class": changed_global(
        lambda n: set_items(Class.numbers, n), lambda x: x * sum(Class.numbers)
    ),
    "an object of a class": changed_global(
        lambda n: set_n(Class.holder, n), lambda x: x * Class.holder.n
    ),
    "a static method that is replaced": changed_global(
        lambda n: setattr(Class, "static", staticmethod(lambda v, n=n: v * n)),
        lambda x: Class.static(x) * 1,
    ),
    "a method that is replaced": changed_global(
        lambda n: setattr(Class, "method", lambda self, v, n=n: v * n),
        lambda x: Class().method(x),
    ),
    "a module in a module": changed_global(
        lambda n: setattr(MODULE.inner, "n", n), lambda x: x * MODULE.inner.n
    ),
    "a list that contains itself": changed_argument(
        lambda: [0], lambda s, n: s.__setitem__(slice(None), [n, s]), lambda x, s: x * s[0]
    ),
    "a captured dictionary that contains itself": captured(
        dict, lambda d, n: d.update(n=n, d=d), lambda x, d: x * d["n"]
    ),
}  # fmt: skip

MODULE: Any = types.ModuleType("user_module")
MODULE.inner = types.ModuleType("user_module.inner")


@case
def a_defaultdict(compiled: Decorator) -> list[Any]:
    counts, results = collections.defaultdict(int, a=1), []
    function = compiled(lambda x: x * sum(counts.values()))
    for n, key in enumerate("abcd"):
        set_items(counts, (key, n))
        results += [function(row(1, 2)), *counts]
    return results


# --- Shared memory and replaced tensors -----------------------------------------------------------


def read_then_change(a: mt.Tensor, b: mt.Tensor) -> mt.Tensor:
    """Read `b` before `a` is changed; fusion must not reorder this."""
    before = b * 3
    a.mul_(2)
    return before + a


def arrays_of_one_buffer() -> list[tuple[mt.Tensor, mt.Tensor]]:
    buffer = bytearray(8)
    twice = [mt.from_numpy(np.frombuffer(buffer, np.float32)) for _ in range(2)]
    for each in twice:
        each.fill_(3)
    return [(row(1, 2), row(3, 4)), (twice[0], twice[1])]


OVERLAPS = ((FIRST, FIRST), (FIRST, LAST), (FIRST, MIDDLE), (MIDDLE, MIDDLE), (LAST, FIRST))

CASES |= {
    "views with the same start": called_with(views(*OVERLAPS), lambda a, b: a * 2 + b),
    "views with the same start, changed in place": called_with(views(*OVERLAPS), read_then_change),
    "views that overlap, changed in place": called_with(views(*OVERLAPS[1:]), read_then_change),
    "arrays of one buffer": called_with(arrays_of_one_buffer, read_then_change),
    "a stride of zero": called_with(
        lambda: [(row(1, 2),), (mt.ones(1).expand(2),), (row(1, 2),)], lambda x: x + x.stride(0)
    ),
    "a negative stride": called_with(
        lambda: [(row(1, 2),), (mt.from_numpy(np.float32([1, 2])[::-1]),)],
        lambda x: x * 2 + x.stride(0),
    ),
    "a tensor without elements": called_with(
        lambda: [(mt.zeros(0),), (row(1, 2),), (mt.zeros(0, 3),)], lambda x: x.sum() + x.numel()
    ),
}


def replaced_tensors(
    make: Callable[[int], tuple[mt.Tensor, ...]], read: Callable[[dict[str, Any], mt.Tensor], Any]
) -> Case:
    """Return a case that replaces captured tensors `a` and `b`, and an argument, at each call."""

    def calls(compiled: Decorator) -> list[Any]:
        state: dict[str, Any] = {}
        function, results = compiled(lambda x: read(state, x)), []
        for n in range(10):
            state["a"], state["b"], *rest = make(n)
            results += [function(*rest or [row(n, 2)]).clone(), state["a"].clone(), state["a"].grad]
        return results

    return calls


def weight(*numbers: float, grad: Any = None, hook: Any = None, name: str = "") -> mt.Tensor:
    leaf = row(*numbers).requires_grad_()
    leaf.grad, leaf.name = grad, name
    if hook is not None:
        leaf.register_hook(hook)
    return leaf


def gradient_of_a(state: dict[str, Any], x: mt.Tensor) -> Any:
    (state["a"] * x).sum().backward()
    return state["a"].grad


def sometimes_same(n: int) -> tuple[mt.Tensor, mt.Tensor]:
    a = row(n, 1)
    return a, a if n in (0, 6, 8) else row(n, 2)


CASES |= {
    "weights with gradients and without": replaced_tensors(
        lambda n: (weight(1, n, grad=row(5, 5) if n % 2 else None), row(0)), gradient_of_a
    ),
    "weights with hooks and without": replaced_tensors(
        lambda n: (weight(1, n, hook=(lambda g: g * n) if n > 4 else None), row(0)), gradient_of_a
    ),
    "weights with names": replaced_tensors(
        lambda n: (weight(1, n, name="b" if n > 4 else "a"), row(0)),
        lambda state, x: state["a"] * x * (2 if state["a"].name == "a" else 3),
    ),
    "one captured tensor or two": replaced_tensors(
        sometimes_same, lambda state, x: read_then_change(state["a"], state["b"]) + x
    ),
    "one captured tensor or two, compared by identity": replaced_tensors(
        sometimes_same, lambda state, x: x * (2 if state["a"] is state["b"] else 3) + state["a"]
    ),
    "one captured tensor or two, and an argument": replaced_tensors(
        lambda n: (*sometimes_same(n)[::-1], row(n, 2) if n % 2 else row(n, n)),
        lambda state, x: read_then_change(x, state["a"]),
    ),
    "a captured tensor that is also an argument": replaced_tensors(
        lambda n: (a := row(n, 1), row(0), a if n in (6, 8) else row(n, 2)),
        lambda state, x: read_then_change(x, state["a"]),
    ),
}


def replaced_gradients(
    make: Callable[[int, mt.Tensor], tuple[Any, Any]], read: Callable[..., Any]
) -> Case:
    """Return a case that replaces the gradients of two weights at each call."""

    def calls(compiled: Decorator) -> list[Any]:
        a, b, results = weight(1, 2), weight(3, 4), []
        function = compiled(lambda x: read(a, b, x))
        for n in range(8):
            a.grad, b.grad = make(n, a)
            x = a.grad if n in (4, 6) else row(n, 2)
            result = function(x)
            results += [result, result.requires_grad, a.grad, a.grad is b.grad]
        return [each.clone() if isinstance(each, mt.Tensor) else each for each in results]

    return calls


@mt.no_grad()
def read_then_change_gradients(a: mt.Tensor, b: mt.Tensor, x: mt.Tensor) -> mt.Tensor:
    return read_then_change(a.grad, b.grad) + x


@mt.no_grad()
def read_weight_then_change_gradient(a: mt.Tensor, b: mt.Tensor, x: mt.Tensor) -> mt.Tensor:
    return read_then_change(a.grad, a) + x + b.grad


@mt.no_grad()
def read_gradient_then_change_argument(a: mt.Tensor, b: mt.Tensor, x: mt.Tensor) -> mt.Tensor:
    return read_then_change(x, a.grad)


def accumulate(a: mt.Tensor, b: mt.Tensor, x: mt.Tensor) -> mt.Tensor:
    x = x.detach().clone()
    (a * x + b * x * 2).sum().backward()
    return a.grad + b.grad


def views_of_one(n: int, a: mt.Tensor) -> tuple[Any, Any]:
    base = mt.arange(4.0) * n
    return base[:2], base[n % 3 : n % 3 + 2]


def sometimes_shared(n: int, a: mt.Tensor) -> tuple[Any, Any]:
    grad = row(n, 1)
    return grad, grad if n in (3, 5) else row(n, 2)


CASES |= {
    "one gradient of two weights": replaced_gradients(sometimes_shared, read_then_change_gradients),
    "one gradient of two weights that accumulates": replaced_gradients(
        sometimes_shared, accumulate
    ),
    "a gradient that is also an argument": replaced_gradients(
        lambda n, a: (row(n, 1), None), read_gradient_then_change_argument
    ),
    "a gradient that is a view of its weight": replaced_gradients(
        lambda n, a: (a.detach() if n in (1, 3) else row(n, 2), row(n, 1)),
        read_weight_then_change_gradient,
    ),
    "gradients that are views": replaced_gradients(views_of_one, accumulate),
    "a gradient with a graph": replaced_gradients(
        lambda n, a: ((a * a).detach() if n % 2 else a * a, None), lambda a, b, x: x * a.grad
    ),
}


@case
def the_gradient_of_a_tensor_that_requires_none(compiled: Decorator) -> list[Any]:
    state, results = row(1, 2), []
    function = compiled(lambda x: x * (7 if state.grad is None else state.grad))
    for n in range(4):
        state.grad = row(n, n) if n % 2 else None
        results.append(function(row(1, 2)))
    return results


@case
def a_hook_of_an_argument(compiled: Decorator) -> list[Any]:
    def step(x: mt.Tensor) -> Any:
        (x * 2).sum().backward()
        return x.grad

    function, results = compiled(step), []
    for n in range(4):
        x = weight(1, 2, hook=(lambda g, n=n: g * (n + 3)) if n % 2 else None)
        results.append(function(x))
    return results


# --- Arguments that are views or have a graph, and results ----------------------------------------


def view_argument(change: Callable[[mt.Tensor], Any]) -> Case:
    """Return a case that passes views of one tensor to a function that changes them."""

    def calls(compiled: Decorator) -> list[Any]:
        data, state, results = mt.arange(10.0), {"x": row(0, 0)}, []

        def step(x: mt.Tensor) -> Any:
            state["x"] = x
            return change(x)

        function = compiled(step)
        for n in (3, 1, 2, 0):
            x = data[2 * n : 2 * n + 2]
            x.name = f"{n % 2}"
            results += [function(x), state["x"] is x, x.requires_grad, x.grad, x.name, x]
        return results

    return calls


def argument_with_graph(change: Callable[[mt.Tensor], Any]) -> Case:
    """Return a case that passes arguments with a graph to a function that changes them."""

    def calls(compiled: Decorator) -> list[Any]:
        weight, state, results = row(1, 2).requires_grad_(), {"x": row(0, 0)}, []

        def step(x: mt.Tensor) -> Any:
            state["x"] = x
            return change(x)

        function = compiled(step)
        for n in range(4):
            weight.grad, x = None, weight * 1
            x.name = f"{n % 2}"
            if n % 2:
                x.retain_grad()
                x.sum().backward(retain_graph=True)
            result = function(x)
            (result.sum() + 10 * x.sum()).backward()
            results += [result, state["x"] is x, x, x.name, weight.grad]
        return results

    return calls


def differentiated(x: mt.Tensor) -> Any:
    (x.requires_grad_() * x).sum().backward()
    return x.grad


def with_gradient(x: mt.Tensor) -> mt.Tensor:
    x.grad = x * 2
    return x + 1


def named(x: mt.Tensor) -> mt.Tensor:
    doubled, x.name = x * (2 if x.name == "0" else 3), "new"
    return doubled


CASES |= {
    "a view that is differentiated": view_argument(differentiated),
    "a view that gets a gradient": view_argument(with_gradient),
    "a view that is named": view_argument(named),
    "an argument with a graph that is named": argument_with_graph(named),
    "an argument with a graph that is changed": argument_with_graph(lambda x: x.mul_(3).sum()),
    "an argument with a graph whose view is changed": argument_with_graph(
        lambda x: (x[:1].mul_(3), x.sum())[1]
    ),
    "an argument with a graph and a gradient": argument_with_graph(
        lambda x: x * (7 if x.grad is None else x.grad)
    ),
    "an argument with a graph that gets a hook": argument_with_graph(
        lambda x: (x.register_hook(lambda g: g * 2), x * 3)[1]
    ),
    "a view that is changed afterwards": argument_with_graph(lambda x: x[:1]),
}  # fmt: skip


def used_result(function: Callable[..., Any], use: Callable[..., Any]) -> Case:
    """Return a case that passes results to `use`, for arguments with and without a graph."""

    def calls(compiled: Decorator) -> list[Any]:
        run, results = compiled(function), []
        for n in range(6):
            weight = row(3, n).requires_grad_()
            x = weight * 2 if n % 2 else row(n, 1)
            total = use(run(x), x, weight)
            total.backward()
            results += [total, x, weight.grad]
        return results

    return calls


def both(x: mt.Tensor) -> tuple[mt.Tensor, mt.Tensor]:
    doubled = x * 2
    return doubled, doubled[:1]


CASES |= {
    "a view changed in place": used_result(
        lambda x: x[:1], lambda y, x, w: (y.mul_(w[:1]), x.sum() + w.sum())[1]
    ),
    "a view whose base is changed": used_result(
        lambda x: x[:1], lambda y, x, w: (x.mul_(w), y.sum() + w.sum())[1]
    ),
    "two results that share memory": used_result(
        both, lambda ys, x, w: (ys[0].mul_(w), ys[1].sum() + ys[0].sum())[1]
    ),
}


def inspected_result(
    function: Callable[[mt.Tensor, Any], Any], inspect: Callable[..., Any]
) -> Case:
    """Return a case that inspects more of a result than its elements."""

    def calls(compiled: Decorator) -> list[Any]:
        weight, state = row(1, 2).requires_grad_(), {"w": row(1, 2)}
        run, results = compiled(lambda x, items: function(x * weight, items or state)), []
        for n in range(4):
            items = [row(n, 1)]
            results += inspect(run(row(n, 1), items if n % 2 else None), items, state)
        return results

    return calls


def named_result(x: mt.Tensor) -> mt.Tensor:
    x.name = "x"
    return x


CASES |= {
    "a result that is a list argument": inspected_result(
        lambda x, items: items, lambda result, items, state: [result is items, result is state]
    ),
    "a result that holds a dictionary": inspected_result(
        lambda x, items: [x, items], lambda result, items, state: [result[1] is state]
    ),
    "a result that holds a list twice": inspected_result(
        lambda x, items: [each := [x], each], lambda result, *_: [result[0] is result[1]]
    ),
    "a result with a name": inspected_result(
        lambda x, items: named_result(x), lambda result, *_: [result.name]
    ),
    "a result that retains its gradient": inspected_result(
        lambda x, items: (x.retain_grad(), x)[1],
        lambda result, *_: [(result * result).sum().backward(), result.grad],
    ),
    "a result with a hook": inspected_result(
        lambda x, items: (x.register_hook(lambda g: g * 5), x)[1],
        lambda result, *_: [mt.autograd.grad(result.sum(), result, retain_graph=True)[0]],
    ),
}  # fmt: skip


# --- Hooks, errors, random numbers and threads ----------------------------------------------------


class Counting(mt.Function):
    calls = [0]  # noqa: RUF012 - the case

    @staticmethod
    def forward(ctx: Any, x: mt.Tensor) -> mt.Tensor:
        return x * 1

    @staticmethod
    def backward(ctx: Any, grad: mt.Tensor) -> Any:
        Counting.calls[0] += 1
        return grad * Counting.calls[0]


def backward_outside(function: Callable[[mt.Tensor, list[int]], mt.Tensor]) -> Case:
    """Return a case that differentiates a result, with hooks or a Function that count calls."""

    def calls(compiled: Decorator) -> list[Any]:
        weight, count, results = row(1, 2).requires_grad_(), [0], []
        Counting.calls[0] = 0
        run = compiled(lambda x: function(x * weight, count).sum())
        for n in range(4):
            weight.grad = None
            run(row(n, 1)).backward()
            results += [weight.grad, *count]
        return results

    return calls


def counted(x: mt.Tensor, count: list[int]) -> mt.Tensor:
    def hook(grad: mt.Tensor) -> mt.Tensor:
        count[0] += 1
        return grad * count[0]

    x.register_hook(hook)
    return x


CASES |= {
    "a hook that counts, registered inside": backward_outside(
        lambda x, count: counted(x * 1, count)
    ),
    "a Function that counts": backward_outside(lambda x, _: Counting.apply(x)),
}


@case
def an_error_that_is_handled(compiled: Decorator) -> list[Any]:
    def chosen(x: mt.Tensor, at: mt.Tensor) -> mt.Tensor:
        try:
            return mt.index_select(x, 0, at)
        except IndexError:
            return -x[:1]

    function = compiled(chosen)
    return [function(row(1, 2), mt.tensor([n])) for n in (5, 0, 1, 0)]


@case
def a_matrix_that_is_singular_first(compiled: Decorator) -> list[Any]:
    def factor(x: mt.Tensor) -> mt.Tensor:
        try:
            return mt.linalg.cholesky(x)
        except mt.errors.LinAlgError:
            return -x

    function = compiled(factor)
    return [function(mt.eye(2) * n) for n in (-1, 1, 4)]


@case
def an_error_in_the_first_call(compiled: Decorator) -> list[Any]:
    weight, failing, results = row(1, 2), [0], []

    def step(x: mt.Tensor) -> mt.Tensor:
        weight.add_(1)
        if failing[0]:
            raise ValueError
        return x * weight

    function = compiled(step)
    for failing[0] in (1, 0, 0, 1, 0):
        try:
            results.append(function(row(1, 2)))
        except ValueError:
            results.append(weight.clone())
    return results


def drawn_from_generator(
    draw: Callable[[mt.Generator], mt.Tensor], is_argument: bool = True
) -> Case:
    """Return a case that draws from a generator, which is an argument or captured."""

    def calls(compiled: Decorator) -> list[Any]:
        generator, results = mt.Generator().manual_seed(1), []
        if is_argument:
            function = compiled(lambda x, g: x + draw(g))
        else:
            function = compiled(lambda x, _: x + draw(generator))
        for _ in range(4):
            results += [function(row(0, 0), generator), mt.rand(1, generator=generator)]
        return results

    return calls


def restarted(generator: mt.Generator) -> mt.Tensor:
    state = generator.get_state()
    first = mt.rand(2, generator=generator)
    generator.set_state(state)
    return first + mt.rand(2, generator=generator)


for is_argument in (True, False):
    generator = "a generator argument" if is_argument else "a captured generator"
    CASES |= {
        f"{generator} that is seeded": drawn_from_generator(
            lambda g: mt.rand(2, generator=g.manual_seed(7)), is_argument
        ),
        f"{generator} that is restarted": drawn_from_generator(restarted, is_argument),
        f"a permutation from {generator}": drawn_from_generator(
            lambda g: mt.randperm(2, generator=g), is_argument
        ),
        f"integers from {generator}": drawn_from_generator(
            lambda g: mt.randint(0, 100, (2,), generator=g), is_argument
        ),
        f"normal numbers from {generator}": drawn_from_generator(
            lambda g: mt.randn(2, generator=g), is_argument
        ),
    }


@case
def many_threads(compiled: Decorator) -> list[Any]:
    function, results = compiled(lambda x: (x * 2 + x).sum()), [0.0] * 8

    def work(k: int) -> None:
        results[k] = sum(function(row(k, n)).item() for n in range(20))

    running = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for each in running:
        each.start()
    for each in running:
        each.join()
    return results


@case
def lazy_arguments(compiled: Decorator) -> list[Any]:
    function, results = compiled(lambda x: x * 2 + 1), []
    with mt.lazy():
        arguments = [row(n, 1) * 3 for n in range(4)]
        results += [function(x) for x in arguments[:2]]
    return [*results, *map(function, arguments)]


@case
def lazy_inside(compiled: Decorator) -> list[Any]:
    def step(x: mt.Tensor) -> mt.Tensor:
        with mt.lazy():
            return x * 2 + 1

    function = compiled(step)
    return [function(row(n, 1)) for n in range(4)]


@case
def recursion(compiled: Decorator) -> list[Any]:
    def product(x: mt.Tensor, n: int) -> Any:
        return x if n == 0 else function(x * n, n - 1)

    function = compiled(product)
    return [function(row(1, 2), n) for n in (0, 3, 2, 3)]


@case
def inference_mode(compiled: Decorator) -> list[Any]:
    weight, results = row(1, 2).requires_grad_(), []
    function = compiled(lambda x: x * weight)
    for n in range(4):
        with mt.inference_mode() if n % 2 else mt.enable_grad():
            result = function(row(1, 1))
        results += [result, result.requires_grad]
    return results


@case
def a_second_derivative_inside(compiled: Decorator) -> list[Any]:
    weight = row(1, 2).requires_grad_()

    def step(x: mt.Tensor) -> Any:
        weight.grad = None
        (grad,) = mt.autograd.grad((weight**3 * x).sum(), weight, create_graph=True)
        (grad * grad).sum().backward()
        return weight.grad.clone()  # type: ignore[union-attr]

    function = compiled(step)
    return [function(row(n, 1)) for n in range(4)]


def comparable(value: Any) -> Any:
    """Convert a result to a value that `same` can compare."""
    if isinstance(value, mt.Tensor):
        return value.dtype.name, value.detach().tolist()
    return value


def same(a: Any, b: Any) -> bool:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return a[0] == b[0] and np.allclose(a[1], b[1], 1e-6, 0, equal_nan=True)
    return bool(a == b)


ASYNCHRONOUS_ERRORS = ("an_index_out_of_range", "an_error_that_is_handled")
"""Cases of an index out of range, which a device reports only at a later call."""


@functools.cache
def backend_of(name: str) -> Any:
    """Return a backend; `cuda` runs in its simulator."""
    if name == "numpy":
        return name
    package = pytest.importorskip(f"mt_{name}")
    return package.CudaOps(package.Simulator()) if name == "cuda" else name


@pytest.mark.parametrize(
    ("name", "backend"),
    [
        (name, backend)
        for name in CASES
        for backend in ("numpy", "fast", "cuda")
        if backend != "cuda" or name not in ASYNCHRONOUS_ERRORS
    ],
)
def test_compiled_function_matches_eager_or_raises_when_state_changes(
    name: str, backend: str
) -> None:
    dtype = mt.get_default_dtype()
    with mt.use_backend(backend_of(backend)), warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        cached_tensor.cache_clear()
        expected = [comparable(each) for each in CASES[name](lambda function: function)]
        try:
            results = [comparable(each) for each in CASES[name](mt.compile)]
        except (CompileError, mt.errors.InPlaceError):
            return
        finally:
            mt.set_default_dtype(dtype)
    assert len(results) == len(expected)
    assert all(map(same, expected, results)), (expected, results)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("an iterator", "<lambda> is given an object of type list_iterator"),
        ("a captured iterator", "<lambda> reads 'state', an object of type count"),
        ("a thread local", "an object of type _local"),
        ("an int subclass", "an object of type Subclass"),
        ("weak_reference", "an object of type ReferenceType"),
    ],
)
def test_compile_rejects_objects_that_it_cannot_compare(name: str, message: str) -> None:
    with pytest.raises(CompileError, match=message):
        CASES[name](mt.compile)


def test_static_objects_are_compared_by_identity() -> None:
    numbers = iter([2.0, 3.0])

    @mt.compile(static=[numbers])
    def times(x: mt.Tensor, iterator: Any) -> mt.Tensor:
        return x * next(iterator)

    assert times(row(1.0), numbers).tolist() == [2.0]
    assert times(row(1.0), numbers).tolist() == [2.0]
    with pytest.raises(CompileError, match=r"or declare it static: compile"):
        times(row(1.0), iter([4.0]))


def test_attributes_of_static_objects_are_not_compared() -> None:
    holder = Holder(2.0)

    @mt.compile(static=[holder])
    def times(x: mt.Tensor) -> mt.Tensor:
        return holder.times(x)

    assert times(row(1.0)).tolist() == [2.0]
    holder.n = 3.0
    assert times(row(1.0)).tolist() == [2.0]
    holder = Holder(4.0)
    assert times(row(1.0)).tolist() == [4.0]


def test_tensor_reached_only_through_a_static_object_raises() -> None:
    holder = Holder(row(2.0))
    times = mt.compile(holder.times, static=[holder])
    with pytest.raises(CompileError, match="cannot be reached from its arguments or variables"):
        times(row(1.0))
