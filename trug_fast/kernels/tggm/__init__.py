"""The regression: mean field, objectives, an epoch."""
