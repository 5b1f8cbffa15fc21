"""What a fit prints: three lines, whatever the length of its history."""

import re

import numpy as np
import pytest

import trug_fast as tf
from tests.support.models import model_of
from tests.support.regressions import regression
from trug_fast.training.diagnosis import noted, tell

RBM = "TruGRBM(n_visible=5, n_hidden=4, visible='bernoulli', dtype=float64)"
HISTORY = {
    "epoch": np.arange(1.0, 5.0),
    "seconds": np.array([0.5, 1.0, 1.5, 2.0123]),
    "upper_mean": np.ones(4),
    "score": np.array([-30.0, np.nan, -28.0, -27.123456]),
    "score_error": np.array([0.1, np.nan, 0.1, 0.0456]),
    "validation_score": np.array([-31.0, np.nan, -29.0, np.nan]),
}


def test_a_fit_is_three_lines():
    fit = tf.training.RBMFit(model_of("mixed"), HISTORY, False, updates=1234567)
    expected = (
        f"RBMFit of {RBM}\n"
        "4 epochs, 1,234,567 updates, 2.01 s\n"
        "score -27.12 +- 0.046, validation_score -29 (epoch 3); no warnings"
    )
    assert repr(fit) == str(fit) == expected


def test_a_fit_tells_of_interrupts_and_warnings():
    history = {name: values[:1] for name, values in HISTORY.items() if name in ("epoch", "seconds")}
    fit = tf.training.TRBMFit(model_of("mixed"), history, True, 1, ("one",))
    expected = f"TRBMFit of {RBM}\n1 epoch, 1 update, 0.5 s, interrupted\nno scores; 1 warning"
    assert repr(fit) == expected
    fit = tf.training.TRBMFit(model_of("mixed"), {}, True, 3, ("one", "two"))
    assert repr(fit).endswith("\n0 epochs, 3 updates, interrupted\nno scores; 2 warnings")


def regressions(*lengths):
    for number, length in enumerate(lengths):
        history = {name: values[:length] for name, values in HISTORY.items() if "sc" not in name}
        history["validation_rmse"] = 0.5 + np.arange(float(length))
        model = regression("mixed", seed=number)
        yield tf.training.TGGMFit(model, history, False, 0.01, 2, 10 * length)


def test_regressions_and_ensembles():
    fits = tuple(regressions(4, 4))
    expected = (
        "TGGMFit of TruGTGGM(n_inputs=3, n_hidden=5, n_outputs=2, dtype=float64)\n"
        "4 epochs, 40 updates, 2.01 s\n"
        "validation_rmse 3.5; no warnings"
    )
    assert repr(fits[0]) == expected
    model = tf.TGGMEnsemble(fit.model for fit in fits)
    expected = (
        "EnsembleFit of TGGMEnsemble(n_models=2, n_inputs=3, n_outputs=2, dtype=float64)\n"
        "4 epochs each, 80 updates, 4.02 s\n"
        "held_back_log_likelihood -3.123, held_back_rmse 2; no warnings"
    )
    assert repr(tf.training.EnsembleFit(model, fits, False, -3.12345, 2.0)) == expected
    fit = tf.training.EnsembleFit(model, tuple(regressions(1, 3)), True, warnings=("one",))
    assert repr(fit).split("\n")[1:] == [
        "1 to 3 epochs each, 40 updates, 2 s, interrupted",
        "no scores; 1 warning",
    ]


def test_trainings_count_their_updates_and_keep_their_warnings():
    rows = (np.arange(60).reshape(12, 5) % 3 > 0).astype(float)
    how = {"epochs": 5, "progress": False, "rng": 0}
    with pytest.warns(tf.training.TrainingWarning) as seen:
        fit = tf.train_rbm(rows, 2, batch_size=5, learning_rate=1e-9, **how)
    assert fit.warnings == (str(seen[0].message),) and len(seen) == 1
    assert fit.updates == 15
    pattern = (
        r"RBMFit of TruGRBM\(n_visible=5, n_hidden=2, visible='bernoulli', dtype=float32\)\n"
        r"5 epochs, 15 updates, [\d.e-]+ s\nscore -[\d.]+; 1 warning"
    )
    assert re.fullmatch(pattern, repr(fit))
    assert seen[0].filename == __file__


def test_an_interrupt_is_noted():
    def interrupt(event):
        raise KeyboardInterrupt

    how = {"progress": False, "rng": 0, "callbacks": [interrupt]}
    with pytest.warns(UserWarning, match="interrupted"):
        fit = tf.train_trbm(np.arange(48).reshape(3, 4, 4) % 3 / 2, 3, epochs=5, **how)
    assert fit.warnings == ("training was interrupted; returning the fit so far",)
    assert fit.updates == 1 and fit.interrupted


def test_an_ensemble_says_what_is_said_of_its_models():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    how = {"epochs": 6, "learning_rate": 1e-9, "validation": None, "progress": False, "rng": 0}
    with pytest.warns(tf.training.TrainingWarning, match="model 1 of 2: ") as seen:
        fit = tf.train_ensemble(X, y, 2, 3, batch_size=10, **how)
    assert fit.warnings == (str(seen[0].message),)
    assert [len(own.warnings) for own in fit.fits] == [1, 1]
    assert fit.warnings[0].startswith(f"model 1 of 2: {fit.fits[0].warnings[0]}")
    assert fit.updates == 48 and [own.updates for own in fit.fits] == [24, 24]
    with pytest.warns(tf.training.TrainingWarning) as seen:
        alone = tf.train_tggm(X, y, 3, batch_size=10, **how)
    assert alone.warnings == (str(seen[0].message),) and alone.updates == 24


@pytest.mark.filterwarnings("ignore:first|second|third")
def test_notes_are_of_the_training_within():
    tell("first", stacklevel=1)  # nobody notes it
    with noted() as outer:
        tell("second", stacklevel=1)
        with noted() as inner:
            tell("third", stacklevel=1)
    assert (outer, inner) == (["second"], ["third"])
