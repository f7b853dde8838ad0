"""How clips are made: from arrays, and from other clips (trimmed, mirrored, bound to a model by name)."""
