"""What of torch is left out, and what to use instead: one table, from which every error is made.

A name stands below what is said to whoever asks for it, and with it all that is within it: `jit` is
also `jit.script`. A star stands for any characters. The first that fits counts.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from pkgutil import iter_modules

LEFT_OUT: Mapping[str, str] = {
    "Networks run as they are written: leave out what compiles, traces or exports them.": """
        compiler jit cpp fx export onnx package nativert contrib library overrides
        utils.jit utils.mobile_optimizer utils.bundled_inputs utils.model_dump utils.flop_counter
        utils.module_tracker utils.throughput_benchmark utils.ThroughputBenchmark cond while_loop
        wait fork nn.Module.compile nn.cpp utils.backcompat *Type AliasDb Argument ArgumentSpec
        Block CallStack Capsule Code CompilationUnit CompleteArgumentSpec ConcreteModule*
        DispatchKey* DisableTorchFunction* ErrorReport ExecutionPlan ExcludeDispatchKeyGuard
        FileCheck FunctionSchema Future Gradient Graph* IODescriptor JITException LiteScriptModule
        LockingLogger LoggerBase ModuleDict Node NoopLogger OperatorInfo ParameterDict BufferDict
        PyTorchFile* Script* *SerializationStorage* DeserializationStorageContext DeepCopyMemoTable
        StaticModule Sym* Tag ThroughputBenchmark TracingState Use Value AVG SUM BenchmarkConfig
        BenchmarkExecutionStats FatalError sym_* import_ir_module* merge_type_from_type_comment
        parse_* unify_type_list *.*torch_function* autograd.is_tensor_like
        nn.functional.boolean_dispatch nn.functional.BroadcastingList*""",
    "Processes that train together are in mt_nn.parallel: DataParallel, SyncBatchNorm, "
    "ZeroRedundancyOptimizer and DistributedSampler, over MPI.": """
        distributed nn.parallel nn.DataParallel nn.SyncBatchNorm nn.modules.SyncBatchNorm
        optim.swap_in_optimizer_params_and_state utils.data.distributed
        utils.data.DistributedSampler is_distributed numa cuda.nccl cuda.comm futures""",
    "Loaders' workers are threads, and tensors are shared by threads as they are.": """
        multiprocessing prepare_multiprocessing_environment thread_safe_generator
        random.thread_safe_generator nn.Module.share_memory Tensor.share_memory_ Tensor.is_shared
        utils.data.get_worker_info utils.data.dataloader.get_worker_info""",
    "Tensors hold their elements in full precision: there are no quantized ones.": """
        ao quantization nn.qat nn.quantized nn.quantizable nn.intrinsic backends.quantized
        quantize* *quantize fake_quantize* choose_qparams_optimized fbgemm_* q_* int_repr qint*
        quint* qscheme per_*_affine* per_*_symmetric bit bits* empty_quantized
        fused_moving_avg_obs_fake_quant uint[1-7] int[1-7] Tensor.q_per_channel_axis
        Tensor.q_per_channel_scales Tensor.q_per_channel_zero_points Tensor.q_scale
        Tensor.q_zero_point Tensor.qr Tensor.qscheme Tensor.is_quantized Tensor.int_repr float8_*
        float4_* nn.functional.*scaled*""",
    "Tensors are dense: index_add, scatter and gather work with positions, and SciPy with sparse "
    "matrices.": """
        sparse sparse_* masked nested nn.attention jagged Tensor.is_sparse Tensor.is_sparse_csr
        Tensor.resize_as_sparse_ Tensor.sparse_dim Tensor.sparse_mask Tensor.sparse_resize_
        Tensor.sparse_resize_and_clear_ Tensor.to_sparse Tensor.to_sparse_bsc Tensor.to_sparse_bsr
        Tensor.to_sparse_coo Tensor.to_sparse_csc Tensor.to_sparse_csr Tensor.coalesce
        Tensor.is_coalesced Tensor.ccol_indices Tensor.col_indices Tensor.crow_indices
        Tensor.indices Tensor.row_indices Tensor.values Tensor.dense_dim Tensor.sspaddmm Tensor.smm
        Tensor.to_dense Tensor.is_nested Tensor.to_padded_tensor hspmm hsmm dsmm smm spmm saddmm
        sspaddmm resize_as_sparse_ optim.SparseAdam optim.sparse_adam cuda.sparse
        backends.cusparselt values_copy *indices_copy nn.functional.grouped_mm""",
    "There are no complex numbers; NumPy has them, and numpy() and from_numpy() share memory.": """
        fft stft istft complex* cdouble cfloat chalf polar angle real imag conj* resolve_*
        view_as_* is_conj is_neg isreal has_spectral Tensor.angle Tensor.cdouble Tensor.cfloat
        Tensor.chalf Tensor.conj Tensor.conj_physical Tensor.conj_physical_ Tensor.real Tensor.imag
        Tensor.stft Tensor.istft Tensor.resolve_conj Tensor.resolve_neg Tensor.is_conj
        Tensor.is_neg Tensor.isreal linalg.eig* Tensor.eig lobpcg signal *_window""",
    "It is in torch.amp.": "GradScaler",
    "autocast('cuda', dtype) and GradScaler say all that there is to mixed precision.": """
        amp.* autocast_* is_autocast_* set_autocast_* *autocast_cache* *autocast_cpu* *autocast_gpu*
        *autocast_xla* *autocast_ipu* cuda.amp BFloat16Storage cuda.BFloat16* cuda.is_bf16_supported
        cuda.has_half cuda.is_tf32_supported""",
    "There is no backend for such a device; mt_tensor.backends() lists those that there are.": """
        accelerator mtia xpu mps cpu get_device_module is_vulkan_available nn.Module.ipu
        nn.Module.mtia nn.Module.xpu nn.Module.to_empty Tensor.ipu Tensor.mtia Tensor.xpu
        Tensor.is_ipu Tensor.is_maia Tensor.is_meta Tensor.is_mkldnn Tensor.is_mps Tensor.is_mtia
        Tensor.is_vulkan Tensor.is_xla Tensor.is_xpu backends.mps.* set_default_device
        get_default_device""",
    "mt-cuda keeps memory, streams and graphs of the GPU itself.": """
        cuda.* Stream* Event OutOfMemoryError AcceleratorError Tensor.record_stream
        Tensor.pin_memory Tensor.is_pinned Tensor.get_device get_device""",
    "Backends have kernels of their own, which mean nothing to those libraries.": """
        backends.* cudnn_* mkldnn_* miopen_* native_* batch_norm_* has_* compiled_with_cxx11_abi
        Tensor.to_mkldnn utils.mkldnn utils.cpp_extension utils.cpp_backtrace utils.hipify
        utils.backend_registration utils.get_cpp_backtrace utils.generate_methods_for_* nn.backends
        utils.rename_privateuse1_backend utils.set_module utils.swap_tensors nn.functional.native_*
        init_num_threads set_flush_denormal""",
    "Tensors have strides, but no memory formats: leave memory_format and layout out.": """
        memory_format layout channels_last* contiguous_format preserve_format
        legacy_contiguous_format strided nn.utils.memory_format
        nn.utils.convert_conv*d_weight_memory_format Tensor.layout Tensor.dim_order empty_permuted
        empty_strided Tensor.new_empty_strided""",
    "Elements are read and changed by operations; numpy() shares their memory.": """
        storage *Storage StorageBase is_storage Tensor.storage Tensor.storage_type
        Tensor.untyped_storage Tensor.set_ Tensor.is_set_to Tensor.resize Tensor.resize_
        Tensor.resize_as Tensor.resize_as_ Tensor.const_data_ptr resize_as_ from_file frombuffer
        to_dlpack utils.dlpack utils.serialization""",
    "save() and load() take nested dictionaries, lists, numbers, strings and tensors, and never "
    "unpickle.": """serialization hub utils.model_zoo utils.show_pickle utils.file_baton""",
    "It is a method of tensors.": """
        abs_ acos_ acosh_ addmv_ arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ asin_ asinh_
        atan_ atanh_ ceil_ clamp_ clamp_max_ clamp_min_ clip_ cos_ cosh_ deg2rad_ detach_ erf_
        erfc_ exp2_ exp_ expm1_ fill_ fix_ floor_ frac_ gcd_ index_put_ lcm_ ldexp_ log10_ log1p_
        log2_ log_ logit_ nan_to_num_ neg_ negative_ rad2deg_ reciprocal_ relu_ round_ rsqrt_
        sigmoid_ sin_ sinc_ sinh_ sqrt_ square_ tan_ tanh_ trunc_ xlogy_ zero_""",
    "The function without the underscore has inplace=True.": """
        celu_ dropout_ alpha_dropout_ feature_alpha_dropout_ feature_dropout_ rrelu_ selu_
        threshold_ nn.functional.celu_ nn.functional.elu_ nn.functional.hardtanh_
        nn.functional.leaky_relu_ nn.functional.relu_ nn.functional.rrelu_ nn.functional.selu_
        nn.functional.threshold_ i0_ as_strided_ embedding_renorm_""",
    "The function without the ending has return_indices=True.": """*_with_indices""",
    "It is a function of torch.nn.functional.": """
        adaptive_avg_pool1d adaptive_max_pool1d alpha_dropout avg_pool1d batch_norm bilinear
        binary_cross_entropy_with_logits channel_shuffle constant_pad_nd conv[123]d conv_transpose*
        cosine_embedding_loss ctc_loss dropout embedding embedding_bag feature_*dropout group_norm
        hinge_embedding_loss instance_norm kl_div layer_norm margin_ranking_loss max_pool*
        pixel_shuffle pixel_unshuffle poisson_nll_loss rms_norm rrelu triplet_margin_loss""",
    "It is a layer of torch.nn.": """gru gru_cell lstm lstm_cell rnn_*""",
    "It is a function of torch.linalg.": """
        cholesky qr svd lu lu_solve lu_unpack lstsq symeig eig solve triangular_solve
        Tensor.cholesky Tensor.svd Tensor.lu_solve Tensor.lu Tensor.lstsq Tensor.symeig
        Tensor.solve Tensor.triangular_solve frobenius_norm nuclear_norm norm_except_dim""",
    "linalg has cholesky, eigh, inv, pinv, qr, slogdet, solve, solve_triangular, svd and norms; "
    "numpy.linalg and scipy.linalg have the rest.": """
        linalg.* cholesky_* geqrf orgqr ormqr matrix_exp matrix_rank svd_lowrank pca_lowrank
        Tensor.cholesky_inverse Tensor.cholesky_solve Tensor.geqrf Tensor.orgqr Tensor.ormqr
        Tensor.matrix_exp""",
    "A backend has settings of its own: numba.set_num_threads(), OMP_NUM_THREADS.": """
        get_num_threads set_num_threads""",
    "SciPy has these functions: scipy.special takes numpy().": """
        special.* i0 igamma igammac mvlgamma polygamma Tensor.i0 Tensor.i0_ Tensor.igamma
        Tensor.igamma_ Tensor.igammac Tensor.igammac_ Tensor.mvlgamma Tensor.mvlgamma_
        Tensor.polygamma Tensor.polygamma_""",
    "autograd.functional has jacobian, hessian and vjp; a batch takes the place of vmap.": """
        func vmap autograd.functional.* autograd.forward_ad""",
    "A tensor made with requires_grad=True is its own Variable.": """
        autograd.Variable autograd.variable Tensor.volatile Tensor.reinforce""",
    "A derivative that goes wrong says so itself; hooks and isnan() find where.": """
        autograd.detect_anomaly autograd.set_detect_anomaly autograd.anomaly_mode is_anomaly_*
        set_anomaly_enabled""",
    "no_grad(), enable_grad() and inference_mode() are in torch itself.": """
        autograd.grad_mode is_inference_mode_enabled is_inference Tensor.is_inference""",
    "gradcheck() is in torch.autograd itself.": """autograd.gradcheck""",
    "Function is the one base of operations with a derivative of their own.": """
        autograd.NestedIOFunction autograd.function.*""",
    "mt_nn.profile() takes the time of every operation.": """
        profiler autograd.kineto_available profiler_* autograd.profiler* autograd.Profiler* monitor
        utils.benchmark utils.viz""",
    "mt_nn.train has logs as lines of CSV or JSON.": """utils.tensorboard""",
    "The graph is recorded without tools of torch's own around it.": """
        autograd.graph autograd.SavedTensor autograd.is_multithreading_enabled
        autograd.is_view_replay_enabled autograd.enforce_grad_layout_policy
        autograd.set_multithreading_enabled Tensor.grad_dtype Tensor.output_nr utils.hooks
        utils.weak utils.debug_log""",
    "Activations are kept until backward(): smaller batches take less memory.": """
        utils.checkpoint""",
    "Distributions are Bernoulli, Categorical and Normal; log_prob() of others is a line of "
    "tensor functions.": """distributions.*""",
    "NumPy draws from it: numpy.random.default_rng(seed).": """
        poisson binomial Tensor.cauchy_ Tensor.geometric_ Tensor.log_normal_ quasirandom""",
    "weight_norm and spectral_norm are in nn.utils.parametrizations.": """
        nn.utils.weight_norm nn.utils.spectral_norm nn.utils.remove_weight_norm
        nn.utils.remove_spectral_norm""",
    "Parameters are not kept orthogonal; nn.init.orthogonal_ begins with it.": """
        nn.utils.parametrizations.orthogonal""",
    "A weight is multiplied by a mask where it is used, or by a parametrization.": """
        nn.utils.prune""",
    "Its name ends with an underscore: clip_grad_norm_, normal_.": """
        nn.utils.clip_grad_norm nn.utils.clip_grad.clip_grad_norm nn.init.*""",
    "It is in nn.utils itself.": """
        nn.utils.convert_parameters nn.utils.fusion nn.utils.init nn.utils.skip_init""",
    "A module computes with its own parameters; load_state_dict() gives it others.": """
        nn.utils.stateless""",
    "A parametrized weight is computed each time that it is read.": """
        nn.utils.parametrize.cached nn.utils.parametrize.*""",
    "pack_padded_sequence() keeps the order with the sequences.": """nn.utils.rnn.*""",
    "Images are not sampled at places of their own; interpolate() resizes, transforms warp.": """
        nn.functional.grid_sample nn.functional.affine_grid grid_sampler* affine_grid_generator""",
    "interpolate() does it.": """nn.functional.upsample*""",
    "LocalResponseNorm does it.": """nn.CrossMapLRN2d nn.modules.CrossMapLRN2d""",
    "A Linear before a CrossEntropyLoss does it.": """
        nn.LinearCrossEntropy* nn.modules.LinearCrossEntropy* nn.functional.linear_cross_entropy""",
    "conv1d() does it, with dimensions in another order.": """conv_tbc nn.functional.conv_tbc""",
    "MultiheadAttention does it.": """nn.functional.multi_head_attention_forward""",
    "RNN, LSTM, GRU and their cells are there, without a base of their own.": """
        nn.RNNBase nn.RNNCellBase nn.modules.RNNBase nn.modules.RNNCellBase""",
    "NLLLoss takes images, too, and Module has what Container had.": """
        nn.NLLLoss2d nn.modules.NLLLoss2d nn.Container nn.modules.Container""",
    "The layers are in torch.nn itself.": """nn.modules.*""",
    "The optimizers are in torch.optim itself.": """
        optim.ada* optim.asgd optim.lbfgs optim.nadam optim.radam optim.rmsprop optim.rprop
        optim.sgd""",
    "An optimizer has hooks of its own: register_step_post_hook().": """
        optim.optimizer.register_optimizer_step_*""",
    "get_ema_avg_fn() is there; without a function AveragedModel takes the mean.": """
        optim.swa_utils.get_swa_*""",
    "A Dataset, or an IterableDataset that yields from others, does it.": """
        utils.data.ChainDataset utils.data.dataset.ChainDataset utils.data.StackDataset
        utils.data.dataset.StackDataset utils.data.*DataPipe utils.data.datapipes
        utils.data.DataChunk utils.data.argument_validation utils.data.functional_datapipe
        utils.data.*determini* utils.data.runtime_validation* utils.data.backward_compatibility
        utils.data.graph*""",
    "get_extra_state() and set_extra_state() are for a state of a module's own.": """
        nn.Module.register_load_state_dict_post_hook nn.Module.register_load_state_dict_pre_hook
        nn.Module.register_state_dict_post_hook nn.Module.register_state_dict_pre_hook""",
    "register_full_backward_hook() is torch's other name for it.": """
        nn.Module.register_backward_hook""",
    "add_module() does it.": """nn.Module.register_module""",
    "to() does it.": """nn.Module.type set_default_tensor_type typename""",
    "Type checkers need no other names than Tensor, dtype and device.": """
        types nn.common_types return_types torch_version nn.factory_kwargs nn.Module.T_destination
        nn.Module.dump_patches nn.Module.call_super_init nn.functional.Tensor nn.parameter.*""",
    "Results depend on no such setting: leave it out.": """
        *deterministic_debug_mode *deterministic_algorithms*_enabled set_warn_always
        is_warn_always_enabled *_num_interop_threads utils.deterministic utils.collect_env""",
    "as_tensor() and tensor() do it.": """asarray scalar_tensor""",
    "Views are made by slices, unfold(), expand() and permute().": """
        as_strided* Tensor.as_strided Tensor.as_strided_ Tensor.as_strided_scatter
        Tensor.unsafe_chunk Tensor.unsafe_split Tensor.unsafe_split_with_sizes unsafe_* *_copy
        slice_inverse Tensor.slice_inverse""",
    "arange() has torch's newer rules.": """range""",
    "NumPy does it: numpy() and from_numpy() share memory.": """
        frexp nextafter histogram histogramdd gradient segment_reduce hash_tensor can_cast
        nonzero_static renorm Tensor.frexp Tensor.histogram Tensor.hash_tensor Tensor.nextafter
        Tensor.nextafter_ Tensor.nonzero_static Tensor.renorm Tensor.renorm_ rsub fill""",
    "It is of no use outside of torch.": """
        version.* convolution nn.grad Tensor.as_subclass Tensor.is_distributed Tensor.is_cpu
        Tensor.map2_ Tensor.module_load Tensor.index nn.functional.assert_int_or_pair functional
        testing.* classproperty get_file_path optim.lr_scheduler.* optim.optimizer.* utils.*""",
}  # fmt: skip
"""What is said, and to whom: dotted names below torch."""


@cache
def _patterns() -> list[tuple[str, str]]:
    """Return each name with what is said of it."""
    return [(name, advice) for advice, names in LEFT_OUT.items() for name in names.split()]


def advice(path: str) -> str | None:
    """Return what to use instead of something of torch's; None if it is not left out knowingly.

    Args:
        path: a dotted name below torch, as `nn.functional.grid_sample`.
    """
    for pattern, said in _patterns():
        if fnmatchcase(path, pattern) or path.startswith(f"{pattern}."):
            return said
    return None


def sentence(path: str) -> str:
    """Return what an error says of something that is not in a module of the mirror."""
    said = advice(path)
    if said is not None:
        return f"torch.{path} is left out. {said}{_near(path, 0.8)}"
    return f"torch.{path} is not here.{_near(path, 0.6)}"


def _near(path: str, similar: float) -> str:
    """Return a question after the name in the same module that is most like it, if one is."""
    root = __name__.rpartition(".")[0]
    parent, _, name = path.rpartition(".")
    module = sys.modules.get(f"{root}.{parent}".rstrip("."))
    if module is None:  # within a class
        return ""
    names = {*vars(module), *(below.name for below in iter_modules(module.__path__))}
    known = {each for each in names if not each.startswith("_")}
    near = difflib.get_close_matches(name, known, 1, similar)
    return f" Did you mean {near[0]}?" if near else ""
