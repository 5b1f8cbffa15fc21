"""Compare folding probabilities of lattice proteins with those stored beside their sequences.

The stored ones sum over structures that are not listed.  A structure is ruled out if its term alone
would be more than a stored sum of some sequence::

    python -m reproduction.scripts.compare_folding --data-dir DIR
"""

import argparse

import numpy as np

from reproduction import families, lattice, proteins
from reproduction.contact_energies import contact_energies
from trug_fast import datasets
from trug_fast.datasets.downloads import Folder


def ruled_out(X, native, stored):
    """Return which structures are not among those of the stored probabilities."""
    maps, energies = lattice.structures(), contact_energies()
    left = np.flatnonzero((maps != native).any(axis=1))
    apart = (maps[left].astype(np.float32) - native).T
    for first in range(0, len(X), lattice.BLOCK):
        rows = X[first : first + lattice.BLOCK]
        pairs = energies[rows[:, lattice.PAIRS[:, 0]], rows[:, lattice.PAIRS[:, 1]]]
        least = -100 * np.log((1 / stored[first : first + lattice.BLOCK] - 1) * 1.001)
        possible = (pairs @ apart >= least[:, None]).all(axis=0)
        left, apart = left[possible], apart[:, possible]
    out = (maps != native).any(axis=1)
    out[left] = False
    return out


def report(name, found, stored):
    """Print a row of the table."""
    together = np.corrcoef(found, np.log(stored))[0, 1]
    print(f"| {name} | {np.exp(found).mean():.3f} | {found.mean():.3f} | {together:.2f} |")


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir")
    parser.add_argument("--every", type=int, default=4, help="take each so many-th sequence")
    arguments = parser.parse_args()
    folder = Folder(arguments.data_dir, ("proteins",), families.HOME)
    every = arguments.every
    X = datasets.load_fasta(folder.need("Lattice_Proteins_MSA.fasta"), "protein").X[::every]
    stored = np.loadtxt(folder.need("Lattice_Proteins_pnat.txt"))[::every]
    (cell,) = proteins.TABLE.cells(None, ["lattice/rbm"], quick=False)
    native = lattice.structure_of(cell.options["sampling"]["native"])
    maps = lattice.structures()
    out = ruled_out(X, native, stored)
    print(f"{len(X)} sequences, {len(maps)} structures, {out.sum()} of them ruled out")
    print("| sum over | mean of p | mean of log p | correlation of log p with the stored |")
    print("| --- | --- | --- | --- |")
    report("unknown (stored)", np.log(stored), stored)
    report("all structures", lattice.log_folding(X, native), stored)
    report("those not ruled out", lattice.log_folding(X, native, maps[~out]), stored)


if __name__ == "__main__":
    main()
