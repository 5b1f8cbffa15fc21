"""Where the files of data sets lie, and fetching them with pooch: known by their check sums."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from trug_fast._common import checks
from trug_fast._common.lazy import need
from trug_fast._common.progress import require_progress, watched

ENVIRONMENT_VARIABLE = "TRUG_FAST_DATA"
FETCHED = "~/.cache/trug_fast"  # where fetched files are put, if nothing is said
MIRROR = "TRUG_FAST_MIRROR"  # the environment variable that names a server
TIMEOUT = 30  # seconds without an answer

Directory = str | os.PathLike[str] | None


class RemoteFile(NamedTuple):
    """A file of a data set: its folder and name, its size in bytes, what it must hash to.

    home : where its authors, or those who passed it on unchanged, keep it, if that is known
    """

    folder: str
    name: str
    size: int
    sha256: str
    home: str | None = None


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
        "mnist".
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


class Folder:
    """The places where the files of one data set may lie.

    `subfolders` are those of the user's folder that are looked into after the folder itself;
    `home` says where the files can be got, `fetch` under which name they can be fetched.
    """

    def __init__(
        self, directory: Directory, subfolders: Sequence[str], home: str, fetch: str = ""
    ) -> None:
        top = top_of(directory)
        self.places = [top / sub for sub in ("", *subfolders)] if top else []
        self.home, self.fetch = home, fetch

    def need(self, *names: str) -> Path:
        """Give the first file that has one of these names, or raise FileNotFoundError."""
        for path in (place / name for place in self.places for name in names):
            if path.is_file():
                return path
        where = f"in {', '.join(map(str, self.places))}" if self.places else "nowhere"
        how = f", or fetch them with datasets.fetch({self.fetch!r})" if self.fetch else ""
        raise FileNotFoundError(
            f"no file {' or '.join(names)} (looked {where}); the files come from {self.home}; "
            f"name their folder by the argument directory or by the environment variable "
            f"{ENVIRONMENT_VARIABLE}{how}"
        )


def top_of(directory: Directory) -> Path | None:
    """Return the folder of data sets: what is said, or that of fetched files if it is there."""
    if directory is not None and not isinstance(directory, str | os.PathLike):
        raise TypeError(f"directory must be a path or None, got {type(directory).__name__}")
    if directory == "":
        raise ValueError("directory must name a folder, got ''")
    top, fetched = directory or os.environ.get(ENVIRONMENT_VARIABLE), Path(FETCHED).expanduser()
    return Path(top).expanduser() if top else fetched if fetched.is_dir() else None
