"""The estimators as scikit-learn's users meet them."""

import inspect
import pickle

import numba
import numpy as np
import pytest

pytest.importorskip("sklearn")
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import check_estimator

import trug_fast as tf
from tests.support.kinds import sequences_of_classes
from trug_fast.estimators import RBMTransformer, TGGMRegressor
from trug_fast.evaluation.exact import binary_states as states_of


@pytest.fixture(autouse=True)
def one_thread():
    """Models this small gain nothing from a second thread, and lose beside other processes."""
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    yield
    numba.set_num_threads(before)


OWN = {"n_models", "n_jobs", "warm_start", "verbose", "random_state"}  # scikit-learn's words
YACHT = tf.datasets.load_yacht().split(0)
DIGITS = tf.datasets.load_digits()

# Not run for want of other software or of a setting, which has nothing to do with the estimators.
ELSEWHERE = ("pandas is not installed", "SCIPY_ARRAY_API is not set")
# Rows of weight 0 are left out, but repeated rows come in other batches than weighted ones.
REPEATED = {
    f"check_sample_weight_equivalence_on_{kind}_data": "batches are drawn: equal on average only"
    for kind in ("dense", "sparse")
}


@pytest.mark.filterwarnings("ignore")  # some checks warn about themselves
@pytest.mark.parametrize(
    "estimator",
    [TGGMRegressor(epochs=100), RBMTransformer(), RBMTransformer(visible="gaussian", epochs=2)],
    ids=str,
)
def test_scikit_learns_own_checks(estimator):
    try:
        results = check_estimator(estimator, on_skip=None, expected_failed_checks=REPEATED)
    except TypeError:  # before scikit-learn 1.6, which raises at the first failure
        check_estimator(estimator)
        return
    assert len(results) > 40
    for result in results:
        skipped = result["status"] == "skipped"
        expected = result["status"] == "xfail" and result["check_name"] in REPEATED
        assert result["status"] == "passed" or skipped or expected, result
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

    def test_trains_ensembles_in_threads(self):
        X, y, X_test, _ = YACHT
        own = {"n_hidden": 8, "epochs": 20, "random_state": 0, "n_models": 3}
        found = TGGMRegressor(**own).fit(X, y)
        again = pickle.loads(pickle.dumps(clone(TGGMRegressor(**own, n_jobs=2)).fit(X, y)))
        seed = np.random.RandomState(0).randint(2**31 - 1)
        fit = tf.train_ensemble(X, y, 3, 8, epochs=20, rng=seed)
        expected = fit.model.predict(X_test, return_std=True)
        for one in (found, again):
            assert len(one.model_) == len(one.history_) == 3 and one.n_iter_ >= 1
            np.testing.assert_array_equal(one.predict(X_test, return_std=True), expected)
        ends = found.predict_interval(X_test, 0.8)
        np.testing.assert_allclose(ends, found.predict_quantiles(X_test, [0.1, 0.9]), rtol=1e-9)
        column = TGGMRegressor(**own | {"n_models": 1}).fit(X, y[:, None])
        assert column.predict_interval(X_test)[0].shape == (len(X_test), 1)
        assert column.predict_quantiles(X_test, [0.2, 0.3]).shape == (2, len(X_test), 1)
        with pytest.raises(ValueError, match="n_models=3 are trained anew"):
            found.partial_fit(X, y)
        with pytest.raises(ValueError, match="n_jobs=2 has no effect on one model"):
            TGGMRegressor(n_jobs=2).fit(X, y)

    def test_keeps_the_shape_of_the_targets(self):
        y = np.column_stack([YACHT.y_train, YACHT.y_train])
        for targets, shape in ((y[:, :1], (31, 1)), (y, (31, 2)), (y[:, 0], (31,))):
            regressor = TGGMRegressor(5, epochs=2, random_state=0).fit(YACHT.X_train, targets)
            mean, std = regressor.predict(YACHT.X_test, return_std=True)
            assert mean.shape == std.shape == shape

    @pytest.mark.filterwarnings("ignore::trug_fast.training.TrainingWarning")
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
        # `transform` is a method of estimators; a step of the pipeline does what it would.
        apart = {"start", "callbacks", "checkpoint", "rng", "progress", "monitor", "transform"}
        for estimator, train, data in (
            (TGGMRegressor, tf.train_tggm, {"X", "y", "sample_weight"}),
            (RBMTransformer, tf.train_rbm, {"X", "sample_weight", "validation"}),
        ):
            ours = set(inspect.signature(estimator).parameters) - OWN - {"monitor"}
            assert ours == set(inspect.signature(train).parameters) - data - apart

    def test_values_are_parameters(self):
        chosen = dict(
            objective=tf.training.MeanField(n_cycles=3), optimizer=tf.training.SGD(momentum=0.5)
        )
        regressor = clone(TGGMRegressor(5, epochs=3, random_state=0, **chosen))
        assert {name: regressor.get_params()[name] for name in chosen} == chosen
        assert regressor.fit(YACHT.X_train, YACHT.y_train).n_iter_ <= 3

    def test_weighted_rows_are_repeated_rows_without_draws_of_batches(self):
        # scikit-learn's own check, which the default cannot pass: rows are held back, in batches.
        check = getattr(estimator_checks, "check_sample_weight_equivalence_on_dense_data", None)
        if check is None:
            pytest.skip("of scikit-learn 1.7 and later")
        whole = {"batch_size": 1000, "validation": None, "monitor": None, "dtype": "float64"}
        with pytest.warns(tf.training.TrainingWarning):
            check("TGGMRegressor", TGGMRegressor(4, epochs=6, random_state=0, **whole))

    def test_learns_on_by_partial_fit(self):
        regressor = TGGMRegressor(10, learning_rate=0.01, random_state=0)
        X, y = YACHT.X_train, YACHT.y_train
        weights = np.random.default_rng(0).random(len(X))
        with pytest.raises(ValueError, match="above 0 for some row"):
            regressor.partial_fit(X, y, sample_weight=np.zeros(len(X)))
        first = regressor.partial_fit(X, y, sample_weight=weights).model_
        for _ in range(30):
            regressor.partial_fit(X, y, weights)
        assert regressor.n_iter_ == 1 and regressor.score(X, y, weights) > 0.9
        assert first.n_hidden == 10
        seed = np.random.RandomState(0).randint(2**31 - 1)
        own = {"learning_rate": 0.01, "epochs": 1, "validation": None, "monitor": None}
        fit = tf.train_tggm(X, y, 10, **own, sample_weight=weights, rng=seed, progress=False)
        np.testing.assert_array_equal(first.input_weights, fit.model.input_weights)


