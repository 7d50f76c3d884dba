"""The sample table is complete: nothing that computes is public and untested."""

import inspect
import runpy

import pytest

import mt_tensor as mt
from mt_operators import OPERATORS
from mt_operators.testing import SPECS, WHOLE_SPECS
from mt_tensor.conformance import test_operations
from mt_tensor.testing import BAD_CALLS, TENSOR_SPECS, BadCall, TensorOpSpec

SAMPLED = {*SPECS, *WHOLE_SPECS, *(spec.name for spec in TENSOR_SPECS)}

OTHER_NAMES = {**OPERATORS.aliases, "clip": "clamp"}
CHANGED = {f"{alias}_": f"{name}_" for alias, name in OTHER_NAMES.items()}
SAME = {**OTHER_NAMES, **{alias: name for alias, name in CHANGED.items() if name in dir(mt.Tensor)}}
"""Names of what has samples under another name."""

NOT_OPERATIONS = {
    "it describes a tensor": """
        Size backend broadcast_shapes data_ptr dim dtype element_size is_complex is_contiguous
        is_floating_point is_nonzero is_same_size is_signed is_tensor itemsize name nbytes ndim
        ndimension nelement numel shape size storage_offset stride unique_id
    """,
    "it belongs to differentiation, which test_autograd.py tests": """
        accumulate_derivative add_to_grad autograd backward chain_rule completed data detach
        detach_ enable_grad grad grad_fn history inference_mode is_constant is_freed
        is_grad_enabled is_leaf no_grad parents register_hook register_post_accumulate_grad_hook
        requires_grad
        requires_grad_ retain_grad retains_grad set_grad_enabled starting_gradient variable
        grad_central_difference grad_check gradcheck gradgradcheck
    """,
    "it makes a tensor, which test_creation.py and test_attributes.py test": """
        BFloat16Tensor BoolTensor ByteTensor CharTensor DoubleTensor FloatTensor HalfTensor
        IntTensor LongTensor ShortTensor arange as_tensor empty empty_like eye from_dlpack
        from_numpy full full_like linspace logspace new new_empty new_full new_ones new_tensor
        new_zeros ones ones_like tensor tril_indices triu_indices zeros zeros_like
    """,
    "it is about devices, which test_devices.py tests": """
        cpu cuda device get_device is_cuda
    """,
    "it is the same for all tensors, which test_tensor.py tests": """
        conj is_conj is_inference is_meta is_mkldnn is_mps is_mtia is_neg is_nested is_pinned
        is_quantized is_shared is_sparse is_vulkan is_xpu pin_memory resolve_conj share_memory_
        to_dense
    """,
    "it is memory, which test_tensor.py tests": "layout storage",
    "it converts, which the kit tests for each two element types": """
        bfloat16 bool byte char double float half int long short to type type_as
    """,
    "it gives Python or NumPy values, which test_interop.py tests": "item numpy tolist",
    "it is random, which test_random.py and test_in_place.py test": """
        Generator bernoulli bernoulli_ default_generator exponential_ get_rng_state initial_seed
        manual_seed multinomial normal normal_ rand rand_like randint randint_like randn randn_like
        random_ randperm set_rng_state uniform uniform_
    """,
    "it is about element types, which test_tensor.py tests": """
        DType bfloat16 bool_ finfo float16 float32 float64 iinfo int8 int16 int32 int64
        promote_types result_type uint8 uint16 uint32 uint64
    """,
    "it is about the default type, which test_default_dtype.py tests": """
        get_default_dtype set_default_dtype
        get_float32_matmul_precision set_float32_matmul_precision
    """,
    "it is about precision, which test_autocast.py tests": """
        autocast get_autocast_dtype is_autocast_enabled
    """,
    "it is about backends, which test_backends.py tests": """
        TensorBackend backends current_backend fuse fuse_in_place fused get_backend
        register_backend use_backend
    """,
    "it is about programs, which test_compiling.py and test_lazy.py test": "lazy realize",
    "it is about showing, which test_printing.py tests": """
        get_printoptions printoptions set_printoptions
    """,
    "it is what operations are made of": "Function Tensor TensorData elementwise errors",
    "it holds operations by other names": "linalg",
}
"""Public names that are no operations, by the reason."""

OPERATORS = {
    "abs": "__abs__",
    "add": "__add__ __radd__",
    "add_": "__iadd__",
    "bitwise_and": "__and__ __rand__",
    "bitwise_and_": "__iand__",
    "bitwise_left_shift": "__lshift__ __rlshift__",
    "bitwise_left_shift_": "__ilshift__",
    "bitwise_not": "__invert__",
    "bitwise_or": "__or__ __ror__",
    "bitwise_or_": "__ior__",
    "bitwise_right_shift": "__rrshift__ __rshift__",
    "bitwise_right_shift_": "__irshift__",
    "bitwise_xor": "__rxor__ __xor__",
    "bitwise_xor_": "__ixor__",
    "div": "__rtruediv__ __truediv__",
    "div_": "__itruediv__",
    "floor_divide": "__floordiv__ __rfloordiv__ __divmod__ __rdivmod__",
    "floor_divide_": "__ifloordiv__",
    "getitem": "__getitem__",
    "matmul": "__matmul__ __rmatmul__",
    "mul": "__mul__ __rmul__",
    "mul_": "__imul__",
    "neg": "__neg__",
    "pow": "__pow__ __rpow__",
    "pow_": "__ipow__",
    "remainder": "__mod__ __rmod__ __divmod__ __rdivmod__",
    "remainder_": "__imod__",
    "setitem": "__setitem__",
    "sub": "__rsub__ __sub__",
    "sub_": "__isub__",
}
"""Python's operators by the operations that they are."""

