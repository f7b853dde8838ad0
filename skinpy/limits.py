"""What a file may take while it is loaded, and which formats are read at all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import lru_cache

from ._arguments import finite, whole

__all__ = ["Limits", "DEFAULT_FORMATS"]

#: Suffixes that `load` reads unless it is told otherwise. What Assimp reads besides is only read when it is
#: named: compressed containers, which may hold a thousand times their size, and formats that few need.
DEFAULT_FORMATS: tuple[str, ...] = (
    *("gltf", "glb", "vrm", "fbx", "dae", "bvh", "obj", "stl", "ply"),
    *("3ds", "x", "md2", "smd", "ms3d", "b3d", "md5mesh", "md5anim"),
)

#: Readers that broken files bring down often: in this process they are used only when they are named.
FRAGILE_FORMATS = frozenset({"md5mesh", "md5anim", "md2", "ply", "x"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much a file may take while `skinpy.load` imports it; more is a LimitExceeded that says which.

    - memory: bytes that the import may take (address space, without that of the program and its libraries),
      that its stack may take besides (8 MiB at least, 256 MiB at most), and that the model may have; 1 GiB by
      default.
    - seconds: until the import must be over, of a series of files until all are; 30.
    - file_bytes: of the file and of all that it brings in, together; of a saved model too. 256 MiB.
    - nodes: of the scene, 1,000,000; depth: nodes above one another, 50,000.
    - vertices: of all meshes, as often as they are used, 50,000,000.
    - keys: of all channels of all clips, 50,000,000.

    `memory` and `seconds` hold for imports in a process of their own; with `isolate=False` nothing enforces
    them. Raises TypeError and ValueError for what is no positive number.
    """

    memory: int = 1 << 30
    seconds: float = 30.0
    file_bytes: int = 256 << 20
    nodes: int = 1_000_000
    depth: int = 50_000
    vertices: int = 50_000_000
    keys: int = 50_000_000

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            checked = _seconds(value) if field.name == "seconds" else whole(field.name, value, 1, 2**63 - 1)
            object.__setattr__(self, field.name, checked)  # NumPy's numbers are none that C takes

    @property
    def counts(self) -> tuple[int, int, int, int, int]:
        """What the importer itself counts: file_bytes, nodes, depth, vertices, keys."""
        return (self.file_bytes, self.nodes, self.depth, self.vertices, self.keys)


def _seconds(value: float) -> float:
    seconds = finite("seconds", value)
    if seconds <= 0:
        raise ValueError(f"seconds is {value!r}; expected a positive number")
    return seconds


#: What suffixes hold besides letters and digits: there is a "mesh.xml".
_WITHOUT_MARKS = str.maketrans("", "", "-_.")


def allowed_formats(formats: Iterable[str] | None, isolated: bool) -> str:
    """The suffixes of `allow_formats` as the importer has them: "glb;gltf". None is the default."""
    if formats is None:
        return _DEFAULT if isolated else _DEFAULT_HERE
    if formats is DEFAULT_FORMATS:
        return _DEFAULT
    if isinstance(formats, str):
        raise TypeError(f"allow_formats is {formats!r}; expected several suffixes, such as ({formats!r},)")
    try:
        suffixes = tuple(formats)
    except TypeError:
        raise TypeError(
            f"allow_formats is {formats!r}; expected several suffixes, such as ('glb',)"
        ) from None
    for one in suffixes:
        if not isinstance(one, str) or not one.lstrip("."):
            raise TypeError(f"allow_formats holds {one!r}; expected suffixes such as 'glb'")
    return _joined(suffixes)


@lru_cache(maxsize=64)
def _joined(formats: tuple[str, ...]) -> str:
    named = []
    for one in formats:
        named.append(one.lower().lstrip("."))
        if not named[-1].translate(_WITHOUT_MARKS).isalnum():
            raise ValueError(f"allow_formats holds {one!r}; expected suffixes such as 'glb'")
    return ";".join(named)


_DEFAULT = ";".join(DEFAULT_FORMATS)
_DEFAULT_HERE = ";".join(one for one in DEFAULT_FORMATS if one not in FRAGILE_FORMATS)
