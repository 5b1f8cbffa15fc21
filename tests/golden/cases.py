"""The golden cases, by name: each returns arrays, models, fits, text, or several of these."""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import trug_fast as tf

from .data import (
    CURVES,
    DATA,
    INPUTS,
    PROBABILITIES,
    TARGET,
    VIDEOS,
    WEIGHTS,
    Z,
    grid,
    missing,
    moved,
    noisy_past,
    redrawn,
    regression,
    resumed,
    sequences,
    train,
    trained,
)

CASES = {}
BINARY = DATA["bernoulli"][0]


def case(name, make, *arguments, **options):
    """Enter a case, computed when it is asked for."""
    assert name not in CASES, name
    CASES[name] = partial(make, *arguments, **options)


def _trainings():
    for one in dict.fromkeys(grid()):
        case("train " + " ".join(one), trained, *one)
    seen = set()
    for kind, hidden, sampler, optimizer, dtype in grid():  # each kind and unit with each sampler
        if (kind, sampler) not in seen or optimizer == "adam":
            seen.add((kind, sampler))
            make = partial(train, kind, hidden, sampler, optimizer, dtype)
            name = f"resumed {kind} {hidden} {sampler} {optimizer} {dtype}"
            if name not in CASES:
                case(name, resumed, make)


def _features():
    binary, real = partial(train, "bernoulli"), partial(train, "gaussian")
    states, positive = partial(train, "categorical"), partial(train, "relu")
    drawn, learned = tf.BernoulliUnits(missing="draw"), tf.GaussianUnits(learn_precision=True)
    holes = tf.GaussianUnits(missing="draw", learn_precision=True)
    held = BINARY[:30]
    for name, make in {
        "transform": lambda: binary(
            X=PROBABILITIES, visible=tf.BernoulliUnits(soft=True), transform=redrawn
        ),
        "missing": lambda: binary(X=missing("bernoulli"), visible=drawn, monitor="reconstruction"),
        "missing pseudo": lambda: binary(
            X=missing("bernoulli"), visible=tf.BernoulliUnits(missing=3)
        ),
        "missing real": lambda: real(X=missing("gaussian"), visible=holes),
        "missing cd": lambda: positive(
            "bernoulli", "cd", X=missing("relu"), visible=tf.TruncatedUnits("relu", missing=2)
        ),
        "missing pt": lambda: binary(sampler="pt", X=missing("bernoulli"), visible=drawn),
        "soft": lambda: binary(X=PROBABILITIES, visible=tf.BernoulliUnits(soft=True)),
        "precision": lambda: real(
            visible=tf.GaussianUnits(
                learn_precision=True, precision=2.0, precision_rate=(0.1, 0.01)
            )
        ),
        "precision relu adam": lambda: positive(
            optimizer="adam", visible=tf.TruncatedUnits("relu", learn_precision=True)
        ),
        "precision pt": lambda: real("bernoulli", "pt", visible=learned),
        "precision cd weights": lambda: real("tanh", "cd", sample_weight=WEIGHTS, visible=learned),
        "weights": lambda: binary(sample_weight=WEIGHTS),
        "weights pt": lambda: states("bernoulli", "pt", sample_weight=WEIGHTS),
        "l1": lambda: binary(
            optimizer=tf.training.SGD(momentum=0.5, weight_decay=1e-3, l1=(1e-4, 1e-2))
        ),
        "l1 squared": lambda: states(optimizer=tf.training.Adam(l1_squared=1e-2)),
        "gauge uncentred": lambda: states(sampler=tf.training.PCD(centred=False)),
        "gauge off": lambda: states(
            visible=tf.CategoricalUnits(3, zero_sum=False), optimizer="adam"
        ),
        "uncentred": lambda: binary("tanh", tf.training.CD(centred=False)),
        "average 0": lambda: real(optimizer=tf.training.SGD(average=0.0)),
        "average 1": lambda: real(optimizer=tf.training.SGD(average=1.0)),
        "rates": lambda: binary(
            sampler=tf.training.PCD((1, 4)),
            learning_rate=(0.3, 0.01, "cosine"),
            optimizer=tf.training.SGD(truncation_rate=lambda share: 0.01 * (1 - share)),
        ),
        "rates by epoch": lambda: binary(
            sampler=tf.training.PCD(np.array([1, 3])), learning_rate=np.array([0.2, 0.1])
        ),
        "patience": lambda: binary(
            validation=held,
            epochs=6,
            learning_rate=0.3,
            monitor=tf.training.Monitor("pseudo", patience=1),
        ),
        "ais monitor": lambda: binary(monitor=tf.training.Monitor("ais", every=2)),
        "no monitor": lambda: binary(monitor=None),
        "chunks": lambda: binary(X=tf.training.Chunks(BINARY.astype(float), rows=50)),
        "chunks weights": lambda: states(
            X=tf.training.Chunks(DATA["categorical"][0], rows=50),
            visible=tf.CategoricalUnits(3),
            sample_weight=WEIGHTS,
        ),
        "odd batch": lambda: binary(batch_size=7),
        "odd batch mixed": lambda: train("mixed", sampler="cd", batch_size=7),
        "random weights": lambda: real(start=tf.training.RandomWeights(0.05)),
        "wide": lambda: tf.train_rbm(
            (np.random.default_rng(0).random((300, 70)) < 0.3) * 1.0,
            33,
            epochs=1,
            rng=0,
            progress=False,
        ),
        "default": lambda: tf.train_rbm(BINARY, 9, epochs=3, rng=0, progress=False),
    }.items():
        case("feature " + name, make)
    for kind in DATA:
        for hidden in ("slearn", "bernoulli", "relu"):

            def go_on(kind=kind, hidden=hidden):
                start = train(kind, hidden).model
                return tf.train_rbm(DATA[kind][0], start=start, epochs=1, rng=1, progress=False)

            case(f"go on {kind} {hidden}", go_on)
    case("resumed missing", resumed, partial(real, X=missing("gaussian"), visible=holes))
    case(
        "resumed patience",
        resumed,
        partial(binary, validation=held, monitor=tf.training.Monitor("pseudo", patience=5)),
    )


