"""Reference values for one TruG unit in 300 digits; slow, exact, and independent of the kernels."""

import mpmath as mp

DIGITS = 300  # covers tails to 1e8 and widths to 1e-12 after every cancellation below


def unit(a, d, lower, upper):
    """Return dict of log_norm, mean, offset, variance, log densities and the third central moment.

    Repeated integration by parts expresses the moments by the log-normaliser and the end densities
    (mathematics 1.2); the cancellation this brings is covered by the number of digits.  d != 0.
    """
    with mp.workdps(DIGITS):
        a, d = mp.mpf(float(a)), mp.mpf(float(d))
        lower, upper = mp.mpf(float(lower)), mp.mpf(float(upper))
        if d * (lower + upper) < 2 * a:  # keep erfc's arguments from minus infinity
            r = unit(-a, d, -upper, -lower)
            r |= {"mean": -r["mean"], "third": -r["third"]}
            return r | {"log_low": r["log_high"], "log_high": r["log_low"]}
        ends = [lower, upper]
        # Factor out the largest exponent on the interval so that nothing under- or overflows.
        finite = [e for e in ends if mp.isfinite(e)]
        mode = a / d
        if d > 0 and lower < mode < upper:
            finite.append(mode)
        peak = max(a * h - d * h * h / 2 for h in finite) if finite else mp.mpf(0)
        z = sum(w * _antiderivative(a, d, e, peak) for w, e in ((1, upper), (-1, lower)))
        p_low, p_high = (
            mp.exp(a * e - d * e * e / 2 - peak) / z if mp.isfinite(e) else mp.mpf(0) for e in ends
        )

        def edge(power):
            return sum(
                sign * e**power * p if mp.isfinite(e) else mp.mpf(0)
                for sign, e, p in ((1, upper, p_high), (-1, lower, p_low))
            )

        m1 = (a - edge(0)) / d
        m2 = (1 + a * m1 - edge(1)) / d
        m3 = (2 * m1 + a * m2 - edge(2)) / d
        return {
            "log_norm": peak + mp.log(z),
            "mean": m1,
            "offset": m1 - lower,  # from the near end, where the density is higher
            "variance": m2 - m1 * m1,
            "third": m3 - 3 * m1 * m2 + 2 * m1**3,
            "log_low": mp.log(p_low) if p_low else -mp.inf,
            "log_high": mp.log(p_high) if p_high else -mp.inf,
        }


def _antiderivative(a, d, end, peak):
    """Integral of exp(a h - d h^2/2 - peak) up to ``end``, up to a constant."""
    if d > 0:
        # -sqrt(pi/2d) exp(a^2/2d - peak) erfc((d end - a)/sqrt(2d)): a difference of two is exact
        # to the digits carried.
        scale = mp.sqrt(mp.pi / (2 * d)) * mp.exp(a * a / (2 * d) - peak)
        if mp.isinf(end):
            return scale * (2 if end < 0 else 0) * -1
        return -scale * mp.erfc((d * end - a) / mp.sqrt(2 * d))
    scale = mp.sqrt(mp.pi / (-2 * d)) * mp.exp(a * a / (2 * d) - peak)
    return scale * mp.erfi((a - d * end) / mp.sqrt(-2 * d))


def cdf(x, a, d, lower, upper):
    """Distribution function at x."""
    with mp.workdps(DIGITS):
        a, d, x = mp.mpf(float(a)), mp.mpf(float(d)), mp.mpf(float(x))
        lower, upper = mp.mpf(float(lower)), mp.mpf(float(upper))
        low, at, high = (_antiderivative(a, d, e, mp.mpf(0)) for e in (lower, x, upper))
        return (at - low) / (high - low)


def shares(x, a, d, lower, upper):
    """Probabilities below and above x, each exact where it is small."""
    with mp.workdps(DIGITS):
        if mp.mpf(float(d)) * (mp.mpf(float(lower)) + mp.mpf(float(upper))) < 2 * mp.mpf(float(a)):
            return shares(-x, -a, d, -upper, -lower)[::-1]
        a, d, x = mp.mpf(float(a)), mp.mpf(float(d)), mp.mpf(float(x))
        lower, upper = mp.mpf(float(lower)), mp.mpf(float(upper))
        peak = a * lower - d * lower * lower / 2 if a < d * lower else a * a / (2 * d)
        low, at, high = (_antiderivative(a, d, e, peak) for e in (lower, x, upper))
        return (at - low) / (high - low), (high - at) / (high - low)
