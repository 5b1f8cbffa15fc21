"""Where tests find files: the checkout, the cases whose answers are exact, and real data sets."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("TRUG_FAST_DATA") or ROOT.parent / "shared" / "data")

needs_data = pytest.mark.skipif(
    not (DATA / "mnist").is_dir(), reason="the original files are not at hand"
)


def exact_cases(kind: str | None = None) -> list[dict[str, Any]]:
    """Return the cases of one kind, or all."""
    text = Path(__file__).with_name("exact_cases.json").read_text(encoding="utf-8")
    cases: list[dict[str, Any]] = json.loads(text)["cases"]
    return [case for case in cases if kind is None or case["kind"] == kind]
