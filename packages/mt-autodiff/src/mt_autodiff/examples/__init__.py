"""The course's exercises for this stage: trainable networks of Scalars."""
