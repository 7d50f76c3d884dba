"""CUDA graphs of compiled functions, on a mock driver whose kernels the simulator runs."""

import gc
import itertools
import re
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest

import mt_tensor as mt
from mt_cuda import CudaOps
from mt_cuda.core.errors import DeviceLostError, KernelError
from mt_cuda.graphs.program import FAILURES, MOST
from mt_cuda.graphs.recording import Launch, Variable, offsets_in_arena
from mt_operators import OPERATORS
from mt_tensor.backends import use_backend
from mt_tensor.errors import IndexingError
from mt_tensor.extending import use_generator

ADD, MUL = OPERATORS["add"].value, OPERATORS["mul"].value


@pytest.fixture(params=["cubin", "ptx"])
def driver(request, make_mock_gpu):
    """Make a mock GPU the current backend, and yield its driver."""
    machine, driver = make_mock_gpu(request.param)
    driver.ops = CudaOps(machine)
    driver.allocates = () if "pool" in machine.parts else ("allocate",)  # for each result
    with use_backend(driver.ops):
        yield driver


@pytest.fixture
def ops(driver):
    return driver.ops


def row(*values):
    return mt.tensor(np.array(values, np.float32))


def run_as_graph(driver, function, *arguments):
    """Call a function, check that it launches one graph and no kernel, and return its result."""
    driver.calls.clear()
    result = function(*arguments)
    assert driver.calls["graph launch"] == 1
    assert driver.calls.keys() <= {"graph launch", "graph", "parameters", "allocate"}
    return result


def compile_to_graph(driver, function, *arguments):
    """Compile a function and call it until it has a graph."""
    function = mt.compile(function)
    for _ in range(2):
        function(*arguments)
    assert "CUDA graph" in repr(function.program.calls)
    return function


def chain(x, y):
    return ((x @ x.T).relu() * y).sum(0)


def test_compiled_function_is_one_graph_launch_from_third_call(driver):
    rng = np.random.default_rng(0)
    step = mt.compile(chain)
    for number in range(5):
        x, y = (mt.tensor(rng.random(shape, np.float32)) for shape in ((4, 3), (4, 4)))
        driver.calls.clear()
        found = step(x, y)
        calls = dict(driver.calls)
        assert np.array_equal(found.numpy(), chain(x, y).numpy())
        assert ("launch" in calls) == (number == 0)
        if number > 1:
            assert calls.pop("graph launch") == 1
            assert calls.keys() <= {"parameters", *driver.allocates}


def test_later_calls_do_not_overwrite_earlier_results(driver):
    step = compile_to_graph(driver, lambda x: (x * 2, (x * 2 + 1).reshape(3, 1)), row(1, 2, 3))
    results = []
    for number in range(4):
        double, column = run_as_graph(driver, step, row(number, 0, 1))
        results.append((double, column[0], column.reshape(3).detach()))
    for number, (double, first, flat) in enumerate(results):
        assert double.tolist() == [2 * number, 0, 2]
        assert first.tolist() == [2 * number + 1]
        assert flat.tolist() == [2 * number + 1, 1, 3]


def test_memory_of_deleted_result_is_reused(driver):
    step = compile_to_graph(driver, lambda x: (x * 2).exp() @ x, row(1, 2, 3))
    x = row(1, 2, 3)
    assert len({step(x)._tensor.storage.address for _ in range(6)}) == 1
    driver.calls.clear()
    step(x)
    assert dict(driver.calls) == {"graph launch": 1}
    results = [step(x) for _ in range(6)]
    assert len({each._tensor.storage.address for each in results}) == 6


def test_memory_of_many_deleted_results_is_freed(driver, ops):
    x = row(1, 2, 3)
    step = compile_to_graph(driver, lambda x: (x * 2).exp() @ x, x)
    results = [step(x) for _ in range(20)]
    allocated = driver.allocated
    del results
    step(x)
    others = [ops.empty((1,), mt.float32) for _ in range(15)]
    assert driver.allocated <= allocated
    assert len(others) == 15


