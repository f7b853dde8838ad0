"""OpenGL itself: the graphics thread and its context, programs from GLSL files, uploads and framebuffers."""
