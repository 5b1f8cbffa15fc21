"""Fetching the files of the tables' data sets: ``python -m reproduction fetch caltech``."""

from __future__ import annotations

from pathlib import Path

from trug_fast._common import checks
from trug_fast.datasets.downloads import Directory, RemoteFile, fetched

STORED = "https://raw.githubusercontent.com"  # repositories, at a commit


def _uci(name: str, size: int, sha256: str) -> tuple[RemoteFile, ...]:
    return (RemoteFile("uci", f"{name}.npz", size, sha256),)


_SILHOUETTES = (
    f"{STORED}/YingzhenLi/vae_renyi_divergence/5df877dd78410d90a523c22846b01ff0c6a3a424/"
    "data/silhouettes"
)
_MOTION = f"{STORED}/SheffieldML/GPmat/4b5914a38ecbad9fb7a13a3392970bfc28c9d911/datasets/data"

# fmt: off
SETS = {
    "binarized-mnist": (
        RemoteFile("mnist_binarized", "binarized_mnist_fixed.npz", 3785508,
                   "7a049ae3a0d88e964af4b41bbdb14e4303595e1c5de65f8bd2455cdcebb3514b"),
    ),
    "caltech": (
        RemoteFile("caltech101_silhouettes", "caltech101_silhouettes_28_split1.mat", 872124,
                   "eb6735e8d84b1850fabc5590124aab1755e90c9fd28123585324398405e1e42a",
                   _SILHOUETTES),
    ),
    "motion": (
        RemoteFile("cmu_mocap", "cmu35_walk_run_30fps.npz", 2168805,
                   "dab721febae0ed4e25e84866795840e0cccf663d7827c4f60be5d17af58cc2df"),
        RemoteFile("cmu_mocap", "35.asf", 7261,
                   "2a8e2eda3c0d7d828566b2a9a8ab36b2b8b3864110574e8b73c8f069fded416c",
                   f"{_MOTION}/mocap/cmu/35"),
    ),
    "raw-motion": (
        RemoteFile("cmu_mocap", "cmu35WalkJog.mat", 1073738,
                   "50db534501bdfb1611153e3b5d122fc08b0c42ea159e875d5656ec13fa11a353", _MOTION),
    ),
    "boston": _uci(
        "bostonHousing", 35480, "4830f1bf9a89d8689acbef1d6d8873a822099b93b39be6cf5a9e49d87264a2b9"),
    "concrete": _uci(
        "concrete", 51384, "6ec94b9d64215d1b10152593430bfbf2c512e3b25d80d521e3724a1aa87c133f"),
    "energy": _uci(
        "energy", 33365, "0c9fa94ed6dc06ea64fef2f421ee10043b3da1ebcaa0b675c14d34b70862f9d6"),
    "kin8nm": _uci(
        "kin8nm", 939711, "1ea97ffcc7a3e6d08f7680498fd2715781252c32f33d6f99a78e3c5d23c82a1d"),
    "naval": _uci(
        "naval-propulsion-plant", 1127465,
        "78c897753ae05f0265e2455f26e90e7cc14a782b0ae2453cb65a5e390e85e55f"),
    "power": _uci(
        "power-plant", 592019, "88d06d764a6fe11fe025008036ec207598701f3944b4a1936785ad090a70acc2"),
    "protein": _uci(
        "protein-tertiary-structure", 2720276,
        "c7d982859514fb0852b152f99ec0bdd9d6d7e10de934d6bd59febaefad301025"),
    "wine": _uci(
        "wine-quality-red", 95415,
        "cca0de7fe57dd36d6e4000776b046ef3c705e7eb63813f4126802062c68cf67f"),
}
# fmt: on


def fetch(
    name: str,
    directory: Directory = None,
    *,
    mirror: str | None = None,
    progress: bool | None = None,
) -> Path:
    """Fetch the files of a data set, as :func:`trug_fast.datasets.fetch` does."""
    return fetched(SETS[checks.choice("name", name, tuple(SETS))], directory, mirror, progress)
