"""From text to machine code, kept on disk, on one thread and on all."""
