"""Training of the regression."""
