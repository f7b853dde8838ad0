"""Tiny models in the text formats that Assimp reads, each made for what an importer can get wrong."""

import struct
from collections.abc import Sequence
from typing import Any

IDENTITY = (1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1)


def numbers(values: Sequence[float], separator: str = " ") -> str:
    return separator.join(f"{value:.9g}" for value in values)


# ---- BVH -----------------------------------------------------------------------------------------------


def bvh(names: Sequence[str] = ("hip", "knee"), frames: int = 3, frame_time: str = "0.5") -> bytes:
    """A chain of joints one unit apart; the root moves one unit a frame, the others turn about Z."""
    lines = ["HIERARCHY"]
    for depth, name in enumerate(names):
        channels = "3 Zrotation Xrotation Yrotation"
        if not depth:
            channels = "6 Xposition Yposition Zposition Zrotation Xrotation Yrotation"
        lines += [f"{'JOINT' if depth else 'ROOT'} {name}", "{", "OFFSET 0 1 0", f"CHANNELS {channels}"]
    lines += ["End Site", "{", "OFFSET 0 1 0", "}", *["}"] * len(names)]
    lines += ["MOTION", f"Frames: {frames}", f"Frame Time: {frame_time}"]
    for frame in range(frames):
        turn = [10 * frame, 0, 0]
        lines.append(numbers([frame, 0, 0, 0, 0, 0, *turn * (len(names) - 1)]))
    return "\n".join([*lines, ""]).encode("utf-8", "surrogateescape")


def bvh_awkward() -> bytes:
    """What Assimp does not take: a name of two words, one position, two roots, numbers without a space."""
    file = bvh(("hip", "left knee"), frames=2).replace(b": ", b":")
    file = file.replace(b"6 Xposition Yposition Zposition", b"4 Yposition")
    tail = b"ROOT tail\n{\nOFFSET 0 0 1\nCHANNELS 1 Xposition\n}\nMOTION"
    rows = b"0 10 20 30 0 0 0 0.5\n1 10 20 30 5 0 0 0.5\n"
    motion = file.index(b"MOTION")
    return file[:motion] + tail + file[motion + 6 : file.index(b"0.5") + 4] + rows


# ---- OBJ and STL ---------------------------------------------------------------------------------------

SQUARE = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"


def obj(faces: str = "f 1/1 2/2 3/3\nf 1/1 3/3 4/4\n", head: str = "", middle: str = "") -> bytes:
    """A square of two triangles in the plane z = 0; texture coordinates from the bottom left."""
    return f"{head}{SQUARE}vt 0 0\nvt 1 0\nvt 1 0.75\nvt 0 0.75\n{middle}{faces}".encode()


# ---- .x ------------------------------------------------------------------------------------------------


def x_matrix(offset: Sequence[float] = (0, 0, 0)) -> str:
    """Row vectors: the translation stands in the last row. Decimals: Assimp can take a comma for a point."""
    return ",".join(f"{value:.6f}" for value in (1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, *offset, 1))


def x_weights(joint: str, vertices: Sequence[int], matrix: str) -> str:
    ones = ",".join(["1.0"] * len(vertices))
    return (
        f'SkinWeights {{ "{joint}"; {len(vertices)}; {",".join(map(str, vertices))}; {ones}; {matrix};; }}\n'
    )


def x_file(
    *,
    skin: Sequence[tuple[str, Sequence[int], str]] = (),
    ticks: int | None = None,
    keys: Sequence[tuple[int, float]] = ((0, 0), (50, 2)),
) -> bytes:
    """Frames root > body (a triangle, at z = 1) and root > arm (at x = 3); a clip moves arm along y."""
    weights = "".join(x_weights(*one) for one in skin)
    header = f"XSkinMeshHeader {{ 1; 1; {len(skin)}; }}\n" if skin else ""
    rows = ",".join(f"{time};3;3.0,{y:.6f},0.0;;" for time, y in keys)
    rate = "" if ticks is None else f"AnimTicksPerSecond {{ {ticks}; }}\n"
    return f"""xof 0303txt 0032
{rate}Frame root {{
 FrameTransformMatrix {{ {x_matrix()};; }}
 Frame body {{
  FrameTransformMatrix {{ {x_matrix((0, 0, 1))};; }}
  Mesh triangle {{
   3; 0.0;0.0;0.0;, 1.0;0.0;0.0;, 0.0;1.0;2.0;;
   1; 3;0,1,2;;
   {header}{weights}
  }}
 }}
 Frame arm {{ FrameTransformMatrix {{ {x_matrix((3, 0, 0))};; }} }}
}}
AnimationSet move {{
 Animation {{ {{arm}}
  AnimationKey {{ 2; {len(keys)}; {rows}; }}
 }}
}}
""".encode()


