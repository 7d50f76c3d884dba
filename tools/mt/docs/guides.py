"""Pages that are written elsewhere in the repository: guides, changelogs and documents.

The guides of a package belong to it, where its own tests run their examples; the site has copies of
them in `docs/guides`, written before each build. A link between two copied documents leads to the
copy, a picture is copied as well, and a link to any other file becomes its text.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
from pathlib import Path

from sphinx.application import Sphinx

from mt.workspace import ROOT, Workspace

_LINK = re.compile(r"(!?)\[((?:[^][]|\[[^]]*\])*)\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^(```.*?^```$)", re.MULTILINE | re.DOTALL)


def copied() -> dict[Path, str]:
    """Return the documents to copy, each with the name of its page below `guides`."""
    pages: dict[Path, str] = {}
    for stage in Workspace.read().stages.values():
        pages[stage.folder / "README.md"] = f"{stage.short}/index"
        for file in sorted(stage.folder.glob("docs/*.md")):
            pages[file] = f"{stage.short}/{file.stem}"
        pages[stage.folder / "CHANGELOG.md"] = f"{stage.short}/changelog"
    for file in (
        ROOT / "docs" / "promises.md",
        ROOT / "docs" / "names.md",
        ROOT / "CONTRIBUTING.md",
    ):
        pages[file] = file.stem.lower()
    pages[ROOT / "examples" / "README.md"] = "examples"
    return pages


def write_guides(app: Sphinx) -> None:
    """Write the copies."""
    folder = Path(app.srcdir) / "guides"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    pages = copied()
    for file, name in pages.items():
        parts = _FENCE.split(file.read_text(encoding="utf-8"))
        text = "".join(
            _highlighted(part) if part.startswith("```") else _relinked(part, file, pages, folder)
            for part in parts
        )
        if name.endswith("/index"):
            text += _toctree(name, pages)
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / f"{name}.md").write_text(text, encoding="utf-8")


def _highlighted(block: str) -> str:
    """Return a block of code; printed text is not highlighted as Python, and may be wrapped."""
    if not block.startswith("```\n"):
        return block
    text = block.removeprefix("```\n").removesuffix("```")
    try:
        ast.parse(text)
    except SyntaxError:
        has_columns = re.search(r"\S {4,}\S", text)
        wrapped = "" if has_columns else ":class: message\n\n"
        return f"```{{code-block}} text\n{wrapped}{text}```"
    return block


def _toctree(index: str, pages: dict[Path, str]) -> str:
    """Return the table of contents of the pages next to a package's first page."""
    folder = index.removesuffix("index")
    names = [name.removeprefix(folder) for name in pages.values() if name.startswith(folder)]
    listed = "\n".join(name for name in names if name != "index")
    return f"\n```{{toctree}}\n:hidden:\n\n{listed}\n```\n"


def _relinked(text: str, file: Path, pages: dict[Path, str], folder: Path) -> str:
    """Return a text of a document with its links changed to fit its copy."""
    place = (folder / pages[file]).parent

    def changed(link: re.Match[str]) -> str:
        picture, label, target = link.groups()
        path, hash_, anchor = target.partition("#")
        if "://" in target or not path:
            return link[0]
        found = Path(os.path.normpath(file.parent / path))
        if picture:
            place.mkdir(exist_ok=True)
            shutil.copy(found, place)
            return f"![{label}]({found.name})"
        if found in pages:
            label = "" if label.endswith(".md") else label  # MyST writes the title of the page
            return f"[{label}]({os.path.relpath(folder / pages[found], place)}.md{hash_}{anchor})"
        return f"`{label}`" if label.endswith(found.name) and "`" not in label else label

    return _LINK.sub(changed, text)
