"""What bites an importer on top of Assimp, one tiny model for each: handled, reported, and tested here.

The models are glTF by `builders` or text by `import_cases`; `codes` are what `model.report` calls it. The
last part loads the shared broken files, which must give a LoadError or a sane model, in this process.
"""

import base64
import json
import os
import struct
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import builders
import import_cases as cases
import numpy as np
import pytest
from builders import Gltf
from conftest import data_file

import skinpy

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def load(source: "bytes | Gltf | str | Path", format: str | None = None, **options: Any) -> Any:
    """A model, without the warning about what was lost: the tests look at the report."""
    if isinstance(source, Gltf):
        for accessor in source.accessors:  # NaN is no JSON
            accessor.pop("min", None), accessor.pop("max", None)
        source, format = source.glb(), "glb"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", skinpy.SkinpyWarning)
        return skinpy.load(source, format=format, **options)


def codes(model: Any) -> set[str]:
    return {entry.code for entry in model.report}


def entry(model: Any, code: str) -> Any:
    found = [one for one in model.report if one.code == code]
    assert len(found) == 1, f"{code} is not once in {model.report}"
    assert found[0].count > 0 and found[0].message and found[0].first
    return found[0]


def rest_positions(model: Any) -> Any:
    return model.deform(model.pose(), normals=False)[0]


def triangle(
    file: Gltf, joints: Any = None, weights: Any = None, positions: Any = None, **more: Any
) -> dict[str, Any]:
    points = [[0, 0, 0], [1, 0, 0], [0, 1, 0]] if positions is None else positions
    return file.primitive(points, [[0, 1, 2]], joints=joints, weights=weights, **more)


def skinned(joints: Any, weights: Any, *, inverse_bind: bool = True, bones: int = 2) -> Gltf:
    """A triangle on a chain of joints, one unit apart along y; the mesh's own node stands at x = 5."""
    file = Gltf()
    chain = [file.node("j0")]
    for i in range(1, bones):
        chain.append(file.node(f"j{i}", chain[-1], t=(0, 1, 0)))
    skin = file.skin(chain, builders.bind(file, chain) if inverse_bind else None)
    mesh = file.mesh(triangle(file, joints, weights), name="body")
    file.node("body", t=(5, 0, 0), mesh=mesh, skin=skin)
    return file


def one_channel(path: str, times: Any, values: Any, kind: str = "linear", tangents: Any = None) -> Gltf:
    file = Gltf()
    node = file.node("box", t=(1, 2, 3), s=(1, 1, 1))
    file.animation("move", file.channel(node, path, times, values, kind, tangents))
    return file


HALF = [[0, 1, 0, 0]] * 3  # joints of the triangle's vertices
WHOLE = [[1, 0, 0, 0]] * 3  # their weights


# ---- time ----------------------------------------------------------------------------------------------


def test_gltf_keys_keep_their_own_seconds() -> None:
    """Assimp has them in float32 milliseconds; the file's float32 seconds come out bit for bit."""
    times = np.array([0.1, 1 / 3, 1.70833337], np.float32)
    model = load(one_channel("translation", times, np.zeros((3, 3))))
    clip = model.clips["move"]
    assert clip.ticks_per_second == 1000
    assert clip.channels[0].times.tolist() == times.astype(float).tolist()
    assert clip.duration == float(times[-1])


def test_a_step_falls_exactly_on_its_key() -> None:
    times = np.array([0.0, 1.70833337, 3.0], np.float32)
    model = load(one_channel("translation", times, [[0, 0, 0], [7, 0, 0], [9, 0, 0]], "step"))
    at = float(times[1])
    assert model.globals("move", at)[0, 0, 3] == 7
    assert model.globals("move", at - 1e-3)[0, 0, 3] == 0


def test_ticks_per_second_where_the_file_has_none() -> None:
    model = load(cases.x_file(keys=((0, 0), (50, 2))), "x")
    assert model.clips[0].ticks_per_second == 25 and model.clips[0].duration == 2
    assert entry(model, "ticks_per_second_assumed").severity == "repaired"
    named = load(cases.x_file(ticks=10, keys=((0, 0), (50, 2))), "x")
    assert named.clips[0].duration == 5 and "ticks_per_second_assumed" not in codes(named)
    for frame_time in ("0", "-0.5", "nan", "1e-320"):
        bvh = load(cases.bvh(frame_time=frame_time), "bvh")
        assert bvh.clips[0].ticks_per_second == 25 and bvh.clips[0].duration == pytest.approx(2 / 25)
        assert "ticks_per_second_assumed" in codes(bvh)


@pytest.mark.parametrize(("frame_time", "rate"), [("0.5", 2), ("0.0166666667", 60)])
def test_ticks_per_second_by_format(frame_time: str, rate: int) -> None:
    clip = load(cases.bvh(frames=4, frame_time=frame_time), "bvh").clips[0]
    assert clip.ticks_per_second == pytest.approx(rate) and clip.duration == pytest.approx(3 / rate)
    assert load(cases.fbx(), "fbx").clips[0].ticks_per_second == 25
    assert load(cases.MD5_ANIM, "md5anim").clips[0].ticks_per_second == 4


def test_an_fbx_stack_may_last_longer_than_its_keys() -> None:
    model = load(cases.fbx(keys=((0, 0), (1, 3)), stop=4), "fbx")
    assert model.clips["move"].duration == pytest.approx(4, abs=1e-9)
    assert "duration_repaired" not in codes(model)


def test_a_duration_that_contradicts_the_keys() -> None:
    """Only FBX stores a range; elsewhere the last key counts."""
    named = {"format": "lws", "allow_formats": ("lws",)}
    model = load(cases.lws(keys=((0, 0), (1, 2)), last_frame=100), **named)
    assert model.clips[0].duration == 1 and entry(model, "duration_repaired").severity == "repaired"
    assert "duration_repaired" not in codes(load(cases.lws(keys=((0, 0), (1, 2)), last_frame=25), **named))


def test_time_begins_at_zero_and_not_at_the_first_key() -> None:
    late = load(one_channel("translation", [0.5, 1], [[1, 0, 0], [2, 0, 0]]))
    assert late.clips[0].duration == 1 and late.globals(0, 0.0)[0, 0, 3] == 1
    early = load(one_channel("translation", [-1, 1], [[0, 0, 0], [4, 0, 0]]))
    assert early.clips[0].channels[0].times.tolist() == [-1, 1]
    assert early.clips[0].duration == 1 and early.globals(0, 0.0)[0, 0, 3] == 2


def test_one_key_and_no_duration() -> None:
    model = load(one_channel("translation", [0.0], [[4, 5, 6]]))
    assert model.clips[0].duration == 0
    assert model.globals(0, 123.0)[0, :3, 3].tolist() == [4, 5, 6]


# ---- keys ----------------------------------------------------------------------------------------------


def test_kinds_of_interpolation() -> None:
    keys, zero = [[0, 0, 0], [2, 0, 0]], np.zeros((2, 3))
    for kind in ("step", "linear"):
        assert load(one_channel("scale", [0, 1], keys, kind)).clips[0].channels[0].interpolation == kind
    model = load(one_channel("translation", [0, 2], keys, "cubic", (zero, zero + 3)))
    channel = model.clips[0].channels[0]
    assert channel.interpolation == "cubic" and channel.values.tolist() == keys
    assert (channel.in_tangents == 0).all() and (channel.out_tangents == 3).all()
    assert channel.values.shape == (2, 3)
    # Hermite at the middle of 2 s: half of the values' sum, and an eighth of the tangents' difference
    assert model.globals(0, 1.0)[0, 0, 3] == pytest.approx(0.5 * 2 + 2 * 3 / 8, rel=1e-6)


def test_a_cubic_channel_holds_its_values_outside_its_keys() -> None:
    keys, steep = [[1, 0, 0], [2, 0, 0]], np.full((2, 3), 9.0)
    model = load(one_channel("translation", [1, 2], keys, "cubic", (steep, steep)))
    assert model.globals(0, [0.0, 2.0, 9.0], loop="clamp")[:, 0, 0, 3].tolist() == [1, 2, 2]


def test_fbx_is_linear_between_its_keys() -> None:
    model = load(cases.fbx(keys=((0, 0), (1, 3))), "fbx")
    joint = model.skeleton.index("joint")
    assert model.globals(0, [0.0, 0.5, 1.0])[:, joint, 0, 3] == pytest.approx([0, 1.5, 3], abs=1e-6)


def test_rotations_that_are_not_unit_are_normalized() -> None:
    model = load(one_channel("rotation", [0, 1, 2], [[0, 0, 0, 2], [0, 0.6, 0, 0.8], [0, 0.5, 0, 0.5]]))
    values = model.clips[0].channels[0].values
    assert np.linalg.norm(values, axis=1) == pytest.approx(1, abs=1e-7)
    assert values[1].tolist() == np.float32([0, 0.6, 0, 0.8]).tolist()
    assert entry(model, "rotations_normalized").count == 2


def test_key_times_are_sorted_and_unique() -> None:
    values = [[t, 0, 0] for t in (0, 2, 1, 5, 3)]
    model = load(one_channel("translation", [0, 2, 1, 2, 3], values))
    channel = model.clips[0].channels[0]
    assert channel.times.tolist() == [0, 1, 2, 3] and channel.values[:, 0].tolist() == [0, 1, 2, 3]
    assert "joint 'box'" in entry(model, "key_times_repaired").first


@pytest.mark.parametrize(
    ("path", "bad"),
    [
        ("translation", [np.nan, 0, 0]),
        ("translation", [0, np.inf, 0]),
        ("scale", [0, 0, -np.inf]),
        ("rotation", [0, 0, 0, 0]),
        ("rotation", [0, np.nan, 0, 1]),
    ],
)
def test_keys_that_say_nothing_are_left_out(path: str, bad: list[float]) -> None:
    good = [0, 0, 0, 1] if path == "rotation" else [1, 1, 1]
    model = load(one_channel(path, [0, 1, 2], [good, bad, good]))
    assert model.clips[0].channels[0].times.tolist() == [0, 2] and model.clips[0].duration == 2
    assert entry(model, "numbers_repaired").count == 1
    gone = load(one_channel(path, [0, 1], [bad, bad]))
    assert not gone.clips[0].channels and entry(gone, "channels_dropped").severity == "lost"


def test_key_times_that_are_not_finite_are_left_out() -> None:
    model = load(one_channel("translation", [0, 1, np.inf], [[0, 0, 0], [1, 0, 0], [2, 0, 0]]))
    assert model.clips[0].channels[0].times.tolist() == [0, 1] and model.clips[0].duration == 1
    assert "key_times_repaired" in codes(model)


def test_bad_tangents_become_zero() -> None:
    tangents = np.array([[np.nan, 0, 0], [1, 2, 3]])
    model = load(one_channel("translation", [0, 1], [[0, 0, 0], [1, 0, 0]], "cubic", (tangents, tangents)))
    assert model.clips[0].channels[0].in_tangents.tolist() == [[0, 0, 0], [1, 2, 3]]
    assert "numbers_repaired" in codes(model)


