"""The GLSL sources, read with `importlib.resources.files("skinpy.shaders")`."""
