"""Losses: how wrong a network is, as a number to be made small.

All end with a reduction: `"mean"` or `"sum"` of the losses of all elements or samples, or `"none"`
for one loss each. torch's deprecated `size_average` and `reduce` are left out, and what follows
them there is given by name here, so that no position means something else.
"""
