"""The paper's tables, trained and evaluated anew: ``python -m reproduction table1``.

A table is a list of cells (`protocol`), read from a configuration file; a runner (`runner`)
computes each, appends a line to a file of results (`results`) and prints them beside the paper's
numbers.  What is particular to a table has a module of the table's name, with a ``TABLE``, and a
file ``NAME.toml`` with its protocol.
"""
