"""Says in one sentence why the extension module `_core` cannot be loaded, when `import skinpy` fails."""

import os
import re
import struct
import sys
import sysconfig
from pathlib import Path

_PROCESSORS = {3: "x86", 40: "ARM", 62: "x86-64", 183: "AArch64", 243: "RISC-V"}  # e_machine in an ELF file
_AGAIN = "install skinpy again, with the pip of this Python"


def reason(package: str, error: ImportError) -> str | None:
    """Return the sentence for an error of importing `_core`, or None for an error that explains itself."""
    if error.name == __package__:  # the package has no such module
        return _without_module(Path(package))
    if error.path and Path(error.path).name.startswith("_core."):
        return _not_loadable(Path(error.path), str(error))
    return None


def _without_module(package: Path) -> str:
    if not package.is_dir():
        return f"{package} lies in an archive, from which Python loads no C modules; install skinpy with pip"
    others = sorted(path.name for path in package.glob("_core.*") if path.suffix in (".so", ".pyd"))
    if others:
        this = f"{sys.implementation.name} {sys.version_info.major}.{sys.version_info.minor}"
        if sysconfig.get_config_var("Py_GIL_DISABLED"):
            this += ", free-threaded"
        return f"{package} has {', '.join(others)} for another Python than this one ({this}); {_AGAIN}"
    return (
        f"{package} is source that is not built for this Python: start Python in another folder to use "
        "the installed skinpy, or build this one in place with pip install -e ."
    )


def _not_loadable(module: Path, words: str) -> str:
    built_for, own = _processor(module), _processor(Path("/proc/self/exe"))
    if built_for and own and built_for != own:
        return f"{module} is for {built_for}, but this Python is for {own}; {_AGAIN}"
    glibc = _glibc_version()
    if sys.platform == "linux" and not glibc:
        return f"{module} needs glibc, but this system has another C library; use a system with glibc"
    newer = re.search(r"GLIBC_([\d.]+)' not found", words)
    if newer:
        return (
            f"{module} needs glibc {newer[1]} or newer, but this system has {glibc}; "
            "use a newer system, or build skinpy on this one"
        )
    if _may_not_run(module):
        return f"{module} lies on a disk that is mounted with noexec; install skinpy on another disk"
    return f"{module} cannot be loaded ({words}); {_AGAIN}"


def _processor(program: Path) -> str | None:
    """The processor that an ELF file is for; None for any other file."""
    try:
        with program.open("rb") as file:
            head = file.read(20)
    except OSError:
        return None
    if len(head) < 20 or not head.startswith(b"\x7fELF"):
        return None
    (number,) = struct.unpack(">H" if head[5] == 2 else "<H", head[18:])
    return f"{_PROCESSORS.get(number, f'processor {number}')} with {32 * head[4]}-bit addresses"


def _may_not_run(module: Path) -> bool:
    """Whether the disk is mounted with noexec, for which the loader has no words of its own."""
    try:
        return bool(os.statvfs(module).f_flag & os.ST_NOEXEC)
    except (AttributeError, OSError):
        return False


def _glibc_version() -> str | None:
    """The version of glibc, such as "2.36"; None where the C library is another."""
    try:
        return (os.confstr("CS_GNU_LIBC_VERSION") or "").removeprefix("glibc ") or None
    except (AttributeError, OSError, ValueError):
        return None
