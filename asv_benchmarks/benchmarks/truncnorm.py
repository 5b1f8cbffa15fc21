"""Units and draws of whole arrays, one thread."""

import numba
import numpy as np
from scipy import stats

import trug_fast
from trug_fast.kernels.compiling import kernel
from trug_fast.kernels.random.philox import USER, uniform_row
from trug_fast.kernels.rbm.hidden import TRUG, HiddenUnits, draw_row, part_of
from trug_fast.kernels.unit.normalizer import evaluate
from trug_fast.kernels.unit.quantile_rows import SPACE

from .common import fast_decile, seconds, some, times
from .peers import SAMPLERS, standard

N = 100_000  # 1 ms is 10 ns an element
BLOCK = 1024
REGIMES = ["half line", "unit interval", "symmetric", "wide", "far tail", "narrow and far"]


# The package's own decorator: cached, and compiled anew when any kernel changes.
@kernel
def log_normalizers(a, d, lower, upper, out):
    """Write L of each unit."""
    log_norm = out[0]
    for i in range(a.size):
        log_norm[i] = evaluate(a[i], d[i], lower[i], upper[i])[0]


@kernel
def means_and_variances(a, d, lower, upper, out):
    """Write the mean and the variance of each unit."""
    mean, variance = out[2], out[3]
    for i in range(a.size):
        _, _, mean[i], variance[i], _, _, _, _ = evaluate(a[i], d[i], lower[i], upper[i])


@kernel
def all_outputs(a, d, lower, upper, out):
    """Write L, offset, mean, variance and both log end densities of each unit."""
    log_norm, offset, mean = out[0], out[1], out[2]
    variance, at_lower, at_upper = out[3], out[4], out[5]
    for i in range(a.size):
        log_norm[i], offset[i], mean[i], variance[i], _, at_lower[i], at_upper[i], _ = evaluate(
            a[i], d[i], lower[i], upper[i]
        )


