"""What real data leaves out, made by script and judged by a glTF reader of the tests' own.

The reader takes the file apart with json and NumPy, so these tests cover the importer, the block, sampling,
hierarchy, palette and skin together: whatever stands in the file has to come out at the vertices.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import builders
import numpy as np
import pytest
from builders import AWKWARD, Gltf
from twin import GltfFile

import skinpy

MODELS: dict[str, Callable[[], Gltf]] = {
    **AWKWARD,
    "chain_200": lambda: builders.chain(200),
    "far_and_farther": lambda: builders.far_away(3e6),
    **{f"seed {s}": lambda s=s: builders.random_model(s) for s in range(10, 16)},
}

# Of max(size, distance from the origin), for chains up to 64 deep: the figure of the specification.
TOLERANCE = 1e-6


def load(file: Gltf, **options: Any) -> Any:
    return skinpy.load(file.glb(), format="glb", **options)


def clip_times(duration: float, seed: int) -> Any:
    """Both ends, and times before, in and after the loop."""
    rng = np.random.default_rng(seed)
    return np.concatenate([[0.0, duration], rng.uniform(-2, 3, 6) * max(duration, 0.25)])


@pytest.mark.parametrize("name", MODELS)
def test_vertices_against_the_file(name: str) -> None:
    """Node matrices and vertices at rest and in every clip, in and out of the loop."""
    file = MODELS[name]()
    model, truth = load(file, max_influences=8), GltfFile(file.glb())
    order, parts = truth.order(), truth.parts()
    cases: list[tuple[int | None, float]] = [(None, 0.0)]
    for q, motion in enumerate(truth.motions):
        cases += [(q, float(t)) for t in clip_times(motion.duration, q)]
    for q, t in cases:
        globals_ = truth.globals(q, t)
        want = np.array([np.eye(4) if n < 0 else globals_[n] for n in order])
        moved = [truth.vertices(p, globals_) for p in parts]
        points = np.concatenate([want[:, :3, 3], *(m[0] for m in moved)])
        reach = max(float(np.linalg.norm(points, axis=1).max()), float(np.ptp(points, axis=0).max()))
        got = model.globals(q, t)
        limit = TOLERANCE * max(1.0, len(order) / 64)
        assert np.abs(got - want)[:, :3, 3].max() <= limit * reach, (q, t)
        assert np.abs(got - want)[:, :3, :3].max() <= limit * max(1.0, np.abs(want[:, :3, :3]).max())
        positions, normals = model.deform(model.palette(q, t))
        assert positions.shape == (sum(len(p.positions) for p in parts), 3)
        for submesh, part, (place, turned) in zip(model.mesh.submeshes, parts, moved, strict=True):
            own = slice(submesh.vertex_range.start, submesh.vertex_range.stop)
            assert np.abs(positions[own] - place).max() <= limit * reach, (q, t, submesh.name)
            compare_normals(normals[own], turned, part, truth, globals_)


def compare_normals(got: Any, want: Any, part: Any, truth: GltfFile, globals_: Any) -> None:
    """Where the blended matrix is not close to flat, which would leave a normal without a direction."""
    if part.skin is None:
        values = np.linalg.svd(globals_[part.node][:3, :3], compute_uv=False)
        firm = np.full(len(want), values[2] > 0.02 * values[0])
    else:
        palette = np.concatenate([truth.palette(part.skin, globals_), globals_[part.node][None]])
        total = part.weights.sum(1, keepdims=True)
        weights = np.divide(part.weights, total, out=np.zeros_like(part.weights), where=total > 0)
        blended = np.einsum("vk,vkij->vij", weights, palette[part.joints])[:, :3, :3]
        values = np.linalg.svd(blended, compute_uv=False)
        firm = (values[:, 2] > 0.05 * values[:, 0]) & (total[:, 0] > 0)
    assert np.abs(got - want).max(-1)[firm].max(initial=0) <= 1e-3


@pytest.mark.parametrize("name", MODELS)
def test_structure_against_the_file(name: str) -> None:
    """Joints depth first in file order with the file's names; vertices and faces as the file has them."""
    file = MODELS[name]()
    model, truth = load(file), GltfFile(file.glb())
    order, parts = truth.order(), truth.parts()
    assert model.skeleton.names[-len(truth.nodes) :] == tuple(truth.name(n) for n in order if n >= 0)
    joint = {node: j for j, node in enumerate(order)}
    parents = [-1 if n < 0 else joint.get(int(truth.parents[n]), joint.get(-1, -1)) for n in order]
    parents[0] = -1
    assert model.skeleton.parents.tolist() == parents
    assert [s.node for s in model.mesh.submeshes] == [joint[p.node] for p in parts]
    for submesh, part in zip(model.mesh.submeshes, parts, strict=True):
        r, f = submesh.vertex_range, submesh.face_range
        assert np.array_equal(model.mesh.positions[r.start : r.stop], part.positions.astype(np.float32))
        assert np.abs(model.mesh.normals[r.start : r.stop] - part.normals).max() <= 1e-6
        assert np.array_equal(model.mesh.faces[f.start : f.stop] - r.start, part.faces)
    assert model.clips.names == tuple(m.name for m in truth.motions)
    for clip, motion in zip(model.clips, truth.motions, strict=True):
        assert clip.duration == motion.duration


