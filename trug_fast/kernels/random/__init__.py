"""Random numbers by address, and draws of one unit."""
