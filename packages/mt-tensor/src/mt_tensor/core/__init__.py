"""The lesson of stage 2: tensors, their operations and gradients, and the two built-in backends.

The README lists these files in the order of reading. They import nothing of the package from
outside this folder, and train a network with everything else deleted.
"""
