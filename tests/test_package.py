"""The package as installed: version and folders."""

import os
import re
import subprocess
import sys
from pathlib import Path

import trug_fast

ROOT = Path(__file__).parents[1]


def test_version_comes_from_the_project_file():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'\nversion = "{trug_fast.__version__}"\n' in text


def test_the_wheel_holds_every_folder():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    folders = {path.parent.relative_to(ROOT) for path in ROOT.glob("trug_fast/**/__init__.py")}
    listed = re.findall(r'^    "(trug_fast[\w.]*)",$', text.split("packages = [")[1], re.M)
    assert sorted(listed) == sorted(".".join(folder.parts) for folder in folders)


def test_the_citation_is_of_this_version():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {trug_fast.__version__}\n" in text


def test_importing_the_link_at_the_root_names_the_real_module():
    done = subprocess.run(
        [sys.executable, "-c", "import kernels"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode != 0
    assert "ImportError: import trug_fast.kernels" in done.stderr


def test_nothing_is_imported_before_it_is_used():
    code = (
        "import sys, trug_fast; dir(trug_fast); trug_fast.training; trug_fast.evaluation\n"
        "found = {'trug_fast.plots', 'trug_fast.kernels', 'sklearn', 'numba', 'numpy'}\n"
        "assert not found & set(sys.modules)\ntrug_fast.plots"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_a_notebook_completes_is_what_there_is_to_use():
    names = [name for name in dir(trug_fast) if not name.startswith("__")]
    assert names == sorted(trug_fast.__all__)
    for name in names:
        getattr(trug_fast, name)


def test_a_name_typed_wrongly_gets_the_right_one():
    code = "import trug_fast; trug_fast.log_likelyhood"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "Did you mean: 'log_likelihood'?" in done.stderr


AT_ONCE = """
import operator
import threading
import trug_fast as tf
names = ["train_rbm", "log_partition", "TruGRBM", "datasets", "exact", "train_tggm"]
names += ["training.SGD", "evaluation.Ladder", "models.Scaling", "distributions.truncmvn_hmc"]
gate, found = threading.Barrier(len(names)), []
def use(name):
    gate.wait()
    found.append(operator.attrgetter(name)(tf))
users = [threading.Thread(target=use, args=(name,)) for name in names]
for user in users: user.start()
for user in users: user.join()
assert len(found) == len(names)
"""


def test_threads_may_use_names_for_the_first_time_at_once():
    # Without a lock all five runs of five ended in an ImportError.
    done = subprocess.run([sys.executable, "-c", AT_ONCE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def command(before, **variables):
    """Run the command's entry point in a new process."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    module, function = re.search(r'^trug-fast = "(.*):(.*)"$', text, re.M).groups()
    code = f"{before}\nimport sys\nfrom {module} import {function}\nsys.exit({function}())"
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | variables
    return subprocess.run(
        [sys.executable, "-c", code, "show-config"], env=environment, capture_output=True, text=True
    )


INTERRUPT = """
import sys
class Interrupt:
    def find_spec(self, name, *rest):
        if name == "trug_fast.kernels":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupt())
"""


def test_the_command_is_quiet_when_interrupted_while_importing():
    done = command(INTERRUPT)
    assert (done.returncode, done.stderr) == (130, "trug-fast: interrupted\n")


def test_the_command_says_in_a_sentence_what_keeps_it_from_running():
    done = command("", NUMBA_DISABLE_JIT="1")
    expected = "trug-fast: trug_fast consists of compiled kernels: unset NUMBA_DISABLE_JIT\n"
    assert (done.returncode, done.stderr) == (2, expected)
