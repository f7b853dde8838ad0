"""What the first bytes of a file must say, for every format that this build of Assimp reads.

No rule may ask for more than Assimp's own reader does: so whole files load, and where none is made here, what
files of the format begin with passes.
"""

import io
import re
import struct
import zipfile
import zlib

import builders
import import_cases as cases
import pytest
from test_import_limits import CORNERS, FOREIGN, SMD, STL, good, three_ds

import skinpy

FORMATS = tuple(skinpy.build_info()["formats"])

#: How files of other kinds begin, beside those of FOREIGN.
KINDS = FOREIGN | {
    "csm": b"$Filename a.csm\n",
    "glb": builders.chain(3).glb(),
    "b3d": b"BB3D" + bytes(100),
    "fbx": b"Kaydara FBX Binary  \x00\x1a\x00" + struct.pack("<I", 7400) + bytes(100),
    "x": cases.x_file(),
    "bvh": cases.bvh(),
    "md2": cases.md2(),
    "md5mesh": cases.MD5_MESH,
    "ms3d": b"MS3D000000" + bytes(100),
    "ply": b"ply\nformat ascii 1.0\n",
    "dae": b"<COLLADA>" + b" " * 100,
    "lxo": b"FORM" + struct.pack(">I", 60) + b"LXOB" + bytes(60),
    "ase": b"*3DSMAX_ASCIIEXPORT 200\n",
    "cob": b"Caligari V00.01ALH             \n",
    "hmp": b"HMP7" + bytes(100),
    "mesh": b"\x00\x10[MeshSerializer_v1.8]\n" + bytes(100),
    "ndo": b"nendo 1.2" + bytes(100),
    "q3o": b"quick3Do" + bytes(100),
    "ter": b"TERRAGENTERRAIN " + bytes(100),
    "gz": b"\x1f\x8b\x08" + bytes(100),
    "m3d": b"3DMO" + bytes(100),
    "usda": b"#usda 1.0\n" + b" " * 100,
    "usdc": b"PXR-USDC" + bytes(100),
    "wrl": b"#VRML V2.0 utf8\n" + b" " * 100,
}

#: Kinds that a format may be, beside its own: one begins as the other does, or holds it.
FAMILIES = {
    "zip": {"3mf", "zae", "pk3", "bsp", "ifczip"},
    "gz": {"blend", "zgl"},
    "glb": {"gltf", "vrm", "vrma"},
    "md5mesh": {"md5anim", "md5camera"},
    "dae": {"zae", "xml", "mesh.xml"},
    "lwo": {"lxo"},
    "lxo": {"lwo"},
    "lws": {"mot"},
    "ac": {"ac3d", "acc"},
    "ase": {"ask"},
    "cob": {"scn"},
    "q3o": {"q3s"},
    "ifc": {"step", "stp"},
}

#: Formats in which nothing must stand.
FREE = {"3d", "assbin", "cob", "csm", "dxf", "enff", "nff", "obj", "off", "ogex", "raw", "scn", "sib", "stl"}
FREE |= {"uc", "x3db", "zgl"}

WRONG = re.compile(
    r"the model is given as \.([\w.]+), but (begins as a|is a zip|is compressed|does not begin as a)"
)


def refusal(data: bytes, format: str) -> str:
    """The sentence with which the first bytes are refused, "" where they are not. Any format is allowed."""
    limits = skinpy.Limits(memory=256 << 20, seconds=5)
    try:
        skinpy.load(data, format=format, allow_formats=FORMATS, limits=limits)
    except skinpy.LoadError as error:
        return str(error) if WRONG.search(str(error)) else ""
    return ""


@pytest.mark.parametrize("format", FORMATS)
def test_bytes_of_another_kind_are_refused(format: str) -> None:
    for kind, data in KINDS.items():
        if kind == format or format in FAMILIES.get(kind, ()):
            continue
        words = refusal(data, format)
        assert f"the model is given as .{format}, but " in words, f"{kind} as .{format}: {words}"
        if kind == "zip":
            assert "but is a zip archive" in words
        elif kind == "gz":
            assert "but is compressed with gzip" in words
        else:
            assert f"but begins as a .{kind} file does" in words


