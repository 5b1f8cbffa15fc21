"""Check the installed package: every file of the repository's package is there, and it trains.

Run by ``python -I .ci/check_wheel.py CLONE`` in the environment that the wheel was installed into.
"""

import subprocess
import sys
from importlib.metadata import files
from pathlib import Path

import trug_fast as tf

clone = Path(sys.argv[1]).resolve()
installed = Path(tf.__file__).resolve().parent
assert clone not in installed.parents, f"{installed} is not the wheel's"

tracked = subprocess.run(
    ["git", "-C", clone, "ls-files", "trug_fast"],
    check=True,
    capture_output=True,
    text=True,
).stdout.splitlines()
packed = {str(path).replace("\\", "/") for path in files("trug-fast") or []}
missing = sorted(set(tracked) - packed)
assert not missing, f"not in the wheel, see [tool.setuptools] of pyproject.toml: {missing}"
surplus = {path for path in packed if path.startswith("trug_fast") and ".dist-info/" not in path}
surplus -= {path for path in packed if "__pycache__" in path}
assert surplus <= set(tracked), f"in the wheel alone: {sorted(surplus - set(tracked))}"
assert "trug_fast/py.typed" in packed

digits = tf.datasets.load_digits(binarize="threshold")
fit = tf.train_rbm(digits.train, n_hidden=8, epochs=1, rng=0)
assert fit.model.free_energy(digits.test).shape == (len(digits.test),)
print(f"{installed}: {len(tracked)} files, {fit.model}")
