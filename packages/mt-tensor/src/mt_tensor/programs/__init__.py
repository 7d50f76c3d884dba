"""`compile` and `lazy`: record the backend calls of a function, optimize them, and replay them.

Reading order:

- `program.py`: instructions, their operands, and programs.
- `recorder.py`: the tape that records a program (tapes are in `mt_tensor/tape.py`), with
  `storages.py`, `buffers.py` and `recorded_kernels.py`.
- `symbolic_numbers.py`, `tracked_settings.py`: hyperparameters and counters of optimizers as
  inputs of a program.
- `slots.py`, `comparison.py`, `snapshot.py`: the state that a function can reach.
- `guards.py`, `effects.py`: checks of that state before a replay, and its updates after one.
- `optimization.py`, `fusion.py`, `memory_planning.py`: the optimizing passes.
- `code_writer.py`, `replay_writer.py`: a program, and a whole replay, as generated Python code.
- `gradients.py`: the backward programs of a compiled function.
- `capture.py`, `replay.py`: record one call, and replay it.
- `arguments.py`, `compiling.py`, `checking.py`: the cache of programs, and `compile(check=n)`.
- `lazy.py`: deferred execution with the same programs.
- `functions.py`: the public functions.
- `pytree.py`, `user_code.py`: nested containers, and which code belongs to users.
"""
