"""A made-up family of aligned sequences in a file, and a small protocol for it."""

import numpy as np

import trug_fast as tf
from reproduction.__main__ import main

LETTERS = "-ACDE"
SITES = 8
FAMILY = f"""
family = {{ letters = "{LETTERS}", similarity = 0.7 }}
train = {{ n_hidden = 4, epochs = 3, score = "none" }}
annealing = {{ n_chains = 10, n_temperatures = 30, direction = "both" }}
sampling = {{ n = 50, n_gibbs = 5, start = "data" }}
quick.train.epochs = 1
data.made-up = {{ label = "made up", family.file = "made_up.fasta" }}

[cells.made-up]
per-unit = {{ train.truncation = {{ lower = 0, upper = 4, learn = "per_unit" }} }}
rbm = {{ train.hidden = "bernoulli" }}
"""


def made_up(rows=300, seed=0):
    """Return sequences of two kinds, which prefer other letters."""
    rng = np.random.default_rng(seed)
    chances = rng.dirichlet(np.full(len(LETTERS), 0.4), size=(2, SITES)).cumsum(axis=2)
    return (rng.random((rows, SITES, 1)) > chances[rng.integers(0, 2, rows)][..., :-1]).sum(axis=2)


def folder_of(path):
    """Write the family and its protocol into a folder."""
    tf.datasets.save_fasta(path / "made_up.fasta", made_up(), LETTERS)
    (path / "family.toml").write_text(FAMILY)
    return path


def reproduce_proteins(folder, out, *more):
    return main(
        [
            *("proteins", f"--config={folder / 'family.toml'}", f"--out={out}"),
            *(f"--data-dir={folder}", "--quiet", *more),
        ]
    )
