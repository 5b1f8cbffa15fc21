from .continuations import Forecast as Forecast
from .continuations import ForecastWarning as ForecastWarning
from .rbms_files import load_rbms as load_rbms
from .rbms_files import rbms_updates as rbms_updates
from .rbms_files import save_rbms as save_rbms
from .scaling import Scaling as Scaling
