"""The wheels for x86-64 and ARM: what is in them, what they need, and that they work without anything else.

The wheel for ARM is read here; tests run it in a root for that processor (.ci/roots.py).
"""

import ctypes
import importlib.metadata
import json
import platform
import re
import zipfile
from pathlib import Path

import builders
import compressed
import pytest
from built_wheels import PROCESSORS, build_wheels, built_wheels, own_wheel, shared_folder
from conftest import PROJECT, ROOT
from test_packaging import check_facts, fresh_python, pip, probe, run

pytestmark = pytest.mark.ci

OLDEST_GLIBC = (2, 28)
GLIBC = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0"}
LOADERS = {"x86_64": "ld-linux-x86-64.so.2", "aarch64": "ld-linux-aarch64.so.1"}
MACHINES = {"x86_64": "Advanced Micro Devices X86-64", "aarch64": "AArch64"}
#: The binaries, and the names that they show.
BINARIES = {
    "skinpy/_core.abi3.so": {"PyInit__core"},
    "skinpy/_import.so": {"sk_importer_open"},
    "skinpy/_worker": {"malloc"},
}
#: What is compiled into a wheel: as the bill of materials and the license files call it.
CARRIED = {"cglm", "draco", "expat", "jsmn", "meshoptimizer", "zlib"}
CARRIED_OF_ZIG = {"compiler-rt", "glibc-start-files", "libcxx", "libcxxabi", "libunwind"}

# Loads files, each in a process of its own and in this one. Prints what was loaded, and the libraries in use.
LOAD = """
import json, sys
import skinpy
vertices = [
    [len(skinpy.load(path, isolate=isolate).mesh.positions) for isolate in (True, False)]
    for path in sys.argv[1:]
]
mapped = {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}
print(json.dumps({"vertices": vertices, "mapped": sorted(mapped)}))
"""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return built_wheels(tmp_path_factory)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return own_wheel(tmp_path_factory)


@pytest.fixture(scope="module", params=PROCESSORS)
def wheel(request: pytest.FixtureRequest, wheels: dict[str, Path]) -> Path:
    return wheels[request.param]


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def processor_of(wheel: Path) -> str:
    return next(name for name in PROCESSORS if wheel.stem.endswith(name))


def information(wheel: Path, unpacked: Path) -> Path:
    return unpacked / f"{'-'.join(wheel.name.split('-')[:2])}.dist-info"


# ---- what is in them -----------------------------------------------------------------------------------


def test_names_say_what_they_run_on(wheels: dict[str, Path]) -> None:
    tag = f"cp311-abi3-manylinux_{OLDEST_GLIBC[0]}_{OLDEST_GLIBC[1]}"
    names = {f"skinpy_anim-{PROJECT['version']}-{tag}_{processor}.whl" for processor in PROCESSORS}
    assert {path.name for path in wheels.values()} == names


def test_a_wheel_is_small(wheel: Path) -> None:
    assert wheel.stat().st_size < 4e6


def test_a_wheel_holds_the_product_alone(wheel: Path, unpacked: Path) -> None:
    files = {path.relative_to(unpacked) for path in unpacked.rglob("*") if path.is_file()}
    names = {str(path) for path in files if not path.parts[0].endswith(".dist-info")}
    binaries = {name for name in names if "." not in name or name.endswith(".so")}
    assert binaries == BINARIES.keys()
    assert {path.split("/")[0] for path in names} == {"skinpy"}
    assert {"skinpy/py.typed", "skinpy/_core.pyi", "skinpy/data/character.glb"} <= names
    assert {f"skinpy/shaders/{path.name}" for path in (ROOT / "shaders").glob("*.*")} <= names


@pytest.mark.parametrize("binary", BINARIES)
def test_binaries_need_nothing_but_an_old_glibc(wheel: Path, unpacked: Path, binary: str) -> None:
    """Nor do they show a name of the libraries in them: a process may have other versions of these."""
    processor = processor_of(wheel)
    path = unpacked / binary
    assert MACHINES[processor] in run("readelf", "--wide", "--file-header", path, cwd=unpacked)
    dynamic = run("readelf", "--wide", "--dynamic", path, cwd=unpacked)
    assert set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)) <= GLIBC | {LOADERS[processor]}
    assert not re.search(r"R(UN)?PATH", dynamic)
    needed = run("readelf", "--wide", "--version-info", path, cwd=unpacked)
    versions = re.findall(r"Name: ([A-Z]+)_([\w.]+)", needed)
    assert {library for library, _ in versions} == {"GLIBC"}
    assert max(tuple(map(int, version.split("."))) for _, version in versions) <= OLDEST_GLIBC
    symbols = run("readelf", "--wide", "--dyn-syms", path, cwd=unpacked)
    shown = re.findall(r"(?:FUNC|OBJECT|TLS)\s+(?:GLOBAL|WEAK|UNIQUE)\s+DEFAULT\s+\d+\s+(\S+)", symbols)
    assert set(shown) == BINARIES[binary]


