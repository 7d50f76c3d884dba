"""The course's exercises that need only this stage."""
