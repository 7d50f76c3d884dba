"""A function as a program: what it asks of backends, recorded once and run again and again.

In the order of reading: what a program is (`program.py`), numbers in it that vary (`numbers.py`),
the tape that records one (`writing.py`; tapes are in `tape.py`), what a
function reaches beside its arguments (`surroundings.py`), making a program shorter (`planning.py`,
`passes.py`, `reuse.py`), a program as a function of Python (`source.py`), its gradients
(`gradients.py`), and `compile`, which keeps programs and chooses among them (`compiling.py`).
`lazy.py` records without running. What users call is in `functions.py`.
"""
