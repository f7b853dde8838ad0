"""Builds wheels that need nothing of a system but glibc 2.28: wheel.py [OPTIONS] FOLDER.

A wheel is built from the sdist of this checkout with zig (wheel_compiler.py) and linked to static libraries
that are built from Debian's source packages (wheel_libraries.py). auditwheel checks it, and it gets the
licenses and a list of all that it carries (wheel_contents.py). The system that builds may have either
processor. `sh quickstart.sh wheel` calls this script with what it needs.
"""

import argparse
import os
import re
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from wheel_compiler import GLIBC, PROCESSORS, Compiler, run, say
from wheel_contents import add_contents
from wheel_libraries import build, fetch, variables

ROOT = Path(__file__).resolve().parent.parent
#: What every build has, whatever Python was built with: setuptools would take its Python's options.
CFLAGS = "-DNDEBUG -fwrapv -fomit-frame-pointer -ffunction-sections -fdata-sections"

# Prints what a build needs to know of a Python.
ASK = """
import sysconfig
print(sysconfig.get_path("include"))
print(sysconfig.get_config_var("MULTIARCH") or "")
print(sysconfig.get_config_var("SOABI") if sysconfig.get_config_var("Py_GIL_DISABLED") else "")
"""


def header_options(python: str, compiler: Compiler, folder: Path) -> tuple[str, str]:
    """Compiler options for Python's headers, and the suffix of extension modules if setuptools needs it.

    The headers of this machine's Python and NumPy serve for both processors: they state the sizes of C's
    types and what the C library has, and these are the same. Debian's pyconfig.h includes one from a folder
    that is named after the processor, beside the C library's own headers; so the compiler gets a folder with
    links to that file alone, under both names.
    """
    include, multiarch, soabi = run(python, "-c", ASK).split("\n")[:3]
    soabi = re.sub(r"\w+-linux-gnu$", f"{compiler.processor}-linux-gnu", soabi)
    suffix = f".{soabi}.so" if soabi else ""
    version = Path(include).name
    own = Path(include).parent / multiarch / version
    if not (multiarch and own.is_dir()):
        return "", suffix
    for processor in PROCESSORS:
        link = folder / f"{processor}-linux-gnu" / version
        link.parent.mkdir(parents=True)
        link.symlink_to(own)
    return f"-idirafter {folder}", suffix


def environment(python: str, compiler: Compiler, prefix: Path) -> dict[str, str]:
    """Environment in which setup.py builds with the compiler and the libraries in `prefix`."""
    headers, suffix = header_options(python, compiler, prefix / "python")
    flags = f"{CFLAGS} {headers}".strip()
    return {
        **os.environ,
        **variables(prefix),
        **compiler.variables(prefix / "lib"),
        **({"SETUPTOOLS_EXT_SUFFIX": suffix} if suffix else {}),
        "CFLAGS": flags,
        "CXXFLAGS": flags,
    }


def make_sdist(prefix: Path, folder: Path) -> Path:
    """The source archive, from which the wheel is built, so that the build leaves nothing in this folder."""
    command = (sys.executable, "-m", "build", "--sdist", "--outdir", folder, ROOT)
    run(*command, env=os.environ | variables(prefix))
    (archive,) = folder.glob("*.tar.gz")
    return archive


def make_wheel(sdist: Path, python: str, compiler: Compiler, prefix: Path, work: Path) -> Path:
    processor = compiler.processor
    platform = f"manylinux_{GLIBC[0]}_{GLIBC[1]}_{processor}"
    # The compiler gets names relative to this folder, so the wheel does not tell where it was.
    shutil.unpack_archive(sdist, work / "source")
    (source_folder,) = (work / "source").iterdir()
    run(
        *(sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python),
        *("wheel", "--no-deps", "--wheel-dir", work / "built", source_folder),
        *("--config-settings", f"--build-option=--plat-name={platform}"),
        env=environment(python, compiler, prefix),
    )
    (built,) = (work / "built").glob("*.whl")
    check_tag(built, processor)
    return built


def check_tag(wheel: Path, processor: str) -> None:
    """End the program if auditwheel finds that the wheel does not keep what its tag promises."""
    said = " ".join(run(sys.executable, "-m", "auditwheel", "show", wheel).split())
    found = re.search(rf'following platform tag: "manylinux_(\d+)_(\d+)_{processor}"', said)
    if not found or (int(found[1]), int(found[2])) > GLIBC:
        sys.exit(f"auditwheel says of {wheel.name}: {said}")


def end(number: int, _: object) -> None:
    sys.exit(128 + number)


def main() -> None:
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)  # so that the temporary folder is removed, as after Ctrl-C
    parser = argparse.ArgumentParser(prog="sh quickstart.sh wheel", description="Builds wheels.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path("dist"), help="where wheels go (dist)")
    parser.add_argument("--processor", choices=PROCESSORS, help="build for one only, instead of both")
    parser.add_argument(
        "--python",
        default=sys.executable,
        help="Python whose headers are used: a free-threaded one gets wheels of its own, "
        "any other gives wheels for all versions from 3.11 on",
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        # zig keeps what it compiles, its C++ library above all, where the user says, else for this run only.
        cache = os.environ.setdefault("ZIG_GLOBAL_CACHE_DIR", str(work / "zig"))
        os.environ.setdefault("ZIG_LOCAL_CACHE_DIR", cache)
        say("fetching the sources of the libraries")
        sources = fetch(work)
        options.folder.mkdir(parents=True, exist_ok=True)
        for processor in [options.processor] if options.processor else PROCESSORS:
            say(f"building for {processor}")
            own = work / processor
            compiler, prefix = Compiler(processor, own / "bin"), own / "prefix"
            for source in sources:
                build(source, compiler, prefix)
            sdist = make_sdist(prefix, own / "sdist")
            wheel = make_wheel(sdist, options.python, compiler, prefix, own)
            add_contents(wheel, sources)
            # shutil.move also works between file systems.
            say(f"made {shutil.move(wheel, options.folder / wheel.name)}")


if __name__ == "__main__":
    main()
