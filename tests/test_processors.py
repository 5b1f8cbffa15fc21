"""The same numbers whatever processor kernels are compiled for."""

import os
import platform
import subprocess
import sys

import pytest
from llvmlite import binding as llvm

FEATURES = {name for name, there in llvm.get_host_cpu_features().items() if there}
DRAWS = """
import hashlib
import numpy as np
import trug_fast as tf
found = hashlib.sha256()
a = np.linspace(-9, 9, 1000)
found.update(tf.truncnorm.rvs(a, a + 1.5, random_state=1).tobytes())
found.update(tf.truncnorm.mean(a, a + 1.5).tobytes())
"""
MODELS = """
single = a.astype(np.float32)
found.update(tf.truncnorm.rvs(single, single + np.float32(1.5), random_state=1).tobytes())
found.update(tf.truncnorm.log_mass(single, 1.5 + single).tobytes())
rng = np.random.default_rng(0)
X = (rng.random((300, 70)) < 0.3) * 1.0
for hidden in ("trug", "bernoulli"):
    cut = {"truncation": tf.Truncation(0.0, 4.0, learn="per_unit")} if hidden == "trug" else {}
    model = tf.train_rbm(X, 150, hidden=hidden, epochs=2, batch_size=50, rng=0, **cut).model
    found.update(model.weights.tobytes() + model.hidden_moments(X).mean.tobytes())
    found.update(tf.log_partition(model, n_temperatures=50, rng=0).log_weights.tobytes())
S = X.reshape(3, 100, 70)
found.update(tf.train_trbm(S, 20, epochs=2, rng=0, progress=False).model.weights.tobytes())
found.update(tf.train_tggm(X, X[:, 0], 10, epochs=3, rng=0).model.input_weights.tobytes())
"""
WIDE = """
from trug_fast.kernels import arrays
(code, *_) = arrays.mean.inspect_asm().values()
assert "zmm" in code
"""
# 256 bits without AVX-512; and a processor for which LLVM prefers 256 bits, but our kernels do not.
OTHERS = {
    "256": {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": ""},
    "intel": {"NUMBA_CPU_NAME": "icelake-server"},
}
AVX512 = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx512vbmi", "avx512vnni"}


def numbers(script, folder, **variables):
    """Return a digest of what a process computes, on one thread, whose kernels are compiled so."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script + "print(found.hexdigest())"],
        env=os.environ | {"NUMBA_CACHE_DIR": str(folder)} | variables,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="x86-64 only")
@pytest.mark.skipif(not {"avx2", "fma"} <= FEATURES, reason="needs AVX2")
@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize(
    "script",
    [DRAWS, pytest.param(DRAWS + MODELS, marks=pytest.mark.slow)],
    ids=["draws", "models"],
)
def test_numbers_are_the_same_on_processors_of_other_kinds(script, kind, tmp_path):
    if kind == "intel" and not AVX512 <= FEATURES:
        pytest.skip("needs AVX-512")
    here = {}
    exec(script, here)
    look = WIDE if kind == "intel" else ""
    other = numbers(script + look, tmp_path, NUMBA_NUM_THREADS="1", **OTHERS[kind])
    assert here["found"].hexdigest() == other.strip()
