"""Small valid models in every format that skinpy.load reads by default, made here: seeds for the mutator.

The shared data, where they are, give more: real files of the binary formats above all.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import builders
import compressed
import import_cases as cases
import iqm_writer
import numpy as np
import tds_writer
import x_writer

LARGEST = 130_000  # bytes of a shared file that is taken as a seed: larger ones take long


@dataclass(frozen=True)
class Seed:
    name: str
    format: str  #: suffix
    data: bytes
    beside: tuple[tuple[str, bytes], ...] = ()  #: files that lie beside it

    @property
    def is_text(self) -> bool:
        return b"\0" not in self.data[:4096]


def obj() -> bytes:
    return cases.obj(head="mtllib beside.mtl\no square\n", middle="vn 0 0 1\nusemtl red\ns 1\n")


MTL = b"newmtl red\nKd 1 0 0\nmap_Kd red.png\nNs 10\nd 0.5\n"


#: Equal names, comments, rotations and scale in any order, a frame over two lines, a wrong number of frames.
BVH_SCALED = b"""# by hand
Hierarchy
Root a
{ // one line
    Offset 0 1e0 -.5
    Channels 8 Zrotation Xposition Yscale Xrotation Yrotation Zposition Xrotation Zscale
    JOINT a { OFFSET 1 2 3 CHANNELS 1 Yrotation End Site { OFFSET 0 1 0 } }
    End Site { OFFSET 0 0 1 }
}
MOTION
Frames : 9
Frame Time: 3.3e-2
10 0.5 1 20 30 1.5 40 2
50
11 0.5 1 nan 31 1,5 41 2 51
12 0.5 1
"""


def triangles(count: int = 12) -> np.ndarray:
    """(count, 3, 3) corners of a box's triangles."""
    positions, _, faces = builders.box()
    return np.asarray(positions, "f4")[np.asarray(faces)[:count]]


def stl_text() -> bytes:
    lines = ["solid box"]
    for face in triangles(4):
        corners = "\n".join(f"vertex {cases.numbers(corner)}" for corner in face)
        lines += ["facet normal 0 0 1", "outer loop", corners, "endloop", "endfacet"]
    return "\n".join([*lines, "endsolid box", ""]).encode()


def stl_binary() -> bytes:
    body = b"".join(struct.pack("<3f", 0, 0, 1) + face.tobytes() + b"\0\0" for face in triangles())
    return b"made here".ljust(80) + struct.pack("<I", 12) + body


def ply(binary: str | None = None) -> bytes:
    """A box in text, or in bytes of the order ("little", "big") that is named."""
    positions, normals, faces = builders.box()
    kind = f"binary_{binary}_endian" if binary else "ascii"
    names = ("x", "y", "z", "nx", "ny", "nz")
    head = ["ply", f"format {kind} 1.0", f"element vertex {len(positions)}"]
    head += [f"property float {name}" for name in names]
    head += [f"element face {len(faces)}", "property list uchar int vertex_indices", "end_header", ""]
    rows = np.concatenate([positions, normals], axis=1)
    if not binary:
        lines = [cases.numbers(row) for row in rows] + [f"3 {a} {b} {c}" for a, b, c in faces]
        return "\n".join([*head, *lines]).replace("\n\n", "\n").encode() + b"\n"
    order = "<" if binary == "little" else ">"
    body = rows.astype(f"{order}f4").tobytes()
    body += b"".join(struct.pack(f"{order}B3i", 3, *map(int, face)) for face in faces)
    return "\n".join(head).encode() + body


def smd() -> bytes:
    """Two joints, one triangle that follows both, and three frames."""
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
    lines = ["version 1", "nodes", '0 "root" -1', '1 "arm" 0', "end", "skeleton"]
    for frame in range(3):
        lines += [f"time {frame}", "0 0 0 0 0 0 0", f"1 0 1 0 0 0 {0.3 * frame}"]
    lines += ["end", "triangles", "skin.bmp"]
    for x, y, z in corners:
        lines.append(f"0 {x} {y} {z} 0 0 1 {x} {y} 2 0 0.5 1 0.5")
    return "\n".join([*lines, "end", ""]).encode()


