"""The watch over ranks: what it takes for a fault, and what it does then, without MPI."""

import json
import re
import socket
import subprocess
import sys
import threading
from dataclasses import replace
from typing import Any

import pytest

from mt_nn.errors import SettingError
from mt_nn.parallel.watch import Watch, timeout_wanted
from mt_nn.parallel.watcher import REMEMBERED, State, Watcher, fault

DONE = {1: "versions", 2: "sum"}
ONE = State(0, "here", heard=100.0, operations=DONE)
OTHER = State(1, "there", heard=100.0, operations=DONE)
AHEAD = replace(ONE, operations={**DONE, 3: "sum"}, waits=(3, 1.0))

FAULTS: dict[str, tuple[list[State], float, str | None]] = {
    "nothing": ([ONE, OTHER], 101.0, None),
    "one has come": ([OTHER], 101.0, None),
    "one is ahead": ([AHEAD, OTHER], 101.0, None),
    "one is silent": (
        [ONE, replace(OTHER, heard=90.0)],
        101.0,
        r"rank 1 \(there\) has been silent for 11 s, after operation 2, sum",
    ),
    "one has ended": ([ONE, replace(OTHER, heard=10.0, ended=True)], 101.0, None),
    "one waits for another that has ended": (
        [AHEAD, replace(OTHER, ended=True)],
        101.0,
        r"rank 1 \(there\) has ended after operation 2, sum, while rank 0 \(here\) waits for it in "
        "operation 3, sum",
    ),
    "one waits too long": (
        [replace(AHEAD, waits=(3, 6.0)), OTHER],
        101.0,
        r"rank 1 \(there\) has been after operation 2, sum for 6 s, while rank 0",
    ),
    "one waits for what has not begun at all": (
        [replace(AHEAD, waits=(3, 6.0)), replace(OTHER, operations={})],
        101.0,
        r"rank 1 \(there\) has been before its first operation for 6 s",
    ),
    "both are in the operation": (
        [
            replace(AHEAD, waits=(3, 6.0)),
            replace(OTHER, operations={**DONE, 3: "sum"}, waits=(3, 5.5)),
        ],
        101.0,
        None,
    ),
    "they do something else": (
        [AHEAD, replace(OTHER, operations={2: "sum", 3: "losses"})],
        101.0,
        r"operation 3 of rank 1 \(there\) is losses, and of rank 0 \(here\) sum: ranks must do the "
        "same",
    ),
}


@pytest.mark.parametrize("case", FAULTS)
def test_faults_are_told_apart(case: str) -> None:
    states, now, wanted = FAULTS[case]
    found = fault(states, now, timeout=5.0)
    if wanted is None:
        assert found is None
    else:
        assert found is not None
        assert re.match(wanted, found), found


@pytest.fixture
def watcher() -> Any:
    listener = socket.create_server(("127.0.0.1", 0))
    made = Watcher(listener, 2, "secret", timeout=5.0)
    thread = threading.Thread(target=made.run, daemon=True)
    thread.start()
    return ("127.0.0.1", listener.getsockname()[1], "secret"), thread


def test_ranks_that_come_and_go_are_no_fault(watcher: Any, capfd: Any) -> None:
    address, thread = watcher
    ranks = [Watch(rank, address, 5.0) for rank in range(2)]
    for rank in ranks:
        number = rank.begin("sum")
        with rank.waiting(number):
            pass
    for rank in ranks:
        rank.close()
        rank.close()
    thread.join(5)
    assert not thread.is_alive()
    assert capfd.readouterr().err == ""


def test_who_closes_without_a_word_is_told_to_the_others(
    watcher: Any, capfd: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, _ = watcher
    ended = threading.Event()
    monkeypatch.setattr("os._exit", lambda code: ended.set() if code == 1 else None)
    one, other = (Watch(rank, address, 5.0) for rank in range(2))
    other.begin("sum of gradients")
    other._connection.shutdown(socket.SHUT_RDWR)
    assert ended.wait(5)
    told = capfd.readouterr().err
    assert told.count("\n") == 1
    assert "rank 1 (process" in told
    assert "died, last heard of after operation 1, sum of gradients" in told
    one.close()


def test_an_error_is_told_with_its_kind(
    watcher: Any, capfd: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, _ = watcher
    monkeypatch.setattr("os._exit", lambda code: None)
    one, other = (Watch(rank, address, 5.0) for rank in range(2))
    one.begin("sum")
    one.raised(ValueError("no\nsuch thing"))
    assert "rank 0 (" in (told := capfd.readouterr().err)
    assert "raised ValueError: no such thing after operation 1, sum. All ranks end." in told
    other.close()


def test_strangers_are_not_heard(watcher: Any, capfd: Any) -> None:
    address, thread = watcher
    with socket.create_connection(address[:2]) as stranger:
        stranger.sendall(json.dumps({"token": "guessed", "rank": 0}).encode() + b"\n")
        stranger.sendall(json.dumps({"raised": "x"}).encode() + b"\nnonsense\n")
    for rank in [Watch(rank, address, 5.0) for rank in range(2)]:
        rank.close()
    thread.join(5)
    assert not thread.is_alive()
    assert capfd.readouterr().err == ""


def test_the_last_operations_are_remembered(watcher: Any) -> None:
    address, _ = watcher
    watch = Watch(0, address, 5.0)
    for number in range(1, 3 * REMEMBERED):
        assert watch.begin("sum") == number
    assert len(watch._operations) == REMEMBERED
    watch.close()


def test_the_watcher_is_a_program_of_its_own() -> None:
    program = """
import os
from mt_nn.parallel.watch import Watch, start_watcher
address = start_watcher(1, 5.0, "127.0.0.1")
watch = Watch(0, address, 5.0)
watch.begin("sum")
os._exit(7)
"""
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False
    )
    assert ended.returncode == 7
    assert "rank 0 (process" in ended.stderr
    assert "died, last heard of after operation 1, sum. All ranks end." in ended.stderr


@pytest.mark.parametrize("text", ["", "soon", "0", "-1", "nan", "inf"])
def test_a_timeout_is_a_positive_number(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MT_RANK_TIMEOUT", text)
    with pytest.raises(SettingError, match="MT_RANK_TIMEOUT must be a positive number of seconds"):
        timeout_wanted()


def test_the_timeout_is_said_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MT_RANK_TIMEOUT", raising=False)
    assert timeout_wanted() == 300.0
    monkeypatch.setenv("MT_RANK_TIMEOUT", "2.5")
    assert timeout_wanted() == 2.5
