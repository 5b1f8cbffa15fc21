"""Models in files of rbms: the same numbers there and back, in the layout that it reads."""

from itertools import product

import numpy as np
import pytest

import trug_fast as tf

h5py = pytest.importorskip("h5py")
RNG = np.random.default_rng(0)


def numbers(*shape):
    """Return parameters as a training of rbms has them."""
    return RNG.normal(size=shape).astype(np.float32)


def trained(path, kind, updates, *, group=True):
    """Write a file as rbms does, and return the parameters after each update."""
    found = {}
    with h5py.File(path, "w") as file:
        for k in updates:
            shape = (5,) if kind == "BBRBM" else (5, 4)
            own = found[k] = {
                "weight_matrix": numbers(*shape, 3),
                "vbias": numbers(*shape),
                "hbias": numbers(3),
            }
            for name, value in own.items():
                if group:
                    file[f"update_{k}/params/{name}"] = value
                file[f"update_{k}/{name}"] = value
            file[f"update_{k}/time"] = 1.5
            file[f"update_{k}/numpy_rng_arg0"] = "MT19937"
        if group:
            file["model_type"] = kind
        file["parallel_chains"] = np.zeros((7, 5), np.float32)
        file["hyperparameters/batch_size"] = 10
    return found


def same(model, own):
    """Tell whether a model has the parameters of a file, to the bit."""
    pairs = zip((model.weights, model.visible_bias, model.hidden_bias), own.values(), strict=True)
    return all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in pairs)


@pytest.mark.parametrize("group", [True, False])
def test_models_after_each_update(group, tmp_path):
    path = tmp_path / "RBM.h5"
    found = trained(path, "BBRBM", (100, 1, 20), group=group)
    assert tf.models.rbms_updates(path) == [1, 20, 100]
    for k, own in found.items():
        assert same(tf.models.load_rbms(path, k), own)
    model = tf.models.load_rbms(path)
    assert same(model, found[100])
    # The energy that rbms gives: -b'v - sum of log(1 + exp(c + v'W)).
    own = {name: value.astype(np.float64) for name, value in found[100].items()}
    for row in product([0, 1], repeat=5):
        net = own["hbias"] + np.array(row) @ own["weight_matrix"]
        energy = -own["vbias"] @ row - np.log1p(np.exp(net)).sum()
        assert abs(model.free_energy([row])[0] - energy) < 1e-12


def test_there_and_back(tmp_path):
    model = tf.BernoulliRBM(numbers(5, 3), numbers(5), numbers(3))
    chains = RNG.integers(0, 2, (6, 5))
    tf.models.save_rbms(tmp_path / "a.h5", model, update=30, chains=chains)
    again = tf.models.load_rbms(tmp_path / "a.h5")
    for name, value in model.arrays().items():
        np.testing.assert_array_equal(again.arrays()[name], value)
    assert again.dtype == np.float32
    with h5py.File(tmp_path / "a.h5") as file:
        assert file["model_type"][()].decode() == "BBRBM"
        assert file["parallel_chains"][()].tolist() == chains.tolist()
        assert set(file["update_30/params"]) == {"weight_matrix", "vbias", "hbias"}
        assert int(file["hyperparameters"]["batch_size"][()]) == 1
        assert float(np.array(file["update_30"]["time"]).item()) == 0
    double = tf.BernoulliRBM(model.weights.astype(np.float64), 0.1, 0.2)
    tf.models.save_rbms(tmp_path / "a.h5", double)
    assert tf.models.load_rbms(tmp_path / "a.h5").visible_bias[0] == 0.1
    assert [path.name for path in tmp_path.iterdir()] == ["a.h5"]


def test_sites_of_several_states(tmp_path):
    found = trained(tmp_path / "RBM.h5", "PBRBM", (1, 8))
    model = tf.models.load_rbms(tmp_path / "RBM.h5")
    assert same(model, found[8]) and model.visible == "categorical"
    own = {name: value.astype(np.float64) for name, value in found[8].items()}
    rows, sites = RNG.integers(0, 4, (10, 5)), np.arange(5)
    for row in rows:
        net = own["hbias"] + own["weight_matrix"][sites, row].sum(axis=0)
        energy = -own["vbias"][sites, row].sum() - np.log1p(np.exp(net)).sum()
        assert abs(model.free_energy([row])[0] - energy) < 1e-12
    tf.models.save_rbms(tmp_path / "b.h5", model, chains=rows)
    assert same(tf.models.load_rbms(tmp_path / "b.h5"), found[8])
    with h5py.File(tmp_path / "b.h5") as file:
        assert file["model_type"][()].decode() == "PBRBM"
        assert file["update_1/params/weight_matrix"].shape == (5, 4, 3)


def test_what_is_said_of_others(tmp_path):
    path = tmp_path / "RBM.h5"
    trained(path, "BBRBM", (1, 8))
    with pytest.raises(ValueError, match="has no update=5; it has 1, 8"):
        tf.models.load_rbms(path, 5)
    with pytest.raises(FileNotFoundError):
        tf.models.load_rbms(tmp_path / "none.h5")
    with h5py.File(path, "a") as file:
        del file["update_8/params/hbias"]
    with pytest.raises(ValueError, match="update_8 has no hbias"):
        tf.models.load_rbms(path)
    with h5py.File(path, "a") as file:
        file["update_8/params/hbias"] = np.full(3, np.nan)
    with pytest.raises(ValueError, match="is damaged: hidden_bias must not be NaN"):
        tf.models.load_rbms(path)
    with h5py.File(path, "a") as file:
        del file["model_type"]
        file["model_type"] = "GBRBM"
    with pytest.raises(ValueError, match="holds a GBRBM with weights of 2 axes, expected BBRBM"):
        tf.models.load_rbms(path, 1)
    with h5py.File(tmp_path / "data.h5", "w") as file:
        file["samples"] = np.eye(3)
    with pytest.raises(ValueError, match="is no file of rbms"):
        tf.models.rbms_updates(tmp_path / "data.h5")


def test_only_what_rbms_has_is_written(tmp_path):
    path = tmp_path / "a.h5"
    with pytest.raises(TypeError, match="model must be a BernoulliRBM, got TruGRBM"):
        tf.models.save_rbms(path, tf.TruGRBM(np.eye(2), 0, 0, 1, 0, 1))
    with pytest.raises(ValueError, match="rbms has no others, got gaussian"):
        tf.models.save_rbms(path, tf.BernoulliRBM(np.eye(2), 0, 0, visible_precision=1.0))
    with pytest.raises(ValueError, match="chains must"):
        tf.models.save_rbms(path, tf.BernoulliRBM(np.eye(2), 0, 0), chains=[[0, 2]])
    assert not list(tmp_path.iterdir())
