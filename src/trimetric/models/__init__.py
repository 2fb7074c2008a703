"""What is learned and kept: encoders, heads by name, and trained models with their files."""

from trimetric.models.encoders import MLP as MLP
from trimetric.models.export import export as export
from trimetric.models.model import Model as Model
from trimetric.models.recommended import recommended as recommended
