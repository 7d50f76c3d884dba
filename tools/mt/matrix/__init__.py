"""`mt matrix`: the CI jobs that a change can break."""
