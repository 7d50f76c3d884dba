"""How large each stage is: its core, the rest, and what it has for tests."""
