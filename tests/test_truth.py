"""Ground truth: layers against a slow ray caster, joints against the camera's matrices, saved files."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import builders
import numpy as np
import pytest
import truth_twin as twin
from builders import Gltf
from conftest import HANGS

import skinpy
from skinpy.errors import GraphicsError
from skinpy.kinds import UVAnimation, bake_vertices

pytest.importorskip("moderngl", reason="moderngl (the extra `view`) draws the pictures")

import moderngl
from test_render import (
    FRONT,
    PictureGltf,
    bare_skeleton,
    living_objects,
    load,
    one_square,
    square,
    waving,
)
from test_render_kinds import morphing

from skinpy.render import Camera, Floor, GroundTruth, Overlays, Renderer
from skinpy.render.gpu import context as gl
from skinpy.render.truth.layers import AOVS

pytestmark = pytest.mark.usefixtures("opengl")

SIZE = (48, 40)


def truth(model: Any, *arguments: Any, size: tuple[int, int] = SIZE, **options: Any) -> GroundTruth:
    with Renderer(model, size=size) as renderer:
        return renderer.render(*arguments, **options)


def camera_of(model: Any, clip: Any = None, **options: Any) -> Camera:
    return Camera.frame(model.bounds(clip), up=model.up, aspect=SIZE[0] / SIZE[1], **options)


# ------------------------------------------------------------------------------------------------ arguments

BAD: list[tuple[str, Callable[[Renderer], Any], type[Exception], str]] = [
    ("unknown", lambda r: r.render(aov="dept"), ValueError, "'dept'.*'depth'"),
    ("unknown of many", lambda r: r.render(aov=("depth", "colour")), ValueError, "'colour'"),
    ("number", lambda r: r.render(aov=3), TypeError, "aov"),
    ("numbers", lambda r: r.render(aov=(3,)), ValueError, "aov has 3"),
    ("flow_to alone", lambda r: r.render(flow_to=0.1), ValueError, "flow_to.*'flow'"),
    ("flow_camera alone", lambda r: r.render(aov="depth", flow_camera=FRONT), ValueError, "flow_camera"),
    ("flow_pose alone", lambda r: r.render(aov="flow", flow_pose=1), ValueError, "without pose"),
    ("flow_to nan", lambda r: r.render(aov="flow", flow_to=float("nan")), ValueError, "time"),
    ("flow_root", lambda r: r.render(aov="flow", flow_root=np.eye(3)), ValueError, "root"),
    ("clip", lambda r: r.render("curll"), KeyError, "curl"),
    ("time", lambda r: r.render(0, [0.0]), ValueError, "time"),
]


@pytest.mark.parametrize(("case", "call", "error", "match"), BAD, ids=[b[0] for b in BAD])
def test_bad_arguments(
    case: str, call: Callable[[Renderer], Any], error: type[Exception], match: str
) -> None:
    with Renderer(waving(), size=(8, 8)) as renderer, pytest.raises(error, match=match):
        call(renderer)


def test_the_flow_of_a_pose_needs_another() -> None:
    model = waving()
    with Renderer(model, size=(8, 8)) as renderer:
        pose = model.pose(0, 0.2)
        with pytest.raises(ValueError, match="flow_pose"):
            renderer.render(pose=pose, aov="flow")
        with pytest.raises(ValueError, match="flow_pose"):
            renderer.render(pose=pose, aov="flow", flow_to=0.3)


def test_a_closed_renderer_says_so() -> None:
    renderer = Renderer(waving(), size=(8, 8))
    renderer.close()
    with pytest.raises(GraphicsError, match="closed"):
        renderer.render()


def test_a_layer_that_was_not_drawn_says_so() -> None:
    seen = truth(one_square(), aov="depth")
    assert seen.depth.shape == SIZE[::-1]
    with pytest.raises(AttributeError, match=r"aov=\('uv'"):
        _ = seen.uv
    assert list(seen.layers) == ["depth"]
    assert "depth" in repr(seen)


def test_all_layers_have_their_shapes_and_types() -> None:
    seen = truth(waving(), aov=AOVS)
    kinds = {name: (layer.shape[2:], layer.dtype.str) for name, layer in seen.layers.items()}
    assert kinds == {
        "depth": ((), "<f4"),
        "position": ((3,), "<f4"),
        "normal": ((3,), "<f4"),
        "joint": ((), "<i4"),
        "submesh": ((), "<i4"),
        "material": ((), "<i4"),
        "face": ((), "<i4"),
        "barycentric": ((3,), "<f4"),
        "uv": ((2,), "<f4"),
        "flow": ((2,), "<f4"),
    }
    nothing = ~seen.mask
    assert nothing.any()
    assert (seen.depth[nothing] == np.inf).all()
    for name in ("joint", "submesh", "material", "face"):
        assert (seen.layers[name][nothing] == -1).all()
    for name in ("position", "normal", "barycentric", "uv", "flow"):
        assert (seen.layers[name][nothing] == 0).all()


@pytest.mark.parametrize(("aov", "posings"), [("depth", 1), ("flow", 2)])
def test_the_model_is_posed_once(monkeypatch: pytest.MonkeyPatch, aov: str, posings: int) -> None:
    """The picture and its layers need one pose; a flow needs that of the other time too."""
    model, taken = waving(), []
    palette = skinpy.Model.palette

    def counting(self: skinpy.Model, *arguments: Any, **options: Any) -> Any:
        taken.append(arguments)
        return palette(self, *arguments, **options)

    with Renderer(model, size=SIZE, floor=True) as renderer:
        wanted = renderer.render(time=0.2, aov=aov)  # looks at the whole clip, for the camera and the floor
        monkeypatch.setattr(skinpy.Model, "palette", counting)
        before = renderer.uploaded_bytes
        again = renderer.render(time=0.2, aov=aov)
        assert renderer.uploaded_bytes - before == posings * palette_bytes(model)
    assert len(taken) == posings
    assert np.array_equal(again.picture, wanted.picture)


def palette_bytes(model: Any) -> int:
    """Bytes of one palette on its way to the GPU."""
    return 48 * len(model.skin.joints)


def test_the_picture_is_that_of_frame() -> None:
    model = waving()
    with Renderer(model, size=(64, 48), background="#203040", floor=Floor()) as renderer:
        options: dict[str, Any] = {"overlays": Overlays(skeleton=True)}
        assert (renderer.render(0, 0.3, **options).picture == renderer.frame(0, 0.3, **options)).all()
        assert (renderer.render(0, 0.3, aov="depth").picture == renderer.frame(0, 0.3)).all()
        pose = model.pose(0, 0.3)
        assert (renderer.render(pose=pose).picture == renderer.frame(pose=pose)).all()


@pytest.mark.parametrize("name", ["walk", "run", "wave"])
def test_the_mask_is_what_the_picture_shows(name: str) -> None:
    """To the pixel, without samples: both come from the same corners."""
    with Renderer(skinpy.character(), size=(120, 160), samples=0) as renderer:
        seen = renderer.render(name, 0.4, aov=("position", "depth"))
    assert (seen.mask == (seen.picture[..., 3] > 0)).all()
    rows, columns = np.nonzero(seen.mask)
    places = seen.position[seen.mask].astype(float) @ seen.extrinsics[:3, :3].T + seen.extrinsics[:3, 3]
    assert np.abs(places[:, 2] - seen.depth[seen.mask]).max() < 1e-5 * seen.depth[seen.mask].max()
    pixels = places @ seen.intrinsics.T
    off = np.abs(pixels[:, :2] / pixels[:, 2:] - np.stack([columns, rows], axis=1) - 0.5).max(axis=1)
    assert np.percentile(off, 99) < 1e-3 and off.max() < 0.2  # at edges the GPU rounds corners to a grid


# ------------------------------------------------------------------------------------------------ the twin

MODELS: dict[str, tuple[Callable[[], Gltf], dict[str, Any]]] = {
    "chain": (lambda: builders.chain(6, step=0.3), {}),
    "eight influences": (builders.eight_influences, {"max_influences": 8}),
    "mirrored": (builders.negative_scale, {}),
    "rigid": (builders.mesh_nodes, {}),
    "random": (lambda: builders.random_model(5, joints=9, vertices=90), {}),
    "several offsets": (builders.two_offsets, {}),
}


@pytest.mark.parametrize("name", MODELS)
def test_layers_agree_with_rays(name: str) -> None:
    make, options = MODELS[name]
    model = load(make(), **options)
    clip = model.clips[0] if len(model.clips) else None
    time = 0.3 if clip is not None else 0.0
    palette = model.palette(clip, time, affine=True)
    positions, normals = model.deform(palette)
    camera = Camera.frame([positions.min(axis=0), positions.max(axis=0)], up=model.up, aspect=1.2)
    seen = truth(model, clip, time, aov=AOVS, camera=camera)
    cast = twin.cast(positions, model.mesh.faces, camera, SIZE)
    _compare(seen, cast, model, positions, normals, palette)


def test_layers_far_from_the_origin() -> None:
    model = waving()
    root = np.eye(4)
    root[:3, :3] = np.diag([1.0, 2.0, 1.0])
    root[:3, 3] = (200, -80, 30)
    positions, normals = model.deform(model.palette(0, 0.3, affine=True, root=root))
    camera = Camera.frame([positions.min(axis=0), positions.max(axis=0)], up=model.up, aspect=1.2)
    seen = truth(model, 0, 0.3, aov=AOVS, camera=camera, root=root)
    _compare(seen, twin.cast(positions, model.mesh.faces, camera, SIZE), model, positions, normals)
    assert np.abs(seen.joints3d - model.joint_positions(0, 0.3, root=root)).max() < 1e-4


def _compare(
    seen: GroundTruth, cast: twin.Cast, model: Any, positions: Any, normals: Any, palette: Any = None
) -> None:
    """All layers where the rays are clear; they must be so in many pixels. `palette` may mirror."""
    assert (seen.mask == (cast.face >= 0))[cast.clear].all()
    clear = cast.clear & (cast.face >= 0)
    assert clear.sum() >= 0.25 * (cast.face >= 0).sum() > 20
    faces = model.mesh.faces
    size = float(np.ptp(positions, axis=0).max())
    reach = max(size, float(np.abs(positions).max()))
    assert (seen.face == cast.face)[clear].all()
    assert np.abs(seen.barycentric - cast.shares)[clear].max() < 2e-3
    assert np.abs(seen.depth[clear] - cast.depth[clear]).max() < 1e-5 * max(
        reach, float(cast.depth[clear].max())
    )
    place = twin.blend(cast, faces, positions)
    assert np.abs(seen.position - place)[clear].max() < 1e-5 * reach + 1e-5 * size
    normal = twin.blend(cast, faces, normals)
    length = np.linalg.norm(normal, axis=2)
    good = clear & (length > 0.05)
    normal /= np.maximum(length, 1e-9)[..., None]
    front = cast.front if palette is None else cast.front ^ twin.mirrored(cast, model, palette)
    normal *= np.where(front, 1, -1)[..., None]
    assert np.abs(seen.normal - normal)[good].max() < 2e-3
    uvs = np.zeros((len(positions), 2)) if model.mesh.uvs is None else model.mesh.uvs
    assert np.abs(seen.uv - twin.blend(cast, faces, uvs))[clear].max() < 2e-3
    joint, lead = twin.largest_joint(cast, model)
    assert (seen.joint == joint)[clear & (lead > 1e-3)].all()
    for number, part in enumerate(model.mesh.submeshes):
        own = clear & (cast.face >= part.face_range.start) & (cast.face < part.face_range.stop)
        assert (seen.submesh[own] == number).all()
        assert (seen.material[own] == (-1 if part.material is None else part.material)).all()


def test_normals_are_those_of_the_side_that_is_seen() -> None:
    """They point outwards where the front is seen, also in a mirror, and inwards where the back is seen."""
    file = PictureGltf()
    mirrored = {"s": (-1, 1, 1)}
    square(file, file.material(), half=0.2, t=(-0.5, 0, 0))
    square(file, file.material(), half=0.2, t=(0.5, 0, 0), **mirrored)
    square(file, file.material(doubleSided=True), half=0.2, back=True, t=(0, 0.5, 0))
    seen = truth(load(file), aov="normal", camera=FRONT, size=(64, 64))
    assert seen.mask[32, 16] and seen.mask[32, 48] and seen.mask[16, 32]
    assert np.abs(seen.normal[seen.mask] - (0, 0, 1)).max() < 1e-6


def test_vertices_without_normals_have_those_of_their_faces() -> None:
    palette = np.zeros((1, 3, 4), np.float32)
    palette[0, :, :3] = np.diag([1, 1, 0])  # flat: the normals' transform has rank 2
    for eye, want in (((1, 2, 10), (0, 0, 1)), ((1, 2, -10), (0, 0, -1))):
        camera = Camera.look_at(eye, fov=12)
        seen = truth(one_square(doubleSided=True), pose=palette, aov="normal", camera=camera)
        assert seen.mask.any()
        assert np.abs(seen.normal[seen.mask] - want).max() < 1e-6


def test_morph_targets_are_seen() -> None:
    model = morphing(3)
    weights = np.full(len(model.targets), 0.6, np.float32)
    positions, normals = model.deform(model.palette(None, 0.0, affine=True), morph_weights=weights)
    camera = Camera.frame([positions.min(axis=0), positions.max(axis=0)], up=model.up, aspect=1.2)
    seen = truth(model, aov=AOVS, morph_weights=weights, camera=camera, flow_to=0.0)
    _compare(seen, twin.cast(positions, model.mesh.faces, camera, SIZE), model, positions, normals)
    assert np.abs(seen.flow).max() < 1e-3  # the same weights, the same time


def test_vertex_animations_are_seen_and_have_no_joints() -> None:
    model = waving()
    baked = bake_vertices(model, 0, fps=20)
    positions, normals = baked.sample(0.33)
    camera = camera_of(model, 0)
    seen = truth(model, baked, 0.33, aov=AOVS, camera=camera, flow_to=0.41)
    cast = twin.cast(positions, model.mesh.faces, camera, SIZE)
    _compare(seen, cast, model, positions, normals)
    _compare_flow(seen, cast, model, positions, baked.sample(0.41)[0], camera, camera)
    assert np.isnan(seen.joints3d).all() and np.isnan(seen.joints2d).all()
    assert not seen.visible.any()


def test_uv_is_the_mesh_s_own_in_all_frames() -> None:
    file = PictureGltf()
    square(file, file.material(), half=0.8)
    model = load(file)
    moving = UVAnimation(scroll=(0.5, 0.25))
    with Renderer(model, size=(64, 64), uv=moving) as renderer:
        first, second = (renderer.render(time=t, aov="uv", camera=FRONT).uv for t in (0.0, 0.5))
    assert (first == second).all()
    # The square spans -0.8 to 0.8 of a picture that spans -1 to 1; its uv begin at the top left.
    x = (np.arange(64) + 0.5) / 32 - 1
    inside = np.abs(x) < 0.79
    want = (x[inside] + 0.8) / 1.6
    assert np.abs(first[32, inside, 0] - want).max() < 1e-5
    assert np.abs(first[inside, 32, 1] - want).max() < 1e-5


# ------------------------------------------------------------------------------------------------ flow


def _compare_flow(
    seen: GroundTruth,
    cast: twin.Cast,
    model: Any,
    now: Any,
    then: Any,
    camera: Camera,
    next_camera: Camera,
) -> None:
    faces, clear = model.mesh.faces, cast.clear & (cast.face >= 0)
    here = twin.to_pixels(twin.blend(cast, faces, now), camera, SIZE)
    there = twin.to_pixels(twin.blend(cast, faces, then), next_camera, SIZE)
    error = np.abs(seen.flow - (there - here))[clear]
    assert error.max() < 5e-3  # pixels
    assert clear.sum() > 20


def test_flow_of_a_clip_and_of_a_moving_camera() -> None:
    model = waving()
    camera, other = camera_of(model, 0), camera_of(model, 0, azimuth=50)
    options: dict[str, Any] = {"aov": "flow", "camera": camera}
    shapes = {t: model.deform(model.palette(0, t, affine=True))[0] for t in (0.3, 0.3 + 1 / 30, 0.5)}
    cast = twin.cast(shapes[0.3], model.mesh.faces, camera, SIZE)
    with Renderer(model, size=SIZE) as renderer:
        seen = renderer.render(0, 0.3, **options)
        _compare_flow(seen, cast, model, shapes[0.3], shapes[0.3 + 1 / 30], camera, camera)
        seen = renderer.render(0, 0.3, flow_to=0.5, **options)
        _compare_flow(seen, cast, model, shapes[0.3], shapes[0.5], camera, camera)
        assert np.abs(seen.flow).max() > 1
        seen = renderer.render(0, 0.3, flow_to=0.5, flow_camera=other, **options)
        _compare_flow(seen, cast, model, shapes[0.3], shapes[0.5], camera, other)
        pose, next_pose = model.pose(0, 0.3), model.pose(0, 0.5)
        seen = renderer.render(pose=pose, flow_pose=next_pose, **options)
        _compare_flow(seen, cast, model, shapes[0.3], shapes[0.5], camera, camera)
        seen = renderer.render(pose=pose, flow_camera=other, **options)
        _compare_flow(seen, cast, model, shapes[0.3], shapes[0.3], camera, other)


def test_flow_with_another_root() -> None:
    model = one_square()
    root = np.eye(4)
    root[0, 3] = 0.25
    seen = truth(model, aov="flow", camera=FRONT, flow_root=root, size=(64, 64))
    assert np.abs(seen.flow[seen.mask] - (8.0, 0.0)).max() < 1e-3  # 64 pixels are 2 units wide
    assert (seen.flow[~seen.mask] == 0).all()


def test_flow_behind_the_next_camera_is_nan() -> None:
    behind = Camera.look_at((0, 0, -10), (0, 0, -20))
    seen = truth(one_square(), aov="flow", camera=FRONT, flow_camera=behind)
    assert np.isnan(seen.flow[seen.mask]).all()


# ------------------------------------------------------------------------------------------------ materials


def test_masked_texels_are_not_there() -> None:
    file = PictureGltf()
    pixels = np.full((32, 32, 4), 255, np.uint8)
    pixels[:, :16, 3] = 100
    square(file, file.material(texture=file.image(pixels), alphaMode="MASK", alphaCutoff=0.5), half=0.8)
    square(file, file.material(), half=0.2, z=-1.0)
    seen = truth(load(file), aov=("depth", "material"), camera=FRONT, size=(64, 64))
    assert not seen.mask[16, 16]
    assert seen.material[16, 48] == 0
    assert seen.material[32, 28] == 1  # the surface behind the hole
    assert abs(seen.depth[32, 28] - 11) < 1e-4
    assert abs(seen.depth[32, 40] - 10) < 1e-4


@pytest.mark.parametrize(("alpha", "solid"), [(0.4, False), (0.6, True)])
def test_blended_faces_count_from_half_of_alpha(alpha: float, solid: bool) -> None:
    file = PictureGltf()
    square(file, file.material((1, 1, 1, alpha), alphaMode="BLEND"), half=0.8)
    square(file, file.material(), half=0.2, z=-1.0)
    seen = truth(load(file), aov="material", camera=FRONT, size=(64, 64))
    assert seen.mask[16, 16] == solid
    assert seen.material[32, 32] == (0 if solid else 1)


def test_single_sided_faces_are_not_seen_from_behind() -> None:
    file = PictureGltf()
    square(file, file.material(doubleSided=False), back=True, half=0.8)
    assert not truth(load(file), camera=FRONT).mask.any()


def test_the_near_plane_cuts() -> None:
    camera = Camera((0, 0, 1), (0, 0, 0), near=0.99, far=3.0)
    file = PictureGltf()
    square(file, file.material(), z=0.5, half=0.05)
    square(file, file.material(), z=-0.5)
    seen = truth(load(file), aov="depth", camera=camera)
    assert np.abs(seen.depth[seen.mask] - 1.5).max() < 1e-5


# ------------------------------------------------------------------------------------------------ skeletons


def test_a_drawn_skeleton_has_layers_too() -> None:
    model = bare_skeleton(5)
    camera = camera_of(model, 0)
    seen = truth(model, 0, 0.4, aov=AOVS, camera=camera, flow_to=0.6, size=(160, 120))
    positions, then = (model.joint_positions(0, t).astype(float) for t in (0.4, 0.6))
    assert set(np.unique(seen.joint)) == {-1, 0, 1, 2, 3, 4}
    assert seen.visible.all()  # marks stand out on all sides
    with np.errstate(invalid="ignore"):
        assert np.abs(np.linalg.norm(seen.normal[seen.mask], axis=1) - 1).max() < 1e-5
    at = seen.joints2d.astype(int)
    depth = (np.append(positions, np.ones((len(positions), 1)), axis=1) @ camera.view().T)[:, 2]
    assert np.abs(seen.depth[at[:, 1], at[:, 0]] + depth).max() < 0.05 * np.ptp(positions, axis=0).max()
    # The marks move with their joints.
    moved = twin.to_pixels(then, camera, (160, 120)) - twin.to_pixels(positions, camera, (160, 120))
    assert np.abs(seen.flow[at[:, 1], at[:, 0]] - moved).max() < 0.3
    assert np.abs(moved).max() > 3


# ------------------------------------------------------------------------------------------------ joints


def test_joints_in_pixels_agree_with_the_camera_s_matrices() -> None:
    model = waving()
    camera = camera_of(model, 0)
    with Renderer(model, size=SIZE) as renderer:
        for options in ({"clip": 0, "time": 0.7}, {"pose": model.pose(0, 0.7)}):
            seen = renderer.render(camera=camera, **options)
            positions = model.joint_positions(0, 0.7).astype(float)
            assert np.abs(seen.joints3d - positions).max() < 1e-6
            assert np.abs(seen.joints2d - twin.to_pixels(positions, camera, SIZE)).max() < 1e-4
            assert seen.names == model.skeleton.names
            assert (seen.parents == model.skeleton.parents).all()


def test_intrinsics_and_extrinsics_are_those_of_opencv() -> None:
    model = waving()
    camera = camera_of(model, 0, azimuth=200, elevation=-20)
    seen = truth(model, 0, 0.3, camera=camera)
    points = np.random.default_rng(2).normal(size=(20, 3)) * 0.3
    places = points @ seen.extrinsics[:3, :3].T + seen.extrinsics[:3, 3]
    assert (places[:, 2] > 0).all()
    pixels = places @ seen.intrinsics.T
    assert np.abs(pixels[:, :2] / pixels[:, 2:] - twin.to_pixels(points, camera, SIZE)).max() < 1e-9
    assert abs(np.linalg.det(seen.extrinsics[:3, :3]) - 1) < 1e-12
    # A point is shown by the pixel that contains it.
    seen = truth(model, 0, 0.3, camera=camera, aov="position")
    rows, columns = np.nonzero(seen.mask)
    pixels = twin.to_pixels(seen.position[rows, columns].astype(float), camera, SIZE)
    near = np.abs(pixels - np.stack([columns, rows], axis=1) - 0.5).max(axis=1)
    assert np.percentile(near, 90) < 1e-3 and near.max() < 0.1  # at edges the GPU rounds corners to a grid


def limb_and_wall(wall: float | None, joint: str = "wall") -> Any:
    """A limb along y of two joints with radius 0.1, and perhaps a board before its middle joint."""
    file = Gltf()
    root = file.node("root")
    upper = file.node("upper", root, t=(0, -0.5, 0))
    lower = file.node("lower", upper, t=(0, 0.5, 0))
    tip = file.node("tip", lower, t=(0, 0.5, 0))
    positions, normals, faces = builders.tube(np.random.default_rng(1), 9, 12, 1.0, 0.1)
    positions[:, 1] -= 0.5
    index = np.zeros((len(positions), 4), int)
    index[:, 1] = 1
    share = np.clip(positions[:, 1] / 0.25 + 0.5, 0, 1)
    weight = np.stack([1 - share, share, 0 * share, 0 * share], axis=1)
    mesh = file.mesh(file.primitive(positions, faces, normals=normals, joints=index, weights=weight))
    file.node("limb", root, mesh=mesh, skin=file.skin([upper, lower], builders.bind(file, [upper, lower])))
    if wall is not None:
        parent = root if joint == "wall" else {"lower": lower, "tip": tip}[joint]
        p, n, f = builders.box((0, 0, 0), (0.15, 0.15, 0.01))
        at = np.array([0, 0, wall]) - builders.rest_globals(file)[parent][:3, 3]
        file.node("board", parent, t=at, mesh=file.mesh(file.primitive(p, f, normals=n)))
    return load(file)


def visible(model: Any, camera: Camera = FRONT) -> dict[str, bool]:
    seen = truth(model, camera=camera, size=(64, 64))
    return dict(zip(seen.names, seen.visible.tolist(), strict=True))


def test_joints_inside_their_own_limb_are_visible() -> None:
    for eye in ((0, 0, 10), (10, 0, 0), (-6, 3, 6), (5, -4, -5)):
        camera = Camera.look_at(eye, fov=14)
        found = visible(limb_and_wall(None), camera)
        assert found["upper"] and found["lower"] and found["tip"], eye


def test_what_stands_before_a_joint_hides_it() -> None:
    """A board hides the middle joint from near and from far; behind the joint it does not."""
    for distance, hidden in ((0.13, True), (0.5, True), (3.0, True), (-0.13, False), (-2.0, False)):
        found = visible(limb_and_wall(distance))
        assert found["lower"] != hidden, distance
        assert found["upper"] and found["tip"]


def test_the_limb_s_own_neighbors_hide_it_from_afar_alone() -> None:
    """A board that moves with the limb is part of it where it touches, and hides from a distance."""
    assert visible(limb_and_wall(0.1, "lower"))["lower"]
    assert not visible(limb_and_wall(0.6, "lower"))["lower"]


def test_joints_outside_the_picture_are_not_visible() -> None:
    model = limb_and_wall(None)
    near = Camera.look_at((0, 0.5, 10), (0, 0.5, 0), fov=4)  # 0.7 units high
    seen = truth(model, camera=near, size=(64, 64))
    assert dict(zip(seen.names, seen.visible.tolist(), strict=True)) == {
        name: name in ("tip",) for name in seen.names
    }
    away = Camera.look_at((0, 0, 10), (0, 0, 20))
    seen = truth(model, camera=away)
    assert np.isnan(seen.joints2d).all() and not seen.visible.any()


def test_a_bare_palette_tells_nothing_of_joints() -> None:
    model = waving()
    seen = truth(model, pose=model.palette(0, 0.3, affine=True), aov="joint")
    assert np.isnan(seen.joints3d).all() and not seen.visible.any()
    assert seen.joint.max() > 0


# ------------------------------------------------------------------------------------------------ keeping


def test_saved_and_loaded(tmp_path: Path) -> None:
    model = waving()
    seen = truth(model, 0, 0.3, aov=("depth", "joint", "flow"))
    for compressed in (True, False):
        assert seen.save(tmp_path / "frame.npz", compressed=compressed) == tmp_path / "frame.npz"
        with np.load(tmp_path / "frame.npz", allow_pickle=False) as saved:
            for name in ("depth", "joint", "flow"):
                assert (saved[name] == seen.layers[name]).all() and saved[name].dtype == seen.layers[
                    name
                ].dtype
            for name in ("picture", "mask", "joints2d", "joints3d", "visible", "intrinsics", "extrinsics"):
                assert (saved[name] == getattr(seen, name)).all()
            assert tuple(saved["names"]) == model.skeleton.names
            assert (saved["parents"] == model.skeleton.parents).all()
    assert [p.name for p in tmp_path.iterdir()] == ["frame.npz"]


def test_what_cannot_be_saved_leaves_nothing(tmp_path: Path) -> None:
    seen = truth(waving())
    with pytest.raises(ValueError, match="npz"):
        seen.save(tmp_path / "frame.exr")
    with pytest.raises(FileNotFoundError, match="make the folder first"):
        seen.save(tmp_path / "no" / "frame.npz")
    if os.path.exists("/dev/full"):
        (tmp_path / "full.npz").symlink_to("/dev/full")
        with pytest.raises(OSError, match="make room"):
            seen.save(tmp_path / "full.npz")
        (tmp_path / "full.npz").unlink()
    assert not list(tmp_path.iterdir())


def test_a_dict_of_keypoints() -> None:
    model = limb_and_wall(0.5)
    seen = truth(model, camera=FRONT, size=(64, 64))
    facts = json.loads(json.dumps(seen.to_dict()))
    points = np.array(facts["keypoints"]).reshape(-1, 3)
    flags = dict(zip(facts["keypoint_names"], points[:, 2].tolist(), strict=True))
    assert flags["lower"] == 1 and flags["upper"] == 2 and flags["tip"] == 2
    assert np.abs(points[:, :2] - seen.joints2d).max() < 1e-9
    assert facts["num_keypoints"] == len(seen.names)
    rows, columns = np.nonzero(seen.mask)
    assert facts["bbox"] == [columns.min(), rows.min(), np.ptp(columns) + 1, np.ptp(rows) + 1]
    assert facts["area"] == seen.mask.sum()
    at = {name: number + 1 for number, name in enumerate(seen.names)}
    assert [at["upper"], at["lower"]] in facts["skeleton"]
    assert np.abs(np.array(facts["keypoints_3d"]) - seen.joints3d).max() == 0
    nothing = truth(model, camera=Camera.look_at((0, 0, 10), (0, 0, 20))).to_dict()
    assert nothing["bbox"] == [0, 0, 0, 0] and nothing["num_keypoints"] == 0
    assert set(nothing["keypoints"]) == {0.0}


def test_nothing_is_left_on_the_gpu() -> None:
    def draw_once() -> None:
        with Renderer(waving(), size=(16, 16)) as renderer:
            renderer.render(0, 0.2, aov=AOVS)

    draw_once()
    gc.collect()  # reference cycles that other tests left must not be freed between the counts
    before = living_objects()
    for _ in range(6):
        draw_once()
    assert living_objects() == before


def test_a_framebuffer_that_opengl_refuses(monkeypatch: Any) -> None:
    with Renderer(waving(), size=(16, 16)) as renderer:
        renderer.frame()

        def refuse(self: Any, *arguments: Any, **options: Any) -> Any:
            raise moderngl.Error("incomplete")

        monkeypatch.setattr(moderngl.Context, "framebuffer", refuse)
        with pytest.raises(GraphicsError, match="number the faces"):
            renderer.render()
        monkeypatch.undo()
        assert renderer.render().mask.any()
    assert gl.call(lambda context: context.error) == "GL_NO_ERROR"


# ------------------------------------------------------------------------------------------------ a data set

ROOT = Path(__file__).parents[1]
CHARACTER = Path(skinpy.__file__).parent / "data" / "character.glb"


def data_set(folder: Path, count: int) -> list[str]:
    script = ROOT / "examples" / "make_dataset.py"
    return [
        sys.executable,
        str(script),
        str(CHARACTER),
        "-o",
        str(folder),
        "-n",
        str(count),
        "--size",
        "24x32",
    ]


def test_a_data_set_is_made_and_continued(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for count in (1, 3):
        subprocess.run(data_set(tmp_path / "a", count), check=True, env=environment)
    subprocess.run(data_set(tmp_path / "b", 3), check=True, env=environment)
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert names == [*(f"{i:06d}.{kind}" for i in range(3) for kind in ("npz", "png")), "annotations.json"]
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name
    facts = json.loads((tmp_path / "a" / "annotations.json").read_text("utf-8"))
    assert [image["file_name"] for image in facts["images"]] == ["000000.png", "000001.png", "000002.png"]
    assert len({tuple(entry["keypoints"]) for entry in facts["annotations"]}) == 3
    with np.load(tmp_path / "a" / "000001.npz") as saved:
        assert saved["depth"].shape == (32, 24)
        assert facts["annotations"][1]["area"] == saved["mask"].sum()


def test_ctrl_c_keeps_what_is_there(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    work = subprocess.Popen(data_set(tmp_path, 100_000), env=environment, stderr=subprocess.PIPE, text=True)
    try:
        end = time.monotonic() + HANGS
        while not (tmp_path / "000002.npz").exists():
            assert time.monotonic() < end and work.poll() is None, "the third frame never came"
            time.sleep(0.02)
        work.send_signal(signal.SIGINT)
        said = work.communicate(timeout=HANGS)[1]
    finally:
        work.kill()
    assert work.returncode == 130
    facts = json.loads((tmp_path / "annotations.json").read_text("utf-8"))
    assert len(facts["annotations"]) >= 2 and f"stopped with {len(facts['annotations'])} of" in said
    for image in facts["images"]:
        assert (tmp_path / image["file_name"]).exists()
    assert not [path for path in tmp_path.iterdir() if path.suffix == ".part"]
