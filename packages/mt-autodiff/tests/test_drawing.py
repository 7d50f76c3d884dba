"""to_svg: contents and layout of pictures, errors, and graphs that drawing leaves unchanged.

Run as a script, this file redraws the picture of the README.
"""

import itertools
import math
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mt_autodiff import (
    CyclicGraphError,
    GraphFreedError,
    GraphTooLargeError,
    Scalar,
    ScalarFunction,
    central_difference,
    grad,
    is_grad_enabled,
    no_grad,
)
from mt_autodiff.drawing import Svg, to_svg
from mt_autodiff.drawing.layout import Edge, layered_layout
from mt_operators.testing.documentation import BLOCK

PACKAGE = Path(__file__).parents[1]
PICTURE = PACKAGE / "docs" / "graph.svg"
SVG = "{http://www.w3.org/2000/svg}"

Point = tuple[float, float]


# --- Reading a picture ----------------------------------------------------------------------------


@dataclass
class Box:
    """The box of one variable."""

    kinds: list[str]
    texts: dict[str, str]
    details: list[str]
    corners: tuple[float, float, float, float]  # left, top, right, bottom
    baselines: list[float]

    @property
    def derivative(self) -> float:
        return float(self.details[-1].removeprefix("derivative of the result with respect to it: "))


@dataclass
class Line:
    """A piece of an edge: straight to the bend, then a cubic curve."""

    start: Point
    bend: float
    end: Point

    def points(self) -> list[Point]:
        (x, y), (end_x, end_y) = self.start, self.end
        half = (self.bend + end_x) / 2
        steps = [step / 20 for step in range(21)]
        straight = [(x + t * (self.bend - x), y) for t in steps]
        curve = [
            (
                (1 - t) ** 3 * self.bend + 3 * t * (1 - t) * half + t**3 * end_x,
                y + (3 * t**2 - 2 * t**3) * (end_y - y),
            )
            for t in steps
        ]
        return straight + curve


@dataclass
class Drawing:
    """The contents of an SVG."""

    width: float
    height: float
    boxes: list[Box] = field(default_factory=list)
    edges: list[Line] = field(default_factory=list)
    tracks: list[Line] = field(default_factory=list)

    def box(self, name: str) -> Box:
        (box,) = (box for box in self.boxes if box.details[0].split(",")[0] == name)
        return box


def parse(picture: str) -> Drawing:
    root = ET.fromstring(picture)
    assert root.tag == f"{SVG}svg"
    drawing = Drawing(float(root.attrib["width"]), float(root.attrib["height"]))
    for path in root.iter(f"{SVG}path"):
        if path.attrib["class"] in {"edge", "track"}:
            curve = path.attrib["d"].split("m")[0]
            x, y, bend, *_, end_x, end_y = map(float, re.findall(r"-?[\d.]+", curve))
            lines = drawing.edges if path.attrib["class"] == "edge" else drawing.tracks
            lines.append(Line((x, y), bend, (end_x, end_y)))
    for group in root.iter(f"{SVG}g"):
        outline = group.find(f"{SVG}rect")  # the outermost comes first
        title = group.find(f"{SVG}title")
        assert outline is not None
        assert title is not None
        x, y, width, height = (float(outline.attrib[k]) for k in ("x", "y", "width", "height"))
        written = list(group.iter(f"{SVG}text"))
        texts = {t.attrib["class"].split()[0]: t.text or "" for t in written}
        baselines = [float(t.attrib["y"]) for t in written]
        corners = (x, y, x + width, y + height)
        details = (title.text or "").split("\n")
        kinds = group.attrib["class"].split()
        drawing.boxes.append(Box(kinds, texts, details, corners, baselines))
    return drawing


def inside(point: Point, box: Box) -> bool:
    left, top, right, bottom = box.corners
    return left + 0.2 < point[0] < right - 0.2 and top + 0.2 < point[1] < bottom - 0.2


def check_geometry(drawing: Drawing) -> None:
    """Check that boxes fit the picture without overlap, and that edges go right around boxes."""
    for one, other in itertools.combinations(drawing.boxes, 2):
        left, top, right, bottom = one.corners
        other_left, other_top, other_right, other_bottom = other.corners
        apart_x = right < other_left or other_right < left
        apart_y = bottom < other_top or other_bottom < top
        assert apart_x or apart_y, (one, other)
    for line in drawing.edges + drawing.tracks:
        assert line.start[0] <= line.bend < line.end[0]
        for box in drawing.boxes:
            assert not any(inside(point, box) for point in line.points()), (line, box)
    lefts = {(box.corners[0]) for box in drawing.boxes}
    assert all(line.end[0] in lefts for line in drawing.edges)
    for box in drawing.boxes:
        left, top, right, bottom = box.corners
        assert left >= 0
        assert top >= 0
        assert right <= drawing.width - 20 + 0.2
        assert bottom <= drawing.height - 20 + 0.2


