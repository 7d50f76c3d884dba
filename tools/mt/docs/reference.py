"""The reference: a page for each public name, from its docstring, its signature and its source.

The pages are written into `docs/reference` before the build. Names are those of `mt.source.public`;
what a name is bound to is read from the imported package, because some functions are made at import
time, one for each row of the operator table. Examples are in `docs/examples`, see `examples.py`.
"""

from __future__ import annotations

import builtins
import importlib
import inspect
import os
import re
import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import EnumType
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, get_origin

from griffe import Class, Object
from sphinx.application import Sphinx

from mt.docs.docstrings import Item, attributes_in, described, linked
from mt.docs.examples import read_examples
from mt.docs.signatures import link_types, options_of, signature_of, width_of
from mt.docs.source import modules
from mt.source.public import public_names
from mt.source.symbols import docstring_of, find, name_of
from mt.workspace import Stage, Workspace


@dataclass(eq=False)
class Entry:
    """A public name.

    Attributes:
        stage: the package that exports it.
        path: its name below the package, such as `functional.relu`.
        symbol: its definition in the source.
        value: the object that it names.
    """

    stage: Stage
    path: str
    symbol: Object
    value: Any

    @property
    def name(self) -> str:
        """The complete name: `mt_nn.functional.relu`."""
        return f"{self.stage.import_name}.{self.path}"

    @property
    def page(self) -> str:
        """The name of its page below `reference`."""
        return f"{self.stage.short}/{self.path}"

    @property
    def docstring(self) -> str:
        """Its docstring; for a constant, the string after it."""
        doc = "" if self.kind == "data" else inspect.getdoc(self.value)
        return doc or docstring_of(self.symbol) or self._of_dtype()

    def _of_dtype(self) -> str:
        """Return a docstring for a dtype; empty for other constants."""
        dtype: Any = self.value
        if type(dtype).__name__ != "DType":
            return ""
        if dtype.is_floating_point:
            like = " with the range of float32" if dtype.name == "bfloat16" else ""
            return f"The dtype of floating-point numbers of {8 * dtype.itemsize} bits{like}."
        if dtype.kind == "bool":
            return "The dtype of `True` and `False`."
        return f"The dtype of integers from {dtype.lowest:,} to {dtype.highest:,}."

    @property
    def summary(self) -> str:
        """The first line of its docstring."""
        return self.docstring.partition("\n")[0]

    @property
    def kind(self) -> str:
        """The kind of object in Sphinx's Python domain."""
        if inspect.isclass(self.value):
            return "exception" if issubclass(self.value, BaseException) else "class"
        is_type = get_origin(self.value) is not None  # such as Literal["a", "b"]
        return "function" if callable(self.value) and not is_type else "data"

    @cached_property
    def parameters(self) -> set[str]:
        """The names of its parameters."""
        return set(re.findall(r"(\w+):", "" if self.kind == "data" else signature_of(self.value)))

    @property
    def options(self) -> list[Item]:
        """The keyword arguments that a typed dictionary and its bases describe."""
        kind = None if self.kind == "data" else options_of(self.value)
        found: list[Item] = []
        names = [] if kind is None else [f"{kind.__module__}.{kind.__qualname__}"]
        for name in names:
            symbol = find(modules(), name)
            known = {name for name, _ in found}
            found += [each for each in attributes_in(docstring_of(symbol)) if each[0] not in known]
            bases = symbol.resolved_bases if isinstance(symbol, Class) else ()
            names += [base.path for base in bases if base.path.startswith("mt_")]
        order = list(reversed(kind.__annotations__)) if found else []  # as in the signature
        return sorted(found, key=lambda item: order.index(item[0]))


def entries(stage: Stage) -> Iterator[Entry]:
    """Yield the public names of a package, without modules."""
    for path, symbol in public_names(modules(), stage.import_name).items():
        if not symbol.is_module:
            yield Entry(stage, path, symbol, resolved(f"{stage.import_name}.{path}"))


def resolved(name: str) -> Any:
    """Return the object of a qualified name, in the deepest module that is a prefix of it.

    A function can hide the module of the same name, as `mt_tensor.backends` does.
    """
    parts = name.split(".")
    for count in range(len(parts) - 1, 0, -1):
        module = ".".join(parts[:count])
        if _is_module(module):
            value: Any = importlib.import_module(module)
            for part in parts[count:]:
                value = getattr(value, part)
            return value
    raise AttributeError(f"{name} does not exist")


