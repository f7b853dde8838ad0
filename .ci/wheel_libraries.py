"""The libraries that a wheel carries: fetches Debian's source packages and builds static libraries of them.

Source packages have Debian's corrections and are signed. apt gets a configuration of its own for them, in a
temporary folder: the system's entries, asked for sources. cglm and jsmn are headers alone, and are taken as
they are installed. No library's own build system runs: a static library is some compiled files, and one
table says which.
"""

import functools
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from wheel_compiler import COMPILE, Compiler, run, say

APT = Path("/etc/apt")
INCLUDE = Path("/usr/include")
DOCUMENTS = Path("/usr/share/doc")


class Library(NamedTuple):
    name: str  # of the source package, and of the library
    license: str  # as SPDX writes it
    folder: str = ""  # where the patterns hold, in the package
    sources: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    written: tuple[str, str] = ("", "")  # name and text of the header that its build system would write
    skipped: str = ""  # what the names of unwanted sources have


DRACO_FOLDERS = (
    "attributes",
    "compression",
    "compression/attributes",
    "compression/bit_coders",
    "compression/entropy",
    "compression/mesh",
    "compression/point_cloud",
    "core",
    "mesh",
    "metadata",
    "point_cloud",
)
#: What Draco's build writes if no option is given.
DRACO_FEATURES = """
#define DRACO_POINT_CLOUD_COMPRESSION_SUPPORTED
#define DRACO_MESH_COMPRESSION_SUPPORTED
#define DRACO_NORMAL_ENCODING_SUPPORTED
#define DRACO_STANDARD_EDGEBREAKER_SUPPORTED
#define DRACO_PREDICTIVE_EDGEBREAKER_SUPPORTED
#define DRACO_BACKWARDS_COMPATIBILITY_SUPPORTED
#define DRACO_ATTRIBUTE_INDICES_DEDUPLICATION_SUPPORTED
#define DRACO_ATTRIBUTE_VALUES_DEDUPLICATION_SUPPORTED
"""
#: What Expat's build finds on Linux with a little-endian processor; getrandom is in glibc since 2.25.
EXPAT_CONFIG = """
#define BYTEORDER 1234
#define HAVE_GETRANDOM 1
#define XML_CONTEXT_BYTES 1024
#define XML_DTD 1
#define XML_GE 1
#define XML_NS 1
"""

LIBRARIES = (
    Library("zlib", "Zlib", "", ("[!g]*.c",), ("zlib.h", "zconf.h")),
    Library(
        "expat",
        "MIT",
        "expat/lib",
        ("xmlparse.c", "xmlrole.c", "xmltok.c"),
        ("expat.h", "expat_external.h"),
        ("expat_config.h", EXPAT_CONFIG),
    ),
    Library("meshoptimizer", "MIT", "src", ("*.cpp",), ("meshoptimizer.h",)),
    Library(
        "draco",
        "Apache-2.0",
        "src",
        tuple(f"draco/{folder}/*.cc" for folder in DRACO_FOLDERS),
        ("draco/**/*.h",),
        ("draco/draco_features.h", DRACO_FEATURES),
        skipped=r"encod|_test",
    ),
)
HEADERS = (Library("cglm", "MIT", headers=("cglm/**/*.h",)), Library("jsmn", "MIT", headers=("jsmn.h",)))


class Source(NamedTuple):
    """A library as it was found: where, in which version of Debian's, and its copyright file."""

    library: Library
    folder: Path
    version: str
    copyright: Path


# ---- fetching ----------------------------------------------------------------------------------------


def source_entries() -> Iterator[tuple[str, str]]:
    """Names and texts of the system's files of apt entries, each entry changed to ask for source packages."""
    for path in [APT / "sources.list", *sorted((APT / "sources.list.d").glob("*"))]:
        if not path.is_file() or path.suffix not in (".list", ".sources"):
            continue
        text = path.read_text()
        if path.suffix == ".sources":
            yield path.name, re.sub(r"(?im)^Types:.*$", "Types: deb-src", text)
        else:
            yield path.name, re.sub(r"(?m)^\s*deb(-src)?\s", "deb-src ", text)


