"""Table 2: errors of one-step forecasts of bouncing balls.

Tested in tests/reproduction/test_forecasting.py.
"""

from __future__ import annotations

from . import generating
from .forecasting import NOTE, SECTIONS, compute, effort, error, lacks, rehearse
from .results import Line
from .runner import Table


def _row(line: Line) -> list[str]:
    return [
        line["label"],
        "" if line["paper"] is None else f"{line['paper']:.2f}",
        *(error(line, "test", method) for method in ("gibbs", "mean_field", "last")),
        *effort(line),
    ]


HEADER = ("units", "paper", "error", "mean field", "last", "epochs", "minutes")

TABLE = Table(
    "table2",
    "errors of one-step forecasts of bouncing balls",
    SECTIONS | {"generate": generating.OPTIONS},
    rehearse,
    compute,
    HEADER,
    _row,
    NOTE,
    generating.views,
    lacks,
)
