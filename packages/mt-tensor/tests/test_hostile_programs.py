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


# --- Constants, containers and objects ------------------------------------------------------------


def set_to(held: Any, *items: Any) -> None:
    """Replace the items of a set or dictionary."""
    held.clear()
    held.update(items)


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
    held = Holder(0)
    numbers: set[int] = set()  # noqa: RUF012 - the case

    @staticmethod
    def static(x: mt.Tensor) -> mt.Tensor:
        return x

    def method(self, x: mt.Tensor) -> mt.Tensor:
        return x


def subclassed(kind: type, *arguments: Any) -> Case:
    """Return the case of an attribute of an instance of a subclass, in an object."""
    own = type("Own", (kind,), {})
    return around(
        lambda: Holder(own(*arguments)), lambda h, n: setattr(h.n, "n", n), lambda x, h: x * h.n.n
    )


def held_by_an_object(
    make: Callable[[], Any], change: Callable[[Any, int], Any], read: Callable[[Any], Any]
) -> Case:
    """Return the case of something that an object holds."""
    return around(
        lambda: Holder(make()), lambda h, n: change(h.n, n), lambda x, h: x * float(read(h.n))
    )


def unchanged(held: Any, n: int) -> None:
    pass


ZEROS = (0.0, -0.0)

CASES |= {
    "a zero of NumPy": with_a(lambda n: np.float32(ZEROS[n % 2]), sign),
    "a complex zero": with_a(lambda n: complex(0, ZEROS[n % 2]), lambda x, z: sign(x, z.imag)),
    "an exponent of Decimal": with_a(lambda n: Decimal(["1.0", "1.00"][n % 2]), length),
    "the end of a range": with_a(lambda n: range(0, 3 + n % 2, 2), lambda x, r: x * r.stop),
    "a kind of key": with_a(lambda n: {[1, True, 1.0][n % 3]: 2}, length),
    "a free zero of NumPy": around(
        lambda: Holder(0),
        lambda h, n: setattr(h, "n", np.float32(ZEROS[n % 2])),
        lambda x, h: sign(x, h.n),
    ),
    "a free exponent of Decimal": around(
        lambda: Holder(0),
        lambda h, n: setattr(h, "n", Decimal(["1.0", "1.00"][n % 2])),
        lambda x, h: length(x, h.n),
    ),
    "a free set": around(set, set_to, lambda x, s: x * sum(s)),
    "a free set of tensors": around(
        set, lambda s, n: set_to(s, row(n, n)), lambda x, s: x * next(iter(s))
    ),
    "a free long set": around(
        lambda: set(range(2000)),
        lambda s, n: (s.discard(n), s.add(5000 + n)),
        lambda x, s: x * sum(s),
    ),
    "a key that is renamed": around(
        lambda: collections.defaultdict(int),
        lambda d, n: set_to(d, ("k" * n, 1)),
        lambda x, d: x * (len(next(iter(d))) + len(d)),
    ),
    "a key that is of another kind": around(
        dict, lambda d, n: set_to(d, ([1, True][n % 2], 1)), length
    ),
    "an array in a tuple": around(
        lambda: (np.zeros(1), 1), lambda t, n: t[0].fill(n), lambda x, t: x * float(t[0][0])
    ),
    "a zero in an array": around(
        lambda: np.zeros(1), lambda a, n: a.fill(ZEROS[n % 2]), lambda x, a: sign(x, a[0])
    ),
    "an array of objects": around(
        lambda: np.array([Holder(0), 1], dtype=object),
        lambda a, n: setattr(a[0], "n", n),
        lambda x, a: x * a[0].n,
    ),
    "an array that the function changes": around(
        lambda: np.zeros(1), unchanged, lambda x, a: x * float(np.add(a, 1, out=a)[0])
    ),
    "an iterator in an object": held_by_an_object(itertools.count, unchanged, next),
    "random numbers in an object": held_by_an_object(
        lambda: random.Random(0), unchanged, random.Random.random
    ),
    "random numbers of NumPy in an object": held_by_an_object(
        lambda: np.random.default_rng(0), unchanged, np.random.Generator.random
    ),
    "bytes in an object": held_by_an_object(
        lambda: bytearray(1), lambda b, n: b.__setitem__(0, n), lambda b: b[0]
    ),
    "a dictionary of a library in an object": held_by_an_object(
        lambda: collections.UserDict(n=0), lambda d, n: d.update(n=n), lambda d: d["n"]
    ),
    "a thread local in an object": held_by_an_object(threading.local, setting_n, lambda v: v.n),
    "an attribute of a dictionary": subclassed(dict),
    "an attribute of a list": subclassed(list),
    "an attribute of a set": subclassed(set),
    "an attribute of an int": subclassed(int),
    "an attribute of an array": around(
        lambda: np.zeros(1).view(type("Own", (np.ndarray,), {})), setting_n, lambda x, a: x * a.n
    ),
    "an attribute of a given list": with_one(
        type("Own", (list,), {}), setting_n, lambda x, s: x * s.n
    ),
    "keywords of a partial": around(
        lambda: functools.partial(lambda v, n=0: v * n),
        lambda p, n: p.keywords.update(n=n),
        lambda x, p: p(x),
    ),
    "what a partial holds": around(
        lambda: functools.partial(lambda n, v: v * n, 0),
        lambda p, n: p.__setstate__((p.func, (n,), {}, {})),
        lambda x, p: p(x),
    ),
    "a default that is replaced": around(
        lambda: lambda v, n=0: v * n,
        lambda f, n: setattr(f, "__defaults__", (n,)),
        lambda x, f: f(x),
    ),
    "code that is replaced": around(
        lambda: lambda v: v * 0,
        lambda f, n: setattr(f, "__code__", [lambda v: v, lambda v: v * 2][n % 2].__code__),
        lambda x, f: f(x),
    ),
    "an attribute of a function": around(
        lambda: lambda v: v,
        lambda f, n: setattr(f, "n", n) if n > 2 else None,
        lambda x, f: x * getattr(f, "n", 1),
    ),
    "the class of an object": around(
        lambda: Holder(1),
        lambda h, n: setattr(h, "__class__", [Holder, OtherHolder][n % 2]),
        lambda x, h: h.times(x),
    ),
    "a method of an object": around(
        lambda: Holder(1),
        lambda h, n: setattr(h, "times", lambda v: v * n),
        lambda x, h: h.times(x),
    ),
    "one slot": around(OneSlot, lambda s, n: setattr(s, "scale", n), lambda x, s: x * s.scale),
    "a private slot": around(PrivateSlot, PrivateSlot.set, lambda x, s: x * s.get()),
    "a cached property": around(
        Cached,
        lambda c, n: (vars(c).pop("n", 0), setattr(c, "m", n)),
        lambda x, c: x * c.n,
    ),
    "a tuple of a class": after(
        lambda n: setattr(Class, "sizes", (n, 1)), lambda x: x * Class.sizes[0]
    ),
    "a set of a class": after(lambda n: set_to(Class.numbers, n), lambda x: x * sum(Class.numbers)),
    "an object of a class": after(lambda n: setting_n(Class.held, n), lambda x: x * Class.held.n),
    "a static method that is replaced": after(
        lambda n: setattr(Class, "static", staticmethod(lambda v, n=n: v * n)),
        lambda x: Class.static(x) * 1,
    ),
    "a method that is replaced": after(
        lambda n: setattr(Class, "method", lambda self, v, n=n: v * n),
        lambda x: Class().method(x),
    ),
    "a module in a module": after(
        lambda n: setattr(MODULE.inner, "n", n), lambda x: x * MODULE.inner.n
    ),
    "a list that contains itself": with_one(
        lambda: [0], lambda s, n: s.__setitem__(slice(None), [n, s]), lambda x, s: x * s[0]
    ),
    "a free dictionary that contains itself": around(
        dict, lambda d, n: d.update(n=n, d=d), lambda x, d: x * d["n"]
    ),
}  # fmt: skip

