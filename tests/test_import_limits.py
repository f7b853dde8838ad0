"""What the importer refuses: formats, contents under a wrong name, other files, and too much of anything.

All of it happens in the C importer, which tests/importer/ask.c calls, under the address and the undefined
behavior sanitizer: a process of its own, which may die in Assimp without taking the tests along.
"""

import json
import os
import resource
import struct
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import builders
import import_cases as cases
import iqm_writer
import pytest
from builders import Gltf
from c_compiler import (
    COMPRESSORS,
    IMPORT_AND_READER,
    SOURCES,
    build_importer,
    compile_importer,
    compile_objects,
    compiler,
    include_flags,
    run,
    steady,
)

import skinpy

OK, MEMORY, IMPORT, FORMAT, LIMIT = 0, 1, 5, 7, 8  # of sk_status
FOLDER, NONE, ANY = 0, 1, 2  # of sk_external
DEFAULT = (
    *("gltf", "glb", "vrm", "vrma", "fbx", "dae", "bvh", "obj", "stl", "ply"),
    *("3ds", "x", "md2", "smd", "ms3d", "b3d", "iqm", "md5mesh", "md5anim"),
)


class Answer(NamedTuple):
    status: int
    words: str

    @property
    def counts(self) -> dict[str, int]:
        pairs = (word.split("=") for word in self.words.split() if "=" in word)
        return {name: int(value) for name, value in pairs}


#: For a program without sanitizers; the compiler writes down the graph of calls where it can.
PLAIN = ("-std=c11", "-O0", "-w")


@cache
def with_graph() -> tuple[str, ...]:
    flag = "-fcallgraph-info"
    with tempfile.TemporaryDirectory() as folder:  # the graph is written beside the object
        done = run(*compiler(), flag, "-c", "-xc", os.devnull, "-o", Path(folder) / "probe.o")
    return (flag,) if done.returncode == 0 else ()


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory, objects_folder: Path) -> Path:
    return build_importer(tmp_path_factory.mktemp("ask"), objects_folder, "ask")


@pytest.fixture
def ask(program: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Answer]:
    library = skinpy.build_info()["assimp"]
    assert library
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0:" + os.environ.get("ASAN_OPTIONS", ""))

    def ask(*paths: Path, **options: Any) -> Any:
        words = (f"{name}={value}" for name, value in options.items())
        done = run(*steady(), program, library, *words, *paths)
        assert done.returncode == 0, done.stdout
        pairs = (line.partition(" ") for line in done.stdout.splitlines())
        answers = [Answer(int(status), words) for status, _, words in pairs]
        assert len(answers) == len(paths), done.stdout
        return answers if len(answers) > 1 else answers[0]

    return ask


#: The answer for one path, or the list of those for several.
Ask = Callable[..., Any]


