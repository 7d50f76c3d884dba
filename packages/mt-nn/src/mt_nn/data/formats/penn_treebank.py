"""The Penn Treebank as language models are compared on: words between spaces, a sentence a line.

In the usual preprocessing rare words are `<unk>` and numbers `N` already; the files are
`ptb.train.txt`, `ptb.valid.txt` and `ptb.test.txt`.
"""

from __future__ import annotations

from mt_nn.data.formats.reading import LIMIT, PathLike, read_lines


def read_penn_treebank(path: PathLike, end: str = "<eos>", limit: int = LIMIT) -> list[str]:
    """Return the words of a text in order, and after each line the token of its end.

    Args:
        path: where the file is, plain or packed with gzip.
        end: the token after each line.
        limit: how many bytes the file may hold, unpacked.

    Raises:
        FileError: it cannot be read, is damaged, no UTF-8, or holds more than `limit` bytes.
        SettingError: the limit is no positive integer.
    """
    words: list[str] = []
    known: dict[str, str] = {}  # so that each word is in memory once
    for _, line in read_lines(path, limit):
        words += [known.setdefault(word, word) for word in line.split()]
        words.append(end)
    return words