MODULE: Any = types.ModuleType("of_a_user")
MODULE.inner = types.ModuleType("of_a_user.inner")


@case
def a_default_dictionary(compiled: Decorator) -> list[Any]:
    counts, results = collections.defaultdict(int, a=1), []
    function = compiled(lambda x: x * sum(counts.values()))
    for n, key in enumerate("abcd"):
        set_to(counts, (key, n))
        results += [function(row(1, 2)), *counts]
    return results


# --- Memory that is shared, and tensors that are replaced -----------------------------------------


def moved(a: mt.Tensor, b: mt.Tensor) -> mt.Tensor:
    """Read `b` before `a` is changed; fusion must not move this."""
    before = b * 3
    a.mul_(2)
    return before + a


def of_one_buffer() -> list[tuple[mt.Tensor, mt.Tensor]]:
    buffer = bytearray(8)
    twice = [mt.from_numpy(np.frombuffer(buffer, np.float32)) for _ in range(2)]
    for each in twice:
        each.fill_(3)
    return [(row(1, 2), row(3, 4)), (twice[0], twice[1])]


EVERY_OVERLAP = ((FIRST, FIRST), (FIRST, LAST), (FIRST, MIDDLE), (MIDDLE, MIDDLE), (LAST, FIRST))

CASES |= {
    "parts that begin together": given(parts(*EVERY_OVERLAP), lambda a, b: a * 2 + b),
    "parts that begin together and are changed": given(parts(*EVERY_OVERLAP), moved),
    "parts that overlap and are changed": given(parts(*EVERY_OVERLAP[1:]), moved),
    "arrays of one buffer": given(of_one_buffer, moved),
    "a stride of zero": given(
        lambda: [(row(1, 2),), (mt.ones(1).expand(2),), (row(1, 2),)], lambda x: x + x.stride(0)
    ),
    "a negative stride": given(
        lambda: [(row(1, 2),), (mt.from_numpy(np.float32([1, 2])[::-1]),)],
        lambda x: x * 2 + x.stride(0),
    ),
    "a tensor without elements": given(
        lambda: [(mt.zeros(0),), (row(1, 2),), (mt.zeros(0, 3),)], lambda x: x.sum() + x.numel()
    ),
}


