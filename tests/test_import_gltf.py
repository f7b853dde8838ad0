"""What glTF has beside its tree, skins and keys: instances, visibility, sparse accessors, further attributes.

The expected values are written from the specifications of glTF 2.0 and of its extensions, with NumPy.
"""

from typing import Any

import numpy as np
import pytest
from builders import Gltf, about, all_attributes, make_sparse, matrix_of

import skinpy

CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], float)


def load(file: Gltf, **options: Any) -> skinpy.Model:
    return skinpy.load(file.glb(), format="glb", isolate=False, **options)


def lossy(file: Gltf, **options: Any) -> skinpy.Model:
    with pytest.warns(skinpy.SkinpyWarning):
        return load(file, **options)


def codes(model: skinpy.Model) -> dict[str, str]:
    return {entry.code: entry.first for entry in model.report}


def triangle(file: Gltf, **more: Any) -> dict[str, Any]:
    return file.primitive(CORNERS, [[0, 1, 2]], normals=np.tile([0, 0, 1.0], (3, 1)), **more)


# ---- EXT_mesh_gpu_instancing -----------------------------------------------------------------------------


def instanced(file: Gltf, node: int, **attributes: int) -> None:
    file.nodes[node].setdefault("extensions", {})["EXT_mesh_gpu_instancing"] = {"attributes": attributes}