NO_OPERATORS = """
    __annotations__ __array__ __array_interface__ __array_priority__ __array_wrap__ __bool__
    __contains__ __copy__ __cuda_array_interface__ __deepcopy__ __dict__ __dlpack__
    __dlpack_device__ __float__ __index__ __int__ __iter__ __len__ __module__ __pos__ __slots__
    __weakref__ __operator__
"""
"""Python's names for making, converting and describing things."""


def test_every_public_name_has_samples_or_is_no_operation():
    public = {name for name in dir(mt.Tensor) if not name.startswith("_")}
    public |= {name for name in mt.__all__ if not name.startswith("_")}
    public -= set(SAME)
    explained = {name for names in NOT_OPERATIONS.values() for name in names.split()}
    assert public - SAMPLED - explained == set(), "they need a row in mt_tensor.testing"
    assert explained - public == set(), "they are explained, but there is nothing of that name"
    assert explained & SAMPLED == set(), "they have samples, and so need no explanation"


@pytest.mark.parametrize("alias", SAME)
def test_other_names_are_of_operations_with_samples(alias):
    name = SAME[alias]
    for place in (mt, mt.Tensor):
        assert getattr(place, alias, None) is getattr(place, name, None)
    assert not hasattr(mt.Tensor, alias) or name in SAMPLED


def test_linear_algebra_is_of_operations_with_samples():
    assert {*mt.linalg.__all__} - {"LinAlgError"} <= SAMPLED


def test_every_operator_of_python_is_an_operation_with_samples():
    special = {name for name in dir(mt.Tensor) if name.startswith("__")} - set(dir(object))
    special -= {"__firstlineno__", "__static_attributes__"}  # which classes have since Python 3.13
    explained = {name for names in OPERATORS.values() for name in names.split()}
    assert special == explained | set(NO_OPERATORS.split())
    assert set(OPERATORS) - SAMPLED == set()
    for operation, names in OPERATORS.items():
        name = operation if operation in dir(mt.Tensor) else names
        assert callable(getattr(mt.Tensor, name))


OTHER_ARGUMENTS = {
    **dict.fromkeys(
        ("broadcast_to", "flip", "permute", "reshape", "tile"),
        "the method takes the numbers one by one as well",
    ),
    "split": "torch gives its argument another name as a function",
    "where": "the condition comes first in the function",
    **dict.fromkeys(("bfloat16", "double", "half", "long", "short"), "it is an element type"),
    "cuda": "it is a module",
    "device": "it is a class",
}
"""What has other arguments than the method of that name, as in torch, and how it differs."""

BOTH = {name for name in {*mt.__all__} & {*dir(mt.Tensor)} if callable(getattr(mt.Tensor, name))}


@pytest.mark.parametrize("name", sorted(BOTH - set(OTHER_ARGUMENTS)))
def test_functions_take_the_arguments_of_their_methods(name):
    """The table calls either of the two; the other differs in nothing but where `input` stands."""
    function = list(inspect.signature(getattr(mt, name)).parameters.values())
    method = list(inspect.signature(getattr(mt.Tensor, name)).parameters.values())
    assert function[0].name == "input"
    assert [(p.name, p.default) for p in function[1:]] == [(p.name, p.default) for p in method[1:]]


def ids_of_the_kit():
    tables = runpy.run_path(test_operations.__file__)
    return [[row.id for row in tables[name]] for name in ("ROWS", "SMOOTH", "REFUSED")]


def test_a_row_more_changes_no_id(monkeypatch):
    before = ids_of_the_kit()
    bad = BadCall("exp", lambda x: x.exp(3), TypeError, "takes 1")
    row = TensorOpSpec("exp", lambda x: x.exp(), lambda x: x, (((2, 3),),))
    monkeypatch.setattr("mt_tensor.testing.TENSOR_SPECS", [row, *TENSOR_SPECS])
    monkeypatch.setattr("mt_tensor.testing.BAD_CALLS", [bad, *BAD_CALLS])
    rows, smooth, bad_calls = ids_of_the_kit()
    added = [["exp-x.exp()"], ["exp-x.exp()"], ["exp-x.exp(3)"]]
    assert [rows, smooth, bad_calls] == [
        [*more, *ids] for more, ids in zip(added, before, strict=True)
    ]
    assert all(len(ids) == len(set(ids)) for ids in before)
