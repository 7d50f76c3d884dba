"""The LeNet page shows the state of the network, and is responsive during training."""

import base64
import io
import math
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import mt_tensor as mt
from mt_nn.jobs.command.runs import Run
from mt_nn.jobs.command.training import train
from mt_nn.jobs.digits import Digits
from mt_tensor.extending import Array
from play.background import Job
from play.lenet import Snapshot, Training, activations, filters, validation
from play.testing import Reader, answers, wait_for
from play.tiles import tiles

VALUE = "document.querySelector('[data-testid=stMetricValue]')?.innerText ?? '0'"


@pytest.fixture(scope="module")
def reports() -> list[Snapshot]:
    """The reports of a short training."""
    told: list[Snapshot] = []
    Training(epochs=2).learn(told.append)
    return told


def test_a_training_is_that_of_the_command(reports: list[Snapshot], tmp_path: Path) -> None:
    run = Run(tmp_path / "digits", "digits", Training(epochs=2).job().settings)
    train(run, io.StringIO())
    theirs = run.folder.joinpath("losses.csv").read_text(encoding="utf-8").split()[1:]
    ours = [f"{n},{loss!r}" for n, loss in enumerate(reports[-1].losses, 1)]
    assert ours == theirs


def test_concurrent_trainings_do_not_affect_each_other(reports: list[Snapshot]) -> None:
    turn = threading.Barrier(2, timeout=60.0)

    def begun(seed: int) -> Job[Snapshot]:
        def learn(report: Callable[[Snapshot], None]) -> None:
            def in_turn(snapshot: Snapshot) -> None:
                turn.wait()
                report(snapshot)

            Training(epochs=2, seed=seed).learn(in_turn)

        return Job(learn, unseen=math.inf)

    jobs = begun(0), begun(1)
    for job in jobs:
        job.join()
        assert not job.failure
    last = jobs[0].look()
    assert last is not None
    assert last.losses == reports[-1].losses


def test_a_snapshot_does_not_change(reports: list[Snapshot]) -> None:
    assert reports[0].mistakes is None
    assert reports[-1].mistakes is not None
    right = 1.0 - len(reports[-1].mistakes) / len(validation()[0])
    assert right == pytest.approx(reports[-1].rows[-1]["validation_accuracy"])
    surest = [each.probability for each in reports[-1].mistakes]
    assert surest == sorted(surest, reverse=True)
    assert not np.array_equal(filters(reports[0].network), filters(reports[-1].network))
    assert not any(report.network.training for report in reports)


def test_the_activations_are_those_of_the_network(reports: list[Snapshot]) -> None:
    network, image = reports[-1].network, validation()[0][3]
    seen = activations(network, image)
    assert seen.first.shape == (8, 8, 8)
    assert seen.second.shape == (16, 8, 8)
    assert seen.first.min() >= 0.0
    with mt.no_grad():
        scores = np.asarray(network(mt.tensor(image[None])))[0]
    expected = np.exp(scores - scores.max())
    np.testing.assert_allclose(seen.shares, expected / expected.sum(), rtol=1e-5)
    first = sum(
        filters(network)[0, i, j] * np.pad(image[0], 1)[i : i + 8, j : j + 8]
        for i in range(3)
        for j in range(3)
    )
    bias = float(network.features[0].bias[0])
    np.testing.assert_allclose(seen.first[0], np.maximum(first + bias, 0.0), atol=1e-5)


def test_a_training_that_diverges_says_so() -> None:
    with pytest.raises(ValueError, match=r"training diverged in epoch 1 .* smaller learning rate"):
        Training(lr=100.0).learn(lambda snapshot: None)


def test_the_settings_are_those_of_the_job() -> None:
    recipe = Digits.models["lenet"]
    settings = Training().job().settings
    assert (settings.lr, settings.epochs) == (recipe.lr, recipe.epochs)


def pixels(html: str) -> list[Array]:
    sources = html.split('src="data:image/png;base64,')[1:]
    files = (io.BytesIO(base64.b64decode(each.partition('"')[0])) for each in sources)
    return [np.asarray(Image.open(file)) for file in files]


def test_tiles_are_as_strong_as_their_numbers() -> None:
    images = np.array([[[0.0, 0.5]], [[1.0, np.nan]]])
    html = tiles(images, ["<one>"], dark=False)
    assert "<figcaption>&lt;one&gt;</figcaption>" in html
    first, second = pixels(html)
    assert first[0, :, 3].tolist() == [0, 127]
    assert second[0, :, 3].tolist() == [255, 255]
    assert second[0, 1, :3].tolist() == [0xD0, 0x21, 0x2B]
    assert pixels(tiles(images, dark=True))[0][0, 1, 0] > 200


def test_signed_tiles_distinguish_signs() -> None:
    (image,) = pixels(tiles(np.array([[[-2.0, 0.0, 1.0]]]), dark=False, signed=True))
    assert image[0, :, 3].tolist() == [255, 0, 127]
    assert image[0, 0, 0] > image[0, 2, 0]


def test_tiles_of_nothing_are_drawn() -> None:
    assert len(pixels(tiles(np.zeros((2, 3, 3)), dark=True))) == 2
    assert len(pixels(tiles(np.full((1, 2, 2), np.inf), dark=True))) == 1


def picture(reader: Reader, name: str) -> str:
    return str(reader.page.value(f"document.querySelector('img[alt=\"{name}\"]')?.src ?? ''"))


def test_a_reader_watches_stops_and_resumes(reader: Reader) -> None:
    reader.open("lenet")
    reader.sees("Press Start to train")
    reader.write("epochs", "60")
    reader.press("Start")
    reader.until(f"parseInt({VALUE}) >= 1")
    reader.sees("the most confident first")
    assert answers(reader.address)
    reader.press("Stop")
    reader.sees("waiting")
    epochs, still, image = (
        reader.metric("epochs done"),
        *(picture(reader, name) for name in ("filter 1", "the image 1")),
    )
    assert still
    reader.write("validation image", "5")
    reader.sees("Image 5 is a")
    wait_for(lambda: picture(reader, "the image 1") != image, "another image")
    assert reader.metric("epochs done") == epochs
    reader.press("Resume")
    reader.until(f"parseInt({VALUE}) >= {int(epochs) + 2}")
    wait_for(lambda: picture(reader, "filter 1") != still, "a filter that has learnt")
    assert picture(reader, "second activation 16")
    reader.write("epochs", "1")
    reader.press("Start")  # anew
    reader.sees("ended")
    reader.reads("epochs done", "1")


def test_the_page_reports_that_training_diverged(reader: Reader) -> None:
    reader.open("lenet")
    reader.choose("learning rate", "100.0")
    reader.press("Start")
    reader.sees("The job has ended: training diverged in epoch 1")
    reader.sees("choose a smaller learning rate")
    assert float(reader.metric("loss of the last batch")) > 1000
    assert answers(reader.address)
