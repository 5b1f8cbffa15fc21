"""Elementary functions and tail integrals of the normal density, without branches."""
