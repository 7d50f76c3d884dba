"""`compile` and `lazy`: a function's calls of backends as a program, which is run again and again.

In the order of reading: what a program is (`program.py`), the tape that records one
(`recorder.py`; tapes are in `tape.py`), the numbers of optimizers that are its inputs
(`numbers.py`), the state that a function reaches (`snapshot.py`) and changes (`effects.py`), the
guards that compare it (`guards.py`), making a program shorter (`planning.py`, `passes.py`,
`reuse.py`), a program as a function of Python (`source.py`), its gradients (`gradients.py`), and
`compile`, which records programs (`capture.py`, `replay.py`), chooses among them (`compiling.py`)
and compares them with the function (`checking.py`). `lazy.py` records calls without running them.
What users call is in `functions.py`.
"""