# ---- COLLADA -------------------------------------------------------------------------------------------


def dae(
    *,
    up: str = "Y_UP",
    meter: float = 1,
    nodes: str = "",
    animation: str = "",
    geometry: str = "",
    controllers: str = "",
    clips: str = "",
    more: str = "",
) -> bytes:
    """The frame of a COLLADA file around visual nodes, and what its libraries hold where given."""
    return f"""<?xml version="1.0" encoding="utf-8"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit meter="{meter}" name="unit"/><up_axis>{up}</up_axis></asset>
<library_geometries>{geometry}</library_geometries>
<library_controllers>{controllers}</library_controllers>
<library_animation_clips>{clips}</library_animation_clips>
<library_animations>{animation}</library_animations>
{more}
<library_visual_scenes><visual_scene id="scene">{nodes}</visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#scene"/></scene>
</COLLADA>
""".encode()


def dae_matrix_animation(node: str, times: Sequence[float], matrices: Sequence[Sequence[float]]) -> str:
    """Keys of <matrix sid="transform"> of a node, linear."""

    def source(name: str, kind: str, values: str, count: int, stride: int) -> str:
        array = "Name_array" if kind == "name" else "float_array"
        amount = count * stride
        return (
            f'<source id="{node}-{name}">'
            f'<{array} id="{node}-{name}-array" count="{amount}">{values}</{array}>'
            f"<technique_common>"
            f'<accessor source="#{node}-{name}-array" count="{count}" stride="{stride}">'
            f'<param type="{"float4x4" if stride == 16 else kind}"/></accessor></technique_common></source>'
        )

    n = len(times)
    flat = [value for matrix in matrices for value in matrix]
    return (
        f'<animation id="{node}-a">'
        + source("in", "float", numbers(times), n, 1)
        + source("out", "float", numbers(flat), n, 16)
        + source("kind", "name", " ".join(["LINEAR"] * n), n, 1)
        + f'<sampler id="{node}-s"><input semantic="INPUT" source="#{node}-in"/>'
        f'<input semantic="OUTPUT" source="#{node}-out"/>'
        f'<input semantic="INTERPOLATION" source="#{node}-kind"/>'
        f'</sampler><channel source="#{node}-s" target="{node}/transform"/></animation>'
    )


def dae_triangle(name: str = "tri") -> str:
    return (
        f'<geometry id="{name}" name="{name}"><mesh><source id="{name}-p">'
        f'<float_array id="{name}-pa" count="9">0 0 0 1 0 0 0 1 0</float_array><technique_common>'
        f'<accessor source="#{name}-pa" count="3" stride="3"><param name="X" type="float"/>'
        '<param name="Y" type="float"/><param name="Z" type="float"/>'
        "</accessor></technique_common></source>"
        f'<vertices id="{name}-v"><input semantic="POSITION" source="#{name}-p"/></vertices>'
        f'<triangles count="1"><input semantic="VERTEX" source="#{name}-v" offset="0"/>'
        "<p>0 1 2</p></triangles>"
        "</mesh></geometry>"
    )


def dae_source(name: str, values: str, count: int, kind: str = "float", stride: int = 1) -> str:
    array = {"name": "Name_array", "IDREF": "IDREF_array"}.get(kind, "float_array")
    return (
        f'<source id="{name}"><{array} id="{name}-array" count="{count * stride}">{values}</{array}>'
        f'<technique_common><accessor source="#{name}-array" count="{count}" stride="{stride}">'
        f'<param type="{kind}"/></accessor></technique_common></source>'
    )


def dae_morph(name: str, base: str, targets: Sequence[str] = ("smile",)) -> str:
    """A morph controller whose targets have the weight 0.5 each."""
    n = len(targets)
    return (
        f'<controller id="{name}" name="{name}"><morph source="#{base}" method="NORMALIZED">'
        + dae_source(f"{name}-targets", " ".join(targets), n, "IDREF")
        + dae_source(f"{name}-weights", " ".join(["0.5"] * n), n)
        + f'<targets><input semantic="MORPH_TARGET" source="#{name}-targets"/>'
        f'<input semantic="MORPH_WEIGHT" source="#{name}-weights"/></targets></morph></controller>'
    )


