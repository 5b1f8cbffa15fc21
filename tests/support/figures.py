"""Figures in tests that look at no figure."""

import pytest


@pytest.fixture(autouse=True)
def small_figures(monkeypatch):
    """Draw every figure, of few dots and as it happens to lie: 0.2 s in place of 0.6 s each."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return
    save = Figure.savefig

    def save_small(figure, *args, **options):
        figure.set_layout_engine("none")
        save(figure, *args, **({"dpi": 20} | options))

    monkeypatch.setattr(Figure, "savefig", save_small)
