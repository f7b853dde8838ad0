"""Kinds of animation beside skinned clips: moving texture coordinates, stored vertices, rigid submeshes."""

from .animation import Animation, Kind
from .uv import UVAnimation
from .vertex import KeyReport, VertexAnimation
from .vertex_baking import bake_vertices

__all__ = ["Animation", "Kind", "KeyReport", "UVAnimation", "VertexAnimation", "bake_vertices"]
