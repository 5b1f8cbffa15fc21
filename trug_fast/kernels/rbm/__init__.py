"""Layers of the RBM: half steps, gradients, annealing, exchange of replicas."""
