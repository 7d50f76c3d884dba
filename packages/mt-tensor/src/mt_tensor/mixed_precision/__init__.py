"""Mixed precision: `autocast`, and numbers that 16-bit floats would round."""