def dae_skin(name: str, source: str, influences: str = "0 1 1 1 1 0", bind_shape: str = "") -> str:
    """A skin of three vertices with one influence each, of the joints a and b and the weights 0.5 and 1."""
    identity = numbers(IDENTITY)
    return (
        f'<controller id="{name}"><skin source="#{source}">'
        f"<bind_shape_matrix>{bind_shape or identity}</bind_shape_matrix>"
        + dae_source(f"{name}-joints", "a b", 2, "name")
        + dae_source(f"{name}-binds", f"{identity} {identity}", 2, "float4x4", 16)
        + dae_source(f"{name}-values", "0.5 1", 2)
        + f'<joints><input semantic="JOINT" source="#{name}-joints"/>'
        f'<input semantic="INV_BIND_MATRIX" source="#{name}-binds"/></joints>'
        f'<vertex_weights count="3"><input semantic="JOINT" source="#{name}-joints" offset="0"/>'
        f'<input semantic="WEIGHT" source="#{name}-values" offset="1"/>'
        f"<vcount>1 1 1</vcount><v>{influences}</v></vertex_weights></skin></controller>"
    )


def dae_morphed() -> bytes:
    """A skin over a morph, a morph of a morph, one of nothing; channels of weights."""
    turn = [IDENTITY, (0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1)]
    animation = dae_matrix_animation("b", (0, 1), turn)
    weights = animation.replace('target="b/transform"', 'target="face(0)"').replace("b-", "w-")
    return dae(
        geometry=dae_triangle() + dae_triangle("smile"),
        controllers=dae_morph("face", "tri")
        + dae_skin("body", "face")
        + dae_morph("faces", "face", ("smile", "smile"))
        + dae_morph("none", "gone"),
        animation=animation + weights,
        nodes='<node id="a" sid="a" type="JOINT"><translate>0 0 1</translate>'
        '<node id="b" sid="b" type="JOINT"><matrix sid="transform">'
        f"{numbers(IDENTITY)}</matrix></node></node>"
        '<node id="skinned"><instance_controller url="#body"><skeleton>#a</skeleton></instance_controller>'
        '</node><node id="plain"><instance_controller url="#faces"/></node>',
    )


def dae_moving(kinds: str) -> bytes:
    """A node that moves along x by a curve of two keys with tangents, of these kinds."""
    keys = (
        dae_source("k-i", "0 1", 2)
        + dae_source("k-o", "0 1", 2)
        + dae_source("k-k", kinds, 2, "name")
        + dae_source("k-t", "0.9 0.1", 2)
    )
    inputs = "".join(
        f'<input semantic="{semantic}" source="#k-{letter}"/>'
        for semantic, letter in (
            ("INPUT", "i"),
            ("OUTPUT", "o"),
            ("INTERPOLATION", "k"),
            ("IN_TANGENT", "t"),
            ("OUT_TANGENT", "t"),
        )
    )
    return dae(
        nodes='<node id="n"><translate sid="t">0 0 0</translate></node>',
        animation=f'<animation id="k">{keys}<sampler id="k-s">{inputs}</sampler>'
        '<channel source="#k-s" target="n/t.X"/></animation>',
    )