@pytest.mark.parametrize("name", MODELS)
def test_channels_against_the_file(name: str) -> None:
    """Interpolation, times, values and tangents as the file has them; a joint gets its own channel."""
    file = MODELS[name]()
    model, truth = load(file), GltfFile(file.glb())
    joint = {node: j for j, node in enumerate(truth.order())}
    for clip, motion in zip(model.clips, truth.motions, strict=True):
        tracks = {(joint[t.joint], t.path): t for t in motion.tracks}
        channels = {(c.joint, c.path): c for c in clip.channels}
        for key, track in tracks.items():
            if key not in channels:  # left out only where it says nothing
                assert np.ptp(track.values, axis=0).max() < 1e-6
                continue
            compare_channel(channels[key], track)
        assert all(np.ptp(channels[k].values, axis=0).max() == 0 for k in channels if k not in tracks)


def compare_channel(channel: Any, track: Any) -> None:
    assert channel.interpolation == track.interpolation or len(track.times) == 1
    assert np.array_equal(channel.times, track.times)  # the file's own float32 seconds
    flip = np.ones((len(track.times), 1))
    if channel.path == "rotation" and track.interpolation != "cubic":
        flip = np.where((channel.values * track.values).sum(1, keepdims=True) < 0, -1, 1)
        assert np.allclose(np.linalg.norm(channel.values, axis=1), 1, atol=2e-7)
    # scale and translation are the file's own floats; a quaternion may have been normalized
    assert np.abs(channel.values * flip - track.values).max() <= 2e-7 * max(1.0, np.abs(track.values).max())
    if track.interpolation == "cubic" and len(track.times) > 1:
        for got, want in (
            (channel.in_tangents, track.in_tangents),
            (channel.out_tangents, track.out_tangents),
        ):
            assert np.abs(got - want).max() <= 5e-7 * max(1.0, float(np.abs(want).max()))


# ---------------------------------------------------------------------------------------------- one by one


def test_more_joints_than_a_byte_holds() -> None:
    model = load(builders.many_joints(300))
    assert len(model.skin.joints) == 300
    assert model.mesh.slots.dtype == np.uint16 and model.mesh.slots.max() == 299


def test_one_joint_with_two_offsets() -> None:
    """Three skins on two joints, two of them with the same offsets: four slots."""
    model = load(builders.two_offsets())
    assert len(model.skin.joints) == 4
    assert sorted(model.skin.joints.tolist()) == sorted(np.repeat(np.unique(model.skin.joints), 2).tolist())
    left, right, again = (range_of(model, n) for n in ("left", "right", "left again"))
    assert np.array_equal(model.mesh.slots[left], model.mesh.slots[again])
    used = [set(model.mesh.slots[own][model.mesh.weights[own] > 0].tolist()) for own in (left, right)]
    assert not used[0] & used[1]


def range_of(model: Any, name: str) -> slice:
    joint = model.skeleton.index(name)
    r = next(s.vertex_range for s in model.mesh.submeshes if s.node == joint)
    return slice(r.start, r.stop)


def test_as_many_slots_as_an_index_holds() -> None:
    """65,534 slots load; one pair more is a LoadError that says how many are allowed."""
    model = load(builders.many_slots(32767))
    assert len(model.skin.joints) == 65534 and model.mesh.slots.max() == 65533
    with pytest.raises(skinpy.LoadError, match="65535"):
        load(builders.many_slots(32768))


def test_a_very_deep_tree() -> None:
    """3,000 joints one below the other are no deep recursion anywhere."""
    model = load(builders.chain(3000, skinned=False))
    end = model.skeleton.rest_global[model.skeleton.index("link2999")]
    assert end[1, 3] == pytest.approx(2999 * 0.05, rel=1e-5)
    assert np.isfinite(model.joint_positions(0, [0.1, 0.7])).all()


