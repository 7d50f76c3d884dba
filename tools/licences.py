"""Write THIRD_PARTY.md: the third-party distributions that packages and extras install.

    hatch run licences:write

Each is listed with its licence, as declared by the version that pip selects today.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from check_layering import third_party
from packaging.utils import canonicalize_name

from mt.programs import output
from mt.workspace import ROOT, Stage, Workspace

PAGE = ROOT / "THIRD_PARTY.md"

INTRODUCTION = """# Third-party licences

The packages of this repository are under the [MIT licence](LICENSE). The distributions below are
not part of them, but are installed with the package or extra in the last column, and with those
that build on it. `hatch run licences:write` writes this page from what they declare, for Linux.

| distribution | licence | installed with |
|---|---|---|
"""

OTHERS = """
Development tools, such as torch and Sphinx, are not installed with any of the packages.
"""


def rows(workspace: Workspace) -> Iterator[tuple[str, str, str]]:
    """Yield each third-party distribution once: its name, its licence and what installs it."""
    seen = set()
    for stage, extras in installations(workspace):
        needed = third_party(workspace, stage, extras)
        for metadata in resolved([str(requirement) for requirement in needed.values()]):
            name = canonicalize_name(metadata["name"])
            if name not in seen:
                seen.add(name)
                yield (
                    name,
                    licence(metadata),
                    f"{stage.name}[{extras[0]}]" if extras else stage.name,
                )


def installations(workspace: Workspace) -> list[tuple[Stage, list[str]]]:
    """Return each stage without extras, and then each with one of its extras."""
    stages = workspace.stages.values()
    alone: list[tuple[Stage, list[str]]] = [(stage, []) for stage in stages]
    return alone + [(stage, [extra]) for stage in stages for extra in stage.extras]


def resolved(requirements: list[str]) -> list[dict[str, Any]]:
    """Return the metadata of everything that pip would install for these requirements."""
    if not requirements:
        return []
    options = ["--dry-run", "--ignore-installed", "--quiet", "--report", "-"]
    report = output([sys.executable, "-m", "pip", "install", *options, *requirements])
    found = [each["metadata"] for each in json.loads(report)["install"]]
    return sorted(found, key=lambda metadata: str(metadata["name"]).lower())


def licence(metadata: Mapping[str, Any]) -> str:
    """Return the licence that a distribution declares in one of three fields."""
    if expression := metadata.get("license_expression"):
        return str(expression)
    prefix = "License :: "
    classifiers = [c for c in metadata.get("classifier", ()) if c.startswith(prefix)]
    if classifiers:
        return "; ".join(classifier.rpartition(" :: ")[2] for classifier in classifiers)
    return str(metadata.get("license") or "not declared").partition("\n")[0]


def main() -> None:
    """Write the page."""
    table = "".join(f"| {' | '.join(row)} |\n" for row in rows(Workspace.read()))
    PAGE.write_text(INTRODUCTION + table + OTHERS, encoding="utf-8")


if __name__ == "__main__":
    main()
