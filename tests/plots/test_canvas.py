"""What figures stand on; looking at them is a person's part."""

import pytest

from trug_fast import plots

pytest.importorskip("matplotlib")


def test_a_missing_matplotlib_is_explained(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.backends.backend_agg", None)
    with pytest.raises(ImportError, match=r"pip install trug-fast\[plot\]"):
        plots.family()
