"""What all models do with their parameters: checks, copies, files, print."""

import inspect

import numpy as np
import pytest

import trug_fast as tf
from tests.support.models import model_of
from tests.support.regressions import regression
from tests.support.temporal import temporal_model
from trug_fast._common import files

MODELS = {
    tf.TruGRBM: lambda: model_of("mixed"),
    tf.BernoulliRBM: lambda: model_of("bernoulli"),
    tf.TruGTRBM: lambda: temporal_model("mixed", dtype=np.float32),
    tf.BernoulliTRBM: lambda: temporal_model("bernoulli"),
    tf.TruGTGGM: lambda: regression("mixed"),
}


@pytest.mark.parametrize("kind", MODELS)
def test_fields_are_the_arguments_in_their_order(kind):
    parameters = [name for name in inspect.signature(kind).parameters if name != "visible"]
    assert [field.name for field in kind.fields] == parameters
    model = MODELS[kind]()
    again = kind(**model.arrays())
    assert again.names == model.names and set(kind.names) <= set(model.names)
    for name, value in model.arrays().items():
        assert np.array_equal(getattr(again, name), value)
        assert np.asarray(value).dtype in (model.dtype, float)


def test_print_names_sizes_visible_units_and_float_type():
    found = [repr(make()) for make in MODELS.values()]
    assert found == [
        "TruGRBM(n_visible=5, n_hidden=4, visible='bernoulli', dtype=float64)",
        "BernoulliRBM(n_visible=5, n_hidden=4, visible='bernoulli', dtype=float64)",
        "TruGTRBM(n_visible=4, n_hidden=3, visible='bernoulli', dtype=float32)",
        "BernoulliTRBM(n_visible=4, n_hidden=3, visible='bernoulli', dtype=float64)",
        "TruGTGGM(n_inputs=3, n_hidden=5, n_outputs=2, dtype=float64)",
    ]


@pytest.mark.parametrize("kind", MODELS)
def test_former_files_are_read(kind, tmp_path):
    # Temporal models without visible precisions held an empty array in their place.
    model, path = MODELS[kind](), tmp_path / "model.npz"
    arrays = {name: np.array(value) for name, value in model.arrays().items()}
    if kind in (tf.TruGTRBM, tf.BernoulliTRBM):
        arrays["visible_precision"] = np.empty(0, model.dtype)
    files.write(path, kind.__name__, arrays)
    again = kind.load(path)
    assert again.names == model.names and again.dtype == model.dtype
    for name, value in model.arrays().items():
        assert np.array_equal(getattr(again, name), value)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["mixed", "bernoulli"])
def test_files_return_the_same_model(kind, dtype, tmp_path):
    model = model_of(kind, dtype)
    model.save(tmp_path / "model.npz")
    again = type(model).load(tmp_path / "model.npz")
    for name in model.names:
        assert getattr(again, name).dtype == dtype
        assert np.array_equal(getattr(again, name), getattr(model, name))
    assert [p.name for p in tmp_path.iterdir()] == ["model.npz"]


def test_damaged_and_foreign_files_are_refused(tmp_path):
    path = tmp_path / "model.npz"
    model_of("mixed").save(path)
    with pytest.raises(ValueError, match=r"holds a TruGRBM, expected a BernoulliRBM"):
        tf.BernoulliRBM.load(path)
    whole = path.read_bytes()
    for cut in (0, 10, len(whole) // 2, len(whole) - 5):
        path.write_bytes(whole[:cut])
        with pytest.raises(ValueError, match=r"model\.npz is no trug_fast file or is damaged"):
            tf.TruGRBM.load(path)
    np.savez(path, a=1)
    with pytest.raises(ValueError, match="does not say what it holds"):
        tf.TruGRBM.load(path)
    np.savez(path, format_version=99, kind="TruGRBM")
    with pytest.raises(ValueError, match="format version 99"):
        tf.TruGRBM.load(path)
    files.write(path, "TruGRBM", {"weights": np.ones((2, 2))})
    with pytest.raises(ValueError, match="lacks visible_bias"):
        tf.TruGRBM.load(path)
    with pytest.raises(FileNotFoundError, match="no such file"):
        tf.TruGRBM.load(tmp_path / "none.npz")


def test_models_copy_and_freeze_their_arrays():
    weights = np.ones((3, 2))
    model = tf.TruGRBM(weights, 0.0, 0.0, 1.0, 0.0, 1.0)
    weights[:] = 5
    assert (model.weights == 1).all()
    with pytest.raises(ValueError, match="read-only"):
        model.weights[0, 0] = 2
    with pytest.raises(ValueError, match="read-only"):
        model.upper[0] = 2


def test_float32_and_integers_are_kept_or_raised():
    assert tf.TruGRBM(np.ones((3, 2), np.float32), 0, 0, 1, 0, 1).upper.dtype == np.float32
    assert tf.TruGRBM(np.ones((3, 2), int), 0, 0, 1, 0, 1).upper.dtype == np.float64
    assert tf.TruGRBM(np.ones((3, 2), np.float32), 0, 0, 1, 0, 1).free_energy(
        np.ones((4, 3))
    ).dtype == np.dtype(np.float64)


def test_names_of_columns_are_in_the_file(tmp_path):
    names = ["rain", "größe", "a, b"]
    model = tf.BernoulliRBM(np.zeros((3, 2)), 0.0, 0.0).with_columns(names)
    model.save(tmp_path / "a.npz")
    again = tf.BernoulliRBM.load(tmp_path / "a.npz")
    assert again.columns == tuple(names) and again.arrays().keys() == model.arrays().keys()
    assert again.with_columns(None).columns is None and model.columns == tuple(names)
    for wrong, error in (
        (["a", "b"], ValueError),
        (["a", "a", "b"], ValueError),
        ("abc", TypeError),
    ):
        with pytest.raises(error, match="columns must be"):
            model.with_columns(wrong)
    regression = tf.TruGTGGM([[1.0, 1.0]], 0.0, [[2.0]], 0.0, 0.2, 0.0, 1.0)
    assert regression.with_columns(["x", "y"]).columns == ("x", "y")