@kernel
def draws(units, net, step, out):
    """Draw every unit once, with new uniform numbers."""
    uniform, space = np.empty(BLOCK, net.dtype), np.empty(SPACE, net.dtype)
    for start in range(0, net.size, BLOCK):
        stop = min(start + BLOCK, net.size)
        uniform_row(0, USER, step, start // BLOCK, 0, uniform)
        part = part_of(units, start, stop)
        draw_row(net[start:stop], part, uniform, out[start:stop], space)


OUTPUTS = {
    "log_normalizer": log_normalizers,
    "mean_variance": means_and_variances,
    "all": all_outputs,
}


def regime(name, dtype):
    """Return a, d, lower, upper of one of the six regimes of the tests."""
    from tests.support.units import regimes

    return [x.astype(dtype) for x in regimes(N)[name]]


def exact_cases(dtype):
    """Return arguments and exact variances, of units that the float type holds exactly."""
    from tests.support.data import exact_cases as cases

    rows = [row for case in cases("unit") for row in case["rows"]]
    arguments = np.array([[float(r[k]) for k in ("a", "d", "xi1", "xi2")] for r in rows])
    variance = np.array([r["var"] for r in rows])
    kept = (arguments.astype(dtype) == arguments).all(axis=1) & (arguments[:, 1] > 0)
    return [np.ascontiguousarray(x, dtype) for x in arguments[kept].T], variance[kept]


class UnitFunctions:
    """Functions of 100,000 units; the arguments do not matter, since nothing branches."""

    params = (["float32", "float64"], list(OUTPUTS))
    param_names = ("dtype", "outputs")

    def setup(self, dtype, outputs):
        """Make the arrays and compile."""
        self.function = OUTPUTS[outputs]
        self.arguments = regime("wide", dtype)
        self.out = np.zeros((6, N), dtype)
        self.function(*self.arguments, self.out)

    def time_units(self, dtype, outputs):
        """Time 100,000 units."""
        self.function(*self.arguments, self.out)


class UnitQuality:
    """How exact they are."""

    params = ["float32", "float64"]
    param_names = ("dtype",)

    def track_worst_variance_error(self, dtype):
        """Return the largest relative error of the variance on the tests' table."""
        arguments, exact = exact_cases(dtype)
        out = np.zeros((6, exact.size), dtype)
        all_outputs(*arguments, out)
        return float(np.abs(out[3] / exact - 1).max())


class Draws:
    """100,000 draws, each with parameters of its own."""

    params = (some(REGIMES), ["float32", "float64"])
    param_names = ("regime", "dtype")

    def setup(self, regime_name, dtype):
        """Make the arrays and compile."""
        self.net, *interval = regime(regime_name, dtype)
        self.units = HiddenUnits(TRUG, *interval, 0)
        self.out = np.zeros(N, dtype)
        draws(self.units, self.net, 0, self.out)

    def time_draws(self, regime_name, dtype):
        """Time 100,000 draws, random numbers included."""
        draws(self.units, self.net, 0, self.out)


class DrawsQuality:
    """Whether they have the right distribution."""

    params = ["float32", "float64"]
    param_names = ("dtype",)

    def track_worst_ks_statistic(self, dtype):
        """Return the largest Kolmogorov-Smirnov distance over all regimes.

        Of 100,000 right draws it exceeds 0.0087 once in 2e6 times.
        """
        return max(self.ks_statistic(name, dtype) for name in some(REGIMES))

    def ks_statistic(self, regime_name, dtype):
        """Return the distance from uniform of the draws' exact probability transform."""
        from tests.support.units import transform

        net, *interval = regime(regime_name, dtype)
        out = np.zeros(N, dtype)
        draws(HiddenUnits(TRUG, *interval, 0), net, 0, out)
        p = transform(out, *(np.float64(x) for x in (net, *interval)))
        return float(stats.kstest(p, "uniform").statistic)


class Samplers:
    """Ours and others' draws with parameters of their own for each element, in one thread."""

    params = (some(REGIMES), list(SAMPLERS))
    param_names = ("regime", "sampler")

    def setup(self, regime_name, sampler):
        """Make the arrays and compile."""
        numba.set_num_threads(1)
        self.draw = SAMPLERS[sampler](regime(regime_name, "float64"))
        if self.draw is None:
            raise NotImplementedError("not installed, or intervals too narrow for float32")
        with np.errstate(all="ignore"):
            self.draw()

    def time_draws(self, regime_name, sampler):
        """Time 100,000 draws, right or wrong; tools/compare_truncnorm.py tells which."""
        with np.errstate(all="ignore"):
            self.draw()


def face(name):
    """Return the arguments of a function of ``truncnorm`` for units of all regimes, mixed last."""
    units = {key: np.array(regime(key, "float64")) for key in REGIMES}
    parts = [unit[:, i::6] for i, unit in enumerate(units.values())]
    order = np.random.default_rng(1).permutation(N)
    units["mixed"] = np.concatenate(parts, axis=1)[:, order]
    arguments = {}
    for key, unit in units.items():
        parameters = standard(*np.ascontiguousarray(unit))
        first = []
        if name in ("logpdf", "cdf"):
            first = [trug_fast.truncnorm.rvs(*parameters, rng=2)]
        elif name == "ppf":
            first = [np.random.default_rng(2).random(N)]
        arguments[key] = [*first, *parameters]
    return arguments


class Face:
    """Functions of trug_fast.truncnorm on 100,000 elements, in one thread."""

    params = ["rvs", "mean", "var", "entropy", "logpdf", "cdf", "ppf"]
    param_names = ("function",)

    def setup(self, function):
        """Make the arguments and compile."""
        numba.set_num_threads(1)
        self.function = getattr(trug_fast.truncnorm, function)
        self.arguments = face(function)
        self.function(*self.arguments["mixed"])

    def time_mixed(self, function):
        """Time 100,000 elements of all six regimes, shuffled."""
        self.function(*self.arguments["mixed"])

    def track_mixed_over_slowest(self, function):
        """Return the time for shuffled regimes over that for the slowest of them, in turns."""
        found = {key: [] for key in self.arguments}
        for _ in times(4):
            for key, arguments in self.arguments.items():
                found[key] += seconds(lambda p=arguments: self.function(*p), 8)
        decile = {key: fast_decile(values) for key, values in found.items()}
        mixed = decile.pop("mixed")
        return mixed / max(decile.values())

    track_mixed_over_slowest.unit = "ratio"
