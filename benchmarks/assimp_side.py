"""Bare Assimp, as a C program would call it: import with the triangulate flag, free the scene."""

from __future__ import annotations

import ctypes
import sys
from dataclasses import dataclass
from pathlib import Path

TRIANGULATE = 0x8  # aiProcess_Triangulate, the one step that skinpy's importer asks for

# Where Assimp 6 keeps what is read here, on 64-bit machines (scene.h, anim.h); an aiString takes 1,028 bytes.
SCENE_ANIMATIONS = 48  # unsigned mNumAnimations, aiAnimation **mAnimations
ANIMATION_CHANNELS = 1048  # unsigned mNumChannels, aiNodeAnim **mChannels
#: Of aiNodeAnim: where the count stands, where the keys, bytes of a key, where in it the value, its bytes.
TRACKS = ((1028, 1032, 24, 8, 12), (1040, 1048, 32, 8, 16), (1056, 1064, 24, 8, 12))


@dataclass
class Keys:
    """What Assimp holds for an animation."""

    bytes: int  # of aiVectorKey and aiQuatKey
    tracks: int  # translations, rotations and scales of its channels
    constant: int  # tracks with equal values in all keys
    repeated: int  # bytes of those that have more than one key


class Assimp:
    """The library that the installed package ships."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL(str(find_library()))
        self.library.aiImportFile.argtypes = (ctypes.c_char_p, ctypes.c_uint)
        self.library.aiImportFile.restype = ctypes.c_void_p
        self.library.aiReleaseImport.argtypes = (ctypes.c_void_p,)
        self.library.aiReleaseImport.restype = None
        self.library.aiExportScene.argtypes = (
            ctypes.c_void_p,
            ctypes.c_char_p,
            ctypes.c_char_p,
            ctypes.c_uint,
        )
        numbers = [getattr(self.library, f"aiGetVersion{part}") for part in ("Major", "Minor", "Patch")]
        self.version = ".".join(str(number()) for number in numbers)

    def open(self, path: Path) -> int:
        """Address of the scene; `close` frees it."""
        scene = self.library.aiImportFile(str(path).encode(), TRIANGULATE)
        if not scene:
            raise RuntimeError(f"Assimp does not read {path.name}")
        return int(scene)

    def close(self, scene: int) -> None:
        self.library.aiReleaseImport(scene)

    def load(self, path: Path) -> None:
        self.close(self.open(path))

    def export(self, path: Path, kind: str, to: Path) -> None:
        """Writes the model as another kind of file, by Assimp's name of it."""
        scene = self.open(path)
        try:
            if self.library.aiExportScene(scene, kind.encode(), str(to).encode(), 0):
                raise RuntimeError(f"Assimp does not write {path.name} as {to.name}")
        finally:
            self.close(scene)

    def keys(self, path: Path) -> list[Keys]:
        """One entry for each animation of the file."""
        scene = self.open(path)
        try:
            return [_keys(animation) for animation in _pointers(scene + SCENE_ANIMATIONS)]
        finally:
            self.close(scene)


def _pointers(address: int) -> list[int]:
    """An unsigned count at `address` and a pointer to that many pointers behind it."""
    count = ctypes.c_uint.from_address(address).value
    first = ctypes.c_void_p.from_address(address + 8).value
    return list((ctypes.c_uint64 * count).from_address(first)) if count and first else []


def _keys(animation: int) -> Keys:
    total = Keys(0, 0, 0, 0)
    for channel in _pointers(animation + ANIMATION_CHANNELS):
        for count_at, keys_at, size, value_at, width in TRACKS:
            count = ctypes.c_uint.from_address(channel + count_at).value
            first = ctypes.c_void_p.from_address(channel + keys_at).value
            if not count or not first:
                continue
            data = ctypes.string_at(first, count * size)
            values = {data[k + value_at : k + value_at + width] for k in range(0, len(data), size)}
            total.bytes += len(data)
            total.tracks += 1
            total.constant += len(values) == 1
            total.repeated += len(data) if len(values) == 1 < count else 0
    return total


def find_library() -> Path:
    for entry in sys.path:
        for found in sorted(Path(entry or ".").glob("cmeel.prefix/lib/libassimp.so*")):
            return found
    raise RuntimeError("no cmeel.prefix/lib/libassimp.so beside sys.path; install cmeel-assimp")
