"""Recording of computations on tensors: functions, hooks and in-place changes."""
