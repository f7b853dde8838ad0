"""Bare Assimp, as a C program would call it: import with the triangulate flag, free the scene."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

TRIANGULATE = 0x8  # aiProcess_Triangulate, the one step that skinpy's importer asks for


class Assimp:
    """The library that the installed package ships."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL(str(find_library()))
        self.library.aiImportFile.argtypes = (ctypes.c_char_p, ctypes.c_uint)
        self.library.aiImportFile.restype = ctypes.c_void_p
        self.library.aiReleaseImport.argtypes = (ctypes.c_void_p,)
        self.library.aiReleaseImport.restype = None
        numbers = [getattr(self.library, f"aiGetVersion{part}") for part in ("Major", "Minor", "Patch")]
        self.version = ".".join(str(number()) for number in numbers)

    def load(self, path: Path) -> None:
        scene = self.library.aiImportFile(str(path).encode(), TRIANGULATE)
        if not scene:
            raise RuntimeError(f"Assimp does not read {path.name}")
        self.library.aiReleaseImport(scene)


def find_library() -> Path:
    for entry in sys.path:
        for found in sorted(Path(entry or ".").glob("cmeel.prefix/lib/libassimp.so*")):
            return found
    raise RuntimeError("no cmeel.prefix/lib/libassimp.so beside sys.path; install cmeel-assimp")
