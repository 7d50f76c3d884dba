"""Where data sets are published, and fetching one by its name.

A checksum stands here only if somebody has held the publisher's file beside it. A file without one
is checked by its length, where the server says that, and by the reader of its format; and a warning
says so, with the checksum of what has come. All addresses are encrypted.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from mt_nn.data.downloads.download import download
from mt_nn.files.reading import PathLike
from mt_nn.files.writing import make_folder
from mt_nn.utils.settings import choice


class Published(NamedTuple):
    """A data set that can be fetched.

    Attributes:
        address: the folder of its files, at its publisher.
        files: their names, each with its SHA-256 if that is known.
        licence: under which terms it is published.
    """

    address: str
    files: dict[str, str | None]
    licence: str


PUBLISHED = {
    "cifar10": Published(
        "https://www.cs.toronto.edu/~kriz/",
        {"cifar-10-binary.tar.gz": None},
        "none is stated; cite Krizhevsky 2009, Learning Multiple Layers of Features",
    ),
    "cifar100": Published(
        "https://www.cs.toronto.edu/~kriz/",
        {"cifar-100-binary.tar.gz": None},
        "none is stated; cite Krizhevsky 2009, Learning Multiple Layers of Features",
    ),
    "fashion-mnist": Published(
        "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
        {
            "train-images-idx3-ubyte.gz": None,
            "train-labels-idx1-ubyte.gz": None,
            "t10k-images-idx3-ubyte.gz": None,
            "t10k-labels-idx1-ubyte.gz": None,
        },
        "MIT, Zalando Research",
    ),
    # The authors' own server no longer gives the files out; this is the copy that PyTorch uses.
    "mnist": Published(
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        {
            "train-images-idx3-ubyte.gz": None,
            "train-labels-idx1-ubyte.gz": None,
            "t10k-images-idx3-ubyte.gz": (
                "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"
            ),
            "t10k-labels-idx1-ubyte.gz": (
                "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"
            ),
        },
        "CC BY-SA 3.0, LeCun, Cortes, Burges",
    ),
    "tiny-shakespeare": Published(
        "https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/",
        {"input.txt": "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed"},
        "public domain",
    ),
}


def fetch(name: str, folder: PathLike = "data", progress: bool = True) -> Path:
    """Fetch a data set from its publisher, unless it is there, and return the folder of its files.

        train, test = mnist(fetch("fashion-mnist"))
        train, test = cifar10(fetch("cifar10"))

    Args:
        name: one of `PUBLISHED`, which also says under which terms it may be used.
        folder: the files come into a folder in it, which has the name of the data set.
        progress: whether to show a progress bar for each file, if rich is installed.

    Raises:
        DownloadError: as `download` raises it.
        FileError: the folder cannot be made.
        SettingError: there is no such data set.
    """
    data = PUBLISHED[choice("name", name, PUBLISHED)]
    target = Path(folder, name)
    make_folder(target)
    for file, sha256 in data.files.items():
        download(data.address + file, target / file, sha256, progress)
    return target
