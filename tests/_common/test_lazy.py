"""Names of a package that its stub lists: what they lead to, from a folder and from a zip."""

import subprocess
import sys
import zipfile

import pytest

import trug_fast as tf

STUB = """
from .inner import value as value
from .inner.deep import Made as Made
from . import inner as inner
size: int
"""
PACKAGE = {
    "lazily/__init__.py": "from trug_fast._common.lazy import attach\n"
    "__getattr__, __dir__, __all__ = attach(__name__)\n",
    "lazily/__init__.pyi": STUB,
    "lazily/inner/__init__.py": "print('imported')\nvalue = 3\n",
    "lazily/inner/deep.py": "class Made:\n    pass\n",
}
USE = """
import sys
sys.path.insert(0, sys.argv[1])
import lazily
print(lazily.__all__, [name for name in dir(lazily) if name[0] != "_"])
print(lazily.value, vars(lazily)["value"], lazily.Made is lazily.inner.deep.Made)
from lazily import *
print(value, Made)
try:
    lazily.valeu
except AttributeError as error:
    print(error, error.name, error.obj is lazily)
"""
SAID = """\
['Made', 'inner', 'value'] ['Made', 'inner', 'value']
imported
3 3 True
3 <class 'lazily.inner.deep.Made'>
module 'lazily' has no attribute 'valeu' valeu True
"""


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("options", [[], ["-OO"]])
def test_names_are_imported_when_they_are_used(tmp_path, packed, options):
    for name, text in PACKAGE.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text, encoding="utf-8")
    place = tmp_path
    if packed:
        place = tmp_path / "all.zip"
        with zipfile.ZipFile(place, "w") as archive:
            for name in PACKAGE:
                archive.write(tmp_path / name, name)
    done = subprocess.run(
        [sys.executable, *options, "-c", USE, str(place)], capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == (SAID, "")


@pytest.mark.parametrize("room", ["training", "evaluation", "models", "distributions"])
def test_rooms_list_what_there_is(room):
    module = getattr(tf, room)
    for name in module.__all__:
        value = getattr(module, name)
        assert getattr(value, "__name__", name) in (name, f"trug_fast.{room}.{name}")
    assert set(module.__all__) <= set(dir(module))


def test_what_is_in_a_room_is_not_at_the_top_too():
    both = {"exact", "truncnorm", "truncmvn"}
    for room in (tf.training, tf.evaluation, tf.models, tf.distributions):
        assert set(room.__all__) & set(tf.__all__) <= both