def test_program_keeps_its_constants_alive(driver, ops):
    add, constant = ops.elementwise(ADD), [row(1, 2)._tensor]

    def calls(a):
        return [add(a[0].layout, add(a[0].layout, a[0], constant[0]), constant[0])]

    program = ops.program(calls)
    program([row(1, 2)._tensor])
    owner = weakref.ref(constant.pop().storage.owner)
    (found,) = program([row(1, 2)._tensor])
    assert owner() is not None
    assert ops.to_host(found).tolist() == [3, 6]


def test_lazy_program_builds_no_graph(driver):
    with mt.lazy():
        x = ((row(1, 2) + 1) @ row(1, 1)).exp() + 1
    assert x.item() == pytest.approx(np.exp(5) + 1)
    assert driver.calls["graph"] == 0


def test_program_keeps_no_reference_to_its_arguments(driver):
    x = row(1, 2, 3)
    step = compile_to_graph(driver, lambda x: (x * 2).exp() @ x, x)
    owner = weakref.ref(x._tensor.storage.owner)
    del x
    assert owner() is None
    step(row(1, 2, 3))
    allocated = driver.allocated
    for _ in range(5):
        step(row(1, 2, 3))
    assert driver.allocated == allocated


def test_graph_is_destroyed_with_its_program(driver):
    x = row(1, 2, 3)
    step = compile_to_graph(driver, lambda x: (x * 2).exp() @ x, x)
    driver.calls.clear()
    del step
    gc.collect()
    assert driver.calls["destroyed"] == 2  # the executable graph and its template


def test_calls_of_two_compiled_functions_may_alternate(driver):
    x = row(1, 2, 3)
    first = compile_to_graph(driver, lambda x: (x + 1).exp() @ x, x)
    second = compile_to_graph(driver, lambda x: (x + 1).exp() * x.sum(), x)
    expected = first(x).item(), second(x).tolist()
    for _ in range(3):
        a, b = run_as_graph(driver, first, x), run_as_graph(driver, second, x)
        assert (a.item(), b.tolist()) == expected


def test_in_place_operation_in_graph_changes_the_argument(driver):
    def step(x, y):
        y.mul_(2)
        y.add_(x @ x)
        return y.sum()

    x, y = row(1, 2), row(3, 4)
    step = compile_to_graph(driver, step, x, y)
    for _ in range(3):
        x, y = row(1, 2), row(3, 4)
        assert run_as_graph(driver, step, x, y).item() == 24
        assert y.tolist() == [11, 13]


def test_result_may_be_argument_of_the_next_call(driver):
    def function(state, x):
        return ((state + x).exp() @ x) * state

    step, x = mt.compile(function), row(0.1, 0.2)
    states, expected = [row(0.3, 0.4)], [row(0.3, 0.4)]
    for number in range(8):
        states.append(step(states[-1], x))
        expected.append(function(expected[-1], x))
        if number % 2:
            states[-2] = states[-2].tolist()
    assert "CUDA graph" in repr(step.program.calls)
    found = [each if isinstance(each, list) else each.tolist() for each in states]
    assert found == [each.tolist() for each in expected]


def test_backward_of_compiled_function_uses_a_graph_and_matches_eager(driver):
    w = mt.tensor(np.arange(6, dtype="f4").reshape(3, 2), requires_grad=True)

    def function(x):
        return mt.log_softmax(x @ w, 1)

    step = mt.compile(function)
    for number in range(4):
        x = mt.tensor(np.full((2, 3), number + 0.5, np.float32))
        step(x)[:, 0].sum().backward()
        found, w.grad = w.grad, None
        function(x)[:, 0].sum().backward()
        assert np.array_equal(found.numpy(), w.grad.numpy())
        w.grad = None
    (replay,) = step._replays
    backward = replay._gradients.runs[0].__globals__["calls"]
    assert "CUDA graph" in repr(replay.program.calls)
    assert "CUDA graph" in repr(backward)


