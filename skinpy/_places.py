"""Where Assimp is looked for: in installations, and never in a working or a script's folder.

The working folder may be a folder of models from strangers, and so may that of a script or a notebook, which
Python puts on `sys.path`.
"""

import os
import re
import site
import sys
from functools import cache
from pathlib import Path

import numpy as np

from .errors import LoadError

_ASSIMP = "libassimp.6.dylib" if sys.platform == "darwin" else "libassimp.so.6"


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
