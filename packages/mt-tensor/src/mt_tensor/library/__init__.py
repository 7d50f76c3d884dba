"""What users expect of tensors beyond the lesson: composed of it, and never needed by it."""
