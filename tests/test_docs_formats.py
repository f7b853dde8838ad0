"""The table of docs/formats.md against what comes out of a small file, or some, of each of its formats."""

import struct
import warnings
from pathlib import Path
from typing import Any

import builders
import import_cases as cases
import iqm_writer
import pytest
import tds_writer
from conftest import ROOT, data_file

import skinpy

PAGE = ROOT / "docs" / "formats.md"
TEXTURE = "wood.png"


def table() -> dict[str, dict[str, str]]:
    """Rows by format, each a dict by column."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("| format |"))
    heads = [word.strip() for word in lines[first].strip("|").split("|")]
    rows: dict[str, dict[str, str]] = {}
    for line in lines[first + 2 :]:
        if not line.startswith("|"):
            break
        words = [word.strip() for word in line.strip("|").split("|")]
        rows[words[0]] = dict(zip(heads, words, strict=True))
    return rows


def textured_x() -> bytes:
    material = (
        'Material { 1.0;1.0;1.0;1.0;; 0.0; 0.0;0.0;0.0;; 0.0;0.0;0.0;; TextureFilename { "wood.png"; } }'
    )
    more = f"MeshTextureCoords {{ 3; 0;0;, 1;0;, 0;1;; }}\nMeshMaterialList {{ 1; 1; 0;; {material} }}"
    return cases.x_file().replace(b"1; 3;0,1,2;;", f"1; 3;0,1,2;;\n{more}".encode())


def textured_md2() -> bytes:
    """With one skin, the file's name in 64 bytes, between header and texture coordinates."""
    file = cases.md2()
    header = list(struct.unpack("<4s10i6i", file[:68]))
    header[5] = 1
    header[12:] = [place + 64 for place in header[12:]]
    return struct.pack("<4s10i6i", *header) + TEXTURE.encode().ljust(64, b"\0") + file[68:]


def z_up_fbx() -> bytes:
    """In meters, with Z up, and with a mesh."""
    axes = [("UpAxis", 2), ("UpAxisSign", 1), ("FrontAxis", 1), ("FrontAxisSign", -1)]
    settings = "".join(cases.fbx_property(name, "int", value) for name, value in axes)
    settings += cases.fbx_property("UnitScaleFactor", "double", 100)
    plain, told = cases.fbx(), cases.fbx(settings=settings)
    at = next(i for i, (one, other) in enumerate(zip(plain, told, strict=False)) if one != other)
    mesh = cases.fbx_textured("")
    return mesh[:at] + told[at : at + len(told) - len(plain)] + mesh[at:]


def glb_with_a_texture() -> bytes:
    """The bundled character is textured."""
    return (Path(skinpy.__file__).parent / "data" / "character.glb").read_bytes()


def tds_sample() -> bytes:
    """A textured triangle that turns and moves."""
    red = tds_writer.material("red", (255, 0, 0), tds_writer.texture(TEXTURE))
    body = tds_writer.mesh("a", tds_writer.CORNERS, [(0, 1, 2)], tds_writer.painted("red", [0]))
    turn = tds_writer.turns((0, (0, 0, 0, 1)), (10, (1, 0, 0, 1)))
    places = tds_writer.places((0, (0, 0, 0)), (10, (1, 0, 0)), (20, (0, 0, 0)))
    return tds_writer.file([red, body], [tds_writer.node("a", 0, tds_writer.NO_PARENT, places, turn)])


