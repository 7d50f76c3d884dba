"""Beyond the lesson of stage 0: more rows of the table, and points to classify."""