def test_random_numbers_in_graph_follow_the_generator(driver):
    def step(x):
        return mt.rand(3) + x * mt.rand(3)

    mt.manual_seed(3)
    expected = [step(row(1, 1, 1)).tolist() for _ in range(5)]
    mt.manual_seed(3)
    run = mt.compile(step)
    found = [run(row(1, 1, 1)).tolist() for _ in range(3)]
    found += [run_as_graph(driver, run, row(1, 1, 1)).tolist() for _ in range(2)]
    assert found == expected
    mt.manual_seed(3)
    assert run_as_graph(driver, run, row(1, 1, 1)).tolist() == expected[0]
    with use_generator(mt.Generator().manual_seed(3)):
        assert run_as_graph(driver, run, row(1, 1, 1)).tolist() == expected[0]
    assert run_as_graph(driver, run, row(1, 1, 1)).tolist() == expected[1]


def test_invalid_index_in_graph_raises_at_next_download(driver):
    def step(table, index):
        return (table[index] * 2).exp()

    table, good = mt.ones(3, 2), mt.tensor([0, 2, 1])
    step = compile_to_graph(driver, step, table, good)
    expected = step(table, good).tolist()
    for _ in range(3):
        step(table, mt.tensor([0, 5, 1]))
        kept = run_as_graph(driver, step, table, good)
        with pytest.raises(IndexingError, match="index 5 is out of range .* 3 element"):
            kept.tolist()
        assert kept.tolist() == expected
        assert step(table, good).tolist() == expected  # a new graph, with another error flag


# --- Numbers and layouts, in programs written by hand ---------------------------------------------


def scale_program(ops):
    """Return a program that multiplies two tensors in place by 2, and returns scaled sums."""
    mul, add = ops.elementwise(MUL), ops.elementwise(ADD)

    def calls(a):
        [x, y, first, second, third] = a
        a.clear()
        mul([x], x, 2.0)
        mul([y], y, 2.0)
        left, right = add(x.layout, x, third), add(y.layout, y, third)
        return [mul(x.layout, left, first), mul(y.layout, right, second)]

    return ops.program(calls)


def expected_results(first, second, third):
    x = np.float32([1, 2, 3]) * 2 + np.float32(third)
    return [(x * first).tolist(), (x * second).tolist()]


def run_program(ops, program, *numbers):
    arguments = [row(1, 2, 3)._tensor, row(1, 2, 3)._tensor, *numbers]
    found = program(arguments)
    assert arguments == []
    return [ops.to_host(each).tolist() for each in found]


def test_numbers_may_differ_in_each_call_of_a_graph(driver, ops):
    program = scale_program(ops)
    for numbers in [(2.0, 3.0, 0.5), (4.0, 5.0, -0.5), (2.0, 2.0, 1e30), (1.0, 2.0, 0.0)]:
        driver.calls.clear()
        assert run_program(ops, program, *numbers) == expected_results(*numbers)
        assert driver.calls["graph launch"] == 1
        assert "launch" not in driver.calls


def test_launches_are_batched_while_their_numbers_are_equal(driver, ops):
    program = scale_program(ops)
    for count, numbers in enumerate([(2.0, 2.0, 1.0), (3.0, 3.0, 1.0), (3.0, 4.0, 1.0)]):
        assert run_program(ops, program, *numbers) == expected_results(*numbers)
        assert driver.calls["graph"] == 1 + (count == 2)
        assert f"of {6 if count == 2 else 5} launches" in repr(program)


def test_program_accepts_arguments_of_different_layouts(driver, ops):
    neg, exp = (ops.elementwise(OPERATORS[name].value) for name in ("neg", "exp"))

    def calls(a):
        (x,) = a
        a.clear()
        return [neg(x.layout.contiguous, exp(x.layout.contiguous, x))]

    program, x = ops.program(calls), mt.tensor(np.arange(6, dtype="f4").reshape(2, 3))
    for each in (x, x.T, x[0], x[1], x[:, ::2], x):
        (found,) = program([each._tensor])
        np.testing.assert_allclose(ops.to_host(found), -np.exp(each.numpy()), 1e-6)


