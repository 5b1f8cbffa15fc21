"""How it is trained: one driver, and a room for what each model needs of its own."""
