"""Truncated multivariate normals: exact draws and probabilities, and chains where these fail."""
