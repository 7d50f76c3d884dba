"""What the site serves to browsers, so that cells run there: Python, the stages, and an editor.

Python is Pyodide, CPython compiled to WebAssembly, from the npm package in `docs/node_modules` or
from the folder of a full distribution, which has NumPy, too. A page whose front matter names a
`stage` loads that stage and those below. If something is missing, the cells show the results of the
build, and say so.
"""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from collections.abc import Sequence
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from mt.docs.cells import CellNode
from mt.docs.tasks import TaskNode, write_archives
from mt.workspace import ROOT, Workspace

PACKAGES = {
    "operators": ["operators"],
    "autodiff": ["operators", "autodiff"],
    "tensor": ["operators", "autodiff", "tensor"],
    "nn": ["operators", "autodiff", "tensor", "nn"],
}
"""The packages that the cells of a stage import in a browser; those of other stages do not run."""

WITH_NUMPY = {"tensor", "nn"}
"""The stages that need a distribution of Pyodide with NumPy."""

NPM = ROOT / "docs" / "node_modules"
PYTHON = [
    "pyodide.mjs",
    "pyodide.asm.*",
    "python_stdlib.zip",
    "pyodide-lock.json",
    "numpy-*.whl",
]
"""The files of Pyodide that are served; a full distribution has NumPy's wheel."""

EDITOR = [
    "*.js",
    "layout.css",
    "extensions/commands/*.js",
    "languages/python.js",
    "prism/*.js",
    "prism/languages/python.js",
]
"""The files of the editor's package that are served."""


def pyodide(app: Sphinx) -> Path | None:
    """Return the folder of Pyodide; None if there is none."""
    folder = Path(app.config.pyodide_dir or NPM / "pyodide")
    return folder if (folder / "pyodide.mjs").exists() else None


def has_numpy(folder: Path) -> bool:
    """Return whether a distribution of Pyodide contains the wheel of NumPy."""
    return any(folder.glob("numpy-*.whl"))


def packages(app: Sphinx, stage: str | None) -> list[str]:
    """Return the packages that the cells of a page load; none if they do not run in a browser."""
    folder = pyodide(app)
    if folder is None or stage not in PACKAGES:
        return []
    return PACKAGES[stage] if stage not in WITH_NUMPY or has_numpy(folder) else []