def dae_skinned() -> bytes:
    """A triangle that follows two joints, of which one turns."""
    identity = cases.numbers(np.eye(4).ravel())
    matrix = f'<matrix sid="transform">{identity}</matrix>'
    skin = (
        '<library_controllers><controller id="skin"><skin source="#tri">'
        f"<bind_shape_matrix>{identity}</bind_shape_matrix>"
        + cases.dae_source("names", "a b", 2, "name")
        + cases.dae_source("binds", f"{identity} {identity}", 2, "float4x4", 16)
        + cases.dae_source("weights", "1 0.5", 2)
        + '<joints><input semantic="JOINT" source="#names"/>'
        '<input semantic="INV_BIND_MATRIX" source="#binds"/></joints><vertex_weights count="3">'
        '<input semantic="JOINT" source="#names" offset="0"/>'
        '<input semantic="WEIGHT" source="#weights" offset="1"/>'
        "<vcount>1 1 2</vcount><v>0 0 1 0 0 1 1 1</v></vertex_weights></skin></controller>"
        "</library_controllers>"
    )
    turn = [np.eye(4).ravel(), (0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1)]
    file = cases.dae(
        geometry=cases.dae_triangle(),
        animation=cases.dae_matrix_animation("b", (0.0, 1.0), turn),
        nodes=f'<node id="a" name="a" sid="a" type="JOINT">{matrix}'
        f'<node id="b" name="b" sid="b" type="JOINT">{matrix}</node></node>'
        '<node id="body"><instance_controller url="#skin"><skeleton>#a</skeleton></instance_controller>'
        "</node>",
    )
    return file.replace(b"<library_animations>", skin.encode() + b"<library_animations>")


def chunk(number: int, body: bytes) -> bytes:
    return struct.pack("<HI", number, len(body) + 6) + body


def three_ds() -> bytes:
    """A triangle with a material, and keys of a translation."""
    points = struct.pack("<H9f", 3, *(0, 0, 0, 1, 0, 0, 0, 1, 0))
    faces = struct.pack("<H4H", 1, 0, 1, 2, 7) + chunk(0x4130, b"red\0" + struct.pack("<HH", 1, 0))
    mesh = chunk(0x4100, chunk(0x4110, points) + chunk(0x4120, faces))
    color = chunk(0xA020, chunk(0x0011, bytes((255, 0, 0))))
    material = chunk(0xAFFF, chunk(0xA000, b"red\0") + color)
    edit = chunk(0x3D3D, material + chunk(0x4000, b"tri\0" + mesh))
    track = struct.pack("<H8xI", 0, 2) + b"".join(struct.pack("<IH3f", k, 0, k, 0, 0) for k in (0, 10))
    name = b"tri\0" + struct.pack("<HHh", 0, 0, -1)
    frames = chunk(0x0008, struct.pack("<II", 0, 10))
    keys = frames + chunk(0xB002, chunk(0xB010, name) + chunk(0xB020, track))
    return chunk(0x4D4D, chunk(0x0002, struct.pack("<I", 3)) + edit + chunk(0xB000, keys))


