"""What training/trbm and training/tggm still use of the former classes; goes with their move."""
