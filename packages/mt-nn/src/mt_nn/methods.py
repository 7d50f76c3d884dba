"""The methods of `Module` that are defined outside of the core, one line each except for hooks.

A method is a function whose first argument is the module. `register_methods` adds them to `Module`;
for type checkers and editors, `Methods` is a base class of it.
"""

from __future__ import annotations

from mt_autodiff.core.registration import register_methods
from mt_nn.core.module import Module
from mt_nn.hooks.modules import HookMethods
from mt_nn.hooks.saving import StateHookMethods
from mt_nn.saving import modules as saving
from mt_nn.utils import conversion, gradients, lookup
from mt_tensor import bfloat16, float16, float32, float64


class Methods(HookMethods, StateHookMethods):
    """The table that `register_methods` reads."""

    # --- Gradients --------------------------------------------------------------------------------

    requires_grad_ = gradients.requires_grad_
    zero_grad = gradients.zero_grad

    # --- Converting and moving --------------------------------------------------------------------

    to = conversion.to
    share_memory = conversion.share_memory
    to_empty = conversion.to_empty
    bfloat16 = conversion.conversion("bfloat16", bfloat16)
    cpu = conversion.cpu
    cuda = conversion.cuda
    double = conversion.conversion("double", float64)
    float = conversion.conversion("float", float32)
    half = conversion.conversion("half", float16)

    # --- Looking up dotted names ------------------------------------------------------------------

    get_buffer = lookup.get_buffer
    get_parameter = lookup.get_parameter
    get_submodule = lookup.get_submodule
    set_submodule = lookup.set_submodule

    # --- Extra state, which is saved with parameters and buffers ----------------------------------

    get_extra_state = saving.get_extra_state
    set_extra_state = saving.set_extra_state


register_methods(Module, Methods)
