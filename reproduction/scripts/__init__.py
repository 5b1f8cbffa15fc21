"""Measurements that notes cite: ``python -m reproduction.scripts.compare_clusters``."""
