"""The reference: a page for each public name, from its docstring, its signature and its source.

The pages are written into `docs/reference` before the build. Names are those of `mt.source.public`;
what a name is bound to is read from the imported package, because some functions are made at import
time, one for each row of the operator table. Examples are in `docs/examples`, see `examples.py`.
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, get_origin

from griffe import Docstring, DocstringSectionKind, Object
from sphinx.application import Sphinx

from mt.docs.examples import read_examples
from mt.docs.source import modules
from mt.source.public import public_names
from mt.source.symbols import docstring_of, name_of
from mt.workspace import Stage, Workspace


@dataclass(frozen=True)
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
        own = "" if self.kind == "data" else inspect.getdoc(self.value)
        return own or docstring_of(self.symbol)

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

    @property
    def signature(self) -> str:
        """Its parameters; empty if it has none, or they are unknown."""
        if self.kind in {"data", "exception"}:
            return ""
        return signature_of(self.value)


def signature_of(value: Any, *, bound: bool = False) -> str:
    """Return the parameters of a function or class; empty if they are unknown.

    Args:
        value: the function or class.
        bound: whether to leave out the first parameter if it is `self` or `cls`.
    """
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    if getattr(value, "_is_protocol", False):
        return ""
    parameters = [
        each.replace(annotation=_readable(each.annotation), default=_readable_default(each.default))
        for each in signature.parameters.values()
    ]
    if bound and parameters and parameters[0].name in {"self", "cls"}:
        del parameters[0]
    result = inspect.Signature.empty if inspect.isclass(value) else signature.return_annotation
    return str(signature.replace(parameters=parameters, return_annotation=_readable(result)))


class _Text(str):
    """A text whose representation has no quotes."""

    __slots__ = ()
    __repr__ = str.__str__


def _readable(annotation: Any) -> Any:
    return _Text(annotation) if isinstance(annotation, str) else annotation


def _readable_default(default: Any) -> Any:
    """Return the representation of a default value: for a function or class its name."""
    if default is inspect.Parameter.empty or not repr(default).startswith("<"):
        return default
    name = getattr(default, "__name__", "...")
    return _Text("..." if name == "<lambda>" else name)


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
    twins = defaultdict(list)
    for entry in (entry for _, group in found for entry in group):
        twins[_plain(entry.path)].append(entry)
    for stage, group in found:
        (folder / stage.short).mkdir(parents=True)
        (folder / stage.short / "index.md").write_text(_overview(stage, group), encoding="utf-8")
        examples = read_examples(stage.short)
        for entry in group:
            others = [other for other in twins[_plain(entry.path)] if other is not entry]
            text = _page(entry, others, example_of(entry, group, examples))
            (folder / f"{entry.page}.md").write_text(text, encoding="utf-8")


def example_of(entry: Entry, group: Iterable[Entry], examples: Mapping[str, str]) -> str:
    """Return the example of a name, or of another name of the same function or class."""
    if entry.path in examples:
        return examples[entry.path]
    if not callable(entry.value):
        return ""
    same = (other.path for other in group if other.value is entry.value)
    return next((examples[path] for path in same if path in examples), "")


def _plain(path: str) -> str:
    """Return the last part of a name without case and underscores: `CrossEntropyLoss`."""
    return path.rpartition(".")[2].lower().replace("_", "")


CORE = "Core"
"""The title above the names of a package's core."""


def _overview(stage: Stage, group: Iterable[Entry]) -> str:
    """Return the page of a package: its names by subject."""
    subjects = defaultdict(list)
    for entry in group:
        subjects[_subject(entry)].append(entry)
    parts = [f"# {stage.import_name}\n"]
    for subject, members in sorted(subjects.items(), key=lambda item: item[0] != ""):
        parts.append(f"## {subject or CORE}\n")
        parts += [
            f"[`{entry.path}`]({entry.path}.md)\n: {entry.summary or entry.kind}\n"
            for entry in sorted(members, key=lambda entry: entry.path.lower())
        ]
    return "\n".join(parts)


