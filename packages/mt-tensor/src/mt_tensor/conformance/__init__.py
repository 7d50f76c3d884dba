"""The conformance kit: tests that all backends must pass.

    pytest --pyargs mt_tensor.conformance --mt-backend NAME

Install its dependencies with `pip install mt-tensor[conformance]`. The tests compare a backend with
NumPy in float64, over the operator table and the samples of every other operation, in many shapes
and layouts.
"""