def put(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


# ---- files of every kind -------------------------------------------------------------------------------

CORNERS = ((0, 0, 0), (1, 0, 0), (0, 1, 0))
SMD = b"""version 1
nodes
0 "root" -1
end
skeleton
time 0
0 0 0 0 0 0 0
end
triangles
red
0 0 0 0 0 0 1 0 0
0 1 0 0 0 0 1 1 0
0 0 1 0 0 0 1 0 1
end
"""
PLY = b"""ply
format ascii 1.0
element vertex 3
property float x
property float y
property float z
element face 1
property list uchar int vertex_indices
end_header
0 0 0
1 0 0
0 1 0
3 0 1 2
"""
TRIANGLE = struct.pack("<12fH", 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0)
STL = b"""solid thing
facet normal 0 0 1
outer loop
vertex 0 0 0
vertex 1 0 0
vertex 0 1 0
endloop
endfacet
endsolid thing
"""


def binary_stl(header: bytes = b"") -> bytes:
    return header.ljust(80, b"\0") + struct.pack("<I", 1) + TRIANGLE


def b3d() -> bytes:
    def chunk(name: bytes, body: bytes) -> bytes:
        return name + struct.pack("<i", len(body)) + body

    corners = b"".join(struct.pack("<3f", *corner) for corner in CORNERS)
    vertices = chunk(b"VRTS", struct.pack("<3i", 0, 0, 0) + corners)
    mesh = chunk(b"MESH", struct.pack("<i", -1) + vertices + chunk(b"TRIS", struct.pack("<4i", -1, 0, 1, 2)))
    place = struct.pack("<10f", 0, 0, 0, 1, 1, 1, 1, 0, 0, 0)
    return chunk(b"BB3D", struct.pack("<i", 1) + chunk(b"NODE", b"root\0" + place + mesh))


def three_ds() -> bytes:
    def chunk(kind: int, body: bytes) -> bytes:
        return struct.pack("<HI", kind, 6 + len(body)) + body

    corners = b"".join(struct.pack("<3f", *corner) for corner in CORNERS)
    mesh = chunk(0x4110, struct.pack("<H", 3) + corners) + chunk(0x4120, struct.pack("<H4H", 1, 0, 1, 2, 7))
    return chunk(0x4D4D, chunk(0x3D3D, chunk(0x4000, b"thing\0" + chunk(0x4100, mesh))))


def ms3d() -> bytes:
    corners = b"".join(
        struct.pack("<B3fbB", 0, *corner, -1, 1) for corner in ((0, 0, 0), (1, 0, 0), (0, 1, 0))
    )
    triangle = struct.pack("<4H9f3f3fBB", 0, 0, 1, 2, *[0, 0, 1] * 3, 0, 1, 0, 0, 0, 1, 1, 0)
    group = struct.pack("<B32sHHb", 0, b"all", 1, 0, -1)
    end = struct.pack("<H", 0) + struct.pack("<ffiH", 24, 0, 1, 0)
    lists = struct.pack("<H", 3) + corners + struct.pack("<H", 1) + triangle + struct.pack("<H", 1) + group
    return struct.pack("<10si", b"MS3D000000", 4) + lists + end


def good() -> dict[str, bytes]:
    """A whole file of each format that is allowed by default."""
    file = builders.chain(3)
    return {
        "gltf": file.gltf(),
        "glb": file.glb(),
        "vrm": file.glb(),
        "vrma": file.glb(),
        "fbx": cases.fbx(),
        "dae": cases.dae(nodes='<node id="a"/>'),
        "bvh": cases.bvh(),
        "obj": cases.obj(),
        "stl": STL,
        "ply": PLY,
        "3ds": three_ds(),
        "x": cases.x_file(),
        "md2": cases.md2(),
        "smd": SMD,
        "ms3d": ms3d(),
        "b3d": b3d(),
        "iqm": iqm_writer.strip().bytes(),
        "md5mesh": cases.MD5_MESH,
        "md5anim": cases.MD5_ANIM,
    }


#: How files of other kinds begin. Assimp has a reader for each.
FOREIGN = {
    "csm": b"$comments\n$Filename a.csm\n",
    "iqm": b"INTERQUAKEMODEL\0" + struct.pack("<I", 1) + bytes(200),  # a version that is not read
    "lwo": b"FORM" + struct.pack(">I", 60) + b"LWO2" + bytes(60),
    "lws": b"LWSC\n5\n\nFirstFrame 0\n",
    "mdc": b"IDPC" + struct.pack("<I", 2) + bytes(200),
    "md3": b"IDP3" + struct.pack("<I", 15) + bytes(200),
    "mdl": b"IDPO" + struct.pack("<I", 6) + bytes(200),
    "zip": b"PK\x03\x04" + bytes(100),
    "blend": b"BLENDER-v279REND" + bytes(100),
    "ac": b"AC3Db\nMATERIAL\n",
    "ifc": b"ISO-10303-21;\nHEADER;\n",
    "assbin": b"ASSIMP.binary-dump." + bytes(600),
    "pmx": b"PMX " + bytes(100),
}


# ---- which formats -------------------------------------------------------------------------------------


def test_what_is_allowed_is_read(tmp_path: Path, ask: Ask) -> None:
    assert set(good()) == set(DEFAULT)
    paths = [put(tmp_path, f"a_{format}.{format.upper()}", data) for format, data in good().items()]
    for path, answer in zip(paths, ask(*paths, formats=";".join(DEFAULT)), strict=True):
        assert answer.status == OK and answer.counts["joints"] >= 1, f"{path}: {answer}"
        format = path.suffix[1:].lower()
        assert ask(path, formats=";".join(DEFAULT), bytes=1, format=format).status == OK, format


@pytest.mark.parametrize("format", [*DEFAULT, "lws", "3mf"])
def test_what_is_not_allowed_is_refused_by_name(tmp_path: Path, ask: Ask, format: str) -> None:
    path = put(tmp_path, f"a.{format}", good().get(format, b"something"))
    others = ";".join(one for one in DEFAULT if one != format)
    for answer in (ask(path, formats=others), ask(path, formats=others, bytes=1, format=format)):
        assert answer.status == FORMAT
        assert f"the format .{format} is not" in answer.words
        assert f'allow it with allow_formats=("{format}",)' in answer.words
    assert str(path) not in ask(path, formats=others).words  # skinpy.load puts it in front


def test_formats_are_known_by_content_too(tmp_path: Path, ask: Ask) -> None:
    for format, data in FOREIGN.items():
        answer = ask(put(tmp_path, "nameless", data), formats="glb")
        if format == "zip":
            assert answer.status == IMPORT, answer
        elif data.startswith(b"$comments"):
            assert answer.status == FORMAT and "neither the name nor the content" in answer.words
        else:
            assert answer.status == FORMAT and f"the format .{format} is not" in answer.words, answer
    path = put(tmp_path, "nameless", builders.chain(3).glb())
    assert ask(path, formats="glb").status == OK
    assert ask(path, formats="gltf").status == FORMAT
    answer = ask(put(tmp_path, "nameless", b"nothing known"), formats="glb")
    assert answer.status == FORMAT and 'pass format="..."' in answer.words


def test_a_part_of_a_name_allows_nothing(tmp_path: Path, ask: Ask) -> None:
    path = put(tmp_path, "a.x", cases.x_file())
    assert ask(path, formats="fbx;xml;x3d").status == FORMAT
    assert ask(path, formats="fbx;x").status == OK


# ---- what the first bytes are --------------------------------------------------------------------------


@pytest.mark.parametrize("format", DEFAULT)
def test_bytes_of_another_kind_reach_no_reader(tmp_path: Path, ask: Ask, format: str) -> None:
    foreign = {kind: data for kind, data in FOREIGN.items() if kind != format}
    paths = [put(tmp_path, f"{kind}.{format}", data) for kind, data in foreign.items()]
    for kind, answer in zip(foreign, ask(*paths), strict=True):
        assert answer.status == IMPORT, f"{kind} as .{format}: {answer}"
        if kind == "zip":
            assert f"the model is named .{format}, but is a zip archive" in answer.words
        elif kind not in ("csm", format):
            assert f"the model is named .{format}, but begins as a .{kind} file does" in answer.words
    assert {answer.status for answer in ask(*paths, bytes=1, format=format)} == {IMPORT}


@pytest.mark.parametrize("format", DEFAULT)
def test_default_formats_under_the_names_of_others(tmp_path: Path, ask: Ask, format: str) -> None:
    families = ({"gltf", "glb", "vrm", "vrma"}, {"md5mesh", "md5anim"})
    free = {"obj", "stl", "smd", "3ds", "ply"}  # their bytes are told by their own readers only
    paths = []
    for kind, data in good().items():
        alike = kind == format or any({kind, format} <= family for family in families)
        if not alike and not (format in ("obj", "stl") and kind in free | {"dae", "gltf"}):
            paths.append(put(tmp_path, f"{kind}.{format}", data))
    for path, answer in zip(paths, ask(*paths), strict=True):
        assert answer.status == IMPORT, f"{path}: {answer}"
        assert f"the model is named .{format}, but " in answer.words, answer


@pytest.mark.parametrize("format", [one for one in DEFAULT if one not in ("obj", "stl")])
def test_bytes_of_no_kind(tmp_path: Path, ask: Ask, format: str) -> None:
    path = put(tmp_path, f"a.{format}", b"\x01\x02 nothing of the kind " * 9)
    answer = ask(path)
    assert answer.status == IMPORT and f"does not begin as a .{format} file does" in answer.words
    assert "the model is given as" in ask(path, bytes=1, format=format).words


def test_signatures_may_stand_behind_spaces_and_marks(tmp_path: Path, ask: Ask) -> None:
    """All of these load: no rule asks for more than the reader does."""
    utf16 = cases.dae(nodes='<node id="a"/>').decode().replace("utf-8", "utf-16").encode("utf-16")
    files = {
        "mark.gltf": b"\xef\xbb\xbf" + builders.chain(2).gltf(),
        "spaces.gltf": b" \r\n\t" + builders.chain(2).gltf(),
        "binary.gltf": builders.chain(2).glb(),
        "text.glb": builders.chain(2).gltf(),
        "wide.dae": utf16,
        "late.dae": cases.dae().replace(b"<COLLADA", b"<!--" + b"x" * 5000 + b"--><COLLADA"),
        "mark.dae": b"\xef\xbb\xbf" + cases.dae(),
        "spaces.bvh": b"\n  " + cases.bvh(),
        "comment.fbx": b";" + b"-" * 3000 + b"\n" + cases.fbx().partition(b"\n")[2],
        "capital.ply": b"PLY" + PLY[3:],
        "comment.smd": b"// by hand\n \t" + SMD,
        "glTF.stl": binary_stl(b"glTF, MS3D000000: a header may hold anything"),
        "zero.stl": binary_stl(),
        "solid.stl": binary_stl(b"solid, though binary"),
        "comment.obj": b"# glTF\n" + cases.obj(),
        "bytes.obj": b"\xff\xfe junk\n" + cases.obj(),
    }
    for name, answer in zip(files, ask(*(put(tmp_path, *file) for file in files.items())), strict=True):
        assert answer.status == OK, f"{name}: {answer}"


def test_readers_that_share_a_suffix(tmp_path: Path, ask: Ask) -> None:
    """Assimp asks all of its readers where none of those with the suffix wants the bytes."""
    assert ask(put(tmp_path, "a.xml", cases.dae(nodes='<node id="a"/>'))).counts["joints"] == 2
    for kind in ("csm", "iqm", "mdc"):
        answer = ask(put(tmp_path, f"{kind}.xml", FOREIGN[kind] + b" " * 300 + b"<COLLADA>"))
        assert answer.status == IMPORT and "the model is named .xml, but " in answer.words


def test_a_scene_brings_in_allowed_formats_only(tmp_path: Path, ask: Ask) -> None:
    """LightWave scenes name models that Assimp reads by their suffix, or by their content."""
    for name, data in {
        "a.obj": cases.obj(),
        "b.csm": b"$Filename",
        "c.obj": FOREIGN["csm"],
        "d": b"v ",
        "e.lwo": FOREIGN["mdc"],
        "f.lwo": FOREIGN["lwo"],
    }.items():
        put(tmp_path, name, data)
        scene = cases.lws().replace(
            b"AddNullObject 10000000 thing", b"LoadObjectLayer 1 10000000 " + name.encode()
        )
        path = put(tmp_path, f"{name}.lws", scene)
        answer = ask(path, formats="lws;obj;lwo")
        assert ("files_refused" in answer.words) == (name in ("b.csm", "d", "e.lwo")), f"{name}: {answer}"
        assert (answer.counts.get("vertices", 0) > 0) == (name == "a.obj"), f"{name}: {answer}"


# ---- other files ---------------------------------------------------------------------------------------


def beside(folder: Path, uri: str) -> Path:
    """A glTF whose buffer is the file that `uri` names."""
    file = builders.chain(3)
    document = file.document()
    document["buffers"][0]["uri"] = uri
    put(folder, "data.bin", bytes(file.blob))
    put(folder.parent, "secret.bin", bytes(file.blob))
    return put(folder, "model.gltf", json.dumps(document).encode())


def test_other_files_in_the_folder(tmp_path: Path, ask: Ask) -> None:
    path = beside(tmp_path / "model", "data.bin")
    assert ask(path).status == OK and ask(path, external=ANY).status == OK
    answer = ask(path, external=NONE)
    assert answer.status == IMPORT and "'data.bin' is another file" in answer.words and "none" in answer.words
    for external in (FOLDER, NONE, ANY):
        assert ask(path, external=external, bytes=1, format="gltf").status == IMPORT


def test_other_files_anywhere(tmp_path: Path, ask: Ask) -> None:
    folder = tmp_path / "model"
    (tmp_path / "there").mkdir()
    for uri in (
        "../secret.bin",
        "..\\\\secret.bin".replace("\\\\", "\\"),
        str(tmp_path / "secret.bin"),
        "link/secret.bin",
    ):
        path = beside(folder, uri)
        if not (folder / "link").exists():
            (folder / "link").symlink_to(tmp_path)
        assert ask(path, external=ANY).status == OK, uri
        assert ask(path).status == IMPORT and ask(path, external=NONE).status == IMPORT, uri
    answer = ask(beside(folder, str(tmp_path / "secret.bin")), external=ANY, bytes=1, format="gltf")
    assert answer.status == OK  # an absolute path needs no folder


def test_no_fifo_and_no_device_anywhere(tmp_path: Path, ask: Ask) -> None:
    os.mkfifo(tmp_path / "pipe")
    for uri in ("/dev/zero", "/dev/stdin", "../pipe", str(tmp_path), "/proc/self/fd/0"):
        assert ask(beside(tmp_path / "model", uri), external=ANY).status == IMPORT, uri
    for name in ("pipe.glb", "pipe.obj"):
        os.mkfifo(tmp_path / name)
        assert ask(tmp_path / name, external=ANY).status == IMPORT


def test_material_libraries(tmp_path: Path, ask: Ask) -> None:
    put(tmp_path, "up.mtl", b"newmtl red\nKd 1 0 0\n")
    put(tmp_path, "model/down.mtl", b"newmtl red\nKd 1 0 0\n")
    up = put(tmp_path, "model/up.obj", cases.obj(head="mtllib ../up.mtl\n", middle="usemtl red\n"))
    down = put(tmp_path, "model/down.obj", cases.obj(head="mtllib down.mtl\n", middle="usemtl red\n"))
    refused = {
        (path.stem, external): "files_refused" in ask(path, external=external).words
        for path in (up, down)
        for external in (FOLDER, NONE, ANY)
    }
    assert refused == {
        ("up", FOLDER): True, ("up", NONE): True, ("up", ANY): False,
        ("down", FOLDER): False, ("down", NONE): True, ("down", ANY): False,
    }  # fmt: skip


def test_an_animation_beside_its_mesh(tmp_path: Path, ask: Ask) -> None:
    path = put(tmp_path, "a.md5mesh", cases.MD5_MESH)
    assert "files_refused" not in ask(path, external=NONE).words  # there is none to refuse
    put(tmp_path, "a.md5anim", cases.MD5_ANIM)
    assert ask(path).counts["clips"] == 1 and ask(path, external=ANY).counts["clips"] == 1
    answer = ask(path, external=NONE)
    assert answer.counts["clips"] == 0 and "files_refused" in answer.words


# ---- how much ------------------------------------------------------------------------------------------


def check_limit(ask: Ask, path: Path, name: str, has: int) -> None:
    """A limit of what there is lets it pass, one less does not."""
    assert ask(path, **{name: has}).status == OK
    answer = ask(path, **{name: has - 1})
    assert answer.status == LIMIT, answer
    assert f"the model has {has} " in answer.words, answer
    assert f"the limit is {has - 1}; allow it with limits=skinpy.Limits({name}={has})" in answer.words


def test_limits_of_gltf(tmp_path: Path, ask: Ask) -> None:
    file = builders.chain(5)  # and a mesh of its own node below the first joint
    vertices = len(json.loads(file.gltf())["accessors"]) and file.accessors[0]["count"]
    for path in (put(tmp_path, "a.glb", file.glb()), put(tmp_path, "a.gltf", file.gltf())):
        check_limit(ask, path, "nodes", 6)
        check_limit(ask, path, "depth", 5)
        check_limit(ask, path, "vertices", vertices)
        check_limit(ask, path, "keys", 5 * 9)


def test_limits_of_other_formats(tmp_path: Path, ask: Ask) -> None:
    bvh = put(tmp_path, "a.bvh", cases.bvh(("a", "b", "c"), frames=4))
    check_limit(ask, bvh, "nodes", 4)  # with the end site
    check_limit(ask, bvh, "depth", 4)
    check_limit(ask, bvh, "keys", 3 * 4 + 4)  # all turn, the root moves
    obj = put(tmp_path, "a.obj", cases.obj())
    check_limit(ask, obj, "vertices", 6)
    check_limit(ask, put(tmp_path, "a.x", cases.x_file()), "keys", 2)
    check_limit(ask, put(tmp_path, "a.dae", cases.dae(nodes='<node id="a"/><node id="b"/>')), "nodes", 3)
    shapes = put(tmp_path, "a.fbx", cases.fbx_shapes(between=False))
    assert ask(shapes, keys=1).status == LIMIT  # keys of weights are keys


def test_a_mesh_counts_as_often_as_it_is_used(tmp_path: Path, ask: Ask) -> None:
    file = Gltf()
    mesh = file.mesh(file.primitive([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]))
    for _ in range(4):
        file.node(mesh=mesh)
    check_limit(ask, put(tmp_path, "a.glb", file.glb()), "vertices", 12)
    check_limit(ask, put(tmp_path, "b.glb", file.glb()), "nodes", 5)  # four roots and the one above them
    check_limit(ask, put(tmp_path, "c.glb", file.glb()), "depth", 2)


def test_bytes_of_all_files_together(tmp_path: Path, ask: Ask) -> None:
    path = beside(tmp_path / "model", "data.bin")
    alone, both = path.stat().st_size, path.stat().st_size + (path.parent / "data.bin").stat().st_size
    assert ask(path, file_bytes=both).status == OK
    for limit, has in ((both - 1, both), (alone - 1, alone)):
        answer = ask(path, file_bytes=limit)
        assert answer.status == LIMIT and f"{has} bytes, the limit of file_bytes is {limit}" in answer.words
        assert f"limits=skinpy.Limits(file_bytes={has})" in answer.words
    whole = put(tmp_path, "a.glb", builders.chain(3).glb())
    size = whole.stat().st_size
    assert ask(whole, file_bytes=size, bytes=1, format="glb").status == OK
    answer = ask(whole, file_bytes=size - 1, bytes=1, format="glb")
    assert answer.status == LIMIT and f"{size} bytes" in answer.words


def test_bytes_that_assimp_asks_for(tmp_path: Path, ask: Ask) -> None:
    put(tmp_path, "big.mtl", b"newmtl red\n" + b"#" * 5000)
    path = put(tmp_path, "a.obj", cases.obj(head="mtllib big.mtl\n", middle="usemtl red\n"))
    assert ask(path, file_bytes=20000).status == OK
    answer = ask(path, file_bytes=5000)
    assert answer.status == LIMIT and "at least " in answer.words


def document(**more: Any) -> dict[str, Any]:
    return {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], **more}