def _is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def write_reference(app: Sphinx) -> None:
    """Write the pages."""
    os.environ.setdefault("MT_CUDA_SIM", "1")
    folder = Path(app.srcdir) / "reference"
    shutil.rmtree(folder, ignore_errors=True)
    stages = Workspace.read().stages.values()
    found = [(stage, list(entries(stage))) for stage in stages]
    pages = Pages(entry for _, group in found for entry in group)
    for stage, group in found:
        (folder / stage.short).mkdir(parents=True)
        overview = _overview(stage, group, pages)
        (folder / stage.short / "index.md").write_text(overview, encoding="utf-8")
        examples = read_examples(stage.short)
        for entry in group:
            text = _page(entry, pages, example_of(entry, group, examples))
            (folder / f"{entry.page}.md").write_text(text, encoding="utf-8")


UNRELATED = {"history", "inv", "mean", "normalize", "tile"}
"""Words that name different things in different places."""


class Pages:
    """The page that a name in a docstring links to, and the names of each object."""

    def __init__(self, found: Iterable[Entry]) -> None:
        self._by_name: dict[str, Entry] = {}
        self._by_word = defaultdict(list)
        self._by_value = defaultdict(list)
        self._stages: list[str] = []
        for entry in found:
            self._by_name[entry.name] = entry
            self._by_word[_word(entry)].append(entry)
            self._by_value[id(entry.value)].append(entry)
            if entry.stage.import_name not in self._stages:
                self._stages.append(entry.stage.import_name)
        types = [each for each in self._by_name.values() if each.kind in {"class", "exception"}]
        types.sort(key=lambda each: each.path.count("."), reverse=True)
        self._types = {id(each.value): each for each in types}

    def linked_signature(self, entry: Entry, value: Any, *, bound: bool = False) -> str:
        """Return the signature of an entry, or a member of it, in which types have links."""

        def page_names(name: str, kind: Any) -> str:
            if kind is None:  # imported for type checkers only
                return self._find(entry, name)
            return self._types[id(kind)].name if id(kind) in self._types else ""

        return signature_of(
            value, bound=bound, linked=lambda text: link_types(text, value, page_names)
        )

    def _find(self, entry: Entry, name: str) -> str:
        """Return the qualified name that a name in the docs of an entry refers to.

        The name is looked up in the module of the entry, in its package, and in the packages that
        this package depends on. If the name is unknown, the result is an empty string.
        """
        package, space = entry.stage.import_name, entry.path.rpartition(".")[0]
        packages = self._stages[self._stages.index(package) :: -1]
        spaces = (space, space.rpartition(".")[0], "" if space else "functional")
        candidates = [f"{package}.{each}.{name}" for each in spaces]
        candidates += [f"{each}{part}.{name}" for each in packages for part in ("", ".errors")]
        candidates += [
            each.name
            for each in self._types.values()
            if each.name.endswith(f".{name}") and each.stage.import_name in packages
        ]
        return next((each for each in [*candidates, name] if each in self._by_name), "")

    def same(self, entry: Entry) -> list[Entry]:
        """Return the other names of an object in its package."""
        plain = isinstance(entry.value, (str, int, float, tuple))  # equal ones may be one object
        others = [] if plain else self._by_value[id(entry.value)]
        return [other for other in others if other.stage is entry.stage and other is not entry]

    def defined(self, entry: Entry, value: Any) -> Entry:
        """Return the entry of a function in the package of `entry`; if it has none, `entry`."""
        others = self._by_value[id(value)]
        return next((other for other in others if other.stage is entry.stage), entry)

    def has_type(self, kind: type) -> bool:
        """Return whether a class has a page."""
        return id(kind) in self._types

    def bases(self, entry: Entry) -> list[Entry]:
        """Return a list with the nearest base of a class that has a page; empty if none has."""
        others = entry.value.__mro__[1:] if inspect.isclass(entry.value) else ()
        return [self._types[id(each)] for each in others if self.has_type(each)][:1]

    def twins(self, entry: Entry) -> list[Entry]:
        """Return the functions and classes with the same name as another, in all packages."""
        word = _word(entry)
        others = [] if word in UNRELATED else self._by_word[word]
        same = [entry, *self.same(entry)]
        return [
            other
            for other in others
            if other not in same and (entry.kind != "data" or other.value is entry.value)
        ]

    def function(self, entry: Entry, name: str) -> str:
        """Return the page of a function of the package of an entry; empty if it has none."""
        found = self._by_name.get(f"{entry.stage.import_name}.{name}")
        return "" if found is None or found.kind != "function" else found.page

    def of(self, entry: Entry, name: str) -> str:
        """Return the page of a name in the docstring of an entry; empty if it has none.

        Builtin types, and parameters and members of the entry itself, have none.
        """
        is_member = inspect.isclass(entry.value) and hasattr(entry.value, name)
        is_builtin = isinstance(vars(builtins).get(name), type)
        if is_member or is_builtin or name in entry.parameters:
            return ""
        found = (self._find(each, name) for each in (entry, *self.same(entry)))
        pages = (self._by_name[each] for each in found if each)
        page = next((each.page for each in pages if each.value is not entry.value), "")
        owner = name.rpartition(".")[0]
        return page or (self.of(entry, owner) if owner.rpartition(".")[2][:1].isupper() else "")