@pytest.mark.parametrize("format", FORMATS)
def test_a_beginning_that_a_reader_asks_for_is_asked_for(format: str) -> None:
    words = refusal(b"\x01\x02 nothing of the kind " * 9, format)
    if format in FREE:
        assert not words
    else:
        assert f"but does not begin as a .{format} file does: there is no " in words


# ---- what passes -------------------------------------------------------------------------------------

#: Beginnings that Assimp's readers take: of formats with several, or of which no whole file is made here.
BEGINNINGS: dict[str, tuple[bytes, ...]] = {
    "md2": (b"IDP2", b"2PDI"),
    "md3": (b"IDP3", b"3PDI"),
    "mdc": (b"IDPC", b"CPDI"),
    "mdl": (
        *(b"IDPO", b"OPDI", b"IDST", b"TSDI", b"IDSQ", b"QSDI", b"MDL2", b"MDL3", b"MDL4", b"MDL5", b"MDL7"),
        *(b"2LDM", b"3LDM", b"4LDM", b"5LDM", b"7LDM"),
    ),
    "hmp": (b"HMP4", b"HMP5", b"HMP7", b"4PMH", b"5PMH", b"7PMH"),
    "lwo": tuple(b"FORM\0\0\1\0" + kind for kind in (b"LWOB", b"LWO2", b"LWO3", b"LXOB")),
    "lxo": tuple(b"FORM\0\0\1\0" + kind for kind in (b"LWOB", b"LWO2", b"LWO3", b"LXOB")),
    "3ds": (b"MM", b"\x3d\xc2"),
    "prj": (b"MM", b"\x3d\xc2"),
    "q3o": (b"quick3Do", b"quick3Ds", b"QUICK3DO"),
    "q3s": (b"quick3Do", b"quick3Ds"),
    "lws": (b"LWSC\n", b"LWMO\n", b"\n  LWSC\n"),
    "mot": (b"LWSC\n", b"LWMO\n"),
    "blend": (b"BLENDER", b"\x1f\x8b\x08"),
    "mesh": (b"\x00\x10[MeshSerializer_v1.8]\n", b"\x00\x10[MeshSerializer_v1.40]\n"),
    "ndo": (b"nendo 1.0", b"nendo 1.2"),
    "pmx": (b"PMX ",),
    "iqm": (b"INTERQUAKEMODEL\0",),
    "bsp": (b"PK\3\4", b"#!/bin/sh\nPK\3\4"),
    "pk3": (b"PK\3\4",),
    "ifczip": (b"PK\3\4",),
    "ifc": (b"ISO-10303-21;\n",),
    "step": (b"ISO-10303-21;\n", b"ISO-10303-21;\r\n"),
    "stp": (b"ISO-10303-21;\n",),
    "ase": (b"*3DSMAX_ASCIIEXPORT\t200\n", b'*COMMENT "none"\n*SCENE {\n}\n', b"\n*GEOMOBJECT {\n}\n"),
    "ac": (b"AC3Db\n", b"\xef\xbb\xbfAC3Db\n"),
    "md5camera": (b"MD5Version 10\n",),
    "assbin": (b"ASSIMP.binary-dump.", bytes(44)),
    "sib": (b"HEAD", bytes(16)),
    "cob": (b"Caligari V00.01ALH", b"Caligari V00.01BLH"),
    "scn": (b"Caligari V00.01ALH",),
    "zgl": (b"\x78\xda", b"\x78\x9c", b"\0\0"),
    "uc": (b"class box extends Actor;\n",),
    "3d": (b"\x0c\0\x08\0",),
    "x3db": (b"\xe0\0\0\1",),
}


@pytest.mark.parametrize("format", BEGINNINGS)
def test_each_beginning_that_a_reader_takes_passes(format: str) -> None:
    if format not in FORMATS:
        pytest.skip(f"this build of Assimp does not read .{format}")
    for start in BEGINNINGS[format]:
        assert not refusal(start.ljust(300, b" " if start.isascii() else b"\0"), format), start