def _subject(entry: Entry) -> str:
    """Return the folder that a name belongs to, as a title."""
    namespace = entry.path.rpartition(".")[0]
    if namespace:
        return f"`{entry.stage.import_name}.{namespace}`"
    package, _, rest = entry.symbol.module.path.partition(".")
    top = rest.partition(".")[0]
    if package != entry.stage.import_name or top == "core":
        return ""
    return top.replace("_", " ").capitalize()


def _page(entry: Entry, twins: list[Entry], example: str) -> str:
    """Return the page of a name."""
    parts = ["---\norphan: true\n---\n", f"# {entry.path}\n", _above(entry)]
    parts.append(f"::::::{{py:{entry.kind}}} {entry.name}{entry.signature}\n")
    parts.append(_described(entry.docstring))
    if example:
        parts.append(f"```pycon\n{example}\n```\n")
    if entry.kind == "class":
        parts += _members(entry)
    parts.append("::::::\n")
    if twins:
        links = ", ".join(f"[`{twin.name}`](/reference/{twin.page}.md)" for twin in twins)
        parts.append(f"Elsewhere: {links}\n")
    parts.append(f"```{{source}} {name_of(entry.symbol)}\n:folded:\n```\n")
    return "\n".join(parts)


def _above(entry: Entry) -> str:
    """Return links to the pages above that of a name."""
    subject = _subject(entry) or CORE
    anchor = re.sub(r"[^\w -]", "", subject).lower().replace(" ", "-")
    package = f"[`{entry.stage.import_name}`](index.md)"
    return f"{{.above}}\n[Reference](/reference.md) / {package} / [{subject}](index.md#{anchor})\n"


LISTS = {
    DocstringSectionKind.parameters: "Arguments",
    DocstringSectionKind.attributes: "Attributes",
    DocstringSectionKind.raises: "Raises",
    DocstringSectionKind.returns: "Returns",
    DocstringSectionKind.yields: "Yields",
}


_EXAMPLE = re.compile(r"^>>> .*(\n.+)*", re.MULTILINE)
"""An example within a text, up to the next blank line."""


def _described(docstring: str) -> str:
    """Return a docstring as Markdown: its sections become definition lists."""
    parts = []
    for section in Docstring(docstring).parse("google", warnings=False):
        if section.kind is DocstringSectionKind.text:
            parts.append(_EXAMPLE.sub(r"```pycon\n\g<0>\n```", section.value) + "\n")
        elif section.kind is DocstringSectionKind.examples:
            code = "\n".join(text for _, text in section.value)
            parts.append(f"```pycon\n{code}\n```\n")
        elif section.kind in LISTS:
            parts.append(f"**{LISTS[section.kind]}**\n")
            for item in section.value:
                name = getattr(item, "name", "") or str(getattr(item, "annotation", "") or "")
                text = item.description.replace("\n", "\n  ")
                parts.append(f"`{name}`\n: {text}\n" if name else f"{text}\n")
        else:
            text = getattr(section.value, "contents", section.value)
            parts.append(f"{section.title or ''}: {text}\n")
    return "\n".join(parts)


MANY = 60
"""The number of members from which only their summaries are shown."""


def _members(entry: Entry) -> Iterator[str]:
    """Yield the public methods and properties that a class defines itself."""
    members = {
        name: getattr(member, "__func__", member)
        for name, member in sorted(vars(entry.value).items())
        if not name.startswith("_")
    }
    members = {
        name: member
        for name, member in members.items()
        if callable(member) or isinstance(member, property)
    }
    if members:
        yield "**Methods and properties**\n"
    for name, member in members.items():
        kind = "property" if isinstance(member, property) else "method"
        text = inspect.getdoc(member) or ""
        if len(members) < MANY:
            signature = signature_of(member, bound=True) if kind == "method" else ""
            text = _described(text)
        else:  # as for Tensor, whose methods are functions with a page of their own
            signature = "()" if kind == "method" else ""
            signature += "\n:no-contents-entry:"
            text = text.partition("\n")[0]
        yield f":::::{{py:{kind}}} {entry.name}.{name}{signature}\n\n{text}\n:::::\n"
