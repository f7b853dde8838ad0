"""Hostile files, made here: cut short, of huge counts, of no numbers, in circles, too deep, and lying.

`python make_hostile.py FOLDER` writes them all, for a look at single ones.
"""

import base64
import io
import itertools
import json
import os
import struct
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
if __name__ == "__main__":
    sys.path[:0] = [str(HERE), str(HERE.parent)]

import builders  # noqa: E402
import import_cases as cases  # noqa: E402
import mutate  # noqa: E402
import numpy as np  # noqa: E402
import seed_models  # noqa: E402

DEEP = 100_000  # levels of a tree, ten times more than any stack holds that a reader fills by itself
SHARES = (0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99)
ODD = ("nan", "inf", "-inf", "1e39", "-1e39", "1e400", "1e-46", "-0.0", "1" * 500)
HUGE = ("2147483647", "4294967295", "4294967296", "9223372036854775807", "-1", "-2147483648", "1000000000")

Files = Iterator[tuple[str, bytes]]
Maker = Callable[[], Files]


def every_file() -> Files:
    """Name and data of each, of all makers."""
    for make in MAKERS:
        yield from make()


def cut_short() -> Files:
    for seed in seed_models.own_seeds():
        for share in SHARES:
            yield f"cut_{seed.name}_{share}.{seed.format}", seed.data[: int(share * len(seed.data))]


def nothing_in_it() -> Files:
    for seed in seed_models.own_seeds():
        yield f"empty_{seed.name}.{seed.format}", b""
        yield f"zeros_{seed.name}.{seed.format}", bytes(len(seed.data))
        yield f"head_{seed.name}.{seed.format}", seed.data[:16] + b"\xff" * 400
        yield f"open_{seed.name}.{seed.format}", b"{[(<" * 5000


def wrong_names() -> Files:
    """Each format's bytes under the names of the others: Assimp sniffs."""
    seeds = {seed.format: seed for seed in seed_models.own_seeds()}
    for seed in seeds.values():
        for name in seeds:
            if name != seed.format:
                yield f"is_{seed.format}.{name}", seed.data


