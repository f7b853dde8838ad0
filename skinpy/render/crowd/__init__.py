"""Crowds: many instances of one model, drawn with one call per material."""
