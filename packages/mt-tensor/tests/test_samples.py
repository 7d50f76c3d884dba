"""Sample tables: every public operation has samples, whose ids do not depend on their order."""

import inspect
import runpy

import pytest

import mt_tensor as mt
from mt_operators import OPERATORS
from mt_operators.testing import INTEGER_SPECS, SPECS
from mt_tensor.conformance import test_operations
from mt_tensor.testing import BAD_CALLS, TENSOR_SPECS, BadCall, TensorOpSpec

SAMPLED = {*SPECS, *INTEGER_SPECS, *(spec.name for spec in TENSOR_SPECS)}

OPERATOR_ALIASES = {**OPERATORS.aliases, "clip": "clamp"}
IN_PLACE_ALIASES = {f"{alias}_": f"{name}_" for alias, name in OPERATOR_ALIASES.items()}
ALIASES = {
    **OPERATOR_ALIASES,
    **{alias: name for alias, name in IN_PLACE_ALIASES.items() if name in dir(mt.Tensor)},
}
"""Aliases, whose samples are those of the operation."""

WITHOUT_SAMPLES = {
    "description of a tensor": """
        Size backend broadcast_shapes data_ptr dim dtype element_size is_complex is_contiguous
        is_floating_point is_nonzero is_same_size is_signed is_tensor itemsize name nbytes ndim
        ndimension nelement numel shape size storage_offset stride unique_id
    """,
    "differentiation, tested in test_autograd.py": """
        accumulate_derivative add_to_grad autograd backward chain_rule completed data detach
        detach_ enable_grad grad grad_fn history inference_mode is_constant is_freed
        is_grad_enabled is_leaf no_grad parents register_hook register_post_accumulate_grad_hook
        requires_grad
        requires_grad_ retain_grad retains_grad set_grad_enabled starting_gradient variable
        grad_central_difference grad_check gradcheck gradgradcheck
    """,
    "creation, tested in test_creation.py and test_attributes.py": """
        BFloat16Tensor BoolTensor ByteTensor CharTensor DoubleTensor FloatTensor HalfTensor
        IntTensor LongTensor ShortTensor arange as_tensor empty empty_like eye from_dlpack
        from_numpy full full_like linspace logspace new new_empty new_full new_ones new_tensor
        new_zeros ones ones_like tensor tril_indices triu_indices zeros zeros_like
    """,
    "devices, tested in test_devices.py": """
        cpu cuda device get_device is_cuda
    """,
    "constants and methods without effect, tested in test_tensor.py": """
        conj is_conj is_inference is_meta is_mkldnn is_mps is_mtia is_neg is_nested is_pinned
        is_quantized is_shared is_sparse is_vulkan is_xpu pin_memory resolve_conj share_memory_
        to_dense
    """,
    "memory, tested in test_tensor.py": "layout storage",
    "conversion, tested in the kit for each pair of dtypes": """
        bfloat16 bool byte char double float half int long short to type type_as
    """,
    "conversion to Python or NumPy, tested in test_interop.py": "item numpy tolist",
    "random numbers, tested in test_random.py and test_in_place.py": """
        Generator bernoulli bernoulli_ default_generator exponential_ get_rng_state initial_seed
        manual_seed multinomial normal normal_ rand rand_like randint randint_like randn randn_like
        random_ randperm set_rng_state uniform_
    """,
    "dtypes, tested in test_tensor.py": """
        DType bfloat16 bool_ finfo float16 float32 float64 iinfo int8 int16 int32 int64
        promote_types result_type uint8 uint16 uint32 uint64
    """,
    "default dtype, tested in test_default_dtype.py": """
        get_default_dtype set_default_dtype
        get_float32_matmul_precision set_float32_matmul_precision
    """,
    "precision, tested in test_autocast.py": """
        autocast get_autocast_dtype is_autocast_enabled
    """,
    "backends, tested in test_backends.py": """
        TensorBackend backends current_backend fuse fuse_in_place fused get_backend
        register_backend use_backend
    """,
    "programs, tested in test_compiling.py and test_lazy.py": "lazy realize",
    "printing, tested in test_printing.py": """
        get_printoptions printoptions set_printoptions
    """,
    "base classes and building blocks": "Function Tensor TensorData elementwise errors",
    "module of operations": "linalg",
}
"""Public names without samples, by the reason."""