XML = b'<?xml version="1.0"?>\n<!-- ' + b"long " * 2000 + b"-->\n"
AMF = b"""<amf unit="meter"><object id="0"><mesh><vertices>
<vertex><coordinates><x>0</x><y>0</y><z>0</z></coordinates></vertex>
<vertex><coordinates><x>1</x><y>0</y><z>0</z></coordinates></vertex>
<vertex><coordinates><x>0</x><y>1</y><z>0</z></coordinates></vertex></vertices>
<volume><triangle><v1>0</v1><v2>1</v2><v3>2</v3></triangle></volume></mesh></object></amf>
"""
IRR = b"""<irr_scene><node type="empty"><attributes><string name="Name" value="thing"/>
<vector3d name="Position" value="1, 2, 3"/></attributes></node></irr_scene>
"""
IRRMESH = b"""<mesh xmlns="http://irrlicht.sourceforge.net/IRRMESH_09_2007" version="1.0">
<buffer><material><enum name="Type" value="solid"/></material>
<vertices type="standard" vertexCount="3">
0 0 0 0 0 1 ffffffff 0 0
1 0 0 0 0 1 ffffffff 1 0
0 1 0 0 0 1 ffffffff 0 1
</vertices><indices indexCount="3">0 1 2</indices></buffer></mesh>
"""
OGRE = b"""<mesh><submeshes><submesh material="red" usesharedvertices="false" use32bitindexes="false"
operationtype="triangle_list"><faces count="1"><face v1="0" v2="1" v3="2"/></faces>
<geometry vertexcount="3"><vertexbuffer positions="true" normals="false" texture_coords="0">
<vertex><position x="0" y="0" z="0"/></vertex><vertex><position x="1" y="0" z="0"/></vertex>
<vertex><position x="0" y="1" z="0"/></vertex></vertexbuffer></geometry></submesh></submeshes></mesh>
"""
X3D = b"""<X3D><Scene><Shape><IndexedFaceSet coordIndex="0 1 2 -1"><Coordinate point="0 0 0 1 0 0 0 1 0"/>
</IndexedFaceSet></Shape></Scene></X3D>
"""
XGL = b"""<WORLD><MESH ID="0"><MAT ID="0"><AMB>0,1,0</AMB><DIFF>0,1,0</DIFF></MAT>
<P ID="0">0,0,0</P><P ID="1">1,0,0</P><P ID="2">0,1,0</P><N ID="0">0,0,1</N>
<F><MATREF>0</MATREF><FV1><PREF>0</PREF><NREF>0</NREF></FV1><FV2><PREF>1</PREF><NREF>0</NREF></FV2>
<FV3><PREF>2</PREF><NREF>0</NREF></FV3></F></MESH>
<OBJECT><MESHREF>0</MESHREF><TRANSFORM><POSITION>0,0,0</POSITION><FORWARD>1,0,0</FORWARD><UP>0,0,1</UP></TRANSFORM>
</OBJECT></WORLD>
"""
MODEL = b"""<?xml version="1.0"?><model unit="millimeter"><resources><object id="1" type="model"><mesh>
<vertices><vertex x="0" y="0" z="0"/><vertex x="1" y="0" z="0"/><vertex x="0" y="1" z="0"/></vertices>
<triangles><triangle v1="0" v2="1" v3="2"/></triangles></mesh></object></resources>
<build><item objectid="1"/></build></model>
"""
RELATIONS = b"""<?xml version="1.0"?><Relationships>
<Relationship Target="/3D/3dmodel.model" Id="rel0" Type="http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel"/>
</Relationships>
"""
AC = b"""AC3Db
MATERIAL "red" rgb 1 0 0  amb 0 0 0  emis 0 0 0  spec 0 0 0  shi 0  trans 0
OBJECT world
kids 1
OBJECT poly
numvert 3
0 0 0
1 0 0
0 1 0
numsurf 1
SURF 0x20
mat 0
refs 3
0 0 0
1 0 0
2 0 0
kids 0
"""
ASE = b"""*SCENE {
}
*GEOMOBJECT {
\t*NODE_NAME "thing"
\t*NODE_TM {
\t\t*NODE_NAME "thing"
\t}
\t*MESH {
\t\t*MESH_NUMVERTEX 3
\t\t*MESH_NUMFACES 1
\t\t*MESH_VERTEX_LIST {
\t\t\t*MESH_VERTEX 0 0 0 0
\t\t\t*MESH_VERTEX 1 1 0 0
\t\t\t*MESH_VERTEX 2 0 1 0
\t\t}
\t\t*MESH_FACE_LIST {
\t\t\t*MESH_FACE 0: A: 0 B: 1 C: 2 AB: 1 BC: 1 CA: 1 *MESH_SMOOTHING 1 *MESH_MTLID 0
\t\t}
\t}
}
"""
DXF = b"".join(
    b"%s\n%s\n" % pair
    for pair in (
        *((b"0", b"SECTION"), (b"2", b"ENTITIES"), (b"0", b"3DFACE"), (b"8", b"layer")),
        *((b"10", b"0"), (b"20", b"0"), (b"30", b"0"), (b"11", b"1"), (b"21", b"0"), (b"31", b"0")),
        *((b"12", b"0"), (b"22", b"1"), (b"32", b"0"), (b"13", b"0"), (b"23", b"1"), (b"33", b"0")),
        *((b"0", b"ENDSEC"), (b"0", b"EOF")),
    )
)
OGEX = b"""Metric (key = "distance") {float {1}}
GeometryNode $node1 { Name {string {"thing"}} ObjectRef {ref {$geometry1}} }
GeometryObject $geometry1 { Mesh (primitive = "triangles") {
VertexArray (attrib = "position") { float[3] { {0, 0, 0}, {1, 0, 0}, {0, 1, 0} } }
IndexArray { unsigned_int32[3] { {0, 1, 2} } } } }
"""
NFF = b"f 1 0 0 1 0 0 0 0\np 3\n0 0 0\n1 0 0\n0 1 0\n"
CSM = b"""$Comments
by hand

$FirstFrame 1
$LastFrame 2
$Rate 30

$Order
hip knee

$Points
1 0 0 0 0 1 0
2 1 0 0 1 1 0
"""
TERRAIN = struct.pack("<4sHH4sHH4sHh4h4s", b"XPTS", 2, 0, b"YPTS", 2, 0, b"ALTW", 1, 0, 1, 2, 3, 4, b"EOF ")


