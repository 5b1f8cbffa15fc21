"""The package as installed: version and folders."""

import subprocess
import sys
from pathlib import Path

import trug_fast

ROOT = Path(__file__).parents[1]


def test_version_comes_from_the_project_file():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'\nversion = "{trug_fast.__version__}"\n' in text


def test_importing_the_link_at_the_root_names_the_real_module():
    done = subprocess.run(
        [sys.executable, "-c", "import kernels"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode != 0
    assert "ImportError: import trug_fast.kernels" in done.stderr


def test_figures_are_imported_when_used():

    code = (
        "import sys, trug_fast; assert not {'trug_fast.plots', 'sklearn'} & set(sys.modules); "
        "trug_fast.plots"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