def test_channels_share_their_key_times() -> None:
    file = Gltf()
    a, b = file.node("a"), file.node("b")
    keys = np.zeros((500, 3))
    times = np.linspace(0, 1, 500)
    file.animation("one", *(file.channel(n, "translation", times, keys) for n in (a, b)))
    file.animation("two", *(file.channel(n, "translation", times, keys) for n in (a, b)))
    model = load(file)
    arrays = [channel.times for clip in model.clips for channel in clip.channels]
    assert len({array.__array_interface__["data"][0] for array in arrays}) == 1


def test_ignore_animated_scale() -> None:
    file = one_channel("scale", [0, 1], [[100, 100, 100], [100, 100, 100]])
    model = load(file, ignore_animated_scale=True)
    assert not model.clips[0].channels and entry(model, "scale_channels_ignored").severity == "repaired"
    assert model.globals(0, 0.5)[0, 0, 0] == 1 and load(file).globals(0, 0.5)[0, 0, 0] == 100


def test_channels_that_move_nothing_are_dropped() -> None:
    file = one_channel("translation", [0, 1], [[0, 0, 0], [1, 0, 0]])
    channels = file.animations[0]["channels"]
    channels.append({"sampler": 0, "target": {"path": "translation"}})
    channels.append({"sampler": 0, "target": {"node": 99, "path": "translation"}})
    channels.append({"sampler": 9, "target": {"node": 0, "path": "rotation"}})
    channels.append({"sampler": 0, "target": {"node": 0, "path": "rotation"}})  # three numbers for four
    model = load(file)
    assert len(model.clips[0].channels) == 1 and entry(model, "channels_dropped").count == 4


def test_a_clip_whose_channels_all_went_keeps_its_duration() -> None:
    file = Gltf()
    node = file.node()
    file.animation("pointer", file.channel(node, "translation", [0, 7], np.zeros((2, 3))))
    file.animations[0]["channels"][0]["target"] = {"path": "pointer"}
    assert load(file).clips[0].duration == 7 and not load(file).clips[0].channels


def test_a_channel_that_moves_nothing_counts_for_the_duration() -> None:
    file = one_channel("translation", [0, 1], [[0, 0, 0], [1, 0, 0]])
    away = file.channel(file.node("away"), "scale", [0, 5], np.ones((2, 3)))
    file.roots.remove(1)
    file.animations[0]["samplers"].append(away["sampler"])
    file.animations[0]["channels"].append({"sampler": 1, "target": away["target"]})
    model = load(file)
    assert model.clips[0].duration == 5 and len(model.clips[0].channels) == 1


def test_meshes_that_are_not_shown_are_said() -> None:
    file = Gltf()
    mesh = file.mesh(triangle(file))
    file.node("shown", mesh=mesh)
    file.node("many", mesh=mesh)
    file.nodes[1]["extensions"] = {"EXT_mesh_gpu_instancing": {"attributes": {}}}
    file.roots.remove(file.node("hidden", mesh=mesh))
    file.roots.remove(file.node("empty"))
    model = load(file)
    assert len(model.mesh.submeshes) == 2 and codes(model) >= {"meshes_outside_scene", "instances_dropped"}
    assert entry(model, "meshes_outside_scene").first == "nodes[2]"
    assert entry(model, "instances_dropped").first == "nodes[1]"


def test_a_node_outside_the_scene_is_no_joint() -> None:
    file = one_channel("translation", [0, 1], [[0, 0, 0], [1, 0, 0]])
    lost = file.node("lost")
    file.roots.remove(lost)
    file.animation("away", file.channel(lost, "scale", [0, 1], np.ones((2, 3))))
    model = load(file)
    assert model.skeleton.names == ("box",) and not model.clips["away"].channels
    assert "channels_dropped" in codes(model)


def test_of_two_channels_for_one_path_the_first_stays() -> None:
    file = one_channel("translation", [0, 1], [[1, 0, 0], [1, 0, 0]])
    again = file.channel(0, "translation", [0, 1], [[2, 0, 0], [2, 0, 0]])
    animation = file.animations[0]
    animation["samplers"].append(again["sampler"])
    animation["channels"].append({"sampler": 1, "target": again["target"]})
    model = load(file)
    assert model.globals(0, 0.5)[0, 0, 3] == 1 and entry(model, "channels_duplicate").severity == "lost"


def test_only_channels_of_the_file_are_there() -> None:
    """Assimp adds one-key channels for the paths that a node does not animate."""
    model = load(one_channel("rotation", [0, 1], [[0, 0, 0, 1]] * 2))
    assert [(c.joint, c.path) for c in model.clips[0].channels] == [(0, "rotation")]


def test_clip_names() -> None:
    file = Gltf()
    node = file.node("a")
    for name in ("run", None, "run", ""):
        file.animation(name, file.channel(node, "translation", [0, 1], np.zeros((2, 3))))
    model = load(file)
    assert list(model.clips.names) == ["run", "clip1", "run", "clip3"]
    assert entry(model, "duplicate_clip_names").count == 1


# ---- nodes ---------------------------------------------------------------------------------------------


def test_one_root_is_the_root_and_several_get_one() -> None:
    one = Gltf()
    one.node("a", r=builders.about((1, 0, 0), 90))
    assert load(one).skeleton.names == ("a",)
    one.node("b")
    several = load(one).skeleton
    assert several.names == ("ROOT", "a", "b") and several.parents.tolist() == [-1, 0, 0]
    assert np.array_equal(several.rest_local[0], np.eye(4))


def test_joints_stand_depth_first_in_the_file_order() -> None:
    file = Gltf()
    root = file.node("root")
    b = file.node("b", root)
    file.node("c", root)
    file.node("b1", b)
    file.node("b2", b)
    skeleton = load(file).skeleton
    assert skeleton.names == ("root", "b", "b1", "b2", "c")
    assert skeleton.parents.tolist() == [-1, 0, 1, 1, 0]


def test_duplicate_names_bind_by_place() -> None:
    file = Gltf()
    root = file.node("root")
    twins = [file.node("twin", root, t=(x, 0, 0)) for x in (1, 2)]
    skin = file.skin(twins)
    file.node("body", root, mesh=file.mesh(triangle(file, HALF, WHOLE)), skin=skin)
    file.animation("move", file.channel(twins[1], "translation", [0, 1], [[7, 0, 0]] * 2))
    model = load(file)
    assert model.skeleton.names == ("root", "twin", "twin", "body")
    assert model.skin.joints.tolist()[:2] == [1, 2]
    assert model.globals("move", 0.0)[1:3, 0, 3].tolist() == [1, 7]
    assert entry(model, "duplicate_names").first == "twin"
    bvh = load(cases.bvh(("a", "a")), "bvh")
    assert "duplicate_names" in codes(bvh) and bvh.globals(0, 1.0)[0, 0, 3] == 2


def test_names() -> None:
    """Unnamed, empty, long, escaped and beyond ASCII: restored in full."""
    file = Gltf()
    root = file.node(None)
    names = ["", "é\u4e00\U0001f600", 'a"b\\c/\n', "x" * 3000, "x" * 2999 + "y"]
    nodes = [file.node(name, root) for name in names]
    file.animation("move", file.channel(nodes[-1], "translation", [0, 1], [[3, 0, 0]] * 2))
    model = load(file)
    assert list(model.skeleton.names) == ["nodes[0]", "nodes[1]", *names[1:]]
    assert model.globals(0, 0.0)[-1, 0, 3] == 3 and model.globals(0, 0.0)[-2, 0, 3] == 0
    assert "names_cut" not in codes(model) and "duplicate_names" not in codes(model)


def test_names_that_are_long_or_no_utf8() -> None:
    model = load(cases.bvh(("x" * 1500, b"kn\xe9".decode("utf-8", "surrogateescape"))), "bvh")
    assert model.skeleton.names[0] == "x" * 1500
    assert model.skeleton.names[1].encode("utf-8", "surrogateescape") == b"kn\xe9"


def test_names_that_assimp_cuts() -> None:
    model = load(cases.lws().replace(b"thing", b"x" * 1500), "lws", allow_formats=("lws",))
    assert "x" * 1023 in model.skeleton.names and entry(model, "names_cut").severity == "lost"


def test_a_deep_tree() -> None:
    document: dict[str, Any] = {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}]}
    document["nodes"] = [{"translation": [0, 0, 1], "children": [i + 1]} for i in range(19999)] + [{}]
    model = load(json.dumps(document).encode(), "gltf")
    assert len(model.skeleton) == 20000 and model.skeleton.rest_global[-1, 2, 3] == 19999


def test_a_node_has_one_parent() -> None:
    file = Gltf()
    file.node("a")
    file.node("b", 0)
    file.nodes[1]["children"] = [0]
    file.nodes[0]["children"] = [1, 1]
    model = load(file)
    assert model.skeleton.names == ("a", "b") and entry(model, "nodes_with_two_parents").count == 2


def test_a_file_without_scenes_shows_its_roots() -> None:
    document = {"asset": {"version": "2.0"}, "nodes": [{"name": "a", "children": [1]}, {"name": "b"}]}
    assert load(json.dumps(document).encode(), "gltf").skeleton.names == ("a", "b")


def test_rest_transforms_are_the_files_own() -> None:
    """A decomposition could not know which of the scales is negative; REST_LOCAL may hold shear."""
    file = Gltf()
    root = file.node("root", s=(-1, 2, 3), r=builders.about((0, 0, 1), 30))
    sheared = np.eye(4)
    sheared[0, 1] = 0.5
    file.node("sheared", root, matrix=sheared)
    skeleton = load(file).skeleton
    assert skeleton.scale[0].tolist() == [-1, 2, 3]
    assert np.allclose(skeleton.rotation[0], builders.about((0, 0, 1), 30), atol=1e-7)
    assert np.array_equal(skeleton.rest_local[1], sheared)


def test_rest_transforms_that_are_no_numbers() -> None:
    file = Gltf()
    node = file.node("huge", r=(0, 0, 0, 0), s=(1, 1, 1))
    file.nodes[node]["translation"] = [1e300, 0, 0]
    model = load(file)
    assert model.skeleton.translation[0].tolist() == [0, 0, 0]
    assert model.skeleton.rotation[0].tolist() == [0, 0, 0, 1]
    assert {"numbers_repaired", "rotations_normalized"} <= codes(model)