@pytest.mark.parametrize("influences", [1, 2, 3, 4, 5, 8])
def test_influences(influences: int) -> None:
    """The largest ones, in order, normalized; what was dropped is in the report."""
    file = builders.eight_influences()
    model, part = load(file, max_influences=influences), GltfFile(file.glb()).parts()[0]
    assert model.mesh.slots.shape == model.mesh.weights.shape == (len(part.positions), influences)
    largest = -np.sort(-part.weights, 1)[:, :influences]
    want = largest / largest.sum(1, keepdims=True)
    assert np.abs(model.mesh.weights - want).max() <= 1e-6
    assert np.abs(model.mesh.weights.astype(np.float64).sum(1) - 1).max() <= 1e-6
    heaviest = np.argsort(-part.weights, 1)[:, 0]
    nodes = GltfFile(file.glb()).json["skins"][0]["joints"]
    names = [f"j{nodes.index(nodes[j])}" for j in part.joints[np.arange(len(heaviest)), heaviest]]
    got = [model.skeleton.names[j] for j in model.skin.joints[model.mesh.slots[:, 0]]]
    assert got == names
    assert (sum(e.count for e in model.report) > 0) == (influences < 8)


def test_a_skinned_mesh_ignores_its_node_and_a_prop_does_not() -> None:
    file = builders.mesh_nodes()
    model = load(file)
    rest, _ = model.deform(model.pose())
    body, sword = range_of(model, "body"), range_of(model, "sword")
    assert np.abs(rest[body] - model.mesh.positions[body]).max() <= 1e-5
    node = model.skeleton.rest_global[model.skeleton.index("sword")]
    want = model.mesh.positions[sword] @ node[:3, :3].T + node[:3, 3]
    assert np.abs(rest[sword] - want).max() <= 1e-5
    slot = int(model.mesh.slots[sword][0, 0])
    assert model.skin.joints[slot] == model.skeleton.index("sword")
    assert np.array_equal(model.skin.inverse_bind[slot], np.eye(4))
    assert model.mesh.weights[sword][0].tolist() == [1, 0, 0, 0]
    moved = model.palette("swing", 0.4)[slot] - model.globals("swing", 0.4)[model.skeleton.index("sword")]
    assert np.abs(moved).max() <= 1e-6


def test_mirrored_normals_point_out() -> None:
    """Under a negative scale the inverse transpose still gives the outward side of a box."""
    model = load(builders.negative_scale())
    left = range_of(model, "left box")
    for t in (None, 0.0, 0.1, 0.6):
        pose = model.pose(None if t is None else 0, t or 0.0)
        positions, normals = (a[left].astype(float) for a in model.deform(pose))
        outward = positions - positions.mean(0)
        assert ((normals * outward).sum(1) > 0).all()


def test_one_mesh_under_several_nodes() -> None:
    model = load(builders.shared_mesh())
    assert len(model.mesh.submeshes) == 6
    assert len(model.mesh.positions) == 144
    wheels = [j for j, n in enumerate(model.skeleton.names) if n == "wheel"]
    assert [s.node for s in model.mesh.submeshes] == sorted(wheels * 2)


def test_duplicate_names_bind_by_place() -> None:
    """Channels and skins find their own node even where names repeat, are empty or are missing."""
    file = builders.awkward_names()
    model, truth = load(file), GltfFile(file.glb())
    order = truth.order()
    got = model.joint_positions(0, 0.5)
    globals_ = truth.globals(0, 0.5)
    assert np.abs(got - [globals_[n][:3, 3] for n in order]).max() <= 1e-5
    assert model.skeleton.index("joint") == 0
    assert "nodes[3]" in model.skeleton.names  # what a node without a name is called
    assert any("name" in e.code for e in model.report)


def test_vertices_that_nobody_holds() -> None:
    """Weights are normalized; vertices without any follow their own node, and both are reported."""
    file = builders.uneven_weights()
    model = load(file)
    assert np.abs(model.mesh.weights.astype(float).sum(1) - 1).max() <= 1e-6
    body = range_of(model, "tube")
    node = model.skeleton.index("tube")
    assert (model.skin.joints[model.mesh.slots[body][20:24, 0]] == node).all()
    assert len(model.report) >= 2


def test_late_first_key() -> None:
    """Clip time 0 is the file's 0; before the first key its value holds."""
    model = load(builders.late_first_key())
    assert model.clips[0].duration == pytest.approx(2.5, abs=1e-6)
    got = model.pose(0, [0.0, 1.0, 1.25, 1.625, 2.5]).translation[:, -1]
    assert got.tolist() == [[1, 0, 0], [1, 0, 0], [1, 0, 0], [1.5, 0, 0], [2, 5, 0]]