def packed(**files: bytes) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as into:
        for name, data in files.items():
            into.writestr(name.replace("__", "/").replace("_dot_", "."), data)
    return archive.getvalue()


def iqm() -> bytes:
    text = b"\0thing\0red\0"
    start = 16 + 27 * 4
    at_text, at_mesh = start, start + 12
    at_array, at_triangle, at_corner = at_mesh + 24, at_mesh + 44, at_mesh + 56
    size = at_corner + 36
    header = [2, size, 0, len(text), at_text, 1, at_mesh, 1, 3, at_array, 1, at_triangle, 0, *[0] * 14]
    return (
        b"INTERQUAKEMODEL\0" + struct.pack("<27I", *header) + text.ljust(12, b"\0")
        + struct.pack("<6I", 1, 7, 0, 3, 0, 1) + struct.pack("<5I", 0, 0, 7, 3, at_corner)
        + struct.pack("<3I", 0, 1, 2) + b"".join(struct.pack("<3f", *corner) for corner in CORNERS)
    )  # fmt: skip


def md3() -> bytes:
    frame = struct.pack("<10f16s", *[0] * 10, b"base")
    shader = struct.pack("<64sI", b"red", 0)
    triangle = struct.pack("<3I", 0, 1, 2)
    uvs = struct.pack("<6f", 0, 0, 1, 0, 0, 1)
    corners = b"".join(struct.pack("<3hH", *(64 * value for value in corner), 0) for corner in CORNERS)
    at = [108, 108 + len(shader)]
    at += [at[1] + len(triangle), at[1] + len(triangle) + len(uvs)]
    end = at[3] + len(corners)
    surface = struct.pack("<4s64sI4I5I", b"IDP3", b"thing", 0, 1, 1, 3, 1, at[1], at[0], at[2], at[3], end)
    surface += shader + triangle + uvs + corners
    start = 108 + len(frame)
    places = (108, start, start, start + len(surface))
    header = struct.pack("<4sI64si8I", b"IDP3", 15, b"thing", 0, 1, 0, 1, 0, *places)
    return header + frame + surface + bytes(16)


