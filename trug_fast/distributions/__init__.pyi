from .family import Family as Family
from .family import Frozen as Frozen
from .family import truncnorm as truncnorm
from .multivariate.chains import TruncMVNChains as TruncMVNChains
from .multivariate.family import truncmvn as truncmvn
from .multivariate.gibbs import truncmvn_gibbs as truncmvn_gibbs
from .multivariate.hmc import truncmvn_hmc as truncmvn_hmc
from .scipys import scipy_truncnorm as scipy_truncnorm