SPECIAL_METHODS = {
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
"""Special methods of Python by the operation that they call."""

OTHER_SPECIAL_METHODS = """
    __annotations__ __array__ __array_interface__ __array_priority__ __array_wrap__ __bool__
    __contains__ __copy__ __cuda_array_interface__ __deepcopy__ __dict__ __dlpack__
    __dlpack_device__ __float__ __index__ __int__ __iter__ __len__ __module__ __pos__ __slots__
    __weakref__ __operator__
"""
"""Special methods for creation, conversion and description."""


def test_every_public_name_has_samples_or_a_reason_for_none():
    public = {name for name in dir(mt.Tensor) if not name.startswith("_")}
    public |= {name for name in mt.__all__ if not name.startswith("_")}
    public -= set(ALIASES)
    explained = {name for names in WITHOUT_SAMPLES.values() for name in names.split()}
    assert public - SAMPLED - explained == set(), "public names need samples in mt_tensor.testing"
    assert explained - public == set(), "reasons are given for names that do not exist"
    assert explained & SAMPLED == set(), "these names have samples, so they need no reason"


@pytest.mark.parametrize("alias", ALIASES)
def test_alias_refers_to_operation_with_samples(alias):
    name = ALIASES[alias]
    for namespace in (mt, mt.Tensor):
        assert getattr(namespace, alias, None) is getattr(namespace, name, None)
    assert not hasattr(mt.Tensor, alias) or name in SAMPLED


def test_every_linalg_function_has_samples():
    assert {*mt.linalg.__all__} - {"LinAlgError"} <= SAMPLED


def test_every_special_method_calls_operation_with_samples():
    special = {name for name in dir(mt.Tensor) if name.startswith("__")} - set(dir(object))
    special -= {"__firstlineno__", "__static_attributes__"}  # added in Python 3.13
    explained = {name for names in SPECIAL_METHODS.values() for name in names.split()}
    assert special == explained | set(OTHER_SPECIAL_METHODS.split())
    assert set(SPECIAL_METHODS) - SAMPLED == set()
    for operation, names in SPECIAL_METHODS.items():
        name = operation if operation in dir(mt.Tensor) else names
        assert callable(getattr(mt.Tensor, name))


DIFFERENT_PARAMETERS = {
    **dict.fromkeys(
        ("broadcast_to", "flip", "permute", "reshape", "tile"),
        "the method also takes several integers",
    ),
    "split": "a parameter of the function has another name, as in torch",
    "where": "the first argument of the function is the condition",
    **dict.fromkeys(("bfloat16", "double", "half", "long", "short"), "it is a dtype"),
    "cuda": "it is a module",
    "device": "it is a class",
}
"""Functions whose parameters differ from their method's, as in torch, with the reason."""

FUNCTIONS_AND_METHODS = {
    name for name in {*mt.__all__} & {*dir(mt.Tensor)} if callable(getattr(mt.Tensor, name))
}


@pytest.mark.parametrize("name", sorted(FUNCTIONS_AND_METHODS - set(DIFFERENT_PARAMETERS)))
def test_function_has_the_parameters_of_its_method(name):
    """The samples call either the function or the method."""
    function = list(inspect.signature(getattr(mt, name)).parameters.values())
    method = list(inspect.signature(getattr(mt.Tensor, name)).parameters.values())
    assert function[0].name == "input"
    assert [(p.name, p.default) for p in function[1:]] == [(p.name, p.default) for p in method[1:]]


def kit_ids():
    tables = runpy.run_path(test_operations.__file__)
    return [[row.id for row in tables[name]] for name in ("ROWS", "SMOOTH", "INVALID")]


def test_adding_a_sample_changes_no_other_id(monkeypatch):
    before = kit_ids()
    bad = BadCall("exp", lambda x: x.exp(3), TypeError, "takes 1")
    row = TensorOpSpec("exp", lambda x: x.exp(), lambda x: x, (((2, 3),),))
    monkeypatch.setattr("mt_tensor.testing.TENSOR_SPECS", [row, *TENSOR_SPECS])
    monkeypatch.setattr("mt_tensor.testing.BAD_CALLS", [bad, *BAD_CALLS])
    rows, smooth, bad_calls = kit_ids()
    added = [["exp-x.exp()"], ["exp-x.exp()"], ["exp-x.exp(3)"]]
    assert [rows, smooth, bad_calls] == [
        [*more, *ids] for more, ids in zip(added, before, strict=True)
    ]
    assert all(len(ids) == len(set(ids)) for ids in before)
