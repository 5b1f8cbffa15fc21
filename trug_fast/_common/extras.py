"""Libraries that not everybody needs: imported where they are used, named where they lack.

Tested in tests/datasets/test_files.py.
"""

from importlib import import_module
from typing import Any


def need(module: str, words: str, extra: str) -> Any:
    """Return a module of a library that an extra of this package brings.

    words : what needs which library, as the error begins: "HDF5 files need h5py"
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f'{words}: pip install "trug-fast[{extra}]"') from error
