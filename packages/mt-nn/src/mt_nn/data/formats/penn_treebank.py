"""The Penn Treebank as language models are compared on: words between spaces, a sentence a line.

In the usual preprocessing rare words are `<unk>` and numbers `N` already; the files are
`ptb.train.txt`, `ptb.valid.txt` and `ptb.test.txt`.
"""

from __future__ import annotations

from mt_nn.data.formats.reading import lines_of
from mt_nn.files.reading import PathLike, opened


def read_penn_treebank(path: PathLike, end: str = "<eos>") -> list[str]:
    """Return the words of a text in order, and after each line the token of its end.

    Args:
        path: where the file is, plain or packed with gzip.
        end: the token after each line.

    Raises:
        FileError: it cannot be read, is damaged, no UTF-8, or takes more than `mt_nn.limits` allow.
    """
    words: list[str] = []
    known: dict[str, str] = {}  # so that each word is in memory once
    with opened(path) as source:
        for _, line in lines_of(path, source):
            for word in line.split():
                if word not in known:
                    known[word] = word
                    source.keep(word)
                words.append(known[word])
            words.append(end)
    return words
