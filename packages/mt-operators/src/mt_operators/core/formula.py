"""What an operator is: a function of scalars and its partial derivatives.

A function computes and, on symbols, leaves its graph; with its derivatives it is an operator.
`Operator` is a row of the table. `Formula` is what a backend is asked to run over whole arrays: an
operator's value, or all of its gradients at once (the *fused backward*: one pass that reads the
upstream gradient, the arguments and the output, and writes every gradient that is needed).
"""

from __future__ import annotations

import inspect
import keyword
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

from mt_operators.core.elementary import where
from mt_operators.core.errors import OperatorError

if TYPE_CHECKING:
    from mt_operators.core.graph import Graph

Source = Callable[..., Any]
"""A pure function of scalars, written with arithmetic, comparisons, `&`, `|` and the functions of
`mt_operators.core.elementary`."""

Result = Literal["number", "real", "truth", "whole"]
"""What an operator yields: a number like its arguments, a real number, a truth value, or a whole
number, which its arguments must be then too."""

Interval = tuple[float, float]
"""The lowest and the highest of the numbers between which an argument may lie."""

EVERYWHERE: Interval = (-math.inf, math.inf)
"""The interval of all numbers."""


class Formula:
    """A named pure function of scalars: what backends run over whole arrays.

    Attributes:
        name: unique among formulas of the same source, for messages and kernel names.
        arity: how many scalars it takes.
        outputs: how many it returns; one is returned bare, several as a tuple.
        function: the function, which computes on floats and asks other values.
    """

    __slots__ = ("_graph", "_parameters", "arity", "function", "name", "outputs")

    def __init__(
        self,
        name: str,
        arity: int,
        outputs: int,
        function: Source,
        parameters: Sequence[str] = (),
    ) -> None:
        """Name a function; `parameters` are for one that has no names for its arguments."""
        self.name = name
        self.arity = arity
        self.outputs = outputs
        self.function = function
        self._parameters = tuple(parameters)
        self._graph: Graph | None = None

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the arguments, for those who read kernels."""
        if not self._parameters:
            names = parameters_of(self.function)
            fit = len(names) == self.arity
            self._parameters = names if fit else tuple(f"x{i}" for i in range(self.arity))
        return self._parameters

    @property
    def graph(self) -> Graph:
        """What is computed, as a graph of operators of the table; traced when first asked for.

        Raises:
            TracingError: the function leaves no graph, for example because it branches on a value.
        """
        if self._graph is None:
            from mt_operators.core.tracing import trace  # when first needed only

            outputs = self.outputs if self.outputs > 1 else None
            self._graph = trace(self.name, self.function, self.arity, outputs)
        return self._graph

    def narrowed(self, always: Iterable[int] = (0,)) -> tuple[Formula, tuple[int, ...]]:
        """Return a formula that takes only the arguments that this one reads, and which these are.

        A gradient takes the upstream gradient, all arguments of its operator and the output, but
        seldom reads them all: that of a product does not read the output.

        Args:
            always: arguments that stay even if they are not read. One does, for without arguments
                nothing says how many elements there are.
        """
        reads = tuple(sorted({*always, *self.graph.reads}))
        indices = [reads.index(i) if i in reads else None for i in range(self.arity)]
        function = self.function

        def reading(*operands: Any) -> Any:
            return function(*[0.0 if i is None else operands[i] for i in indices])

        names = [self.parameters[i] for i in reads]
        return Formula(self.name, len(reads), self.outputs, reading, names), reads

    def __repr__(self) -> str:
        """Show the name and the numbers of arguments and results."""
        return f"Formula({self.name!r}, arity={self.arity}, outputs={self.outputs})"


def zero(*_: Any) -> float:
    """Partial derivative of an argument that the value does not vary with."""
    return 0.0


def one(*_: Any) -> float:
    """Partial derivative of an argument that the value follows one to one."""
    return 1.0


def scaled(upstream: float, slope: float) -> float:
    """Return the share of the upstream gradient that an argument gets: the chain rule."""
    return upstream * slope


def gated(upstream: float, slope: float) -> float:
    """Return the same, but nothing where the slope is 0, though the gradient may be infinite."""
    return where(slope == 0.0, 0.0, upstream * slope)


_TAKES_MORE = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
"""Marks the code of a function that takes `*args` or `**options`."""


def parameters_of(function: Source) -> tuple[str, ...]:
    """Return the names of a function's arguments."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None or code.co_kwonlyargcount or code.co_flags & _TAKES_MORE:
        return tuple(inspect.signature(function).parameters)
    names: tuple[str, ...] = code.co_varnames[: code.co_argcount]  # at a tenth of the time
    return names


KINDS: dict[str, tuple[Any, str]] = {
    **dict.fromkeys(
        ("gates", "chooses", "takes_integers", "closed", "takes_bool", "in_place"),
        (bool, "True or False"),
    ),
    "for_bool": (str, "the name of an operator"),
    "aliases": (tuple, "a tuple of names"),
    "identity": (int | float | None, "a number, or None"),
    "note": (str, "a line of text"),
}
"""What some attributes of an operator must be: their types, and in words."""


