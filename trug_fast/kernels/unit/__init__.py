"""One unit: its log-normaliser and derivatives, its distribution, for any precision."""