class TestTransformer:
    def test_weights_of_rows(self):
        X, weights = DIGITS.train[:300], np.random.default_rng(0).random(300)
        weights[::7] = 0
        own = {"epochs": 1, "random_state": 3}
        transformer = RBMTransformer(5, **own).fit(X, sample_weight=weights)
        seed = np.random.RandomState(3).randint(2**31 - 1)
        fit = tf.train_rbm(
            X,
            5,
            epochs=1,
            visible=tf.BernoulliUnits(soft=True),
            sample_weight=weights,
            monitor=None,
            rng=seed,
            progress=False,
        )
        np.testing.assert_array_equal(transformer.components_.T, fit.model.weights)
        for rows in (X, 20 * X, 20 * X - 3):
            ours = RBMTransformer(5, **own).fit(rows, sample_weight=weights)
            less = RBMTransformer(5, **own).fit(rows[weights > 0], None, weights[weights > 0])
            np.testing.assert_array_equal(ours.components_, less.components_)
        each = transformer.score_samples(X)
        expected = np.average(each, weights=weights)
        assert transformer.score(X, sample_weight=weights) == pytest.approx(expected)
        assert transformer.score(X) == pytest.approx(each.mean())
        real = RBMTransformer(5, visible="gaussian", **own)
        dense = real.fit(X, sample_weight=weights)._range
        np.testing.assert_allclose(real.fit(sparse.csr_matrix(X), None, weights)._range, dense)
        counts = np.repeat(X, 2 + (weights > 0.5), axis=0)
        found = real.fit(X, sample_weight=2 + (weights > 0.5))._range
        np.testing.assert_allclose(found, real.fit(counts)._range)
        again = transformer.partial_fit(X, sample_weight=weights).components_
        assert not np.array_equal(again, ours.components_)

    def test_features_serve_a_linear_classifier(self):
        X, labels = DIGITS.train > 0.5, DIGITS.train_labels
        pipeline = make_pipeline(RBMTransformer(50, epochs=5, random_state=0), RidgeClassifier())
        pipeline.fit(X, labels)
        assert pipeline.score(DIGITS.test > 0.5, DIGITS.test_labels) > 0.6  # chance: 0.1
        assert pipeline[:-1].get_feature_names_out()[0] == "rbmtransformer0"

    def test_scores_are_the_exact_pseudo_likelihood(self):
        rng = np.random.default_rng(0)
        X = (rng.random((200, 6)) < 0.4).astype(float)
        transformer = RBMTransformer(5, epochs=3, random_state=0).fit(X)
        states = states_of(6)
        p = np.exp(-transformer.model_.free_energy(states))
        code = X.astype(int) @ (1 << np.arange(6))
        expected = np.zeros(200)
        for i in range(6):
            expected += np.log(p[code] / (p[code] + p[code ^ (1 << i)]))
        np.testing.assert_allclose(transformer.score_samples(X), expected, atol=1e-10)

    def test_data_in_the_unit_interval_is_used_as_it_is(self):
        X = 0.2 + 0.5 * np.random.default_rng(0).random((100, 8))
        inside = RBMTransformer(5, epochs=1, random_state=0).fit(X)
        moments = inside.model_.hidden_moments(X)
        np.testing.assert_array_equal(inside.transform(X), moments.mean.astype(X.dtype))
        scaled = RBMTransformer(5, epochs=1, random_state=0).fit(3 * X - 1)
        full = RBMTransformer(5, epochs=1, random_state=0).fit((X - X.min(0)) / np.ptp(X, axis=0))
        np.testing.assert_allclose(
            scaled.transform(3 * X - 1),
            full.transform((X - X.min(0)) / np.ptp(X, axis=0)),
            atol=1e-4,
        )

    @pytest.mark.filterwarnings("ignore::trug_fast.training.TrainingWarning")
    def test_gibbs_steps_are_new_draws_and_repeat_after_a_refit(self):
        X = (DIGITS.train > 0.5).astype(float)
        transformer = RBMTransformer(10, epochs=2, random_state=0).fit(X)
        first, second = transformer.gibbs(X), transformer.gibbs(X)
        assert set(np.unique(first)) == {0, 1} and (first != second).any()
        again = clone(transformer).fit(X).gibbs(X)
        np.testing.assert_array_equal(first, again)
        # After a step the pixels' means are still near those of the data.
        assert abs(first.mean(axis=0) - X.mean(axis=0)).mean() < 0.15


