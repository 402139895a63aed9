"""`import stiction.gymnasium` imports Gymnasium and registers the ids "stiction/..." with it."""

from .adapters.gymnasium import SingleEnv, VectorEnv
from .adapters.registration import register_all

register_all()

__all__ = ["SingleEnv", "VectorEnv", "register_all"]
