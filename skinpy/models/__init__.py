"""How models are made from arrays, and work on the vertices of a model."""
