"""Limits for loading a file, and the formats that are read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import lru_cache

from ._arguments import brief, finite, items_of, whole

__all__ = ["Limits", "DEFAULT_FORMATS"]

#: File extensions that `load` reads by default. Other formats of Assimp are read only if `allow_formats`
#: names them: compressed containers, which may expand to a thousand times their size, and formats that few
#: need.
DEFAULT_FORMATS: tuple[str, ...] = (
    *("gltf", "glb", "vrm", "vrma", "fbx", "dae", "bvh", "obj", "stl", "ply"),
    *("3ds", "x", "md2", "smd", "ms3d", "b3d", "iqm", "md5mesh", "md5anim"),
)

#: Formats whose readers broken files crash most often. Imports in this process must name them.
FRAGILE_FORMATS = frozenset({"md2", "ply"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The amounts that a file may need while `skinpy.load` imports it.

    A file that needs more raises LimitExceeded, whose message names the limit. The defaults are as large as
    real files need.

    Parameters
    ----------
    memory : int, bytes, default 1 GiB
        The address space that the import may take in addition to the program and its libraries. Its stack
        may take as much again, but at least 8 MiB and at most 256 MiB. The model may be as large, too.
    seconds : float, default 30
        The time after which the import must be over. For a series of files it is the time of all of them.
    file_bytes : int, bytes, default 256 MiB
        The size of the file and of all files that it refers to, together.
    nodes : int, default 1,000,000
        The number of nodes of the scene.
    depth : int, default 50,000
        The number of nodes from the root to the deepest one.
    vertices : int, default 50,000,000
        The number of vertices of all meshes; a mesh that is used several times counts each time.
    keys : int, default 50,000,000
        The number of keys of all channels of all clips.

    Raises
    ------
    ValueError
        If a limit is not positive.
    TypeError
        If a limit is not a number.

    Notes
    -----
    Only imports in a process of their own are limited by `memory` and `seconds`; with ``isolate=False``
    nothing enforces these two.

    Examples
    --------
    >>> limits = skinpy.Limits(memory=256 << 20, seconds=5)
    >>> skinpy.load(b"", format="glb", limits=limits)
    Traceback (most recent call last):
    skinpy.errors.LoadError: the model's bytes are empty
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
            object.__setattr__(self, field.name, checked)  # numbers of NumPy become those of Python

    @property
    def counts(self) -> tuple[int, int, int, int, int]:
        """The limits that the importer itself enforces.

        They are `file_bytes`, `nodes`, `depth`, `vertices` and `keys`, in this order.
        """
        return (self.file_bytes, self.nodes, self.depth, self.vertices, self.keys)


def _seconds(value: float) -> float:
    seconds = finite("seconds", value)
    if seconds <= 0:
        raise ValueError(f"seconds is {brief(value)}; expected a positive number")
    return seconds


#: Removes the marks that extensions may have besides letters and digits, as in "mesh.xml".
_WITHOUT_MARKS = str.maketrans("", "", "-_.")


def allowed_formats(formats: Iterable[str] | None, isolated: bool) -> str:
    """The extensions of `allow_formats` as the importer takes them: "glb;gltf". None means the default."""
    if formats is None:
        return _DEFAULT if isolated else _DEFAULT_HERE
    if formats is DEFAULT_FORMATS:
        return _DEFAULT
    if isinstance(formats, str):
        came = brief(formats)
        raise TypeError(f"allow_formats is {came}; expected several suffixes, such as ({came},)")
    suffixes = tuple(items_of("allow_formats", formats, "several suffixes, such as ('glb',)"))
    for one in suffixes:
        if not isinstance(one, str) or not one.lstrip("."):
            raise TypeError(f"allow_formats holds {brief(one)}; expected suffixes such as 'glb'")
    return _joined(suffixes)


@lru_cache(maxsize=64)
def _joined(formats: tuple[str, ...]) -> str:
    named = []
    for one in formats:
        named.append(one.lower().lstrip("."))
        if not named[-1].translate(_WITHOUT_MARKS).isalnum():
            raise ValueError(f"allow_formats holds {brief(one)}; expected suffixes such as 'glb'")
    return ";".join(named)


_DEFAULT = ";".join(DEFAULT_FORMATS)
_DEFAULT_HERE = ";".join(one for one in DEFAULT_FORMATS if one not in FRAGILE_FORMATS)
