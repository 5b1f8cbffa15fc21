"""Fetching the files of data sets, with pooch: known by their check sums, wherever they lie."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any, NamedTuple

from trug_fast._common import checks
from trug_fast._common.progress import require_progress, watched

from .readers import ENVIRONMENT_VARIABLE, FETCHED, Directory

MIRROR = "TRUG_FAST_MIRROR"  # the environment variable that names a server
TIMEOUT = 30  # seconds without an answer


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
    "binarized-mnist": (
        RemoteFile("mnist_binarized", "binarized_mnist_fixed.npz", 3785508,
                   "7a049ae3a0d88e964af4b41bbdb14e4303595e1c5de65f8bd2455cdcebb3514b"),
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
        "mnist" or "binarized-mnist".
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
    ImportError
        If pooch is not installed.
    OSError
        If there is no network, or the server does not have them.
    TypeError, ValueError
        If the name is unknown, no address is known, or what is there, or what came, is not the file
        that is known by its check sum; such a download is not kept.

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
    top = _folder(directory)
    server = os.environ.get(MIRROR) if mirror is None else mirror
    if server is not None and not str(server).startswith(("http://", "https://")):
        raise ValueError(f"mirror must be an address, http:// or https://, got {server!r}")
    missing = [file for file in files if not _is_there(top / file.folder / file.name, file)]
    urls = [_address(file, server) for file in missing]
    for file, url in zip(missing, urls, strict=True):
        _download(url, file, top / file.folder, watched() if progress is None else progress)
    return top / files[0].folder


def _folder(directory: Directory) -> Path:
    if directory is not None and not isinstance(directory, str | os.PathLike):
        raise TypeError(f"directory must be a path or None, got {type(directory).__name__}")
    return Path(directory or os.environ.get(ENVIRONMENT_VARIABLE) or FETCHED).expanduser()


def _is_there(path: Path, file: RemoteFile) -> bool:
    """Return whether the file is there; refuse another of its name."""
    if not path.exists():
        return False
    if hashlib.sha256(path.read_bytes()).hexdigest() == file.sha256:
        return True
    raise ValueError(
        f"{path} is not the file that is known by this name (its sha256 differs); move it away to "
        "fetch that, or load it as it is"
    )


def _address(file: RemoteFile, mirror: str | None) -> str:
    if mirror is not None:
        return f"{mirror.rstrip('/')}/{file.folder}/{file.name}"
    if file.home is None:
        raise ValueError(
            f"no address is known of {file.folder}/{file.name}; name a server that has it by "
            f"mirror='https://...' or the environment variable {MIRROR}"
        )
    return f"{file.home}/{file.name}"


def _download(url: str, file: RemoteFile, folder: Path, bar: bool) -> None:
    """Download a file, which appears whole and right or not at all."""
    try:
        import pooch
    except ImportError as error:
        raise ImportError('fetching needs pooch: pip install "trug_fast[datasets]"') from error
    own: Any = pooch.HTTPDownloader(
        progressbar=bar, timeout=TIMEOUT, headers={"Connection": "close"}
    )
    log, known = pooch.get_logger(), f"sha256:{file.sha256}"
    level = log.level
    log.setLevel("WARNING")
    try:
        pooch.retrieve(url, known_hash=known, fname=file.name, path=folder, downloader=own)
    except OSError as error:  # those of requests are some too
        raise OSError(
            f"cannot fetch {url}: {_reason(error)}; without a network, put {file.name} into "
            f"{folder} yourself"
        ) from error
    except ValueError as error:  # another check sum
        raise ValueError(
            f"{url} is not the file that is known as {file.name} (its sha256 differs); nothing was "
            "kept"
        ) from error
    finally:
        log.setLevel(level)


def _reason(error: OSError) -> str:
    """Return in words what went wrong."""
    response, kind = getattr(error, "response", None), type(error).__name__
    if response is not None:
        response.close()
        return f"the server answers {response.status_code} {response.reason}"
    if "Timeout" in kind:
        return f"no answer within {TIMEOUT} seconds"
    return "the server cannot be reached" if "ConnectionError" in kind else str(error) or kind
