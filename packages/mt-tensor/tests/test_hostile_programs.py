"""`compile` and state that changes between calls: results are those of eager calls, or an error.

Each case calls a function several times, while something that the function depends on changes. It
gets a decorator, which is `mt.compile` or does nothing, and returns the results of the calls.
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
"""Enough calls for new objects to get the addresses of earlier ones."""


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
    """Return the case of an argument that is a new object at each call."""

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
    """Return a factory of instances of a subclass with an attribute."""
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


# --- State besides the arguments ------------------------------------------------------------------

SCALE = 1.0


def scaled(x: mt.Tensor) -> mt.Tensor:
    return x * SCALE


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Twice:
    """A descriptor."""

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


class EqualToAll:
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
def kept() -> mt.Tensor:
    return row(store["v"], 1)


def multiplied_by(n: int) -> Callable[[mt.Tensor], mt.Tensor]:
    def multiplied(x: mt.Tensor) -> mt.Tensor:
        return x * n

    return multiplied


def global_scale(n: int) -> None:
    globals()["SCALE"] = float(n)


def class_attribute(n: int) -> None:
    Shared.n, Doubled.factor = n, float(n)


def cleared_cache(n: int) -> None:
    store["v"] = n
    kept.cache_clear()


def after(change: Callable[[int], None], read: Callable[[mt.Tensor], mt.Tensor]) -> Case:
    """Return the case of state that is changed between calls, and is no argument."""

    def calls(compiled: Decorator) -> list[Any]:
        function, results = compiled(read), []
        for n in range(CALLS):
            change(n)
            results.append(function(row(n, 1)))
        return results

    return calls


CASES |= {
    "a global variable of a helper": after(global_scale, scaled),
    "a class attribute": after(class_attribute, lambda x: x * Shared.n),
    "a class method": after(class_attribute, lambda x: x * Shared.by_class()),
    "a static method": after(class_attribute, lambda x: x * Shared.static()),
    "a class attribute of a Function": after(class_attribute, lambda x: Doubled.apply(x) * 1),
    "a cached tensor": after(cleared_cache, lambda x: x * kept()),
    "a descriptor": around(
        Described, lambda d, n: setattr(d, "hidden", n), lambda x, d: x * d.twice
    ),
    "a dynamic attribute": around(Dynamic, lambda d, n: d.values.update(n=n), lambda x, d: x * d.n),
    "a property": around(Summed, lambda s, n: s.items.append(n), lambda x, s: x * s.n),
    "a long list": around(
        lambda: [0.0] * 2000, lambda d, n: d.__setitem__(3, float(n)), lambda x, d: x * d[3]
    ),
    "a long dictionary": around(
        lambda: dict.fromkeys(range(2000), 0), lambda d, n: d.update({3: n}), lambda x, d: x * d[3]
    ),
    "a large array": around(
        lambda: np.zeros(5000), lambda a, n: a.fill(n), lambda x, a: x * float(a[3])
    ),
    "an array that a tensor shares": around(
        lambda: (array := np.zeros(2, np.float32), mt.from_numpy(array)),
        lambda both, n: both[0].fill(n),
        lambda x, both: x * both[1],
    ),
    "a given long list": with_one(
        lambda: [0.0] * 2000, lambda d, n: d.__setitem__(3, float(n)), lambda x, d: x * d[3]
    ),
    "a member of an enum": with_a(
        lambda n: [Colour.RED, Colour.BLUE][n % 2], lambda x, c: x * c.value
    ),
    "an object equal to all": with_a(EqualToAll, lambda x, o: x * o.n),
    "a key equal to all": with_a(lambda n: {EqualToAll(n): 1}, lambda x, d: x * next(iter(d)).n),
    "a range": with_a(lambda n: range(n + 1), lambda x, r: x * len(r)),
    "a slice": with_a(lambda n: slice(n % 2, None), lambda x, s: x[s] * 1),
    "an ellipsis": with_a(lambda n: [..., slice(None, 1)][n % 2], lambda x, i: x[i] * 1),
    "bytes": with_a(lambda n: bytes([n]), lambda x, b: x * b[0]),
    "a memory view": with_a(lambda n: memoryview(bytes([n])), lambda x, m: x * m[0]),
    "a complex number": with_a(lambda n: complex(n, 1), lambda x, c: x * c.real),
    "nested containers": with_a(
        lambda n: ((n, [n + 1]), {"a": n}), lambda x, t: x * (t[0][1][0] + t[1]["a"])
    ),
    "a chain of dictionaries": with_a(
        lambda n: collections.ChainMap({"a": n}), lambda x, c: x * c["a"]
    ),
    "a dictionary of a library": with_a(
        lambda n: collections.UserDict(a=n), lambda x, c: x * c["a"]
    ),
    "a dtype": with_a(lambda n: [mt.float32, mt.float64][n % 2], lambda x, d: x.to(d) * 1),
    "a shape": with_a(lambda n: mt.ones(n + 1, 2).shape, lambda x, s: x * s[0]),
    "a Python module": with_a(
        lambda n: [math, types][n % 2], lambda x, m: x * (2 if m is math else 3)
    ),
    "a function of Python": with_a(lambda n: [len, sum][n % 2], lambda x, f: x * f([3, 4])),
    "a function of a function": with_a(multiplied_by, lambda x, f: f(x)),
    "a float that is asked for its type": with_a(
        float, lambda x, n: x * n if type(n) is float else -x
    ),
    "a float among instances": with_a(float, lambda x, n: x * n if isinstance(n, float) else -x),
    "a float that mathematics reads": with_a(float, lambda x, n: x * math.sqrt(n)),
    "a name": with_one(
        lambda: row(1, 2),
        lambda w, n: setattr(w, "name", "ab"[n % 2]),
        lambda x, w: x * w * (2 if w.name == "a" else 3),
    ),
    "a number of dimensions": with_a(lambda n: mt.ones(n + 1), lambda x, w: x.sum() * len(w)),
    "a keyword": with_a(lambda n: n, lambda x, n, m=3: x * n + m),
}


def given(calls: Callable[[], list[tuple[Any, ...]]], function: Callable[..., Any]) -> Case:
    """Return the case of a function that is called with each of these arguments."""

    def called(compiled: Decorator) -> list[Any]:
        run = compiled(function)
        return [mt.Tensor.clone(run(*arguments)) for arguments in calls()]

    return called


def parts(*slices: tuple[slice, ...]) -> Callable[[], list[tuple[Any, ...]]]:
    """Return a function that returns slices of one tensor, the arguments of each call."""

    def calls() -> list[tuple[Any, ...]]:
        x = row(1, 2, 3, 4)
        return [tuple(x[each] for each in every) for every in slices]

    return calls


def doubled_first(a: mt.Tensor, b: mt.Tensor) -> mt.Tensor:
    a.mul_(2)
    return a + b


FIRST, MIDDLE, LAST = slice(0, 2), slice(1, 3), slice(2, 4)

CASES |= {
    "parts that overlap": given(
        parts((FIRST, LAST), (FIRST, MIDDLE), (FIRST, FIRST), (MIDDLE, LAST)), doubled_first
    ),
    "one object or two": given(
        lambda: [(x := row(1, 2), x), (x, row(3, 4)), (x, x[:]), (x, x)],
        lambda a, b: a * 2 if a is b else a * 3,
    ),
    "one object or two in a list": given(
        lambda: [([x := row(1, 2), x],), ([x, row(3, 4)],), ([x, x],)],
        lambda xs: xs[0] * 2 if xs[0] is xs[1] else xs[0] * 3,
    ),
    "a place in memory": given(
        parts((FIRST,), (MIDDLE,), (LAST,)), lambda x: x * x.storage_offset()
    ),
    "strides": given(
        lambda: [
            (x := mt.arange(6.0).view(2, 3),), (x.T,), (x[:, ::2],), (x[1:],), (x,), (x[:, 1:],)
        ],
        lambda x: x.view(-1) if x.is_contiguous() else -x.reshape(-1),
    ),
    "dtypes": given(
        lambda: [(row(1, 2).to(each),) for each in (mt.float32, mt.float64, mt.int64, mt.float32)],
        lambda x: x * 2 + mt.ones(2),
    ),
    "nothing or a tensor": given(
        lambda: [(row(1, 2),), (row(1, 2), row(2, 2)), (row(1, 2), None), (row(1, 2), 0)],
        lambda x, m=None: x if m is None else x * m,
    ),
    "a number of arguments": given(
        lambda: [(row(1, 2),), (row(1, 2), row(3, 4)), (row(1, 2),)],
        lambda *xs: sum(xs, row(0, 0)) * len(xs),
    ),
    "a leaf or not": given(
        lambda: [(x := row(1, 2).requires_grad_(),), (x * 1,), (x.detach(),), (x,)],
        lambda x: x * (2 if x.is_leaf else 3),
    ),
    "depth of a recursion": given(
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
def the_random_sequence(compiled: Decorator) -> list[Any]:
    function, results = compiled(lambda x: x + mt.rand(2) * mt.randn(2)), []
    for seed in (4, 5, 4):
        mt.manual_seed(seed)
        results += [function(row(1, 2)) for _ in range(3)]
    return results


@case
def recording(compiled: Decorator) -> list[Any]:
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
def a_compiled_function_within(compiled: Decorator) -> list[Any]:
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


def weighted(change: Callable[[dict[str, Any], int], None]) -> Case:
    """Return the case of a weight that changes between calls that compute its gradient."""

    def calls(compiled: Decorator) -> list[Any]:
        held: dict[str, Any] = {"w": row(1, 2).requires_grad_()}

        def step(x: mt.Tensor) -> Any:
            weight = held["w"]
            weight.grad = None
            loss = (weight * x * (2 if weight.requires_grad else 3)).sum()
            if weight.requires_grad:
                loss.backward()
            return loss.detach() if weight.grad is None else weight.grad.clone()

        function, results = compiled(step), []
        for n in range(CALLS):
            change(held, n)
            results.append(function(row(n, 1)))
        return results

    return calls


@mt.no_grad()
def overwritten(held: dict[str, Any], n: int) -> None:
    held["w"].copy_(row(n, n))


CASES |= {
    "elements of a weight": weighted(overwritten),
    "another weight": weighted(lambda held, n: held.update(w=row(n, n).requires_grad_())),
    "a weight that is frozen": weighted(lambda held, n: held["w"].requires_grad_(n % 2 == 0)),
}


def before_backward(change: Callable[[mt.Tensor, mt.Tensor], Any]) -> Case:
    """Return the case of memory that is changed between forward and backward."""

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
                results.append("refused")
        return results

    return calls


CASES |= {
    "a batch changed before backward": before_backward(lambda data, _: data.add_(1)),
    "a weight changed before backward": before_backward(lambda _, weight: weight.add_(1)),
    "another part changed before backward": before_backward(lambda data, _: data[5].add_(1)),
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
def a_gradient_that_is_kept(compiled: Decorator) -> list[Any]:
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
def a_weight_that_is_also_given(compiled: Decorator) -> list[Any]:
    weight = row(1, 2).requires_grad_()

    def step(x: mt.Tensor) -> mt.Tensor:
        with mt.no_grad():
            weight.add_(1)
        return (x * weight).sum()

    function = compiled(step)
    return [function(weight.detach()), function(row(3, 4)), function(weight.detach())]


def plain(value: Any) -> Any:
    """Return a result as a value that can be compared."""
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
    dtype = mt.get_default_dtype()
    with mt.use_backend(backend), warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        kept.cache_clear()
        expected = [plain(each) for each in CASES[name](lambda function: function)]
        try:
            results = [plain(each) for each in CASES[name](mt.compile)]
        except CompileError:
            return
        finally:
            mt.set_default_dtype(dtype)
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


def test_static_objects_are_compared_by_identity() -> None:
    numbers = iter([2.0, 3.0])

    @mt.compile(static=[numbers])
    def times(x: mt.Tensor, given: Any) -> mt.Tensor:
        return x * next(given)

    assert times(row(1.0), numbers).tolist() == [2.0]
    assert times(row(1.0), numbers).tolist() == [2.0]
    with pytest.raises(CompileError, match="If it does not change, promise that"):
        times(row(1.0), iter([4.0]))


def test_static_variables_are_not_compared() -> None:
    held = Holder(2.0)

    @mt.compile(static=[held])
    def times(x: mt.Tensor) -> mt.Tensor:
        return held.times(x)

    assert times(row(1.0)).tolist() == [2.0]
    held.n = 3.0
    assert times(row(1.0)).tolist() == [2.0]
    held = Holder(4.0)
    assert times(row(1.0)).tolist() == [4.0]


def test_tensors_that_only_static_objects_lead_to_are_refused() -> None:
    held = Holder(row(2.0))
    times = mt.compile(held.times, static=[held])
    with pytest.raises(CompileError, match="neither its arguments nor its variables lead"):
        times(row(1.0))
