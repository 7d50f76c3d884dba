"""Random programs, run with this project and with torch, and compared after every step."""