# --- Contents -------------------------------------------------------------------------------------


def test_svg_shows_names_values_derivatives_and_operators() -> None:
    x, y = Scalar(2.0, name="x"), Scalar(3.0, name="y")
    z = x * y + 0.25
    z.name = "z"
    drawing = parse(to_svg(z))
    shown = {box.texts["value"]: box for box in drawing.boxes}
    assert {value: box.texts.get("derivative") for value, box in shown.items()} == {
        "z = 6.25": "∂ 1",
        "6": "∂ 1",
        "x = 2": "∂ 3",
        "y = 3": "∂ 2",
        "0.25": None,
    }
    assert {v: box.texts["operator"] for v, box in shown.items() if "operator" in box.texts} == {
        "z = 6.25": "+",
        "6": "×",
    }
    assert shown["z = 6.25"].kinds == ["operation", "result"]
    assert shown["x = 2"].kinds == ["input"]
    assert shown["0.25"].kinds == ["constant"]
    assert shown["0.25"].details == ["constant", "value: 0.25"]
    assert shown["z = 6.25"].details == [
        "z, made by add(6, 0.25)",
        "value: 6.25",
        "derivative of the result with respect to it: 1.0",
    ]
    assert len(drawing.edges) == 4
    check_geometry(drawing)


def test_variable_used_twice_has_two_edges() -> None:
    a = Scalar(1.0, name="a")
    b = a + a
    c = b + b
    drawing = parse(to_svg(c))
    assert len(drawing.boxes) == 3
    assert len(drawing.edges) == 4
    assert len({line.end for line in drawing.edges}) == 4
    assert [box.derivative for box in drawing.boxes] == [1.0, 2.0, 4.0]
    check_geometry(drawing)


def test_edges_enter_an_operation_in_the_order_of_its_arguments() -> None:
    x, y = Scalar(2.0, name="x"), Scalar(3.0, name="y")
    for difference, upper, lower in ((x - y, "x", "y"), (y - x, "y", "x")):
        drawing = parse(to_svg(difference))
        first, second = sorted(drawing.edges, key=lambda line: line.end[1])
        for line, name in ((first, upper), (second, lower)):
            _, top, right, bottom = drawing.box(name).corners
            assert line.start == pytest.approx((right, (top + bottom) / 2), abs=0.11)


def test_user_function_of_ten_arguments_is_drawn() -> None:
    class MeanOfTen(ScalarFunction):
        @staticmethod
        def forward(ctx: object, *inputs: float) -> float:
            return sum(inputs) / 10

        @staticmethod
        def backward(ctx: object, derivative: float) -> tuple[float, ...]:
            return (derivative / 10,) * 10

    inputs = [Scalar(float(i), name=f"x{i}") for i in range(10)]
    drawing = parse(to_svg(MeanOfTen.apply(*inputs).tanh()))
    assert "MeanOfTen" in [box.texts.get("operator") for box in drawing.boxes]
    arrivals = sorted(
        line.end[1] for line in drawing.edges if line.end[1] != drawing.edges[-1].end[1]
    )
    assert all(b - a > 10 for a, b in itertools.pairwise(arrivals))
    check_geometry(drawing)


def test_leaf_and_constant_are_drawn_as_one_box() -> None:
    (leaf,) = parse(to_svg(Scalar(2.0, name="x"))).boxes
    assert leaf.kinds == ["input", "result"]
    assert leaf.texts == {"value": "x = 2", "derivative": "∂ 1"}
    with no_grad():
        product = Scalar(2.0) * 3.0
    made_constant = Scalar(2.0) * 3.0
    made_constant.requires_grad = False
    for scalar in (product, made_constant):
        (constant,) = parse(to_svg(scalar)).boxes
        assert constant.kinds == ["constant", "result"]
        assert constant.texts == {"value": "6"}


