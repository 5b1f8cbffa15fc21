"""What a start costs, in a fresh interpreter."""

import subprocess
import sys

FIRST_UPDATE = """
import time
begun = time.perf_counter()
import numpy as np
import trug_fast as tf
images = np.random.default_rng(0).integers(0, 2, (100, 784), dtype=np.uint8)
tf.train_rbm(images, 500, epochs=1, monitor=None, progress=False, rng=0)
print(time.perf_counter() - begun)
"""


def timeraw_import_trug_fast() -> str:
    """Time of the import with all that a training needs: names are imported when they are used."""
    return "import trug_fast; trug_fast.train_rbm"


def timeraw_import_numba() -> str:
    """Time of the part that is Numba's."""
    return "import numba"


def track_first_update_in_a_new_process() -> float:
    """Seconds from the start to the end of the first update, its kernels compiled before."""
    times = [
        float(subprocess.check_output([sys.executable, "-c", FIRST_UPDATE], text=True))
        for _ in range(3)
    ]
    return min(times[1:])


track_first_update_in_a_new_process.unit = "s"  # type: ignore[attr-defined]
track_first_update_in_a_new_process.timeout = 600  # type: ignore[attr-defined]
