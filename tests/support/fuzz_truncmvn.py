"""Good arguments for the functions of truncated normal vectors."""

import numpy as np

import trug_fast as tf
from tests.support.fuzz_arguments import FLAG, OFF, RNG, Arg, Call, N, data, needed

COV = 0.5 * (np.eye(3) + 1)
BOX = {
    "mean": data(0.0, 1, np.ones(3), optional=True),
    "cov": data(COV, COV.astype(np.float32), np.ones(3)),
    "lower": data(-1.0, 0, -np.inf, np.zeros(3), optional=True),
    "upper": data(2.0, np.inf, np.full(3, 4.0), optional=True),
}
SLAB = {
    "mean": BOX["mean"],
    "cov": BOX["cov"],
    "lower": data(-1.0, 0),
    "upper": data(2.0, np.inf, optional=True),
    "A": data([[1.0, -1.0, 0.0]], np.eye(3), [[1, 1, 1], [1, 0, -1]]),
}
POINTS = {"n_points": needed("count", 9, 100), "rng": RNG}
SIZES = {"size": Arg("count", (0, 1, 3)), "rng": RNG, "return_info": FLAG}
CHAINS = {
    "n_samples": needed("count", 2, 5),
    "n_chains": N,
    "n_burn": Arg("count", (1, 3)),
    "thin": N,
    "rng": RNG,
    "progress": OFF,
}
STARTS = {"start": data(np.full(3, 0.5), np.ones((1, 3)), optional=True)}
PRECISION = {name: arg for name, arg in BOX.items() if name != "cov"}
PRECISION |= {"precision": data(COV, COV.astype(np.float32))}


def settled(function):
    """Return a function whose documented RuntimeErrors, of boxes too far out, are divergence."""

    def call(**given):
        try:
            result = function(**given)
        except RuntimeError as error:
            raise FloatingPointError from error
        return getattr(result, "samples", result)

    return call


def draws(function):
    """Return one that gives the draws alone: what comes with them is another array's length."""
    return lambda **given: (lambda found: found[0] if isinstance(found, tuple) else found)(
        function(**given)
    )


TRUNCMVN = {
    "truncmvn.rvs": Call(settled(draws(tf.truncmvn.rvs)), BOX | SIZES),
    "truncmvn.rvs A": Call(settled(draws(tf.truncmvn.rvs)), SLAB | SIZES),
    "truncmvn.logprob": Call(settled(tf.truncmvn.logprob), BOX | POINTS),
    "truncmvn.logprob A": Call(settled(tf.truncmvn.logprob), SLAB | POINTS),
    "truncmvn.logpdf": Call(
        settled(tf.truncmvn.logpdf), {"x": data(np.ones(3), np.ones((2, 3)))} | BOX | POINTS
    ),
    "truncmvn.logpdf A": Call(settled(tf.truncmvn.logpdf), {"x": data(np.ones(3))} | SLAB | POINTS),
    "truncmvn.mean": Call(settled(tf.truncmvn.mean), BOX | POINTS),
    "truncmvn.cov": Call(settled(tf.truncmvn.cov), SLAB | POINTS),
    "truncmvn.marginal_logpdf": Call(
        settled(tf.truncmvn.marginal_logpdf),
        {"index": needed("count", 1, 2), "x": data(0.5, np.linspace(0, 1, 3))} | BOX | POINTS,
    ),
    "truncmvn_gibbs": Call(settled(tf.distributions.truncmvn_gibbs), BOX | CHAINS),
    "truncmvn_gibbs precision": Call(settled(tf.distributions.truncmvn_gibbs), PRECISION | CHAINS),
    "truncmvn_gibbs start": Call(
        settled(tf.distributions.truncmvn_gibbs),
        {"cov": BOX["cov"]} | CHAINS | STARTS | {"n_chains": N},
    ),
    "truncmvn_hmc": Call(settled(tf.distributions.truncmvn_hmc), SLAB | CHAINS),
    "truncmvn_hmc precision": Call(settled(tf.distributions.truncmvn_hmc), PRECISION | CHAINS),
    "TruncMVNChains": Call(
        lambda **given: [
            getattr(tf.distributions.TruncMVNChains(**given), name)
            for name in "mean std cov std_error rhat ess ess_tail".split()
        ],
        {"samples": data(np.arange(48.0).reshape(2, 8, 3) % 7, np.ones((1, 2, 2)))},
    ),
}
