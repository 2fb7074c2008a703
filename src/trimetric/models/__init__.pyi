# The public names of this package, each listed once.  `__init__.py` imports them from here on first use.

from .denoising import Denoiser as Denoiser
from .encoders import MLP as MLP
from .exporting import export as export
from .heads import HEADS as HEADS
from .heads import Head as Head
from .heads import HeadName as HeadName
from .heads import make_head as make_head
from .heads import recommended as recommended
from .model import Model as Model
from .networks import make_network as make_network
from .pictures import draw_points as draw_points
from .pictures import draw_predictions as draw_predictions
from .pictures import save_figure as save_figure
