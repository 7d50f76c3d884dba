"""What people expect of networks beyond the lesson: composed of it, and never needed by it."""
