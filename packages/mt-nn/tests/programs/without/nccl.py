raise ImportError("none")
