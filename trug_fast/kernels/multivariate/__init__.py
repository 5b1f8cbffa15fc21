"""Normal vectors cut by a box: draws one coordinate after the other, and what they weigh."""
