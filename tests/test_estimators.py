"""The estimators as scikit-learn's users meet them."""

import pickle

import numba
import numpy as np
import pytest

pytest.importorskip("sklearn")
from sklearn.base import clone
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import trug_fast as tf
from trug_fast.estimators import RBMTransformer, TGGMRegressor
from trug_fast.evaluation.exact import binary_states as states_of


@pytest.fixture(autouse=True)
def one_thread():
    """Models this small gain nothing from a second thread, and lose beside other processes."""
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    yield
    numba.set_num_threads(before)


YACHT = tf.datasets.load_yacht().split(0)
DIGITS = tf.datasets.load_digits()

# Not run for want of other software or of a setting, which has nothing to do with the estimators.
ELSEWHERE = ("pandas is not installed", "SCIPY_ARRAY_API is not set")


@pytest.mark.filterwarnings("ignore")  # some checks warn about themselves
@pytest.mark.parametrize(
    "estimator", [TGGMRegressor(epochs=100), RBMTransformer()], ids=lambda e: type(e).__name__
)
def test_scikit_learns_own_checks(estimator):
    try:
        results = check_estimator(estimator, on_skip=None)
    except TypeError:  # before scikit-learn 1.6, which raises at the first failure
        check_estimator(estimator)
        return
    assert len(results) > 40
    for result in results:
        skipped = result["status"] == "skipped"
        assert result["status"] == "passed" or skipped, result
        assert not skipped or str(result["exception"]).startswith(ELSEWHERE), result


class TestRegressor:
    def test_is_train_tggm(self):
        options = dict(n_hidden=10, epochs=20, objective="moments", noise="separate")
        regressor = TGGMRegressor(**options, random_state=3).fit(YACHT.X_train, YACHT.y_train)
        seed = np.random.RandomState(3).randint(2**31 - 1)
        fit = tf.train_tggm(YACHT.X_train, YACHT.y_train, **options, rng=seed, progress=False)
        np.testing.assert_array_equal(
            regressor.predict(YACHT.X_test), fit.model.predict(YACHT.X_test)
        )
        assert regressor.n_iter_ == fit.best_epoch
        assert regressor.learning_rate_ == fit.learning_rate

    def test_gives_deviations(self):
        regressor = TGGMRegressor(20, epochs=100, random_state=0).fit(YACHT.X_train, YACHT.y_train)
        mean, std = regressor.predict(YACHT.X_test, return_std=True)
        assert mean.shape == std.shape == (31,) and (std > 0).all()
        assert regressor.score(YACHT.X_test, YACHT.y_test) > 0.95

    def test_keeps_the_shape_of_the_targets(self):
        y = np.column_stack([YACHT.y_train, YACHT.y_train])
        for targets, shape in ((y[:, :1], (31, 1)), (y, (31, 2)), (y[:, 0], (31,))):
            regressor = TGGMRegressor(5, epochs=2, random_state=0).fit(YACHT.X_train, targets)
            mean, std = regressor.predict(YACHT.X_test, return_std=True)
            assert mean.shape == std.shape == shape

    @pytest.mark.filterwarnings("ignore::trug_fast.TrainingWarning")
    def test_works_in_pipelines_and_searches(self):
        pipeline = make_pipeline(StandardScaler(), TGGMRegressor(5, epochs=10, random_state=0))
        grid = {
            "tggmregressor__n_hidden": [1, 10],
            "tggmregressor__truncation": ["relu", tf.Truncation(-1, 1, learn="shared")],
        }
        search = GridSearchCV(pipeline, grid, cv=2).fit(YACHT.X_train, YACHT.y_train)
        assert search.best_params_["tggmregressor__n_hidden"] == 10
        again = pickle.loads(pickle.dumps(search))
        np.testing.assert_array_equal(again.predict(YACHT.X_test), search.predict(YACHT.X_test))
        mean, std = search.best_estimator_.predict(YACHT.X_test, return_std=True)
        assert (std > 0).all()

    def test_parameters_are_those_of_training(self):
        import inspect

        ours = set(inspect.signature(TGGMRegressor.__init__).parameters) - {"self", "random_state"}
        theirs = set(inspect.signature(tf.train_tggm).parameters) - {"X", "y", "rng", "progress"}
        assert ours == theirs - {"start", "callbacks", "checkpoint"}

    def test_values_are_parameters(self):
        chosen = dict(objective=tf.MeanField(n_cycles=3), optimizer=tf.SGD(momentum=0.5))
        regressor = clone(TGGMRegressor(5, epochs=3, random_state=0, **chosen))
        assert {name: regressor.get_params()[name] for name in chosen} == chosen
        assert regressor.fit(YACHT.X_train, YACHT.y_train).n_iter_ <= 3


class TestTransformer:
    def test_features_serve_a_linear_classifier(self):
        X, labels = DIGITS.train > 0.5, DIGITS.train_labels
        pipeline = make_pipeline(RBMTransformer(50, n_iter=5, random_state=0), RidgeClassifier())
        pipeline.fit(X, labels)
        assert pipeline.score(DIGITS.test > 0.5, DIGITS.test_labels) > 0.6  # chance: 0.1
        assert pipeline[:-1].get_feature_names_out()[0] == "rbmtransformer0"

    def test_scores_are_the_exact_pseudo_likelihood(self):
        rng = np.random.default_rng(0)
        X = (rng.random((200, 6)) < 0.4).astype(float)
        transformer = RBMTransformer(5, n_iter=3, random_state=0).fit(X)
        states = states_of(6)
        p = np.exp(-transformer.model_.free_energy(states))
        code = X.astype(int) @ (1 << np.arange(6))
        expected = np.zeros(200)
        for i in range(6):
            expected += np.log(p[code] / (p[code] + p[code ^ (1 << i)]))
        np.testing.assert_allclose(transformer.score_samples(X), expected, atol=1e-10)

    def test_data_in_the_unit_interval_is_used_as_it_is(self):
        X = 0.2 + 0.5 * np.random.default_rng(0).random((100, 8))
        inside = RBMTransformer(5, n_iter=1, random_state=0).fit(X)
        moments = inside.model_.hidden_moments(X)
        np.testing.assert_array_equal(inside.transform(X), moments.mean.astype(X.dtype))
        scaled = RBMTransformer(5, n_iter=1, random_state=0).fit(3 * X - 1)
        full = RBMTransformer(5, n_iter=1, random_state=0).fit((X - X.min(0)) / np.ptp(X, axis=0))
        np.testing.assert_allclose(
            scaled.transform(3 * X - 1),
            full.transform((X - X.min(0)) / np.ptp(X, axis=0)),
            atol=1e-4,
        )

    @pytest.mark.filterwarnings("ignore::trug_fast.TrainingWarning")
    def test_gibbs_steps_are_new_draws_and_repeat_after_a_refit(self):
        X = (DIGITS.train > 0.5).astype(float)
        transformer = RBMTransformer(10, n_iter=2, random_state=0).fit(X)
        first, second = transformer.gibbs(X), transformer.gibbs(X)
        assert set(np.unique(first)) == {0, 1} and (first != second).any()
        again = clone(transformer).fit(X).gibbs(X)
        np.testing.assert_array_equal(first, again)
        # After a step the pixels' means are still near those of the data.
        assert abs(first.mean(axis=0) - X.mean(axis=0)).mean() < 0.15