def ms3d() -> bytes:
    """A triangle that follows one joint, which has two keys."""
    vertices = b"".join(
        struct.pack("<B3fbB", 0, *corner, 0, 1) for corner in ((0, 0, 0), (1, 0, 0), (0, 1, 0))
    )
    normals, uvs = (0.0, 0.0, 1.0) * 3, (0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    triangle = struct.pack("<H3H9f6fBB", 0, 0, 1, 2, *normals, *uvs, 1, 0)
    group = struct.pack("<B32sHHb", 0, b"group", 1, 0, 0)
    color = struct.pack("<16f", *(1.0,) * 16)
    material = struct.pack("<32s", b"red") + color + struct.pack("<ffB128s128s", 1, 1, 0, b"", b"")
    keys = b"".join(struct.pack("<4f", t, 0, 0, t) for t in (0.0, 1.0))
    joint = struct.pack("<B32s32s6fHH", 0, b"root", b"", 0, 0, 0, 0, 1, 0, 2, 2) + keys + keys
    head = b"MS3D000000" + struct.pack("<I", 4)
    counted = (struct.pack("<H", 3) + vertices, struct.pack("<H", 1) + triangle, struct.pack("<H", 1) + group)
    tail = struct.pack("<H", 1) + material + struct.pack("<ffi", 24, 0, 30) + struct.pack("<H", 1) + joint
    return head + b"".join(counted) + tail


def b3d_chunk(name: bytes, body: bytes) -> bytes:
    return name + struct.pack("<I", len(body)) + body


def b3d() -> bytes:
    """A triangle that follows one joint, with keys."""
    corners = b"".join(struct.pack("<3f", *corner) for corner in ((0, 0, 0), (1, 0, 0), (0, 1, 0)))
    vertices = b3d_chunk(b"VRTS", struct.pack("<3i", 0, 0, 0) + corners)
    mesh = struct.pack("<i", -1) + vertices + b3d_chunk(b"TRIS", struct.pack("<4i", -1, 0, 1, 2))

    def node(name: bytes, body: bytes) -> bytes:
        return b3d_chunk(b"NODE", name + b"\0" + struct.pack("<10f", 0, 0, 0, 1, 1, 1, 1, 0, 0, 0) + body)

    keys = b"".join(struct.pack("<i3f", frame, frame, 0, 0) for frame in (1, 5))
    bone = b3d_chunk(b"BONE", b"".join(struct.pack("<if", vertex, 1) for vertex in range(3)))
    arm = node(b"arm", bone + b3d_chunk(b"KEYS", struct.pack("<i", 1) + keys))
    anim = b3d_chunk(b"ANIM", struct.pack("<iif", 0, 5, 24))
    return b3d_chunk(b"BB3D", struct.pack("<i", 1) + node(b"root", b3d_chunk(b"MESH", mesh) + arm + anim))


def x_objects() -> list[x_writer.Object]:
    """A skinned square with a material and all attributes, and keys of all kinds."""
    corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
    paint = x_writer.thing(
        "Material", [1.0] * 4, 0.0, [0.0] * 6, x_writer.thing("TextureFilename", "red.png"), name="red"
    )
    inside = [
        x_writer.thing("MeshNormals", 1, [0.0, 0.0, 1.0], 1, 4, 0, 0, 0, 0),
        x_writer.thing("MeshTextureCoords", 4, [0.5] * 8),
        x_writer.thing("MeshVertexColors", 1, 2, [0.5] * 4),
        x_writer.thing("DeclData", 1, 2, 0, 3, 0, 12, [0] * 12),
        x_writer.thing("MeshMaterialList", 2, 1, 0, paint, x_writer.Reference("red")),
        x_writer.weights("a", (0, 1), (1, 0.5)),
        x_writer.weights("b", (1, 2, 3), (0.5, 1, 1)),
    ]
    keys = [
        x_writer.keys(0, [(0, (1, 0, 0, 0))]),
        x_writer.keys(1, [(-1, (1, 1, 1))]),
        x_writer.keys(2, [(0, (0, 0, 0)), (9, (1, 0, 0))]),
    ]
    clip = x_writer.clip(
        "s",
        x_writer.animation("a", *keys),
        x_writer.animation("b", x_writer.keys(4, [(0, x_writer.rows_of(x_writer.IDENTITY))])),
    )
    body = x_writer.mesh(corners, [(0, 1, 2, 3)], *inside, name="one")
    return [
        x_writer.ticks(30),
        body,
        x_writer.frame("a", x_writer.frame("b", x_writer.Reference("one")), x_writer.Reference("one")),
        clip,
    ]


def iqm_arrays() -> bytes:
    """Vertex arrays of all kinds and of several types."""
    rows = np.linspace(0, 1, 24).reshape(6, 4)
    kinds = ((iqm_writer.TEXCOORD, "<f2"), (iqm_writer.NORMAL, "<f8"), (iqm_writer.TANGENT, "<f4"))
    arrays = [*iqm_writer.strip().arrays, *((kind, type, rows) for kind, type in kinds)]
    arrays.append((iqm_writer.COLOR, "<u2", rows * 65535))
    meshes = [("low", "red.png", 0, 4, 0, 2), ("high", "", 2, 4, 2, 2)]
    return iqm_writer.strip(arrays=arrays, meshes=meshes, clips=[("a", 0, 3, 10.0), ("b", 2, 4, 0.0)]).bytes()


def instances() -> bytes:
    """A glTF of a node below a hidden one, with three instances of a morphed mesh, and its keys."""
    file = builders.Gltf()
    primitive = file.primitive(triangles(1)[0], [[0, 1, 2]], uvs=[[0, 0], [1, 0], [0, 1]])
    primitive["targets"] = [{"POSITION": file.accessor(np.ones((3, 3)))}]
    top = file.node("hidden")
    many = file.node("many", top, mesh=file.mesh(primitive))
    places = {"TRANSLATION": file.accessor(np.eye(3)), "SCALE": file.accessor(np.ones((3, 3)))}
    places["ROTATION"] = file.accessor(np.tile([0, 0, 90, 90], (3, 1)), "i1", normalized=True)
    file.nodes[top]["extensions"] = {"KHR_node_visibility": {"visible": False}}
    file.nodes[many]["extensions"] = {"EXT_mesh_gpu_instancing": {"attributes": places}}
    file.animation("go", file.channel(many, "weights", [0, 1], [[0], [1]]))
    return file.gltf()


def outside() -> bytes:
    """A glTF whose skin has joints outside the scene, and a second node with that skin."""
    file = builders.all_attributes()
    file.node("again", mesh=0, skin=0)
    file.roots.remove(file.skins[0]["joints"][1])
    return file.gltf()


def sparse() -> bytes:
    """A glTF with every kind of attribute, of which each accessor has a sparse part."""
    file, rng = builders.all_attributes(), np.random.default_rng(1)
    for index in range(len(file.accessors)):
        builders.make_sparse(file, index, rng)
    return file.gltf()


def pointers() -> bytes:
    """A glTF whose clip changes a material and the visibility of a node (KHR_animation_pointer)."""
    file = builders.Gltf()
    file.materials.append({"pbrMetallicRoughness": {"baseColorFactor": [1, 0, 0, 1]}})
    node = file.node("box", mesh=file.mesh(file.primitive(triangles(1)[0], [[0, 1, 2]], material=0)))
    keys = {
        "/materials/0/pbrMetallicRoughness/baseColorFactor": file.accessor(np.eye(4)[:2]),
        f"/nodes/{node}/extensions/KHR_node_visibility/visible": file.accessor([1, 0], "u1"),
        f"/nodes/{node}/scale": file.accessor(np.ones((2, 3))),
    }
    clip = file.animation("look", *(file.channel(node, "scale", [0, 1], np.ones((2, 3))) for _ in keys))
    for channel, sampler, (pointer, output) in zip(
        file.animations[clip]["channels"], file.animations[clip]["samplers"], keys.items(), strict=True
    ):
        sampler["output"] = output
        channel["target"] = {"path": "pointer", "extensions": {"KHR_animation_pointer": {"pointer": pointer}}}
    return file.gltf()


def tds_tree() -> bytes:
    """Nodes in a tree, with curves, a matrix, smoothing groups and materials."""
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    more = [tds_writer.smoothing([1, 2, 3, 0]), tds_writer.painted("RED", [0, 2])]
    body = tds_writer.mesh("a", corners, faces, *more, matrix=np.diag([2.0, 1, -1, 1]), uvs=np.zeros((4, 2)))
    keys = [
        tds_writer.places((0, (0, 0, 0)), (10, (1, 2, 3)), (25, (0, 0, 1)), curve=(0.5, 0.2, -0.3)),
        tds_writer.turns((0, (0, 0, 0, 1)), (10, (7.0, 1, 0, 0)), (20, (1.0, 0, 1, 0))),
        tds_writer.scales((0, (1, 1, 1)), (5, (2, 0, 1))),
    ]
    nodes = [
        tds_writer.node("a", 0, tds_writer.NO_PARENT, *tds_writer.still(), pivot=(0, 1, 0)),
        tds_writer.node("$$$DUMMY", 1, 0, *keys, instance="dummy"),
        tds_writer.node("a", 2, 1, *keys, instance="again"),
        tds_writer.node("lamp", 3, 0, *keys, kind=0xB005),
    ]
    red = tds_writer.material("red", (255, 0, 0), tds_writer.texture("red.png"))
    return tds_writer.file([red, body], nodes)


def own_seeds() -> list[Seed]:
    small = builders.random_model(3, joints=4, vertices=12)
    awkward: dict[str, Callable[[], builders.Gltf]] = {
        name: builders.AWKWARD[name]
        for name in (
            "eight_influences",
            "mixed_channels",
            "sparse_accessors",
            "skin_without_ibm",
            "matrix_nodes",
        )
    }
    anim, mesh = ("model.md5anim", cases.MD5_ANIM), ("model.md5mesh", cases.MD5_MESH)
    fbx_morph = cases.fbx_shapes(between=True)
    found = [Seed("small", "glb", small.glb()), Seed("small", "gltf", small.gltf())]
    found += [Seed(name, "gltf", make().gltf()) for name, make in awkward.items()]
    found += [Seed(name, "glb", make().glb()) for name, make in awkward.items()]
    found += [Seed(make.__name__, "gltf", make()) for make in (instances, outside, sparse, pointers)]
    found += [Seed("beside", "gltf", builders.beside_geometry().gltf())]
    found += [
        Seed("small", "vrm", small.glb()),
        Seed("small", "vrma", small.glb()),
        Seed("skinned", "dae", dae_skinned()),
        Seed("morphed", "dae", cases.dae_morphed()),
        Seed("scene", "dae", cases.dae_scene()),
        Seed("textured", "dae", cases.dae_textured("<repeatU>2</repeatU>")),
        Seed("chain", "bvh", cases.bvh(("hip", "knee", "foot"))),
        Seed("awkward", "bvh", cases.bvh_awkward()),
        Seed("scaled", "bvh", BVH_SCALED),
        Seed("square", "obj", obj(), (("beside.mtl", MTL),)),
        Seed("text", "stl", stl_text()),
        Seed("binary", "stl", stl_binary()),
        Seed("text", "ply", ply()),
        Seed("little", "ply", ply("little")),
        Seed("big", "ply", ply("big")),
        Seed("skinned", "x", cases.x_file(skin=[("arm", (0, 1, 2), cases.x_matrix())])),
        Seed("text", "x", x_writer.text(*x_objects())),
        Seed("bytes", "x", x_writer.binary(*x_objects())),
        Seed("compressed", "x", x_writer.compressed("bzip", x_writer.binary_body(x_objects()), 400)),
        Seed("mesh", "md5mesh", cases.MD5_MESH, (anim,)),
        Seed("anim", "md5anim", cases.MD5_ANIM, (mesh,)),
        Seed("triangle", "smd", smd()),
        Seed("layers", "fbx", cases.fbx(layers=2)),
        Seed("shapes", "fbx", fbx_morph),
        Seed("frames", "md2", cases.md2()),
        Seed("triangle", "3ds", three_ds()),
        Seed("tree", "3ds", tds_tree()),
        Seed("triangle", "ms3d", ms3d()),
        Seed("triangle", "b3d", b3d()),
        Seed("strip", "iqm", iqm_writer.strip().bytes()),
        Seed("arrays", "iqm", iqm_arrays()),
    ]
    for name, data in compressed.examples(small).items():
        stem, _, suffix = name.partition(".")
        found.append(Seed(stem, suffix, data))
    return found


def shared_seeds(folder: Path, formats: set[str]) -> list[Seed]:
    """The models of the shared data that are not too large."""
    found = []
    for path in sorted(folder.iterdir()):
        suffix = path.suffix.lstrip(".").lower()
        if suffix in formats and path.stat().st_size <= LARGEST:
            partner = path.with_suffix(".bin")
            beside = ((partner.name, partner.read_bytes()),) if partner.is_file() else ()
            found.append(Seed(path.stem, suffix, path.read_bytes(), beside))
    return found
