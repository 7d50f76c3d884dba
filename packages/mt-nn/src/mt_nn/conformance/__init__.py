"""The kit for backends that have kernels for the operations of networks.

    pytest --pyargs mt_nn.conformance --mt-backend NAME

runs each kernel against the composed form of its operation: values and gradients, of all settings,
of odd, extreme and no elements. What a backend has no kernel for is composed, and needs no test.
"""