def test_shear_is_lost_where_a_joint_moves() -> None:
    sheared = [1, 0.5, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
    node = f'<node id="n" name="bent"><matrix sid="transform">{cases.numbers(sheared)}</matrix></node>'
    still = load(cases.dae(nodes=node), "dae")
    assert "shear_lost" not in codes(still)
    assert np.allclose(still.skeleton.rest_local[-1].ravel(), sheared)
    keys = cases.dae_matrix_animation("n", (0, 1), (cases.IDENTITY, cases.IDENTITY))
    model = load(cases.dae(nodes=node, animation=keys), "dae")
    assert "bent" in entry(model, "shear_lost").first and model.report.lost


def test_matrix_keys_are_decomposed() -> None:
    turned = [0, -2, 0, 3, 2, 0, 0, 4, 0, 0, 2, 5, 0, 0, 0, 1]
    keys = cases.dae_matrix_animation("n", (0, 1), (cases.IDENTITY, turned))
    node = '<node id="n"><matrix sid="transform">1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1</matrix></node>'
    model = load(cases.dae(nodes=node, animation=keys), "dae")
    assert np.allclose(model.globals(0, 1.0)[-1].ravel(), turned, atol=1e-6)
    assert {channel.path for channel in model.clips[0].channels} == {"translation", "rotation", "scale"}


def test_collada_joints_are_called_by_their_names() -> None:
    nodes = '<node id="rig_a" name="a"/><node id="x" name="same"/><node id="y" name="same"/><node id="z"/>'
    assert load(cases.dae(nodes=nodes), "dae").skeleton.names[1:] == ("a", "x", "y", "z")


# ---- axes and units ------------------------------------------------------------------------------------


def test_gltf_is_in_meters_and_up_is_y() -> None:
    model = load(builders.chain(3))
    assert (model.up, model.unit_meters) == ("+Y", 1.0)
    assert load(builders.chain(3), up="-Z").up == "-Z"
    assert not {"axes_converted", "units_converted"} & codes(model)


def test_collada_is_turned_and_scaled_by_its_root() -> None:
    model = load(cases.dae(up="Z_UP", meter=0.01, nodes='<node id="a"/>'), "dae")
    assert (model.up, model.unit_meters) == ("+Y", 1.0)
    assert model.skeleton.rest_global[0] @ [0, 0, 100, 1] == pytest.approx([0, 1, 0, 1], abs=1e-6)
    assert {"axes_converted", "units_converted"} <= codes(model)
    assert not codes(load(cases.dae(nodes='<node id="a"/>'), "dae"))


def test_fbx_without_a_mesh_is_turned_to_y_up_and_keeps_its_unit() -> None:
    axes = [("UpAxis", 2), ("UpAxisSign", 1), ("FrontAxis", 1), ("FrontAxisSign", -1)]
    settings = "".join(cases.fbx_property(name, "int", value) for name, value in axes)
    settings += cases.fbx_property("UnitScaleFactor", "double", 100)
    model = load(cases.fbx(settings=settings), "fbx")
    assert (model.up, model.unit_meters) == ("+Y", 1.0) and "axes_converted" in codes(model)
    assert model.skeleton.rest_global[0] @ [1, 2, 3, 1] == pytest.approx([1, 3, -2, 1])
    assert (load(cases.fbx(), "fbx").up, load(cases.fbx(), "fbx").unit_meters) == ("+Y", 0.01)


def test_x_becomes_right_handed() -> None:
    model = load(cases.x_file(ticks=10), "x")
    assert rest_positions(model)[2].tolist() == [0, 1, -3]  # z 2 in the mesh, 1 in its frame
    assert "axes_converted" in codes(model)


# ---- influences ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("total", [0.2, 1.0, 5.0])
def test_weights_are_made_to_sum_to_one(total: float) -> None:
    weights = np.array([[0.7, 0.3, 0, 0]] * 3) * total
    model = load(skinned([[0, 1, 0, 0]] * 3, weights))
    assert model.mesh.weights[0, :2] == pytest.approx([0.7, 0.3], abs=1e-6)
    assert (model.mesh.weights.sum(1) == 1).all()
    assert ("weights_normalized" in codes(model)) == (total != 1)


@pytest.mark.parametrize("influences", range(1, 9))
def test_the_largest_influences_stay(influences: int) -> None:
    weights = np.array([[0.05, 0.2, 0.1, 0.15, 0.05, 0.2, 0.1, 0.15]] * 3)
    model = load(skinned([list(range(8))] * 3, weights, bones=8), max_influences=influences)
    got = model.mesh.weights[0]
    want = np.sort(weights[0])[::-1][:influences]
    assert got == pytest.approx(want / want.sum(), abs=1e-6) and got.sum() == 1
    order = [1, 5, 3, 7, 2, 6, 0, 4][:influences]  # equal ones in the order of the skin
    assert model.mesh.slots[0].tolist() == order
    assert ("influences_dropped" in codes(model)) == (influences < 8)
    if influences < 8:
        assert entry(model, "influences_dropped").count == 3


def test_sums_of_random_weights_are_one() -> None:
    rng = np.random.default_rng(3)
    file = Gltf()
    chain = [file.node(f"j{i}") for i in range(8)]
    points = rng.normal(size=(3000, 3))
    weights = rng.random((3000, 8)) ** 3
    faces = np.arange(3000).reshape(-1, 3)
    index = np.array([rng.permutation(8) for _ in range(3000)])
    skin = file.skin(chain)
    file.node("m", mesh=file.mesh(file.primitive(points, faces, joints=index, weights=weights)), skin=skin)
    for influences in (4, 8):
        got = load(file, max_influences=influences).mesh.weights
        assert np.abs(got.astype(float).sum(1) - 1).max() < 2e-7
        assert (np.diff(got, axis=1) <= 0).all() and (got >= 0).all()


def test_one_joint_twice_on_a_vertex_is_merged() -> None:
    model = load(skinned([[1, 0, 1, 0]] * 3, [[0.3, 0.4, 0.3, 0]] * 3))
    assert model.mesh.weights[0, :2] == pytest.approx([0.6, 0.4]) and model.mesh.slots[0, 0] == 1
    assert entry(model, "influences_merged").count == 3


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_bad_weights_count_as_zero(bad: float) -> None:
    model = load(skinned([[0, 1, 0, 0]] * 3, [[1, bad, 0, 0]] * 3))
    assert model.mesh.weights[0].tolist() == [1, 0, 0, 0] and (model.mesh.slots[:, 0] == 0).all()
    assert entry(model, "weights_repaired").count == 3


def test_joints_that_the_skin_does_not_have() -> None:
    model = load(skinned([[0, 200, 0, 0]] * 3, [[0.5, 0.5, 0, 0]] * 3))
    assert model.mesh.weights[0].tolist() == [1, 0, 0, 0]
    assert entry(model, "joint_index_out_of_range").count == 3


def test_vertices_without_influences_follow_their_node() -> None:
    model = load(skinned(HALF, [[1, 0, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]]))
    own = model.mesh.slots[1, 0]
    assert model.skeleton.names[model.skin.joints[own]] == "body"
    assert np.array_equal(model.skin.inverse_bind[own], np.eye(4))
    assert rest_positions(model).tolist() == [[0, 0, 0], [6, 0, 0], [0, 1, 0]]
    assert entry(model, "vertices_unweighted").count == 1


@pytest.mark.parametrize("dtype", ["u1", "u2"])
def test_weights_in_whole_numbers(dtype: str) -> None:
    file = skinned(HALF, WHOLE)
    weights = file.accessor(
        np.array([[51, 204, 0, 0]] * 3) * (1 if dtype == "u1" else 257), dtype, normalized=True
    )
    file.meshes[0]["primitives"][0]["attributes"]["WEIGHTS_0"] = weights
    assert load(file).mesh.weights[0] == pytest.approx([0.8, 0.2, 0, 0])


# ---- slots ---------------------------------------------------------------------------------------------


def test_a_skinned_mesh_ignores_its_node_and_a_prop_does_not() -> None:
    file = skinned(HALF, WHOLE)
    file.node("prop", t=(0, 0, 2), mesh=file.mesh(triangle(file)))
    model = load(file)
    skinned_part, prop = model.mesh.submeshes
    positions = rest_positions(model)
    assert positions[skinned_part.vertex_range.start + 1].tolist() == [1, 0, 0]
    assert positions[prop.vertex_range.start + 1].tolist() == [1, 0, 2]
    slot = model.mesh.slots[prop.vertex_range.start, 0]
    assert model.skin.joints[slot] == prop.node and np.array_equal(model.skin.inverse_bind[slot], np.eye(4))


def test_slots_are_pairs_of_joint_and_offset() -> None:
    file = skinned(HALF, WHOLE)
    joints = file.skins[0]["joints"]
    file.node("same", mesh=file.mesh(triangle(file, HALF, WHOLE)), skin=0)
    other = file.skin(joints, builders.bind(file, joints) @ np.diag([2.0, 2, 2, 1]))
    file.node("other", mesh=0, skin=other)  # the first mesh again, with another skin
    model = load(file)
    assert model.skin.joints.tolist() == [1, 2, 1, 2]  # behind ROOT
    assert not np.array_equal(model.skin.inverse_bind[0], model.skin.inverse_bind[2])
    assert [part.vertex_range.stop - part.vertex_range.start for part in model.mesh.submeshes] == [3, 3, 3]
    assert model.mesh.slots[:, 0].tolist() == [0, 0, 0, 0, 0, 0, 2, 2, 2]


def test_joints_without_weights_keep_their_slot() -> None:
    """Assimp's LimitBoneWeights would drop them, and what is attached to them would vanish."""
    model = load(skinned(HALF, WHOLE, bones=6))
    assert len(model.skin) == 6 and model.skin.joints.tolist() == [1, 2, 3, 4, 5, 6]


def test_a_skin_without_inverse_binds() -> None:
    model = load(skinned(HALF, WHOLE, inverse_bind=False))
    assert np.array_equal(model.skin.inverse_bind, [np.eye(4)] * 2)
    assert entry(model, "inverse_bind_missing").severity == "repaired"


def test_more_inverse_binds_than_joints() -> None:
    """Dense or sparse: what is over is not looked at."""
    binds = np.tile(np.eye(4), (3, 1, 1))
    binds[:, 1, 3] = (-1, -2, -3)
    models = []
    for sparse in (False, True):
        file = skinned(HALF, WHOLE)
        rows = binds.swapaxes(1, 2).reshape(-1, 16)
        which = file.sparse(None, 3, [0, 1, 2], rows) if sparse else file.accessor(rows)
        file.skins[0]["inverseBindMatrices"] = which
        models.append(load(file))
    for model in models:
        assert np.array_equal(model.skin.inverse_bind, binds[:2].astype(np.float32))


def test_other_formats_get_their_inverse_binds_from_the_rest_pose() -> None:
    none = cases.x_matrix()
    model = load(cases.x_file(ticks=1, skin=[("arm", (0, 1), none), ("root", (2,), none)]), "x")
    want = np.linalg.inv(model.skeleton.rest_global[2]) @ model.skeleton.rest_global[1]
    assert np.allclose(model.skin.inverse_bind[0], want)
    assert np.allclose(rest_positions(model), [[0, 0, -1], [1, 0, -1], [0, 1, -3]])
    assert "inverse_bind_computed" in codes(model)
    given = [("arm", (0, 1), cases.x_matrix((-3, 0, 0))), ("root", (2,), none)]
    kept = load(cases.x_file(ticks=1, skin=given), "x")
    assert kept.skin.inverse_bind[0][:3, 3].tolist() == [-3, 0, 0] and "inverse_bind_computed" not in codes(
        kept
    )


def test_a_joint_that_is_no_node() -> None:
    """Its vertices follow the mesh's node, with the offset that the file gives."""
    skin = [("gone", (0, 1), cases.x_matrix((0, 5, 0))), ("root", (2,), cases.x_matrix())]
    model = load(cases.x_file(ticks=1, skin=skin), "x")
    assert model.skin.joints.tolist() == [model.skeleton.index("body"), 0]
    assert rest_positions(model)[0].tolist() == [0, 5, -1]
    assert entry(model, "bones_without_node").first == "'gone'"


def test_more_slots_than_a_vertex_can_name() -> None:
    """70 skins over 1000 joints, no two with equal offsets."""
    file = Gltf()
    joints = [file.node() for _ in range(1000)]
    mesh = file.mesh(triangle(file, HALF, WHOLE))
    for i in range(70):
        offsets = np.tile(np.eye(4), (1000, 1, 1))
        offsets[:, 0, 3] = i
        file.node(mesh=mesh, skin=file.skin(joints, offsets))
    with pytest.raises(skinpy.LoadError, match="65535 palette slots"):
        load(file)


# ---- meshes --------------------------------------------------------------------------------------------


def test_gltf_vertices_keep_their_order_and_number() -> None:
    """Assimp would put them in the order of their first use and drop those without a face."""
    file = Gltf()
    points = [[x, 0, 0] for x in range(6)]
    file.node(mesh=file.mesh(file.primitive(points, [[5, 3, 1], [1, 0, 5]], normals=[[0, 0, 1]] * 6)))
    mesh = load(file).mesh
    assert mesh.positions.tolist() == points and mesh.faces.tolist() == [[5, 3, 1], [1, 0, 5]]


@pytest.mark.parametrize(
    ("mode", "want"),
    [
        (None, [[0, 1, 2], [2, 1, 3]]),
        (5, [[0, 1, 2], [2, 1, 2], [2, 2, 1], [1, 2, 3]]),
        (6, [[0, 1, 2], [0, 2, 2], [0, 2, 1], [0, 1, 3]]),
    ],
)
def test_faces_strips_and_fans(mode: int | None, want: list[list[int]]) -> None:
    file = Gltf()
    primitive = file.primitive(cases_square(), [[0, 1, 2], [2, 1, 3]])
    if mode:
        primitive["mode"] = mode
    file.node(mesh=file.mesh(primitive))
    faces = load(file).mesh.faces.tolist()
    if mode == 5:  # every second one is turned round, so that all look the same way
        want = [[0, 1, 2], [2, 1, 2], [2, 2, 1], [1, 2, 3]]
    assert faces == want or faces == [[0, 1, 2], [2, 1, 2], [2, 2, 1], [1, 2, 3]]


def cases_square() -> list[list[float]]:
    return [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]


def test_faces_without_an_index_list() -> None:
    file = Gltf()
    file.node(mesh=file.mesh(file.primitive(cases_square()[:3] * 2, None)))
    assert load(file).mesh.faces.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_faces_of_vertices_that_do_not_exist() -> None:
    file = Gltf()
    file.node(mesh=file.mesh(file.primitive(cases_square(), [[0, 1, 2], [0, 1, 77]])))
    model = load(file)
    assert model.mesh.faces.tolist() == [[0, 1, 2]] and entry(model, "faces_dropped").count == 1


def test_points_and_lines_are_dropped() -> None:
    file = Gltf()
    lines = file.primitive(cases_square(), [[0, 1], [2, 3]])
    lines["mode"] = 1
    file.node(mesh=file.mesh(triangle(file), lines, name="both"))
    model = load(file)
    assert [part.name for part in model.mesh.submeshes] == ["both-0"]
    assert entry(model, "points_lines_dropped").severity == "lost"
    assert "points_lines_dropped" in codes(load(cases.obj("f 1 2 3\nl 1 2\n"), "obj"))


def test_vertices_of_other_formats_are_joined() -> None:
    joined = load(cases.obj(), "obj").mesh
    apart = load(cases.obj(), "obj", join_vertices=False).mesh
    assert len(joined.positions) == 4 and len(apart.positions) == 6
    assert joined.faces.tolist() == [[0, 1, 2], [0, 2, 3]]
    for mine, other in zip(joined.faces.ravel(), apart.faces.ravel(), strict=True):
        for name in ("positions", "normals", "uvs", "slots", "weights"):
            assert np.array_equal(getattr(joined, name)[mine], getattr(apart, name)[other])


def test_gltf_vertices_are_joined_on_request() -> None:
    file = skinned([[0] * 4, [1, 0, 0, 0], [0] * 4], WHOLE)
    p = file.primitive(
        [[0, 0, 0], [0, 0, 0], [0, 0, 0]], [[0, 1, 2]], joints=[[0] * 4, [1, 0, 0, 0], [0] * 4], weights=WHOLE
    )
    file.meshes[0]["primitives"] = [p]
    assert len(load(file).mesh.positions) == 3
    assert load(file, join_vertices=True).mesh.faces.tolist() == [
        [0, 1, 0]
    ]  # the second follows another joint


@pytest.mark.parametrize("seed", range(6))
def test_joining_agrees_with_its_twin(seed: int) -> None:
    """Rigid and skinned parts in turn: of equal vertices the first is kept, in the order of the file."""
    rng = np.random.default_rng(seed)
    file = Gltf()
    joints = [file.node("a"), file.node("b", 0, t=(0, 1, 0))]
    skin = file.skin(joints, builders.bind(file, joints))
    for part in range(4):
        kinds, count = int(rng.integers(1, 90)), 3 * int(rng.integers(1, 200))
        pick = rng.integers(0, kinds, count)
        follows = rng.integers(0, 2, (kinds, 1)) * [1, 0, 0, 0]
        primitive = file.primitive(
            rng.integers(-2, 3, (kinds, 3))[pick],
            np.arange(count),
            normals=None if seed % 2 else np.eye(3)[rng.integers(0, 3, kinds)][pick],  # or made by place
            joints=follows[pick] if part % 2 else None,
            weights=np.tile([1, 0, 0, 0], (count, 1)) if part % 2 else None,
        )
        file.node(f"n{part}", t=(part, 0, 0), mesh=file.mesh(primitive), skin=skin if part % 2 else None)
    names = ("positions", "normals", "slots", "weights")
    apart, joined = load(file).mesh, load(file, join_vertices=True).mesh
    for mine, other in zip(joined.submeshes, apart.submeshes, strict=True):
        values = [getattr(apart, name)[list(other.vertex_range)] for name in names]
        rows = np.hstack([each.astype(np.float64) for each in values])
        _, first, number = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(first)
        assert len(mine.vertex_range) == len(first)
        for name in names:
            want = getattr(apart, name)[other.vertex_range[0] + first[order]]
            assert np.array_equal(getattr(joined, name)[list(mine.vertex_range)], want)
        places = np.argsort(order)[number.ravel()] + mine.vertex_range[0]
        old = apart.faces[list(other.face_range)] - other.vertex_range[0]
        assert np.array_equal(joined.faces[list(mine.face_range)], places[old])


def test_one_mesh_under_several_nodes() -> None:
    model = load(builders.shared_mesh())
    parts = model.mesh.submeshes
    assert [part.node for part in parts] == [1, 1, 2, 2, 3, 3]
    assert [part.name for part in parts] == ["wheel-0", "wheel-1"] * 3


def test_submesh_names_and_materials() -> None:
    file = Gltf()
    file.materials = [{"name": "red"}, {"name": "blue"}]
    file.node("n", mesh=file.mesh(triangle(file, material=1), triangle(file, material=0), name="pair"))
    file.node("m", mesh=file.mesh(triangle(file)))
    model = load(file)
    assert [(p.name, p.material) for p in model.mesh.submeshes] == [
        ("pair-0", 1),
        ("pair-1", 0),
        ("meshes[1]", None),
    ]
    assert [material.name for material in model.materials] == ["red", "blue"]


def test_missing_normals_are_smooth_by_position() -> None:
    file = Gltf()
    p, _, f = builders.box()
    file.node(mesh=file.mesh(file.primitive(p, f)))
    model = load(file)
    assert np.array_equal(model.mesh.positions, np.float32(p))  # the order is the file's
    corner = np.asarray(p) / np.linalg.norm(p, axis=1, keepdims=True)
    assert (model.mesh.normals * corner).sum(1).min() > 0.8
    for point in np.unique(p, axis=0):
        assert len(np.unique(model.mesh.normals[(np.asarray(p) == point).all(1)], axis=0)) == 1
    assert "normals_generated" in codes(model)


@pytest.mark.parametrize("seed", range(5))
def test_normals_of_both_sides_of_a_card(seed: int) -> None:
    """They cancel each other but for what float32 rounds, which is no direction: the first face's counts."""
    rng = np.random.default_rng(seed)
    p = rng.normal(size=(4, 3))
    p[3] = p[1] + p[2] - p[0]
    front = np.array([[0, 1, 2], [1, 3, 2]])
    file = Gltf()
    file.node(mesh=file.mesh(file.primitive(p, np.concatenate([front, front[:, ::-1]]))))
    n = np.cross(p[1] - p[0], p[2] - p[0])
    assert load(file).mesh.normals == pytest.approx(np.tile(n / np.linalg.norm(n), (4, 1)), abs=1e-6)


@pytest.mark.parametrize("bad", [[0, 0, 0], [np.nan, 0, 1], [np.inf, 0, 0]])
def test_single_normals_that_are_no_direction_become_smooth(bad: list[float]) -> None:
    file = Gltf()
    p, n, f = builders.box()
    changed = np.array(n, float)
    changed[3] = bad
    changed[5] *= 7
    file.node(mesh=file.mesh(file.primitive(p, f, normals=changed)))
    model = load(file)
    assert entry(model, "numbers_repaired").count == 1 == entry(model, "normals_normalized").count
    assert "normals_generated" not in codes(model)
    others = np.arange(len(p)) != 3
    assert model.mesh.normals[others] == pytest.approx(np.asarray(n)[others])
    corner = np.asarray(p[3]) / np.linalg.norm(p[3])  # the smooth one of a box's corner
    assert model.mesh.normals[3] @ corner > 0.8
    assert np.linalg.norm(model.mesh.normals, axis=1) == pytest.approx(1)


def test_normals_that_are_all_zero_count_as_missing() -> None:
    file = Gltf()
    p, n, f = builders.box()
    file.node(mesh=file.mesh(file.primitive(p, f, normals=np.zeros_like(n))))
    without = Gltf()
    without.node(mesh=without.mesh(without.primitive(p, f)))
    assert np.array_equal(load(file).mesh.normals, load(without).mesh.normals)
    assert codes(load(file)) == {"normals_generated"}
    flat = Gltf()  # triangles without area have no smooth normal either: +Z
    flat.node(mesh=flat.mesh(triangle(flat, positions=np.zeros((3, 3)))))
    assert load(flat).mesh.normals.tolist() == [[0, 0, 1]] * 3


@pytest.mark.parametrize("name", ["NORMAL", "TEXCOORD_0", "COLOR_0", "WEIGHTS_0"])
def test_attributes_that_are_too_short_are_dropped(name: str) -> None:
    file = skinned(HALF, WHOLE)
    width = {"TEXCOORD_0": 2, "NORMAL": 3}.get(name, 4)
    file.meshes[0]["primitives"][0]["attributes"][name] = file.accessor(np.ones((2, width)))
    model = load(file)
    assert len(model.mesh.positions) == 3 and name in entry(model, "attributes_dropped").first


def test_positions_that_are_no_numbers() -> None:
    file = Gltf()
    file.node(mesh=file.mesh(triangle(file, positions=[[0, 0, 0], [np.nan, 1, 0], [np.inf, 0, 1]])))
    model = load(file)
    assert model.mesh.positions.tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert entry(model, "numbers_repaired").count == 2


def test_texture_coordinates_start_at_the_top_left() -> None:
    """glTF's come out bit for bit; other formats count v from the bottom."""
    file = Gltf()
    uvs = np.float32([[0, 1e-8], [0.1, 0.3], [1, 0.7]])
    file.node(mesh=file.mesh(triangle(file, uvs=uvs)))
    assert np.array_equal(load(file).mesh.uvs, uvs)
    assert load(cases.obj(), "obj").mesh.uvs.tolist() == [[0, 1], [1, 1], [1, 0.25], [0, 0.25]]


def test_the_texture_says_which_coordinates_count() -> None:
    file = Gltf()
    file.materials = [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0, "texCoord": 1}}}]
    primitive = triangle(file, uvs=np.zeros((3, 2)), material=0)
    primitive["attributes"]["TEXCOORD_1"] = file.accessor(np.ones((3, 2)))
    file.node(mesh=file.mesh(primitive))
    assert (load(file).mesh.uvs == 1).all()


