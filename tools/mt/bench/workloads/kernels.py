"""Operations on tensors from a few elements to millions: the group `kernels`.

Small tensors measure the overhead of an operation, and large ones memory and arithmetic.
"""

from __future__ import annotations

from mt.bench.libraries import Library
from mt.bench.workloads.registry import Make, Program, line, workload
from mt.bench.workloads.steps import lenet_step

MILLIONS = (4_000_000,)
MATRIX = (4096, 1024)


def _code(code: str, setup: str = "", /, **shapes: tuple[int, ...]) -> Make:
    """Return a function that creates a program.

    Args:
        code: the program, which runs unchanged in both libraries.
        setup: code that runs once before it.
        shapes: the shapes of the tensors that both use, with normal random numbers.
    """

    def make(side: Library) -> Program:
        tensors = {name: side.tensors.randn(*shape) for name, shape in shapes.items()}
        variables = side.names() | tensors
        exec(setup, variables)
        return line(code, variables)

    return make


# --- Overhead -------------------------------------------------------------------------------------

LEAVES = "x.requires_grad_(), y.requires_grad_(), z.requires_grad_()"
CLEAR = "x.grad = y.grad = z.grad = None\n"

for _size in (8, 1000):
    _xyz = {"x": (_size,), "y": (_size,), "z": (_size,)}
    _name = f"x * y + z, {_size} elements: forward"
    workload(_name, 0.6)(_code("x * y + z", **_xyz))
    workload(f"x * 2 + 1, {_size} elements: forward", 0.6)(_code("x * 2.0 + 1.0", **_xyz))
    workload(f"{_name}, recorded", 0.6)(_code("x * y + z", LEAVES, **_xyz))
    _name = f"(x * y + z).sum(), {_size} elements: forward and backward"
    workload(_name, 0.5)(_code(f"{CLEAR}(x * y + z).sum().backward()", LEAVES, **_xyz))
_chain = f"{CLEAR}h = x\nfor _ in range(50): h = h * y + z\nh.sum().backward()"
workload("100 operations in a chain, 1000 elements: forward and backward", 0.7)(
    _code(_chain, LEAVES, x=(1000,), y=(1000,), z=(1000,))
)

# --- Elementwise, reductions and products ---------------------------------------------------------

workload("x + y, 256K elements", 1.0)(_code("x + y", x=(262_144,), y=(262_144,)))
workload("x * y, 4M elements", 1.0)(_code("x * y", x=MILLIONS, y=MILLIONS))
workload("x.T + y, 1024 x 1024", 0.4)(_code("x.T + y", x=(1024, 1024), y=(1024, 1024)))
for _name, _target in (("exp", 0.4), ("log", 0.4), ("tanh", 0.2), ("sigmoid", 0.9), ("gelu", 0.6)):
    _function = "F.gelu" if _name == "gelu" else f"mt.{_name}"
    _positive = f"x = mt.rand(*{MILLIONS}) * 4.0 + 0.5"
    workload(f"{_name}, 4M elements", _target)(_code(f"{_function}(x)", _positive))

_of = "{} x {}".format(*MATRIX)
for _name, _target, _line in (
    ("sum over the last axis", 1.0, "x.sum(1)"),
    ("sum over the first axis", 0.4, "x.sum(0)"),
    ("max over the last axis", 1.0, "x.amax(1)"),
    ("max over the first axis", 0.4, "x.amax(0)"),
    ("softmax", 0.6, "mt.softmax(x, 1)"),
    ("log_softmax", 0.6, "mt.log_softmax(x, 1)"),
    ("layer norm", 0.8, "F.layer_norm(x, w.shape, w, b)"),
):
    workload(f"{_name}, {_of}", _target)(_code(_line, x=MATRIX, w=MATRIX[1:], b=MATRIX[1:]))
workload(f"cross-entropy, {_of}: forward and backward", 0.4)(
    _code(
        "x.grad = None\nF.cross_entropy(x, classes).backward()",
        "x.requires_grad_(); classes = mt.randint(0, x.shape[1], x.shape[:1])",
        x=MATRIX,
    )
)

