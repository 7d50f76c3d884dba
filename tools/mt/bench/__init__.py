"""`mt bench`: the same programs on this project and on torch, measured side by side."""