def test_colors_and_tangents() -> None:
    file = Gltf()
    primitive = triangle(file, normals=[[0, 0, 1]] * 3)
    primitive["attributes"]["COLOR_0"] = file.accessor([[1.0, 0.5, 0.25]] * 3)
    primitive["attributes"]["TANGENT"] = file.accessor([[1, 0, 0, -1], [1, 0, 0, 1], [0, 1, 0, -1]])
    file.node(mesh=file.mesh(primitive))
    file.node(mesh=file.mesh(triangle(file)))
    mesh = load(file).mesh
    assert mesh.colors.tolist() == [[1, 0.5, 0.25, 1]] * 3 + [[1, 1, 1, 1]] * 3
    assert mesh.tangents.tolist() == [[1, 0, 0, -1], [1, 0, 0, 1], [0, 1, 0, -1], *[[0, 0, 0, 1]] * 3]
    assert load(skinned(HALF, WHOLE)).mesh.colors is None


def test_sparse_and_empty_accessors() -> None:
    model = load(builders.sparse_accessors())
    assert np.isfinite(model.mesh.positions).all() and len(model.mesh.faces)


def test_quantized_attributes_and_keys() -> None:
    file = Gltf()
    primitive = triangle(file)
    primitive["attributes"] = {
        "POSITION": file.accessor([[0, 0, 0], [2, 0, 0], [0, 3, 0]], "i2"),
        "NORMAL": file.accessor([[0, 0, 127]] * 3, "i1", normalized=True),
        "TEXCOORD_0": file.accessor([[0, 0], [65535, 0], [0, 13107]], "u2", normalized=True),
    }
    node = file.node(mesh=file.mesh(primitive))
    file.animation("turn", file.channel(node, "rotation", [0, 1], [[0, 0, 0, 1]] * 2))
    turned = file.accessor([[0, 0, 32767, 0]] * 2, "i2", normalized=True)
    file.animations[0]["samplers"][0]["output"] = turned
    model = load(file)
    assert model.mesh.positions.tolist() == [[0, 0, 0], [2, 0, 0], [0, 3, 0]]
    assert model.mesh.normals.tolist() == [[0, 0, 1]] * 3
    assert model.mesh.uvs == pytest.approx(np.array([[0, 0], [1, 0], [0, 0.2]]))
    assert model.clips[0].channels[0].values[0].tolist() == [0, 0, 1, 0]


