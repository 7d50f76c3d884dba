"""How large each stage is: its lesson, its library, and what it has for tests."""