for _size, _target in ((64, 0.8), (256, 0.8), (1024, 0.6)):
    _square = (_size, _size)
    workload(f"matmul, {_size} x {_size}", _target)(_code("a @ b", a=_square, b=_square))
_batch = (64, 256, 256)
workload("matmul, a batch of 64 products 256 x 256", 1.0)(_code("a @ b", a=_batch, b=_batch))

# --- Convolution and pooling ----------------------------------------------------------------------


def _both(
    name: str, targets: tuple[float, float], expression: str, **shapes: tuple[int, ...]
) -> None:
    """Add workloads for a function and for its backward alone, repeated on the same result."""
    workload(f"{name}: forward", targets[0])(_code(expression, **shapes))
    leaves = "".join(f"{name}.requires_grad_(); " for name in shapes)
    setup = f"{leaves}out = {expression}; upstream = mt.randn(*out.shape)"
    clear = "".join(f"{name}.grad = None; " for name in shapes)
    backward = _code(f"{clear}out.backward(upstream, retain_graph=True)", setup, **shapes)
    workload(f"{name}: backward", targets[1])(backward)


for _inputs, _outputs, _stride, _target in (
    (1, 4, 1, 0.5),
    (4, 8, 1, 0.5),
    (16, 32, 1, 1.0),
    (64, 64, 1, 1.0),
    (16, 32, 2, 1.2),
    (64, 64, 2, 1.2),
):
    _both(
        f"conv2d 3 x 3, {_inputs} to {_outputs} channels, stride {_stride}",
        (_target, _target),
        f"F.conv2d(x, w, b, stride={_stride}, padding=1)",
        x=(32, _inputs, 28, 28),
        w=(_outputs, _inputs, 3, 3),
        b=(_outputs,),
    )
for _name in ("max_pool2d", "avg_pool2d"):
    _title = f"{_name} 2 x 2, 32 x 16 planes of 28"
    _both(_title, (0.3, 1.0), f"F.{_name}(x, 2)", x=(32, 16, 28, 28))

# --- Recurrent networks ---------------------------------------------------------------------------

for _name, _layer, _input in (
    ("RNN of 128, 20 steps of 32 sequences", "RNN(128, 128)", (20, 32, 128)),
    ("GRU of 128, 20 steps of 32 sequences", "GRU(128, 128)", (20, 32, 128)),
    ("LSTM of 128, 20 steps of 32 sequences", "LSTM(128, 128)", (20, 32, 128)),
    (
        "LSTM of 64, two layers both ways, 35 steps of 16",
        "LSTM(64, 64, 2, bidirectional=True, batch_first=True)",
        (16, 35, 64),
    ),
    ("LSTM of 256, two layers, 64 steps of 64", "LSTM(256, 256, 2)", (64, 64, 256)),
    ("LSTM of 650, 35 steps of 20", "LSTM(650, 650)", (35, 20, 650)),
):
    workload(_name, 1.0)(
        _code(
            "network.zero_grad()\nnetwork(x)[0].backward(upstream)",
            f"network = nn.{_layer}; upstream = mt.randn(*network(x)[0].shape)",
            x=_input,
        )
    )
_cell = """
state = None
for now in x.unbind():
    state = cell(now, state)
cell.zero_grad()
state[0].sum().backward()
"""
workload("LSTM cell of 64, 20 steps of 32", 1.0)(
    _code(_cell, "cell = nn.LSTMCell(64, 64)", x=(20, 32, 64))
)

# --- Steps ----------------------------------------------------------------------------------------

_adam = "p.requires_grad_().grad = g; adam = optim.Adam([p], lr=1e-3, **fastest)"
workload("Adam step, 1M parameters", 0.8)(_code("adam.step()", _adam, p=(10**6,), g=(10**6,)))
workload("LeNet training step, batch 16", 0.4)(lenet_step(16))
workload("LeNet training step, batch 64", 0.5)(lenet_step(64))
