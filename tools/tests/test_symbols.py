"""Names are resolved from the source to the same definitions as after an import."""

import importlib
import inspect
import textwrap
from pathlib import Path

import pytest
from griffe import ModulesCollection

from mt.source.public import public_names
from mt.source.symbols import UnknownSymbolError, docstring_of, find, load, name_of
from mt.workspace import Stage, Workspace


def package(root: Path, **files: str) -> ModulesCollection:
    for name, text in files.items():
        path = root.joinpath(*name.split("__"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".py").write_text(textwrap.dedent(text))
    return load(root / "p")


@pytest.fixture
def modules(tmp_path: Path) -> ModulesCollection:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "__init__.py").write_text(
        "from p.low import relu as positive, Base\nfrom p import low as under\nimport p.high\n"
        "from p.thing import thing\n"
    )
    return package(
        tmp_path,
        p__low='''
            """Below."""
            from __future__ import annotations


            def relu(x: float, *, slope: float = 0.0) -> float:
                """Return the positive part.

                More of it.
                """
                return x


            class Base:
                """A base."""

                @property
                def size(self) -> int:
                    """Its size."""
                    return 0


            LIMIT = 3
            """The upper limit."""

            one, two = 1, 2

            relu("row", lambda x: x)
        ''',
        p__high='''
            import p
            from . import low


            class High(low.Base):
                """On top."""

                def __init__(self, width: int, /) -> None:
                    self.width = width


            class Higher(p.Base): ...
        ''',
        p__thing="def thing(): ...\ndef other(): ...\n",
    )


@pytest.mark.parametrize(
    ("name", "found", "kind"),
    [
        ("p", "p", "module"),
        ("p.low", "p.low", "module"),
        ("p.under", "p.low", "module"),
        ("p.positive", "p.low.relu", "function"),
        ("p.high.High", "p.high.High", "class"),
        ("p.high.High.size", "p.low.Base.size", "attribute"),
        ("p.high.Higher.size", "p.low.Base.size", "attribute"),
        ("p.low.LIMIT", "p.low.LIMIT", "attribute"),
        ("p.low.two", "p.low.two", "attribute"),
        ("p.low[row]", "p.low[row]", "attribute"),
        ("p.thing", "p.thing.thing", "function"),
        ("p.thing.other", "p.thing.other", "function"),
    ],
)
def test_find_returns_the_definition_of_a_name(
    modules: ModulesCollection, name: str, found: str, kind: str
) -> None:
    symbol = find(modules, name)
    assert (name_of(symbol), symbol.kind.value) == (found, kind)


def test_symbol_has_the_lines_and_docstring_of_its_statement(modules: ModulesCollection) -> None:
    relu = find(modules, "p.positive")
    assert docstring_of(relu).startswith("Return the positive part.")
    assert (relu.lineno, relu.endlineno) == (6, 11)
    assert relu.source.startswith("def relu(")
    assert relu.source.endswith("return x")
    assert docstring_of(find(modules, "p.low.LIMIT")) == "The upper limit."
    assert find(modules, "p.low.Base.size").source.startswith("@property\ndef size")
    assert find(modules, "p.low[row]").source == 'relu("row", lambda x: x)'
    assert find(modules, "p.low.two").source == "one, two = 1, 2"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("q.low", "the workspace has no 'q'."),
        ("p.high.High.sizes", r"p.high.High \(.*high.py, line 6\) has no 'sizes'. Did you mean s"),
        ("p.low.rely", r"p.low \(.*low.py, line 1\) has no 'rely'. Did you mean relu"),
        ("p.low[column]", r"no statement of p.low .* defines \[column\]"),
        ("p.low.annotations", "not defined in p.low .*, but imported: __future__.annotations"),
    ],
)
def test_unknown_name_raises_unknown_symbol_error(
    modules: ModulesCollection, name: str, message: str
) -> None:
    with pytest.raises(UnknownSymbolError, match=message):
        find(modules, name)


@pytest.mark.parametrize("stage", list(Workspace.read().stages.values()), ids=lambda s: s.short)
def test_public_names_match_the_imported_package(stage: Stage) -> None:
    names = public_names(load(*Workspace.read().sources), stage.import_name)
    package = importlib.import_module(stage.import_name)
    assert set(package.__all__) - {"__version__"} <= set(names)
    for name, symbol in names.items():
        if symbol.is_class or symbol.is_function:
            inside, _, last = name.rpartition(".")
            thing = getattr(
                importlib.import_module(f"{stage.import_name}.{inside}".rstrip(".")), last
            )
            lines, first = inspect.getsourcelines(inspect.unwrap(thing))
            assert (first, first + len(lines) - 1) == (symbol.lineno, symbol.endlineno), name