def test_graph_cache_distinguishes_zeros_by_sign_and_treats_nan_as_equal(driver, ops):
    program = scale_program(ops)
    run_program(ops, program, 2.0, 2.0, 1.0)
    found = run_program(ops, program, 0.0, -0.0, 1.0)
    assert [np.signbit(each).tolist() for each in found] == [[False] * 3, [True] * 3]
    for _ in range(2):
        assert np.isnan(run_program(ops, program, np.nan, np.nan, 1.0)).all()
        assert driver.calls["graph"] == 2


def test_number_of_graphs_per_program_is_bounded(driver, ops):
    program = scale_program(ops)
    for number in range(MOST + 2):
        for numbers in ((2.0, 2.0, 1.0 + number), (2.0, 1.0 + number, 1.0 + number)):
            assert run_program(ops, program, *numbers) == expected_results(*numbers)
    assert "arguments changed too often" in repr(program)
    assert driver.calls["graph"] == MOST


def test_arguments_may_share_memory(driver, ops):
    add = ops.elementwise(ADD)

    def calls(a):
        [x, y] = a
        add([x], x, 1.0)
        add([y], y, 1.0)
        return [ops.copy(x, x.layout)]

    program, x, y = ops.program(calls), row(0, 0)._tensor, row(0, 0)._tensor
    program([x, y])
    (found,) = program([x, x.with_layout(x.layout)])
    assert ops.to_host(found).tolist() == [3, 3]
    (found,) = program([y, x])
    assert ops.to_host(found).tolist() == [2, 2]
    assert driver.calls["graph"] == 1
    assert "of 3 launches" in repr(program)
    program = ops.program(calls)
    program([x, x])
    (found,) = program([x, y])
    assert ops.to_host(found).tolist() == [7, 7]


def test_graph_accepts_memory_of_other_libraries(driver, ops):
    program, arrays = scale_program(ops), [np.arange(4, dtype="f4") for _ in range(8)]
    adopted = [
        ops.shared_memory().from_address(each.ctypes.data, 4, mt.float32, each) for each in arrays
    ]
    for x, y in zip(adopted[::2], adopted[1::2], strict=True):
        driver.calls.clear()
        first, second = program([x, y, 2.0, 3.0, 1.0])
        assert driver.calls["graph launch"] == 1
        assert ops.to_host(first).tolist() == [2, 6, 10, 14]
        assert ops.to_host(second).tolist() == [3, 9, 15, 21]
    assert [each.tolist() for each in arrays[::2]] == [[0, 2, 4, 6]] * 4


