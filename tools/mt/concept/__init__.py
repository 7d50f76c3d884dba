"""`mt concept NAME`: compare one idea in every stage and backend."""
