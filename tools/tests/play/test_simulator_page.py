"""The simulator page shows the steps of a block as the simulator ran them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mt_tensor as mt
from mt_cuda import CudaOps, RaceError, Simulator
from mt_cuda.core.simulator import Order
from play.blocks import block_html, code_html, describe_turn, registers_html, waiting
from play.inputs import InputError, numbers
from play.testing import Reader, answers
from play.tracing import TracingSimulator

VALUES = st.lists(st.integers(-9, 9), min_size=1, max_size=40)
ORDERS: tuple[Order, ...] = ("forward", "reversed")


def simulated(machine: Simulator, values: list[int]) -> float:
    return float(mt.tensor([float(v) for v in values], backend=CudaOps(machine, plain=True)).sum())


@given(VALUES, st.sampled_from(ORDERS))
def test_tracing_does_not_change_a_kernel(values: list[int], order: Order) -> None:
    machine = TracingSimulator(order=order)
    assert simulated(machine, values) == simulated(Simulator(order), values) == sum(values)
    for launch in machine.launches:
        assert len(launch.turns) >= launch.grid[0] * launch.grid[1] * launch.threads
        for turn in launch.turns:
            stops = launch.kernel.source.splitlines()[(turn.stops or 0) - 1]
            assert turn.stops is None or "cuda.syncthreads()" in stops
            assert turn.lines


def test_a_turn_has_the_accesses_of_the_thread() -> None:
    machine = TracingSimulator()
    assert simulated(machine, [3, 1, 4, 1, 5, 9, 2, 6, 5]) == 36.0
    (launch,) = machine.launches
    first, second = launch.turns[0], launch.turns[8]
    assert first.thread == second.thread == 0
    assert first.touched("x", writes=False) == {0, 8}
    assert first.touched("totals", writes=True) == {0}
    assert first.registers["total"] == 8.0
    assert np.isnan(first.shared["totals"][1:]).all()
    assert second.touched("totals", writes=False) == {0, 4}
    assert second.shared["totals"].tolist() == [13, 1, 4, 1, 5, 9, 2, 6]
    assert [turn.shared["totals"][0] for turn in launch.turns if turn.thread == 0][-1] == 36.0
    assert launch.turns[-1].stops is None
    assert describe_turn(second, 9) == (
        "**9.** Thread 0 continues, reads `totals[0]`, `totals[4]`, writes `totals[0]` = 13 "
        f"and waits at the barrier in line {second.stops}."
    )


def test_the_elements_of_a_product_are_each_written_by_one_thread() -> None:
    machine = TracingSimulator()
    backend = CudaOps(machine, plain=True)
    a, b = mt.ones(5, 4, backend=backend), mt.ones(4, 7, backend=backend)
    assert (a @ b).tolist() == [[4.0] * 7] * 5
    launch = machine.launches[-1]
    written = [at for turn in launch.turns for at in turn.touched("out", writes=True)]
    assert sorted(written) == list(range(35))
    assert {turn.block for turn in launch.turns} == {(x, 0) for x in range(launch.grid[0])}


def test_without_barriers_the_simulator_refuses() -> None:
    with pytest.raises(RaceError, match="since the last barrier"):
        simulated(TracingSimulator(barriers=False), list(range(16)))


@given(st.integers(0, 40))
def test_every_moment_can_be_drawn(done: int) -> None:
    machine = TracingSimulator()
    simulated(machine, [3, 1, 4, 1, 5, 9, 2, 6, 5])
    (launch,) = machine.launches
    done = min(done, len(launch.turns))
    given_arrays = {"x": np.zeros(9), "y": np.full(1, np.nan)}
    html = block_html(launch.turns, done, 8, given_arrays)
    assert html.count("<b>Thread") == 8
    assert html.count('"thread ready') == max(8 - done, 0)
    assert html.count('"thread waiting') == len(waiting(launch.turns, done, 8))
    assert html.count("<div") == html.count("</div>")
    assert (">36<" in html) == (done >= 25)
    code = code_html(launch.kernel.source, launch.turns, done, 8)
    assert code.count('class="line') == len(launch.kernel.source.splitlines())
    assert ("ran" in code.replace("range", "")) == (done > 0)
    assert registers_html(launch.turns, done, 8).count("<tr>") == (1 if done == 0 else 1 + len(
        {name for turn in launch.turns[:done] for name in turn.registers}
    ))  # fmt: skip


def test_no_thread_waits_when_all_have_arrived() -> None:
    machine = TracingSimulator()
    simulated(machine, list(range(9)))
    (launch,) = machine.launches
    assert [len(waiting(launch.turns, done, 8)) for done in range(10)] == [*range(8), 0, 1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "write 1 to 4 numbers"),
        ("1 2 3 4 5", "not 5"),
        ("1 two", "'two' is not a number"),
        ("1e30", "a number may be at most"),
        ("1 " * 400, "at most 200 characters"),
    ],
)
def test_an_invalid_row_of_numbers_is_an_error(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        numbers(text, 4)
    assert numbers(" 1, 2 ,nan", 4)[:2] == [1.0, 2.0]


def holds(reader: Reader, array: str, cells: str) -> None:
    """Wait until an array of global memory has this content."""
    arrays = "[...document.querySelectorAll('.mt-block .arrays>div')]"
    found = f"{arrays}.find(each => each.querySelector('code').innerText === '{array}')"
    texts = f"[...{found}.querySelectorAll('td')].map(cell => cell.innerText).join(' ')"
    reader.until(f"{texts} === '{cells}'")


def test_a_reader_goes_through_a_sum_thread_by_thread(reader: Reader) -> None:
    reader.open("simulator")
    reader.sees("8 threads run the same code.")
    reader.sees("not started", ".mt-block .thread:nth-child(8)")
    reader.press("Next thread")
    reader.sees("1. Thread 0 starts, reads x[0], x[8], writes totals[0] = 8 and waits")
    reader.sees("1 of 8 threads wait at the barrier")
    reader.press("To the barrier")
    reader.sees("All 8 threads have arrived at the barrier")
    reader.press("Next thread")
    reader.sees("writes totals[0] = 13")
    reader.press("Back")
    reader.sees("All 8 threads have arrived")
    reader.slide("turns done", "END")
    reader.sees("ended")
    holds(reader, "y", "44")


def test_a_user_reduces_custom_numbers(reader: Reader) -> None:
    reader.open("simulator")
    reader.press("amax")
    reader.write("numbers", "2 7 1 8 2 8")
    holds(reader, "x", "2 7 1 8 2 8")
    reader.slide("turns done", "END")
    holds(reader, "y", "8")
    for text, said in (("many", "'many' is not a number"), ("", "write 1 to 64 numbers")):
        reader.write("numbers", text)
        reader.sees(said)
    assert answers(reader.address)
    reader.write("numbers", "1 inf")
    holds(reader, "x", "1 inf")


def test_the_page_reports_the_race_without_barriers(reader: Reader) -> None:
    reader.open("simulator")
    reader.press("remove the barriers")
    reader.sees("since the last barrier: put cuda.syncthreads() between the two.")
    reader.press("remove the barriers")
    reader.sees("8 threads run the same code.")


def test_the_page_shows_a_matrix_product_in_tiles(reader: Reader) -> None:
    reader.open("simulator")
    reader.press("matrix product")
    reader.press("To the barrier")
    reader.sees("a_tile")
    reader.press("1")
    reader.slide("turns done", "END")
    a = (np.arange(12).reshape(4, 3) * 7) % 10
    b = (np.arange(15).reshape(3, 5) * 3 + 1) % 10
    holds(reader, "out", " ".join(f"· · · · {number}" for number in (a @ b)[:, 4]))