def add_scripts(
    app: Sphinx, name: str, _template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Add the script for cells to a page with cells, and the names of the packages they import."""
    if "body" in context:
        context["body"] = improved(context["body"])
    if doctree is None or not any(doctree.findall(_is_live)):
        return
    stage = app.env.metadata[name].get("stage")
    names = " ".join(packages(app, stage))
    layout = context["pathto"]("_static/editor/layout.css", 1)
    context["metatags"] += (
        f'<meta name="cells" content="{names}">\n<link rel="stylesheet" href="{layout}">\n'
    )
    app.add_js_file("cells.js", type="module")


def improved(body: str) -> str:
    """Return the HTML of a page's text, usable with a keyboard and on small screens.

    Scrollable elements can have the focus. Long names may be broken after points and underscores,
    and before capital letters. Sphinx writes the lines of a signature as a definition list without
    terms, which screen readers would announce. Punctuation stays on the line of the formula before
    it.
    """
    body = body.replace("<pre>", '<pre tabindex="0">')
    body = body.replace("<p><img", '<p tabindex="0"><img')
    body = body.replace('<div class="table-wrapper', '<div tabindex="0" class="table-wrapper')
    body = re.sub("(?<=<h1>)[^<]*", lambda title: _title(title[0]), body, count=1)
    body = re.sub(
        r'(<span class="sig-(?:pre)?name \w+"><span class="pre)(">[^<]+)',
        lambda name: name[1] + _BREAKS.sub("<wbr>", name[2]),
        body,
    )
    body = re.sub(r'</em>(,|<span class="sig-paren">\)</span>)', r"\1</em>", body)
    body = body.replace(
        '</span><span class="sig-paren">(</span>', '<span class="sig-paren">(</span></span><wbr>'
    )
    body = re.sub(r'<span class="pre">([^<]{16,})</span>', _breakable, body)
    body = re.sub(
        r'<code class="docutils literal notranslate">(?:(?!</code>).)*</code>', _unbroken, body
    )
    body = body.replace("</dt><dd>", "</dt>\n<dd>")  # else the search shows them as one word
    body = re.sub(
        r"<math\b(?:(?!</math>).)*</math>[,.;:!?)]+",
        r'<span class="unbroken">\g<0></span>',
        body,
        flags=re.DOTALL,
    )
    return re.sub("<dl>.*?</dl>", lambda lines: _lines(lines[0]), body, flags=re.DOTALL)


_BREAKS = re.compile(r"(?<=\w[._(,])(?=\w)|(?<=[a-z\d])(?=[A-Z][a-z])")
"""The places where a name may be broken."""


LONG = 30
"""The number of characters from which inline code may be broken: a line of a small screen."""


def _breakable(code: re.Match[str]) -> str:
    """Return a word of code that may be broken if it is in a table or long."""
    parts = re.sub(r"(?<=\w[._(,])(?<!\bmt_)(?=\w)", "<wbr>", code[1])
    return f'<span class="pre{" long" if len(code[1]) >= LONG else ""}">{parts}</span>'


SHORT = 26
"""The number of characters up to which inline code stays on one line."""


def _unbroken(code: re.Match[str]) -> str:
    """Return inline code, which stays on one line if it is short."""
    if len(re.sub("<[^>]*>", "", code[0])) > SHORT:
        return code[0]
    return code[0].replace(' notranslate"', ' notranslate unbroken"', 1)


def _title(text: str) -> str:
    """Return a title that is broken after points rather than within a name."""
    parts = [_BREAKS.sub("<wbr>", part) for part in re.split(r"(?<=\w\.)(?=\w)", text)]
    if len(parts) == 1 or " " in text:
        return "<wbr>".join(parts)
    return "<wbr>".join(f'<span class="part">{part}</span>' for part in parts)


def _lines(signature: str) -> str:
    """Return the lines of a signature as elements without semantics."""
    signature = signature.replace("<dl>", '<span class="lines">').replace("</dl>", "</span>")
    return signature.replace("<dd>", "<span>").replace("</dd>", "</span>")


def _is_live(node: nodes.Node) -> bool:
    return isinstance(node, CellNode | TaskNode)


def copy_files(app: Sphinx, error: Exception | None) -> None:
    """Copy Pyodide, the editor and the stages into the finished site."""
    folder = pyodide(app)
    if error is not None or app.builder.format != "html" or folder is None:
        return
    static = Path(app.outdir) / "_static"
    copy_matching(folder, PYTHON, static / "pyodide")
    copy_matching(NPM / "prism-code-editor" / "dist", EDITOR, static / "editor")
    target = static / "python"
    target.mkdir(exist_ok=True)
    for stage in Workspace.read().stages.values():
        if stage.short in PACKAGES["nn"]:
            archive(target / f"{stage.short}.zip", stage.source, stage.name)
    write_archives(target, [stage for stage in PACKAGES if packages(app, stage)])
    archive(target / "drawings.zip", ROOT / "docs" / "drawings")
    for module in ("running.py", "checking.py"):
        shutil.copy(Path(__file__).with_name(module), target / module)
    (target / "files.json").write_text(json.dumps({"numpy": has_numpy(folder)}))


def copy_matching(source: Path, patterns: Sequence[str], target: Path) -> None:
    """Copy the files that match patterns to the same places below another folder."""
    for pattern in patterns:
        for file in source.glob(pattern):
            place = target / file.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, place)


def archive(file: Path, package: Path, name: str | None = None) -> None:
    """Write a zip file of a package, with the metadata of its distribution if that is named."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out:
        for module in sorted(package.rglob("*")):
            if module.is_file() and "__pycache__" not in module.parts:
                out.write(module, module.relative_to(package.parent))
        if name is not None:
            found = distribution(name)
            folder = f"{name.replace('-', '_')}-{found.version}.dist-info"
            for part in ("METADATA", "entry_points.txt"):
                text = found.read_text(part)
                if text is not None:
                    out.writestr(f"{folder}/{part}", text)
