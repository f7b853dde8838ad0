"""Formats that Assimp reads alone, where they are named: elements of its scene, each in one of them."""

import io
import zipfile
from typing import Any

import import_cases as cases
import numpy as np

from . import Case
from ._files import CORNERS, has_texture, image

TITLE = "Other formats of Assimp"


def one(name: str, content: str, *codes: str, played: Any = None) -> Case:
    """Beside an image, wood.png."""
    suffix = name.rpartition(".")[2]
    files = {name: content.encode(), "wood.png": image()}
    return Case(files, played, codes, options={"allow_formats": (suffix,)})


# ---- AC3D ------------------------------------------------------------------------------------------------

MATERIAL = 'MATERIAL "paint" rgb 0.2 0.4 0.6 amb 0 0 0 emis {} 0 0 spec 0 0 0 shi 0 trans 0.5\n'


def ac(lines: str = "", surface: str = "0x20", emissive: int = 0) -> str:
    """A triangle, or a line."""
    corners = "".join(f"{x} {y} {z}\n" for x, y, z in CORNERS)
    refs = "refs 3\n0 0 0\n1 1 0\n2 0 1\n" if surface == "0x20" else "refs 2\n0 0 0\n1 1 0\n"
    poly = f'OBJECT poly\nname "tri"\n{lines}numvert 3\n{corners}numsurf 1\n'
    poly += f"SURF {surface}\nmat 0\n{refs}kids 0\n"
    return f"AC3Db\n{MATERIAL.format(emissive)}OBJECT world\nkids 1\n{poly}"


def is_moved(model: Any) -> None:
    assert np.allclose(model.deform(model.pose())[0], np.array(CORNERS) + (0, 0, 5), atol=1e-6)


def has_color(model: Any) -> None:
    (paint,) = (one for one in model.materials if one.name == "paint")
    assert np.allclose(paint.base_color, (0.2, 0.4, 0.6, 0.5), atol=1e-6)


LIT = ac().replace("kids 1", "kids 2", 1) + 'OBJECT light\nname "sun"\nloc 0 5 0\nkids 0\n'

# ---- 3ds Max ASCII export --------------------------------------------------------------------------------

MATRIX = '*NODE_TM {\n*NODE_NAME "%s"\n*TM_ROW0 1 0 0\n*TM_ROW1 0 1 0\n*TM_ROW2 0 0 1\n*TM_ROW3 0 0 0\n}\n'
ASE = (
    '*3DSMAX_ASCIIEXPORT 200\n*GEOMOBJECT {\n*NODE_NAME "tri"\n'
    + MATRIX % "tri"
    + "*MESH {\n*TIMEVALUE 0\n*MESH_NUMVERTEX 3\n*MESH_NUMFACES 1\n*MESH_VERTEX_LIST {\n"
    + "".join(f"*MESH_VERTEX {i} {x} {y} {z}\n" for i, (x, y, z) in enumerate(CORNERS))
    + "}\n*MESH_FACE_LIST {\n*MESH_FACE 0: A: 0 B: 1 C: 2 AB: 1 BC: 1 CA: 1 *MESH_MTLID 0\n}\n"
    + '}\n}\n*CAMERAOBJECT {\n*NODE_NAME "eye"\n*CAMERA_TYPE Target\n'
    + MATRIX % "eye"
    + "*CAMERA_SETTINGS {\n*TIMEVALUE 0\n*CAMERA_NEAR 1\n*CAMERA_FAR 100\n*CAMERA_FOV 1\n}\n}\n"
)

# ---- X3D -------------------------------------------------------------------------------------------------


def x3d(inside: str, shape: str = "") -> str:
    points = ", ".join(f"{x} {y} {z}" for x, y, z in CORNERS)
    mesh = f'<IndexedFaceSet coordIndex="0 1 2 -1"><Coordinate point="{points}"/></IndexedFaceSet>'
    return (
        '<?xml version="1.0"?><X3D profile="Interchange" version="3.0"><Scene>'
        f"<Shape><Appearance><Material/></Appearance>{mesh}{shape}</Shape>{inside}</Scene></X3D>"
    )


# ---- OpenGEX ---------------------------------------------------------------------------------------------


def ogex(inside: str) -> str:
    """A node with a triangle."""
    points = ", ".join(f"{{{x}, {y}, {z}}}" for x, y, z in CORNERS)
    return f"""Metric (key = "distance") {{float {{1}}}}
GeometryNode $node1 {{ Name {{string {{"thing"}}}} ObjectRef {{ref {{$geometry1}}}} {inside} }}
GeometryObject $geometry1 {{ Mesh (primitive = "triangles") {{
VertexArray (attrib = "position") {{ float[3] {{ {points} }} }}
IndexArray {{ unsigned_int32[3] {{ {{0, 1, 2}} }} }} }} }}
"""


def shows_a_triangle(model: Any) -> None:
    assert len(model.mesh.faces) == 1


OGEX_KEYS = """Animation
{
Track (target = %transform)
{
Time
{
Key {float {0.0, 1.0}}
}
Value
{
Key {float {0.0, 1.0}}
}
}
}
"""
X3D_KEYS = '<PositionInterpolator key="0 1" keyValue="0 0 0 1 0 0"/>'
ASE_FRAMES = ASE.replace("*MESH_FACE_LIST", "*MESH_ANIMATION {\n}\n*MESH_FACE_LIST").partition("*CAMERA")[0]

# ---- COLLADA in an archive -------------------------------------------------------------------------------


def archive() -> Case:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        nodes = '<node id="n"><instance_geometry url="#tri"/></node>'
        file.writestr("a.dae", cases.dae(geometry=cases.dae_triangle(), nodes=nodes))
    options = {"allow_formats": ("zae",)}
    return Case({"a.zae": stream.getvalue()}, shows_a_triangle, ("archive_misread",), options=options)


CASES = {
    "COLLADA in an archive (`.zae`)": archive,
    "animation and skins of OpenGEX": lambda: one(
        "a.ogex", ogex(OGEX_KEYS), "channels_dropped", played=shows_a_triangle
    ),
    "interpolators of X3D and VRML": lambda: one(
        "a.x3d", x3d(X3D_KEYS), "channels_dropped", played=shows_a_triangle
    ),
    "animated meshes of ASE": lambda: one(
        "a.ase", ASE_FRAMES, "morph_targets_dropped", played=shows_a_triangle
    ),
    "nodes, triangles and polygons": lambda: one("a.ac", ac("loc 0 0 5\n"), played=is_moved),
    "color and opacity of a material": lambda: one("a.ac", ac(), played=has_color),
    "texture of the color": lambda: one("a.ac", ac('texture "wood.png"\n'), played=has_texture),
    "emissive and specular color, other textures": lambda: one("a.ac", ac(emissive=1), "looks_ignored"),
    "lines": lambda: one("a.ac", ac(surface="0x22"), "points_lines_dropped"),
    "lights": lambda: one("a.ac", LIT, "cameras_lights_ignored"),
    "cameras": lambda: one("a.ase", ASE, "cameras_lights_ignored"),
    "data that the author attached to nodes": lambda: one(
        "a.x3d", x3d('<Group><MetadataString name="author" value="me"/></Group>'), "metadata_ignored"
    ),
}
