"""How models are made from arrays and saved, and work on the vertices of a model."""
