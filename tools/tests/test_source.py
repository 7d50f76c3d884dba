"""Names are found in the source as Python finds them after an import."""

import ast
import importlib
import inspect
import textwrap
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from mt.source.imports import import_graph
from mt.source.modules import Library
from mt.source.public import public_names
from mt.source.symbols import Symbols, UnknownSymbolError
from mt.workspace import Stage, Workspace


def library(root: Path, **files: str) -> Symbols:
    for name, text in files.items():
        path = root.joinpath(*name.split("__"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".py").write_text(textwrap.dedent(text))
    return Symbols(Library({"p": root / "p"}))


@pytest.fixture
def symbols(tmp_path: Path) -> Symbols:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "__init__.py").write_text(
        "from p.low import relu as positive, Base\nfrom p import low as under\nimport p.high\n"
    )
    return library(
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
            """How much there may be."""

            relu("row", lambda x: x)
        ''',
        p__high='''
            import p
            from . import low


            class High(low.Base):
                """On top."""

                positive = low.relu

                def __init__(self, width: int, /) -> None:
                    self.width = width


            class Higher(p.Base): ...
        ''',
    )


@pytest.mark.parametrize(
    ("name", "found", "kind"),
    [
        ("p", "p", "module"),
        ("p.low", "p.low", "module"),
        ("p.under", "p.low", "module"),
        ("p.positive", "p.low.relu", "function"),
        ("p.high.High", "p.high.High", "class"),
        ("p.high.High.positive", "p.low.relu", "function"),
        ("p.high.High.size", "p.low.Base.size", "function"),
        ("p.high.Higher.size", "p.low.Base.size", "function"),
        ("p.low.LIMIT", "p.low.LIMIT", "value"),
        ("p.low[row]", "p.low[row]", "value"),
    ],
)
def test_a_name_leads_to_its_definition(symbols: Symbols, name: str, found: str, kind: str) -> None:
    symbol = symbols.find(name)
    assert (symbol.name, symbol.kind) == (found, kind)


def test_a_symbol_has_the_properties_of_its_source(symbols: Symbols) -> None:
    relu = symbols.find("p.positive")
    assert relu.signature == "(x: float, *, slope: float=0.0) -> float"
    assert relu.summary == "Return the positive part."
    assert relu.lines == (6, 11)
    assert relu.text.startswith("def relu(")
    assert relu.text.endswith("return x")
    assert symbols.find("p.low.LIMIT").summary == "How much there may be."
    assert symbols.find("p.high.High").signature == "(width: int, /)"
    assert symbols.find("p.low.Base.size").text.startswith("@property\ndef size")
    assert symbols.find("p.low[row]").text == 'relu("row", lambda x: x)'


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("q.low", "no package 'q'; there are p"),
        ("p.high.High.sizes", r"p.high.High \(high.py, line 6\) has no 'sizes'. Is it size"),
        ("p.low.rely", r"p.low \(low.py, line 1\) has no 'rely'. Is it relu"),
        ("p.low[column]", "no statement of low.py defines 'column'"),
    ],
)
def test_an_unknown_name_in_the_map_is_an_error(symbols: Symbols, name: str, message: str) -> None:
    with pytest.raises(UnknownSymbolError, match=message):
        symbols.find(name)


@pytest.mark.parametrize("stage", list(Workspace.read().stages.values()), ids=lambda s: s.short)
def test_public_names_are_what_python_imports(stage: Stage) -> None:
    symbols = Symbols(Workspace.read().library())
    names = public_names(symbols, stage.import_name)
    package = importlib.import_module(stage.import_name)
    assert set(package.__all__) - {"__version__"} <= set(names)
    for name, symbol in names.items():
        declared = symbol.module.file.suffix == ".pyi"  # a function of a row of the operator table
        if symbol.kind in ("class", "function") and not declared:
            inside, _, last = name.rpartition(".")
            thing = getattr(
                importlib.import_module(f"{stage.import_name}.{inside}".rstrip(".")), last
            )
            lines, first = inspect.getsourcelines(inspect.unwrap(thing))
            assert (first, first + len(lines) - 1) == symbol.lines, name


@pytest.mark.parametrize("stage", list(Workspace.read().stages.values()), ids=lambda s: s.short)
def test_no_module_is_imported_by_what_it_imports(stage: Stage) -> None:
    """Imports inside functions and for types count; a package imports its public names."""
    package = stage.import_name
    graph = import_graph(Workspace.read().library(), package)
    del graph[package]
    order = TopologicalSorter(graph)
    try:
        order.prepare()
    except CycleError as error:
        pytest.fail(" is imported by ".join(error.args[1]))


UNKNOWN = (
    *("Variable", "Lazy"),
    *("inspection.tensorboard.SummaryWriter", "inspection.torch_profiler.Profiler"),
)
"""Prefixes of the names of a protocol, of layers with another signature for type checkers, and of
classes whose constructor is another library's or that of `Enum`."""


@pytest.mark.parametrize("stage", list(Workspace.read().stages.values()), ids=lambda s: s.short)
def test_signatures_are_what_python_sees(stage: Stage) -> None:
    symbols = Symbols(Workspace.read().library())
    for name, symbol in public_names(symbols, stage.import_name).items():
        if symbol.kind not in ("class", "function") or name.startswith(UNKNOWN):
            continue
        module, _, last = f"{stage.import_name}.{name}".rpartition(".")
        thing = getattr(importlib.import_module(module), last)
        try:
            seen = list(inspect.signature(thing).parameters)
        except ValueError:  # one of Python's own
            assert symbol.signature == "", name
            continue
        definition = ast.parse(f"def f{symbol.signature}: ...").body[0]
        assert isinstance(definition, ast.FunctionDef)
        assert [each.arg for each in _in_order(definition.args)] == seen, name


def _in_order(arguments: ast.arguments) -> list[ast.arg]:
    rest = [arguments.vararg, *arguments.kwonlyargs, arguments.kwarg]
    return [*arguments.posonlyargs, *arguments.args, *(each for each in rest if each)]
