"""The command `mt`: the stages side by side, their tests, their speed, and what ails a machine."""
