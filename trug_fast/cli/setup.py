"""``trug-fast datasets``, ``warm`` and ``show-config``: what is done once on a computer.

Tested in tests/datasets/test_downloads.py, tests/test_warming.py and tests/_common/test_config.py.
"""

from __future__ import annotations

import argparse
import os

from trug_fast import warming
from trug_fast._common import config
from trug_fast.datasets import downloads
from trug_fast.datasets.downloads import ENVIRONMENT_VARIABLE


def datasets(arguments: argparse.Namespace) -> None:
    """List the data sets that can be fetched, or fetch some."""
    if arguments.action == "list":
        if arguments.names:
            raise ValueError(f"list takes no names, got {' '.join(arguments.names)}")
        for name, found in downloads.SETS.items():
            for file in found:
                place = f"{file.folder}/{file.name}"
                where = "known" if file.home else "mirror"
                print(f"{name:18} {place:56} {file.size / 1e6:9.2f} MB  {where}")
        known = os.environ.get(ENVIRONMENT_VARIABLE, "not set")
        print(f"{ENVIRONMENT_VARIABLE} is {known}; digits, yacht and balls are part of the package")
        return
    if not arguments.names:
        raise ValueError(f"fetch needs names: {', '.join(downloads.SETS)}")
    for name in arguments.names:
        progress = False if arguments.quiet else None
        folder = downloads.fetch(
            name, arguments.data_dir, mirror=arguments.mirror, progress=progress
        )
        print(f"{name} is in {folder}")


def warm(arguments: argparse.Namespace) -> None:
    """Compile, and say what was done."""
    models = () if "all" in arguments.models else arguments.models
    warmed = warming.warm(*models, progress=False if arguments.quiet else None)
    if not arguments.quiet:
        seconds = f"{warmed.seconds:.1f} s"
        done = f"compiled {warmed.compiled} kernels in {seconds}"
        if not warmed.compiled:
            done = f"all kernels were there ({seconds})"
        print(f"{done}, kept in {warmed.folder}")


def show_config(arguments: argparse.Namespace) -> None:
    """Print it."""
    config.show_config()