def replaced(
    make: Callable[[int], tuple[mt.Tensor, ...]], read: Callable[[dict[str, Any], mt.Tensor], Any]
) -> Case:
    """Return the case of tensors `a` and `b` that are others at each call, and an argument."""

    def calls(compiled: Decorator) -> list[Any]:
        held: dict[str, Any] = {}
        function, results = compiled(lambda x: read(held, x)), []
        for n in range(10):
            held["a"], held["b"], *rest = make(n)
            results += [function(*rest or [row(n, 2)]).clone(), held["a"].clone(), held["a"].grad]
        return results

    return calls


def weight(*numbers: float, grad: Any = None, hook: Any = None, name: str = "") -> mt.Tensor:
    made = row(*numbers).requires_grad_()
    made.grad, made.name = grad, name
    if hook is not None:
        made.register_hook(hook)
    return made


def learned(held: dict[str, Any], x: mt.Tensor) -> Any:
    (held["a"] * x).sum().backward()
    return held["a"].grad


def sometimes_one(n: int) -> tuple[mt.Tensor, mt.Tensor]:
    a = row(n, 1)
    return a, a if n in (0, 6, 8) else row(n, 2)


CASES |= {
    "weights with gradients and without": replaced(
        lambda n: (weight(1, n, grad=row(5, 5) if n % 2 else None), row(0)), learned
    ),
    "weights with hooks and without": replaced(
        lambda n: (weight(1, n, hook=(lambda g: g * n) if n > 4 else None), row(0)), learned
    ),
    "weights with names": replaced(
        lambda n: (weight(1, n, name="b" if n > 4 else "a"), row(0)),
        lambda held, x: held["a"] * x * (2 if held["a"].name == "a" else 3),
    ),
    "one tensor or two": replaced(sometimes_one, lambda held, x: moved(held["a"], held["b"]) + x),
    "one tensor or two of equal elements": replaced(
        sometimes_one, lambda held, x: x * (2 if held["a"] is held["b"] else 3) + held["a"]
    ),
    "a tensor that is given or not": replaced(
        lambda n: (*sometimes_one(n)[::-1], row(n, 2) if n % 2 else row(n, n)),
        lambda held, x: moved(x, held["a"]),
    ),
    "a tensor that is given": replaced(
        lambda n: (a := row(n, 1), row(0), a if n in (6, 8) else row(n, 2)),
        lambda held, x: moved(x, held["a"]),
    ),
}


def gradients(make: Callable[[int, mt.Tensor], tuple[Any, Any]], read: Callable[..., Any]) -> Case:
    """Return the case of two weights whose gradients are others at each call."""

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
def gradients_moved(a: mt.Tensor, b: mt.Tensor, x: mt.Tensor) -> mt.Tensor:
    return moved(a.grad, b.grad) + x


@mt.no_grad()
def weight_moved(a: mt.Tensor, b: mt.Tensor, x: mt.Tensor) -> mt.Tensor:
    return moved(a.grad, a) + x + b.grad


@mt.no_grad()
def argument_moved(a: mt.Tensor, b: mt.Tensor, x: mt.Tensor) -> mt.Tensor:
    return moved(x, a.grad)


def accumulated(a: mt.Tensor, b: mt.Tensor, x: mt.Tensor) -> mt.Tensor:
    x = x.detach().clone()
    (a * x + b * x * 2).sum().backward()
    return a.grad + b.grad


