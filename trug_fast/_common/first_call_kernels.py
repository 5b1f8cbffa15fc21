"""Kernels that first calls compile."""

TABLE = ""