def rows(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    q = rng.normal(size=(count, 4))
    return (
        rng.normal(size=(count, 3)),
        q / np.linalg.norm(q, axis=1)[:, None],
        rng.uniform(0.5, 2, (count, 3)),
    )


def test_each_instance_is_a_joint_below_the_node() -> None:
    """The matrix of an instance is that of its node times its own T * R * S."""
    t, r, s = rows(np.random.default_rng(1), 3)
    file = Gltf()
    root = file.node("root", t=(0, 5, 0))
    many = file.node("many", root, r=about((0, 0, 1), 90), mesh=file.mesh(triangle(file), triangle(file)))
    file.node("child", many, t=(0, 0, 1))
    instanced(
        file, many, TRANSLATION=file.accessor(t), ROTATION=file.accessor(r), SCALE=file.accessor(s), _ID=0
    )
    model = load(file)
    assert model.skeleton.names == ("root", "many", "many/0", "many/1", "many/2", "child")
    assert model.skeleton.parents.tolist() == [-1, 0, 1, 1, 1, 1]
    assert [one.node for one in model.mesh.submeshes] == [2, 2, 3, 3, 4, 4] and len(model.mesh.faces) == 6
    above = matrix_of((0, 5, 0), (0, 0, 0, 1), (1, 1, 1)) @ matrix_of(
        (0, 0, 0), about((0, 0, 1), 90), (1, 1, 1)
    )
    places = [above @ matrix_of(t[i], r[i], s[i]) for i in range(3)]
    expected = np.concatenate([CORNERS @ m[:3, :3].T + m[:3, 3] for m in places for _ in range(2)])
    assert np.abs(model.deform(model.pose())[0] - expected).max() < 1e-5
    assert not model.report


def test_a_channel_of_the_node_moves_all_instances() -> None:
    file = Gltf()
    many = file.node("many", mesh=file.mesh(triangle(file)))
    instanced(file, many, TRANSLATION=file.accessor([[0, 0, 0], [0, 0, 7]]))
    file.animation("go", file.channel(many, "translation", [0, 1], [[0, 0, 0], [4, 0, 0]]))
    model = load(file)
    positions = model.deform(model.pose("go", 0.5))[0]
    assert np.allclose(positions, np.concatenate([CORNERS + [2, 0, 0], CORNERS + [2, 0, 7]]))


def test_morph_targets_move_all_instances() -> None:
    file = Gltf()
    primitive = triangle(file)
    up = [[0, 0, 0], [0, 0, 2], [0, 0, 0]]
    primitive["targets"] = [{"POSITION": file.accessor(up)}, {"POSITION": file.accessor(np.array(up) * -3)}]
    mesh = file.mesh(primitive)
    file.meshes[mesh]["weights"] = [0.5, 0]
    many = file.node("many", mesh=mesh)
    instanced(file, many, TRANSLATION=file.accessor([[0, 0, 0], [0, 9, 0]]))
    file.animation("blink", file.channel(many, "weights", [0, 1], [[0], [0], [1], [0.5]]))
    model = load(file)
    assert len(model.targets) == 4 and len(model.clips[0].channels) == 4
    still, moved = model.deform(model.pose())[0], model.deform(model.pose(0, 1.0))[0]
    assert np.allclose(still[[1, 4], 2], 1) and np.allclose(moved[[1, 4], 2], 2 - 3)
    assert np.allclose(moved[3:, 1] - moved[:3, 1], 9)


def test_whole_numbers_as_rotations() -> None:
    """A quaternion of normalized bytes is made a unit one; that is no repair."""
    file = Gltf()
    many = file.node("many", mesh=file.mesh(triangle(file)))
    bytes_of = np.array([[0, 0, 90, 90], [0, 0, 0, 127]])
    instanced(file, many, ROTATION=file.accessor(bytes_of, "i1", normalized=True))
    model = load(file)
    expected = CORNERS @ matrix_of((0, 0, 0), about((0, 0, 1), 90), (1, 1, 1))[:3, :3].T
    assert np.allclose(model.deform(model.pose())[0][:3], expected, atol=1e-6) and not model.report


@pytest.mark.parametrize("fault", ["counts", "empty", "skinned"])
def test_instances_that_cannot_be_shown_leave_one(fault: str) -> None:
    file = Gltf()
    weights = {"joints": np.zeros((3, 4)), "weights": np.tile([1.0, 0, 0, 0], (3, 1))}
    many = file.node("many", mesh=file.mesh(triangle(file, **(weights if fault == "skinned" else {}))))
    two, three = file.accessor(np.ones((2, 3))), file.accessor(np.ones((3, 3)))
    if fault == "skinned":
        file.nodes[many]["skin"] = file.skin([file.node("joint")], np.eye(4)[None])
    more = {"counts": {"TRANSLATION": two, "SCALE": three}, "empty": {}, "skinned": {"TRANSLATION": two}}
    instanced(file, many, **more[fault])
    model = lossy(file)
    assert len(model.mesh.positions) == 3 and codes(model)["instances_dropped"] == "nodes[0]"


def test_numbers_of_instances_are_repaired() -> None:
    file = Gltf()
    many = file.node("many", mesh=file.mesh(triangle(file)))
    place, turn = np.array([[np.nan, 1, 0], [2, 0, 0]]), np.array([[0, 0, 0, 2.0], [0, 0, 0, 0]])
    places = file.accessor(place)
    del file.accessors[places]["min"], file.accessors[places]["max"]  # JSON has no NaN
    instanced(file, many, TRANSLATION=places, ROTATION=file.accessor(turn))
    model = load(file)
    assert np.allclose(
        model.deform(model.pose())[0], np.concatenate([CORNERS + [0, 1, 0], CORNERS + [2, 0, 0]])
    )
    assert set(codes(model)) == {"numbers_repaired", "rotations_normalized"}


def test_a_bad_kind_of_number_is_refused() -> None:
    file = Gltf()
    instanced(file, file.node(mesh=file.mesh(triangle(file))), TRANSLATION=file.accessor(np.ones((2, 4))))
    with pytest.raises(skinpy.LoadError, match=r"nodes\[0\]: the TRANSLATION of its instances has 4 numbers"):
        load(file)


@pytest.mark.parametrize(("limit", "most"), [("vertices", 300), ("nodes", 101), ("depth", 2)])
def test_instances_count_against_the_limits(limit: str, most: int) -> None:
    """100 instances of a triangle, below one node."""
    file = Gltf()
    many = file.node("many", mesh=file.mesh(triangle(file)))
    instanced(file, many, TRANSLATION=file.accessor(np.zeros((100, 3))))
    assert len(load(file, limits=skinpy.Limits(**{limit: most})).mesh.positions) == 300
    with pytest.raises(skinpy.LimitExceeded):
        load(file, limits=skinpy.Limits(**{limit: most - 1}))


def test_a_short_file_makes_no_endless_model() -> None:
    """An accessor without bytes may state any count."""
    file = Gltf()
    instanced(file, file.node(mesh=file.mesh(triangle(file))), TRANSLATION=len(file.accessors))
    file.accessors.append({"componentType": 5126, "count": 2_000_000, "type": "VEC3"})
    with pytest.raises(skinpy.LoadError, match="more than 1048576 nodes"):
        load(file)


# ---- KHR_node_visibility ---------------------------------------------------------------------------------


def test_what_lies_below_an_invisible_node_is_hidden() -> None:
    file = Gltf()
    mesh = file.mesh(triangle(file))
    off = file.node("off", mesh=mesh)
    inner = file.node("inner", off, mesh=mesh)
    file.node("on", mesh=mesh)
    many = file.node("many", inner, mesh=mesh)
    instanced(file, many, TRANSLATION=file.accessor(np.zeros((2, 3))))
    for node, visible in ((off, False), (inner, True)):
        file.nodes[node].setdefault("extensions", {})["KHR_node_visibility"] = {"visible": visible}
    model = load(file)
    seen = {model.skeleton.names[one.node]: one.visible for one in model.mesh.submeshes}
    assert seen == {"off": False, "inner": False, "many/0": False, "many/1": False, "on": True}
    assert not model.report


def test_an_extension_that_is_read_may_be_required() -> None:
    file = Gltf()
    file.node(mesh=file.mesh(triangle(file)))
    document = file.document()
    document["extensionsRequired"] = ["KHR_node_visibility", "EXT_mesh_gpu_instancing", "XYZ_unknown"]
    file.document = lambda: document  # type: ignore[method-assign]
    assert codes(lossy(file)) == {"extensions_ignored": "XYZ_unknown"}


# ---- accessors -------------------------------------------------------------------------------------------


def test_every_accessor_may_be_sparse() -> None:
    """The same file, dense, and with every accessor sparse over a wrong base: the arrays are equal."""
    dense, sparse = all_attributes(), all_attributes()
    rng = np.random.default_rng(5)
    for index in range(len(sparse.accessors)):
        make_sparse(sparse, index, rng)
    a, b = load(dense), load(sparse)
    for name in ("positions", "normals", "uvs", "colors", "tangents", "slots", "weights", "faces"):
        assert np.array_equal(getattr(a.mesh, name), getattr(b.mesh, name)), name
    assert np.array_equal(a.skin.inverse_bind, b.skin.inverse_bind)
    for time in (0, 0.3, 0.9, 1.7):
        assert np.array_equal(a.deform(a.pose(0, time))[0], b.deform(b.pose(0, time))[0])


def test_sparse_over_nothing_starts_from_zero() -> None:
    file = Gltf()
    primitive = triangle(file)
    primitive["attributes"]["POSITION"] = file.sparse(None, 3, [1, 2], CORNERS[1:])
    file.node(mesh=file.mesh(primitive))
    assert np.array_equal(load(file).mesh.positions, CORNERS.astype("f4"))


def test_more_values_than_keys_are_reported() -> None:
    file = Gltf()
    node = file.node("box", mesh=file.mesh(triangle(file)))
    channel = file.channel(node, "translation", [0, 1], [[0, 0, 0], [4, 0, 0]])
    channel["sampler"]["output"] = file.accessor([[0, 0, 0], [4, 0, 0], [9, 9, 9]])
    file.animation("long", channel)
    model = lossy(file)
    assert codes(model) == {"values_without_times": "animations[0].channels[0]: 3 values for 2 times"}
    assert np.allclose(model.globals(0, 1.0)[0, :3, 3], (4, 0, 0))


# ---- attributes ------------------------------------------------------------------------------------------


def test_attributes_that_are_not_kept_are_reported() -> None:
    file = Gltf()
    primitive = triangle(file, uvs=CORNERS[:, :2])
    extra = file.accessor(CORNERS[:, :2])
    primitive["attributes"] |= {"TEXCOORD_1": extra, "COLOR_1": file.accessor(np.eye(3)), "_HEAT": extra}
    file.node(mesh=file.mesh(primitive))
    model = skinpy.load(file.glb(), format="glb")
    (entry,) = model.report
    assert (entry.code, entry.severity, entry.count) == ("attributes_ignored", "repaired", 3)
    assert entry.first == "meshes[0].primitives[0].TEXCOORD_1"


@pytest.mark.parametrize("where", ["texture", "transform"])
def test_the_base_color_chooses_the_texture_coordinates(where: str) -> None:
    """texCoord of the texture, which KHR_texture_transform may replace."""
    file = Gltf()
    second = CORNERS[:, :2] * 0.5
    primitive = triangle(file, uvs=CORNERS[:, :2], material=0)
    primitive["attributes"]["TEXCOORD_1"] = file.accessor(second)
    use: dict[str, Any] = {"index": 0, "texCoord": 1}
    if where == "transform":
        use = {"index": 0, "extensions": {"KHR_texture_transform": {"texCoord": 1}}}
    file.materials.append({"pbrMetallicRoughness": {"baseColorTexture": use}})
    file.node(mesh=file.mesh(primitive))
    model = lossy(file)
    assert np.array_equal(model.mesh.uvs, second.astype("f4"))
    assert codes(model)["attributes_ignored"] == "meshes[0].primitives[0].TEXCOORD_0"


def test_tangents_and_colors_of_targets_are_reported() -> None:
    file = Gltf()
    primitive = triangle(file)
    move = file.accessor(np.ones((3, 3)))
    primitive["targets"] = [{"POSITION": move, "TANGENT": move, "COLOR_0": move}]
    file.node(mesh=file.mesh(primitive))
    model = skinpy.load(file.glb(), format="glb")
    (entry,) = model.report
    assert (entry.code, entry.count) == ("attributes_ignored", 2)
    assert entry.first == "meshes[0].primitives[0].targets[0].TANGENT"


@pytest.mark.parametrize("name", ["JOINTS_0", "WEIGHTS_0"])
def test_joints_without_weights_are_reported(name: str) -> None:
    file = Gltf()
    primitive = triangle(file)
    primitive["attributes"][name] = file.accessor(np.zeros((3, 4)), "u1" if name == "JOINTS_0" else "f4")
    file.node(mesh=file.mesh(primitive))
    first = f"meshes[0].primitives[0].{name} is without its partner"
    assert codes(lossy(file)) == {"attributes_dropped": first}


# ---- skins -----------------------------------------------------------------------------------------------


def skinned(joints: list[int], file: Gltf) -> int:
    influences = {"joints": np.zeros((3, 4)), "weights": np.tile([1.0, 0, 0, 0], (3, 1))}
    binds = np.tile(np.eye(4), (max(len(joints), 1), 1, 1))
    return file.node("body", mesh=file.mesh(triangle(file, **influences)), skin=file.skin(joints, binds))


def test_joints_outside_the_scene_come_into_it() -> None:
    """The mesh follows its joint, which moves by the root of its own tree; a mesh of that tree stays out."""
    file = Gltf()
    above = file.node("above", t=(0, 3, 0))
    joint = file.node("joint", above, t=(1, 0, 0))
    file.node("unseen", above, mesh=file.mesh(triangle(file)))
    body = skinned([joint], file)
    file.nodes[body]["translation"] = [50, 50, 50]
    file.roots.remove(above)
    file.animation("go", file.channel(above, "translation", [0, 1], [[0, 3, 0], [4, 3, 0]]))
    model = lossy(file)
    assert model.skeleton.names == ("ROOT", "body", "above", "joint", "unseen")
    assert np.allclose(model.deform(model.pose(0, 1.0))[0], CORNERS + [5, 3, 0])
    found = codes(model)
    assert found["joints_outside_scene"] == "nodes[1], a joint of skins[0]"
    assert found["meshes_outside_scene"] == "nodes[2]" and len(found) == 2


def test_a_circle_outside_the_scene_ends() -> None:
    file = Gltf()
    ring = [file.node(f"ring{i}") for i in range(3)]
    skinned([ring[1]], file)
    for i in ring:
        file.nodes[i]["children"] = [ring[(i + 1) % 3]]
        file.roots.remove(i)
    model = lossy(file)
    assert set(model.skeleton.names) == {"ROOT", "body", "ring0", "ring1", "ring2"}
    assert set(codes(model)) == {"joints_outside_scene", "nodes_with_two_parents"}


def test_a_skin_without_joints_leaves_the_mesh_at_its_node() -> None:
    file = Gltf()
    skinned([], file)
    model = load(file)
    assert np.allclose(model.deform(model.pose())[0], CORNERS)
    assert set(codes(model)) == {"joint_index_out_of_range", "vertices_unweighted"}