def parts_of_one(n: int, a: mt.Tensor) -> tuple[Any, Any]:
    whole = mt.arange(4.0) * n
    return whole[:2], whole[n % 3 : n % 3 + 2]


def sometimes_shared(n: int, a: mt.Tensor) -> tuple[Any, Any]:
    grad = row(n, 1)
    return grad, grad if n in (3, 5) else row(n, 2)


CASES |= {
    "gradients that are one": gradients(sometimes_shared, gradients_moved),
    "gradients that accumulate in one": gradients(sometimes_shared, accumulated),
    "a gradient that is given": gradients(lambda n, a: (row(n, 1), None), argument_moved),
    "a gradient that is a view of its weight": gradients(
        lambda n, a: (a.detach() if n in (1, 3) else row(n, 2), row(n, 1)), weight_moved
    ),
    "gradients that are views": gradients(parts_of_one, accumulated),
    "a gradient with a graph": gradients(
        lambda n, a: ((a * a).detach() if n % 2 else a * a, None), lambda a, b, x: x * a.grad
    ),
}


@case
def the_gradient_of_a_tensor_that_requires_none(compiled: Decorator) -> list[Any]:
    held, results = row(1, 2), []
    function = compiled(lambda x: x * (7 if held.grad is None else held.grad))
    for n in range(4):
        held.grad = row(n, n) if n % 2 else None
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


# --- Arguments with a graph or an offset, and results ---------------------------------------------


def of_parts(change: Callable[[mt.Tensor], Any]) -> Case:
    """Return the case of parts of one tensor, to which a function does something."""

    def calls(compiled: Decorator) -> list[Any]:
        data, held, results = mt.arange(10.0), {"x": row(0, 0)}, []

        def step(x: mt.Tensor) -> Any:
            held["x"] = x
            return change(x)

        function = compiled(step)
        for n in (3, 1, 2, 0):
            x = data[2 * n : 2 * n + 2]
            x.name = f"{n % 2}"
            results += [function(x), held["x"] is x, x.requires_grad, x.grad, x.name, x]
        return results

    return calls


def with_a_graph(change: Callable[[mt.Tensor], Any]) -> Case:
    """Return the case of arguments with a graph, to which a function does something."""

    def calls(compiled: Decorator) -> list[Any]:
        weight, held, results = row(1, 2).requires_grad_(), {"x": row(0, 0)}, []

        def step(x: mt.Tensor) -> Any:
            held["x"] = x
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
            results += [result, held["x"] is x, x, x.name, weight.grad]
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
    "a part that is differentiated": of_parts(differentiated),
    "a part that gets a gradient": of_parts(with_gradient),
    "a part that is named": of_parts(named),
    "an argument with a graph that is named": with_a_graph(named),
    "an argument with a graph that is changed": with_a_graph(lambda x: x.mul_(3).sum()),
    "an argument with a graph whose view is changed": with_a_graph(
        lambda x: (x[:1].mul_(3), x.sum())[1]
    ),
    "an argument with a graph and a gradient": with_a_graph(
        lambda x: x * (7 if x.grad is None else x.grad)
    ),
    "an argument with a graph that gets a hook": with_a_graph(
        lambda x: (x.register_hook(lambda g: g * 2), x * 3)[1]
    ),
    "a view that is changed afterwards": with_a_graph(lambda x: x[:1]),
}  # fmt: skip


def result_used(function: Callable[..., Any], use: Callable[..., Any]) -> Case:
    """Return the case of results that are changed, with an argument that has a graph or not."""

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
    "a view changed in place": result_used(
        lambda x: x[:1], lambda y, x, w: (y.mul_(w[:1]), x.sum() + w.sum())[1]
    ),
    "a view whose base is changed": result_used(
        lambda x: x[:1], lambda y, x, w: (x.mul_(w), y.sum() + w.sum())[1]
    ),
    "two results that share memory": result_used(
        both, lambda ys, x, w: (ys[0].mul_(w), ys[1].sum() + ys[0].sum())[1]
    ),
}


def result_seen(function: Callable[[mt.Tensor, Any], Any], look: Callable[..., Any]) -> Case:
    """Return the case of something besides the elements of a result."""

    def calls(compiled: Decorator) -> list[Any]:
        weight, state = row(1, 2).requires_grad_(), {"w": row(1, 2)}
        run, results = compiled(lambda x, given: function(x * weight, given or state)), []
        for n in range(4):
            given = [row(n, 1)]
            results += look(run(row(n, 1), given if n % 2 else None), given, state)
        return results

    return calls


