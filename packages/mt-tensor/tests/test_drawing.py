"""Pictures of storages, graphs and programs, also in the guides: content, abbreviation, errors.

    python tests/test_drawing.py

redraws the pictures of the guides.
"""

import itertools
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import mt_tensor as mt
from mt_autodiff import GraphFreedError
from mt_autodiff.core.errors import GraphTooLargeError
from mt_tensor.drawing import draw_graph, draw_program, draw_storage

PACKAGE = Path(__file__).parents[1]
SVG = "{http://www.w3.org/2000/svg}"


def texts(picture, css_class):
    """Return the lines of text of a CSS class."""
    root = ET.fromstring(picture)
    return [e.text for e in root.iter(f"{SVG}text") if css_class in e.get("class").split()]


def cells(picture):
    """Return row, value and position of each cell; the row is None outside of the view."""
    matches = re.findall(
        r'class="cell (?:row(\d)|untouched)".*\n<text class="(?:value|long)".*>(.*)</text>'
        r'\n<text class="place".*>@(\d+)<',
        picture,
    )
    return [(int(row) if row else None, value, int(position)) for row, value, position in matches]


# --- Storages -----------------------------------------------------------------------------------


def test_draw_storage_shows_cells_of_a_view():
    picture = draw_storage(mt.arange(6).view(2, 3).T[1:])
    storage, view = cells(picture)[:6], cells(picture)[6:]
    assert storage == [
        (None, "0", 0), (0, "1", 1), (1, "2", 2), (None, "3", 3), (0, "4", 4), (1, "5", 5)
    ]  # fmt: skip
    assert view == [(0, "1", 1), (0, "4", 4), (1, "2", 2), (1, "5", 5)]
    assert texts(picture, "step") == ["dimension 1: +3", "dimension 0: +1"]
    assert texts(picture, "heading") == ["shape (2, 2), strides (1, 3), offset 1"]
    assert texts(picture, "note") == ["int64 in a storage of 6"]


def test_draw_storage_describes_zero_and_negative_strides():
    repeated = draw_storage(mt.tensor([1.5, -2.0]).expand(3, 2))
    assert texts(repeated, "step") == ["dimension 1: +1", "dimension 0: stays"]
    assert [position for _, _, position in cells(repeated)[2:]] == [0, 1] * 3
    backwards = draw_storage(mt.tensor([True, False, False])[::-1])
    assert texts(backwards, "step") == ["dimension 0: -1"]
    assert [value for _, value, _ in cells(backwards)[3:]] == ["False", "False", "True"]


def test_draw_storage_shows_third_dimension_as_several_grids():
    picture = draw_storage(mt.arange(12).view(2, 3, 2))
    assert texts(picture, "note")[1:] == ["[0]", "[1]"]
    assert [position for _, _, position in cells(picture)[12:]] == list(range(12))


@pytest.mark.parametrize(
    ("tensor", "count"),
    [
        (lambda: mt.tensor(3.5), 2),
        (lambda: mt.zeros(0, 3), 0),
        (lambda: mt.arange(4.0), 8),
        (lambda: mt.zeros(4, 6), 48),
        (lambda: mt.ones(1, 1, 1, 1), 2),
    ],
)
def test_draw_storage_of_small_or_empty_tensor_shows_every_cell(tensor, count):
    picture = draw_storage(tensor())
    assert len(cells(picture)) == count
    assert ("the view has no elements" in picture) == (tensor().numel() == 0)


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x,
        lambda x: x[::-3, ::7],
        lambda x: x.T,
        lambda x: x[:, 50:],
        lambda x: x.view(10, 10, 10).permute(2, 0, 1),
        lambda x: x.view(2, 5, 2, 5, 2, 5),
        lambda x: x.unfold(1, 5, 1),
    ],
)
def test_draw_storage_abbreviates_large_tensors(view):
    tensor = view(mt.arange(1000.0).view(10, 100))
    picture = draw_storage(tensor)
    root = ET.fromstring(picture)
    assert len(cells(picture)) < 300
    assert "…" in texts(picture, "more")
    assert float(root.get("width")) < 2500
    shown = dict.fromkeys(position for _, _, position in cells(picture))
    assert {0, 999, tensor.storage_offset()} <= set(shown)


@pytest.mark.parametrize("shape", [(0, 10**12), (10**12, 1), (10**6, 10**6, 2, 3)], ids=str)
def test_draw_storage_abbreviates_views_of_any_size(shape):
    picture = draw_storage(mt.ones(1).expand(shape))
    assert len(cells(picture)) < 300


@pytest.mark.parametrize(
    ("view", "shown"),
    [
        (slice(4, 8), [0, 4, 5, 6, 7, 999]),
        (slice(4, 11, 2), [0, 4, 5, 6, 7, 8, 9, 10, 999]),
        (slice(4, 11, 3), [0, 4, 7, 10, 999]),
        (slice(2, 6), [0, 1, 2, 3, 4, 5, 999]),
    ],
)
def test_draw_storage_marks_each_gap_once(view, shown):
    """A single cell is never omitted, since its mark would take as much space."""
    tensor = mt.zeros(1000)[view]
    picture = draw_storage(tensor)
    assert [position for _, _, position in cells(picture)[: -tensor.numel()]] == shown
    gaps = [after - before > 1 for before, after in itertools.pairwise(shown)]
    assert len(texts(picture, "more")) == sum(gaps)