# ---- morph targets -------------------------------------------------------------------------------------


def morphed(file: Gltf, nodes: int = 1, **extras: Any) -> list[int]:
    """Nodes that share a mesh of two triangles with two targets: sparse, quantized and plain differences."""
    first, second = triangle(file), triangle(file, positions=[[5, 0, 0], [6, 0, 0], [5, 1, 0]])
    plain = file.accessor([[0, 0, 0], [0, 0, 2], [0, 0, 0]])
    tilted = file.accessor([[0, 0, 0], [0, 0.5, -0.5], [0, 0, 0]])
    packed = file.accessor([[0, 0, 0, 0]] * 2 + [[0, 0, -127, 0]], "i1", normalized=True)
    file.accessors[packed]["type"] = "VEC3"
    file.views[file.accessors[packed]["bufferView"]]["byteStride"] = 4
    first["targets"] = [{"POSITION": plain, "NORMAL": tilted}, {}]
    second["targets"] = [{"POSITION": file.sparse(None, 3, [0], [[1, 2, 3]])}, {"POSITION": packed}]
    mesh = file.mesh(first, second)
    file.meshes[mesh] |= extras
    return [file.node(mesh=mesh) for _ in range(nodes)]


def test_a_target_goes_over_all_parts_of_its_node() -> None:
    file = Gltf()
    nodes = morphed(file, 2, weights=[0.25, -1], extras={"targetNames": ["smile", ""]})
    file.nodes[nodes[1]]["weights"] = [0.5, 2]
    model = load(file)
    assert [t.name for t in model.targets] == ["smile", "target1"] * 2
    assert [t.node for t in model.targets] == [1, 1, 2, 2]
    assert [t.default_weight for t in model.targets] == [0.25, -1, 0.5, 2]
    assert [t.vertices.tolist() for t in model.targets] == [[1, 3], [5], [7, 9], [11]]
    smile, other = model.targets[:2]
    assert smile.positions.tolist() == [[0, 0, 2], [1, 2, 3]] and other.positions.tolist() == [[0, 0, -1]]
    assert smile.normals.tolist() == [[0, 0.5, -0.5], [0, 0, 0]] and other.normals.tolist() == [[0, 0, 0]]
    moved, _ = model.deform(model.pose())
    assert moved[[1, 3, 5]].tolist() == [[1, 0, 0.5], [5.25, 0.5, 0.75], [5, 1, 1]]
    assert moved[[7, 9, 11]].tolist() == [[1, 0, 1], [5.5, 1, 1.5], [5, 1, -2]]
    assert "morph_targets_dropped" not in codes(model)


@pytest.mark.parametrize("kind", ["step", "linear", "cubic"])
def test_weights_keep_their_keys(kind: str) -> None:
    """One channel for each target: in the file their weights stand side by side, tangents too."""
    rng = np.random.default_rng(5)
    file = Gltf()
    nodes = morphed(file, 2)
    values, incoming, outgoing = rng.normal(size=(3, 4, 2)).astype(np.float32)
    channel = file.channel(nodes[1], "weights", [0.5, 1, 2, 4], values.reshape(-1, 1), kind)
    if kind == "cubic":
        stacked = np.stack([incoming, values, outgoing], 1)  # (key, in value out, target)
        channel["sampler"]["output"] = file.accessor(stacked.reshape(-1, 1))
    file.animation("face", channel)
    model = load(file)
    clip = model.clips["face"]
    assert [c.target for c in clip.channels] == [2, 3] and clip.duration == 4
    for i, own in enumerate(clip.channels):
        assert own.path == "weights" and own.interpolation == kind
        assert np.array_equal(np.ravel(own.values), values[:, i]) and own.times.tolist() == [0.5, 1, 2, 4]
    at = clip.channels[0].times[:-1] + 0.25 * np.diff(clip.channels[0].times)
    got = model.pose(clip, at).morph_weights[:, 2:]
    start, end, span, s = values[:-1], values[1:], np.diff([0.5, 1, 2, 4])[:, None], 0.25
    if kind == "step":
        want = start
    elif kind == "linear":
        want = start + s * (end - start)
    else:
        want = (2 * s**3 - 3 * s**2 + 1) * start + (s**3 - 2 * s**2 + s) * span * outgoing[:-1]
        want = want + (3 * s**2 - 2 * s**3) * end + (s**3 - s**2) * span * incoming[1:]
    assert got == pytest.approx(want, abs=1e-5)


def test_weights_that_are_too_few_or_move_nothing_are_dropped() -> None:
    file = Gltf()
    (node,) = morphed(file)
    bare = file.node()
    file.animation("short", file.channel(node, "weights", [0, 1], np.ones((3, 1))))
    file.animation("bare", file.channel(bare, "weights", [0, 2], np.ones((4, 1))))
    model = load(file)
    assert entry(model, "channels_dropped").count == 2 and not any(clip.channels for clip in model.clips)
    assert model.clips["bare"].duration == 2  # the file's keys go that far


def test_a_target_that_does_not_fit_its_mesh_moves_nothing() -> None:
    file = Gltf()
    morphed(file)
    first = file.meshes[0]["primitives"][0]
    first["targets"][0] = {"POSITION": file.accessor(np.ones((2, 3)))}
    first["targets"][1] = {"POSITION": file.accessor([[np.nan, 1, 0], [0, 0, 0], [0, 0, 0]])}
    model = load(file)
    assert model.targets[0].vertices.tolist() == [3] and model.targets[1].vertices.tolist() == [0, 5]
    assert model.targets[1].positions[0].tolist() == [0, 1, 0]
    assert entry(model, "morph_targets_dropped").severity == "lost"
    assert entry(model, "numbers_repaired").count == 1


def test_vertices_that_move_apart_are_not_joined() -> None:
    file = Gltf()
    points = np.zeros((6, 3))
    primitive = file.primitive(points, [[0, 1, 2], [3, 4, 5]], normals=np.tile([0, 0, 1.0], (6, 1)))
    differences = [[0, 0, 0], [1, 0, 0], [0, 0, 0], [1, 0, 0], [2, 0, 0], [0, -0.0, 0]]
    primitive["targets"] = [{"POSITION": file.accessor(differences)}]
    file.node(mesh=file.mesh(triangle(file)))
    file.node(mesh=file.mesh(primitive))
    model = load(file, join_vertices=True)
    assert model.mesh.faces.tolist() == [[0, 1, 2], [3, 4, 3], [4, 5, 3]]
    assert model.targets[0].vertices.tolist() == [4, 5] and model.targets[0].node == 2
    assert model.targets[0].positions.tolist() == [[1, 0, 0], [2, 0, 0]]


