"""``trug-fast train``: a command for each model.

Tested in tests/cli/test_cli.py.
"""

from __future__ import annotations

from typing import Any

from .train_rbm import TrainRBM
from .train_tggm import TrainTGGM
from .train_trbm import TrainTRBM


def add(commands: Any) -> None:
    """Add the commands to the parser."""
    models = commands.add_parser("train", help="train a model").add_subparsers(
        required=True, metavar="MODEL"
    )
    for command in (TrainRBM(), TrainTRBM(), TrainTGGM()):
        command.add(models)
