"""`Watchdog`: the timeout of a rank that waits for other ranks (without MPI)."""

import threading

import pytest

from mt_nn.errors import SettingError
from mt_nn.parallel.watchdog import Watchdog, timeout_setting


def test_watchdog_reports_the_operation_that_exceeds_the_timeout() -> None:
    problems: list[str] = []
    ended = threading.Event()
    watchdog = Watchdog(0.1, lambda problem: (problems.append(problem), ended.set())[1])
    assert watchdog.last == "before its first operation"
    with watchdog.waiting(watchdog.begin("versions")):
        pass
    assert not ended.wait(0.3)  # the timer is stopped outside of `waiting`
    with watchdog.waiting(watchdog.begin("sum of gradients")):
        assert ended.wait(5)
    assert problems[0] == "has waited 0.1 s for other ranks in operation 2, sum of gradients"
    assert watchdog.last == "after operation 2, sum of gradients"


@pytest.mark.parametrize("text", ["", "soon", "0", "-1", "nan", "inf"])
def test_invalid_mt_rank_timeout_raises_setting_error(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MT_RANK_TIMEOUT", text)
    with pytest.raises(SettingError, match="MT_RANK_TIMEOUT must be a positive number of seconds"):
        timeout_setting()


def test_timeout_defaults_to_300_s_and_is_read_from_mt_rank_timeout(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("MT_RANK_TIMEOUT", raising=False)
    assert timeout_setting() == 300.0
    monkeypatch.setenv("MT_RANK_TIMEOUT", "2.5")
    assert timeout_setting() == 2.5