def test_variable_without_gradient_path_shows_derivative_0() -> None:
    x, y = Scalar(2.0, name="x"), Scalar(3.0, requires_grad=False, name="y")
    z = x * y
    y.requires_grad_()
    assert parse(to_svg(z)).box("y").derivative == 0.0
    assert grad(z, y, allow_unused=True)[0].data == 0.0


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (2.0, "2"),
        (-0.0, "0"),
        (1 / 3, "0.3333"),
        (-1.23456e-7, "-1.235e-07"),
        (math.nan, "nan"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
    ],
)
def test_values_are_rounded_in_boxes_and_complete_in_details(value: float, shown: str) -> None:
    (box,) = parse(to_svg(Scalar(value))).boxes
    assert box.texts["value"] == shown
    assert box.details[1] == f"value: {value!r}"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a<b & \"c\" 'd'", "a<b & \"c\" 'd'"),
        ("]]><!--", "]]><!--"),
        ("损失 🙂", "损失 🙂"),
        ("a shorter name", "a shorter name"),
        ("a name that is quite long", "a name that i…"),
        ("null\x00 esc\x1b", "null\ufffd esc\ufffd"),
        ("half\ud800 \uffff", "half\ufffd \ufffd"),
    ],
)
def test_special_characters_in_names_are_escaped_or_replaced(name: str, shown: str) -> None:
    x = Scalar(1.0, name=name)
    picture = to_svg(x * 2.0)
    picture.encode()
    (box,) = (box for box in parse(picture).boxes if "input" in box.kinds)
    assert box.texts["value"] == f"{shown} = 1"
    complete = re.sub("[\x00\x1b\ud800\uffff]", "\ufffd", name)
    assert box.details[0] == f"{complete}, input"


def test_line_breaks_in_names_become_spaces() -> None:
    (box,) = parse(to_svg(Scalar(1.0, name="a\n b\t"))).boxes
    assert box.texts["value"] == "a b = 1"


ALLOWED = [0x9, 0x20, 0x7F, 0xD7FF, 0xE000, 0xFFFD, 0x10000, 0x10FFFF]
FORBIDDEN = [0x0, 0x8, 0xB, 0xC, 0xE, 0x1F, 0xD800, 0xDFFF, 0xFFFE, 0xFFFF]


@pytest.mark.parametrize("code", [*ALLOWED, *FORBIDDEN], ids=hex)
def test_only_characters_invalid_in_xml_are_replaced(code: int) -> None:
    """The ends of the ranges that XML 1.0 allows (section 2.2), and their neighbours."""
    (box,) = parse(to_svg(Scalar(1.0, name=f"a{chr(code)}"))).boxes
    shown = chr(code) if code in ALLOWED else "\ufffd"
    assert box.details[0] == f"a{shown}, input"


@pytest.mark.slow
@given(st.text())
@settings(deadline=None)
def test_svg_is_well_formed_for_every_name(name: str) -> None:
    ET.fromstring(to_svg(Scalar(1.0, name=name).tanh()))


def test_box_width_grows_with_its_text() -> None:
    def width(name: str) -> float:
        (box,) = parse(to_svg(Scalar(1.0, name=name))).boxes
        return box.corners[2] - box.corners[0]

    assert width("x") < width("xxxx") < width("損失関数")


def test_texts_are_vertically_centered_in_their_box() -> None:
    for box in parse(to_svg((Scalar(2.0, name="x") * 3.0).tanh())).boxes:
        _, top, _, bottom = box.corners
        middle = (min(box.baselines) + max(box.baselines)) / 2
        assert middle - 4.5 == pytest.approx((top + bottom) / 2, abs=0.2)


# --- Random programs ------------------------------------------------------------------------------

Step = tuple[str, int, int]
UNARY, BINARY = ("tanh", "sin"), ("add", "sub", "mul")


@st.composite
def programs(draw: st.DrawFn, longest: int = 12) -> list[Step]:
    """Draw the steps of a program on two inputs; operands are the inputs or earlier results."""
    count = draw(st.integers(1, longest))
    return [
        (
            draw(st.sampled_from(UNARY + BINARY)),
            draw(st.integers(0, 1 + index)),
            draw(st.integers(0, 1 + index)),
        )
        for index in range(count)
    ]


def run(program: list[Step], inputs: list[Scalar], fixed: dict[int, Scalar]) -> list[Scalar]:
    """Return all values of a program; `fixed` replaces results by their position."""
    values = list(inputs)
    for name, left, right in program:
        step = fixed.get(len(values))
        if step is None:
            arguments = [values[left]] if name in UNARY else [values[left], values[right]]
            step = getattr(Scalar, name)(*arguments)
        step.name = f"v{len(values)}"
        values.append(step)
    return values


