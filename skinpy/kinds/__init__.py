"""Kinds of animation beside skinned clips: texture coordinates that move, stored vertices, rigid parts."""

from .kinds import Animation, KeyReport, Kind, UVAnimation, VertexAnimation, bake_vertices

__all__ = ["Animation", "Kind", "KeyReport", "UVAnimation", "VertexAnimation", "bake_vertices"]
