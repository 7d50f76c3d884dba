"""`mt diff A B`: what one stage adds to another, in names, dependencies, code, and what it can do."""
