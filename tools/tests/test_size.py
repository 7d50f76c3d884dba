"""Parts of a stage, lines of code, and the reading order."""

import json
import textwrap
from pathlib import Path

import pytest

from mt.__main__ import main
from mt.source.parts import lines_of_code, part_of
from mt.source.reading import reading_order
from mt.workspace import Workspace


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
def test_part_of_a_module_depends_on_its_folder(name: str, part: str) -> None:
    assert part_of(name) == part


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
def test_lines_of_code_exclude_blanks_comments_and_docstrings(text: str, count: int) -> None:
    assert lines_of_code(text) == count


def test_reading_order_is_the_list_in_its_section(tmp_path: Path) -> None:
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

            3. [more](src/p/more.py) - not in the list.
        """)
    )
    assert reading_order(readme) == ["low.py", "high/up.py"]
    readme.write_text("# p\n\nNothing of that kind.\n")
    assert reading_order(readme) == []


def test_size_command_lists_parts_and_reading_order_of_every_stage(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["size", "--json"]) == 0
    sizes = json.loads(capsys.readouterr().out)
    stages = Workspace.read().stages.values()
    assert [*sizes] == [stage.short for stage in stages]
    for stage in stages:
        size = sizes[stage.short]
        assert size.keys() == {"core", "rest", "conformance"}
        assert size["core"].keys() == {"files", "lines", "code", "order"}
        assert size["rest"].keys() == size["conformance"].keys() == {"files", "lines", "code"}
        assert size["core"]["order"] == reading_order(stage.folder / "README.md")
        files = len(list(stage.source.rglob("*.py")))
        assert 0 < sum(part["files"] for part in size.values()) <= files

    assert main(["size"]) == 0
    shown = capsys.readouterr().out
    for name, size in sizes.items():
        core = size["core"]
        assert f"\n{name:24}{core['lines']:,} ({core['code']:,}) in {core['files']} " in shown
        listing = " ".join(shown.partition(f"Core of {name}\n")[2].split())
        listed = [part.split()[0] for part in listing.split("Core of")[0].split(", ")]
        assert listed == [path.removeprefix("core/") for path in core["order"]]
