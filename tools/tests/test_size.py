"""Kinds of files, allowed imports, and the reading order: each mistake is reported."""

import ast
import json
import textwrap
from pathlib import Path

import pytest

from mt.__main__ import main
from mt.source.imports import import_graph
from mt.source.modules import Library, Module
from mt.source.parts import lines_of_code, part_of
from mt.source.reading import beyond_cores, disordered, misdirected, reading_order
from mt.workspace import Stage, Workspace

FILES = {
    "__init__.py": "from p.core.low import one\nfrom p.more import much\n",
    "core/low.py": "one = 1\n",
    "core/high/__init__.py": '"""A folder."""\n',
    "core/high/up.py": "from .. import low\n",
    "more.py": "from p.core.high.up import low\nmuch = 2\n",
    "testing.py": "import p.more\n",
}
ORDER = ["core/low.py", "core/high/up.py"]


def package(root: Path, files: dict[str, str]) -> Library:
    for name, text in files.items():
        path = root / "p" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Library({"p": root / "p"})


def module(name: str, text: str) -> Module:
    file = f"{name.replace('.', '/')}{'' if '.' in name else '/__init__'}.py"
    return Module(name, Path(file), text, ast.parse(text))


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("p", "rest"),
        ("p.low", "rest"),
        ("p.core.low", "core"),
        ("p.core.deep.er", "core"),
        ("core.low", "rest"),
        ("p.examples.one", "rest"),
        ("p.__main__", "rest"),
        ("p.testing", "conformance"),
        ("p.conformance.kit", "conformance"),
        ("p.more.testing.samples", "rest"),
    ],
)
def test_the_kind_of_a_file_follows_from_its_folder(name: str, part: str) -> None:
    assert part_of(module(name, "x = 1")) == part


def test_a_package_with_a_core_has_nothing_else_in_it(tmp_path: Path) -> None:
    files = {
        "__init__.py": "",
        "core/__init__.py": '"""Core."""',
        "core/low.py": "one = 1\n",
        "subject/more.py": "",
        "single.py": "",
        "subject/core/deep.py": "",
        "testing/samples.py": "",
    }
    parts = {each.path: part_of(each) for each in package(tmp_path, files).modules("p")}
    assert parts == {
        "__init__.py": "rest",
        "core/__init__.py": "core",
        "core/low.py": "core",
        "subject/more.py": "rest",
        "single.py": "rest",
        "subject/core/deep.py": "rest",
        "testing/samples.py": "conformance",
    }


@pytest.mark.parametrize(
    ("text", "complaints"),
    [
        ("from low import one\nfrom low.core import a\nimport low.core.a\n", []),
        ("import low\n", []),
        ("def f():\n    from low.b import two\n", [", line 2, imports low.b (rest)"]),
        ("from low import two\n", [" imports two from low.b (rest)"]),
        ("import low.b\n", [", line 1, imports low.b (rest)"]),
    ],
)
def test_a_core_uses_only_cores(tmp_path: Path, text: str, complaints: list[str]) -> None:
    for path, content in {
        "low/__init__.py": "from low.core.a import one\nfrom low.b import two\n",
        "low/core/a.py": "one = 1\n",
        "low/b.py": "two = 2\n",
        "high/__init__.py": "from low.b import two\n",
        "high/core/c.py": text,
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(content)
    library = Library({name: tmp_path / name for name in ("low", "high")})
    assert list(beyond_cores(library, "high")) == [f"core/c.py (core){c}" for c in complaints]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ('"""More\n\nof it."""\n\nx = 1  # one\n# two\n\n', 1),
        ("x = [\n    1,\n    # two\n\n]\n", 3),
        ('x = """one # two\n\n# three"""\n', 3),
        ('x = (\n    "#"\n    # "two\n    \'"\'\n)\n', 4),
        ('x = "\\"#"; y = r"\\#"  # """\nz = 1\n# """\n', 2),
        ("x = f'{1}#' '''\n\n\\'''#'''\n", 3),
        ("def f():\n    '''More.'''\n    #\n    return 1 + (\n        2\n    )\n", 4),
    ],
)
def test_lines_of_code_compute_something(text: str, count: int) -> None:
    assert lines_of_code(module("p.low", text)) == count