def dae_scene() -> bytes:
    """Nodes of a library, transforms and faces of all kinds, clips, an image inside and a morph's weights."""
    points = "0 0 0 4 0 0 4 4 0 0 4 0 1 1 0 2 1 0 2 2 0"
    vertex = '<input semantic="VERTEX" source="#g-v" offset="1"/>'
    vertex += '<input semantic="NORMAL" source="#g-n" offset="0"/>'
    geometry = (
        '<geometry id="g"><mesh>'
        + dae_source("g-p", points, 7, stride=3)
        + dae_source("g-n", "0 0 1", 1, stride=3)
        + '<vertices id="g-v"><input semantic="POSITION" source="#g-p"/></vertices>'
        + f'<polygons count="1" material="m">{vertex}<ph><p>0 0 0 1 0 2 0 3</p><h>0 4 0 5 0 6</h></ph>'
        + "</polygons>"
        + f'<polylist count="2">{vertex}<vcount>4 3</vcount><p>0 0 0 1 0 2 0 3 0 4 0 5 0 6</p></polylist>'
        + f'<tristrips count="1">{vertex}<p>0 0 0 1 0 3 0 2</p></tristrips>'
        + f'<trifans count="1">{vertex}<p>0 0 0 1 0 2 0 3</p></trifans></mesh></geometry>'
    )
    library = (
        '<library_images><image id="i"><init_from><hex format="PNG">89504e47</hex></init_from></image>'
        '</library_images><library_effects><effect id="fx"><profile_COMMON><newparam sid="p"><sampler2D>'
        '<instance_image url="#i"/></sampler2D></newparam><technique sid="t"><phong><diffuse>'
        '<texture texture="p" texcoord="UV"/></diffuse><transparent opaque="RGB_ZERO"><color>0 0 0 1</color>'
        "</transparent><transparency><float>0.5</float></transparency></phong></technique></profile_COMMON>"
        '</effect></library_effects><library_materials><material id="paint"><instance_effect url="#fx"/>'
        '</material></library_materials><library_nodes><node id="part"><lookat>1 2 3 0 0 0 0 1 0</lookat>'
        '<rotate sid="r">0 0 1 30</rotate><skew>20 0 1 0 1 0 0</skew><instance_geometry url="#g">'
        '<bind_material><technique_common><instance_material symbol="m" target="#paint"/>'
        "</technique_common></bind_material>"
        "</instance_geometry></node></library_nodes>"
    )
    turn = dae_moving("BEZIER STEP").decode()
    turn = turn[turn.index('<animation id="k">') : turn.index("</library_animations>")]
    return dae(
        geometry=geometry + dae_triangle() + dae_triangle("smile"),
        controllers=dae_morph("face", "tri"),
        more=library,
        nodes='<node id="n"><translate sid="t">0 0 0</translate><instance_node url="#part"/></node>'
        '<node id="o"><instance_node url="#part"/><instance_controller url="#face"/></node>',
        animation=turn
        + turn.replace("n/t.X", "part/r.ANGLE").replace("k", "l")
        + turn.replace("n/t.X", "face-weights(0)").replace("k", "j"),
        clips='<animation_clip start="0.2" end="0.7"><instance_animation url="#k"/></animation_clip>',
    )


def dae_textured(extra: str) -> bytes:
    """A triangle with a texture and Maya's words about its place."""
    file = dae(
        geometry=dae_triangle().replace('count="1">', 'count="1" material="mat">', 1),
        nodes='<node id="n"><instance_geometry url="#tri"><bind_material><technique_common>'
        '<instance_material symbol="mat" target="#paint"/>'
        "</technique_common></bind_material></instance_geometry></node>",
    )
    libraries = f"""<library_images>
<image id="img">
<init_from>wood.png</init_from>
</image>
</library_images>
<library_effects>
<effect id="fx">
<profile_COMMON>
<newparam sid="s">
<surface type="2D">
<init_from>img</init_from>
</surface>
</newparam>
<newparam sid="p">
<sampler2D>
<source>s</source>
</sampler2D>
</newparam>
<technique sid="t">
<lambert>
<diffuse>
<texture texture="p" texcoord="UV">
<extra>
<technique profile="MAYA">{extra}</technique>
</extra>
</texture>
</diffuse>
</lambert>
</technique>
</profile_COMMON>
</effect>
</library_effects>
<library_materials>
<material id="paint" name="paint">
<instance_effect url="#fx"/>
</material>
</library_materials>
<library_geometries>"""
    return file.replace(b"<library_geometries>", libraries.encode(), 1)


# ---- FBX, as text --------------------------------------------------------------------------------------

FBX_SECOND = 46186158000


