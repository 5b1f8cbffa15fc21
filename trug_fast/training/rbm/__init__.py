"""Training of the RBM."""