def odd_numbers() -> Files:
    """Every number of a text, one after another where there are few, becomes none, or far too large."""
    for seed in seed_models.own_seeds():
        if not seed.is_text or seed.format == "gltf":
            continue
        found = list(mutate.NUMBER.finditer(seed.data))
        step = max(1, len(found) // 12)
        for at, one in enumerate(found[::step]):
            token = (*ODD, *HUGE)[at % (len(ODD) + len(HUGE))].encode()
            yield (
                f"number{at}_{seed.name}.{seed.format}",
                seed.data[: one.start()] + token + seed.data[one.end() :],
            )
        for token in ("nan", "1e39", "4294967295"):
            yield f"all_{token}_{seed.name}.{seed.format}", mutate.NUMBER.sub(token.encode(), seed.data)


def odd_words() -> Files:
    """Every word of a binary file's, some of them, at an edge of its kind."""
    edges = mutate.EDGES[4]
    for seed in seed_models.own_seeds():
        if seed.is_text:
            continue
        step = max(4, len(seed.data) // 24 // 4 * 4)
        for turn, at in enumerate(range(0, len(seed.data) - 4, step)):
            word = struct.pack("<I", edges[turn % len(edges)])
            yield f"word{at}_{seed.name}.{seed.format}", seed.data[:at] + word + seed.data[at + 4 :]


# ---- glTF ----------------------------------------------------------------------------------------


def changed(make: Callable[[], builders.Gltf], change: Callable[[dict[str, Any]], object]) -> bytes:
    document = json.loads(make().gltf())
    change(document)
    return json.dumps(document).encode()


def gltf_floats() -> Files:
    """All of one buffer's numbers become one that is none, or as large as there is."""
    for value in (np.nan, np.inf, -np.inf, np.finfo("f4").max, -np.finfo("f4").max, 1e-45):
        for name in ("mixed_channels", "eight_influences"):

            def spoil(document: dict[str, Any], value: float = value) -> None:
                for buffer in document["buffers"]:
                    data = np.full(buffer["byteLength"] // 4 + 1, value, "<f4").tobytes()
                    data = data[: buffer["byteLength"]]
                    buffer["uri"] = "data:application/octet-stream;base64," + base64.b64encode(data).decode()

            yield f"floats_{value}_{name}.gltf", changed(builders.AWKWARD[name], spoil)


def gltf_counts() -> Files:
    make = builders.skin_without_ibm
    plain = json.loads(make().gltf())
    accessor = ("count", "byteOffset", "componentType", "bufferView")
    view = ("byteLength", "byteOffset", "byteStride", "buffer")
    fields = {"accessors": accessor, "bufferViews": view, "buffers": ("byteLength",)}
    values = (0, -1, 1, 2**31 - 1, 2**32, 2**63 - 1, 1e300, "4", None, [], True)
    for key, names in fields.items():
        for at, name, value in itertools.product(range(len(plain[key])), names, values):
            document = json.loads(make().gltf())
            document[key][at][name] = value
            yield f"{key}{at}_{name}_{value}.gltf", json.dumps(document).encode()


def gltf_references() -> Files:
    make = builders.skin_without_ibm
    yield "circle.gltf", changed(make, lambda d: d["nodes"][1].update(children=[0]))
    yield "own_child.gltf", changed(make, lambda d: d["nodes"][0].update(children=[0]))
    yield "two_parents.gltf", changed(make, lambda d: [one.update(children=[1]) for one in d["nodes"][2:]])
    yield "no_scene.gltf", changed(make, lambda d: d.update(scene=7))
    yield "no_joints.gltf", changed(make, lambda d: d["skins"][0].update(joints=[]))
    places: dict[str, Callable[[dict[str, Any], Any], object]] = {
        "joint": lambda d, value: d["skins"][0].update(joints=[value, 1]),
        "child": lambda d, value: d["nodes"][0].update(children=[value]),
        "mesh": lambda d, value: d["nodes"][-1].update(mesh=value, skin=value),
        "target": lambda d, value: d["animations"][0]["channels"][0]["target"].update(node=value),
        "sampler": lambda d, value: d["animations"][0]["samplers"][0].update(input=value, output=value),
        "asset": lambda d, value: d.update(asset=value, scenes=value),
    }
    for name, put in places.items():
        for value in (-1, 99, 2**31, 2**32, 2**64, 0.5, "0", None, {}, [0]):
            document = json.loads(make().gltf())
            put(document, value)
            yield f"{name}_{value}.gltf", json.dumps(document).encode()


def gltf_of(nodes: str, roots: str = "0") -> bytes:
    return f'{{"asset":{{"version":"2.0"}},"nodes":[{nodes}],"scenes":[{{"nodes":[{roots}]}}]}}'.encode()


def gltf_bombs() -> Files:
    """Small files that stand for much: nested, repeated, sparse."""
    yield "arrays.gltf", b'{"asset":{"version":"2.0"},"x":' + b"[" * 1_000_000
    yield "closed.gltf", b'{"asset":{"version":"2.0"},"x":' + b"[" * 500_000 + b"]" * 500_000 + b"}"
    yield "objects.gltf", b'{"asset":{"version":"2.0"},"x":' + b'{"x":' * 200_000
    yield "string.gltf", b'{"asset":{"version":"2.0"},"x":"' + b"\\u0000" * 500_000 + b'"}'
    nodes = ",".join(f'{{"children":[{i + 1}]}}' for i in range(DEEP)) + ",{}"
    yield "deep.gltf", gltf_of(nodes)
    doubled = ",".join(f'{{"children":[{i + 1},{i + 1}]}}' for i in range(60)) + ",{}"
    yield "doubled.gltf", gltf_of(doubled)
    wide = ",".join(["{}"] * 200_000)
    roots = ",".join(map(str, range(200_000)))
    yield "wide.gltf", gltf_of(wide, roots)

    def often(document: dict[str, Any]) -> None:
        first = len(document["nodes"])
        document["nodes"] += [{"mesh": 0, "skin": 0} for _ in range(20_000)]
        document["scenes"][0]["nodes"] += list(range(first, first + 20_000))

    yield "often.gltf", changed(builders.skin_without_ibm, often)

    def sparse(document: dict[str, Any]) -> None:
        for accessor in document["accessors"]:
            accessor.pop("bufferView", None)
            accessor["count"] = 500_000_000

    yield "sparse.gltf", changed(builders.sparse_accessors, sparse)


def glb_heads() -> Files:
    data = builders.skin_without_ibm().glb()
    for at in (4, 8, 12, 16):
        for value in (0, 1, 3, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, len(data) * 2):
            yield f"head{at}_{value}.glb", data[:at] + struct.pack("<I", value) + data[at + 4 :]
    length = struct.unpack_from("<I", data, 12)[0]
    for value in (0, 4, 0x7FFFFFFF, 0xFFFFFFFF):
        yield f"second_{value}.glb", data[: 20 + length] + struct.pack("<I", value) + data[24 + length :]


# ---- trees and counts of the others --------------------------------------------------------------


def deep_trees() -> Files:
    for levels in (2_000, DEEP):
        yield f"deep{levels}.bvh", deep_bvh(levels)
        inner = "".join(f"Frame f{i} {{\n" for i in range(levels)) + "}\n" * levels
        yield f"deep{levels}.x", b"xof 0303txt 0032\n" + inner.encode()
        nodes = "".join(f'<node id="n{i}">' for i in range(levels)) + "</node>" * levels
        yield f"deep{levels}.dae", cases.dae(nodes=nodes)
        inner = "".join(f"A{i}: {{\n" for i in range(levels)) + "}\n" * levels
        yield f"deep{levels}.fbx", b"; FBX 7.3.0 project file\nFBXHeaderExtension:  {\n}\n" + inner.encode()
        body = b""
        for _ in range(min(levels, 20_000)):
            body = (
                struct.pack("<4sI", b"NODE", len(body) + 42) + b"n\0" + struct.pack("<10f", *(1,) * 10) + body
            )
        yield f"deep{levels}.b3d", struct.pack("<4sIi", b"BB3D", len(body) + 4, 1) + body
    joints = "".join(f'"j{i}" {i - 1} ( 0 0 0 ) ( 0 0 0 )\n' for i in range(20_000))
    mesh = f"MD5Version 10\nnumJoints 20000\nnumMeshes 0\njoints {{\n{joints}}}\n"
    yield "deep.md5mesh", mesh.encode()
    yield "circle.md5mesh", mesh.replace('"j0" -1', '"j0" 19999').encode()
    bones = "".join(f'{i} "j{i}" {i - 1}\n' for i in range(20_000))
    smd = f"version 1\nnodes\n{bones}end\nskeleton\ntime 0\nend\n"
    yield "deep.smd", smd.encode()
    yield "circle.smd", smd.replace('0 "j0" -1', '0 "j0" 5').encode()


def deep_bvh(levels: int) -> bytes:
    joint = "{\nOFFSET 0 1 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n"
    inner = "".join(f"{'JOINT' if i else 'ROOT'} j{i}\n{joint}" for i in range(levels))
    end = "End Site\n{\nOFFSET 0 1 0\n}\n" + "}\n" * levels
    motion = f"MOTION\nFrames: 1\nFrame Time: 1\n{'0 0 0 ' * levels}\n"
    return f"HIERARCHY\n{inner}{end}{motion}".encode()


def huge_counts() -> Files:
    for number in HUGE:
        yield f"huge{number}.bvh", cases.bvh().replace(b"Frames: 3", f"Frames: {number}".encode())
        yield f"time{number}.bvh", cases.bvh(frame_time=number)
        yield (
            f"huge{number}.ply",
            seed_models.ply("little").replace(b"vertex 24", f"vertex {number}".encode()),
        )
        yield f"faces{number}.ply", seed_models.ply().replace(b"face 12", f"face {number}".encode())
        yield f"huge{number}.obj", f"v 0 0 0\nf 1 {number} -{number}\n".encode()
        for word in (b"numJoints", b"numMeshes", b"numverts", b"numtris", b"numweights"):
            line = next(one for one in cases.MD5_MESH.splitlines() if word in one)
            data = cases.MD5_MESH.replace(line, word + b" " + number.encode())
            yield f"{word.decode()}{number}.md5mesh", data
        for word in (b"numFrames", b"numJoints", b"frameRate", b"numAnimatedComponents"):
            line = next(one for one in cases.MD5_ANIM.splitlines() if word in one)
            data = cases.MD5_ANIM.replace(line, word + b" " + number.encode())
            yield f"{word.decode()}{number}.md5anim", data
    for count in (13, 0x7FFFFFFF, 0xFFFFFFFF):
        data = seed_models.stl_binary()
        yield f"huge{count}.stl", data[:80] + struct.pack("<I", count) + data[84:]


def entities() -> Files:
    """XML that stands for a gigabyte, and that asks for a file of the system."""
    laughs = '<!ENTITY a0 "ha">' + "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 10))
    plain = cases.dae(nodes='<node id="n" name="&a9;"/>').decode().partition("?>")[2]
    yield "laughs.dae", f'<?xml version="1.0"?><!DOCTYPE COLLADA [{laughs}]>{plain}'.encode()
    entity = '<!ENTITY a9 SYSTEM "file:///etc/passwd">'
    yield "file.dae", f'<?xml version="1.0"?><!DOCTYPE COLLADA [{entity}]>{plain}'.encode()


# ---- for those who name the formats --------------------------------------------------------------


def containers() -> Files:
    """Compressed bombs: of no default format."""
    zeros = bytes(64 << 20)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("3D/3dmodel.model", zeros)
        archive.writestr("doc.dae", zeros)
    for suffix in ("3mf", "zae"):
        yield f"bomb.{suffix}", packed.getvalue()
        yield f"cut.{suffix}", packed.getvalue()[:-100]


MAKERS: tuple[Maker, ...] = (
    *(cut_short, nothing_in_it, wrong_names, odd_numbers, odd_words, gltf_floats, gltf_counts),
    *(gltf_references, gltf_bombs, glb_heads, deep_trees, huge_counts, entities, containers),
)


# ---- files that lead outside ---------------------------------------------------------------------


def escapes(folder: Path) -> tuple[list[Path], Path]:
    """Models in folder/model that ask for files outside of it, by name and by link, and that outside."""
    inside, outside = folder / "model", folder / "secret"
    inside.mkdir()
    outside.mkdir()
    document = json.loads(builders.skin_without_ibm().gltf())
    secret = base64.b64decode(document["buffers"][0]["uri"].partition(",")[2])
    (outside / "secret.bin").write_bytes(secret)
    (outside / "secret.mtl").write_text("newmtl red\nKd 1 0 0\n")
    (inside / "link.bin").symlink_to(outside / "secret.bin")
    (inside / "link.mtl").symlink_to(outside / "secret.mtl")
    (inside / "linked").symlink_to(outside, target_is_directory=True)
    for name in ("fifo.bin", "fifo.mtl"):
        os.mkfifo(inside / name)
    paths = []
    for suffix in ("bin", "mtl"):
        names = [f"../secret/secret.{suffix}", f"..\\secret\\secret.{suffix}", f"linked/secret.{suffix}"]
        names += [f"link.{suffix}", f"fifo.{suffix}", str(outside / f"secret.{suffix}"), "/dev/zero", "."]
        names += [f"file://{outside}/secret.{suffix}", f"x/../../secret/secret.{suffix}", "/dev/stdin", ".."]
        names += [
            f"%2e%2e/secret/secret.{suffix}",
            f"./.././secret/secret.{suffix}",
            f"secret.{suffix}\0.png",
        ]
        for number, name in enumerate(names):
            if suffix == "bin":
                document["buffers"][0]["uri"] = name
                path = inside / f"escape{number}.gltf"
                path.write_text(json.dumps(document))
            else:
                path = inside / f"escape{number}.obj"
                path.write_bytes(cases.obj(head=f"mtllib {name}\n", middle="usemtl red\n"))
            paths.append(path)
    return paths, outside


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    for name, data in every_file():
        (target / name.replace("/", "_")).write_bytes(data)
    escapes(target)
