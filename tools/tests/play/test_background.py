"""Background jobs pause, resume and end on request, and when the page is closed."""

import threading
from collections.abc import Callable

import pytest

import mt_tensor as mt
from play.background import Job

Report = Callable[[int], None]
LONG = 20.0  # seconds to wait before a test fails


class Counting:
    """A computation that reports the next number when allowed to, with a fake clock."""

    def __init__(self, **limits: float) -> None:
        self.now = 0.0
        self.allowed = threading.Semaphore(0)
        self.reached = threading.Semaphore(0)
        self.job: Job[int] = Job(self.count, clock=lambda: self.now, **limits)

    def count(self, report: Report) -> None:
        for number in range(100):
            assert self.allowed.acquire(timeout=LONG)
            self.reached.release()
            report(number)

    def go_on(self) -> None:
        """Let the computation continue to its next report."""
        self.allowed.release()
        assert self.reached.acquire(timeout=LONG)

    def has_ended(self) -> bool:
        self.allowed.release(100)
        self.job.join(LONG)
        return self.job.state in {"ended", "failed"}


def test_ended_job_keeps_its_last_report() -> None:
    job: Job[str] = Job(lambda report: report("only"))
    job.join(LONG)
    assert (job.look(), job.state, job.failure) == ("only", "ended", "")


def test_job_pauses_until_it_is_resumed() -> None:
    counting = Counting()
    counting.job.wait()
    counting.go_on()
    counting.allowed.release()
    assert not counting.reached.acquire(timeout=0.05)
    states = [counting.job.state]
    counting.job.resume()
    assert counting.reached.acquire(timeout=LONG)
    assert [*states, counting.job.state] == ["waiting", "running"]
    counting.job.end()
    assert counting.has_ended()


@pytest.mark.parametrize("waiting", [False, True])
def test_job_ends_on_request(waiting: bool) -> None:
    counting = Counting()
    if waiting:
        counting.job.wait()
    counting.job.end()
    assert counting.has_ended()
    assert (counting.job.look(), counting.job.failure) == (0, "")


@pytest.mark.parametrize("waiting", [False, True])
def test_job_ends_when_no_page_shows_it(waiting: bool) -> None:
    counting = Counting(unseen=10.0)
    counting.now = 9.0
    counting.job.look()
    if waiting:
        counting.job.wait()
    counting.go_on()
    assert counting.job.state == ("waiting" if waiting else "running")
    counting.now = 20.0
    assert counting.has_ended()
    assert counting.job.failure == "the page has not been open for a while."


def test_value_error_in_a_job_is_reported_by_its_message() -> None:
    def diverge(report: Report) -> None:
        raise ValueError("training diverged.")

    job: Job[int] = Job(diverge)
    job.join(LONG)
    assert (job.state, job.failure) == ("failed", "training diverged.")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_unexpected_error_in_a_job_is_reported_with_its_type() -> None:
    def mistaken(report: Report) -> None:
        raise TypeError("no number")

    job: Job[int] = Job(mistaken)
    job.join(LONG)
    assert (job.state, job.failure) == ("failed", "TypeError: no number")


def drawn(seeds: list[int]) -> list[list[float]]:
    """Return the random numbers of jobs with these seeds, which alternate."""
    turn = threading.Barrier(len(seeds), timeout=LONG)

    def drawing(seed: int) -> Job[list[float]]:
        numbers: list[float] = []

        def draw(report: Callable[[list[float]], None]) -> None:
            mt.manual_seed(seed)
            for _ in range(3):
                turn.wait()
                numbers.append(mt.rand(()).item())
            report(numbers)

        return Job(draw)

    jobs = [drawing(seed) for seed in seeds]
    for job in jobs:
        job.join(LONG)
    return [job.look() or [] for job in jobs]


def test_concurrent_jobs_have_independent_random_numbers() -> None:
    assert drawn([1, 2]) == [*drawn([1]), *drawn([2])]


def test_job_leaves_the_random_generator_of_the_caller_unchanged() -> None:
    before = mt.get_rng_state()
    drawn([1])
    assert mt.get_rng_state() == before