def fbx(
    *,
    version: int = 7400,
    settings: str = "",
    parent: str = "",
    joint: str = "",
    keys: Sequence[tuple[float, float]] = ((0, 0), (1, 3)),
    stop: float = 1.0,
    layers: int = 1,
    path: str = "Lcl Translation",
    target: int = 2,
) -> bytes:
    """Nodes parent > joint and a stack "move" that animates X of `path` of one of them (1 or 2).

    `settings`, `parent` and `joint` are lines of their Properties70; see `fbx_property`.
    """
    times = ",".join(str(round(time * FBX_SECOND)) for time, _ in keys)
    values = ",".join(f"{value:.9g}" for _, value in keys)
    size = len(keys)
    default = 1 if path == "Lcl Scaling" else 0
    more = "".join(
        f'\tAnimationLayer: {20 + i}, "AnimLayer::more{i}", "" {{\n\t}}\n' for i in range(layers - 1)
    )
    joins = "".join(f'\tC: "OO",{20 + i},10\n' for i in range(layers - 1))
    return f"""; FBX {version // 1000}.{version // 100 % 10}.0 project file
FBXHeaderExtension:  {{
	FBXHeaderVersion: 1003
	FBXVersion: {version}
	Creator: "tests"
}}
GlobalSettings:  {{
	Version: 1000
	Properties70:  {{
		P: "TimeMode", "enum", "", "",10
{settings}	}}
}}
Definitions:  {{
	Version: 100
	Count: 1
}}
Objects:  {{
	Model: 1, "Model::parent", "Null" {{
		Version: 232
		Properties70:  {{
{parent}		}}
	}}
	Model: 2, "Model::joint", "Null" {{
		Version: 232
		Properties70:  {{
{joint}		}}
	}}
	AnimationStack: 10, "AnimStack::move", "" {{
		Properties70:  {{
			P: "LocalStop", "KTime", "Time", "",{round(stop * FBX_SECOND)}
		}}
	}}
	AnimationLayer: 11, "AnimLayer::base", "" {{
	}}
{more}	AnimationCurveNode: 12, "AnimCurveNode::T", "" {{
		Properties70:  {{
			P: "d|X", "Number", "", "A",{default}
			P: "d|Y", "Number", "", "A",{default}
			P: "d|Z", "Number", "", "A",{default}
		}}
	}}
	AnimationCurve: 13, "AnimCurve::", "" {{
		Default: 0
		KeyVer: 4008
		KeyTime: *{size} {{
			a: {times}
		}}
		KeyValueFloat: *{size} {{
			a: {values}
		}}
		KeyAttrFlags: *1 {{
			a: 24836
		}}
		KeyAttrDataFloat: *4 {{
			a: 0,0,0,0
		}}
		KeyAttrRefCount: *1 {{
			a: {size}
		}}
	}}
}}
Connections:  {{
	C: "OO",1,0
	C: "OO",2,1
	C: "OO",11,10
{joins}	C: "OO",12,11
	C: "OP",12,{target}, "{path}"
	C: "OP",13,12, "d|X"
}}
""".encode()


def fbx_property(name: str, kind: str, *values: float) -> str:
    """One line of Properties70; `kind` is FBX's word for the type."""
    return f'\t\t\tP: "{name}", "{kind}", "", "A",{",".join(f"{value:.9g}" for value in values)}\n'


def fbx_textured(properties: str) -> bytes:
    """A triangle with a texture; `properties` are lines of the texture's Properties70."""
    more = f"""	Geometry: 30, "Geometry::g", "Mesh" {{
		Vertices: *9 {{
			a: 0,0,0,1,0,0,0,1,0
		}}
		PolygonVertexIndex: *3 {{
			a: 0,1,-3
		}}
		LayerElementMaterial: 0 {{
			Version: 101
			Name: ""
			MappingInformationType: "AllSame"
			ReferenceInformationType: "IndexToDirect"
			Materials: *1 {{
				a: 0
			}}
		}}
		Layer: 0 {{
			Version: 100
			LayerElement:  {{
				Type: "LayerElementMaterial"
				TypedIndex: 0
			}}
		}}
	}}
	Model: 31, "Model::m", "Mesh" {{
		Version: 232
	}}
	Material: 32, "Material::paint", "" {{
		Version: 102
		ShadingModel: "phong"
		MultiLayer: 0
	}}
	Texture: 33, "Texture::t", "" {{
		Type: "TextureVideoClip"
		Version: 202
		TextureName: "Texture::t"
		FileName: "wood.png"
		RelativeFilename: "wood.png"
		Properties70:  {{
{properties}		}}
	}}
}}
Connections:  {{
	C: "OO",31,0
	C: "OO",30,31
	C: "OO",32,31
	C: "OP",33,32, "DiffuseColor"
"""
    return fbx().replace(b"}\nConnections:  {\n", more.encode())


def _fbx_shape(number: int, name: str, offset: str) -> str:
    return f"""	Geometry: {number}, "Geometry::{name}", "Shape" {{
		Version: 100
		Indexes: *1 {{
			a: 1
		}}
		Vertices: *3 {{
			a: {offset}
		}}
	}}
"""


