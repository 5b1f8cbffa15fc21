"""How good it is: likelihoods, exact and estimated, and the simple forecasts to compare with."""