def test_unnamed_and_duplicate_clips() -> None:
    """An unnamed clip is called by its number; a name that two clips share means the first, reported."""
    model = load(builders.empty_clip())
    assert model.clips.names == ("move", "clip1", "move")
    assert model.clips["move"].duration == model.clips[0].duration == pytest.approx(1.0, abs=1e-6)
    assert any("clip" in e.code or "clip" in e.message for e in model.report)
    assert model.globals("move", 0.5)[model.skeleton.index("box"), 0, 3] == pytest.approx(0.5, abs=1e-6)


def test_text_and_binary_give_the_same_model(tmp_path: Path) -> None:
    """.glb, .gltf with the buffer inside, a path and bytes: one model."""
    file = builders.mesh_nodes()
    (tmp_path / "m.glb").write_bytes(file.glb())
    (tmp_path / "m.gltf").write_bytes(file.gltf())
    models = [
        load(file),
        skinpy.load(file.gltf(), format="gltf"),
        skinpy.load(tmp_path / "m.glb"),
        skinpy.load(str(tmp_path / "m.gltf")),
    ]
    for model in models[1:]:
        assert np.array_equal(model.palette(0, 0.3), models[0].palette(0, 0.3))
        assert np.array_equal(model.mesh.interleaved, models[0].mesh.interleaved)


def test_interleaved(tmp_path: Path) -> None:
    """The upload-once buffer holds what the single arrays hold, at the offsets that `format` says."""
    for file, influences in (
        (builders.mesh_nodes(), 4),
        (builders.eight_influences(), 8),
        (builders.shear(), 3),
    ):
        mesh = load(file, max_influences=influences).mesh
        rows = mesh.interleaved
        assert rows.shape == (len(mesh.positions),)
        assert np.array_equal(rows["position"], mesh.positions)
        assert np.array_equal(rows["normal"], mesh.normals)
        width = 4 * ((influences + 3) // 4)
        assert rows["slots"].shape[1] == rows["weights"].shape[1] == width
        assert np.array_equal(rows["weights"][:, :influences], mesh.weights)
        assert np.array_equal(rows["slots"][:, :influences], mesh.slots)
        assert not rows["weights"][:, influences:].any()
        sizes = {"f": 4, "u2": 2, "u1": 1, "f1": 1}
        words = mesh.format.split()
        total = sum(int(w[0]) * sizes[w[1:]] for w in words)
        assert rows.dtype.itemsize == total


def test_a_scene_without_anything_to_draw() -> None:
    """No mesh: every job works and gives empty arrays."""
    file = Gltf()
    a = file.node("a", t=(1, 2, 3))
    b = file.node("b", a, t=(0, 1, 0))
    file.animation(
        "turn", file.channel(b, "rotation", (0, 1), [builders.about((1, 0, 0), x) for x in (0, 90)])
    )
    model = load(file)
    assert model.mesh.positions.shape == (0, 3) and model.mesh.faces.shape == (0, 3)
    assert model.palette(0, [0.0, 0.5]).shape == (2, 0, 4, 4)
    positions, normals = model.deform(model.pose(0, 0.5))
    assert positions.shape == normals.shape == (0, 3)
    assert model.joint_positions(0, 0.0)[-1].tolist() == [1, 3, 3]


def test_a_mesh_without_a_clip() -> None:
    file = Gltf()
    p, n, f = builders.box()
    file.node("box", t=(1, 2, 3), mesh=file.mesh(file.primitive(p, f, normals=n)))
    model = load(file)
    assert len(model.clips) == 0 and model.clips.names == ()
    assert np.abs(model.deform(model.pose())[0] - (p + (1, 2, 3))).max() <= 1e-6
    with pytest.raises(KeyError):
        model.pose("walk", 0.0)
    with pytest.raises(IndexError):
        model.pose(0, 0.0)


def test_a_bone_without_a_node(shared_data: Path) -> None:
    """Weights on frames that the file does not have: those slots follow their mesh's node, and it is said."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", skinpy.SkinpyWarning)
        model = skinpy.load(shared_data / "models" / "anim_test.x")
    assert not {"joint3", "joint4"} & set(model.skeleton.names)
    assert len(model.report) > 0
    nodes = {s.node for s in model.mesh.submeshes}
    assert nodes & set(model.skin.joints.tolist())
    for clip in model.clips:
        positions, normals = model.deform(model.palette(clip, times_in(clip)))
        assert np.isfinite(positions).all() and np.isfinite(normals).all()


def times_in(clip: Any) -> Any:
    return np.linspace(0, clip.duration, 5)
