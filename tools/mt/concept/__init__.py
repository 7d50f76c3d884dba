"""`mt concept NAME`: one idea in every stage and backend, in columns that can be compared."""
