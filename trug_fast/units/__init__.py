"""What a unit is: kinds of units, layers of them, where they are cut, which have a density."""
