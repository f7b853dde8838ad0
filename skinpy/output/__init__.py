"""Encoders of frames: RGBA uint8 arrays in, files out. Nothing here knows what a model is."""

from .film import save_film
from .picture import encode_picture, save_picture

__all__ = ["encode_picture", "save_picture", "save_film"]