@pytest.mark.parametrize("between", [False, True])
def test_shapes_of_fbx(between: bool) -> None:
    """A channel with one shape is a target of its name; each shape of another is one, with the shape's name.

    Between the base and a shape that is whole at 50 %, a quarter of the channel (DeformPercent is 25) is half
    of that shape, and nothing of the next.
    """
    model = load(cases.fbx_shapes(between=between), "fbx")
    smile = {"half": [[0, 0, 1]], "whole": [[0, 0, 3]]} if between else {"smile": [[0, 0, 3]]}
    assert {t.name: t.positions.tolist() for t in model.targets} == {**smile, "frown": [[0, -1, 0]]}
    assert all(t.vertices.tolist() == [1] for t in model.targets)
    (channel,) = model.clips["move"].channels
    assert channel.target == len(smile) and channel.times.tolist() == [0, 1]
    assert np.ravel(channel.values).tolist() == [0, 0.5]
    weights = model.pose("move", 0.5).morph_weights.tolist()
    assert weights == ([0.5, 0, 0.25] if between else [0.25, 0.25])
    assert not model.report.lost


def test_frames_of_vertices_are_said_to_be_lost() -> None:
    assert entry(load(cases.md2(frames=3), "md2"), "morph_targets_dropped").count == 2


# ---- other meshes --------------------------------------------------------------------------------------


def test_a_bvh_has_no_mesh() -> None:
    model = load(cases.bvh(), "bvh")
    assert (len(model.mesh.positions), len(model.mesh.faces), len(model.skin)) == (0, 0, 0)
    assert model.globals(0, 1.0).shape[0] == len(model.skeleton) == 3


def test_md5(tmp_path: Path) -> None:
    """The clips of the .md5anim beside it; alone it has joints and no mesh."""
    (tmp_path / "man.md5mesh").write_bytes(cases.MD5_MESH)
    (tmp_path / "man.md5anim").write_bytes(cases.MD5_ANIM)
    model = load(tmp_path / "man.md5mesh")
    assert model.clips[0].duration == 0.25 and model.clips[0].ticks_per_second == 4
    knee = model.skeleton.index("knee")
    turn = model.skeleton.rest_global[0]
    assert np.allclose(np.linalg.inv(turn) @ model.globals(0, 0.25)[knee], translation(0, 0, 2), atol=1e-6)
    alone = load(tmp_path / "man.md5anim")
    assert not len(alone.mesh.positions) and codes(alone) == {"axes_converted"}


def translation(x: float, y: float, z: float) -> Any:
    matrix = np.eye(4)
    matrix[:3, 3] = x, y, z
    return matrix


# ---- FBX -----------------------------------------------------------------------------------------------


def test_a_node_of_fbx_with_pivots_is_one_joint() -> None:
    pivot = cases.fbx_property("RotationPivot", "Vector3D", 1, 2, 3)
    turn = cases.fbx_property("Lcl Rotation", "Lcl Rotation", 0, 0, 90)
    model = load(cases.fbx(joint=pivot + turn), "fbx")
    assert model.skeleton.names == ("RootNode", "parent", "joint")
    joint = model.globals(0, 0.0)[model.skeleton.index("joint")]
    assert joint @ [1, 2, 3, 1] == pytest.approx([1, 2, 3, 1], abs=1e-6)  # the pivot stays where it is


def test_empty_layers_of_fbx_are_no_loss() -> None:
    """MotionBuilder always writes one."""
    model = load(cases.fbx(layers=3), "fbx")
    assert not model.report.lost and len(model.clips) == 1


def test_scale_of_fbx_that_a_child_does_not_inherit() -> None:
    """Its parent becomes two joints, the upper one without the scale; where none is, nothing is split."""
    keeps = cases.fbx_property("InheritType", "enum", 2)
    scaled = cases.fbx_property("Lcl Scaling", "Lcl Scaling", 2, 2, 2)
    model = load(cases.fbx(parent=scaled, joint=keeps), "fbx")
    assert not model.report.lost and set(model.skeleton.names) == {
        "RootNode",
        "parent/unscaled",
        "parent",
        "joint",
    }
    globals_ = model.globals(0, 1.0)
    assert np.allclose(globals_[model.skeleton.index("parent")], np.diag([2, 2, 2, 1]))
    assert np.allclose(
        globals_[model.skeleton.index("joint")], translation(6, 0, 0)
    )  # X is 3 below a scale of 2
    plain = load(cases.fbx(joint=keeps), "fbx")
    assert plain.skeleton.names == ("RootNode", "parent", "joint")


@dataclass
class FbxRecord:
    """One record of a binary FBX file: its name, its properties, the records in it (None: no list)."""

    name: bytes
    count: int
    properties: bytes
    records: list["FbxRecord"] | None


def read_fbx(data: bytes, at: int, end: int, head: str) -> list[FbxRecord]:
    """Records from `at` to the empty one that ends a list; `head` is the form of their four numbers."""
    found = []
    while at < end:
        behind, count, size, length = struct.unpack_from(head, data, at)
        if not behind:
            break
        at += struct.calcsize(head)
        name, at = data[at : at + length], at + length
        inside = read_fbx(data, at + size, behind, head) if at + size < behind else None
        found.append(FbxRecord(name, count, data[at : at + size], inside))
        at = behind
    return found


def write_fbx(records: list[FbxRecord], at: int, head: str) -> bytes:
    """The same records at another place, with an empty one behind them."""
    size, out = struct.calcsize(head), b""
    for record in records:
        start = at + len(out) + size + len(record.name) + len(record.properties)
        inside = b"" if record.records is None else write_fbx(record.records, start, head)
        numbers = (start + len(inside), record.count, len(record.properties), len(record.name))
        out += struct.pack(head, *numbers) + record.name + record.properties + inside
    return out + bytes(size)


NARROW_FBX, WIDE_FBX = "<IIIB", "<QQQB"  # up to version 7.4, and from 7.5 on


@pytest.mark.parametrize(("version", "head"), [(7400, NARROW_FBX), (7500, WIDE_FBX)])
def test_records_of_binary_fbx_have_narrow_or_wide_numbers(version: int, head: str) -> None:
    """A real file, written again; strings that look like objects count for nothing, nor do empty layers."""
    data = data_file("models/maya_blend_shape_cube.fbx").read_bytes()
    assert struct.unpack_from("<I", data, 23) == (7700,)
    records = read_fbx(data, 27, len(data), WIDE_FBX)
    objects = next(record.records for record in records if record.name == b"Objects") or []
    (layer,) = (record for record in objects if record.name == b"AnimationLayer")

    def written() -> Any:
        model = load(data[:23] + struct.pack("<I", version) + write_fbx(records, 27, head), "fbx")
        times = np.linspace(0, model.clips[0].duration, 9)
        return codes(model), model.pose(0, times).morph_weights.tolist()

    whole = load(data, "fbx")
    truth = whole.pose(0, np.linspace(0, whole.clips[0].duration, 9)).morph_weights
    assert truth.max() > 0.9 and written() == (codes(whole), truth.tolist())
    for number in (1, 2):
        other = layer.properties[:1] + struct.pack("<q", number) + layer.properties[9:]
        objects.append(FbxRecord(layer.name, layer.count, other, layer.records))
    assert written() == (codes(whole), truth.tolist())


def test_old_fbx_is_refused_with_a_remedy() -> None:
    with pytest.raises(skinpy.LoadError, match=r"FBX version 6\.1.*before 2011.*convert.*FBX 2011 or newer"):
        load(cases.fbx(version=6100), "fbx")


# ---- materials and textures ----------------------------------------------------------------------------


def textured(image: dict[str, Any]) -> Gltf:
    file = Gltf()
    file.materials = [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]
    file.node(mesh=file.mesh(triangle(file, material=0)))
    document = file.document()
    document["textures"], document["images"] = [{"source": 0}], [image]
    file.document = lambda: document  # type: ignore[method-assign]
    return file


def test_material_of_gltf() -> None:
    file = Gltf()
    pbr = {"baseColorFactor": [0.1, 0.2, 0.3, 0.4]}
    file.materials = [
        {"name": "glass", "pbrMetallicRoughness": pbr, "doubleSided": True, "alphaMode": "BLEND"},
        {"alphaMode": "MASK", "alphaCutoff": 0.25},
        {},
    ]
    file.node(mesh=file.mesh(triangle(file, material=0)))
    glass, mask, plain = load(file).materials
    assert (glass.name, glass.double_sided, glass.alpha) == ("glass", True, "blend")
    assert glass.base_color == pytest.approx([0.1, 0.2, 0.3, 0.4])
    assert (mask.alpha, mask.alpha_cutoff) == ("mask", 0.25)
    assert (plain.alpha, plain.texture, tuple(plain.base_color)) == ("opaque", None, (1, 1, 1, 1))


def test_texture_transform() -> None:
    """Scale, turn against the clock (v points down), offset; the transform's own texCoord wins."""
    file = Gltf()
    transform = {"offset": [0.5, 0.25], "rotation": np.pi / 2, "scale": [2, 3], "texCoord": 1}
    use = {"index": 0, "extensions": {"KHR_texture_transform": transform}}
    file.materials = [{"pbrMetallicRoughness": {"baseColorTexture": use}}, {}]
    primitive = triangle(file, uvs=np.zeros((3, 2)), material=0)
    primitive["attributes"]["TEXCOORD_1"] = file.accessor(np.ones((3, 2)))
    file.node(mesh=file.mesh(primitive))
    model = load(file)
    moved, plain = (np.asarray(material.uv_transform) for material in model.materials)
    assert np.allclose(moved @ [1, 0, 1], [0.5, 0.25 - 2, 1], atol=1e-6)
    assert np.allclose(moved @ [0, 1, 1], [0.5 + 3, 0.25, 1], atol=1e-6)
    assert np.array_equal(plain, np.eye(3)) and (model.mesh.uvs == 1).all()


