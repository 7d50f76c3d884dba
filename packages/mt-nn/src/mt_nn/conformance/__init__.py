"""The kit for backends that networks are to run on.

    pytest --pyargs mt_nn.conformance --mt-backend NAME

makes every call of the tables in `calls/`, of all layers and functions with all their settings, and
compares values and gradients with NumPy's in float64. It runs each kernel that the backend has for
an operation of networks against the composed form: values and gradients, of all settings, of odd,
extreme and no elements. What a backend has no kernel for is composed.
"""
