"""Models in folders and repositories of the Hugging Face Hub: weights, configuration and a card made from the notes."""

from trimetric.integrations.huggingface.card import model_card as model_card
from trimetric.integrations.huggingface.folders import PretrainedMixin as PretrainedMixin
from trimetric.integrations.huggingface.folders import from_pretrained as from_pretrained
from trimetric.integrations.huggingface.folders import push_to_hub as push_to_hub
from trimetric.integrations.huggingface.folders import save_pretrained as save_pretrained