def _fbx_channel(number: int, name: str, places: str) -> str:
    size = places.count(",") + 1
    return f"""	Deformer: {number}, "SubDeformer::{name}", "BlendShapeChannel" {{
		Version: 100
		DeformPercent: 25
		FullWeights: *{size} {{
			a: {places}
		}}
	}}
"""


def fbx_shapes(*, between: bool) -> bytes:
    """A triangle with the morph targets "smile" and "frown"; keys move the second one from 0 to 0.5.

    `between` gives "smile" a shape for half its weight.
    """
    objects = _fbx_channel(41, "smile", "50,100" if between else "100") + _fbx_channel(42, "frown", "100")
    objects += _fbx_shape(51, "whole", "0,0,3") + _fbx_shape(52, "frown", "0,-1,0")
    if between:
        objects += _fbx_shape(50, "half", "0,0,1")
    half = '\tC: "OO",50,41\n' if between else ""
    more = f"""	Geometry: 30, "Geometry::g", "Mesh" {{
		Vertices: *9 {{
			a: 0,0,0,1,0,0,0,1,0
		}}
		PolygonVertexIndex: *3 {{
			a: 0,1,-3
		}}
	}}
	Model: 31, "Model::m", "Mesh" {{
		Version: 232
	}}
	Deformer: 40, "Deformer::blend", "BlendShape" {{
		Version: 100
	}}
{objects}}}
Connections:  {{
	C: "OO",31,0
	C: "OO",30,31
	C: "OO",40,30
	C: "OO",41,40
	C: "OO",42,40
{half}	C: "OO",51,41
	C: "OO",52,42
"""
    file = fbx(path="DeformPercent", target=42, keys=((0, 0), (1, 50)))
    file = file.replace(b'"d|X"', b'"d|DeformPercent"').replace(b"CurveNode::T", b"CurveNode::DeformPercent")
    return file.replace(b"}\nConnections:  {\n", more.encode())


# ---- LightWave scenes ----------------------------------------------------------------------------------


def lws(keys: Sequence[tuple[float, float]] = ((0, 0), (1, 2)), last_frame: int = 100) -> bytes:
    """A null whose x has keys; the scene's range is frame 0 to `last_frame` at 25 frames per second."""

    def envelope(number: int, pairs: Sequence[tuple[float, float]]) -> str:
        rows = "".join(f"  Key {value} {time} 3 0 0 0 0 0 0\n" for time, value in pairs)
        return f"Channel {number}\n{{ Envelope\n  {len(pairs)}\n{rows}  Behaviors 1 1\n}}\n"

    others = "".join(envelope(i, [(0, int(i > 5))]) for i in range(1, 9))
    return (
        f"LWSC\n5\n\nFirstFrame 0\nLastFrame {last_frame}\nFrameStep 1\nFramesPerSecond 25\n\n"
        f"AddNullObject 10000000 thing\nObjectMotion\nNumChannels 9\n{envelope(0, keys)}{others}"
    ).encode()


# ---- MD5 and MD2 ---------------------------------------------------------------------------------------

MD5_MESH = b"""MD5Version 10
commandline ""

numJoints 2
numMeshes 1

joints {
\t"hip"\t-1 ( 0.0 0.0 0.0 ) ( 0.0 0.0 0.0 )
\t"knee"\t0 ( 0.0 0.0 1.0 ) ( 0.0 0.0 0.0 )
}

mesh {
\tshader "skin"

\tnumverts 3
\tvert 0 ( 0.0 0.0 ) 0 1
\tvert 1 ( 1.0 0.0 ) 1 1
\tvert 2 ( 0.0 1.0 ) 2 2

\tnumtris 1
\ttri 0 0 1 2

\tnumweights 4
\tweight 0 0 1.0 ( 0.0 0.0 0.0 )
\tweight 1 0 1.0 ( 1.0 0.0 0.0 )
\tweight 2 0 0.5 ( 0.0 1.0 0.0 )
\tweight 3 1 0.5 ( 0.0 1.0 -1.0 )
}
"""

