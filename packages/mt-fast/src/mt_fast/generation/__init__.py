"""From formulas to text: what the kernels are made of."""