def test_threads_may_share_a_program(driver, ops):
    program, found = scale_program(ops), {}

    def work(number):
        with use_backend(ops):
            for _ in range(5):
                found[number] = run_program(ops, program, number, 2.0 * number, 1.0 + number)

    threads = [threading.Thread(target=work, args=(float(n),)) for n in range(1, 5)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert found == {n: expected_results(n, 2 * n, 1 + n) for n in (1.0, 2.0, 3.0, 4.0)}
    assert driver.calls["graph launch"] == 20


def test_results_of_program_may_share_storage(driver, ops):
    add = ops.elementwise(ADD)

    def calls(a):
        (x,) = a
        y = add(x.layout, add(x.layout, x, 1.0), 1.0)
        tensor = mt.Tensor._make(y.permute(1, 0), ops)
        return [y, (tensor, y.slice((0, 1), (1, 1), (2, 2)), 3, None)]

    program = ops.program(calls)
    for number in range(3):
        y, (transposed, part, *rest) = program([mt.full((2, 3), float(number))._tensor])
        assert rest == [3, None]
        y.bump_version()
        assert transposed._tensor.version == part.version == 1
        assert transposed._tensor.storage is part.storage is y.storage
        assert transposed.tolist() == [[number + 2.0] * 2] * 3
        assert ops.to_host(part).tolist() == [[number + 2.0] * 2] * 2


# --- Errors, and memory that runs out -------------------------------------------------------------


def test_program_works_after_failed_graph_launch(driver, ops):
    program = scale_program(ops)
    run_program(ops, program, 2.0, 3.0, 1.0)
    x, y = row(1, 2, 3)._tensor, row(1, 2, 3)._tensor
    driver.fault = "CUDA_ERROR_UNKNOWN"
    with pytest.raises(KernelError, match="CUDA_ERROR_UNKNOWN"):
        program([x, y, 4.0, 5.0, 1.0])
    driver.fault = None
    assert run_program(ops, program, 2.0, 3.0, 1.0) == expected_results(2.0, 3.0, 1.0)


def test_lost_device_error_names_the_graph(driver, ops):
    program = scale_program(ops)
    ops.synchronize()
    first, _ = program([row(1)._tensor, row(2)._tensor, 2.0, 3.0, 1.0])
    driver.fault = "CUDA_ERROR_ILLEGAL_ADDRESS"
    with pytest.raises(DeviceLostError, match="one of 6 in a CUDA graph"):
        ops.to_host(first)


def test_graphs_are_dropped_before_out_of_memory_is_raised(driver, ops):
    x = row(*range(600))
    step = compile_to_graph(driver, lambda x: ((x * 2).exp().cumsum(0) @ x, x.exp()), x)
    expected = [each.tolist() for each in step(x)]
    driver.calls.clear()
    full = []
    while not driver.calls["destroyed"]:  # allocation raises if no graph is dropped
        full.append(ops.empty((1 << 12,), mt.float32))
    assert "its memory was needed" in repr(step.program.calls)
    full.clear()
    assert [each.tolist() for each in step(x)] == expected
    assert "CUDA graph" in repr(step.program.calls)


def test_cuda_bindings_have_the_graph_api():
    from cuda.bindings import driver

    parameters = driver.CUDA_KERNEL_NODE_PARAMS()
    names = {name for name in dir(parameters) if not name.startswith("_")}
    assert {
        "kern",
        "kernelParams",
        *(f"{each}Dim{x}" for each in ("grid", "block") for x in "XYZ"),
    } <= names
    for name in (
        *("cuGraphCreate", "cuGraphDestroy", "cuGraphAddKernelNode", "cuGraphInstantiate"),
        *("cuGraphExecDestroy", "cuGraphExecKernelNodeSetParams", "cuGraphLaunch"),
    ):
        assert callable(getattr(driver, name))


@pytest.mark.parametrize("seed", range(20))
def test_temporary_results_in_use_do_not_overlap_in_arena(seed):
    rng = np.random.default_rng(seed)
    variables = [Variable(int(size)) for size in rng.integers(1, 5000, 30)]
    launches = [Launch(None, (1, 1), 1, list(rng.choice(variables, 3))) for _ in range(40)]
    outputs = set(variables[:3])
    offsets, size = offsets_in_arena(launches, outputs)
    used = [{x for x in launch.arguments if x not in outputs} for launch in launches]
    assert offsets.keys() == set().union(*used)
    lives = {x: [at for at, some in enumerate(used) if x in some] for x in offsets}
    peak = 0
    for at in range(len(launches)):
        alive = [x for x, uses in lives.items() if uses[0] <= at <= uses[-1]]
        peak = max(peak, sum(-(-x.size // 512) * 512 for x in alive))
        for x, y in itertools.combinations(alive, 2):
            assert offsets[x] + x.size <= offsets[y] or offsets[y] + y.size <= offsets[x]
    assert peak <= size <= 1.3 * peak
    assert all(offset % 512 == 0 and offset + x.size <= size for x, offset in offsets.items())


# --- Programs without a graph ---------------------------------------------------------------------

X = np.arange(3, dtype="f4")


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda ops, x, n: ops.from_host(X), "copies elements to the device"),
        (lambda ops, x, n: ops.to_host(x), "copies elements to the host"),
        (lambda ops, x, n: ops.synchronize(), "waits for the device"),
        (lambda ops, x, n: ops.shared_memory().address(x.storage), "calls a library"),
        (
            lambda ops, x, n: ops.copy(x, x.layout) if n == 0 else None,
            "depend on the value of a number",
        ),
        (lambda ops, x, n: None if n else ops.copy(x, x.layout), "depend on the value of a number"),
        (lambda ops, x, n: {n: 1}, "depend on the value of a number"),
        (lambda ops, x, n: np.float32(n), "UnknownNumber"),
        (lambda ops, x, n: n > 1, "UnknownNumber"),
    ],
    ids=["upload", "download", "wait", "library", "comparison", "bool", "hash", "float", "order"],
)
def test_repr_of_program_without_graph_states_reason(driver, ops, call, reason):
    mul = ops.elementwise(MUL)

    def calls(a):
        [x, n] = a
        mul([x], x, n)
        call(ops, x, n)
        mul([x], x, n)
        return [ops.copy(x, x.layout)]

    program, x = ops.program(calls), row(1, 2, 3)._tensor
    for number in range(1, FAILURES + 3):
        (found,) = program([x, 2.0])
        assert ops.to_host(found).tolist() == [4**number * i for i in (1, 2, 3)]
    assert reason in repr(program)
    assert driver.calls["graph launch"] == 0


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (lambda ops, x: [x], "returns memory that existed before"),
        (lambda ops, x: [(object(),)], "takes or returns a value of type object"),
    ],
    ids=["argument", "object"],
)
def test_program_with_unsupported_result_has_no_graph(driver, ops, result, reason):
    add = ops.elementwise(ADD)

    def calls(a):
        add([a[0]], a[0], 1.0)
        add([a[0]], a[0], 2.0)
        return result(ops, a[0])

    program, x = ops.program(calls), row(1, 2)._tensor
    program([x])
    assert ops.to_host(x).tolist() == [4, 5]
    assert reason in repr(program)