def example_of(entry: Entry, group: Iterable[Entry], examples: Mapping[str, str]) -> str:
    """Return the example of a name, or of another name of the same function or class."""
    if entry.path in examples:
        return examples[entry.path]
    if not callable(entry.value):
        return ""
    same = (other.path for other in group if other.value is entry.value)
    return next((examples[path] for path in same if path in examples), "")


def _word(entry: Entry) -> str:
    """Return the last part of a name without case and underscores: `crossentropy`."""
    word = entry.path.rpartition(".")[2].lower().replace("_", "")
    return word.removesuffix("loss") or word


CORE = "Core"
"""The title above the names of a package's core."""


def _overview(stage: Stage, group: Iterable[Entry], pages: Pages) -> str:
    """Return the page of a package: its names by subject, first those of the package itself."""
    subjects = defaultdict(list)
    for entry in group:
        subjects[_subject(entry)].append(entry)
    order = sorted(subjects, key=_sort_key)
    parts = [f"# {stage.import_name}\n"]
    prefix = f"{stage.import_name}."
    for kind, is_module in (("Subjects", False), ("Modules", True)):
        shown = [each for each in order if each.startswith("`") == is_module]
        links = ", ".join(
            f"[{each.replace(prefix, '') or CORE}](#{_anchor(each)})" for each in shown
        )
        parts.append(f"{kind}: {links}.\n" if links else "")
    for subject in order:
        parts.append(f"## {subject or CORE}\n")
        for entry in sorted(subjects[subject], key=lambda entry: entry.path.lower()):
            summary = linked(entry.summary or entry.kind, partial(pages.of, entry))
            parts.append(f"[`{entry.path.rpartition('.')[2]}`]({entry.path}.md)\n: {summary}\n")
    return "\n".join(parts)


def _sort_key(subject: str) -> tuple[bool, str]:
    """Return the place of a subject: the core, folders in the order of the source, modules."""
    return subject != "", subject.strip("`") if subject.startswith("`") else ""


def _subject(entry: Entry) -> str:
    """Return the folder that a name belongs to, as a title."""
    namespace = entry.path.rpartition(".")[0]
    if namespace:
        return f"`{entry.stage.import_name}.{namespace}`"
    package, _, rest = entry.symbol.module.path.partition(".")
    top = rest.partition(".")[0]
    if package != entry.stage.import_name or top == "core":
        return ""
    return {"optim": "Optimization"}.get(top, top.replace("_", " ").capitalize())


def _page(entry: Entry, pages: Pages, example: str) -> str:
    """Return the page of a name."""
    page_of = partial(pages.of, entry)
    parts = ["---\norphan: true\n---\n", f"# {entry.path}\n", _above(entry)]
    is_called = entry.kind in {"class", "function"}
    signature = pages.linked_signature(entry, entry.value) if is_called else ""
    words = "" if entry.kind == "function" else f"{entry.kind} "
    short = width_of(words + entry.name + signature) <= WIDTH
    option = "\n:single-line-parameter-list:" if short else ""
    parts.append(f"::::::{{py:{entry.kind}}} {entry.name}{signature}{option}\n")
    parts.append(described(entry.docstring, page_of, entry.options))
    if isinstance(entry.value, EnumType):
        parts.append(f"**Members**: {', '.join(f'`{name}`' for name in entry.value.__members__)}\n")
    if example:
        parts.append(f"```pycon\n{example}\n```\n")
    if entry.kind == "class":
        parts += _members(entry, pages)
    parts.append("::::::\n")
    parts.append(_links("Base class", pages.bases(entry)))
    parts.append(_links("Also called", pages.same(entry)))
    others = (
        other
        for other in pages.twins(entry)
        if f"`{other.name}`" not in entry.docstring and other not in pages.bases(entry)
    )
    parts.append(_links("See also", others))
    parts.append(f"```{{source}} {name_of(entry.symbol)}\n:folded:\n```\n")
    return "\n".join(parts)


