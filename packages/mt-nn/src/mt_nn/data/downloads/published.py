"""URLs of published data sets, and their download by name.

A checksum is listed only if it was compared with the publisher's file. Files without one are
checked only by length, if the server sends it, and by the reader of their format; `download` warns
about them, and states the checksum. All URLs use HTTPS.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from mt_nn.data.downloads.download import download
from mt_nn.files.reading import PathLike
from mt_nn.files.writing import make_folder
from mt_nn.utils.settings import choice


class Published(NamedTuple):
    """A data set that can be downloaded.

    Attributes:
        address: the URL of the publisher's folder.
        files: the names of the files, and their SHA-256 checksums, or None if unknown.
        licence: the terms of use.
    """

    address: str
    files: dict[str, str | None]
    licence: str


MNIST_FILES = (
    "train-images-idx3-ubyte.gz",
    "train-labels-idx1-ubyte.gz",
    "t10k-images-idx3-ubyte.gz",
    "t10k-labels-idx1-ubyte.gz",
)

PUBLISHED = {
    "cifar10": Published(
        "https://www.cs.toronto.edu/~kriz/",
        {"cifar-10-binary.tar.gz": None},
        "none is stated; cite Krizhevsky 2009, Learning Multiple Layers of Features",
    ),
    "fashion-mnist": Published(
        "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
        dict.fromkeys(MNIST_FILES),
        "MIT, Zalando Research",
    ),
    # The authors' server no longer provides the files; PyTorch uses this copy, too.
    "mnist": Published(
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        {
            **dict.fromkeys(MNIST_FILES),
            MNIST_FILES[2]: "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
            MNIST_FILES[3]: "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
        },
        "CC BY-SA 3.0, LeCun, Cortes, Burges",
    ),
    "tiny-shakespeare": Published(
        "https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/",
        {"input.txt": "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed"},
        "public domain",
    ),
}
"""The data sets that `fetch` downloads, by name, with their addresses, files and terms of use."""


def fetch(name: str, folder: PathLike = "data", progress: bool = True) -> Path:
    """Download a data set from its publisher unless it exists, and return its folder.

        train, test = mnist(fetch("fashion-mnist"))
        train, test = cifar10(fetch("cifar10"))

    Args:
        name: a key of `PUBLISHED`, which also lists the terms of use.
        folder: the parent folder; files are stored in a subfolder with the name of the data set.
        progress: whether to show a progress bar for each file, if rich is installed.

    Raises:
        DownloadError: as for `download`.
        FileError: the folder cannot be created.
        SettingError: the name is unknown.
    """
    data = PUBLISHED[choice("name", name, PUBLISHED)]
    target = Path(folder, name)
    make_folder(target)
    for file, sha256 in data.files.items():
        download(data.address + file, target / file, sha256, progress)
    return target
