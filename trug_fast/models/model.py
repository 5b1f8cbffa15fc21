"""The parameters of a model, written once: names, checks, frozen copies, files, repr."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from trug_fast._common import checks, files, frames
from trug_fast._common.checks import FloatArray

from .scaling import Scaling

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**how: Any) -> Any:
        """Return what leaves a function as it is; type checkers have their own."""
        return lambda function: function


Self = TypeVar("Self", bound="Model")
Held = TypeVar("Held")
Taken = TypeVar("Taken")

SCALING = {"mean": "scaling_mean", "deviation": "scaling_deviation"}  # its arrays in files
COLUMNS, LETTERS = "columns", "letters"  # names in files


class Field(NamedTuple):
    """One parameter: its name, and what it may be.

    shape : names of the model's sizes; two make a matrix, one a vector, none a number; three
        that many matrices, of sizes that matrices have or properties say
    infinite : whether entries may be infinite
    positive : whether all must be above 0
    optional : whether it may be left out, by the constructor and in files
    """

    name: str
    shape: tuple[str, ...]
    infinite: bool = False
    positive: bool = False
    optional: bool = False


class FieldType(Generic[Held, Taken]):
    """The type of a field, to type checkers: what models have, and what constructors take."""

    def __get__(self, model: Any, owner: Any = None) -> Held: ...  # type: ignore[empty-body]

    def __set__(self, model: Any, value: Taken) -> None: ...


Parameter = FieldType[FloatArray, ArrayLike]
OptionalParameter = FieldType[FloatArray | None, ArrayLike | None]
Number = FieldType[float, ArrayLike | None]


def parameter(
    *shape: str, default: Any = dataclasses.MISSING, kw_only: bool = False, **what: Any
) -> Any:
    """Declare a parameter, one that may be left out by ``default=None``.

    What it may be is written in :class:`Field`.
    """
    metadata = {"shape": shape, "optional": default is None, **what}
    return dataclasses.field(default=default, kw_only=kw_only, metadata=metadata)


@dataclass_transform(eq_default=False, field_specifiers=(parameter, dataclasses.field))
def model(cls: type[Self]) -> type[Self]:
    """Give a class the constructor, the fields and the names that its declarations stand for."""
    made: Any = dataclasses.dataclass(eq=False, repr=False)(cls)
    for each in dataclasses.fields(made):  # in signatures, what these stand for
        given = "ArrayLike" if each.default is dataclasses.MISSING else "ArrayLike | None"
        made.__init__.__annotations__[each.name] = given if each.metadata else "Any"
    declared = [each for each in dataclasses.fields(made) if each.metadata]
    made.fields = tuple(Field(each.name, **each.metadata) for each in declared)
    made.names = tuple(field.name for field in made.fields if not field.optional)
    return cls


class Model:
    """A value made of declared arrays: copies of what was given, not writable.

    The first field is a matrix.  If it is float32 all of them are, else float64; a size is what
    the first matrix says that has it.
    """

    fields: ClassVar[tuple[Field, ...]]  # in the order of the constructor
    shown: ClassVar[tuple[str, ...]]  # attributes that tell models apart in print
    names: tuple[str, ...]  # of the parameters that a model has; of a class, those all have
    scaling: Scaling | None = None  # how data become the numbers of the model, if it is known
    columns: tuple[str, ...] | None = None  # names of inputs or visible units, if they are known
    letters: str | None = None  # of the states of categorical units, if they are known
    counted: ClassVar[str]  # the attribute that says how many columns data have
    kinds_in_files: ClassVar[tuple[str, ...]] = ()  # arrays that say of which kind units are

    def __post_init__(self) -> None:
        """Check and copy the values of all fields."""
        first = self.fields[0].name
        single = checks.numbers(first, getattr(self, first)).dtype == np.float32
        self._dtype = np.dtype(np.float32 if single else np.float64)
        self._sizes: dict[str, int] = {}
        for field in sorted(self.fields, key=lambda field: abs(len(field.shape) - 2)):
            value = getattr(self, field.name)
            if value is None and field.optional:
                value = self._default(field.name)
            left_out = value is None and field.optional
            setattr(self, field.name, None if left_out else self._checked(field, value))
        self.names = tuple(f.name for f in self.fields if getattr(self, f.name) is not None)

    def _default(self, name: str) -> Any:
        """Return what stands for a parameter left out; those of larger shape are there already."""
        return None

    def _checked(self, field: Field, value: Any) -> FloatArray | float:
        if len(field.shape) == 2:
            array: FloatArray = self._matrix(field, value)
        elif len(field.shape) == 3:
            array = self._matrices(field, value)
        else:
            length = self._sizes[field.shape[0]] if field.shape else 1
            array = checks.vector(field.name, value, length, self._dtype, infinite=field.infinite)
        if field.positive:
            checks.positive(field.name, array)
        if not field.shape:
            return float(array[0])
        array.flags.writeable = False
        return array

    def _matrix(self, field: Field, value: Any) -> FloatArray:
        rows, columns = (self._sizes.get(size) for size in field.shape)
        array = checks.matrix(field.name, value, columns if rows is None else None)
        if rows is not None and array.shape != (rows, columns):
            raise ValueError(f"{field.name} must have shape {(rows, columns)}, got {array.shape}")
        self._sizes |= zip(field.shape, array.shape, strict=True)
        return np.array(checks.cast(field.name, array, self._dtype), order="C")

    def _matrices(self, field: Field, value: Any) -> FloatArray:
        shape = tuple(self._sizes.get(size) or getattr(self, size) for size in field.shape)
        array = checks.numbers(field.name, value)
        if array.shape != shape:
            raise ValueError(f"{field.name} must have shape {shape}, got {array.shape}")
        if not np.isfinite(array).all():
            raise ValueError(f"{field.name} must be finite")
        return np.array(checks.cast(field.name, array, self._dtype), order="C")

    def _kinds_to_file(self) -> dict[str, Any]:
        """Return arrays that say of which kind units are, where the parameters do not tell."""
        return {}

    @classmethod
    def _kinds_of_file(cls, arrays: dict[str, Any]) -> dict[str, Any]:
        """Take such arrays out of those of a file; return what the constructor takes for them."""
        return {}

    @property
    def dtype(self) -> np.dtype[Any]:
        """Float type of the parameters and of everything computed or drawn from them."""
        return self._dtype

    def arrays(self) -> dict[str, Any]:
        """Return the parameters by their names, sharing memory."""
        return {name: getattr(self, name) for name in self.names}

    def __repr__(self) -> str:
        """Return the class, its sizes, its kind of visible units and its float type."""
        shown = {name: getattr(self, name) for name in self._shown()}
        words = [f"{name}={value!r}" for name, value in shown.items() if value is not None]
        return f"{type(self).__name__}({', '.join(words)}, dtype={self.dtype})"

    def _shown(self) -> tuple[str, ...]:
        """Return the attributes that print names."""
        return self.shown

    def save(self, path: str | Path) -> None:
        """Write the model to ``path``, an ``.npz`` file that :meth:`load` reads back exactly.

        The file appears whole or not at all.
        """
        arrays = {name: np.asarray(value) for name, value in self.arrays().items()}
        if self.scaling is not None:
            arrays |= {own: getattr(self.scaling, name) for name, own in SCALING.items()}
        if self.columns is not None:
            arrays[COLUMNS] = np.array(self.columns)
        if self.letters is not None:
            arrays[LETTERS] = np.array(self.letters)
        arrays |= self._kinds_to_file()
        files.write(path, type(self).__name__, arrays)

    @classmethod
    def load(cls: type[Self], path: str | Path) -> Self:
        """Read a model that :meth:`save` wrote.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            If the file is damaged, of another version, or holds another kind of model.
        """
        optional = tuple(field.name for field in cls.fields if field.optional)
        arrays: dict[str, Any] = dict.fromkeys(optional)
        more = (*SCALING.values(), COLUMNS, LETTERS, *cls.kinds_in_files)
        found = files.read(path, cls.__name__, cls.names, (*optional, *more))
        beside = {name: found.pop(name) for name in more[:4] if name in found}
        # Files of temporal models once held an empty array for what was left out.
        arrays |= {k: v for k, v in found.items() if v.size or k not in optional}
        with files.building_from(path):
            kinds = cls._kinds_of_file(arrays)
            model = cls(**arrays, **kinds)
            if COLUMNS in beside:
                model = model.with_columns(beside.pop(COLUMNS).tolist())
            return model._reminded(beside) if beside else model

    def _reminded(self: Self, found: dict[str, Any]) -> Self:
        """Return the same model with what a file holds beside its parameters and names."""
        raise ValueError(f"a {type(self).__name__} has no {', '.join(found)}")

    def with_columns(self: Self, columns: Sequence[str] | None) -> Self:
        """Return the same model, which remembers what the columns of its data are called.

        They are in its file and, as ``columns``, in the model that :meth:`load` returns.
        In whatever order the columns of a frame or of a table are, methods and ``trug-fast`` find
        them by these names; ``trug-fast`` writes them over samples.

        Parameters
        ----------
        columns : sequence of str, or None
            A name for each input or visible unit, all different.

        Raises
        ------
        TypeError, ValueError
            If there are more or less, or some are the same or no words.

        Examples
        --------
        >>> import trug_fast as tf
        >>> model = tf.BernoulliRBM([[1.0], [-1.0]], 0.0, 0.0).with_columns(["rain", "sun"])
        >>> model.columns
        ('rain', 'sun')
        """
        names = None
        if columns is not None:
            if isinstance(columns, str) or not all(isinstance(name, str) for name in columns):
                raise TypeError(f"columns must be a sequence of words, got {columns!r}")
            names, width = tuple(columns), getattr(self, self.counted)
            if len(names) != width or len(set(names)) < width:
                raise ValueError(
                    f"columns must be {width} different names, as the model has so many "
                    f"{self.counted}, got {len(set(names))}"
                )
        other = copy.copy(self)
        other.columns = names
        return other

    def by_name(self, name: str, value: Any) -> Any:
        """Return the model's own columns of a frame (or of several), all else as it is."""
        return frames.arranged(name, value, self.columns)
