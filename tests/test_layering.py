"""Each layer uses only what stands to its left:

base <- math <- block <- assets <- jobs <- ext <- skinpy <- skinpy.render <- skinpy.output <- skinpy.view
<- skinpy.commands
and beside the jobs: base, math, block <- import <- worker; ext knows one header of each. Besides: what no
source file may hold.
"""

import ast
import hashlib
import json
import re
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from c_compiler import SOURCES, compiler, include_flags, run
from conftest import DATA, ROOT, needs_checkout

needs_checkout()

C_FILES = sorted([*SOURCES.rglob("*.[ch]"), *SOURCES.rglob("*.cpp")])
HEADERS = [path for path in C_FILES if path.suffix == ".h"]
PYTHON_FILES = sorted((ROOT / "skinpy").rglob("*.py"))
SHADERS = sorted(path for path in (ROOT / "shaders").iterdir() if path.is_file())
PRODUCT = [*C_FILES, *PYTHON_FILES, *SHADERS, ROOT / "setup.py", *sorted((ROOT / "skinpy").glob("*.pyi"))]

C11 = {
    *("assert", "complex", "ctype", "errno", "fenv", "float", "inttypes", "iso646", "limits", "locale"),
    *("math", "setjmp", "signal", "stdalign", "stdarg", "stdatomic", "stdbool", "stddef", "stdint", "stdio"),
    *("stdlib", "stdnoreturn", "string", "tgmath", "threads", "time", "uchar", "wchar", "wctype"),
}
POSIX = {"dirent", "dlfcn", "fcntl", "pthread", "sched", "strings", "unistd"}
POSIX |= {"sys/mman", "sys/stat", "sys/time", "sys/types", "xlocale"}
# Headers for the worker alone: processes, their limits and their memory.
PROCESS = {
    "link",
    "malloc",
    "poll",
    "spawn",
    "sys/prctl",
    "sys/resource",
    "sys/syscall",
    "sys/wait",
}
PROCESS |= {"linux/audit", "linux/filter", "linux/landlock", "linux/seccomp"}
# In csrc/core all but these do with the headers of C11.
SYSTEM_CORE = {"sk_cores.c", "sk_threads.c"}
# The headers of vector instructions, and the one file that includes each.
VECTOR_HEADERS = {"immintrin.h": "sk_vector_avx2.h", "arm_neon.h": "sk_vector_neon.h"}

# The rooms of csrc/core, the lowest first. Each may include itself and those below it: the plain code calls
# the kernels of simd/ through the table in base/sk_kernels.h.
CORE_ROOMS = ("base", "model", "pose", "skin", "simd")

