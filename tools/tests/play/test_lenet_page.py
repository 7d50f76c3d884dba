"""The LeNet page: training, snapshots of the network, and the page during training."""

import io
import math
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt.browser import Page
from mt_nn.jobs.command.runs import Run
from mt_nn.jobs.command.training import train
from mt_nn.jobs.digits import Digits
from play.background import Job
from play.lenet import Snapshot, Training, activations, filters, validation

VALUE = "document.querySelector('[data-testid=stMetricValue]')?.innerText ?? '0'"
FILTERS = "document.querySelector('img[alt=filters]').src"


@pytest.fixture(scope="module")
def reports() -> list[Snapshot]:
    """The reports of a short training."""
    snapshots: list[Snapshot] = []
    Training(epochs=2).learn(snapshots.append)
    return snapshots


def test_losses_match_the_training_command(reports: list[Snapshot], tmp_path: Path) -> None:
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


def test_snapshots_differ_and_list_mistakes_by_confidence(reports: list[Snapshot]) -> None:
    assert reports[0].mistakes is None
    assert reports[-1].mistakes is not None
    right = 1.0 - len(reports[-1].mistakes) / len(validation()[0])
    assert right == pytest.approx(reports[-1].rows[-1]["validation_accuracy"])
    surest = [each.probability for each in reports[-1].mistakes]
    assert surest == sorted(surest, reverse=True)
    assert not np.array_equal(filters(reports[0].network), filters(reports[-1].network))
    assert not any(report.network.training for report in reports)


def test_activations_match_the_network(reports: list[Snapshot]) -> None:
    network, image = reports[-1].network, validation()[0][3]
    first_layer, second_layer, shares = activations(network, image)
    assert first_layer.shape == (8, 8, 8)
    assert second_layer.shape == (16, 8, 8)
    assert first_layer.min() >= 0.0
    with mt.no_grad():
        scores = np.asarray(network(mt.tensor(image[None])))[0]
    expected = np.exp(scores - scores.max())
    np.testing.assert_allclose(shares, expected / expected.sum(), rtol=1e-5)
    first = sum(
        filters(network)[0, i, j] * np.pad(image[0], 1)[i : i + 8, j : j + 8]
        for i in range(3)
        for j in range(3)
    )
    bias = float(network.features[0].bias[0])
    np.testing.assert_allclose(first_layer[0], np.maximum(first + bias, 0.0), atol=1e-5)


def test_diverging_training_raises_value_error() -> None:
    with pytest.raises(ValueError, match=r"training diverged in epoch 1 .* smaller learning rate"):
        Training(lr=100.0).learn(lambda snapshot: None)


def test_default_settings_match_the_job() -> None:
    recipe = Digits.models["lenet"]
    settings = Training().job().settings
    assert (settings.lr, settings.epochs) == (recipe.lr, recipe.epochs)


def test_training_can_be_stopped_and_resumed_in_the_browser(browser: Page, address: str) -> None:
    browser.open(f"{address}/lenet")
    press(browser, "Start")
    browser.until(f"parseInt({VALUE}) >= 1")
    browser.until("document.body.innerText.includes('the most confident first')")
    press(browser, "Stop")
    browser.until("document.body.innerText.includes('waiting')")
    epochs, still = browser.value(VALUE), browser.value(FILTERS)
    press(browser, "Resume")
    browser.until(f"parseInt({VALUE}) > {epochs}")
    browser.until(f"{FILTERS} !== {still!r}")


def press(browser: Page, label: str) -> None:
    button = f"[...document.querySelectorAll('button')].find(b => b.innerText.trim() === '{label}')"
    browser.until(f"{button} !== undefined && !{button}.disabled")
    browser.value(f"{button}.click()")


def test_page_shows_the_chosen_training_and_image(opened: Callable[[str], Any]) -> None:
    page = opened("stage5_lenet")
    assert "Press Start to train" in page.info[0].value
    page.number_input[0].set_value(1)
    page.button[0].click().run()
    finish(page)
    assert page.metric[0].value == "1"
    assert any("the most confident first" in each.value for each in page.caption)
    page.number_input[2].set_value(5).run()
    assert any("**Image 5** is a" in each.value for each in page.markdown)
    assert "second activations" in "".join(each.value for each in page.get("html"))


def test_page_reports_that_training_diverged(opened: Callable[[str], Any]) -> None:
    page = opened("stage5_lenet")
    page.selectbox[0].set_value(100.0)
    page.button[0].click().run()
    finish(page)
    assert "training diverged in epoch 1" in page.error[0].value.replace("\\", "")
    assert float(page.metric[1].value) > 1000


def finish(page: Any) -> None:
    """Wait until the training has ended, and show the page again."""
    page.session_state["lenet.job"].join()
    page.run()