def test_texture_transforms_of_other_formats() -> None:
    """Files count v from the bottom up; the model's uvs and its transforms go from the top down."""
    flip = np.array([[1, 0, 0], [0, -1, 1], [0, 0, 1]])
    words = "<repeatU>2</repeatU><repeatV>4</repeatV><offsetU>0.25</offsetU><offsetV>0.5</offsetV>"
    maya = load(cases.dae_textured(words), "dae").materials[0]  # coordinates * repeat + offset
    want = np.array([[2, 0, 0.25], [0, 4, 0.5], [0, 0, 1]])
    assert np.array(maya.uv_transform) == pytest.approx(flip @ want @ flip)
    properties = (
        cases.fbx_property("Translation", "Vector", 0.25, 0.5, 0)
        + cases.fbx_property("Rotation", "Vector", 0, 0, 30)
        + cases.fbx_property("Scaling", "Vector", 2, 4, 1)
    )
    placed = load(cases.fbx_textured(properties), "fbx").materials[0]  # it places the texture: the inverse
    c, s = np.cos(np.pi / 6), np.sin(np.pi / 6)
    texture = np.array([[1, 0, 0.25], [0, 1, 0.5], [0, 0, 1]]) @ [[c, -s, 0], [s, c, 0], [0, 0, 1]]
    texture = texture @ np.diag([2, 4, 1])
    want = flip @ np.linalg.inv(texture) @ flip
    assert np.array(placed.uv_transform) == pytest.approx(want, abs=1e-6)
    plain = load(cases.fbx_textured(""), "fbx").materials[0]
    assert np.array_equal(np.array(plain.uv_transform), np.eye(3))


def test_texture_beside_the_model(tmp_path: Path) -> None:
    (tmp_path / "a b.png").write_bytes(PNG)
    for uri in ("a%20b.png", "a b.png", "gone/a%20b.png"):
        (tmp_path / "m.gltf").write_bytes(textured({"uri": uri}).gltf())
        texture = load(tmp_path / "m.gltf").materials[0].texture
        assert texture is not None and bytes(texture.data) == PNG and texture.format == "png"


#: How base64 may be written: by JSON's escapes, by those of URIs, in lines, without padding.
ESCAPES: dict[str, Callable[[str], str]] = {
    "json": lambda text: text.replace("+", "\\u002B").replace("/", "\\/"),
    "percent": lambda text: text.replace("+", "%2B").replace("/", "%2f").replace("=", "%3D"),
    "both": lambda text: text.replace("+", "\\u0025\\u0032B"),
    "lines": lambda text: text[:9] + "\\n" + text[9:],
    "bare": lambda text: text.rstrip("="),
}


@pytest.mark.parametrize("how", ESCAPES)
def test_escapes_in_a_data_uri(how: str) -> None:
    """As some writers of JSON make them of "+" and "/"."""
    file = textured({"uri": "data:image/png;base64," + base64.b64encode(PNG).decode()})
    file.blob += bytes(range(256)) * 3  # so that each digit is there
    head, *texts = (part.split('"', 1) for part in file.gltf().decode().split(";base64,"))
    assert len(texts) == 2 and "+" in texts[0][0] + texts[1][0]
    text = '"'.join(head) + "".join(f";base64,{ESCAPES[how](text)}" + '"' + rest for text, rest in texts)
    model, plain = load(text.encode(), "gltf"), load(file)
    assert np.array_equal(model.mesh.positions, plain.mesh.positions) and codes(model) == codes(plain)
    assert bytes(model.materials[0].texture.data) == PNG


def test_data_that_is_no_base64() -> None:
    file = Gltf()
    file.node(mesh=file.mesh(triangle(file)))
    text = file.gltf().replace(b";base64,", b";base64,AAAA*")
    with pytest.raises(skinpy.LoadError, match=r"buffers\[0\] has 3 bytes; its byteLength is"):
        load(text, "gltf")


def test_data_in_percents() -> None:
    """Without base64 a data URI holds its bytes as they are, zeros too."""
    file = Gltf()
    file.node(mesh=file.mesh(triangle(file, positions=[[0, 0, 0], [1, 0, 0], [0, 2, 0]])))
    document = file.document()
    document["buffers"][0]["uri"] = "data:," + "".join(f"%{byte:02x}" for byte in file.blob)
    mesh = load(json.dumps(document).encode(), "gltf").mesh
    assert mesh.positions.tolist() == [[0, 0, 0], [1, 0, 0], [0, 2, 0]] and mesh.faces.tolist() == [[0, 1, 2]]


def test_texture_inside_the_model() -> None:
    uri = "data:image/png;base64," + base64.b64encode(PNG).decode()
    inside = load(textured({"uri": uri}).gltf(), "gltf").materials[0].texture
    file = textured({"bufferView": 0, "mimeType": "image"})  # a type without "/" makes Assimp read astray
    file.blob += PNG
    view = {"buffer": 0, "byteOffset": len(file.blob) - len(PNG), "byteLength": len(PNG)}
    document = file.document()
    document["bufferViews"].append(view)
    document["images"][0]["bufferView"] = len(document["bufferViews"]) - 1
    document["buffers"][0]["byteLength"] = len(file.blob)
    viewed = load(file).materials[0].texture
    assert bytes(inside.data) == bytes(viewed.data) == PNG and inside.format == viewed.format == "png"


def test_textures_that_cannot_be_had_are_lost(tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(PNG)
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "link.png").symlink_to(tmp_path / "secret.png")
    os.mkfifo(inner / "pipe.png")
    for uri in (
        "none.png",
        "../secret.png",
        "..%2Fsecret.png",
        str(tmp_path / "secret.png"),
        "link.png",
        "pipe.png",
    ):
        (inner / "m.gltf").write_bytes(textured({"uri": uri}).gltf())
        model = load(inner / "m.gltf")
        assert model.materials[0].texture is None, uri
        assert entry(model, "textures_missing").severity == "lost"


def test_textures_of_other_formats(tmp_path: Path) -> None:
    (tmp_path / "wood.png").write_bytes(PNG)
    (tmp_path / "m.mtl").write_text("newmtl wood\nKd 0.5 0.25 1\nd 0.5\nmap_Kd C:\\\\art\\\\wood.png\n")
    (tmp_path / "m.obj").write_bytes(cases.obj(head="mtllib m.mtl\n", middle="usemtl wood\n"))
    model = load(tmp_path / "m.obj")
    material = model.materials[model.mesh.submeshes[0].material]
    assert material.name == "wood" and material.base_color == pytest.approx([0.5, 0.25, 1, 0.5])
    assert material.alpha == "blend" and bytes(material.texture.data) == PNG


# ---- files ---------------------------------------------------------------------------------------------


def test_buffers_beside_the_model(tmp_path: Path) -> None:
    file = builders.chain(3)
    document = file.document()
    document["buffers"][0]["uri"] = "data%20file.bin"
    (tmp_path / "data file.bin").write_bytes(bytes(file.blob))
    (tmp_path / "m.gltf").write_text(json.dumps(document))
    assert np.array_equal(load(tmp_path / "m.gltf").mesh.positions, load(file).mesh.positions)
    (tmp_path / "data file.bin").unlink()
    with pytest.raises(skinpy.LoadError, match=r"m\.gltf.*data file\.bin"):
        load(tmp_path / "m.gltf")


@pytest.mark.parametrize(
    "name", ["../secret.bin", "..\\secret.bin", "x/../../secret.bin", "link.bin", "pipe.bin", "ABSOLUTE"]
)
def test_nothing_outside_the_folder_is_read(tmp_path: Path, name: str) -> None:
    file = builders.chain(3)
    (tmp_path / "secret.bin").write_bytes(bytes(file.blob))
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "link.bin").symlink_to("../secret.bin")
    os.mkfifo(inner / "pipe.bin")
    document = file.document()
    document["buffers"][0]["uri"] = str(tmp_path / "secret.bin") if name == "ABSOLUTE" else name
    (inner / "m.gltf").write_text(json.dumps(document))
    with pytest.raises(skinpy.LoadError, match="not a file in the model's folder"):
        load(inner / "m.gltf")


def test_bytes_have_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = builders.chain(3)
    (tmp_path / "data.bin").write_bytes(bytes(file.blob))
    monkeypatch.chdir(tmp_path)
    document = file.document()
    document["buffers"][0]["uri"] = "data.bin"
    with pytest.raises(skinpy.LoadError, match=r"data\.bin"):
        load(json.dumps(document).encode(), "gltf")


def test_a_material_library_outside_is_reported(tmp_path: Path) -> None:
    (tmp_path / "secret.mtl").write_text("newmtl red\nKd 1 0 0\n")
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "m.obj").write_bytes(cases.obj(head="mtllib ../secret.mtl\n", middle="usemtl red\n"))
    model = load(inner / "m.obj")
    assert entry(model, "files_refused").first == "'../secret.mtl'"
    assert all(tuple(material.base_color) != (1, 0, 0, 1) for material in model.materials)


def test_a_texture_of_another_machine_is_looked_for_beside_the_model(tmp_path: Path) -> None:
    (tmp_path / "wood.png").write_bytes(PNG)
    for name in ("C:\\art\\wood.png", "/art/wood.png", "../../art/wood.png"):
        (tmp_path / "m.gltf").write_bytes(textured({"uri": name}).gltf())
        model = load(tmp_path / "m.gltf")
        assert model.materials[0].texture is not None and not model.report.lost, name
        (tmp_path / "m.gltf").write_bytes(textured({"uri": name.replace("wood", "gone")}).gltf())
        assert [lost.code for lost in load(tmp_path / "m.gltf").report.lost] == ["textures_missing"], name


def test_a_material_library_that_is_gone_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "m.obj"
    path.write_bytes(cases.obj(head="mtllib gone.mtl\n", middle="usemtl red\n"))
    for source, format in ((path, None), (path.read_bytes(), "obj")):
        assert entry(load(source, format), "files_missing").first == "'gone.mtl'"
    (tmp_path / "gone.mtl").write_text("newmtl red\nKd 1 0 0\n")
    assert not load(path).report.lost
    path.write_bytes(cases.obj())  # one that needs none
    assert not load(path).report.lost


def test_colors_lie_between_0_and_1() -> None:
    file = Gltf()
    file.materials.append({"pbrMetallicRoughness": {"baseColorFactor": [1.004, -1, 0.5, 2]}})
    file.node(mesh=file.mesh(triangle(file, material=0)))
    assert tuple(load(file).materials[0].base_color) == (1, 0, 0.5, 1)


@pytest.mark.parametrize("text", [b"garbage\n" * 50, b"# nothing\n" * 5])
def test_text_without_a_mesh_is_no_obj(text: bytes) -> None:
    with pytest.raises(skinpy.LoadError, match=r"no mesh in the file.*\.obj"):
        load(text, "obj")


@pytest.mark.parametrize("version", ["1.0", "1.1", 1, 1.0])
def test_gltf_1_is_refused_by_name(version: str | float) -> None:
    with pytest.raises(skinpy.LoadError, match="glTF 1 is not read"):
        load(json.dumps({"asset": {"version": version}, "nodes": {}}).encode(), "gltf")
    with pytest.raises(skinpy.LoadError, match="glTF 1 is not read"):
        load(struct.pack("<4sIIII", b"glTF", 1, 24, 4, 0) + b"{}  ", "glb")


