"""torch's names, one by one: those that are left out stand here, with the reason."""

from typing import Any

import pytest

import mt_nn as nn
import mt_nn.functional
import mt_nn.utils.parametrizations
import mt_nn.utils.parametrize
import mt_nn.utils.rnn

torch = pytest.importorskip("torch")

WRITTEN_FOR = (2, 13)
"""The release of torch that the lists have been made for; others may have other names."""

DEVICES = "there is no backend for such a device; to() moves a module to another backend"
COMPILER = "it belongs to torch's compiler, to its formats or to several machines"
DEPRECATED = "torch itself has another name for it, and says to use that"
TYPES = "it is a name for type checkers, or a module of the language"
QUANTIZED = "there are no quantized tensors"
IN_PLACE = "the function without the underscore has inplace=True"
WITH_INDICES = "the function without the ending has return_indices=True"
ONE_FUNCTION = "interpolate() does it"

LEFT_OUT: dict[str, dict[str, str]] = {
    "nn": {
        "Container": DEPRECATED,
        "CrossMapLRN2d": "LocalResponseNorm does it",
        "DataParallel": COMPILER,
        "LinearCrossEntropyLoss": "a Linear before a CrossEntropyLoss does it",
        "LinearCrossEntropyOptions": "see LinearCrossEntropyLoss",
        "NLLLoss2d": DEPRECATED,
        "RNNBase": "it is what RNN, LSTM and GRU are made of; of no use itself",
        "RNNCellBase": "it is what the cells are made of; of no use itself",
        "SyncBatchNorm": COMPILER,
        "attention": COMPILER,
        "common_types": TYPES,
        "factory_kwargs": TYPES,
        "grad": "torch.nn.grad is what its convolutions' gradients are made of",
        "intrinsic": QUANTIZED,
        "modules": "the layers are in mt_nn itself",
        "parallel": COMPILER,
        "qat": QUANTIZED,
        "quantizable": QUANTIZED,
        "quantized": QUANTIZED,
    },
    "nn.functional": {
        **dict.fromkeys(
            ["BroadcastingList1", "BroadcastingList2", "BroadcastingList3", "Callable", "DType"],
            TYPES,
        ),
        **dict.fromkeys(["Optional", "Tensor", "TYPE_CHECKING", "dataclasses", "importlib"], TYPES),
        **dict.fromkeys(["math", "np", "torch", "warnings", "grad"], TYPES),
        **dict.fromkeys(["ScalingType", "SwizzleType", "grouped_mm", "scaled_mm"], COMPILER),
        **dict.fromkeys(["scaled_grouped_mm", "boolean_dispatch", "assert_int_or_pair"], COMPILER),
        **dict.fromkeys(["handle_torch_function", "has_torch_function"], COMPILER),
        **dict.fromkeys(["has_torch_function_unary", "has_torch_function_variadic"], COMPILER),
        **dict.fromkeys(["reproducibility_notes", "sparse_support_notes", "tf32_notes"], TYPES),
        **dict.fromkeys(["celu_", "elu_", "hardtanh_", "leaky_relu_", "relu_"], IN_PLACE),
        **dict.fromkeys(["rrelu_", "selu_", "threshold_"], IN_PLACE),
        **dict.fromkeys([f"adaptive_max_pool{d}d_with_indices" for d in (1, 2, 3)], WITH_INDICES),
        **dict.fromkeys([f"max_pool{d}d_with_indices" for d in (1, 2, 3)], WITH_INDICES),
        **dict.fromkeys([f"fractional_max_pool{d}d_with_indices" for d in (2, 3)], WITH_INDICES),
        **dict.fromkeys(["upsample", "upsample_bilinear", "upsample_nearest"], ONE_FUNCTION),
        "GRID_SAMPLE_INTERPOLATION_MODES": "see grid_sample",
        "GRID_SAMPLE_PADDING_MODES": "see grid_sample",
        "affine_grid": "see grid_sample",
        "conv_tbc": "conv1d() of another order of dimensions",
        "grid_sample": "images are not sampled at arbitrary places yet",
        "linear_cross_entropy": "see LinearCrossEntropyLoss",
        "multi_head_attention_forward": "MultiheadAttention does it, with a dozen fewer arguments",
        "native_channel_shuffle": "channel_shuffle() does it",
    },
    "nn.Module": {
        **dict.fromkeys(["ipu", "mtia", "xpu", "to_empty"], DEVICES),
        **dict.fromkeys(["T_destination", "dump_patches", "call_super_init"], TYPES),
        **dict.fromkeys(["register_backward_hook"], DEPRECATED),
        **dict.fromkeys(["compile", "share_memory"], COMPILER),
        **dict.fromkeys(
            [
                "register_load_state_dict_post_hook",
                "register_load_state_dict_pre_hook",
                "register_state_dict_post_hook",
                "register_state_dict_pre_hook",
            ],
            "get_extra_state() and set_extra_state() are for a state of a module's own",
        ),
        "bfloat16": "there is no such element type",
        "register_module": "add_module() does it",
        "type": "to() does it",
    },
    "nn.utils": {
        **dict.fromkeys(["clip_grad", "convert_parameters", "fusion", "memory_format"], TYPES),
        **dict.fromkeys(["init", "stateless"], TYPES),
        **dict.fromkeys(["clip_grad_norm", "weight_norm", "spectral_norm"], DEPRECATED),
        **dict.fromkeys(["remove_weight_norm", "remove_spectral_norm"], DEPRECATED),
        "convert_conv2d_weight_memory_format": COMPILER,
        "convert_conv3d_weight_memory_format": COMPILER,
        "skip_init": "first values take little of the time of making a small network",
    },
    "nn.utils.parametrizations": {
        **dict.fromkeys(["Enum", "F", "auto", "parametrize", "torch"], TYPES),
        "orthogonal": "parameters are not kept orthogonal; nn.init.orthogonal_ begins with it",
    },
    "nn.utils.parametrize": {
        **dict.fromkeys(["Sequence", "collections", "contextmanager", "copyreg", "torch"], TYPES),
        **dict.fromkeys(["OpaqueBase", "deepcopy", "is_opaque_reference_type"], TYPES),
        "cached": "a parametrized weight is computed each time that it is read",
        "get_swap_module_params_on_conversion": COMPILER,
        "is_traceable_wrapper_subclass": COMPILER,
        "transfer_parametrizations_and_params": "it is for modules that torch quantizes",
        "type_before_parametrizations": "it is for modules that torch quantizes",
    },
    "nn.utils.rnn": dict.fromkeys(
        [
            "Callable", "Iterable", "PackedSequence_", "Self", "TypeVar", "bind",
            "copy_method_params", "invert_permutation", "torch", "warnings",
        ],
        TYPES,
    ),
    "nn.init": {
        **dict.fromkeys(["Callable", "ParamSpec", "TypeVar", "torch", "warnings"], TYPES),
        **dict.fromkeys(
            [
                "constant", "dirac", "kaiming_normal", "kaiming_uniform", "normal", "orthogonal",
                "sparse", "uniform", "xavier_normal", "xavier_uniform",
            ],
            DEPRECATED,
        ),
    },
}  # fmt: skip


def named(root: Any, path: str) -> Any:
    """Return what a dotted name stands for; the root itself is "nn"."""
    for name in path.split(".")[1:]:
        root = getattr(root, name)
    return root


@pytest.mark.parametrize("path", LEFT_OUT)
def test_names_are_here_or_left_out_for_a_reason(path: str) -> None:
    if tuple(map(int, torch.__version__.split(".")[:2])) != WRITTEN_FOR:
        pytest.skip(f"the list is made for torch {WRITTEN_FOR}")
    theirs = {name for name in dir(named(torch.nn, path)) if not name.startswith("_")}
    missing = theirs - set(dir(named(nn, path)))
    assert sorted(missing - LEFT_OUT[path].keys()) == []
    assert sorted(LEFT_OUT[path].keys() - missing) == []
