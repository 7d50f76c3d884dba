"""The simulator page shows the steps of a block as the simulator ran them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mt_tensor as mt
from mt_cuda import CudaOps, RaceError, Simulator
from mt_cuda.core.simulator import Order
from play.blocks import array_rows, code_lines, describe_turn, thread_rows
from play.inputs import InputError, numbers
from play.tracing import TracingSimulator, waiting, written

VALUES = st.lists(st.integers(-9, 9), min_size=1, max_size=40)
ORDERS: tuple[Order, ...] = ("forward", "reversed")


def simulated(machine: Simulator, values: list[int]) -> float:
    return float(mt.tensor([float(v) for v in values], backend=CudaOps(machine, plain=True)).sum())


@given(VALUES, st.sampled_from(ORDERS))
def test_tracing_does_not_change_the_result_of_a_kernel(values: list[int], order: Order) -> None:
    machine = TracingSimulator(order=order)
    assert simulated(machine, values) == simulated(Simulator(order), values) == sum(values)
    for launch in machine.launches:
        assert len(launch.turns) >= launch.threads
        for turn in launch.turns:
            stops = launch.kernel.source.splitlines()[(turn.stops or 0) - 1]
            assert turn.stops is None or "cuda.syncthreads()" in stops


def test_turn_records_reads_writes_and_registers_of_its_thread() -> None:
    machine = TracingSimulator()
    assert simulated(machine, [3, 1, 4, 1, 5, 9, 2, 6, 5]) == 36.0
    (launch,) = machine.launches
    first, second = launch.turns[0], launch.turns[8]
    assert first.thread == second.thread == 0
    assert first.touched("x", writes=False) == {0, 8}
    assert first.touched("totals", writes=True) == {0}
    assert first.registers["total"] == 8.0
    assert launch.shapes == {"totals": 8}
    totals = np.full(8, np.nan)
    assert np.isnan(written(totals, "totals", launch.turns[:1])[1:]).all()
    assert written(totals, "totals", launch.turns[:9]).tolist() == [13, 1, 4, 1, 5, 9, 2, 6]
    assert written(totals, "totals", launch.turns)[0] == 36.0
    assert launch.turns[-1].stops is None
    assert describe_turn(second, 9) == (
        "**9.** Thread 0 continues, reads `totals[0]` = 8, `totals[4]` = 5, "
        f"writes `totals[0]` = 13 and waits at the barrier in line {second.stops}."
    )


def test_each_element_of_a_product_is_written_by_one_thread() -> None:
    machine = TracingSimulator()
    backend = CudaOps(machine, plain=True)
    a, b = mt.ones(5, 4, backend=backend), mt.ones(4, 7, backend=backend)
    assert (a @ b).tolist() == [[4.0] * 7] * 5
    launch = machine.launches[-1]
    written = [at for turn in launch.turns for at in turn.touched("out", writes=True)]
    assert sorted(written) == list(range(35))
    assert {turn.block for turn in launch.turns} == {(x, 0) for x in range(4)}


def test_kernel_without_barriers_raises_race_error() -> None:
    with pytest.raises(RaceError, match="since the last barrier"):
        simulated(TracingSimulator(barriers=False), list(range(16)))


@given(st.integers(0, 40))
def test_state_after_any_number_of_turns_can_be_drawn(done: int) -> None:
    machine = TracingSimulator()
    simulated(machine, [3, 1, 4, 1, 5, 9, 2, 6, 5])
    (launch,) = machine.launches
    done = min(done, len(launch.turns))
    turns = launch.turns[:done]
    threads = thread_rows(turns, 8)
    states = [row["State"] for row in threads]
    assert states.count("not started") == max(8 - done, 0)
    assert sum("waits" in state for state in states) == len(waiting(turns, 8))
    assert ["**" in row["Thread"] for row in threads].count(True) == (done > 0)
    assert all(("total" in row) == (done > 0) for row in threads)
    ((y,),) = array_rows("y", written(np.full(1, np.nan), "y", turns), turns[-1] if turns else None)
    assert ("36" in y) == any(turn.touched("y", writes=True) for turn in turns)
    code = code_lines(launch.kernel.source, turns)
    assert len(code.splitlines()) == len(launch.kernel.source.splitlines())
    assert ("# here" in code) == any("line" in state for state in states)


def test_elements_read_and_written_by_a_turn_are_marked() -> None:
    machine = TracingSimulator()
    simulated(machine, [3, 1, 4, 1, 5, 9, 2, 6, 5])
    first = machine.launches[0].turns[0]
    (x,) = array_rows("x", np.arange(9), first)
    assert [place for place, cell in enumerate(x) if cell == f":blue-background[{place}]"] == [0, 8]
    (totals,) = array_rows("totals", written(np.full(8, np.nan), "totals", [first]), first)
    assert totals == [":orange-background[8]", *"·······"]


def test_no_thread_waits_after_all_reached_the_barrier() -> None:
    machine = TracingSimulator()
    simulated(machine, list(range(9)))
    (launch,) = machine.launches
    assert [len(waiting(launch.turns[:done], 8)) for done in range(10)] == [*range(8), 0, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "write 1 to 4 numbers"),
        ("1 2 3 4 5", "not 5"),
        ("1 two", "could not convert string to float: 'two'"),
        ("1e30", "a number may be at most"),
        ("1 " * 400, "at most 200 characters"),
    ],
)
def test_invalid_list_of_numbers_raises_input_error(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        numbers(text, 4)
    assert numbers(" 1, 2 ,nan", 4)[:2] == [1.0, 2.0]


def tables(page: Any) -> list[list[str]]:
    return [list(each.value.to_numpy().ravel()) for each in page.table]


def press(page: Any, label: str) -> None:
    next(each for each in page.button if each.label == label).click().run()


def test_page_steps_through_a_sum_thread_by_thread(opened: Callable[[str], Any]) -> None:
    page = opened("stage4_simulator")
    assert "All threads run the same code" in page.markdown[0].value
    press(page, "Next thread")
    assert "**1.** Thread 0 starts, reads `x[0]` = 3, `x[8]` = 5, writes" in page.markdown[0].value
    totals, x, _, threads = tables(page)
    assert totals == [":orange-background[8]", *"·······"]
    assert x[0] == ":blue-background[3]"
    assert threads[:2] == ["**0**", "waits, line 25"]
    press(page, "To the barrier")
    assert "# here: threads 0, 1, 2, 3, 4, 5, 6, 7" in page.code[0].value
    assert tables(page)[-1][1] == "may continue, line 25"
    press(page, "Next thread")
    assert "writes `totals[0]` = 13" in page.markdown[0].value
    press(page, "Back")
    assert tables(page)[-1][1] == "may continue, line 25"
    page.slider[0].set_value(page.slider[0].max).run()
    assert tables(page)[2] == [":orange-background[44]"] or tables(page)[2] == ["44"]
    assert tables(page)[-1][1] == "ended"


def test_page_reduces_entered_numbers(opened: Callable[[str], Any]) -> None:
    page = opened("stage4_simulator")
    page.button_group[0].set_value("amax").run()
    page.text_input[0].set_value("2 7 1 8 2 8").run()
    page.slider[0].set_value(page.slider[0].max).run()
    assert tables(page)[1] == ["2", "7", "1", "8", "2", "8"]
    assert "8" in tables(page)[2][0]
    page.text_input[0].set_value("many").run()
    assert "could not convert string to float" in page.error[0].value
    page.text_input[0].set_value("1 inf").run()
    assert tables(page)[1] == ["1", "inf"]


def test_page_reports_the_race_without_barriers(opened: Callable[[str], Any]) -> None:
    page = opened("stage4_simulator")
    page.toggle[1].set_value(True).run()
    assert "since the last barrier" in page.error[0].value
    page.toggle[1].set_value(False).run()
    assert not page.error


def test_page_shows_a_matrix_product_in_tiles(opened: Callable[[str], Any]) -> None:
    page = opened("stage4_simulator")
    page.button_group[0].set_value("matrix product").run()
    page.button_group[1].set_value(1).run()
    slider = next(each for each in page.slider if each.label == "turns done")
    slider.set_value(slider.max).run()
    a = (np.arange(12).reshape(4, 3) * 7) % 10
    b = (np.arange(15).reshape(3, 5) * 3 + 1) % 10
    out = np.reshape(tables(page)[-2], (4, 5))
    assert (out[:, :4] == "·").all()
    assert [str(cell).split("[")[-1].rstrip("]") for cell in out[:, 4]] == [
        str(number) for number in (a @ b)[:, 4]
    ]
