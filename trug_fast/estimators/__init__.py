"""The models as scikit-learn estimators; needs scikit-learn, and is imported when first used."""

from .tggm import TGGMClassifier, TGGMRegressor
from .transformer import RBMTransformer

__all__ = ["RBMTransformer", "TGGMClassifier", "TGGMRegressor"]
