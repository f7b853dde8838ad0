"""Benchmarks: skinpy against a good NumPy version of the same work, and its loader against bare Assimp."""
