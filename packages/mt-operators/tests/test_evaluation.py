"""Dispatch to operands, and evaluation of graphs."""

import math

import pytest

from mt_operators import OPERATORS, Formula, TracingError
from mt_operators.core.elementary import exp, where
from mt_operators.core.infix import Infix
from mt_operators.core.lowering import evaluate
from mt_operators.core.tracing import graph_of
from mt_operators.functions import atan2


class Operand(Infix):
    """An operand whose operators return their name and their operands."""

    def __operator__(self, name, operands):
        return name, operands


def test_functions_dispatch_to_operands_and_compute_numbers():
    x = Operand()
    assert exp(x) == ("exp", (x,))
    assert atan2(1.0, x) == ("atan2", (1.0, x))
    assert where(x, 2, 3.0) == ("where", (x, 2, 3.0))
    assert OPERATORS["sigmoid"].function(x) == ("sigmoid", (x,))
    assert exp(0) == exp(0.0) == exp(False) == 1.0


def test_python_operators_dispatch_by_names_of_the_table():
    x = Operand()
    assert x + 1 == ("add", (x, 1))
    assert 1 - x == ("sub", (1, x))
    assert 2.0**x == ("pow", (2.0, x))
    assert 7 // x == ("floor_divide", (7, x))
    assert divmod(x, 7) == (("floor_divide", (x, 7)), ("remainder", (x, 7)))
    assert divmod(7, x) == (("floor_divide", (7, x)), ("remainder", (7, x)))
    assert (x < 1) == ("lt", (x, 1))
    assert (x == 1) == ("eq", (x, 1))
    assert (True & x) == ("logical_and", (True, x))
    assert abs(x) == ("abs", (x,))
    assert +x is x


def test_lowering_requires_elementary_operators_and_can_override_others():
    sigmoid = OPERATORS["sigmoid"].function
    graph = graph_of(Formula("twice", 1, 1, lambda x: 2.0 * sigmoid(x)))
    assert evaluate(graph, [0.0]) == [1.0]
    assert evaluate(graph, [0.0], {"sigmoid": lambda x: x + 4.0}) == [8.0]
    with pytest.raises(TracingError, match="no 'exp'.*'exp2'"):
        evaluate(graph, [0.0], {"exp2": math.exp2})