def test_imports_are_found_everywhere(tmp_path: Path) -> None:
    hidden = {
        "inside.py": "def late():\n    from p.core import low\n",
        "typed.py": "if TYPE_CHECKING:\n    from p.core.low import one\n",
        "several.py": "import p.core.low, p.inside as i\nimport os\nfrom .typed import *\n",
        "shadowed/__init__.py": "from p.shadowed.thing import thing\n",
        "shadowed/thing.py": "def thing(): ...\n",
        "user.py": "from p.shadowed import thing\n",
        "whole/__init__.py": "from . import part\n",
        "whole/part.py": "",
    }
    graph = import_graph(package(tmp_path, FILES | hidden), "p")
    assert graph == {
        "p": {"p.core.low", "p.more"},
        "p.core.low": set(),
        "p.core.high": set(),
        "p.core.high.up": {"p.core.low"},
        "p.more": {"p.core.high.up"},
        "p.testing": {"p.more"},
        "p.inside": {"p.core.low"},
        "p.typed": {"p.core.low"},
        "p.several": {"p.core.low", "p.inside", "p.typed"},
        "p.shadowed": {"p.shadowed.thing"},
        "p.shadowed.thing": set(),
        "p.user": {"p.shadowed"},
        "p.whole": {"p.whole.part"},
        "p.whole.part": set(),
    }


def test_a_house_in_order_is_not_complained_of(tmp_path: Path) -> None:
    library = package(tmp_path, FILES)
    assert list(misdirected(library, "p")) == []
    assert list(disordered(library, "p", ORDER)) == []


@pytest.mark.parametrize(
    ("path", "text", "complaint"),
    [
        (
            "core/low.py",
            "def f():\n    from p import more\n",
            "core/low.py (core), line 2, imports more.py (rest)",
        ),
        (
            "more.py",
            "from p import testing\n",
            "more.py (rest), line 1, imports testing.py (conformance)",
        ),
        (
            "__init__.py",
            "import p.core.low\nimport p.testing\n",
            "__init__.py (rest), line 2, imports testing.py (conformance)",
        ),
    ],
)
def test_an_import_in_the_wrong_direction_is_named(
    tmp_path: Path, path: str, text: str, complaint: str
) -> None:
    assert list(misdirected(package(tmp_path, FILES | {path: text}), "p")) == [complaint]


@pytest.mark.parametrize(
    ("order", "complaint"),
    [
        (ORDER[:-1], "core/high/up.py is missing from the reading order"),
        ([*ORDER, "core/low.py"], "core/low.py is in the reading order twice"),
        (
            [*ORDER, "testing.py"],
            "testing.py is in the reading order, but not a file of the core",
        ),
        ([*ORDER, "gone.py"], "gone.py is in the reading order, but not a file of the core"),
        (
            ORDER[::-1],
            "core/high/up.py, line 1, imports core/low.py, which comes later",
        ),
    ],
)
def test_a_file_in_a_wrong_place_is_named(tmp_path: Path, order: list[str], complaint: str) -> None:
    assert list(disordered(package(tmp_path, FILES), "p", order)) == [complaint]


def test_the_order_is_the_list_of_its_section(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(
        textwrap.dedent("""
            # p

            1. [other](src/p/other.py) - before.

            ## Reading order

            An hour.

            1. [low.py](src/p/low.py) - the first.
            2. [high/up.py](src/p/high/up.py) - the second,
               on two lines.

            ## After

            3. [more](src/p/more.py) - no lesson.
        """)
    )
    assert reading_order(readme) == ["low.py", "high/up.py"]
    readme.write_text("# p\n\nNothing of that kind.\n")
    assert reading_order(readme) == []


def test_the_command_covers_every_stage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["size", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found.keys() == {"stages"}
    stages = Workspace.read().stages.values()
    assert [each["stage"] for each in found["stages"]] == [stage.short for stage in stages]
    for each, stage in zip(found["stages"], stages, strict=True):
        assert each.keys() == {"stage", "core", "rest", "conformance"}
        assert each["core"].keys() == {"files", "lines", "code", "order"}
        assert each["rest"].keys() == each["conformance"].keys() == {"files", "lines", "code"}
        assert each["core"]["order"] == reading_order(stage.folder / "README.md")
        files = len(list(stage.source.rglob("*.py")))
        assert 0 < sum(each[part]["files"] for part in list(each)[1:]) <= files

    assert main(["size"]) == 0
    shown = capsys.readouterr().out
    core = found["stages"][0]["core"]
    assert f"{core['lines']:,} ({core['code']:,}) in " in shown


@pytest.mark.parametrize("stage", Workspace.read().stages.values(), ids=lambda stage: stage.short)
def test_a_stage_that_gives_an_order_keeps_it(stage: Stage) -> None:
    order = reading_order(stage.folder / "README.md")
    if order:
        library = Library({stage.import_name: stage.source})
        assert list(misdirected(library, stage.import_name)) == []
        assert list(disordered(library, stage.import_name, order)) == []
        found = beyond_cores(Workspace.read().library(), stage.import_name)
        assert list(found) == []