MD5_ANIM = b"""MD5Version 10
commandline ""

numFrames 2
numJoints 2
frameRate 4
numAnimatedComponents 1

hierarchy {
\t"hip"\t-1 0 0
\t"knee"\t0 4 0
}

bounds {
\t( 0.0 0.0 0.0 ) ( 1.0 1.0 1.0 )
\t( 0.0 0.0 0.0 ) ( 1.0 1.0 1.0 )
}

baseframe {
\t( 0.0 0.0 0.0 ) ( 0.0 0.0 0.0 )
\t( 0.0 0.0 1.0 ) ( 0.0 0.0 0.0 )
}

frame 0 {
\t1.0
}

frame 1 {
\t2.0
}
"""


def md5_triple(values: Sequence[float]) -> str:
    """All digits: what is lost is lost by the reader."""
    return f"( {' '.join(f'{value:.17g}' for value in values)} )"


def md5_mesh(
    joints: Sequence[tuple[str, int, Sequence[float], Sequence[float]]],
    vertices: Sequence[Sequence[tuple[int, float, Sequence[float]]]],
    triangles: Sequence[Sequence[int]],
) -> bytes:
    """Joints: name, parent, translation and x, y, z of the rotation, both below the skeleton.

    Each vertex is a list of joint, weight and offset.
    """
    lines = ["MD5Version 10", 'commandline ""', "", f"numJoints {len(joints)}", "numMeshes 1", "", "joints {"]
    for name, parent, t, r in joints:
        lines.append(f'\t"{name}"\t{parent} {md5_triple(t)} {md5_triple(r)}\t// {parent}')
    lines += ["}", "", "mesh {", '\tshader "skin"', f"\tnumverts {len(vertices)}"]
    first = 0
    for i, influences in enumerate(vertices):
        lines.append(f"\tvert {i} ( 0.0 0.0 ) {first} {len(influences)}")
        first += len(influences)
    lines.append(f"\tnumtris {len(triangles)}")
    lines += [f"\ttri {i} {' '.join(map(str, corners))}" for i, corners in enumerate(triangles)]
    lines.append(f"\tnumweights {first}")
    flat = [influence for influences in vertices for influence in influences]
    lines += [f"\tweight {i} {j} {w:.17g} {md5_triple(offset)}" for i, (j, w, offset) in enumerate(flat)]
    return "\n".join([*lines, "}", ""]).encode()


def md5_anim(
    joints: Sequence[tuple[str, int, int, int]],
    base: Sequence[tuple[Sequence[float], Sequence[float]]],
    frames: Sequence[Sequence[float]],
) -> bytes:
    """Joints: name, parent, flags, first number of a frame. Four frames a second."""
    lines = ["MD5Version 10", 'commandline "made // by hand"', "", f"numFrames {len(frames)}"]
    lines += [f"numJoints {len(joints)}", "frameRate 4", f"numAnimatedComponents {len(frames[0])}", ""]
    lines.append("hierarchy {")
    lines += [f'\t"{name}"\t{parent} {flags} {first}\t// {name}' for name, parent, flags, first in joints]
    lines += ["}", "", "bounds {", *["\t( 0 0 0 ) ( 1 1 1 )"] * len(frames), "}", "", "baseframe {"]
    lines += [f"\t{md5_triple(t)} {md5_triple(r)}" for t, r in base]
    lines += ["}", ""]
    for i, values in enumerate(frames):
        lines.append(f"frame {i} {{ // of {len(frames)}")
        for part in (values[: len(values) // 2], values[len(values) // 2 :]):
            lines.append("\t" + " ".join(f"{value:.17g}" for value in part))
        lines += ["}", ""]
    return "\n".join(lines).encode()


def md2(frames: int = 3) -> bytes:
    """One triangle, the same in every frame."""
    frame = struct.pack("<6f16s", 1, 1, 1, 0, 0, 0, b"frame") + b"".join(
        struct.pack("<4B", *corner, 0) for corner in ((0, 0, 0), (1, 0, 0), (0, 1, 0))
    )
    triangle = struct.pack("<6H", 0, 1, 2, 0, 1, 2)
    uvs = struct.pack("<6h", 0, 0, 1, 0, 0, 1)
    at = 68
    places = [at, at, at + len(uvs), at + len(uvs) + len(triangle)]
    end = places[3] + len(frame) * frames
    header: list[Any] = [b"IDP2", 8, 16, 16, len(frame), 0, 3, 3, 1, 0, frames]
    body = uvs + triangle + frame * frames
    return struct.pack("<4s10i6i", *header, *places, end, end) + body + bytes(4)  # Assimp wants a byte more