def apt_options(folder: Path) -> list[str]:
    """Options by which apt keeps to `folder`, and trusts the keys that the system trusts."""
    for inner in ("entries", "lists/partial", "cache"):
        (folder / inner).mkdir(parents=True)
    for name, text in source_entries():
        (folder / "entries" / name).write_text(text)
    options = {
        "Dir::Etc::SourceList": "/dev/null",
        "Dir::Etc::SourceParts": folder / "entries",
        "Dir::State::Lists": folder / "lists",
        "Dir::Cache": folder / "cache",
        "APT::Sandbox::User": "root",  # no other user could write into the folder
    }
    return [word for name, value in options.items() for word in ("-o", f"{name}={value}")]


def newest_first(one: str, other: str) -> int:
    older = subprocess.run(["dpkg", "--compare-versions", one, "lt", other]).returncode == 0
    return 1 if older else -1


def versions_of(package: str, options: list[str]) -> list[str]:
    """The versions of a source package that apt knows, the newest first."""
    listed = run("apt-cache", *options, "showsrc", "--only-source", package)
    versions = set(re.findall(r"(?m)^Version: (.*)$", listed))
    if not versions:
        sys.exit(f"apt knows no source package {package} (its entries are those of {APT}, asked for sources)")
    return sorted(versions, key=functools.cmp_to_key(newest_first))


def fetch_source(library: Library, work: Path, options: list[str]) -> Source:
    """Unpack the newest source package that can be had: some mirrors lack files that their index lists."""
    known = versions_of(library.name, options)
    for version in known:
        words = ["apt-get", *options, "--quiet", "source", f"{library.name}={version}"]
        done = subprocess.run(words, cwd=work, text=True, capture_output=True)
        found = [path for path in work.glob(f"{library.name}-*") if path.is_dir()]
        if done.returncode == 0 and found:
            if version != known[0]:
                say(f"WARNING: no source of {library.name} {known[0]} could be had, the wheel gets {version}")
            return Source(library, found[0], version, found[0] / "debian/copyright")
    sys.exit(f"{done.stdout}{done.stderr}\napt-get cannot fetch the source of {library.name}")


def installed_headers(library: Library) -> Source:
    package = f"lib{library.name}-dev"
    version = run("dpkg-query", "--show", "--showformat=${source:Version}", package)
    return Source(library, INCLUDE, version, DOCUMENTS / package / "copyright")


def fetch(work: Path) -> list[Source]:
    """All that a wheel carries, fetched into the folder `work`."""
    if not shutil.which("apt-get"):
        sys.exit("wheels are built on Debian and its kin: their libraries come as Debian's source packages")
    options = apt_options(work / "apt")
    # By itself apt only warns of a list that it cannot get, and the wheel would get an older library.
    run("apt-get", *options, "--option=APT::Update::Error-Mode=any", "--quiet", "update")
    unpacked = [fetch_source(library, work, options) for library in LIBRARIES]
    return unpacked + [installed_headers(library) for library in HEADERS]


# ---- building ----------------------------------------------------------------------------------------


def build(source: Source, compiler: Compiler, prefix: Path) -> None:
    """Put headers and static library of one source into the folders include and lib of `prefix`."""
    library, root = source.library, source.folder / source.library.folder
    include, objects = prefix / "include", prefix / "objects" / library.name
    name, text = library.written
    if name:
        (root / name).write_text(text)
    for header in matches(root, library.headers):
        (include / header).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / header, include / header)
    sources = [
        name for name in matches(root, library.sources) if not re.search(library.skipped or "$^", name)
    ]
    if not sources:
        return

    # Names are relative to the package, so no folder of this machine gets into an object file.
    def compile_one(name: str) -> Path:
        target = objects / f"{name.replace('/', '_')}.o"
        driver = compiler.folder / ("cc" if name.endswith(".c") else "c++")
        run(driver, *COMPILE, "-I.", "-c", name, "-o", target, cwd=root)
        return target

    objects.mkdir(parents=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        compiled = list(pool.map(compile_one, sources))
    (prefix / "lib").mkdir(exist_ok=True)
    run(compiler.folder / "ar", "rcsD", prefix / "lib" / f"lib{short_name(library)}.a", *compiled)


def matches(root: Path, patterns: tuple[str, ...]) -> list[str]:
    return sorted(str(path.relative_to(root)) for pattern in patterns for path in root.glob(pattern))


def short_name(library: Library) -> str:
    """What the linker's option -l calls it."""
    return "z" if library.name == "zlib" else library.name


def variables(prefix: Path) -> dict[str, str]:
    """Where setup.py finds the libraries and headers."""
    return {f"SKINPY_{library.name.upper()}_DIR": str(prefix) for library in LIBRARIES + HEADERS}
