"""THIRD_PARTY.md lists exactly the third-party packages that are installed."""

import os
import re
from importlib import metadata

import pytest
from check_layering import third_party
from licences import PAGE, installations, licence
from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name

from mt.requirements import closure
from mt.workspace import Workspace

WORKSPACE = Workspace.read()
ROW = re.compile(r"^\| ([\w-]+) \| (.+) \| (mt-\w+)(?:\[(\w+)\])? \|$", re.MULTILINE)
ROWS = ROW.findall(PAGE.read_text())
NAMED = {name for name, *_ in ROWS}

INSTALLED = {
    canonicalize_name(each.metadata["Name"]): [Requirement(line) for line in each.requires or ()]
    for each in metadata.distributions()
}


def needed(stage: str, extras: list[str]) -> set[NormalizedName]:
    wanted = third_party(WORKSPACE, WORKSPACE[stage], extras)
    return closure(wanted.values(), INSTALLED)


@pytest.mark.skipif(os.name == "nt", reason="the page is for Linux")
def test_every_dependency_has_a_row() -> None:
    for stage, extras in installations(WORKSPACE):
        assert needed(stage.name, extras) <= NAMED, "run `hatch run licences:write`"


def test_every_row_is_a_dependency() -> None:
    assert len(ROWS) == len(NAMED) == PAGE.read_text().count("\n| ") - 1
    for name, _, stage, extra in ROWS:
        if name in INSTALLED:
            extras = [extra] if extra else []
            assert name in needed(stage, extras), "run `hatch run licences:write`"


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ({"license_expression": "MIT", "classifier": ["License :: Other"]}, "MIT"),
        ({"classifier": ["License :: OSI Approved :: BSD License"], "license": "x"}, "BSD License"),
        ({"classifier": ["Topic :: Other"], "license": "Zlib\n\nPermission is"}, "Zlib"),
        ({}, "not declared"),
    ],
    ids=["expression", "classifier", "text", "nothing"],
)
def test_licence_is_read_from_expression_classifier_or_text(
    declared: dict[str, str], expected: str
) -> None:
    assert licence(declared) == expected
