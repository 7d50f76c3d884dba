"""The examples of the README do what it says."""

import re
from pathlib import Path

from mt_operators import OPERATORS

README = Path(__file__).parents[1] / "README.md"


def test_the_examples_run(capsys, monkeypatch):
    monkeypatch.setattr(OPERATORS, "_rows", dict(OPERATORS))  # an example adds a row
    monkeypatch.setattr(OPERATORS, "_listeners", [])
    text = README.read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", text, re.DOTALL)
    assert blocks
    namespace = {}
    for code, printed in blocks:
        exec(code, namespace)
        assert capsys.readouterr().out.strip() == printed.strip()
