"""The expression page computes what Python does, and runs nothing but operators."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt_autodiff import GraphTooLargeError, Scalar
from mt_operators import OPERATORS
from play.expressions import DEEPEST, LARGEST, ExpressionError, number, parse
from play.steps import describe_step, draw_steps, steps_of
from play.testing import Reader, answers, wait_for

REFUSED = {
    "": "the expression is empty",
    "   ": "the expression is empty",
    "x +": "is not an expression",
    "x = 1": "is not an expression",
    "1 2": "is not an expression",
    "(" * 190: "is not an expression",
    "\0": "is not an expression",
    "x" * 201: "at most 200 characters; this one has 201",
    "-" * 100 + "x": f"nested at most {DEEPEST} levels",
    "a+b+c+d+e+f+g": "at most 6 variables; this one has 7",
    "1e10": f"a number may be at most {LARGEST:g}",
    "1e999": f"a number may be at most {LARGEST:g}",
    "9" * 150: f"a number may be at most {LARGEST:g}",
    "__import__('os')": "is not an operator of the table",
    "open('/etc/passwd')": "is not an operator of the table",
    "exec(x)": "is not an operator of the table",
    "tanh.__class__": "is not supported",
    "x.real": "is not supported",
    "().__class__.__bases__[0]": "is not supported",
    "(lambda: 1)()": "is not supported",
    "[x for x in y]": "is not supported",
    "x if y else z": "is not supported",
    "x and y": "is not supported",
    "not x": "is not supported",
    "x < y < z": "is not supported",
    "x @ y": "is not supported",
    "x | y": "is not supported",
    "f'{x}'": "is not supported",
    "'text'": "is not supported",
    "True": "is not supported",
    "2j": "is not supported",
    "...": "is not supported",
    "exp(x, base=2)": "is not supported",
    "exp(*x)": "is not supported",
    "(y := x)": "is not supported",
    "exp()": "exp takes 1 argument(s), x, not 0",
    "pow(x)": "pow takes 2 argument(s), x, y, not 1",
    "sigmoyd(x)": "Did you mean 'sigmoid'?",
    "gcd(x, y)": "gcd takes only integers",
    "exp": "exp is an operator: write exp(...)",
    "_": "a variable must have a name",
    "__name__": "a variable must have a name",
    "abcdefghi": "a variable must have a name",
    "ñ": "a variable must have a name",
}


@pytest.mark.parametrize("text", REFUSED)
def test_an_invalid_expression_is_an_error(text: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    said = str(caught.value)
    assert REFUSED[text] in said
    assert said.endswith((".", "?"))
    assert len(said) < 500


@given(st.text(max_size=60))
def test_no_text_runs_other_code(text: str) -> None:
    try:
        expression = parse(text)
    except ExpressionError:
        return
    float(expression.value(dict.fromkeys(expression.names, 0.5)))


SIGNS = st.sampled_from(["+", "-", "*", "<", "<=", ">", ">=", "==", "!="])
LEAVES = st.sampled_from(["x", "y", "2", "0.5", "1e3"])
TEXTS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(inner, SIGNS, inner).map(lambda parts: f"({' '.join(parts)})"),
        inner.map(lambda text: f"-({text})"),
        inner.map(lambda text: f"abs({text})"),
        st.tuples(inner, inner).map(lambda parts: f"maximum({', '.join(parts)})"),
    ),
    max_leaves=6,
)


@given(TEXTS, st.floats(-10, 10), st.floats(-10, 10))
def test_an_expression_has_the_value_of_python(text: str, x: float, y: float) -> None:
    python = {"__builtins__": {}, "abs": abs, "maximum": max, "x": x, "y": y}
    expected = float(eval(text, python))
    expression = parse(text)
    assert float(expression.value({"x": x, "y": y})) == expected
    result = expression.value({"x": Scalar(x), "y": Scalar(y)})
    assert float(result) == expected


@pytest.mark.parametrize("name", [n for n, row in OPERATORS.items() if row.result != "integer"])
def test_every_operator_of_numbers_can_be_called(name: str) -> None:
    operator = OPERATORS[name]
    variables = "abc"[: operator.arity]
    expression = parse(f"{name}({', '.join(variables)})")
    values = [0.25, 0.5, 0.75][: operator.arity]
    value = float(expression.value(dict(zip(variables, values, strict=True))))
    assert repr(value) == repr(float(operator.function(*values)))  # which may be nan


def test_numbers_that_are_too_large_for_anybody_stay_quick() -> None:
    assert parse("9 ** 9 ** 9 ** 9").value({}) == math.inf
    assert math.isnan(parse("(9 ** 9 ** 9) - (9 ** 9 ** 9)").value({}))


@pytest.mark.parametrize(
    ("text", "value"), [("0.5", 0.5), (" -2 ", -2.0), ("inf", math.inf), ("1e3", 1000.0)]
)
def test_a_number_is_read(text: str, value: float) -> None:
    assert number(text) == value


@pytest.mark.parametrize("text", ["", "x", "1,5", "1e10", "0x10"])
def test_an_invalid_or_too_large_number_is_an_error(text: str) -> None:
    with pytest.raises(ExpressionError, match=r"is not a number|a number may be at most"):
        number(text)


@given(TEXTS)
def test_steps_lead_to_the_derivatives_that_backward_gives(text: str) -> None:
    inputs = {"x": Scalar(0.5, name="x"), "y": Scalar(-2.0, name="y")}
    result = parse(text).value(inputs)
    if not isinstance(result, Scalar) or result.is_constant():
        return
    steps = steps_of(result)
    for done in range(len(steps) + 1):
        assert f"after {done} of {len(steps)} steps" in draw_steps(result, steps, done)
    assert all(describe_step(step, 1) for step in steps)
    last = {step.variable: step.derivative for step in steps}
    if not result.is_leaf():
        result.backward()
        for scalar in inputs.values():
            assert last.get(scalar) == scalar.derivative


def test_a_step_is_drawn() -> None:
    x = Scalar(3.0, name="x")
    result = x * x + x
    steps = steps_of(result)
    pictures = [draw_steps(result, steps, done) for done in range(len(steps) + 1)]
    assert pictures[0].count("∂ ?") == 2
    assert "∂ ?" not in pictures[1]
    assert "∂ 7" in pictures[2]
    assert "∂ 7" not in pictures[1]
    assert describe_step(steps[1], 2) == (
        "**2.** the node 9, the result of `mul`, has its complete derivative, 1: "
        "`x` gets 3 (1 × 3) and `x` gets 3 (1 × 3)."
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("(x * y) * 0", "`x` gets 0 (0 × 2) and `y` gets 0 (0 × 3)"),
        ("exp(x) * z", "`x` gets inf (inf × 20.09)"),
    ],
)
def test_a_share_is_the_derivative_times_a_slope_also_of_0_and_infinity(
    text: str, said: str
) -> None:
    values = {"x": 3.0, "y": 2.0, "z": math.inf}
    result = parse(text).value({name: Scalar(value, name=name) for name, value in values.items()})
    assert any(said in describe_step(step, 1) for step in steps_of(result))


def test_a_graph_that_is_too_large_is_not_drawn() -> None:
    result = x = Scalar(1.0)
    for _ in range(100):
        result = result + x
    with pytest.raises(GraphTooLargeError):
        draw_steps(result, steps_of(result), 0)


def test_the_page_shows_the_graph_and_gradients_of_an_expression(reader: Reader) -> None:
    reader.open("expression")
    reader.reads("value", f"{1 + math.exp(-0.5):.6g}")
    reader.write("expression", "x * y + x * x")
    reader.write("x", "2")
    reader.write("y", "3")
    reader.reads("value", "10")
    wait_for(lambda: "∂ 7" in reader.picture("The computation of"), "the derivative 7")
    assert "x = 2" in reader.picture("The computation of")
    rows = "[...document.querySelectorAll('tr')].map(row => row.innerText.match(/\\S+/g).join(' '))"
    reader.until(f"{rows}.includes('x 2 7 7')")


def test_a_reader_goes_backwards_step_by_step(reader: Reader) -> None:
    reader.open("expression")
    reader.press("Backwards, step by step")
    reader.sees("The derivative of the result with respect to itself is 1.")
    assert "∂ ?" in reader.picture("after 0 of 6 steps")
    for done in range(1, 7):
        reader.press("Next step")
        reader.shows(f"after {done} of 6 steps")
    reader.sees("y is an input: its derivative 0.5 is stored.")
    assert "∂ ?" not in reader.picture("after 6 of 6 steps")
    reader.press("Back")
    reader.shows("after 5 of 6 steps")


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "x.__class__",
        "open('/etc/passwd')",
        "9" * 199,
        "(((",
        "*_*",
    ],
)
def test_a_reader_who_reaches_for_more_gets_a_sentence(reader: Reader, text: str) -> None:
    reader.open("expression")
    reader.write("expression", text)
    reader.until("document.querySelector('[data-testid=stAlert]') !== null")
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    assert reader.text("[data-testid=stAlert]").strip() == " ".join(str(caught.value).split())
    assert answers(reader.address)
    reader.write("expression", "x + 1")
    reader.reads("value", "1.5")


def test_infinity_and_nan_are_shown(reader: Reader) -> None:
    reader.open("expression")
    reader.write("expression", "x / y - x / y")
    reader.write("y", "0")
    reader.reads("value", "nan")
    reader.write("x", "inf")
    reader.reads("value", "nan")
    reader.write("x", "many")
    reader.sees("'many' is not a number: write one such as 0.5.")
    reader.write("expression", "9 ** 9 ** 9")
    reader.reads("value", "inf")
