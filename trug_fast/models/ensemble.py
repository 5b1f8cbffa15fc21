"""Ensembles of regressions, whose predictive density is the mixture of their models'."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks, files
from trug_fast._common.checks import FloatArray
from trug_fast._common.randomness import RngLike, seed_from
from trug_fast.kernels.random.philox import USER

from .mixtures import Mixture
from .model import COLUMNS
from .predictive import Predictive
from .tggm import TruGTGGM

SIZE, FACTORS = "n_models", "noise_factors"  # their names in files


class TGGMEnsemble(Predictive):
    """Several TruG-TGGM regressions of the same data as one value, each as good as the others.

    Its predictive density is the mixture of theirs in equal parts (mathematics 5.7): where the
    models disagree it is wider than that of each.

    Parameters
    ----------
    models : sequence of TruGTGGM
        Of the same numbers of inputs and outputs.  Numbers of hidden units may differ.
    noise_factors : array_like, shape (scales, n_outputs), optional
        By what the noise variance of each model is multiplied, each row of these as likely as the
        others: noise with tails heavier than a normal's.  Without them it is the models' own.

    Raises
    ------
    TypeError, ValueError
        If there are no models, or they differ in their inputs, outputs, float type or columns; if
        factors are not above 0.

    Examples
    --------
    >>> import trug_fast as tf
    >>> one = tf.TruGTGGM([[1.0]], 0.0, [[1.0]], 0.0, 0.2, 0.0, 1.0)
    >>> other = tf.TruGTGGM([[1.0]], 0.0, [[1.0]], 2.0, 0.2, 0.0, 1.0)
    >>> ensemble = tf.TGGMEnsemble([one, other])
    >>> ensemble
    TGGMEnsemble(n_models=2, n_inputs=1, n_outputs=1, dtype=float64)
    >>> mean, std = ensemble.predict([[0.3]], return_std=True)
    >>> float(mean[0].round(3)), float(std[0].round(3))  # of each: 0.518
    (1.431, 1.126)
    """

    models: tuple[TruGTGGM, ...]
    noise_factors: NDArray[np.float64] | None

    def __init__(
        self, models: Iterable[TruGTGGM], *, noise_factors: ArrayLike | None = None
    ) -> None:
        if isinstance(models, TruGTGGM) or not isinstance(models, Iterable):
            raise TypeError(f"models must be a sequence of TruGTGGM, got {models!r}")
        self.models = tuple(models)
        if not self.models:
            raise ValueError("models must hold at least one, got none")
        first = self.models[0]
        for number, model in enumerate(self.models, 1):
            checks.kind(f"model {number} of models", model, TruGTGGM)
            for name in ("n_inputs", "n_outputs", "dtype", "columns"):
                wanted, found = getattr(first, name), getattr(model, name)
                if wanted != found:
                    raise ValueError(
                        f"models must agree in {name}: the first has {wanted}, model {number} "
                        f"has {found}"
                    )
        self.noise_factors = None
        if noise_factors is not None:
            self.noise_factors = _factors(noise_factors, self.n_outputs)
            self.noise_factors.flags.writeable = False

    def __len__(self) -> int:
        """Return the number of models."""
        return len(self.models)

    def __iter__(self) -> Iterator[TruGTGGM]:
        """Return the models one after the other."""
        return iter(self.models)

    def __getitem__(self, index: int) -> TruGTGGM:
        """Return one of the models."""
        return self.models[index]

    def __repr__(self) -> str:
        return (
            f"TGGMEnsemble(n_models={len(self)}, n_inputs={self.n_inputs}, "
            f"n_outputs={self.n_outputs}, dtype={self.dtype})"
        )

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return self.models[0].n_inputs

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return self.models[0].n_outputs

    @property
    def dtype(self) -> np.dtype[Any]:
        """Float type of the models' parameters."""
        return self.models[0].dtype

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Names of the inputs, if they are known."""
        return self.models[0].columns

    def mixture(self, X: ArrayLike) -> Mixture:
        """Return means and deviations of each output by each model, (models, rows, outputs).

        With noise factors of each model by each of them, (models * scales, rows, outputs).
        """
        each = [model.mixture(X) for model in self.models]
        mean, deviation = (np.concatenate(parts) for parts in zip(*each, strict=True))
        if self.noise_factors is None:
            return Mixture(mean, deviation)
        noise = np.stack([model.predict_noise(X).reshape(mean.shape[1:]) for model in self.models])
        more = noise[:, None] * (self.noise_factors[:, None] - 1.0)  # than without the factors
        variance = (deviation**2)[:, None] + more
        scales = len(self.noise_factors)
        return Mixture(
            np.repeat(mean, scales, axis=0), np.sqrt(variance.reshape(-1, *mean.shape[1:]))
        )

    def predict(
        self, X: ArrayLike, return_std: bool = False
    ) -> NDArray[np.float64] | tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Exact mean of the mixture, and its standard deviation if asked for.

        Parameters
        ----------
        X : array_like, shape (rows, n_inputs)
        return_std : bool
            Return a pair (mean, standard deviation); the models' noise and their differences
            included.

        Returns
        -------
        ndarray of float64, shape (rows,) with one output, else (rows, n_outputs), or two of them
        """
        checks.flag("return_std", return_std)
        mean, deviation = self.mixture(X).moments()
        if not return_std:
            return self._flat(mean)
        return self._flat(mean), self._flat(deviation)

    def predictive_covariance(self, X: ArrayLike) -> NDArray[np.float64]:
        """Exact covariance of each row's outputs; shape (rows, n_outputs, n_outputs)."""
        means = self.mixture(X).mean
        rest = means - means.mean(axis=0)
        between = np.einsum("kri,krj->rij", rest, rest) / len(means)
        within = np.mean(self._covariances(X), axis=0, dtype=np.float64)
        return np.asarray(within + between)

    def sample(self, X: ArrayLike, *, rng: RngLike = None) -> FloatArray:
        """Draw y once for each row, from p(y | x) of a model drawn anew for each."""
        inputs = checks.matrix("X", self.by_name("X", X), self.n_inputs)
        generator = np.random.Generator(
            np.random.Philox(key=[seed_from(rng, "sample_tggm_ensemble"), USER])
        )
        parts = self._parts()
        which = generator.integers(len(parts), size=len(inputs))
        drawn = np.empty((len(inputs), self.n_outputs), self.dtype)
        for k, model in enumerate(parts):
            rows = np.flatnonzero(which == k)
            if rows.size:
                found = model.sample(inputs[rows], rng=generator)
                drawn[rows] = found.reshape(len(rows), -1)
        return self._flat(drawn)

    def by_name(self, name: str, value: Any) -> Any:
        """Return the models' own columns of a frame, all else as it is."""
        return self.models[0].by_name(name, value)

    def with_columns(self, columns: Sequence[str] | None) -> TGGMEnsemble:
        """Return the same ensemble, which remembers what its inputs are called.

        As :meth:`TruGTGGM.with_columns` does.
        """
        models = [model.with_columns(columns) for model in self.models]
        return TGGMEnsemble(models, noise_factors=self.noise_factors)

    def save(self, path: str | Path) -> None:
        """Write all models to ``path``, one ``.npz`` file that :meth:`load` reads back exactly.

        The file appears whole or not at all.
        """
        arrays: dict[str, NDArray[Any]] = {SIZE: np.array(len(self))}
        for k, model in enumerate(self.models):
            arrays |= {f"{k}.{name}": np.asarray(v) for name, v in model.arrays().items()}
        if self.noise_factors is not None:
            arrays[FACTORS] = self.noise_factors
        if self.columns is not None:
            arrays[COLUMNS] = np.array(self.columns)
        files.write(path, type(self).__name__, arrays)

    @classmethod
    def load(cls, path: str | Path) -> TGGMEnsemble:
        """Read an ensemble that :meth:`save` wrote.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            If the file is damaged, of another version, or holds another kind.
        """
        found = files.read(path, cls.__name__)
        names, factors = found.pop(COLUMNS, None), found.pop(FACTORS, None)
        with files.building_from(path):
            if SIZE not in found:
                raise ValueError(f"it lacks {SIZE}")
            size = files.whole(Path(path), SIZE, found.pop(SIZE))
            parts: list[dict[str, Any]] = [{} for _ in range(size)] if size <= len(found) else []
            for name, value in found.items():
                number, _, own = name.partition(".")
                if not number.isdecimal() or int(number) >= len(parts):
                    raise ValueError(f"{name} is of none of {size} models")
                parts[int(number)][own] = value
            ensemble = cls([TruGTGGM(**part) for part in parts], noise_factors=factors)
            return ensemble if names is None else ensemble.with_columns(names.tolist())

    def _covariances(self, X: ArrayLike) -> list[FloatArray]:
        return [part.predictive_covariance(X) for part in self._parts()]

    def _parts(self) -> list[TruGTGGM]:
        """Return the models, each with its noise times each of the factors."""
        if self.noise_factors is None:
            return list(self.models)
        return [
            TruGTGGM(**model.arrays() | {"noise_variance": model.noise_variance * factor})
            for model in self.models
            for factor in self.noise_factors.astype(self.dtype)
        ]


def _factors(value: ArrayLike, outputs: int) -> NDArray[np.float64]:
    """Return a checked copy of noise factors."""
    array = np.array(checks.numbers("noise_factors", value), np.float64)
    if array.ndim != 2 or len(array) == 0 or array.shape[1] != outputs:
        raise ValueError(
            f"noise_factors must have shape (scales, {outputs}), got shape {array.shape}"
        )
    if not ((array > 0) & np.isfinite(array)).all():
        raise ValueError("noise_factors must be finite and above 0")
    return array