class Operator:
    """One row of the operator table.

    Attributes:
        name: the field's standard name, and torch's where torch has one.
        function: the value, from `arity` scalars.
        partials: the partial derivative for each argument, from the arguments and the output:
            for `tanh`, `lambda x, out: 1.0 - out * out`. At a kink it is the stated convention.
        domain: for each argument, the interval in which the operator has a value; all numbers if
            not given. At an end the value may be infinite, beyond it it is nan.
        result: `"number"` keeps integers integers, `"real"` makes them floating point, `"truth"`
            yields a truth value, and `"whole"` takes and yields whole numbers only.
        gates: whether the partial derivatives only say which arguments the value comes from, as
            those of `maximum` do. An argument that it does not come from has gradient 0 then, also
            where the upstream gradient is infinite.
        identity: the value that leaves the other argument unchanged, for operators that can
            reduce an empty axis; None for the others.
        chooses: whether the first argument is a condition, by which it chooses.
        takes_integers: whether integers stay what they are; else they are made floating point.
        closed: whether any two integers have an integer as result, as they have not if they are
            divided and the second is 0. If not, stage 2 checks integers before it computes.
        takes_bool: whether truth values are taken.
        for_bool: the operator of truth values that is taken in place of this one or, where truth
            values are refused, that is recommended.
        in_place: whether tensors have a form that stores the result in the first argument.
        aliases: other names of it.
        note: one line for the documentation: meaning, formula, convention at kinks.
        parameters: the names of the arguments.

    Raises:
        OperatorError: name or result cannot be one, or function, partial derivatives and domain
            do not fit each other.
    """

    def __init__(
        self,
        name: str,
        function: Source,
        partials: tuple[Source, ...],
        domain: tuple[Interval, ...] = (),
        result: Result = "number",
        gates: bool = False,
        identity: float | None = None,
        chooses: bool = False,
        takes_integers: bool = True,
        closed: bool = True,
        takes_bool: bool = True,
        for_bool: str = "",
        in_place: bool = True,
        aliases: tuple[str, ...] = (),
        note: str = "",
    ) -> None:
        self.name = name
        self.function = function
        self.partials = partials
        self.domain = domain or (EVERYWHERE,) * len(partials)
        self.result = result
        self.gates = gates
        self.identity = identity
        self.chooses = chooses
        self.takes_integers = takes_integers
        self.closed = closed
        self.takes_bool = takes_bool
        self.for_bool = for_bool
        self.in_place = in_place
        self.aliases = aliases
        self.note = note
        try:
            self.parameters = parameters_of(function)
        except (TypeError, ValueError):
            raise OperatorError(
                f"operator {name!r}: its function is {function!r}; give a function of numbers."
            ) from None
        self._formulas: dict[Any, Formula] = {}
        for problem in self._problems():
            raise OperatorError(f"operator {name!r}: {problem}.")

    def __repr__(self) -> str:
        """Show the name and what it means."""
        return f"Operator({self.name!r}, {self.note!r})"

    def _problems(self) -> Iterator[str]:
        """Yield what is wrong, and what to do."""
        name: object = self.name
        if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
            yield "this cannot be an operator's name; give a Python identifier"
        if self.result not in get_args(Result):
            yield f"its result is {self.result!r}; give one of {', '.join(get_args(Result))}"
        for attribute, (kinds, wanted) in KINDS.items():
            value: object = getattr(self, attribute)
            if not isinstance(value, kinds):
                yield f"its {attribute} is {value!r}; give {wanted}"
        yield from self._miscounted()

    def _miscounted(self) -> Iterator[str]:
        """Yield what there is too little or too much of, or what no interval is."""
        count = len(self.parameters)
        if not count:
            yield "its function takes no argument; give one of a number at least"
        intervals: Any = self.domain
        if not all(isinstance(each, tuple) and len(each) == 2 for each in intervals):
            yield f"its domain is {intervals!r}; give a pair (low, high) for each argument"
            return
        for what, things in (
            ("partial derivative(s)", self.partials),
            ("interval(s) as its domain", self.domain),
        ):
            if count != len(things):
                yield (
                    f"its function takes {count} argument(s) but {len(things)} {what} were given; "
                    "give one for each"
                )
        for low, high in self.domain:
            if not low < high:
                yield f"its domain holds nothing between {low} and {high}; give the lower end first"

    @property
    def arity(self) -> int:
        """How many arguments the operator takes."""
        return len(self.partials)

    @property
    def value(self) -> Formula:
        """The formula of the operator's value."""
        if "value" not in self._formulas:
            self._formulas["value"] = Formula(self.name, self.arity, 1, self.function)
        return self._formulas["value"]

    def gradient(self, needed: tuple[bool, ...]) -> Formula:
        """Return the fused backward: upstream gradient, arguments, output -> gradients.

        Args:
            needed: for each argument, whether its gradient is wanted; at least one is.
        """
        if needed not in self._formulas:
            wanted = tuple(
                partial for partial, need in zip(self.partials, needed, strict=True) if need
            )
            which = "".join(str(i) for i, need in enumerate(needed) if need)
            self._formulas[needed] = Formula(
                f"{self.name}_gradient_{which}",
                self.arity + 2,
                len(wanted),
                _fused(self.share, wanted),
                (
                    _unlike("upstream", self.parameters),
                    *self.parameters,
                    _unlike("output", self.parameters),
                ),
            )
        return self._formulas[needed]

    @property
    def share(self) -> Source:
        """The chain rule: from the upstream gradient and a slope, the share of an argument."""
        return gated if self.gates else scaled


def _unlike(name: str, taken: Sequence[str]) -> str:
    """Return a name for an argument that no other has: a gradient may be differentiated, too."""
    while name in taken:
        name += "_"
    return name


def _fused(share: Source, partials: tuple[Source, ...]) -> Source:
    """Return the chain rule for these partial derivatives, as one function."""

    def part(partial: Source, upstream: Any, known: Sequence[Any]) -> Any:
        # A derivative of 0 everywhere leaves nothing of an infinite upstream gradient either.
        return 0.0 if partial is zero else share(upstream, partial(*known))

    if len(partials) == 1:
        (partial,) = partials
        return lambda upstream, *known: part(partial, upstream, known)
    return lambda upstream, *known: tuple(part(p, upstream, known) for p in partials)
