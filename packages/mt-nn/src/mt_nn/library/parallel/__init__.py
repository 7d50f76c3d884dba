"""Training by several processes at once, the *ranks*: on one machine or on many, over MPI.

Each rank has the whole model and a share of the data. `group.py` is how they talk to each other,
`watch.py` and `watcher.py` see to it that none waits for ever for another one. On these stand
`DataParallel`, which averages gradients, and what belongs to it.
"""
