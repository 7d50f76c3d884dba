"""What runs the documentation notices everything that is wrong in it."""

from pathlib import Path

import pytest

from mt_operators.testing.documentation import run_readme

RIGHT = """
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
print("nobody promises anything here")
```

```console
$ python -c print(1)
1
```

```
neither code nor output
```
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "GUIDE.md"
    path.write_text(text, encoding="utf-8")
    return path


def test_right_documentation(tmp_path: Path) -> None:
    assert run_readme(written(tmp_path, RIGHT)) == 3
    assert run_readme(written(tmp_path, "no blocks")) == 0


@pytest.mark.parametrize(
    ("right", "wrong", "named"),
    [
        ("# 2", "# 5", r"GUIDE.md, line 5: .* \['5', '3', '4'\], but prints \['2', '3', '4'\]"),
        (") # 3", ") # 5", r"GUIDE.md, line 5: .* \['2', '5', '4'\]"),
        (")# 4", ")# 5", r"GUIDE.md, line 5: .* \['2', '3', '5'\]"),
        ("line 1\n", "line 2\n", r"GUIDE.md, line 14: .* \['line 0', 'line 2'\]"),
        ("line 1\n", "", r"GUIDE.md, line 14: .* \['line 0'\]"),
        ("print(x)", "print(1 / 0)", r'(?s)GUIDE.md", line 6,.*ZeroDivisionError'),
        ("range(x)", "range(y)", r'(?s)GUIDE.md", line 14,.*NameError'),
        ("\n1\n", "\n2\n", r"`python -c print\(1\)` promises:\n2\n\nbut .* prints:\n1\n"),
        (
            "print(1)",
            "print(1);exit(3)",
            r"`python -c print\(1\);exit\(3\)` .*\n.*\n.*\n?.*status 3",
        ),
    ],
)
def test_wrong_documentation(tmp_path: Path, right: str, wrong: str, named: str) -> None:
    assert RIGHT.count(right) == 1
    with pytest.raises(AssertionError, match=named):
        run_readme(written(tmp_path, RIGHT.replace(right, wrong)))