def two_inputs() -> list[Scalar]:
    return [Scalar(0.3, name="v0"), Scalar(-0.7, name="v1")]


@given(programs())
@settings(deadline=None)
def test_shown_derivatives_match_central_differences(program: list[Step]) -> None:
    values = run(program, two_inputs(), {})
    for box in parse(to_svg(values[-1])).boxes:
        index = int(box.details[0].split(",")[0].removeprefix("v"))

        def result(value: float, index: int = index) -> float:
            inputs = two_inputs()
            fixed = {index: Scalar(value)}
            if index < 2:
                inputs[index] = fixed[index]
            return run(program, inputs, fixed)[-1].data

        numeric = central_difference(result, values[index].data)
        assert math.isclose(box.derivative, numeric, rel_tol=1e-4, abs_tol=1e-4)


@given(programs())
@settings(deadline=None)
def test_drawing_does_not_change_graph_or_derivatives(program: list[Step]) -> None:
    drawn, untouched = run(program, two_inputs(), {}), run(program, two_inputs(), {})
    picture = to_svg(drawn[-1])
    assert is_grad_enabled()
    assert all(value.derivative is None for value in drawn)
    assert to_svg(drawn[-1]) == picture == to_svg(untouched[-1])
    drawn[-1].backward(retain_graph=True)
    untouched[-1].backward()
    derivatives = [value.derivative for value in drawn]
    assert derivatives == [value.derivative for value in untouched]
    assert to_svg(drawn[-1]) == picture  # accumulated derivatives are not shown
    assert [value.derivative for value in drawn] == derivatives
    for box in parse(picture).boxes:
        if "input" in box.kinds:
            assert box.derivative == drawn[int(box.details[0][1])].derivative


@given(programs(longest=30))
@settings(deadline=None)
def test_boxes_do_not_overlap_and_edges_avoid_them(program: list[Step]) -> None:
    result = run(program, two_inputs(), {})[-1]
    drawing = parse(to_svg(result))
    check_geometry(drawing)
    assert len(drawing.edges) == sum(
        len(list(variable.parents)) for variable in variables_in_graph(result)
    )


def variables_in_graph(result: Scalar) -> list[Scalar]:
    found, waiting = {result.unique_id: result}, [result]
    while waiting:
        for parent in waiting.pop().parents:
            if parent.unique_id not in found:
                found[parent.unique_id] = parent
                waiting.append(parent)
    return list(found.values())


# --- The layout -----------------------------------------------------------------------------------


def test_input_is_placed_next_to_the_operation_that_uses_it() -> None:
    y = Scalar(1.0, name="x")
    for _ in range(5):
        y = y.tanh()
    drawing = parse(to_svg(y * Scalar(2.0, name="late")))
    assert not drawing.tracks
    assert drawing.box("late").corners[0] > drawing.box("x").corners[2]


def test_long_edge_passes_through_every_layer() -> None:
    x = Scalar(1.0, name="x")
    drawing = parse(to_svg(x.tanh().tanh().tanh() * x))
    pieces = sorted(drawing.tracks, key=lambda line: line.start)
    assert len(pieces) == 3
    for piece, following in itertools.pairwise(pieces):
        assert piece.end == pytest.approx(following.start, abs=0.2)
    check_geometry(drawing)


def test_chain_is_drawn_on_one_level() -> None:
    y = Scalar(1.0)
    for _ in range(30):
        y = y * 1.5
    boxes = parse(to_svg(y)).boxes
    tops = [box.corners[1] for box in boxes if box.kinds == ["operation"]]
    assert max(tops) - min(tops) < 1.0


def test_tree_has_no_edge_crossings() -> None:
    def tree(depth: int) -> Scalar:
        return Scalar(1.0) if depth == 0 else tree(depth - 1) * tree(depth - 1)

    drawing = parse(to_svg(tree(5)))
    assert crossings(drawing.edges) == 0
    assert len(drawing.boxes) == 63


def test_ordering_within_layers_reduces_crossings() -> None:
    """Node 5 is found first, but below node 6 its edges cross fewer others."""
    inputs = [[1, 2, 3, 4], [5], [6], [5], [5], [], []]
    layout = layered_layout([(10.0, 10.0)] * 7, inputs)
    assert layout.boxes[5].y > layout.boxes[6].y
    assert crossings(layout.edges) == 1


