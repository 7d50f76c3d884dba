"""The command `mt`: the stages side by side, the matrix of their tests, and what ails a machine."""
