"""Conformance tests of networks for backends.

    pytest --pyargs mt_nn.conformance --mt-backend NAME

runs all layers and functions with all their settings, from the tables in `calls/`, and compares
values and gradients with those of the backend `numpy` in float64. It compares each kernel of the
backend for an operation of networks with the composition: values and gradients for all settings,
and for odd sizes, extreme elements and empty tensors.
"""