def test_program_of_one_launch_has_no_graph(driver):
    step = mt.compile(lambda x: x * 2 + 1)
    for _ in range(3):
        assert step(row(1, 2)).tolist() == [3, 5]
    assert repr(step.program.calls) == "separate launches: it launches one kernel at most"


def test_calls_of_other_threads_are_not_recorded(driver, ops):
    add, other = ops.elementwise(ADD), row(1, 2)

    def calls(a):
        (x,) = a
        thread = threading.Thread(target=other.add_, args=(1,))
        thread.start()
        thread.join()
        return [add(x.layout, add(x.layout, x, 1.0), 1.0)]

    program = ops.program(calls)
    for _ in range(3):
        (found,) = program([row(1, 2)._tensor])
        assert ops.to_host(found).tolist() == [3, 4]
    assert other.tolist() == [2, 3]


def test_delayed_calls_run_before_the_graph(driver, ops):
    program, add = scale_program(ops), ops.elementwise(ADD)
    x, y = row(1, 2)._tensor, row(1, 2)._tensor
    with ops.batch_calls():
        for _ in range(3):
            add([x], x, 1.0)
            program([x, y, 3.0, 4.0, 1.0])
        driver.calls.clear()
        add([x], x, 1.0)
        add([y], y, 1.0)
    assert driver.calls["launch"] == 1
    assert ops.to_host(x).tolist() == [23, 31]
    assert ops.to_host(y).tolist() == [9, 17]


def test_example_of_the_guide_prints_its_output(driver, capsys):
    text = Path(__file__).parents[1].joinpath("docs", "execution.md").read_text(encoding="utf-8")
    _, source, _, output, *_ = re.split(
        "^```.*\n", text.split("## A compiled step is one")[1], flags=re.MULTILINE
    )
    exec(source, {"mt": mt})
    assert capsys.readouterr().out == output


@pytest.mark.gpu
def test_graph_on_gpu_matches_eager(cubin_ops):
    rng, kept = np.random.default_rng(0), []
    with use_backend(cubin_ops):

        def function(x, y):
            return chain(x, y) * mt.rand(y.shape[1])

        step = mt.compile(function)
        for seed in range(6):
            x, y = (mt.tensor(rng.random(shape, np.float32)) for shape in ((300, 64), (300, 300)))
            kept.append([mt.manual_seed(seed) and run(x, y) for run in (step, function)])
        assert "CUDA graph" in repr(step.program.calls)
        for found, wanted in kept:
            assert np.array_equal(found.numpy(), wanted.numpy())
