"""Where the importer, its worker and Assimp are, and how an import is isolated from this process.

Assimp is looked for in installations, and never in the working folder, nor in the folder of a script or a
notebook, which Python puts on `sys.path`. Such a folder may hold models and programs from strangers.
"""

from __future__ import annotations

import os
import re
import site
import sys
import warnings
from functools import cache, lru_cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from . import _core
from .errors import LoadError, SkinpyWarning

if TYPE_CHECKING:
    from .limits import Limits

#: Everything that decides where Assimp and its dependencies are found: SKINPY_ASSIMP_DIR and LD_LIBRARY_PATH.
Variables: TypeAlias = tuple[str | None, str]
#: Paths of the worker, the importer and Assimp, bytes of memory, seconds, LD_LIBRARY_PATH, strict or not.
Isolation: TypeAlias = tuple[bytes, bytes, bytes, int, float, bytes, bool]

# Imports are isolated by means of Linux. On other systems `load` imports in this process.
_CAN_ISOLATE = sys.platform == "linux"
_ASSIMP = "libassimp.so.6"


# ---- paths ----------------------------------------------------------------------------------------


def variables() -> Variables:
    """The environment variables on which the paths depend."""
    return os.environ.get("SKINPY_ASSIMP_DIR"), os.environ.get("LD_LIBRARY_PATH", "")


@cache
def built_path(name: str) -> bytes:
    """The path of a file that was built beside `_core`."""
    return os.fsencode(Path(_core.__file__).with_name(name))


def library_folders(variable: str) -> str:
    """LD_LIBRARY_PATH without entries that depend on the working folder, which an empty one means."""
    return ":".join(filter(os.path.isabs, re.split("[:;]", variable)))


@cache
def assimp_paths(wanted: str | None, variable: str, *, isolated: bool) -> tuple[bytes, ...]:
    """Paths where Assimp may be: in SKINPY_ASSIMP_DIR, in wheels, and the name that the system knows.

    `wanted` is the value of SKINPY_ASSIMP_DIR, and `variable` that of LD_LIBRARY_PATH, in whose entries the
    system looks for the name. A worker gets only those of `library_folders`. In this process they cannot be
    changed, so the name is left out if there are others.
    """
    if wanted and not os.path.isabs(wanted):
        raise LoadError(
            f"SKINPY_ASSIMP_DIR is {wanted[:100]!r}, which depends on the working folder; "
            "expected an absolute path"
        )
    paths = [Path(wanted, folder, _ASSIMP) for folder in ("lib", "lib64", ".")] if wanted else []
    found = (Path(folder, "cmeel.prefix", "lib", _ASSIMP) for folder in _installations())
    paths += [path for path in found if path.is_file()]
    folders = library_folders(variable)
    if isolated or folders == variable:
        return (*map(os.fsencode, paths), os.fsencode(_ASSIMP))
    return (*map(os.fsencode, paths), *(os.fsencode(Path(one, _ASSIMP)) for one in folders.split(":") if one))


def _installations() -> list[str]:
    """Folders of installed packages: first those of skinpy and NumPy, which run already."""
    packages = [str(Path(module).parent.parent) for module in (__file__, np.__file__)]
    user = [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
    return list(dict.fromkeys([*packages, *site.getsitepackages(), *user]))


# ---- isolated imports -----------------------------------------------------------------------------


@lru_cache(maxsize=64)
def isolation(limits: Limits, key: Variables, strict: bool = False) -> Isolation:
    """What the core needs to import in a worker."""
    return (
        built_path("_worker"),
        built_path("_import.so"),
        b"\n".join(path for path in assimp_paths(*key, isolated=True) if b"\n" not in path),
        limits.memory,
        float(limits.seconds),
        os.fsencode(library_folders(key[1])),
        strict,
    )


def lack_of_worker() -> str | None:
    """Why no import can be isolated, or None."""
    if not _CAN_ISOLATE:
        return "this system cannot isolate imports"
    if not os.path.isfile(built_path("_worker")):
        return "the worker is missing (install skinpy again)"
    return None


def isolation_facts(limits: Limits) -> dict[str, Any]:
    """The entries of `build_info` about isolation, found out by starting a worker."""
    if lack := lack_of_worker():
        return {"isolation": (), "isolation_error": f"{lack}, so load() imports in this process"}
    try:
        found = _core._sandbox(isolation(limits, variables()))
    except LoadError as error:
        return {"isolation": (), "isolation_error": str(error)}
    names = ("limits", "filter", "folders")
    protections = ("process", *(name for name, there in zip(names, found, strict=True) if there))
    return {"isolation": protections, "isolation_error": None}


# ---- imports in this process ----------------------------------------------------------------------

_UNISOLATED = count()  # imports in this process that should have been isolated


def excuse_no_isolation(strict: bool) -> None:
    """Raise LoadError, or give a warning, once per process, where no import can be isolated."""
    if strict:
        raise LoadError(f"isolate='strict' needs a process of its own for the import: {lack_of_worker()}")
    if next(_UNISOLATED) == 0:
        words = f"{lack_of_worker()}, so load() imports in this process, where a broken file can end it"
        warnings.warn(words, SkinpyWarning, stacklevel=5)  # level 5 is the caller of load()


@cache
def start_importer() -> None:
    """Open the importer and Assimp in this process. Only a success is remembered."""
    find_assimp()


def find_assimp() -> tuple[str, str, str]:
    """Open the importer and Assimp in this process; return the path, version and formats of Assimp."""
    return _core._start_importer(built_path("_import.so"), assimp_paths(*variables(), isolated=False))
