"""One function reads the model of any file, and says what else a file holds."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.models import model_of
from tests.support.regressions import regression
from tests.support.temporal import temporal_model
from trug_fast._common import files

MODELS = {
    "TruGRBM": lambda: model_of("mixed", np.float32),
    "BernoulliRBM": lambda: model_of("bernoulli"),
    "TruGTRBM": lambda: temporal_model("mixed"),
    "BernoulliTRBM": lambda: temporal_model("bernoulli"),
    "TruGTGGM": lambda: regression("mixed"),
    "TGGMEnsemble": lambda: tf.TGGMEnsemble([regression("mixed", seed=seed) for seed in (0, 1)]),
}
NAMES = " or ".join(MODELS)


def arrays_of(path):
    return {name: values.tobytes() for name, values in np.load(path).items()}


@pytest.mark.parametrize("kind", MODELS)
def test_any_model_is_read(kind, tmp_path):
    model = MODELS[kind]()
    model.save(tmp_path / "model.npz")
    again = tf.load(tmp_path / "model.npz")
    assert type(again) is type(model) is getattr(tf, kind) and repr(again) == repr(model)
    again.save(tmp_path / "again.npz")
    assert arrays_of(tmp_path / "again.npz") == arrays_of(tmp_path / "model.npz")
    assert type(tf.load(str(tmp_path / "model.npz"), tf.TruGRBM, type(model))) is type(model)


def said(path, *kinds):
    with pytest.raises(ValueError) as error:
        tf.load(path, *kinds)
    return str(error.value).replace(str(path), "PATH")


def test_other_files_are_told_apart(tmp_path):
    path = tmp_path / "a.npz"
    model_of("mixed").save(path)
    expected = "PATH holds a TruGRBM, expected a BernoulliRBM or TruGTGGM"
    assert said(path, tf.BernoulliRBM, tf.TruGTGGM) == expected
    files.write(path, "Zebra", {})
    assert said(path) == f"PATH holds a Zebra, expected a {NAMES}"
    ladder = tf.evaluation.Ladder(tf.BernoulliRBM(np.zeros((3, 2)), 0.0, 0.0), 2, 0)
    ladder.save(path)
    assert said(path) == (
        f"PATH holds a Ladder, expected a {NAMES}: tf.evaluation.Ladder.load reads it"
    )
    with pytest.raises(FileNotFoundError, match=r"no such file: .*none\.npz"):
        tf.load(tmp_path / "none.npz")
    with pytest.raises(TypeError, match="path must be"):
        tf.load(3)


def test_checkpoints_are_told_apart(tmp_path):
    path = tmp_path / "run.npz"
    how = {"checkpoint": path, "progress": False, "rng": 0}
    tf.train_rbm(np.eye(6), 3, epochs=1, **how)
    assert said(path).endswith(": it is the checkpoint of a training, which goes on from it")
    path.unlink()
    tf.log_partition(model_of("bernoulli"), n_chains=2, n_temperatures=3, **how)
    assert said(path).endswith(": it is the checkpoint of a log_partition, which goes on from it")


def test_files_of_other_programs_and_versions(tmp_path):
    path = tmp_path / "a.npz"
    path.write_bytes(b"no archive")
    assert said(path).startswith("PATH is no trug_fast file or is damaged: ")
    np.savez(path, a=1)
    assert said(path) == "PATH is no trug_fast file: it does not say what it holds"
    np.savez(path, format_version=3, kind="TruGRBM")
    expected = "PATH has format version 3; this version of trug_fast reads 2"
    assert said(path) == f"{expected}, and a newer one wrote the file"
    np.savez(path, format_version=1, kind="TruGRBM")
    assert said(path) == expected.replace("version 3", "version 1")
