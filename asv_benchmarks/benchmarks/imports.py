"""What an import costs, in a fresh interpreter."""


def timeraw_import_trug_fast() -> str:
    """Time of the whole import."""
    return "import trug_fast"


def timeraw_import_numba() -> str:
    """Time of the part that is Numba's."""
    return "import numba"