def samples(name: str, folder: Path) -> list[Any]:
    """Models of files of one format; what a format keeps, one of them shows."""
    up = cases.dae(up="Z_UP", meter=0.01, geometry=cases.dae_triangle(), nodes="<node id='n'/>")
    x_skin = [("arm", (0, 1), cases.x_matrix()), ("root", (1, 2), cases.x_matrix())]
    written: dict[str, dict[str, bytes]] = {
        "glTF 2.0": {"a.glb": builders.random_model(5).glb(), "b.glb": glb_with_a_texture()},
        "FBX": {
            "a.fbx": cases.fbx_textured(""),
            "b.fbx": cases.fbx_shapes(between=False),
            "c.fbx": z_up_fbx(),
            "d.fbx": cases.fbx().replace(b"24836", b"2"),  # constant keys
            "e.fbx": cases.fbx().replace(b"24836", b"1032"),  # cubic keys with user tangents, which are flat
        },
        "COLLADA": {
            "a.dae": cases.dae_textured(""),
            "b.dae": up,
            "c.dae": cases.dae_morphed(),
            "d.dae": cases.dae_moving("STEP STEP"),
            "e.dae": cases.dae_moving("BEZIER BEZIER"),
        },
        "DirectX": {"a.x": textured_x(), "b.x": cases.x_file(skin=x_skin)},
        "MD5": {
            "a.md5mesh": cases.MD5_MESH.replace(b'"skin"', b'"wood.png"'),
            "a.md5anim": cases.MD5_ANIM,
        },
        "Inter-Quake Model": {"a.iqm": iqm_writer.strip(meshes=[("strip", TEXTURE, 0, 6, 0, 4)]).bytes()},
        "3D Studio": {"a.3ds": tds_sample()},
        "BVH": {"a.bvh": cases.bvh()},
        "LightWave scene": {"a.lws": cases.lws()},
        "Quake II": {"a.md2": textured_md2()},
        "Wavefront": {"a.obj": cases.obj(head="mtllib a.mtl\n", middle="usemtl wood\n")},
    }
    from_data = {
        "FBX": ["huesitos.fbx"],
        "COLLADA": ["RiggedFigure.dae"],
        "glTF 2.0": ["interpolation_test.gltf", "AnimatedMorphCube.gltf"],
    }
    (folder / TEXTURE).write_bytes(skinpy.character().materials[0].texture.data)  # type: ignore[union-attr]
    (folder / "a.mtl").write_text(f"newmtl wood\nmap_Kd {TEXTURE}\n")
    for file, content in written.get(name, {}).items():
        (folder / file).write_bytes(content)
    paths = [folder / file for file in written.get(name, {})]
    paths += [data_file("models", file) for file in from_data.get(name, [])]
    if name == "skinpy":
        for number, model in enumerate(samples("glTF 2.0", folder)):
            model.save(folder / f"{number}.skn")
            paths.append(folder / f"{number}.skn")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", skinpy.SkinpyWarning)
        allowed = (*skinpy.DEFAULT_FORMATS, "lws")
        return [skinpy.load(path, allow_formats=allowed) for path in paths]


def has_skin(model: Any) -> bool:
    """Whether a vertex follows two joints."""
    mesh = model.mesh
    return bool(len(mesh.positions) and ((mesh.weights > 0).sum(axis=1) > 1).any())


def what_is_there(models: list[Any]) -> dict[str, str]:
    """Those cells of a row that can be told from models, as the table words them."""
    channels = [channel for model in models for clip in model.clips for channel in clip.channels]
    kinds = {channel.interpolation for channel in channels}
    facts = {
        "joints": any(channel.joint is not None for channel in channels),
        "skin": any(map(has_skin, models)),
        "clips": bool(channels),
        "morph targets": any(model.targets for model in models),
        "texture": any(one.texture is not None for model in models for one in model.materials),
    }
    words = {name: "yes" if there else "no" for name, there in facts.items()}
    return words | {"keys": ", ".join(kind for kind in ("step", "linear", "cubic") if kind in kinds)}


@pytest.mark.parametrize("name", list(table()))
def test_the_table_says_what_comes_through(name: str, tmp_path: Path) -> None:
    row, models = table()[name], samples(name, tmp_path)
    assert models
    found = what_is_there(models)
    if row["keys"] in ("frames", "none"):
        row["keys"] = ""
    assert {column: row[column] for column in found} == found
    assert {model.up for model in models} == {"+Y"}
    turned = any(entry.code == "axes_converted" for model in models for entry in model.report)
    assert turned or not row["up axis"].startswith("turned")
    meters = {model.unit_meters for model in models}
    if row["unit"] == "unknown":
        assert meters == {None}
    elif row["unit"] == "the file's":
        assert meters == {0.01, 1.0}
    elif row["unit"] in ("meter", "scaled to meters"):
        assert meters == {1.0}


def test_frames_are_read_one_by_one(tmp_path: Path) -> None:
    (tmp_path / "a.md2").write_bytes(cases.md2(frames=4))
    assert len(skinpy.VertexAnimation.load(tmp_path / "a.md2")) == 4


def test_every_suffix_of_the_table_is_read() -> None:
    formats = {*skinpy.build_info()["formats"], "skn"}
    for row in table().values():
        suffixes = {word.strip("`.") for word in row["suffix"].split()}
        assert suffixes and suffixes <= formats