def test_formats_by_content() -> None:
    file = builders.chain(3)
    assert load(file.glb()).mesh.positions.shape == load(file.gltf()).mesh.positions.shape
    assert load(cases.bvh()).clips[0].name == "Motion"
    assert load(cases.x_file()).skeleton.names[0] == "root"
    assert len(load(cases.fbx()).skeleton) == 3
    animation = data_file("models", "RiggedFigure.md5anim").read_bytes()
    assert len(load(animation).clips) == 1 == len(load(animation, "md5anim").clips)
    assert len(load(cases.dae(nodes='<node id="a"/>')).skeleton) == 2


@pytest.mark.parametrize(
    ("format", "words"),
    [("usdz", "USD.*missing"), ("m3d", "M3D.*missing"), ("odt", r"suffix \.odt.*\.glb")],
)
def test_formats_that_cannot_be_read(format: str, words: str) -> None:
    with pytest.raises(skinpy.LoadError, match=words):
        load(b"something", format)


def test_required_extensions_that_are_not_known_are_reported() -> None:
    document = json.loads(builders.chain(3).gltf()) | {
        "extensionsRequired": ["ACME_feathers", "KHR_materials_unlit"]
    }
    assert entry(load(json.dumps(document).encode(), "gltf"), "extensions_ignored").first == "ACME_feathers"


@pytest.mark.parametrize("suffix", ["fbx", "dae", "bvh", "x", "obj", "md5mesh", "glb", "gltf", "stl", "ply"])
def test_empty_and_broken_files_name_themselves(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"broken.{suffix}"
    path.write_bytes(b"")
    with pytest.raises(
        skinpy.LoadError, match=rf"broken\.{suffix}: the file is empty; download or export it again$"
    ):
        load(path)
    if suffix not in ("obj", "x"):
        path.write_bytes(b"\x01\x02 nothing of the kind " * 9)
        with pytest.raises(skinpy.LoadError, match=rf"broken\.{suffix}: \S+"):
            load(path)


@pytest.mark.parametrize(
    "text",
    [
        b"{",
        b"[]",
        b"{}x",
        b'{"asset":{"version":"2.0"}',
        b'{"a":}',
        b'{"asset":' + b"[" * 9000 + b"]" * 9000 + b"}",
    ],
)
def test_json_that_is_none(text: bytes) -> None:
    with pytest.raises(skinpy.LoadError, match="JSON"):
        load(text, "gltf")


def test_binary_gltf_cut_short() -> None:
    whole = builders.chain(4).glb()
    for length in (4, 11, 19, 40, 200, len(whole) - 300):
        with pytest.raises(skinpy.LoadError):
            load(whole[:length], "glb")


def test_missing_files_and_folders(tmp_path: Path) -> None:
    for name in ("none.glb", "none/none.fbx"):
        with pytest.raises(FileNotFoundError):
            load(tmp_path / name)
    (tmp_path / "folder.glb").mkdir()
    with pytest.raises(skinpy.LoadError, match=r"folder\.glb"):
        load(tmp_path / "folder.glb")


def test_threads_hear_their_own_words(tmp_path: Path) -> None:
    """Assimp's error text is one for the whole process."""
    words: dict[str, list[str]] = {}
    broken = {"bvh": b"HIERARCHY\nnonsense", "fbx": b"Kaydara nothing", "gltf": b"{", "stl": b"solid"}
    for suffix, data in broken.items():
        (tmp_path / f"t.{suffix}").write_bytes(data)

    def work(suffix: str) -> None:
        for _ in range(20):
            with pytest.raises(skinpy.LoadError) as caught:
                load(tmp_path / f"t.{suffix}")
            words.setdefault(suffix, []).append(str(caught.value))

    threads = [threading.Thread(target=work, args=(suffix,)) for suffix in broken]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(words) == set(broken) and all(len(set(said)) == 1 for said in words.values())


# ---- numbers of a glTF that lie ------------------------------------------------------------------------


def breakage(change: Callable[[dict[str, Any]], None]) -> bytes:
    document = json.loads(builders.chain(4).gltf())
    change(document)
    return json.dumps(document).encode()


BROKEN: dict[str, Callable[[dict[str, Any]], Any]] = {
    "accessor beyond its view": lambda d: d["accessors"][0].update(count=10**6),
    "accessor with a huge count": lambda d: d["accessors"][0].update(count=2**40),
    "accessor before its view": lambda d: d["accessors"][0].update(byteOffset=-4),
    "accessor of no type": lambda d: d["accessors"][0].update(type="VEC9"),
    "accessor of no component": lambda d: d["accessors"][0].update(componentType=1),
    "accessor that is absent": lambda d: d["meshes"][0]["primitives"][0]["attributes"].update(POSITION=99),
    "view beyond its buffer": lambda d: d["bufferViews"][0].update(byteOffset=10**9),
    "view of no buffer": lambda d: d["bufferViews"][0].update(buffer=7),
    "buffer shorter than it says": lambda d: d["buffers"][0].update(byteLength=10**9),
    "buffer without data": lambda d: d["buffers"][0].pop("uri"),
    "joint that is no node": lambda d: d["skins"][0]["joints"].append(99),
    "fewer inverse binds than joints": lambda d: d["skins"][0]["joints"].extend([0, 0]),
    "scene of a node that is absent": lambda d: d["scenes"][0]["nodes"].append(99),
    "indices that are floats": lambda d: d["meshes"][0]["primitives"][0].update(
        indices=d["animations"][0]["samplers"][0]["input"]
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_numbers_that_lie_are_refused(name: str) -> None:
    broken = breakage(BROKEN[name])
    if name == "accessor before its view":  # no offset at all
        assert len(load(broken, "gltf").skeleton)
        return
    with pytest.raises(skinpy.LoadError):
        load(broken, "gltf")


def test_sparse_accessors_that_lie() -> None:
    for change in ({"count": 10**6}, {"indices": {}}, {"values": {"bufferView": 0, "byteOffset": 10**7}}):
        document = json.loads(builders.sparse_accessors().gltf())
        next(a for a in document["accessors"] if "sparse" in a)["sparse"].update(change)
        with pytest.raises(skinpy.LoadError):
            load(json.dumps(document).encode(), "gltf")


# ---- the shared data -----------------------------------------------------------------------------------


def check_sanity(model: Any) -> None:
    """Whatever a file says, what comes out can be used."""
    assert np.isfinite(model.globals(None, 0.0)).all() and len(model.skeleton)
    assert np.abs(np.linalg.norm(model.skeleton.rotation, axis=1) - 1).max() < 1e-5
    if len(model.mesh.positions):
        assert np.abs(model.mesh.weights.sum(1) - 1).max() < 1e-6
        assert model.mesh.faces.max(initial=0) < len(model.mesh.positions)
        assert model.mesh.slots.max() < len(model.skin)
    for clip in model.clips:
        assert np.isfinite(clip.duration) and clip.duration >= 0
        for channel in clip.channels:
            assert (np.diff(channel.times) > 0).all() and np.isfinite(channel.values).all()
        assert np.isfinite(model.joint_positions(clip, clip.duration / 3)).all()


REFUSED = {"skin_ibm_short.gltf", "hugecount.gltf", "negjoint.gltf", "sparse.gltf"}
EXPECTED = {
    "channel_bad_node.gltf": "channels_dropped",
    "cubic_short.gltf": "channels_dropped",
    "ibm_zero.gltf": "numbers_repaired",
    "joint_out_of_range.gltf": "joint_index_out_of_range",
    "normals_short.gltf": "normals_generated",
    "quat_huge.gltf": "rotations_normalized",
    "quat_zero.gltf": "numbers_repaired",
    "skin_no_ibm.gltf": "inverse_bind_missing",
    "times_inf.gltf": "key_times_repaired",
    "translation_inf.gltf": "numbers_repaired",
    "weights_inf.gltf": "weights_repaired",
    "weights_negative.gltf": "weights_repaired",
    "weights_sum5.gltf": "weights_normalized",
    "zero_length_clip.gltf": "key_times_repaired",
    "cycle.gltf": "nodes_with_two_parents",
}


def test_hostile_gltf(shared_data: Path) -> None:
    """Each broken glTF gives a sane model that says what was repaired, or a LoadError."""
    files = sorted(
        [*shared_data.glob("hostile/semantic/*.gltf"), *shared_data.glob("hostile/resource/*.gltf")]
    )
    assert len(files) > 20
    for path in files:
        if path.name in REFUSED:
            with pytest.raises(skinpy.LoadError, match=path.name):
                load(path)
            continue
        model = load(path)
        check_sanity(model)
        assert EXPECTED.get(path.name) in {None, *codes(model)}, f"{path.name}: {model.report}"


def test_escapes_from_the_folder(shared_data: Path) -> None:
    folder = shared_data / "hostile/escape/model"
    for path in sorted(folder.glob("*.gltf")):
        with pytest.raises(skinpy.LoadError):
            load(path)
    assert "files_refused" in codes(load(folder / "dotdot.obj"))


MODELS = (
    "Fox.glb",
    "RiggedFigure.glb",
    "RiggedFigure.dae",
    "huesitos.fbx",
    "anim_test.x",
    "RiggedFigure.md5mesh",
)


@pytest.mark.parametrize("name", MODELS)
def test_shared_models(name: str) -> None:
    check_sanity(load(data_file("models", name)))


def test_what_the_shared_models_report() -> None:
    figure = load(data_file("models", "RiggedFigure.glb"))
    assert entry(figure, "weights_normalized").count == 31 and len(figure.mesh.positions) == 370
    assert figure.skeleton.names[0] == "nodes[0]" and not np.allclose(
        figure.skeleton.rest_local[0], np.eye(4)
    )
    assert entry(load(data_file("models", "anim_test.x")), "bones_without_node").count == 2
    eight = load(data_file("models", "RiggedFigure.dae"), max_influences=8)
    assert "influences_dropped" not in codes(eight) and (eight.mesh.weights[:, 4] > 0).any()
    morphs = load(data_file("models", "AnimatedMorphCube.gltf"))
    assert codes(morphs) == {"attributes_ignored"}  # tangents of its targets
    assert len(morphs.targets) == 2 and morphs.clips[0].duration > 4
    assert entry(load(data_file("models", "faerie.md2")), "morph_targets_dropped").count == 197
    sausage = load(data_file("models", "maya_game_sausage.fbx"))
    assert "curve_keys_added" in codes(sausage) and not sausage.report.lost


def test_one_warning_when_something_was_lost() -> None:
    file = Gltf()
    file.node(mesh=file.mesh(file.primitive(cases_square(), [[0, 1, 2], [0, 1, 77]])))
    with pytest.warns(skinpy.SkinpyWarning, match="vertices that do not exist") as caught:
        skinpy.load(file.glb())
    assert len(caught) == 1


def test_the_header_of_a_binary_may_lie() -> None:
    whole = bytearray(builders.chain(3).glb())
    struct.pack_into("<I", whole, 8, 2**31)  # its length
    assert len(load(bytes(whole), "glb").skeleton)
    struct.pack_into("<I", whole, 12, 2**31)  # the length of its JSON
    with pytest.raises(skinpy.LoadError, match="JSON"):
        load(bytes(whole), "glb")
