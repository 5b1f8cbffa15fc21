"""What sequences add: the filter, and frames whose biases differ."""