def _answers(kind, hidden, dtype):
    m, X = train(kind, hidden, dtype=dtype).model, DATA[kind][0][:20]
    H = m.sample_hidden(X, rng=1)
    clamp = np.full(X.shape[1], np.nan)
    clamp[:2] = X[0, :2]
    yield from (m.free_energy(X), *m.hidden_moments(X), H, m.sample_visible(H, rng=2))
    yield m.sample(6, n_gibbs=20, rng=3)
    yield m.sample(6, n_gibbs=3, rng=3, return_mean=True)
    yield m.sample(4, n_gibbs=5, rng=4, clamp=clamp)
    yield m.sample(start=X, n_gibbs=5, rng=4)
    yield from (m.clamped(clamp), *m.sparsity())
    if kind == "categorical":
        yield m.zero_sum()


def _files(make):
    """Return the arrays of a model's file and the model that is read from it."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "model.npz")
        model = make()
        model.save(path)
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files}
        return arrays, type(model).load(path)


def _estimates(kind, hidden, dtype):
    m, X = train(kind, hidden, dtype=dtype).model, DATA[kind][0]

    def estimate(**options):
        options = {"n_chains": 30, "n_temperatures": 60, "rng": 5, "progress": False} | options
        found = tf.log_partition(m, **options)
        return found.log_weights, found.log_z, found.std_error, found.mean_field, found.ess

    yield from estimate()
    yield from estimate(base=X)
    if dtype == "float32":
        yield from estimate(direction="reverse")
        yield from estimate(direction="both", base=X)
        yield from estimate(path="quad2")
        yield from estimate(schedule="adaptive", base=X)
        short = {"n_chains": 2, "n_temperatures": 50, "rng": 1, "progress": False}
        yield tf.evaluation.log_likelihood_bound(m, X[:10], **short).value
    if kind not in ("gaussian", "relu", "mixed"):
        yield tf.pseudo_log_likelihood(m, X, rng=0)


def _models():
    for kind in DATA:
        for hidden in ("slearn", "relu", "bend", "bernoulli"):
            for dtype in ("float32", "float64"):
                own = (kind, hidden, dtype)
                case("answers " + " ".join(own), lambda own=own: list(_answers(*own)))
                case("estimates " + " ".join(own), lambda own=own: list(_estimates(*own)))
            case(
                f"file {kind} {hidden}",
                _files,
                lambda kind=kind, hidden=hidden: train(kind, hidden).model,
            )
        # Beside TruG hidden units truncated visible ones have no exact values.
        for hidden in ("slearn", "bernoulli")[kind in ("relu", "mixed") :]:

            def exact(kind=kind, hidden=hidden):
                m, X = train(kind, hidden, n_hidden=2).model, DATA[kind][0]
                return tf.exact.log_partition(m), tf.exact.gradient(m, X)

            case(f"exact {kind} {hidden}", exact)
    for kind in ("bernoulli", "spin", "categorical"):
        case(f"ladder {kind}", _ladder, kind)
        case(f"conditional {kind}", _conditional, kind)


def _ladder(kind):
    fit = train(kind, sampler="ptt")
    ladder = fit.ladder
    yield from (ladder.arrays(), ladder.log_z, ladder.std_error, ladder.overlap, ladder.shares)
    yield ladder.sample(9, rng=1)
    yield ladder.log_partition(fit.model, rng=2).log_z


def _conditional(kind):
    m, X = train(kind).model, DATA[kind][0][:4]
    known = np.arange(X.shape[1]) < 2
    short = {"n_chains": 5, "n_temperatures": 50, "rng": 1, "progress": False}
    for method in ("exact", "annealing"):
        found = tf.log_conditional(m, X, known, method=method, **short)
        yield from (found.value, found.std_error)


def _temporal():
    trainings = {
        "binary": lambda: sequences("binary"),
        "ordinary": lambda: sequences("binary", hidden="bernoulli"),
        "real": lambda: sequences("real"),
        "lags": lambda: sequences("binary", n_lags=2),
        "paper": lambda: sequences("binary", sampler=tf.training.SequenceCD(gradient="paper")),
        "past noise": lambda: sequences("binary", transform=noisy_past),
        "moved": lambda: sequences("real", transform=moved),
        "data": lambda: sequences("binary", sampler=tf.training.SequenceCD(2, begin="data")),
        "sgd float64": lambda: sequences("real", optimizer="sgd", dtype="float64"),
        "penalties": lambda: sequences(
            "real",
            optimizer=tf.training.Adam(weight_decay=1e-2, l1=1e-3, l1_squared=1e-3),
        ),
        "list": lambda: tf.train_trbm(
            [VIDEOS[0], VIDEOS[1][:9], VIDEOS[2][:4]], 6, epochs=2, rng=0, progress=False
        ),
    }
    for name, make in trainings.items():
        case(f"temporal {name}", make)
    for kind in ("binary", "real"):
        case(f"temporal answers {kind}", lambda kind=kind: list(_frames(kind)))
        case(f"temporal file {kind}", _files, lambda kind=kind: sequences(kind).model)

    def short(**more):
        options = {"epochs": 2, "rng": 0, "progress": False} | more
        return tf.train_trbm(VIDEOS, 6, **options)

    case("temporal resumed", resumed, short)


def _frames(kind):
    m, data = sequences(kind).model, CURVES if kind == "real" else VIDEOS
    yield from (m.filter(data[0]), m.generate(10, rng=0), m.generate(4, prefix=data[0], rng=1))
    for method in ("gibbs", "mean_field", "last"):
        yield m.predict(data[0], method=method, rng=0)
    found = m.forecast(data[0], 3, n_samples=20, rng=0)
    yield from (found.mean, found.std, found.quantiles([0.1, 0.9]), m.next_frame(data[0]))
    yield tf.prediction_error(m, data, rng=0)
    yield tf.evaluation.horizon_errors(m, data, 3, n_samples=5, n_gibbs=5, every=4, rng=0).model
    short = {"n_chains": 5, "n_temperatures": 30, "rng": 0, "progress": False}
    yield tf.evaluation.frame_log_likelihood(m, data[:2], method="annealing", **short).value
    yield tf.exact.log_likelihood(m, data[0])
    yield tf.exact.gradient(m, data[:2])


def _regressions():
    for name, options in {
        "default": {},
        "mean field": {"objective": tf.training.MeanField(3)},
        "moments": {"objective": "moments"},
        "separate": {"noise": "separate"},
        "by input": {"noise": "by_input", "objective": "moments"},
        "sgd float64": {"optimizer": "sgd", "dtype": "float64", "learning_rate": 0.01},
        "relu": {"truncation": "relu"},
        "held out": {"validation": tf.training.HoldOut(0.2)},
    }.items():
        case(f"regression {name}", regression, **options)

    def answers():
        m = regression().model
        yield from m.predict(INPUTS, return_std=True)
        yield from (m.elbo(INPUTS, TARGET), m.log_density(INPUTS, TARGET))
        yield from (m.predict_quantiles(INPUTS, [0.1, 0.5]), m.sample(INPUTS, rng=0))
        yield from (m.predict_interval(INPUTS)[0], m.probability_above(INPUTS, 0.5))
        yield from (m.posterior(INPUTS, TARGET).mean, m.log_likelihood(INPUTS, TARGET, rng=0).value)
        yield m.with_readout_posterior(INPUTS)

    case("regression answers", lambda: list(answers()))
    case("regression file", _files, lambda: regression().model)

    def short(**more):
        options = {"n_hidden": 6, "epochs": 2, "rng": 0, "progress": False} | more
        return tf.train_tggm(INPUTS, TARGET, **options)

    case("regression resumed", resumed, short, longer=False)

    def ensemble():
        fit = tf.train_ensemble(INPUTS, TARGET, 3, 5, epochs=3, rng=0, progress=False)
        return *fit.model.models, *fit.model.predict(INPUTS, return_std=True)

    case("ensemble", ensemble)

    def estimators():
        transformer = tf.estimators.RBMTransformer(5, epochs=1, random_state=0)
        yield transformer.fit_transform(BINARY)
        yield (
            tf.estimators.TGGMRegressor(5, epochs=2, random_state=0)
            .fit(INPUTS, TARGET)
            .predict(INPUTS)
        )

    case("estimators", lambda: list(estimators()))


def _distributions():
    ends = np.array([[-1, 1], [0, np.inf], [8, 9], [-40, -38], [-np.inf, 0.3], [2, 2 + 1e-9]]).T
    a, b = ends[:, :, None]
    q = np.linspace(0, 1, 9)
    for name in ("cdf", "logcdf", "logpdf", "logsf", "pdf", "sf", "ppf", "isf"):

        def at(name=name):
            x = q if name in ("ppf", "isf") else tf.truncnorm.ppf(q, a, b)
            return getattr(tf.truncnorm, name)(x, a, b), getattr(tf.truncnorm, name)(
                x.astype(np.float32), a.astype(np.float32), b.astype(np.float32)
            )

        case(f"truncnorm {name}", at)
    case(
        "truncnorm moments",
        lambda: [
            *tf.truncnorm.stats(*ends, moments="mvsk"),
            tf.truncnorm.entropy(*ends),
            tf.truncnorm.log_mass(*ends),
            *(tf.truncnorm.moment(order, *ends) for order in (1, 2, 3, 4)),
        ],
    )
    for dtype in ("float64", "float32"):
        own = ends.astype(dtype)
        case(
            f"truncnorm rvs {dtype}",
            lambda own=own: [
                tf.truncnorm.rvs(*own[:, :5], size=(1000, 5), rng=0),
                tf.truncnorm.rvs(own[0, 0], own[1, 0], size=1000, rng=0),
            ],
        )
    case("truncnorm fit", lambda: tf.truncnorm.fit(abs(Z[:, 0]), support=(0, None)))
    cov = 0.5 ** abs(np.subtract.outer(np.arange(4), np.arange(4)))
    box = {"mean": np.arange(4) / 4, "cov": cov, "lower": -0.5, "upper": [1, 2, np.inf, 1]}

    def vectors():
        m = tf.truncmvn
        yield from (m.logprob(**box, rng=0), m.mean(**box, rng=0), m.cov(**box, rng=0))
        yield from (m.rvs(**box, size=50, rng=0), m.marginal_logpdf(1, [0.1, 0.7], **box, rng=0))
        yield m.logpdf(np.zeros(4), **box, rng=0)
        factor = {"cov": 0.3 + 0.7 * np.eye(30), "upper": 0.5}
        yield from (m.logprob(**factor, rng=0), m.mean(**factor, rng=0))
        yield m.rvs(cov=cov, A=np.ones((1, 4)), lower=1, upper=2, size=20, rng=0)

    case("truncmvn", lambda: list(vectors()))
    chains = {"n_samples": 30, "n_chains": 2, "rng": 0, "progress": False}
    case("truncmvn gibbs", lambda: tf.distributions.truncmvn_gibbs(**box, **chains).samples)
    case("truncmvn hmc", lambda: tf.distributions.truncmvn_hmc(**box, **chains).samples)


def _refusals():
    zeros, ones = np.zeros, np.ones
    units = tf.TruGRBM(ones((2, 3)), 0, 0, 1, 0, 1)
    for name, make in {
        "no such visible": lambda: tf.train_rbm(BINARY, 3, visible="binary"),
        "not binary": lambda: tf.train_rbm(BINARY * 2, 3),
        "not spin": lambda: tf.train_rbm(BINARY, 3, visible="spin"),
        "not state": lambda: tf.train_rbm(BINARY + 0.5, 3, visible="categorical"),
        "no state 0": lambda: tf.train_rbm(BINARY + 1, 3, visible="categorical"),
        "outside": lambda: tf.train_rbm(Z, 3, visible="relu"),
        "nan": lambda: tf.train_rbm(missing("gaussian"), 3, visible="gaussian"),
        "no missing": lambda: tf.train_rbm(BINARY, 3, visible=tf.BernoulliUnits(missing="draw")),
        "mixed width": lambda: tf.train_rbm(BINARY, 3, visible=["spin", "bernoulli"]),
        "mixed state": lambda: tf.train_rbm(BINARY, 3, visible=["spin"] + ["bernoulli"] * 11),
        "mixed one state": lambda: tf.train_rbm(
            BINARY[:, :2] * 0, 3, visible=["spin", "categorical"]
        ),
        "truncation": lambda: tf.train_rbm(BINARY, 3, hidden="bernoulli", truncation="relu"),
        "precision_rate": lambda: tf.GaussianUnits(precision_rate=0.1),
        "monitor": lambda: tf.train_rbm(Z, 3, visible="gaussian", monitor="pseudo"),
        "patience": lambda: tf.train_rbm(BINARY, 3, monitor=tf.training.Monitor(patience=2)),
        "validation": lambda: tf.train_rbm(BINARY, 3, monitor=None, validation=BINARY),
        "start": lambda: tf.train_rbm(BINARY, 3, start=tf.BernoulliRBM(zeros((12, 4)), 0, 0)),
        "start hidden": lambda: tf.train_rbm(
            BINARY, 4, hidden="trug", start=tf.BernoulliRBM(zeros((12, 4)), 0, 0)
        ),
        "ptt": lambda: tf.train_rbm(
            Z, 4, visible=tf.GaussianUnits(learn_precision=True), sampler="ptt"
        ),
        "truncation rate": lambda: tf.train_rbm(
            BINARY, 4, truncation="relu", optimizer=tf.training.SGD(truncation_rate=0.1)
        ),
        "rate": lambda: tf.train_rbm(BINARY, 4, learning_rate=-1),
        "weights shape": lambda: tf.TruGRBM(zeros((2, 3, 4)), 0, 0, 1, 0, 1),
        "states shape": lambda: tf.TruGRBM(zeros((2, 3)), 0, 0, 1, 0, 1, visible="categorical"),
        "bias shape": lambda: tf.TruGRBM(zeros((2, 3)), [0, 0, 0], 0, 1, 0, 1),
        "crossed": lambda: tf.TruGRBM(zeros((2, 3)), 0, 0, 1, 1, 0),
        "no precision": lambda: tf.TruGRBM(zeros((2, 3)), 0, 0, 1, 0, 1, visible="gaussian"),
        "needless precision": lambda: tf.TruGRBM(zeros((2, 3)), 0, 0, 1, 0, 1, 1.0, visible="spin"),
        "negative precision": lambda: tf.TruGRBM(zeros((2, 3)), 0, 0, 1, 0, 1, -1.0),
        "no density": lambda: tf.TruGRBM(ones((2, 3)), 0, 0, 1, 0, np.inf, 1.0),
        "hidden states": lambda: units.sample_visible([[0, 0, 2.0]]),
        "clamp": lambda: units.sample(2, clamp=[True, False]),
        "diverged": lambda: train("bernoulli", learning_rate=1e9, epochs=3),
        "frames": lambda: sequences("binary").model.predict(VIDEOS[0] * 2),
        "noise": lambda: tf.TruGTGGM(ones((3, 2)), 0, ones((1, 3)), 0, -1, 0, 1),
        "box": lambda: tf.truncmvn.mean(cov=np.eye(2), lower=1, upper=0),
        "interval": lambda: tf.truncnorm.rvs(1, 0),
    }.items():
        case("refused " + name, make)


for _enter in (_trainings, _features, _models, _temporal, _regressions, _distributions, _refusals):
    _enter()
