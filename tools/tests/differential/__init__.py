"""Random programs, run here and with torch, and compared after every step."""
