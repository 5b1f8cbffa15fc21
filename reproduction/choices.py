"""Choices of a training written flat: one name for each, as the protocols have them.

``sampler=tf.training.PCD(n_gibbs=5)`` is written ``sampler = "pcd"`` and ``n_gibbs = 5``.  Names
are read from the trainings and the values that they take, so that nothing is written twice.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

from trug_fast.training.options import (
    PENALTIES,
    SGD,
    Adam,
    LinearStart,
    Monitor,
    RandomWeights,
    RMSprop,
)
from trug_fast.training.rbm.train import train_rbm
from trug_fast.training.samplers import CD, PCD, ParallelTempering, SequenceCD, TrajectoryTempering
from trug_fast.training.tggm.options import HoldOut, MeanField, Noise, RateSearch
from trug_fast.training.tggm.train import train_tggm
from trug_fast.training.trbm.train import train_trbm
from trug_fast.training.units import (
    BernoulliUnits,
    CategoricalUnits,
    GaussianUnits,
    SpinUnits,
    TruGUnits,
    TruncatedUnits,
)
from trug_fast.units.truncation import Truncation

Train = Callable[..., Any]
NONE = "none"  # the word for no scores

# Arguments that are no choices: data, and what cannot be written in words.
APART = (
    *("X", "y", "sequences", "sample_weight", "validation", "start"),
    *("transform", "callbacks", "checkpoint", "progress", "rng"),
)


@dataclass(frozen=True)
class Group:
    """An argument that takes values with fields, each of which is a choice of its own.

    Attributes
    ----------
    argument : str
    kinds : mapping
        The class of the value for each word of the argument, None for words without fields; one
        class under "" where the argument has no word of its own.
    names : mapping
        Names of fields that are called otherwise when written flat.
    word : str
        The field that takes the word, if one does.
    without : sequence of str
        Fields that this training refuses.
    fixed : mapping
        Fields of a word's kind that the word decides.
    itself : bool
        The argument is a choice, too, and stands for itself where no field is given.
    """

    argument: str
    kinds: Mapping[str, type | None]
    names: Mapping[str, str] = field(default_factory=dict)
    word: str = ""
    without: tuple[str, ...] = ()
    fixed: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    itself: bool = False

    def flat(self) -> dict[str, list[str]]:
        """Return the flat names of all fields, and the words of the kinds that have them."""
        found: dict[str, list[str]] = {}
        for word in self.kinds:
            for name in self.fields_of(word):
                found.setdefault(name, []).append(word)
        return found

    def fields_of(self, word: str) -> dict[str, str]:
        """Return the fields of a kind by their flat names."""
        kind = self.kinds[word]
        names = [each.name for each in fields(kind)] if is_dataclass(kind) else []
        apart = (self.word, *self.without, *self.fixed.get(word, ()))
        return {self.names.get(name, name): name for name in names if name not in apart}

    def value(self, train: Train, word: str | None, given: Mapping[str, Any]) -> Any:
        """Return the argument's value from its word and from fields by their flat names.

        Raises
        ------
        ValueError
            If the word is unknown, or a field is for other words only.
        """
        chosen = word if word is not None else default_word(train, self)
        if chosen not in self.kinds:
            known = ", ".join(map(repr, self.kinds))
            raise ValueError(f"{self.argument} must be one of {known}, got {chosen!r}")
        known_fields = self.fields_of(chosen)
        for name in given:
            if name not in known_fields:
                of = " or ".join(map(repr, self.flat()[name]))
                raise ValueError(f"{name} is for {self.argument} {of}, not {chosen!r}")
        kind = self.kinds[chosen]
        if kind is None or not given:
            return chosen
        own = dict(self.fixed.get(chosen, {})) | ({self.word: chosen} if self.word else {})
        return kind(**own, **{known_fields[name]: value for name, value in given.items()})


OPTIMIZER = Group("optimizer", {"sgd": SGD, "rmsprop": RMSprop, "adam": Adam})
HIDDEN = Group("hidden", {"trug": TruGUnits, "bernoulli": None})
VISIBLE = Group(
    "visible",
    {"bernoulli": BernoulliUnits, "gaussian": GaussianUnits},
    {
        "precision": "visible_precision",
        "learn_precision": "learn_visible_precision",
        "precision_rate": "visible_precision_rate",
    },
)
MONITOR = Group("monitor", {"": Monitor})
START = {name: f"start_{name}" for name in ("scale", "order", "ridge")}
GROUPS: dict[Train, tuple[Group, ...]] = {
    train_rbm: (
        Group(
            "sampler", {"pcd": PCD, "cd": CD, "pt": ParallelTempering, "ptt": TrajectoryTempering}
        ),
        *(OPTIMIZER, HIDDEN, MONITOR),
        replace(
            VISIBLE,
            kinds=dict(VISIBLE.kinds)
            | {"spin": SpinUnits, "categorical": CategoricalUnits}
            | {"truncated": TruncatedUnits, "relu": TruncatedUnits},
            fixed={"relu": {"truncation": "relu"}},
            names=dict(VISIBLE.names) | {"truncation": "visible_truncation"},
        ),
        Group("start", {"": RandomWeights}, START),
    ),
    train_trbm: (
        Group("sampler", {"": SequenceCD}),
        *(OPTIMIZER, HIDDEN, MONITOR),
        replace(VISIBLE, without=("soft", "missing")),
        Group("start", {"": LinearStart}, START),
    ),
    train_tggm: (
        Group("objective", {"ml": MeanField, "moments": None, "bp": None, "probit": None}),
        Group(
            "noise",
            {"shared": Noise, "separate": Noise, "by_input": Noise},
            {"learn": "learn_noise", "variance": "noise_variance"},
            word="kind",
        ),
        replace(OPTIMIZER, without=("average", *PENALTIES[1:])),
        MONITOR,
        Group("validation", {"": HoldOut}, {"fraction": "validation"}),
        Group("learning_rate", {"": RateSearch}, {"rates": "search"}, itself=True),
    ),
}


def choices(train: Train) -> tuple[str, ...]:
    """Return the flat names of all choices of a training."""
    groups = {group.argument: group for group in GROUPS[train]}
    found = [name for name in inspect.signature(train).parameters if name not in APART]
    plain = [
        name
        for name in found
        if name not in groups or groups[name].itself or "" not in groups[name].kinds
    ]
    return (*plain, *dict.fromkeys(name for group in groups.values() for name in group.flat()))


def arguments_of(train: Train, flat: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keyword arguments of a training that flat choices stand for.

    Lists, which files have, become tuples; a mapping under ``truncation`` becomes a Truncation,
    one under a penalty has rates of matrices.

    Raises
    ------
    TypeError, ValueError
        Naming the choice: if it has no effect beside the others, or is out of bounds.
    """
    rest = {name: _plain(name, value) for name, value in flat.items()}
    found: dict[str, Any] = {}
    for group in GROUPS[train]:
        given = {name: rest.pop(name) for name in group.flat() if name in rest}
        word = None if "" in group.kinds else rest.pop(group.argument, None)
        if group is MONITOR and given.get("score") == NONE:
            if len(given) > 1:
                raise ValueError(f"{[*given][-1]} has no effect without scores")
            found[group.argument] = None
        elif given and group.argument in rest:
            raise ValueError(f"{group.argument} has no effect beside {[*given][0]}")
        elif given or word is not None:
            found[group.argument] = group.value(train, word, given)
    return found | rest


def watched(settings: Mapping[str, Any], validation: Any) -> Any:
    """Return validation data, or None where nothing is scored and it would have no effect."""
    return validation if settings.get("monitor", "auto") is not None else None


def default_word(train: Train, group: Group) -> str:
    """Return the word of an argument's default."""
    default = inspect.signature(train).parameters[group.argument].default
    if default is None and "" not in group.kinds:
        return next(iter(group.kinds))  # the usual one, where nothing is gone on from
    if isinstance(default, str):
        return default if default in group.kinds else ""
    return next((word for word, kind in group.kinds.items() if kind is type(default)), "")


def _plain(name: str, value: Any) -> Any:
    if name == "truncation" and isinstance(value, dict):
        return Truncation(**value)
    if isinstance(value, dict) and name in PENALTIES:
        return {matrix: _plain("", rate) for matrix, rate in value.items()}
    if isinstance(value, list):
        return tuple(_plain("", each) for each in value)
    return value
