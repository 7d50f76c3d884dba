"""run_readme: runs the code blocks of a document and compares their output."""

from pathlib import Path

import pytest

from mt_operators.testing.documentation import run_readme

DOCUMENT = """
# A title

```python
x = 1 + 1
print(x)  # 2
print(x + 1) # 3
print(x + 2)# 4
```

Blocks share their names, and output may follow one.

```python
for i in range(x):
    print("line", i)
```

```
line 0
line 1
```

```python
print("output that the document does not show")
```

```console
$ python -c print(1)
1
```

```
neither code nor output
```
"""


def write_guide(folder: Path, text: str) -> Path:
    path = folder / "GUIDE.md"
    path.write_text(text, encoding="utf-8")
    return path


def test_run_readme_counts_blocks_of_correct_document(tmp_path: Path) -> None:
    assert run_readme(write_guide(tmp_path, DOCUMENT)) == 3
    assert run_readme(write_guide(tmp_path, "no blocks")) == 0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("# 2", "# 5", r"GUIDE.md, line 5: .* \['5', '3', '4'\], but prints \['2', '3', '4'\]"),
        (") # 3", ") # 5", r"GUIDE.md, line 5: .* \['2', '5', '4'\]"),
        (")# 4", ")# 5", r"GUIDE.md, line 5: .* \['2', '3', '5'\]"),
        ("line 1\n", "line 2\n", r"GUIDE.md, line 14: .* \['line 0', 'line 2'\]"),
        ("line 1\n", "", r"GUIDE.md, line 14: .* \['line 0'\]"),
        ("print(x)", "print(1 / 0)", r'(?s)GUIDE.md", line 6,.*ZeroDivisionError'),
        ("range(x)", "range(y)", r'(?s)GUIDE.md", line 14,.*NameError'),
        ("\n1\n", "\n2\n", r"`python -c print\(1\)` should print:\n2\n\nbut .* prints:\n1\n"),
        (
            "print(1)",
            "print(1);exit(3)",
            r"`python -c print\(1\);exit\(3\)` .*\n.*\n.*\n?.*status 3",
        ),
    ],
)
def test_run_readme_reports_wrong_block_and_its_line(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert DOCUMENT.count(old) == 1
    with pytest.raises(AssertionError, match=message):
        run_readme(write_guide(tmp_path, DOCUMENT.replace(old, new)))
