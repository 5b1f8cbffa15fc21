"""The models as scikit-learn estimators; needs scikit-learn, and is imported when first used."""

from .classifier import TGGMClassifier
from .regressor import TGGMRegressor
from .transformer import RBMTransformer

__all__ = ["RBMTransformer", "TGGMClassifier", "TGGMRegressor"]