def named_result(x: mt.Tensor) -> mt.Tensor:
    x.name = "x"
    return x


CASES |= {
    "a result that is a given list": result_seen(
        lambda x, given: given, lambda result, given, state: [result is given, result is state]
    ),
    "a result that holds a dictionary": result_seen(
        lambda x, given: [x, given], lambda result, given, state: [result[1] is state]
    ),
    "a result that holds a list twice": result_seen(
        lambda x, given: [each := [x], each], lambda result, *_: [result[0] is result[1]]
    ),
    "a result with a name": result_seen(
        lambda x, given: named_result(x), lambda result, *_: [result.name]
    ),
    "a result that retains its gradient": result_seen(
        lambda x, given: (x.retain_grad(), x)[1],
        lambda result, *_: [(result * result).sum().backward(), result.grad],
    ),
    "a result with a hook": result_seen(
        lambda x, given: (x.register_hook(lambda g: g * 5), x)[1],
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


def differentiated_outside(function: Callable[[mt.Tensor, list[int]], mt.Tensor]) -> Case:
    """Return the case of a result that is differentiated, with hooks that count their calls."""

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
    "a hook inside that counts": differentiated_outside(lambda x, count: counted(x * 1, count)),
    "a Function that counts": differentiated_outside(lambda x, _: Counting.apply(x)),
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


def of_a_generator(draw: Callable[[mt.Generator], mt.Tensor], is_given: bool = True) -> Case:
    """Return the case of a generator that is given, or a variable."""

    def calls(compiled: Decorator) -> list[Any]:
        generator, results = mt.Generator().manual_seed(1), []
        if is_given:
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


for is_given in (True, False):
    of = "a given generator" if is_given else "a free generator"
    CASES |= {
        f"{of} that is seeded": of_a_generator(
            lambda g: mt.rand(2, generator=g.manual_seed(7)), is_given
        ),
        f"{of} that is restarted": of_a_generator(restarted, is_given),
        f"an order of {of}": of_a_generator(lambda g: mt.randperm(2, generator=g), is_given),
        f"integers of {of}": of_a_generator(
            lambda g: mt.randint(0, 100, (2,), generator=g), is_given
        ),
        f"numbers of {of}": of_a_generator(lambda g: mt.randn(2, generator=g), is_given),
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
        made = [row(n, 1) * 3 for n in range(4)]
        results += [function(x) for x in made[:2]]
    return [*results, *map(function, made)]


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
def inference(compiled: Decorator) -> list[Any]:
    weight, results = row(1, 2).requires_grad_(), []
    function = compiled(lambda x: x * weight)
    for n in range(4):
        with mt.inference_mode() if n % 2 else mt.enable_grad():
            result = function(row(1, 1))
        results += [result, result.requires_grad]
    return results


@case
def a_gradient_of_a_gradient_inside(compiled: Decorator) -> list[Any]:
    weight = row(1, 2).requires_grad_()

    def step(x: mt.Tensor) -> Any:
        weight.grad = None
        (grad,) = mt.autograd.grad((weight**3 * x).sum(), weight, create_graph=True)
        (grad * grad).sum().backward()
        return weight.grad.clone()  # type: ignore[union-attr]

    function = compiled(step)
    return [function(row(n, 1)) for n in range(4)]


def plain(value: Any) -> Any:
    """Return a result as a value that can be compared."""
    if isinstance(value, mt.Tensor):
        return value.dtype.name, value.detach().tolist()
    return value


def same(a: Any, b: Any) -> bool:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return a[0] == b[0] and np.allclose(a[1], b[1], 1e-6, 0, equal_nan=True)
    return bool(a == b)


REPORTED_LATER = ("an_index_out_of_range", "an_error_that_is_handled")
"""Cases of an index that is out of range, which a device reports at a later call."""


@functools.cache
def backend_of(name: str) -> Any:
    """Return a backend; `cuda` runs on its simulator."""
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
        if backend != "cuda" or name not in REPORTED_LATER
    ],
)
def test_what_varies_between_calls_is_seen_or_refused(name: str, backend: str) -> None:
    dtype = mt.get_default_dtype()
    with mt.use_backend(backend_of(backend)), warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        kept.cache_clear()
        expected = [plain(each) for each in CASES[name](lambda function: function)]
        try:
            results = [plain(each) for each in CASES[name](mt.compile)]
        except (CompileError, mt.errors.InPlaceError):
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
    with pytest.raises(CompileError, match=r"or declare it static: compile"):
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