def whole() -> dict[str, bytes]:
    """A file of each format that is not allowed by default and can be made; a name behind + is a variant."""
    dae = cases.dae(nodes='<node id="a"/>')
    pressed = zlib.compressobj(wbits=-15)
    return {
        "3mf": packed(_rels___dot_rels=RELATIONS, **{"3D__3dmodel_dot_model": MODEL}),
        "3mf+": b"a stub\n" + packed(_rels___dot_rels=RELATIONS, **{"3D__3dmodel_dot_model": MODEL}),
        **dict.fromkeys(("ac", "ac3d", "acc"), AC),
        "ac+": b"\xef\xbb\xbf" + AC,
        "amf": XML + AMF,
        "amf+": ('<?xml version="1.0" encoding="utf-16"?>' + AMF.decode()).encode("utf-16"),
        **dict.fromkeys(("ase", "ask"), ASE),
        "csm": CSM,
        "dxf": DXF,
        "dxf+": b"999\nBB3D, by hand\n" + DXF,
        **dict.fromkeys(("nff", "enff"), NFF),
        "iqm": iqm(),
        "irr": XML + IRR,
        "irrmesh": XML + IRRMESH,
        "lws": cases.lws(),
        "lws+": b"\r\n " + cases.lws(),
        "mot": cases.lws(),
        "md3": md3(),
        "mesh.xml": OGRE,
        "off": b"\n OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n",
        "off+": b"3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n",
        "ogex": OGEX,
        "prj": three_ds(),
        "raw": b"thing\n0 0 0 1 0 0 0 1 0\n",
        "ter": b"TERRAGENTERRAIN " + TERRAIN,
        "vta": SMD,
        "x3d": XML + X3D,
        "x3db": X3D,
        "xgl": XML + XGL,
        "xml": dae,
        "zae": packed(a_dot_dae=dae),
        "zae+": dae,
        "zgl": b"\x78\x9c" + pressed.compress(XGL) + pressed.flush(),
    }


@pytest.mark.filterwarnings("ignore::skinpy.SkinpyWarning")  # of textures
@pytest.mark.parametrize("name", whole())
def test_whole_files_load(name: str) -> None:
    format = name.rstrip("+")
    if format not in FORMATS:
        pytest.skip(f"this build of Assimp does not read .{format}")
    model = skinpy.load(whole()[name], format=format, allow_formats=(format,))
    assert len(model.skeleton.names) >= 1
    if format not in ("irr", "lws", "mot", "csm", "xml", "zae"):  # these hold no mesh here
        assert len(model.mesh.positions) >= 3


def test_each_format_is_shown_to_pass() -> None:
    """So a rule that asks for too much cannot go unseen."""
    shown = {name.rstrip("+") for name in whole()} | set(good()) | set(BEGINNINGS)
    assert set(FORMATS) <= shown


def test_a_binary_stl_may_begin_as_anything() -> None:
    header = b"HMP7, BB3D: a header may hold anything".ljust(80)
    triangle = struct.pack("<12fH", 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0)
    data = header + struct.pack("<I", 1) + triangle
    assert len(skinpy.load(data, format="stl").mesh.positions) == 3
    assert "begins as a .hmp file does" in refusal(data + b"more", "stl")
    assert len(skinpy.load(STL, format="stl").mesh.positions) == 3


def test_a_git_lfs_pointer_is_called_so() -> None:
    """In the place of any model; the reader of .smd would take its first line for one of its own."""
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12345\n"
    for format in ("glb", "fbx", "obj", "smd", "stl"):
        with pytest.raises(
            skinpy.LoadError, match=r"this is a Git LFS pointer, not a model; run git lfs pull"
        ):
            skinpy.load(pointer, format=format)
