"""`mt doctor`: what this machine and this environment are like, what ails them, and the cure."""
