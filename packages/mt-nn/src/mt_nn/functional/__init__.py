"""The operations of networks as functions, under torch's names; many activations are mt-tensor's.

Each is composed from the operations of tensors, which is its definition and gives its derivatives.
That tensors, flags and numbers are what they should be is `checked` around all of them.
Some can be replaced by a kernel of the tensor's backend. These are in two parts: the public
function checks its arguments and brings them into one form, and an inner one marked `@fused`, or a
kernel in its stead, computes. A kernel so receives, by position, what the inner function takes:
tensors of one backend whose shapes and dtypes fit, and pairs of integers. Of elements nothing is
known: a class number that does not exist is for the kernel to find, as it is for `gather`.
"""

from mt_nn.names import offered

__getattr__, __dir__, __all__ = offered(__name__)
