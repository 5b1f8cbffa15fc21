"""Fetching the files of data sets, with pooch: known by their check sums, wherever they lie."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import NamedTuple

from trug_fast._common import checks
from trug_fast._common.extras import need
from trug_fast._common.progress import require_progress, watched

from .readers import FETCHED, Directory, top_of

MIRROR = "TRUG_FAST_MIRROR"  # the environment variable that names a server
TIMEOUT = 30  # seconds without an answer
STORED = "https://raw.githubusercontent.com"  # repositories, at a commit


class RemoteFile(NamedTuple):
    """A file of a data set: its folder and name, its size in bytes, what it must hash to.

    home : where its authors, or those who passed it on unchanged, keep it, if that is known
    """

    folder: str
    name: str
    size: int
    sha256: str
    home: str | None = None


def _uci(name: str, size: int, sha256: str) -> tuple[RemoteFile, ...]:
    return (RemoteFile("uci", f"{name}.npz", size, sha256),)


_SILHOUETTES = (
    f"{STORED}/YingzhenLi/vae_renyi_divergence/5df877dd78410d90a523c22846b01ff0c6a3a424/"
    "data/silhouettes"
)
_MOTION = f"{STORED}/SheffieldML/GPmat/4b5914a38ecbad9fb7a13a3392970bfc28c9d911/datasets/data"

# fmt: off
SETS = {
    "mnist": (
        RemoteFile("mnist", "train-images-idx3-ubyte.gz", 9912422,
                   "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"),
        RemoteFile("mnist", "train-labels-idx1-ubyte.gz", 28881,
                   "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"),
        RemoteFile("mnist", "t10k-images-idx3-ubyte.gz", 1648877,
                   "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"),
        RemoteFile("mnist", "t10k-labels-idx1-ubyte.gz", 4542,
                   "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"),
    ),
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
    """Fetch the files of a data set, unless they are there.

    Parameters
    ----------
    name : str
        "mnist", "binarized-mnist", "caltech", "motion", "raw-motion", or a regression of
        `load_uci`.
    directory : path, optional
        The folder to put them in, each set in a folder of its own.  By default that in the
        environment variable ``TRUG_FAST_DATA``, or ``~/.cache/trug_fast``; all functions that load
        data sets look there.
    mirror : str, optional
        The address of a server that has them, http or https, as ``ADDRESS/mnist/...``; by default
        the environment variable ``TRUG_FAST_MIRROR``, or else the address of those who made the
        files known, which not all sets have.
    progress : bool, optional
        Show bars; by default if a person is looking.

    Returns
    -------
    Path
        The folder of the set's files.

    Raises
    ------
    ImportError, OSError, TypeError, ValueError
        If pooch is not installed; if there is no network, or the server does not have them; if no
        address is known, or what is there, or came, has another check sum, and is not kept then.

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.datasets.fetch("mnist", mirror="https://example.org/data")  # doctest: +SKIP
    >>> mnist = tf.datasets.load_mnist()  # doctest: +SKIP
    """
    return fetched(SETS[checks.choice("name", name, tuple(SETS))], directory, mirror, progress)


def fetched(
    files: tuple[RemoteFile, ...], directory: Directory, mirror: str | None, progress: bool | None
) -> Path:
    """Fetch files of one folder, as `fetch` does, unless they are there; return the folder."""
    require_progress(progress)
    top = top_of(directory) or Path(FETCHED).expanduser()
    server = os.environ.get(MIRROR) if mirror is None else mirror
    if server is not None and not str(server).startswith(("http://", "https://")):
        raise ValueError(f"mirror must be an address, http:// or https://, got {server!r}")
    for file in files:
        path = top / file.folder / file.name
        if not path.exists():
            _download(file, path, server, watched() if progress is None else progress)
        elif hashlib.sha256(path.read_bytes()).hexdigest() != file.sha256:
            raise ValueError(
                f"{path} is not the file that is known by this name (its sha256 differs); move it "
                "away to fetch that, or load it as it is"
            )
    return top / files[0].folder


def _download(file: RemoteFile, path: Path, mirror: str | None, bar: bool) -> None:
    """Download a file, which appears whole and right or not at all, as pooch sees to."""
    home = file.home if mirror is None else f"{mirror.rstrip('/')}/{file.folder}"
    if home is None:
        raise ValueError(
            f"no address is known of {file.folder}/{file.name}; name a server that has it by "
            f"mirror='https://...' or the environment variable {MIRROR}"
        )
    pooch = need("pooch", "fetching needs pooch", "datasets")
    log = pooch.get_logger()
    level = log.level
    log.setLevel("WARNING")
    own = pooch.HTTPDownloader(progressbar=bar, timeout=TIMEOUT, headers={"Connection": "close"})
    known = {"known_hash": f"sha256:{file.sha256}", "downloader": own}
    try:
        pooch.retrieve(f"{home}/{file.name}", fname=file.name, path=path.parent, **known)
    except OSError as error:  # those of requests are some too
        if getattr(error, "response", None) is not None:
            error.response.close()  # type: ignore[attr-defined]
        raise OSError(
            f"cannot fetch {home}/{file.name}: {error or type(error).__name__}; without a network, "
            f"put it into {path.parent} yourself"
        ) from error
    finally:
        log.setLevel(level)