@pytest.mark.filterwarnings("ignore::trug_fast.training.TrainingWarning")
class TestGoingOn:
    X = (DIGITS.train > 0.5).astype(np.float32)

    def test_a_warm_start_goes_on_from_the_model(self):
        transformer = RBMTransformer(10, epochs=2, warm_start=True, random_state=0).fit(self.X)
        first = transformer.model_
        transformer.fit(self.X)
        random = np.random.RandomState(0)
        _, seed = (random.randint(2**31 - 1) for _ in range(2))
        options = dict(epochs=2, monitor=None, start=first, visible=tf.BernoulliUnits(soft=True))
        expected = tf.train_rbm(self.X, **options, rng=seed).model
        np.testing.assert_array_equal(transformer.components_, expected.weights.T)
        with pytest.raises(ValueError, match="hidden units: 9 asked for, 10 in it"):
            transformer.set_params(n_hidden=9).fit(self.X)
        assert not np.array_equal(clone(transformer).fit(self.X).components_, expected.weights.T)

    def test_parts_of_the_data_teach_as_much_as_the_whole(self):
        whole = RBMTransformer(30, epochs=5, random_state=0).fit(self.X)
        parts = RBMTransformer(30, random_state=0)
        for _ in range(5):
            for rows in np.array_split(self.X, 3):
                parts.partial_fit(rows)
        start = RBMTransformer(30, epochs=1, learning_rate=0.0, random_state=0).fit(self.X)
        scores = [t.score_samples(self.X[:300]).mean() for t in (start, parts, whole)]
        assert scores[1] - scores[0] > 0.8 * (scores[2] - scores[0]) > 3

    def test_a_regressor_goes_on_too(self):
        X, y = YACHT.X_train, YACHT.y_train
        still = tf.training.Adam(truncation_rate=0.0)
        options = dict(epochs=3, random_state=0, learning_rate=0.0, optimizer=still)
        regressor = TGGMRegressor(8, epochs=60, random_state=0, warm_start=True).fit(X, y)
        before = regressor.predict(X)
        regressor.set_params(**options).fit(X, y)
        # Rounded to float32 at the scale of the target: some predictions are near zero.
        rounding = 1e-6 * abs(before).max()
        np.testing.assert_allclose(regressor.predict(X), before, rtol=1e-4, atol=rounding)
        with pytest.raises(ValueError, match="start must have n_hidden=9, got 8"):
            regressor.set_params(n_hidden=9).fit(X, y)

    def test_a_bar_is_shown_if_asked_for(self, capfd):
        for verbose in (0, 1):
            RBMTransformer(3, epochs=1, verbose=verbose, random_state=0).fit(self.X[:50])
            TGGMRegressor(3, epochs=1, verbose=verbose).fit(YACHT.X_train, YACHT.y_train)
            assert capfd.readouterr().err.count("training:") == 2 * verbose