# Ranks of the Python packages, from left to right; the commands stand to the right of all.
PYTHON_RANKS = {
    "skinpy": 0,
    "skinpy.shaders": 0,
    "skinpy.render": 1,
    "skinpy.output": 2,
    "skinpy.view": 3,
    "skinpy.commands": 4,
}
# The rooms of skinpy.render, and the rooms that each may use. A module at its top that uses no
# room itself (camera, figure, posing, ...) may be used by every room.
RENDER_ROOMS = {
    "gpu": {"gpu"},
    "scene": {"gpu", "scene"},
    "overlays": {"gpu", "scene", "overlays"},
    "truth": {"gpu", "scene", "truth"},
    "crowd": {"gpu", "scene", "crowd"},
}
# The rooms of skinpy.view, and the rooms that each may use.
VIEW_ROOMS = {
    "stage": {"stage"},
    "controls": {"stage", "controls"},
    "window": {"stage", "controls", "window"},
    "live": {"stage", "controls", "live"},
    "page": {"page"},
}
ROOMY = ("skinpy.render.", "skinpy.view.")
FOREIGN = {"skinpy.render": {"numpy", "moderngl"}, "skinpy.view": {"numpy", "moderngl"}}
# Loaded by the first live view alone: test_live.py looks.
JUPYTER = {"canvas.py": {"jupyter_rfb", "IPython", "traitlets"}}
JUPYTER |= {name: {"ipywidgets"} for name in ("panel.py", "widgets.py", "playback_rows.py", "layer_rows.py")}


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def includes(path: Path) -> list[tuple[str, str]]:
    """Pairs of '<' or '"' and what is included."""
    return re.findall(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', path.read_text(), re.MULTILINE)


def own_includes(path: Path) -> list[Path]:
    return [(path.parent / name).resolve() for mark, name in includes(path) if mark == '"']


def foreign_includes(path: Path) -> set[str]:
    """What is included in angle brackets and is no C11 header."""
    return {name for mark, name in includes(path) if mark == "<" and name.removesuffix(".h") not in C11}


def test_there_is_something_to_look_at() -> None:
    assert len(HEADERS) > 10
    assert len(PYTHON_FILES) > 5
    assert all(list(SOURCES.glob(f"{layer}/**/*.c")) for layer in ("core", "import", "ext", "worker"))


# ---- C -----------------------------------------------------------------------------------


def layer_of(path: Path) -> str:
    """The folder of csrc in which a file stands: core, import, ext or worker."""
    return path.relative_to(SOURCES).parts[0]


def room_of(path: Path) -> str:
    """The folder inside the layer, or "" for a file at its top."""
    return path.parent.name if path.parent.parent != SOURCES else ""


@pytest.mark.parametrize("path", C_FILES, ids=name_of)
def test_own_includes_exist_and_stay_in_their_layer(path: Path) -> None:
    layer = layer_of(path)
    public = {
        "ext": {SOURCES / "import/sk_import.h", SOURCES / "worker/worker_spawn.h"},
        "worker": {SOURCES / "import/sk_import.h"},
    }.get(layer, set())
    for target in own_includes(path):
        assert target.is_file(), f"{name_of(path)} includes {target.name}, which is not there"
        assert target in public or layer_of(target) in {"core", layer}, (
            f"{name_of(path)} includes {name_of(target)}"
        )


@pytest.mark.parametrize("path", sorted(SOURCES.glob("core/*/*.[ch]")), ids=name_of)
def test_a_room_of_core_uses_the_rooms_below_it(path: Path) -> None:
    for target in own_includes(path):
        below = CORE_ROOMS[: CORE_ROOMS.index(room_of(path)) + 1]
        assert room_of(target) in below, f"{path.name} includes {name_of(target)}"


@pytest.mark.parametrize("path", sorted(SOURCES.glob("import/**/*.[ch]")), ids=name_of)
def test_import_knows_no_jobs(path: Path) -> None:
    for target in own_includes(path):
        assert layer_of(target) != "core" or room_of(target) in {"base", "model"}, (
            f"{path.name} includes {name_of(target)}"
        )


@pytest.mark.parametrize("path", sorted(SOURCES.glob("import/*.[ch]")), ids=name_of)
def test_the_importer_reaches_a_format_through_the_table_alone(path: Path) -> None:
    """Shared code asks the row of a format: no header of a format, nothing that one keeps in the job."""
    if path.name == "import_format.c":
        return
    assert not [target.name for target in own_includes(path) if room_of(target) == "formats"]
    text = path.read_text()
    assert not re.search(r"->(gltf|fbx)\b", text), "what a format keeps in the job belongs to formats/"
    assert not re.search(r"str\w*cmp\([^;]*->(format|suffix)\b", text), "a format is compared by its name"


@pytest.mark.parametrize("path", C_FILES, ids=name_of)
def test_foreign_headers_stand_where_they_may(path: Path) -> None:
    layer = layer_of(path)
    for name in foreign_includes(path):
        head = name.split("/")[0]
        if head == "cglm":
            assert path.stem.startswith("sk_math"), "cglm belongs to sk_math alone"
        elif head == "assimp":
            assert layer == "import" and path.name != "sk_import.h", "Assimp belongs inside csrc/import"
        elif head == "zlib.h":
            files = {"import_fbx_records", "import_x_file"}
            assert path.stem in files, "zlib belongs to the formats that have deflated bytes"
        elif head == "expat.h":
            assert path.stem == "import_collada_xml", "Expat belongs to the tree of COLLADA alone"
        elif head == "meshoptimizer.h":
            assert path.stem == "import_gltf_meshopt", "meshoptimizer belongs to one file"
        elif head == "draco" or path.suffix == ".cpp":
            assert path.name == "import_draco.cpp", "Draco and C++ belong to import_draco.cpp alone"
        elif head == "jsmn.h":
            assert layer == "import"
        elif head == "numpy":
            assert path.stem == "ext_array", "NumPy's C interface belongs to ext_array alone"
        elif head == "cpuid.h":
            assert path.stem == "sk_x86", "asking the processor belongs to sk_x86 alone"
        elif head in VECTOR_HEADERS:
            assert path.name == VECTOR_HEADERS[head], "kernels use the operations of sk_vector.h"
        elif head in ("Python.h", "structmember.h"):
            assert layer == "ext"
        else:
            assert layer != "core" or path.name in SYSTEM_CORE, f"{path.name} includes <{name}>"
            known = POSIX | PROCESS if layer == "worker" else POSIX
            assert name.removesuffix(".h") in known, f"{path.name} includes <{name}>"


def test_headers_have_no_cycle() -> None:
    graph = {path: own_includes(path) for path in HEADERS}
    done: set[Path] = set()

    def visit(path: Path, trail: tuple[Path, ...]) -> None:
        assert path not in trail, " -> ".join(step.name for step in (*trail, path))
        if path in done:
            return
        for target in graph.get(path, ()):
            visit(target, (*trail, path))
        done.add(path)

    for header in graph:
        visit(header, ())


@pytest.mark.parametrize("path", HEADERS, ids=name_of)
def test_header_has_a_guard_and_compiles_alone(path: Path) -> None:
    assert re.search(r"^#ifndef (\w+_H)\n#define \1\n", path.read_text(), re.MULTILINE)
    foreign = {
        "core": ["cglm"],
        "import": ["cglm", "assimp", "jsmn"],
        "ext": ["cglm", "python", "numpy"],
        "worker": [],
    }
    flags = ["-std=c11", "-Wall", "-Wextra", *include_flags(*foreign[layer_of(path)])]
    # By -include, as the compiler warns of a header that is its main file.
    done = run(*compiler(), *flags, "-fsyntax-only", "-include", path, "-xc", "/dev/null")
    assert done.returncode == 0 and not done.stdout, done.stdout


# ---- Python -------------------------------------------------------------------------------


def package_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).parent.parts)