def test_draw_storage_is_equal_on_every_backend():
    tensor = mt.arange(4).view(2, 2)
    assert draw_storage(tensor.to("simple")) == draw_storage(tensor)


# --- Graphs -------------------------------------------------------------------------------------


def test_draw_graph_shows_operators_shapes_and_names():
    w = mt.zeros(4, 2, requires_grad=True)
    w.name = "w"
    picture = draw_graph(((mt.ones(3, 4) @ w) * 2 + w.sum()).exp())
    assert sorted(texts(picture, "value")) == sorted([*["[3×2]"] * 4, "[]", "w: [4×2]"])
    assert set(texts(picture, "operator")) == {"exp", "+", "×", "MatMul", "Sum"}
    details = [e.text for e in ET.fromstring(picture).iter(f"{SVG}title")]
    assert "w, leaf\nshape (4, 2)\nfloat32 on numpy" in details
    assert "made by exp\nshape (3, 2)\nfloat32 on numpy" in details


def test_draw_graph_of_constant_shows_one_node():
    assert texts(draw_graph(mt.ones(2, 3)), "value") == ["[2×3]"]


def test_draw_graph_keeps_graph_and_raises_after_backward():
    x = mt.ones(2, requires_grad=True)
    y = (x * x).sum()
    assert draw_graph(y) == draw_graph(y)
    y.backward()
    assert x.grad.tolist() == [2, 2]
    with pytest.raises(GraphFreedError, match=r"Draw it before.*retain_graph=True"):
        draw_graph(y)


def test_draw_graph_rejects_large_graphs_and_bad_arguments():
    x = mt.ones(2, requires_grad=True)
    for _ in range(5):
        x = x * 2
    with pytest.raises(GraphTooLargeError, match=r"max_nodes=6"):
        draw_graph(x, max_nodes=5)
    with pytest.raises(TypeError, match="must be an integer"):
        draw_graph(x, max_nodes="all")
    for draw in (draw_graph, draw_storage):
        with pytest.raises(TypeError, match="takes tensors"):
            draw([1, 2])


def test_import_does_not_load_drawing():
    code = "import sys, mt_tensor; print([n for n in sys.modules if 'drawing' in n])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


# --- Programs -----------------------------------------------------------------------------------


def program_of(function, *arguments):
    """Return the compiled program of a function."""
    compiled = mt.compile(function)
    compiled(*arguments)
    compiled(*arguments)
    return compiled.program


def test_draw_program_shows_calls_and_their_inputs():
    total = mt.ones(2)

    def step(x):
        total.add_(x.exp())
        return (x * total).sum()

    picture = draw_program(program_of(step, mt.ones(2)))
    assert texts(picture, "operator")[:2] == ["left", "reduce"]
    assert sorted(texts(picture, "operator")[2:]) == sorted(["exp_add", "×"])
    assert picture.count('class="input"') == 2
    assert picture.count('class="operation') == 4
    assert re.search(r">x\d+: \[2\]</text>\n</g>", picture)  # the changed tensor is an output


def test_draw_program_shows_constants():
    picture = draw_program(program_of(lambda x: x * mt.arange(3.0).exp(), mt.ones(3)))
    assert picture.count('class="constant"') == 1
    assert picture.count('class="input"') == 1


def test_draw_program_of_empty_function_shows_nothing():
    assert "nothing" in draw_program(program_of(lambda: None))


def test_draw_program_rejects_large_programs_and_bad_arguments():
    program = program_of(lambda x: (x.sum() + x).cumsum(0), mt.ones(3))
    with pytest.raises(GraphTooLargeError, match="max_calls is 1"):
        draw_program(program, max_calls=1)
    with pytest.raises(TypeError, match="must be an integer"):
        draw_program(program, max_calls="all")
    with pytest.raises(TypeError, match="takes a program"):
        draw_program(mt.ones(2))


# --- Pictures in the guides ---------------------------------------------------------------------

PICTURES = {"memory": "storage.svg", "graph": "graph.svg", "picture": "program.svg"}


def guide_pictures():
    """Draw the pictures of the examples in the guides, by file name."""
    names = {"mt": mt, "print": lambda *_: None}
    for guide in ("tensors.md", "compile.md"):
        source = (PACKAGE / "docs" / guide).read_text(encoding="utf-8")
        for block in re.findall(r"```python\n(.*?)```", source, re.DOTALL):
            if "mt_tensor.drawing" in block:
                exec(compile(block, guide, "exec"), names)
    return {file: names[name] for name, file in PICTURES.items()}


def test_pictures_in_guides_are_up_to_date():
    for file, picture in guide_pictures().items():
        checked_in = (PACKAGE / "docs" / file).read_text(encoding="utf-8")
        assert checked_in == picture, f"run python {__file__} to redraw it"


if __name__ == "__main__":
    for file, picture in guide_pictures().items():
        (PACKAGE / "docs" / file).write_text(picture, encoding="utf-8", newline="\n")
