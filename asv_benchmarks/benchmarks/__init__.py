"""Benchmarks of trug_fast, run by asv."""
