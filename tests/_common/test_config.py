"""Whoever asks is told which kernels BLAS took, and what to do where they are too narrow."""

import os
import platform
import re
import subprocess
import sys

import pytest

import trug_fast as tf
from trug_fast._common import config
from trug_fast._common.config import KERNELS_OWNER, Library
from trug_fast.cli import main

HASWELL = Library(KERNELS_OWNER, "openblas", "0.3.30", "Haswell", "2 threads (pthreads)")
WIDE = HASWELL._replace(kernels="SkylakeX")
OPENBLAS = {"user_api": "blas", "internal_api": "openblas", "version": "0.3.30", "num_threads": 2}


def told(**variables):
    """Return what a process prints of itself, by the names of the lines."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")}
    done = subprocess.run(
        [sys.executable, "-m", "trug_fast", "show-config"],
        env=environment | variables,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return dict(line.split(": ", 1) for line in done.stdout.splitlines())


def test_it_prints_what_there_is(capsys):
    assert tf.show_config() is None
    printed = capsys.readouterr().out
    assert f"trug-fast {tf.__version__}, Python {platform.python_version()}, numba " in printed
    for begin in ("processor: ", "BLAS of ", "threads: ", "compiled kernels: kept in "):
        assert f"\n{begin}" in printed


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="x86-64 only")
@pytest.mark.skipif(not any("openblas" in own.name for own in config.loaded()), reason="OpenBLAS")
def test_advice_comes_with_narrow_kernels_and_names_what_chose_them():
    bits = config.width()
    asked = told(OPENBLAS_CORETYPE="Nehalem")  # 128 bits: any processor can
    assert "kernels Nehalem (128 bits)" in next(v for k, v in asked.items() if "BLAS of" in k)
    assert "OPENBLAS_CORETYPE=Nehalem" in asked["set in the environment"]
    assert ("ADVICE" in asked) == (bits > 128)
    if bits > 128:
        assert f"this processor has {bits}" in asked["ADVICE"]
        assert "unset OPENBLAS_CORETYPE, which is Nehalem, before Python starts" in asked["ADVICE"]
    if bits in config.USUAL:
        assert "ADVICE" not in told(OPENBLAS_CORETYPE=config.USUAL[bits])


@pytest.mark.parametrize(
    ("library", "environment", "words"),
    [
        (HASWELL, {"OPENBLAS_CORETYPE": "haswell"}, "unset OPENBLAS_CORETYPE, which is haswell"),
        (HASWELL, {}, "newer OpenBLAS .*OPENBLAS_CORETYPE=SkylakeX, set before Python starts"),
        (HASWELL._replace(name="blis", kernels="zen3"), {}, "with OpenBLAS, as pip installs them"),
        (
            HASWELL._replace(name="mkl", kernels="AVX2"),
            {"MKL_ENABLE_INSTRUCTIONS": "AVX2"},
            "unset MKL_ENABLE_INSTRUCTIONS",
        ),
    ],
)
def test_advice_depends_on_what_took_narrow_kernels(library, environment, words):
    (said,) = config.advice([library], 512, environment)
    assert "registers of 256 bits, this processor has 512" in said
    assert re.search(words, said)


def test_no_advice_where_nothing_is_left_unused_or_nothing_is_known():
    assert not list(config.advice([WIDE], 512, {"OPENBLAS_CORETYPE": "SkylakeX"}))
    assert not list(config.advice([HASWELL], 256, {}))
    for unknown in ("armv8", "neoversev1", "VORTEX", ""):
        assert not list(config.advice([HASWELL._replace(kernels=unknown)], 128, {}))
    numpys = HASWELL._replace(owner="NumPy")
    (said,) = config.advice([HASWELL, numpys], 512, {})  # once, of both
    assert "kernels and the BLAS of NumPy use" in said
    (said,) = config.advice([WIDE, numpys], 512, {})
    assert said.startswith("the BLAS of NumPy use")


@pytest.mark.parametrize(
    ("libraries", "expected"),
    [
        ([], {"BLAS of SciPy and of kernels": "whose kernels are not told"}),  # Accelerate
        (
            [OPENBLAS | {"filepath": "/v/numpy/.dylibs/libscipy_openblas64_.dylib"}],
            {"BLAS of SciPy and of kernels": "not told", "BLAS of NumPy": "kernels unknown, 2 th"},
        ),
        (
            [OPENBLAS | {"filepath": "/v/lib/libopenblas.so", "architecture": "ARMV8"}],
            {"BLAS": "openblas 0.3.30, kernels ARMV8, 2 threads"},
        ),
        (
            [{"user_api": "blas", "internal_api": "mkl", "version": None}],
            {"BLAS": "mkl unknown, kernels unknown"},
        ),
    ],
)
def test_other_systems_have_other_blas(libraries, expected, monkeypatch):
    monkeypatch.setattr(config, "threadpool_info", lambda: libraries)
    monkeypatch.delenv("MKL_ENABLE_INSTRUCTIONS", raising=False)
    found = dict(config.config())
    assert [name for name in found if name.startswith("BLAS")] == list(expected)
    for name, words in expected.items():
        assert words in found[name]
    assert "ADVICE" not in found


def test_systems_without_proc_and_llvm_without_features(monkeypatch):
    def refused(*_, **__):
        raise OSError

    def unknown():
        raise RuntimeError

    monkeypatch.setattr(config.Path, "read_text", refused)
    monkeypatch.setattr(config.subprocess, "check_output", refused)
    monkeypatch.setattr(config.sys, "platform", "darwin")
    monkeypatch.setattr(config.llvm, "get_host_cpu_features", unknown)
    assert config.width() == 128
    assert config.llvm.get_host_cpu_name() in config.processor()


def test_the_command_prints_the_same(capsys):
    assert main(["show-config"]) == 0
    assert capsys.readouterr().out.startswith("versions: trug-fast ")
