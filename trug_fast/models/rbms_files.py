"""Models in the HDF5 files of rbms, a library of RBMs in PyTorch: read from them, and written.

Such a file holds the parameters after several updates of one training, each in a group of its own:
``update_N/params`` with ``weight_matrix``, ``vbias`` and ``hbias``, besides times and states of
random numbers; at its root ``model_type``, ``parallel_chains`` and ``hyperparameters``.  Energies
are ours, -b'v - c'h - v'Wh, with states 0 and 1 of hidden units; visible ones are 0 and 1 (BBRBM),
or one of several states at each site (PBRBM), with weights (sites, states, hidden).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks, files, hdf5

from .rbm import BernoulliRBM

# What rbms calls a parameter, and what we do.
PARAMETERS = {"weight_matrix": "weights", "vbias": "visible_bias", "hbias": "hidden_bias"}
KINDS = {"BBRBM": 2, "PBRBM": 3}  # and how many axes weights have
UPDATE = re.compile(r"update_(\d+)")
SETTINGS = ("batch_size", "gibbs_steps", "learning_rate")  # which rbms looks for in a file


def rbms_updates(path: str | Path) -> list[int]:
    """Return after how many updates a model was kept in a file of rbms.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    list of int
        In ascending order; each can be the ``update`` of :func:`load_rbms`.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is damaged, or none of rbms.
    ImportError
        If h5py is not installed (``pip install "trug-fast[hdf5]"``).

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.models.rbms_updates("RBM.h5")  # doctest: +SKIP
    [1, 10, 100, 1000]
    """
    with hdf5.opened(path) as file:
        found = [UPDATE.fullmatch(name) for name in file]
    updates = sorted(int(match[1]) for match in found if match)
    if not updates:
        raise ValueError(f"{path} is no file of rbms: it holds no group update_1 or of such a name")
    return updates


def load_rbms(path: str | Path, update: int | None = None) -> BernoulliRBM:
    """Read a model that rbms has trained.

    Parameters
    ----------
    path : str or Path
        The HDF5 file of a training.
    update : int, optional
        After how many updates, one of :func:`rbms_updates`; by default the last.

    Returns
    -------
    BernoulliRBM
        With the numbers of the file, in its float type.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    TypeError, ValueError
        If it is damaged, none of rbms, of a kind of model that is not known, or has no such update.
    ImportError
        If h5py is not installed (``pip install "trug-fast[hdf5]"``).

    Examples
    --------
    >>> import trug_fast as tf
    >>> model = tf.models.load_rbms("RBM.h5")  # doctest: +SKIP
    >>> kept = tf.models.rbms_updates("RBM.h5")  # doctest: +SKIP
    >>> models = [tf.models.load_rbms("RBM.h5", update) for update in kept]  # doctest: +SKIP
    """
    known = rbms_updates(path)
    number = known[-1] if update is None else checks.count("update", update)
    if number not in known:
        raise ValueError(f"{path} has no update={number}; it has {', '.join(map(str, known))}")
    with hdf5.opened(path) as file:
        group = file[f"update_{number}"]
        place = group.get("params", group)  # older files have no group of parameters
        missing = [name for name in PARAMETERS if name not in place]
        if missing:
            raise ValueError(
                f"{path} is no file of an RBM: update_{number} has no {', '.join(missing)}"
            )
        arrays = {own: np.asarray(place[name][()]) for name, own in PARAMETERS.items()}
        kind = file["model_type"][()] if "model_type" in file else None
    words = kind.decode() if isinstance(kind, bytes) else kind
    axes = arrays["weights"].ndim
    if words is not None and KINDS.get(str(words)) != axes:
        raise ValueError(
            f"{path} holds a {words} with weights of {axes} axes, expected "
            + " or ".join(f"{name} with {count}" for name, count in KINDS.items())
        )
    with files.building_from(path):
        kind = "bernoulli" if axes == 2 else "categorical"
        return BernoulliRBM(**arrays, visible=kind)


def save_rbms(
    path: str | Path,
    model: BernoulliRBM,
    *,
    update: int = 1,
    chains: ArrayLike | None = None,
) -> None:
    """Write a model as a file that rbms reads.

    Parameters
    ----------
    path : str or Path
        The file appears whole or not at all; one that is there is replaced.
    model : BernoulliRBM
        With visible units of 0 and 1, or all of as many states.
    update : int
        The number of updates under which the model stands in the file.
    chains : array_like, shape (n, n_visible), optional
        States of visible units, such as samples: rbms' ``load_model`` needs some, and goes on from
        them (with batches of 1 row, 1 step and a learning rate of 0.01, which it wants to find in
        the file); its ``load_params`` goes without.

    Raises
    ------
    TypeError, ValueError
        If the model is of a kind that rbms does not have, or chains are no states of it.
    ImportError
        If h5py is not installed (``pip install "trug-fast[hdf5]"``).

    Examples
    --------
    >>> import numpy as np, trug_fast as tf
    >>> model = tf.BernoulliRBM(np.zeros((4, 2), np.float32), 0.0, 0.0)
    >>> tf.models.save_rbms("RBM.h5", model, chains=model.sample(10, n_gibbs=1))  # doctest: +SKIP
    """
    checks.kind("model", model, BernoulliRBM)
    if model.visible not in ("bernoulli", "categorical"):
        raise ValueError(
            f"model must have Bernoulli or categorical visible units, rbms has no others, got "
            f"{model.visible}"
        )
    number = checks.count("update", update)
    states: NDArray[Any] | None = None
    if chains is not None:
        states = model.visible_units.checked("chains", chains, model.n_visible)
        states = states.astype(model.dtype)
    arrays = {name: np.asarray(getattr(model, own)) for name, own in PARAMETERS.items()}
    with hdf5.written(path) as file:
        for name, array in arrays.items():
            file[f"update_{number}/params/{name}"] = array
            file[f"update_{number}/{name}"] = array  # where older readers look
        file[f"update_{number}/time"] = 0.0
        file["model_type"] = {axes: name for name, axes in KINDS.items()}[model.weights.ndim]
        file["hyperparameters/num_visibles"] = model.n_visible
        file["hyperparameters/num_hiddens"] = model.n_hidden
        if states is not None:
            file["parallel_chains"] = states
            file["hyperparameters/num_chains"] = len(states)
        for name, value in zip(SETTINGS, (1, 1, 0.01), strict=True):
            file[f"hyperparameters/{name}"] = value
