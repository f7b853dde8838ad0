"""Builds the two shared objects and the program of skinpy; everything else stands in pyproject.toml.

`skinpy._core` is the extension module: csrc/core, csrc/ext and the parent's side of csrc/worker. It is built
for the limited API of Python 3.11, so one build serves that version and all later ones, but for free-threaded
Pythons, which need builds of their own.
`skinpy._import` is the importer: csrc/import and, once more, what it needs of csrc/core. It is not a Python
module: `_core` or the worker opens it by its path. It is built as an Extension all the same, which puts it
beside `_core` in wheels and editable installations. So is the worker, `skinpy._worker`, which is a program.
None links to Assimp, cglm or jsmn: of all three only headers are used. The importer links to zlib, for FBX
and .x, to Expat, for COLLADA, and for compressed glTF to meshoptimizer and Draco, where these are there.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).parent
OLDEST_ASSIMP = 6  # 5.x has no kinds of key interpolation and other struct sizes
OLDEST_NUMPY = 2  # to build; a build with its headers runs with 1.26, too
ON_LINUX = sys.platform == "linux"
LIMITED_API = not sysconfig.get_config_var("Py_GIL_DISABLED")  # free-threaded Pythons do not have it


class Needs:
    """Finds what a build needs, and notes what is missing, so that one message can name all of it."""

    def __init__(self) -> None:
        self.missing: list[str] = []
        self.debian: list[str] = []  # packages that have what is missing
        self.pip: list[str] = []

    def note(self, what: str, debian: str = "", pip: str = "") -> None:
        self.missing.append(what)
        self.debian += debian.split()
        self.pip += pip.split()

    def find_headers(self, name: str, header: str, debian: str = "", pip: str = "") -> Path:
        """The first candidate folder in which `header` stands."""
        for folder in include_candidates(name):
            if (folder / header).is_file():
                return folder
        variable = variable_of(name)
        if prefix := os.environ.get(variable):
            self.note(f"{header} in {variable} ({prefix})")
        else:
            self.note(header, debian, pip)
        return Path()

    def check(self) -> None:
        """End the build with one sentence if anything is missing."""
        if not self.missing:
            return
        *first, last = self.missing
        lacks = f"{', '.join(first)} and {last} are missing" if first else f"{last} is missing"
        parts = [f"skinpy cannot be built: {lacks}"]
        if self.debian:
            parts.append(f"on Debian and Ubuntu, run apt-get install {' '.join(self.debian)}")
        if self.pip:
            parts.append(f"run pip install {shlex.join(self.pip)}")
        raise SystemExit("; ".join([*parts, "docs/installing.md says where skinpy looks."]))


def compiler(variable: str, otherwise: str) -> list[str]:
    """The command of a compiler: CC or CXX."""
    return shlex.split(os.environ.get(variable) or sysconfig.get_config_var(variable) or otherwise)


def find_compiler(needs: Needs) -> None:
    """Check the C compiler and what every build includes: the headers of C and of Python."""
    command = compiler("CC", "cc")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "needs.c")
        source.write_text("#include <stdio.h>\n")
        try:
            subprocess.run([*command, "-E", str(source)], capture_output=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            needs.note(f"a C compiler with its headers ({command[0]})", "gcc libc6-dev")
    if not any(Path(sysconfig.get_path(kind), "Python.h").is_file() for kind in ("include", "platinclude")):
        needs.note("Python.h", "python3-dev")


def find_numpy(needs: Needs) -> Path:
    """Include folder of NumPy, which is new enough."""
    try:
        import numpy
    except ImportError:
        found = ""
    else:
        if int(numpy.__version__.split(".")[0]) >= OLDEST_NUMPY:
            return Path(numpy.get_include())
        found = f" ({numpy.__version__} is too old)"
    needs.note(f"NumPy {OLDEST_NUMPY}{found}", pip="numpy>=2,<3")
    return Path()


def variable_of(name: str) -> str:
    """The environment variable that says where `name` is."""
    return f"SKINPY_{name.upper()}_DIR"


def ask_pkg_config(*arguments: str) -> str:
    """What pkg-config answers, or "" where it is absent or does not know the package."""
    try:
        answer = subprocess.run(["pkg-config", *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return answer.stdout.strip()


def include_candidates(name: str) -> Iterator[Path]:
    """Folders that may hold the headers of `name`, the most wanted first.

    SKINPY_<NAME>_DIR is a prefix (with include/ in it) or the include folder itself, and where it is
    set nothing else counts.
    """
    wanted = os.environ.get(variable_of(name))
    if wanted:
        yield Path(wanted, "include")
        yield Path(wanted)
        return
    if name == "assimp":
        # A build in isolation has its own copy of the wheel on sys.path, in front of all others.
        for entry in sys.path:
            yield Path(entry or ".", "cmeel.prefix", "include")
    listed = ask_pkg_config("--variable=includedir", name)
    if listed:
        yield Path(listed)
    yield from (Path("/usr/local/include"), Path("/usr/include"))


def assimp_version(include: Path) -> str:
    """Version of the Assimp whose headers stand in `include`: its headers do not tell it."""
    prefix = include.parent
    for description in sorted(prefix.glob("lib*/**/pkgconfig/assimp.pc")):
        found = re.search(r"^Version:\s*(\d+\.\d+(?:\.\d+)?)", description.read_text(), re.MULTILINE)
        if found:
            return found[1]
    for library in sorted(prefix.glob("lib*/**/libassimp.*")):
        found = re.fullmatch(r"libassimp\.so\.(\d+\.\d+\.\d+)", library.name)
        if found:
            return found[1]
    return ""


def find_assimp(needs: Needs) -> tuple[Path, str]:
    """Include folder and version of Assimp, which is new enough."""
    wheel = "cmeel-assimp>=6.0.5,<7"  # which a build in isolation, as pip makes it, has
    include = needs.find_headers("assimp", "assimp/scene.h", pip=wheel)
    version = assimp_version(include)
    # Of use where no version was found: this kind of key interpolation came with Assimp 6.
    kinds = include / "assimp/anim.h"
    has_kinds = kinds.is_file() and "aiAnimInterpolation_Cubic_Spline" in kinds.read_text(errors="replace")
    is_old = not has_kinds or (version and int(version.split(".")[0]) < OLDEST_ASSIMP)
    if is_old and include != Path():
        found = f"Assimp {version or 'of an old version'} in {include} is too old"
        needs.note(f"Assimp {OLDEST_ASSIMP} or newer ({found})", pip=wheel)
    return include, version or f"{OLDEST_ASSIMP} or newer"


class Library(NamedTuple):
    """A library that the importer links to."""

    include: Path
    link_args: list[str]
    version: str = ""


def link_args(name: str, option: str) -> list[str]:
    """Linker arguments for a library: of its prefix, if a variable names that, or of the system."""
    prefix = os.environ.get(variable_of(name))
    return [*([f"-L{prefix}/lib"] if prefix else []), option]


def find_library(needs: Needs, name: str, header: str, package: str, option: str) -> Library:
    return Library(needs.find_headers(name, header, package), link_args(name, option))


def find_optional(needs: Needs, name: str, header: str, version: str) -> Library | None:
    """A library that may be absent; None where it is not there.

    SKINPY_<NAME>_DIR is its prefix; "none" builds without it. `version` is a pattern that finds the version
    in the header.
    """
    prefix = os.environ.get(variable_of(name))
    if prefix == "none":
        return None
    include = (needs if prefix else Needs()).find_headers(name, header)
    if include == Path():
        return None
    found = re.search(version, (include / header).read_text(errors="replace"))
    return Library(include, link_args(name, f"-l{name}"), found[1] if found else "unknown")


def find_meshoptimizer(needs: Needs) -> Library | None:
    pattern = r"MESHOPTIMIZER_VERSION \d+ /\* ([\d.]+)"
    return find_optional(needs, "meshoptimizer", "meshoptimizer.h", pattern)


def find_draco(needs: Needs) -> Library | None:
    """Draco, which needs a C++ compiler as well."""
    if not shutil.which(compiler("CXX", "c++")[0]):
        return None
    pattern = r'kDracoVersion\[\] = "([^"]+)"'
    return find_optional(needs, "draco", "draco/core/draco_version.h", pattern)


def project() -> dict[str, Any]:
    """The table [project] of pyproject.toml, which is the one place that states the version."""
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


def description() -> str:
    """README.md for a package index, where links into the repository need the address of the sources.

    Addresses have the form that GitHub and GitLab read. Without the address of the sources in pyproject.toml,
    the links stay as they are.
    """
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    source = project().get("urls", {}).get("Source")
    if not source:
        return text
    tag = f"v{project()['version']}"
    pictures = rf"\g<1>{source}/raw/{tag}/"
    pages = rf"\g<1>{source}/blob/{tag}/"
    text = re.sub(r'(!\[[^]]*\]\(|src=")(?!\w+:|#)', pictures, text)
    return re.sub(r"((?<!!)\[[^]]*\]\()(?!\w+:|#)", pages, text)


def files(*patterns: str) -> list[str]:
    """Files below this folder, in one order on every machine, as setuptools wants them: relative."""
    return sorted(str(path.relative_to(ROOT)) for pattern in patterns for path in ROOT.glob(pattern))


class SharedObject(Extension):
    """A shared object that is not a Python module, and lies where an extension module would."""

    suffix = ".so"


class Program(SharedObject):
    """An executable file."""

    suffix = ""


class Core(Extension):
    """The extension module. The sources of its SIMD kernels are compiled twice."""

    #: They are among the sources, which gives the kernels for AVX2 or NEON; the second time gives those for
    #: AVX-512 and, on 64-bit ARM, empty objects.
    kernels = files("csrc/core/simd/*.c")


class IncrementalBuild(build_ext):
    """build_ext that compiles only what changed, on all processors, and that can also link programs.

    An object file is kept if the same command made it and if it is newer than its source and than every
    header that the source includes; the compiler lists these headers in a .d file (-MMD). Each extension has
    its own folder of objects, because flags differ.
    """

    def build_extensions(self) -> None:
        compile_one = self.compiler._compile

        def compile_if_outdated(
            target: str, source: str, suffix: str, first: list[str], last: list[str], include: list[str]
        ) -> None:
            if source.endswith(".cpp"):
                last = ["-std=c++17" if option == "-std=c11" else option for option in last]
            command = " ".join([source, *first, *last, *include])
            record = Path(target).with_suffix(".command")
            if record.is_file() and record.read_text() == command and is_newest(Path(target)):
                return
            record.unlink(missing_ok=True)
            compile_one(target, source, suffix, first, [*last, "-MMD"], include)
            record.write_text(command)

        self.compiler.compile = side_by_side(self.compiler, compile_if_outdated)
        self.force = True  # without it, an extension is skipped whose options changed and not its sources
        super().build_extensions()

    def get_ext_filename(self, fullname: str) -> str:
        ext = self.ext_map.get(fullname)
        if isinstance(ext, SharedObject):
            return fullname.replace(".", os.sep) + ext.suffix
        name: str = super().get_ext_filename(fullname)
        return name

    def copy_extensions_to_source(self) -> None:
        """Remove what an older build left in place: Python would import it before the new module."""
        super().copy_extensions_to_source()
        if LIMITED_API:
            for name in ("_core", "_import", "_worker"):
                (ROOT / "skinpy" / f"{name}{sysconfig.get_config_var('EXT_SUFFIX')}").unlink(missing_ok=True)

    def build_extension(self, ext: Extension) -> None:
        shared = self.build_temp
        self.build_temp = os.path.join(shared, ext.name)
        try:
            if isinstance(ext, Core):
                ext.extra_objects = self.compile_for_avx512(ext)
            if isinstance(ext, Program):
                self.build_program(ext)
            else:
                super().build_extension(ext)
        finally:
            self.build_temp = shared

    def compile_for_avx512(self, ext: Core) -> list[str]:
        """Object files of the kernels for AVX-512; csrc/core/simd/sk_kernel.h says how both sets differ."""
        objects: list[str] = self.compiler.compile(
            ext.kernels,
            output_dir=os.path.join(self.build_temp, "avx512"),
            macros=[*ext.define_macros, ("SK_KERNELS_AVX512", None)],
            extra_postargs=ext.extra_compile_args,
            depends=ext.depends,
        )
        return objects

    def build_program(self, ext: Program) -> None:
        objects = self.compiler.compile(
            ext.sources,
            output_dir=self.build_temp,
            macros=ext.define_macros,
            extra_postargs=ext.extra_compile_args,
            depends=ext.depends,
        )
        path = Path(self.get_ext_fullpath(ext.name))
        self.mkpath(str(path.parent))
        self.compiler.link_executable(
            objects,
            path.name,
            output_dir=str(path.parent),
            libraries=ext.libraries,
            extra_postargs=[*ext.extra_link_args, *shlex.split(os.environ.get("LDFLAGS", ""))],
        )


def side_by_side(compiler: Any, compile_one: Callable[..., None]) -> Callable[..., list[str]]:
    """The method `compile` of a compiler, with `compile_one` called for several files at a time."""
    compile_in_turn = compiler.compile

    def compile_all(*arguments: Any, **options: Any) -> list[str]:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            started: list[Future[None]] = []
            compiler._compile = lambda *one: started.append(pool.submit(compile_one, *one))
            objects: list[str] = compile_in_turn(*arguments, **options)
            for one in started:
                one.result()
        return objects

    return compile_all


def is_newest(target: Path) -> bool:
    """Whether an object file is newer than all that it was made of, as the .d file beside it lists it."""
    listed = target.with_suffix(".d")
    if not (target.is_file() and listed.is_file()):
        return False
    sources = listed.read_text().replace("\\\n", " ").split(":", 1)[1].split()
    made = target.stat().st_mtime_ns
    return all(os.path.exists(source) and os.stat(source).st_mtime_ns < made for source in sources)


def sanitizer_args() -> list[str]:
    """For a build with sanitizers, for tests: SKINPY_SANITIZE=address,undefined (or thread)."""
    wanted = os.environ.get("SKINPY_SANITIZE")
    if not wanted:
        return []
    return [
        f"-fsanitize={wanted}",
        "-fno-sanitize-recover=all",
        "-fno-omit-frame-pointer",
        "-g1",  # what reports name: functions and lines
        "-O1",
        "-DSK_DEBUG",
    ]


def debug_args() -> list[str]:
    """SKINPY_DEBUG=1 builds for a debugger, with the assertions of the core (SK_ASSERT).

    Other builds have no debug information unless CFLAGS asks for it: it is nine tenths of a library.
    """
    if os.environ.get("SKINPY_DEBUG"):
        return ["-g3", "-Og", "-DSK_DEBUG"]
    return [] if sanitizer_args() or "-g" in os.environ.get("CFLAGS", "").split() else ["-g0"]


class Found(NamedTuple):
    """What a build uses of others: include folders, and the libraries that the importer links to."""

    numpy: Path
    assimp: Path
    assimp_version: str
    cglm: Path
    jsmn: Path
    zlib: Library
    expat: Library
    meshoptimizer: Library | None
    draco: Library | None

    @property
    def libraries(self) -> list[Library]:
        return [one for one in (self.zlib, self.expat, self.meshoptimizer, self.draco) if one]

    @property
    def macros(self) -> list[tuple[str, str]]:
        """The versions that are built in, as texts."""
        versions = {
            "SKINPY_VERSION": project()["version"],
            "SKINPY_BUILT_ASSIMP": self.assimp_version,
            "SKINPY_MESHOPTIMIZER": self.meshoptimizer and self.meshoptimizer.version,
            "SKINPY_DRACO": self.draco and self.draco.version,
        }
        return [(name, f'"{version}"') for name, version in versions.items() if version]


def find_all() -> Found:
    needs = Needs()
    find_compiler(needs)
    found = Found(
        find_numpy(needs),
        *find_assimp(needs),
        needs.find_headers("cglm", "cglm/cglm.h", "libcglm-dev"),
        needs.find_headers("jsmn", "jsmn.h", "libjsmn-dev"),
        find_library(needs, "zlib", "zlib.h", "zlib1g-dev", "-lz"),
        find_library(needs, "expat", "expat.h", "libexpat1-dev", "-lexpat"),
        find_meshoptimizer(needs),
        find_draco(needs),
    )
    needs.check()
    return found


def extension(
    kind: type[Extension],
    name: str,
    sources: list[str],
    foreign: list[Path],
    macros: list[tuple[str, str]],
    link_args: list[str],
) -> Extension:
    # No -march: one build runs on every processor of its kind. No -ffast-math and no contraction: the plain
    # path gives the same bits with every compiler.
    options = ["-std=c11", "-O3", "-ffp-contract=off", "-fvisibility=hidden", "-Wall", "-Wextra"]
    # -isystem: warnings in foreign headers are not ours to mend. /usr/include is searched anyway, and to name
    # it would put it in front of the compiler's own headers.
    include = [f"-isystem{folder}" for folder in sorted({*foreign} - {Path("/usr/include")})]
    return kind(
        f"skinpy.{name}",
        sources=sources,
        depends=files("csrc/**/*.h", "csrc/**/*.inc"),
        define_macros=macros,
        extra_compile_args=[*options, *debug_args(), *include, *sanitizer_args()],
        extra_link_args=[*link_args, "-pthread", *sanitizer_args()],
        libraries=["m", "dl"] if ON_LINUX else ["m"],
        py_limited_api=LIMITED_API and kind is Core,
    )


def core(found: Found) -> Extension:
    patterns = ("csrc/core/**/*.c", "csrc/ext/*.c", "csrc/worker/worker_spawn.c")
    sources = files(*patterns, *(["csrc/worker/worker_io.c"] if ON_LINUX else []))
    macros = [*found.macros, *([("Py_LIMITED_API", "0x030B0000")] if LIMITED_API else [])]
    return extension(Core, "_core", sources, [found.cglm, found.numpy], macros, [])


def importer(found: Found) -> Extension:
    of_core = ("base/sk_base", "base/sk_math", "model/sk_block", "model/sk_lines", "model/sk_pack")
    patterns = (*(f"csrc/core/{name}.c" for name in of_core), "csrc/import/**/*.c")
    sources = files(*patterns, *(["csrc/import/**/*.cpp"] if found.draco else []))
    include = [found.cglm, found.assimp, found.jsmn, *(library.include for library in found.libraries)]
    # The importer asks nothing of Python and finds Assimp's functions at run time, so no name may be open.
    # A sanitizer's own functions come with the program.
    closed = ["-Wl,--no-undefined"] if ON_LINUX and not sanitizer_args() else []
    link_args = [*closed, *(option for library in found.libraries for option in library.link_args)]
    return extension(SharedObject, "_import", sources, include, found.macros, link_args)


def worker() -> Extension:
    names = ("core/base/sk_base", "worker/worker_main", "worker/worker_sandbox", "worker/worker_io")
    return extension(Program, "_worker", [f"csrc/{name}.c" for name in names], [], [], ["-pie"])


def extensions() -> list[Extension]:
    """What is built. Only Linux has a worker; elsewhere worker_spawn.c says that there is none."""
    found = find_all()
    return [core(found), importer(found), *([worker()] if ON_LINUX else [])]


setup(
    long_description=description(),
    long_description_content_type="text/markdown",
    packages=[*find_packages(include=["skinpy", "skinpy.*"]), "skinpy.shaders"],
    package_dir={"skinpy.shaders": "shaders"},
    ext_modules=extensions(),
    cmdclass={"build_ext": IncrementalBuild},
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if LIMITED_API else {},
)
