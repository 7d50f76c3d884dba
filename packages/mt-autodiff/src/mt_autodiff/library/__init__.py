"""Beyond the lesson of stage 1: pictures of what Scalars recorded."""
