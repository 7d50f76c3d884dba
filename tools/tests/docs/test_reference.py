"""The reference: every public name has an example, with the documented result."""

from __future__ import annotations

import os
from typing import Literal

import pytest

pytest.importorskip("sphinx", reason="only the environment of the documentation has it")
os.environ.setdefault("MT_CUDA_SIM", "1")

from mt.docs.examples import FOLDER, read_examples, run_examples
from mt.docs.reference import entries, example_of
from mt.docs.signatures import signature_of
from mt.workspace import Workspace

STAGES = list(Workspace.read().stages.values())


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.short)
def test_every_public_name_has_an_example(stage: object) -> None:
    found = list(entries(stage))  # type: ignore[arg-type]
    examples = read_examples(stage.short)  # type: ignore[attr-defined]
    missing = [entry.path for entry in found if not example_of(entry, found, examples)]
    assert missing == []
    assert set(examples) <= {entry.path for entry in found}


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.short)
def test_every_example_gives_the_documented_result(stage: object) -> None:
    name: str = stage.short  # type: ignore[attr-defined]
    examples = read_examples(name)
    for path, shown in run_examples(name).items():
        assert shown == examples[path], f"{path}: run `python -m mt.docs.examples {name}`"
        assert ">>>" in shown, path


def test_every_file_of_examples_belongs_to_a_stage() -> None:
    assert {file.stem for file in FOLDER.glob("*.txt")} <= {stage.short for stage in STAGES}


def test_signature_shows_annotations_as_written_and_functions_by_name() -> None:
    def method(self: object, mode: Literal["a"] = "a", key: object = len) -> int:
        raise NotImplementedError

    wanted = "(mode: Literal['a'] = 'a', key: object = len) -> int"
    assert signature_of(method, bound=True).replace('"', "'") == wanted