def crossings(lines: Sequence[Line | Edge]) -> int:
    """Count the pairs of lines in the same gap that change sides."""
    return sum(
        one.bend == other.bend and (one.start[1] - other.start[1]) * (one.end[1] - other.end[1]) < 0
        for one, other in itertools.combinations(lines, 2)
    )


def test_chain_of_3000_operations_is_drawn() -> None:
    y = Scalar(1.0)
    for _ in range(3000):
        y = y + 1.0
    assert to_svg(y, max_nodes=10_000).count('class="edge"') == 6000


def test_input_used_1000_times_gives_svg_below_1_mb() -> None:
    x = Scalar(1.0)
    y = x
    for _ in range(1000):
        y = y + x
    assert len(to_svg(y, max_nodes=10_000)) < 1_000_000  # edges share segments


# --- Errors ---------------------------------------------------------------------------------------


def test_drawing_a_freed_graph_raises_with_advice() -> None:
    x = Scalar(3.0)
    y = x * x
    z = y.tanh()
    z.backward()
    for result in (z, y, y + 1.0):
        with pytest.raises(GraphFreedError, match=r"Draw it before.*retain_graph=True"):
            to_svg(result)


def test_graph_with_more_than_max_nodes_raises() -> None:
    y = Scalar(1.0)
    for _ in range(300):
        y = y.tanh()
    with pytest.raises(GraphTooLargeError, match=r"300 variables, but.*is 300.*max_nodes=301"):
        to_svg(y)
    assert isinstance(to_svg(y, max_nodes=301), Svg)


def test_to_svg_rejects_non_scalars_and_bad_max_nodes() -> None:
    x = Scalar(1.0)
    for wrong in (3.0, [x], None):
        with pytest.raises(TypeError, match=r"draws a Scalar, got "):
            to_svg(wrong)
    for count in (2.5, "300", None):
        with pytest.raises(TypeError, match=f"max_nodes must be an integer, got {count!r}"):
            to_svg(x, max_nodes=count)


def test_drawing_a_cyclic_graph_raises() -> None:
    x = Scalar(1.0)
    y = x + 1
    z = y + 1
    assert y.history is not None
    y.history.inputs = (z,)
    with pytest.raises(CyclicGraphError):
        to_svg(z)


# --- The document ---------------------------------------------------------------------------------


def test_svg_has_title_and_no_external_references() -> None:
    picture = to_svg(Scalar(1.0, name="x").tanh())
    root = ET.fromstring(picture)
    assert root.attrib["role"] == "img"
    assert len(root.attrib["viewBox"].split()) == 4
    assert root[0].tag == f"{SVG}title"
    assert "svg:root{color-scheme:light dark}" in picture
    for outside in ("href", "url(", "@import", "<script", "<!ENTITY"):
        assert outside not in picture


def test_repr_svg_returns_the_svg() -> None:
    picture = to_svg(Scalar(1.0))
    assert type(picture._repr_svg_()) is str
    assert picture._repr_svg_() == picture


DRAW = """
import sys
from mt_autodiff import Scalar
assert not [name for name in sys.modules if name.startswith(("xml", "html"))]
others = [Scalar(1.0) for _ in range(int(sys.argv[1]))]
x, y = Scalar(0.5, name="x"), Scalar(2.0, name="y")
from mt_autodiff.drawing import to_svg
sys.stdout.reconfigure(encoding="utf-8", newline="")
print(to_svg((x * y + x.tanh()) * (y - x) / 3.0))
"""


def test_svg_is_the_same_in_every_process() -> None:
    pictures = {
        subprocess.run([sys.executable, "-c", DRAW, count], capture_output=True, check=True).stdout
        for count in ("0", "7", "1000")
    }  # each with another hash seed
    assert len(pictures) == 1


def readme_picture() -> str:
    """Return the picture of the README's example."""
    source = (PACKAGE / "README.md").read_text(encoding="utf-8")
    (block,) = (m["source"] for m in BLOCK.finditer(source) if "to_svg" in m["source"])
    namespace: dict[str, object] = {"Scalar": Scalar, "print": lambda *_: None}
    exec(block, namespace)
    return str(namespace["picture"])


def test_readme_picture_is_up_to_date() -> None:
    fresh = readme_picture()
    assert PICTURE.read_text(encoding="utf-8") == fresh, f"run python {__file__} to update it"
    check_geometry(parse(fresh))


if __name__ == "__main__":
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(readme_picture(), encoding="utf-8", newline="\n")