#: Short files that say much: accessors without bytes, and things that are used many times.
BOMBS: dict[str, tuple[dict[str, Any], str]] = {
    "vertices": (
        document(
            nodes=[{"mesh": 0}],
            meshes=[{"primitives": [{"attributes": {"POSITION": 0}}]}],
            accessors=[{"componentType": 5126, "type": "VEC3", "count": 150_000_000}],
        ),
        "the model has 150000000 vertices",
    ),
    "instances": (
        document(
            nodes=[{"children": list(range(1, 2001))}, *[{"mesh": 0}] * 2000],
            meshes=[{"primitives": [{"attributes": {"POSITION": 0}}] * 500}],
            accessors=[{"componentType": 5126, "type": "VEC3", "count": 3000}],
        ),
        "the model has 3000000000 vertices",
    ),
    "corners": (
        document(
            nodes=[{"mesh": 0}],
            meshes=[{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
            accessors=[
                {"componentType": 5126, "type": "VEC3", "count": 3},
                {"componentType": 5121, "type": "SCALAR", "count": 2_000_000_000},
            ],
        ),
        "the faces, attributes and morph targets of the model have 2000000003 rows",
    ),
    "targets": (
        document(
            nodes=[{"mesh": 0}],
            meshes=[{"primitives": [{"attributes": {"POSITION": 0}, "targets": [{"POSITION": 0}] * 5000}]}],
            accessors=[{"componentType": 5126, "type": "VEC3", "count": 1_000_000}],
        ),
        "the faces, attributes and morph targets of the model have",
    ),
    "keys": (
        document(
            nodes=[{}],
            animations=[
                {
                    "samplers": [{"input": 0, "output": 1}],
                    "channels": [{"sampler": 0, "target": {"node": 0, "path": "translation"}}],
                }
            ],
            accessors=[
                {"componentType": 5126, "type": "SCALAR", "count": 170_000_000},
                {"componentType": 5126, "type": "VEC3", "count": 170_000_000},
            ],
        ),
        "the model has 170000000 keys",
    ),
    "unused keys": (
        document(
            nodes=[{}],
            animations=[{"samplers": [{"input": 0, "output": 0}], "channels": []}],
            accessors=[{"componentType": 5126, "type": "SCALAR", "count": 500_000_000}],
        ),
        "the model has 500000000 keys",
    ),
    "nodes": (document(nodes=[{}] * 300_000), "the model has 300000 nodes"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_short_files_that_say_much(tmp_path: Path, ask: Ask, name: str) -> None:
    """They are refused before memory is taken: what the sanitizer lets a program have at once is less."""
    content, words = BOMBS[name]
    path = put(tmp_path, "a.gltf", json.dumps(content).encode())
    answer = ask(path, nodes=100_000, vertices=10_000_000, keys=10_000_000)
    assert answer.status == LIMIT and words in answer.words, answer


def test_more_inverse_binds_than_joints_cost_nothing(tmp_path: Path, ask: Ask) -> None:
    file = builders.chain(3)
    content = json.loads(file.gltf())
    content["skins"][0].pop("inverseBindMatrices")
    content["accessors"].append({"componentType": 5126, "type": "MAT4", "count": 30_000_000})
    content["skins"][0]["inverseBindMatrices"] = len(content["accessors"]) - 1
    answer = ask(put(tmp_path, "a.gltf", json.dumps(content).encode()), vertices=1000)
    assert answer.status == OK and answer.counts["joints"] == 4


# ---- what Assimp does with broken files ----------------------------------------------------------------


def test_indices_of_a_ply_are_checked(tmp_path: Path, ask: Ask) -> None:
    path = put(tmp_path, "a.ply", PLY.replace(b"3 0 1 2", b"3 0 1 70000000"))
    answer = ask(path)
    assert answer.status == IMPORT and "out of range" in answer.words


def test_assimps_lack_of_memory_is_one(
    tmp_path: Path, objects_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without sanitizers: their operator new ends the process."""
    monkeypatch.setenv("CCACHE_DISABLE", "1")  # it does not keep the graph that test_nothing_recurses reads
    program = build_importer(tmp_path, objects_folder, "ask", (*PLAIN, *with_graph()))
    path = put(tmp_path, "a.off", b"OFF\n400000000 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n")
    done = subprocess.run(
        [program, skinpy.build_info()["assimp"], path],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith(f"{MEMORY} out of memory in Assimp (std::bad_alloc)")


# ---- deep trees ----------------------------------------------------------------------------------------

DEPTH = 20_000


def deep(format: str) -> bytes:
    if format == "gltf":
        nodes = [{"children": [i + 1]} for i in range(DEPTH - 1)] + [{}]
        return json.dumps(document(nodes=nodes)).encode()
    if format == "dae":
        chain = "".join(f'<node id="n{i}">' for i in range(DEPTH - 1)) + "</node>" * (DEPTH - 1)
        return cases.dae(nodes=chain)
    if format == "x":
        return b"xof 0303txt 0032\n" + b"".join(b"Frame f%d {\n" % i for i in range(DEPTH)) + b"}\n" * DEPTH
    joints = "".join(f"JOINT j{i}\n{{\nOFFSET 0 1 0\nCHANNELS 0\n" for i in range(DEPTH - 2))
    return (
        "HIERARCHY\nROOT r\n{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n"
        + joints + "End Site\n{\nOFFSET 0 1 0\n}\n" + "}\n" * (DEPTH - 1)
        + "MOTION\nFrames: 1\nFrame Time: 0.03\n0 0 0\n"
    ).encode()  # fmt: skip


def test_a_long_name_that_is_used_often(tmp_path: Path, ask: Ask) -> None:
    mesh = {"name": "x" * 1_000_000, "primitives": [{"attributes": {"POSITION": 0}}]}
    content = document(
        nodes=[{"children": list(range(1, 401))}, *[{"mesh": 0}] * 400],
        meshes=[mesh],
        accessors=[{"componentType": 5126, "type": "VEC3", "count": 3}],
    )
    answer = ask(put(tmp_path, "a.gltf", json.dumps(content).encode()))
    assert (
        answer.status == IMPORT
        and "the names of all submeshes together take more than 256 MiB" in answer.words
    )


@pytest.mark.parametrize("format", ["gltf", "dae", "x", "bvh"])
def test_deep_trees(tmp_path: Path, ask: Ask, format: str) -> None:
    """Assimp climbs trees by recursion, on a stack such as the worker has; what is ours does not."""
    path = put(tmp_path, f"a.{format}", deep(format))
    answer = ask(path, stack=256)
    assert answer.status == OK and answer.counts["joints"] == DEPTH
    refused = ask(path, stack=256, depth=DEPTH - 1)
    assert refused.status == LIMIT and f"the model has {DEPTH} levels of nodes" in refused.words
    if format == "gltf":
        assert ask(path, stack=1).counts["joints"] == DEPTH


#: They halve what they are given: a stack of 32 of them is enough for everything that can be counted.
HALVING = {"sort_order"}


def test_nothing_recurses(objects_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiler's own graph of who calls whom has no circle, in the importer or in the core."""
    monkeypatch.setenv("CCACHE_DISABLE", "1")  # it does not keep the graph
    if not with_graph():
        pytest.skip("the C compiler has no -fcallgraph-info")
    flags = (*PLAIN, *with_graph(), *include_flags("cglm", "jsmn", "assimp", *COMPRESSORS))
    others = sorted({*SOURCES.glob("core/**/*.c")} - {*IMPORT_AND_READER})
    objects = compile_importer(objects_folder, (), flags) + compile_objects(objects_folder, others, flags)
    of_c = [
        one
        for source, one in zip([*IMPORT_AND_READER, *others], objects, strict=True)
        if source.suffix == ".c"
    ]
    calls: dict[str, set[str]] = {}
    for compiled in of_c:
        for line in compiled.with_suffix(".ci").read_text().splitlines():
            if line.startswith("edge:"):
                caller, callee = line.split('"')[1:4:2]
                calls.setdefault(caller, set()).add(callee)
    assert "sk_block_open" in calls and len(calls) > 500
    halving = {name for name in calls if name in calls[name]}
    assert {name.rpartition(":")[2] for name in halving} == HALVING
    rest = {name: callees - halving for name, callees in calls.items() if name not in halving}
    while leaves := [name for name, callees in rest.items() if not callees & rest.keys()]:
        for name in leaves:  # what calls nothing that is left is in no circle
            del rest[name]
    assert not rest
