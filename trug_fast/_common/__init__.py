"""What every room uses: checks, files, numbers, randomness, threads; knows no model."""
