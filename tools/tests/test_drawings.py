"""Pictures of the course."""

import re

from drawings.matrices import Matrix, equations


def test_equation_without_matrices_is_as_high_as_one_element() -> None:
    signs, matrix = (equations([part]).svg for part in ("…", Matrix("a", 1, 1)))
    height = re.compile('viewBox="0 0 [^ ]+ ([^ ]+)"')
    assert height.findall(signs) == height.findall(matrix)
