"""`mt bench`: the same programs on this project and torch, measured in turn."""