def imported_from(node: ast.ImportFrom, package: str) -> Iterator[str]:
    """Absolute names; a name that is imported from a package may be a module of it."""
    parts = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
    module = ".".join([*parts, *(node.module or "").split(".")]).rstrip(".")
    yield module
    yield from (f"{module}.{alias.name}" for alias in node.names)


def top_imports(path: Path) -> Iterator[str]:
    """What is imported together with this file; what type checkers alone see does not count."""
    pending: list[ast.stmt] = list(ast.parse(path.read_text()).body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from imported_from(node, package_of(path))
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            pending += node.orelse
        elif isinstance(node, ast.If | ast.Try):
            pending += [*node.body, *node.orelse]
        elif isinstance(node, ast.With | ast.ClassDef):
            pending += node.body


def outer_package(path: Path) -> str:
    """The package of a file; for a room of skinpy.render or skinpy.view that is the package around it."""
    package = package_of(path)
    return ".".join(package.split(".")[:2]) if package.startswith(ROOMY) else package


@pytest.mark.parametrize("path", PYTHON_FILES, ids=name_of)
def test_packages_use_what_stands_to_their_left(path: Path) -> None:
    package = outer_package(path)
    if path.name == "__main__.py":
        return
    for module in top_imports(path):
        for other, rank in PYTHON_RANKS.items():
            if module == other or module.startswith(other + "."):
                assert rank <= PYTHON_RANKS.get(package, 0), f"{name_of(path)} imports {module} at its top"


def all_imports(path: Path) -> Iterator[str]:
    """What is imported anywhere in a file, inside functions too."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from imported_from(node, package_of(path))


@pytest.mark.parametrize("path", PYTHON_FILES, ids=name_of)
def test_nothing_imports_the_commands(path: Path) -> None:
    if package_of(path) == "skinpy.commands" or path.name == "__main__.py":
        return
    for module in all_imports(path):
        assert not (module + ".").startswith("skinpy.commands."), f"{name_of(path)} imports {module}"


@pytest.mark.parametrize("path", PYTHON_FILES, ids=name_of)
def test_heavy_packages_are_imported_where_they_are_used(path: Path) -> None:
    allowed = FOREIGN.get(outer_package(path), {"numpy"}) | {"skinpy"} | set(sys.stdlib_module_names)
    if package_of(path) == "skinpy.view.live":
        allowed |= JUPYTER.get(path.name, set())
    for module in top_imports(path):
        assert module.split(".")[0] in allowed, f"{name_of(path)} imports {module} at its top"


def rooms_used(path: Path, package: str, rooms: dict[str, set[str]]) -> set[str]:
    """The rooms of a package, such as skinpy.render, that a file imports from."""
    imported = (module.split(".") for module in top_imports(path))
    return {parts[2] for parts in imported if ".".join(parts[:2]) == package and len(parts) > 2} & set(rooms)


@pytest.mark.parametrize("path", sorted((ROOT / "skinpy/render").glob("*/*.py")), ids=name_of)
def test_a_room_of_render_uses_the_rooms_below_it(path: Path) -> None:
    used = rooms_used(path, "skinpy.render", RENDER_ROOMS)
    for module in top_imports(path):
        parts = module.split(".")
        top = ROOT.joinpath(*parts).with_suffix(".py")
        if len(parts) == 3 and parts[:2] == ["skinpy", "render"] and top.is_file():
            used |= rooms_used(top, "skinpy.render", RENDER_ROOMS)
    assert used <= RENDER_ROOMS[path.parent.name], f"{name_of(path)} uses the rooms {sorted(used)}"


@pytest.mark.parametrize("path", sorted((ROOT / "skinpy/view").glob("*/*.py")), ids=name_of)
def test_a_room_of_view_uses_the_rooms_below_it(path: Path) -> None:
    used = rooms_used(path, "skinpy.view", VIEW_ROOMS)
    assert used <= VIEW_ROOMS[path.parent.name], f"{name_of(path)} uses the rooms {sorted(used)}"


# ---- words --------------------------------------------------------------------------------

FORBIDDEN = {
    "unfinished work": r"\b(TODO|FIXME|HACK|XXX)\b|\b[Pp]laceholder",
    "the path of a machine": r"(?<![\w.])/(work|root|home|Users)/",
    "British spelling": r"(?i)colour|normalis(e|ing|ation)|initialis|vectoris|behaviour|\bcentre|\bgrey\b",
}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_the_product_is_free_of(what: str) -> None:
    pattern = re.compile(FORBIDDEN[what])
    for path in PRODUCT:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            assert not pattern.search(line), f"{name_of(path)}:{number} holds {what}: {line.strip()}"


def test_a_joint_is_no_bone() -> None:
    """The word stands in csrc/import, where it is Assimp's, in the field's name of two-bone IK, in files
    about the bones of a humanoid (VRM's word) and the words of other people's rigs, and in one code of the
    importer's report."""
    for path in PRODUCT:
        text = path.read_text()
        if not {"import", "retargeting"} & set(path.parts) and "humanoid" not in text:
            found = re.search(r"(?i)(?<![a-z])(?<!two[-_])bones?(?![a-z]|_without_node)", text)
            assert not found, f"{name_of(path)} says {found[0]!r}" if found else ""


# ---- the shared test data -------------------------------------------------------------------


def words_of_the_data() -> set[str]:
    """File names, stems of models, telling names of nodes, and hashes of the shared test files."""
    words: set[str] = set()
    for path in sorted(DATA.rglob("*")):
        if path.is_file() and path.name != "README.md":
            data = path.read_bytes()
            words |= {path.name, hashlib.md5(data).hexdigest(), hashlib.sha256(data).hexdigest()}
    models = sorted((DATA / "models").iterdir())
    return words | {path.stem for path in models} | telling(names_in_gltf(models) | names_in_goldens())


def telling(names: set[str]) -> set[str]:
    """Without those that any program may use by itself: "root", "Head", Assimp's own "nodes[3]"."""
    return {name for name in names if len(name) > 5 and re.fullmatch(r"\w*([0-9_]|[a-z][A-Z])\w*", name)}


def names_in_gltf(models: list[Path]) -> set[str]:
    documents = [gltf_json(path) for path in models if path.suffix in (".glb", ".gltf")]
    kinds = ("nodes", "animations", "meshes")
    items = [item for document in documents for kind in kinds for item in document.get(kind, ())]
    return {str(item.get("name")) for item in items}


def names_in_goldens() -> set[str]:
    names: set[str] = set()
    for path in sorted((DATA / "goldens").glob("*.npz")):
        with np.load(path) as golden:
            names |= {str(name) for name in golden["node_name"]} if "node_name" in golden else set()
    return names


def gltf_json(path: Path) -> dict[str, list[dict[str, object]]]:
    data = path.read_bytes()
    if data[:4] == b"glTF":
        data = data[20 : 20 + struct.unpack_from("<I", data, 12)[0]]
    document: dict[str, list[dict[str, object]]] = json.loads(data)
    return document


def vertex_counts_of_the_data() -> set[int]:
    """Counts of the goldens' meshes, without those that mean something by themselves."""
    counts: set[int] = set()
    for path in sorted((DATA / "goldens").glob("*.npz")):
        with np.load(path) as golden:
            counts |= {len(golden[key]) for key in golden if key.endswith("_rest") and golden[key].ndim == 2}
    return {count for count in counts if count >= 100 and count % 256}


def test_no_test_file_is_known_to_the_product(shared_data: Path) -> None:
    words = words_of_the_data()
    assert len(words) > 200
    counts = vertex_counts_of_the_data()
    assert counts
    known = [re.escape(word) for word in words] + [str(count) for count in counts]
    pattern = re.compile(r"(?<![\w.])(" + "|".join(sorted(known, key=len, reverse=True)) + r")(?!\w)")
    for path in PRODUCT:
        found = pattern.search(path.read_text())
        assert not found, f"{name_of(path)} names {found[0] if found else ''} of {shared_data}"
