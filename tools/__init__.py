"""Commands of the repository: measurements, calibration, tables of coefficients."""
