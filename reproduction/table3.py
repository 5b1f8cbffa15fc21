"""Table 3: errors of one-step forecasts of motion capture.

Tested in tests/reproduction/test_forecasting.py.
"""

from __future__ import annotations

from .forecasting import NOTE, SECTIONS, ahead_views, compute, effort, error, lacks, rehearse
from .results import Line
from .runner import Table


def _row(line: Line) -> list[str]:
    walking, running = line["paper"], line["options"]["forecast"].get("paper_running")
    return [
        line["label"],
        *("" if paper is None else f"{paper:.1f}" for paper in (walking, running)),
        *(
            error(line, name, method)
            for method in ("gibbs", "mean_field", "last")
            for name in ("walking", "running")
        ),
        *effort(line),
    ]


HEADER = (
    *("units", "paper: walking", "running", "walking", "running"),
    *("mean field: walking", "running", "last: walking", "running", "epochs", "minutes"),
)

TABLE = Table(
    "table3",
    "errors of one-step forecasts of walking and running",
    SECTIONS,
    rehearse,
    compute,
    HEADER,
    _row,
    NOTE,
    ahead_views,
    lacks,
)