@pytest.mark.filterwarnings("ignore::trug_fast.training.TrainingWarning")
class TestKindsOfData:
    def test_a_sparse_matrix_gives_what_the_array_gives(self, monkeypatch):
        monkeypatch.setattr("trug_fast.estimators.transformer.BLOCK", 64 * 100)
        for scale in (1.0, 3.0):
            X = (scale * DIGITS.train).astype(np.float64)
            dense = RBMTransformer(10, epochs=2, random_state=0).fit(X)
            other = RBMTransformer(10, epochs=2, random_state=0).fit(sparse.csr_array(X))
            np.testing.assert_array_equal(other.components_, dense.components_)
            rows = sparse.csc_array(X[:250])
            for name in ("transform", "score_samples", "gibbs"):
                found, expected = getattr(other, name)(rows), getattr(dense, name)(X[:250])
                np.testing.assert_array_equal(found, expected)
        with pytest.raises(ValueError, match="0 as the least value of each .* begins at 1"):
            RBMTransformer(3, epochs=1).fit(sparse.csr_array(X + 1))

    @pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
    def test_gaussian_units_take_real_numbers(self, make):
        scale = np.linspace(0.1, 30, 6)
        latent = np.random.default_rng(0).normal(size=(400, 2))
        X = (latent @ np.random.default_rng(1).normal(size=(2, 6))) * scale
        options = dict(epochs=5, random_state=0, visible="gaussian")
        transformer = RBMTransformer(8, **options).fit(make(X))
        seed = np.random.RandomState(0).randint(2**31 - 1)
        options = dict(epochs=5, visible="gaussian", monitor=None, rng=seed, dtype="float32")
        expected = tf.train_rbm(X / X.std(axis=0), 8, **options).model
        np.testing.assert_allclose(
            transformer.components_, expected.weights.T, rtol=1e-3, atol=1e-3
        )
        for name, field in (("hidden", "hidden_bias"), ("visible", "visible_bias")):
            found = getattr(transformer, f"intercept_{name}_")
            np.testing.assert_array_equal(found, getattr(transformer.model_, field))
        step = transformer.gibbs(make(X))
        np.testing.assert_allclose(step.std(axis=0) / X.std(axis=0), 1, atol=0.5)
        assert not hasattr(transformer, "score_samples")
        assert hasattr(RBMTransformer(), "score_samples")

    def test_tags_names_and_repr_are_right(self):
        transformer = RBMTransformer(3, epochs=1, random_state=0).fit(DIGITS.train[:50])
        assert transformer.get_feature_names_out().tolist() == [
            f"rbmtransformer{i}" for i in range(3)
        ]
        assert transformer.transform(DIGITS.train[:5].astype(np.float32)).dtype == np.float32
        assert "RBMTransformer" in transformer._repr_html_()
        assert repr(transformer) == "RBMTransformer(epochs=1, n_hidden=3, random_state=0)"
        if hasattr(transformer, "__sklearn_tags__"):
            tags = transformer.__sklearn_tags__()
            assert tags.input_tags.sparse and not tags.input_tags.allow_nan
            assert tags.transformer_tags.preserves_dtype == ["float64", "float32"]
            assert TGGMRegressor().__sklearn_tags__().target_tags.multi_output


@pytest.mark.filterwarnings("ignore::trug_fast.training.TrainingWarning")
def test_states_are_taken_as_they_are():
    X = sequences_of_classes(400)
    options = {"epochs": 5, "random_state": 0}
    estimator = clone(RBMTransformer(4, visible="categorical", **options)).fit(X)
    assert estimator.transform(X).shape == (400, 4) and estimator.components_.shape == (4, 24)
    drawn = estimator.gibbs(X)
    assert drawn.shape == X.shape and np.isin(drawn, range(4)).all()
    others = [np.arange(6) != i for i in range(6)]
    each = [tf.log_conditional(estimator.model_, X[:3], known).value for known in others]
    np.testing.assert_allclose(estimator.score_samples(X[:3]), np.sum(each, axis=0), rtol=1e-6)
    known = RBMTransformer(4, visible=tf.CategoricalUnits(4), **options).fit(sparse.csr_matrix(X))
    np.testing.assert_array_equal(known.components_, estimator.components_)
    spins = RBMTransformer(4, visible="spin", **options).fit(2 * (X > 1) - 1)
    assert set(np.unique(spins.gibbs(2 * (X > 1) - 1))) == {-1, 1}
    relu = RBMTransformer(4, visible="relu", **options).fit(X)
    assert relu.model_.visible == "truncated" and relu.gibbs(X).min() >= 0
    assert not hasattr(relu, "score_samples") and relu.transform(X).shape == (len(X), 4)
    mixed = RBMTransformer(4, visible=["categorical"] * 5 + ["gaussian"], **options).fit(X)
    assert not hasattr(mixed, "score") and mixed.transform(X).shape == (400, 4)
