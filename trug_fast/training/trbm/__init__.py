"""Training of the temporal RBM."""
