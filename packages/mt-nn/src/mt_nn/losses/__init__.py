"""Loss functions, which measure the error of predictions.

All end with a reduction: the `"mean"` or `"sum"` of the losses of all elements or samples, or
`"none"` for one loss each. torch's deprecated `size_average` and `reduce` are omitted. Parameters
that follow them in torch are keyword-only, so that positional arguments have the same meaning.
"""
