"""Names in code are linked to their definitions, unless they are ambiguous."""

import textwrap
from pathlib import Path

import pytest

from mt.source.modules import Library
from mt.source.symbols import Symbols
from mt.source.uses import uses
from mt.workspace import Workspace

LOW = """
def relu(x):
    return relu(x)


class Base:
    def size(self):
        return 0


LIMIT = 3
"""


def led(root: Path, text: str) -> list[tuple[int, str, str]]:
    """Return line, text and target of each linked name in a module next to LOW."""
    folder = root / "p"
    folder.mkdir(exist_ok=True)
    (folder / "__init__.py").touch()
    (folder / "low.py").write_text(LOW)
    text = textwrap.dedent(text)
    (folder / "high.py").write_text(text)
    symbols = Symbols(Library({"p": folder}))
    module = symbols.library.module("p.high")
    assert module is not None
    lines = text.splitlines()
    return sorted(
        (use.line, lines[use.line - 1][use.start : use.end], use.symbol.name)
        for use in uses(module, symbols)
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from p.low import relu", [(1, "relu", "p.low.relu")]),
        ("from p.low import relu as positive", [(1, "relu", "p.low.relu")]),
        ("from .low import relu", [(1, "relu", "p.low.relu")]),
        ("import p.low", [(1, "p.low", "p.low")]),
        ("import math\nx = math.pi", []),
        ("from p.low import nothing", []),
        ("from p import low\nlow.relu(1)", [
            (1, "low", "p.low"), (2, "low", "p.low"), (2, "relu", "p.low.relu"),
        ]),
        ("from p import low\nx = (low.\n  relu)", [
            (1, "low", "p.low"), (2, "low", "p.low"), (3, "relu", "p.low.relu"),
        ]),
        ("from p.low import Base\nb = '×' + Base.size", [
            (1, "Base", "p.low.Base"), (2, "Base", "p.low.Base"), (2, "size", "p.low.Base.size"),
        ]),
        ("from p.low import Base\nclass Other(Base): pass", [
            (1, "Base", "p.low.Base"), (2, "Base", "p.low.Base"),
        ]),
        ("def f():\n    from p.low import relu\n    return relu", [(2, "relu", "p.low.relu")]),
        ("if True:\n    from p.low import relu\nelse:\n    relu = None\nrelu(1)", [
            (2, "relu", "p.low.relu"), (5, "relu", "p.high.relu"),
        ]),
    ],
)  # fmt: skip
def test_a_name_is_linked_to_its_definition(
    tmp_path: Path, text: str, expected: list[tuple[int, str, str]]
) -> None:
    assert led(tmp_path, text) == expected


@pytest.mark.parametrize(
    "body",
    [
        "def f(relu): return relu",
        "def f(): relu = 1; return relu",
        "def f(): return [relu for relu in ()]",
        "def f():\n    for relu in (): print(relu)",
        "def f():\n    def relu(): pass\n    return relu",
        "def f():\n    try: pass\n    except E as relu: print(relu)",
        "f = lambda relu: relu",
        "x = [relu for relu in ()]",
        "class C:\n    relu = 1\n    again = relu",
        "class C:\n    def relu(self): pass\n    again = relu",
        "f = other.relu",
    ],
)
def test_inner_names_shadow_outer_ones(tmp_path: Path, body: str) -> None:
    assert led(tmp_path, f"from p.low import relu\n{body}") == [(1, "relu", "p.low.relu")]


def test_a_method_sees_past_the_names_of_its_class(tmp_path: Path) -> None:
    text = "from p.low import relu\nclass C:\n    def relu(self):\n        return relu(self)"
    assert led(tmp_path, text)[1:] == [(4, "relu", "p.low.relu")]


def test_in_the_workspace_the_text_of_a_use_is_a_name() -> None:
    symbols = Symbols(Workspace.read().library())
    count = 0
    for module in symbols.library.modules("mt_tensor"):
        lines = module.text.splitlines()
        for use in uses(module, symbols):
            count += 1
            written = lines[use.line - 1][use.start : use.end]
            assert written.replace(".", "").isidentifier(), (module.name, use)
    assert count > 5000
