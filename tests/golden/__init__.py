"""Golden numbers: a hash and a shadow of each result, so that a rewrite is seen to change none."""
