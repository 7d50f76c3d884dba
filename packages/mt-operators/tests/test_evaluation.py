"""Values that are asked, and graphs that are evaluated."""

import math

import pytest

from mt_operators import OPERATORS, Formula, TracingError
from mt_operators.core.elementary import exp, where
from mt_operators.core.infix import Infix
from mt_operators.core.lowering import evaluate
from mt_operators.core.tracing import graph_of
from mt_operators.functions import atan2


class Asked(Infix):
    """Answers with what it was asked for."""

    def __operator__(self, name, operands):
        return name, operands


def test_any_operand_is_asked_and_numbers_are_computed():
    asked = Asked()
    assert exp(asked) == ("exp", (asked,))
    assert atan2(1.0, asked) == ("atan2", (1.0, asked))
    assert where(asked, 2, 3.0) == ("where", (asked, 2, 3.0))
    assert OPERATORS["sigmoid"].function(asked) == ("sigmoid", (asked,))
    assert exp(0) == exp(0.0) == exp(False) == 1.0


def test_python_asks_by_the_names_of_the_table():
    asked = Asked()
    assert asked + 1 == ("add", (asked, 1))
    assert 1 - asked == ("sub", (1, asked))
    assert 2.0**asked == ("pow", (2.0, asked))
    assert 7 // asked == ("floor_divide", (7, asked))
    assert divmod(asked, 7) == (("floor_divide", (asked, 7)), ("remainder", (asked, 7)))
    assert (asked < 1) == ("lt", (asked, 1))
    assert (asked == 1) == ("eq", (asked, 1))
    assert (True & asked) == ("logical_and", (True, asked))
    assert abs(asked) == ("abs", (asked,))
    assert +asked is asked


def test_a_lowering_may_have_any_operator_but_must_have_the_elementary_ones():
    sigmoid = OPERATORS["sigmoid"].function
    graph = graph_of(Formula("twice", 1, 1, lambda x: 2.0 * sigmoid(x)))
    assert evaluate(graph, [0.0]) == [1.0]
    assert evaluate(graph, [0.0], {"sigmoid": lambda x: x + 4.0}) == [8.0]
    with pytest.raises(TracingError, match="no 'exp'.*'exp2'"):
        evaluate(graph, [0.0], {"exp2": math.exp2})