def test_the_worker_can_be_run_and_moved(unpacked: Path, wheel: Path) -> None:
    """Its place in memory is chosen anew for each process, as for what compilers of distributions build."""
    header = run("readelf", "--wide", "--file-header", unpacked / "skinpy/_worker", cwd=unpacked)
    assert re.search(r"Type:\s+DYN", header)
    with zipfile.ZipFile(wheel) as archive:
        assert archive.getinfo("skinpy/_worker").external_attr >> 16 & 0o111 == 0o111


def test_each_part_has_its_license(wheel: Path, unpacked: Path) -> None:
    folder = information(wheel, unpacked) / "licenses"
    texts = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    assert set(texts) == {"LICENSE", *(f"{name}.txt" for name in CARRIED | CARRIED_OF_ZIG)}
    assert all("Copyright" in texts[f"{name}.txt"] for name in CARRIED)
    assert "Apache License" in texts["draco.txt"] and "Version 2.0, January 2004" in texts["draco.txt"]
    assert "LLVM Exceptions" in texts["libcxx.txt"]
    distribution = importlib.metadata.PathDistribution(folder.parent)
    assert set(distribution.metadata.get_all("License-File") or []) == set(texts)


def test_the_bill_of_materials_lists_each_part(wheel: Path, unpacked: Path) -> None:
    (path,) = (information(wheel, unpacked) / "sboms").iterdir()
    assert path.name.endswith(".cdx.json")
    bill = json.loads(path.read_text())
    assert bill["bomFormat"] == "CycloneDX"
    assert bill["metadata"]["component"]["version"] == PROJECT["version"]
    parts = {part["name"]: part for part in bill["components"]}
    assert set(parts) == CARRIED | CARRIED_OF_ZIG
    for name, part in parts.items():
        kind = "deb/debian" if name in CARRIED else "pypi/ziglang@"
        assert part["purl"].startswith(f"pkg:{kind}")
        assert part["version"] and part["licenses"][0]["expression"]
    (graph,) = bill["dependencies"]
    assert set(graph["dependsOn"]) == {part["bom-ref"] for part in parts.values()}


def test_two_builds_give_the_same_bytes(own: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """In another folder, and where others may write the files.

    What zig has compiled of the same text with the same options is used again.
    """
    folder = tmp_path_factory.mktemp("again") / "a-longer-name-than-before"
    cache = shared_folder(tmp_path_factory) / "zig"
    (again,) = build_wheels(folder, cache, "--processor", platform.machine(), added_mode=0o22).glob("*.whl")
    assert again.name == own.name
    assert again.read_bytes() == own.read_bytes()


# ---- and that they work ---------------------------------------------------------------------------------


def best_instruction_set() -> str:
    """By what the system says of the processor."""
    known = set(Path("/proc/cpuinfo").read_text().split())
    if platform.machine() == "aarch64":
        return "neon"
    if not {"avx2", "fma"} <= known:
        return "plain"
    avx512 = {"avx512f", "avx512vl", "avx512dq", "avx512bw", "avx512_vbmi2"}
    return "avx512" if avx512 <= known else "avx2"


def test_libraries_in_the_wheel_decompress(own: Path, tmp_path: Path) -> None:
    """The importer takes its own libraries, beside the other C++ library that Assimp has."""
    files = compressed.examples(builders.random_model(2, joints=3, vertices=9))
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    facts = json.loads(run(fresh_python(tmp_path, own), "-c", LOAD, *files, cwd=tmp_path))
    for isolated, loaded in facts["vertices"]:
        assert isolated == loaded > 0
    assert not [path for path in facts["mapped"] if re.search(r"/lib(meshoptimizer|draco|expat)\b", path)]


def test_install_with_and_without_assimp(own: Path, tmp_path: Path) -> None:
    python = fresh_python(tmp_path, own)
    facts = probe(python, tmp_path)
    check_facts(facts, importer_works=True)
    assert facts["info"]["simd"] == best_instruction_set()
    assert Path(facts["package"]).is_relative_to(tmp_path)
    render = ("-m", "skinpy", "render", tmp_path / "character.skn", "-o", tmp_path / "character.png")
    said = run(python, *render, cwd=tmp_path, fails=True)
    assert "skinpy-anim[view]" in said
    assert "Traceback" not in said

    try:
        ctypes.CDLL("libassimp.so.6")
    except OSError:
        pip(python, "uninstall", "--yes", "cmeel-assimp")
        check_facts(probe(python, tmp_path, has_assimp=False), importer_works=False)