def _links(title: str, others: Iterable[Entry]) -> str:
    """Return a line of links to other names; empty if there are none."""
    links = ", ".join(f"[`{other.name}`](/reference/{other.page}.md)" for other in others)
    return f"{title}: {links}\n" if links else ""


def _above(entry: Entry) -> str:
    """Return links to the pages above that of a name."""
    subject = _subject(entry)
    package = f"[`{entry.stage.import_name}`](index.md)"
    place = f"[{subject or CORE}](index.md#{_anchor(subject)})"
    return f"{{.above}}\n[Reference](/reference.md) / {package} / {place}\n"


def _anchor(subject: str) -> str:
    """Return the anchor of a subject in the page of its package."""
    return re.sub(r"[^\w -]", "", subject or CORE).lower().replace(" ", "-")


MANY = 60
"""The number of members from which only their summaries are shown."""

WIDTH = 88
"""The length of the longest signature that stays in one line."""


def _own_members(entry: Entry, pages: Pages) -> dict[str, Any]:
    """Return the public methods and properties of a class that no base with a page has."""
    members: dict[str, Any] = {}
    for kind in reversed(entry.value.__mro__):
        if kind is entry.value or not pages.has_type(kind):
            members |= {name: each for name, each in vars(kind).items() if _is_shown(name, each)}
    if hasattr(entry.value, "function") and "forward" not in vars(entry.value):
        members.pop("forward", None)  # it calls the function
    if "extra_repr" not in vars(entry.value):
        members.pop("extra_repr", None)
    return members


def _members(entry: Entry, pages: Pages) -> Iterator[str]:
    """Yield the public methods and properties of a class as Markdown."""
    members = _own_members(entry, pages)
    functions: dict[str, str] = {}
    if len(members) >= MANY:  # as for Tensor, many of whose methods are functions, too
        methods = sorted(name for name in members if not isinstance(members[name], property))
        functions = {name: page for name in methods if (page := pages.function(entry, name))}
    if functions:
        links = ", ".join(f"[`{name}`](/reference/{page}.md)" for name, page in functions.items())
        yield f"**Methods that are functions, too**\n\n{links}.\n"
    members = {name: each for name, each in members.items() if name not in functions}
    if members:
        yield "**Methods and properties**\n"
    for name, member in sorted(members.items()):
        kind = "property" if isinstance(member, property) else "method"
        words = {classmethod: "classmethod", staticmethod: "static"}.get(type(member), "")
        method = getattr(member, "__func__", member)
        signature = options = ""
        if kind == "method":
            bound = words != "static"
            signature = pages.linked_signature(entry, method, bound=bound)
        if words:
            options += f"\n:{words.replace('static', 'staticmethod')}:"
        text = inspect.getdoc(method) or ""
        page_of = partial(pages.of, pages.defined(entry, method))
        if len(members) < MANY:
            text = described(text, page_of)
        else:
            text = linked(text.partition("\n")[0], page_of)
            options += "\n:no-contents-entry:"
        if width_of(f"{words} {name}{signature}") <= WIDTH:
            options += "\n:single-line-parameter-list:"
        yield f":::::{{py:{kind}}} {entry.name}.{name}{signature}{options}\n\n{text}\n:::::\n"


def _is_shown(name: str, member: Any) -> bool:
    """Return whether a member of a class is public, and a property or a function of our own."""
    if name[0] == "_" or isinstance(member, property):
        return name[0] != "_"
    function = getattr(member, "__func__", member)
    module = str(getattr(function, "__module__", ""))
    return callable(function) and not inspect.isclass(function) and module.startswith("mt_")
