"""What it is: the models as values, what they share, and how they are sampled."""
