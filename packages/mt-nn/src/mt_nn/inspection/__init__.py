"""What a network consists of, and where its time goes."""
