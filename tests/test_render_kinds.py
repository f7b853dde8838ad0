"""Pictures of the other kinds of animation: morph targets, stored frames, moving textures; and the floor."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable
from typing import Any

import builders
import numpy as np
import pytest

import skinpy
from skinpy.__main__ import main
from skinpy.errors import GraphicsError
from skinpy.kinds import UVAnimation, VertexAnimation, bake_vertices

pytest.importorskip("moderngl", reason="moderngl (the extra `view`) draws the pictures")

import moderngl
from test_render import (
    PictureGltf,
    condition,
    front,
    living_objects,
    load,
    one_square,
    reach,
    square,
    waving,
)

from skinpy.render import Camera, Floor, Renderer, ground_velocity, render
from skinpy.render.gpu import uploads
from skinpy.render.moment import Moment
from skinpy.render.posing import Poser
from skinpy.render.scene.ground import Ground

pytestmark = pytest.mark.usefixtures("opengl")

Names = dict[str, Any]


class Traffic:
    """Bytes that moderngl itself receives for buffers and textures."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bytes = 0
        for kind in (moderngl.Buffer, moderngl.Texture, moderngl.TextureArray):
            self._watch(monkeypatch, kind, "write", 0)
        self._watch(monkeypatch, moderngl.Context, "buffer", 0)
        self._watch(monkeypatch, moderngl.Context, "texture", 2)

    def _watch(self, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, place: int) -> None:
        real = getattr(owner, name)

        def watched(this: Any, *arguments: Any, **options: Any) -> Any:
            data = arguments[place] if len(arguments) > place else options.get("data")
            self.bytes += 0 if data is None else memoryview(data).nbytes
            return real(this, *arguments, **options)

        monkeypatch.setattr(owner, name, watched)


@pytest.fixture
def traffic(monkeypatch: pytest.MonkeyPatch) -> Traffic:
    return Traffic(monkeypatch)


@pytest.fixture
def small_textures(monkeypatch: pytest.MonkeyPatch) -> None:
    """An OpenGL whose float textures are 16 by 16 at most, with eight layers."""
    monkeypatch.setattr(uploads, "table_limits", lambda context: (16, 8))


# ------------------------------------------------------------------------------------------------ morphs


def morphing(seed: int, *, vertices: int = 60, targets: int = 12, dense: bool = False) -> skinpy.Model:
    """Three joints, targets that move some or all vertices, half of them with normals."""
    rng = np.random.default_rng(seed)
    rest = np.tile(np.eye(4), (3, 1, 1))
    rest[1:, 1, 3] = 1.0
    shapes: dict[str, Any] = {}
    for number in range(targets):
        moved = np.ones(vertices, bool) if dense else rng.random(vertices) < 0.2
        shift = rng.normal(0, 0.2, (vertices, 3)) * moved[:, None]
        turn = rng.normal(0, 0.2, (vertices, 3)) * moved[:, None]
        shapes[f"shape{number}"] = (shift, turn) if number % 2 else shift
    keys = np.zeros((2, 3, 4))
    keys[0, :, 3], keys[1] = 1.0, (0, 0, 0.6, 0.8)
    clip = skinpy.Clip.from_arrays(
        "act",
        times=[0.0, 1.0],
        joints=["a", "b", "c"],
        rotation=keys,
        targets=list(shapes),
        weights=np.stack(
            [np.zeros(targets), np.where(rng.random(targets) < 0.3, 0, rng.normal(size=targets))]
        ),
    )
    return skinpy.Model.from_arrays(
        ["a", "b", "c"],
        [-1, 0, 1],
        rest,
        positions=rng.uniform(-1, 1, (vertices, 3)) + (0, 1, 0),
        faces=rng.integers(0, vertices, (2 * vertices, 3)),
        joints=rng.integers(0, 3, (vertices, 2)),
        weights=rng.uniform(0.1, 1, (vertices, 2)),
        targets=shapes,
        clips=[clip],
    )


def assert_agrees(model: skinpy.Model, got: Any, want: Any, palette: Any) -> None:
    assert np.abs(got[0] - want[0]).max() <= 1e-6 * reach(model, want[0])
    # Morphed normals may be short before they are made unit: their rounding grows by as much.
    assert (np.abs(got[1] - want[1]).max(axis=1) <= 1e-5 * condition(model, palette)).all()


@pytest.mark.parametrize("transport", ["uniform", "texture"])
@pytest.mark.parametrize(
    "make",
    [
        lambda: morphing(1),
        lambda: morphing(2, dense=True),
        lambda: morphing(3, vertices=2000, targets=3),
        lambda: morphing(4, vertices=24, targets=700),
    ],
    ids=["sparse", "dense", "many vertices", "many targets"],
)
def test_morphs_agree_with_deform(make: Callable[[], skinpy.Model], transport: str) -> None:
    model = make()
    with Renderer(model, size=(8, 8), transport=transport) as renderer:
        for time in (0.0, 0.4, 1.0):
            pose = model.pose("act", time)
            want, palette = model.deform(pose), pose.palette(affine=True)
            assert_agrees(model, renderer.skinned_vertices("act", time), want, palette)
            assert_agrees(model, renderer.skinned_vertices(pose=pose), want, palette)
            by_hand = renderer.skinned_vertices(pose=palette, morph_weights=pose.morph_weights)
            assert_agrees(model, by_hand, want, palette)
        assert_agrees(model, renderer.skinned_vertices(pose=palette), model.deform(palette), palette)
        loud = model.deform(palette, morph_weights=np.full(len(model.targets), -0.7, np.float32))
        got = renderer.skinned_vertices("act", 1.0, morph_weights=np.full(len(model.targets), -0.7))
        assert_agrees(model, got, loud, palette)


@pytest.mark.usefixtures("small_textures")
def test_morphs_in_several_layers() -> None:
    model = morphing(5, vertices=60, targets=120)
    pose = model.pose("act", 0.8)
    with Renderer(model, size=(8, 8)) as renderer:
        assert_agrees(
            model, renderer.skinned_vertices(pose=pose), model.deform(pose), pose.palette(affine=True)
        )


@pytest.mark.usefixtures("small_textures")
def test_more_targets_than_the_context_has_room_for() -> None:
    model = morphing(6, vertices=60, targets=40, dense=True)  # 2400 entries; 16 * 16 * 8 is 2048
    with pytest.raises(GraphicsError, match=r"morph targets take 2400 .*2048 .*_LAYERS 8"):
        Renderer(model, size=(8, 8))


def test_weights_are_sent_when_they_change(traffic: Traffic) -> None:
    model = morphing(7)
    palette, targets = model.palette("act", 0.3, affine=True), len(model.targets)
    with Renderer(model, size=(8, 8), transport="texture") as renderer:
        renderer.frame(pose=palette, morph_weights=np.ones(targets))
        rows = 256 * 48  # one row of the palette's texture
        for weight, sent in ((2, 4 * targets), (2, 0), (0, 4 * targets)):
            before = renderer.uploaded_bytes
            renderer.frame(pose=palette, morph_weights=np.full(targets, weight))
            assert renderer.uploaded_bytes - before == rows + sent
        assert renderer.uploaded_bytes == traffic.bytes


def test_a_morph_is_seen_and_framed() -> None:
    model = morphing(8)
    still = np.zeros(len(model.targets))
    assert (render(model, 0, 1.0, (64, 64)) != render(model, 0, 1.0, (64, 64), morph_weights=still)).any()
    seen = render(model, 0, 1.0, (64, 64))[..., 3] > 0
    assert not (seen[0].any() or seen[-1].any() or seen[:, 0].any() or seen[:, -1].any())


BAD_WEIGHTS: list[tuple[str, Callable[[Any], Any], type[Exception], str]] = [
    ("shape", lambda m: render(m, morph_weights=[1.0]), ValueError, r"morph_weights has shape \(1,\)"),
    ("nan", lambda m: render(m, morph_weights=[np.nan] * 12), ValueError, "finite"),
    (
        "text",
        lambda m: render(m, morph_weights="smile"),
        TypeError,
        "morph_weights has dtype <U5; expected real",
    ),
    ("none there", lambda m: render(waving(), morph_weights=[1.0]), ValueError, r"expected \(0,\)"),
    (
        "vertex animation",
        lambda m: render(m, bake_vertices(m, 0, 5), morph_weights=[0.0] * 12),
        ValueError,
        "vertex animation",
    ),
]


@pytest.mark.parametrize(("case", "call", "error", "match"), BAD_WEIGHTS, ids=[bad[0] for bad in BAD_WEIGHTS])
def test_bad_weights(case: str, call: Callable[[Any], Any], error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        call(morphing(9))


@pytest.mark.parametrize("name", ["AnimatedMorphCube.gltf", "SimpleMorph.gltf", "maya_blend_shape_cube.fbx"])
def test_real_morphs(shared_data: Any, name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", skinpy.SkinpyWarning)  # for other content of the file
        model = skinpy.load(shared_data / "models" / name)
    assert model.targets
    with Renderer(model, size=(64, 64)) as renderer:
        clip = model.clips[0] if len(model.clips) else None
        for time in np.linspace(0, clip.duration if clip else 0, 5):
            pose = model.pose(clip, time)
            pose.morph_weights += 0.25
            palette = pose.palette(affine=True)
            assert_agrees(model, renderer.skinned_vertices(pose=pose), model.deform(pose), palette)
        assert (renderer.frame(clip, 0.3)[..., 3] > 0).any()


# ------------------------------------------------------------------------------------------------ frames


def stored(keyed: bool = False, **options: Any) -> VertexAnimation:
    """A cube that swells and drifts, in six frames."""
    points, _, faces = builders.box()
    frames = points * np.linspace(0.5, 1.5, 6)[:, None, None] + np.arange(6)[:, None, None] * 0.1
    if keyed:
        times = [0.0, 0.1, 0.5, 0.6, 1.3, 2.0]
        return VertexAnimation.keyed(times, frames, faces=faces, **options)
    return VertexAnimation.every_frame(frames, 5, faces=faces, **options)


@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize("loop", ["wrap", "clamp", "pingpong"])
def test_stored_frames_agree_with_sample(keyed: bool, loop: Any) -> None:
    animation = stored(keyed)
    with Renderer(animation.model, size=(8, 8)) as renderer:
        for time in (0.0, 0.05, 0.1, 0.55, 1.0, 1.7, 2.9, -0.3):
            want = animation.sample(time, loop=loop)
            got = renderer.skinned_vertices(animation, time, loop=loop)
            assert np.abs(got[0] - want[0]).max() <= 1e-6 * reach(animation.model, want[0])
            assert np.abs(got[1] - want[1]).max() <= 1e-6


def test_stored_frames_that_step() -> None:
    animation = stored(interpolation="step")
    with Renderer(animation.model, size=(8, 8)) as renderer:
        for time in (0.0, 0.19, 0.21, 1.0):
            assert (renderer.skinned_vertices(animation, time)[0] == animation.sample(time)[0]).all()


@pytest.mark.parametrize(
    "make",
    [
        waving,
        lambda: morphing(10),
        lambda: load(builders.negative_scale()),
        lambda: load(builders.mesh_nodes()),
    ],
    ids=["skinned", "morphing", "mirrored", "rigid"],
)
def test_a_baked_clip_looks_like_the_clip(make: Callable[[], Any]) -> None:
    model = make()
    clip = model.clips[0]
    baked = bake_vertices(model, clip, 10)
    with Renderer(model, size=(96, 96)) as renderer:
        for time in baked.times[[0, len(baked) // 3, -1]]:
            camera = renderer.camera(clip)
            a, b = (renderer.frame(motion, time, camera=camera, loop="clamp") for motion in (clip, baked))
            assert (np.abs(a.astype(int) - b).max(axis=2) > 2).mean() < 0.002  # edges may fall otherwise


def test_only_the_number_of_the_frame_changes(traffic: Traffic) -> None:
    """The frames go to the GPU once; after that a picture sends uniforms and nothing else."""
    animation = stored()
    with Renderer(animation.model, size=(16, 16), transport="texture") as renderer:
        mesh = renderer.uploaded_bytes
        first = renderer.frame(animation, 0.0)
        sent = renderer.uploaded_bytes
        palette = 256 * 48
        assert sent - mesh == animation.frames.nbytes + animation.normals.nbytes + palette
        pictures = [renderer.frame(animation, t) for t in np.linspace(0.1, 1.0, 20)]
        renderer.skinned_vertices(animation, 0.33)
        assert renderer.uploaded_bytes == sent == traffic.bytes
    assert all((picture != first).any() for picture in pictures)


@pytest.mark.usefixtures("small_textures")
def test_frames_in_several_layers() -> None:
    animation = stored()
    texels = animation.frames.shape[0] * animation.frames.shape[1]
    if texels <= 256:
        frames = np.concatenate([animation.frames] * (256 // texels + 2))
        animation = VertexAnimation.every_frame(frames, 5, model=animation.model)
    with Renderer(animation.model, size=(8, 8)) as renderer:
        for time in np.linspace(0, animation.duration, 23):
            want = animation.sample(time, loop="clamp")
            got = renderer.skinned_vertices(animation, time, loop="clamp")
            assert np.abs(got[0] - want[0]).max() <= 1e-6 * reach(animation.model, want[0])


@pytest.mark.usefixtures("small_textures")
def test_more_frames_than_the_context_has_room_for() -> None:
    animation = stored()
    animation = VertexAnimation.every_frame(np.tile(animation.frames, (20, 1, 1)), 5, model=animation.model)
    with (
        Renderer(animation.model, size=(8, 8)) as renderer,
        pytest.raises(GraphicsError, match=r"frames .* take \d+ texels.*GL_MAX_TEXTURE_SIZE 16"),
    ):
        renderer.frame(animation)


def test_frames_leave_the_gpu_with_their_animation() -> None:
    model = waving()
    with Renderer(model, size=(8, 8)) as renderer:
        renderer.frame(0, 0.1)
        renderer.frame(bake_vertices(model, 0, 4))  # compiles what it needs
        gc.collect()
        before = living_objects()
        kept = bake_vertices(model, 0, 4)
        renderer.frame(kept)
        assert living_objects() > before
        del kept
        gc.collect()
        assert living_objects() == before


def test_a_vertex_animation_of_another_model_is_refused() -> None:
    with pytest.raises(ValueError, match="another model"):
        render(waving(), stored())
    animation = stored()
    with pytest.raises(ValueError, match="vertex animation"):
        render(animation.model, animation, root=np.eye(4))


def test_the_md2_plays(shared_data: Any) -> None:
    animation = VertexAnimation.load(shared_data / "models" / "faerie.md2")
    with Renderer(animation.model, size=(96, 96)) as renderer:
        pictures = list(renderer.frames(animation, [0.0, 1.03, 4.0]))
        before = renderer.uploaded_bytes
        for time in (0.0, 1.03, animation.duration):
            want = animation.sample(time)
            got = renderer.skinned_vertices(animation, time)
            assert np.abs(got[0] - want[0]).max() <= 1e-6 * reach(animation.model, want[0])
        assert renderer.uploaded_bytes == before
    for picture in pictures:
        seen = picture[..., 3] > 0
        assert seen.mean() > 0.01
        assert not (seen[0].any() or seen[-1].any() or seen[:, 0].any() or seen[:, -1].any())
    assert (pictures[0] != pictures[1]).any()


# ------------------------------------------------------------------------------------------------ textures


def quarters() -> Any:
    """Red, green / blue, white, in squares of 16 pixels."""
    pixels = np.zeros((2, 2, 4), np.uint8)
    pixels[..., 3] = 255
    pixels[0, 0, 0] = pixels[0, 1, 1] = pixels[1, 0, 2] = 255
    pixels[1, 1] = 255
    return pixels.repeat(16, axis=0).repeat(16, axis=1)


def textured(transform: dict[str, Any] | None = None, uvs: Any = None, name: str = "paint") -> Any:
    """A square of 1.6 by 1.6 with the four colors on it."""
    file = PictureGltf()
    material = file.material(texture=file.image(quarters()), name=name)
    if transform:
        texture = file.materials[material]["pbrMetallicRoughness"]["baseColorTexture"]
        texture["extensions"] = {"KHR_texture_transform": transform}
    square(file, material, half=0.8)
    if uvs is not None:
        attributes = file.meshes[0]["primitives"][0]["attributes"]
        attributes["TEXCOORD_0"] = file.accessor(np.asarray(uvs, float))
    return load(file)


UVS = np.array([[0, 0], [0, 1], [1, 1], [1, 0]], float)
NAMES = {(1, 0, 0): "red", (0, 1, 0): "green", (0, 0, 1): "blue", (1, 1, 1): "white"}


def colors(picture: Any, places: Any = ((20, 20), (20, 44), (44, 20), (44, 44))) -> list[str]:
    return [NAMES.get(tuple((picture[place][:3] > 100).astype(int)), "?") for place in places]


def test_textures_scroll() -> None:
    model = textured()
    assert colors(front(model)) == ["red", "green", "blue", "white"]
    along_u, along_v = UVAnimation(scroll=(0.5, 0)), UVAnimation(scroll=(0, 0.25))
    assert colors(front(model, time=1.0, uv=along_u)) == ["green", "red", "white", "blue"]
    assert colors(front(model, time=2.0, uv=along_v)) == ["blue", "white", "red", "green"]
    assert (front(model, time=2.0, uv=along_u) == front(model)).all()


ANIMATIONS = {
    "scroll": lambda wrap: UVAnimation(scroll=(0.3, -0.2), wrap=wrap),
    "turn": lambda wrap: UVAnimation(rotate=0.7, wrap=wrap),
    "scale": lambda wrap: UVAnimation(scale=(3, 2), scroll=(0.1, 0), wrap=wrap),
    "keys": lambda wrap: UVAnimation(keys={"times": [0, 2], "offset": [(0, 0), (2.5, 1)]}, wrap=wrap),
}


@pytest.mark.parametrize("wrap", ["repeat", "clamp", "mirror"])
@pytest.mark.parametrize("name", ANIMATIONS)
def test_the_shader_looks_where_the_numbers_say(name: str, wrap: str) -> None:
    """Each pixel has the color of the image at the coordinates of `apply` and `wrapped`."""
    animation = ANIMATIONS[name](wrap)
    model = textured()
    picture = front(model, time=1.3, uv=animation)
    rows, columns = np.mgrid[0:64, 0:64]
    u, v = ((columns + 0.5) / 32 - 0.2) / 1.6, ((rows + 0.5) / 32 - 0.2) / 1.6
    inside = (u > 0.03) & (u < 0.97) & (v > 0.03) & (v < 0.97)
    where = animation.wrapped(animation.apply(np.stack([u[inside], v[inside]], axis=1), 1.3))
    want = quarters()[tuple(np.minimum((where * 32).astype(int), 31).T[::-1])][:, :3] > 100
    got = picture[inside][:, :3] > 100
    # At the edges of the four squares colors mix; at those of the image only where it repeats.
    edges = [0.0, 0.5, 1.0] if wrap == "repeat" else [0.5]
    near_edge = (np.abs(where[..., None] - edges) < 0.07).any(axis=(1, 2))
    assert (~near_edge).sum() > 300
    assert (want == got).all(axis=1)[~near_edge].all()


def test_a_material_transforms_before_its_animation_does() -> None:
    transform = {"offset": [0.2, 0.1], "rotation": 0.4, "scale": [3, 2]}
    model, animation = textured(transform), UVAnimation(scroll=(0.15, 0.1), rotate=0.3)
    own = np.array(model.materials[0].uv_transform)
    assert (own != np.eye(3)).any()
    moved = UVS @ own[:2, :2].T + own[:2, 2]
    for options in ({}, {"uv": animation, "time": 1.7}):
        a, b = front(model, **options), front(textured(uvs=moved), **options)
        assert (np.abs(a.astype(int) - b).max(axis=2) > 12).mean() < 0.01


def test_textures_scroll_for_a_long_time_without_trembling() -> None:
    model, animation = textured(), UVAnimation(scroll=(0.3, 0))
    for wrap in ("repeat", "mirror"):
        animation = UVAnimation(scroll=(0.25, 0), wrap=wrap)
        a, b = (front(model, time=t, uv=animation) for t in (1.0, 8.0e7 + 1.0))
        assert (a == b).all()


def test_textures_move_by_material() -> None:
    file = PictureGltf()
    image = file.image(quarters())
    left, right = (file.material(texture=image, name=name) for name in ("left", "right"))
    square(file, left, half=0.25, t=(-0.5, 0, 0))
    square(file, right, half=0.25, t=(0.5, 0, 0))
    model = load(file)
    places = ((28, 12), (28, 20), (28, 44), (28, 52))
    moving = UVAnimation(scroll=(0.5, 0))
    assert colors(front(model), places) == ["red", "green", "red", "green"]
    assert colors(front(model, time=1, uv={"right": moving}), places) == ["red", "green", "green", "red"]
    assert colors(front(model, time=1, uv=moving), places) == ["green", "red", "green", "red"]


def test_a_moving_texture_sends_nothing(traffic: Traffic) -> None:
    model = textured()
    with Renderer(model, size=(16, 16), transport="uniform", uv=UVAnimation(scroll=(1, 0))) as renderer:
        renderer.frame()
        for time in (0.1, 0.2, 0.3):
            before = renderer.uploaded_bytes
            renderer.frame(time=time)
            assert renderer.uploaded_bytes - before == 48 * len(model.skin.joints)  # the palette
        assert renderer.uploaded_bytes == traffic.bytes


def test_uv_and_time_go_with_a_pose() -> None:
    model = textured()
    pose, uv = model.pose(), UVAnimation(scroll=(0.5, 0))
    assert (front(model, pose=pose, uv=uv, time=1.0) == front(model, uv=uv, time=1.0)).all()


BAD_UV: list[tuple[str, Any, type[Exception], str]] = [
    ("text", "scroll", TypeError, "uv is str"),
    ("matrix", np.eye(3), TypeError, "uv is ndarray"),
    ("number in a dict", {"paint": 3}, TypeError, r"uv\['paint'\] is int"),
    ("unknown material", {"pant": UVAnimation()}, KeyError, "'pant'.*'paint'"),
]


@pytest.mark.parametrize(("case", "uv", "error", "match"), BAD_UV, ids=[bad[0] for bad in BAD_UV])
def test_bad_uv(case: str, uv: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        render(textured(), uv=uv)


# ------------------------------------------------------------------------------------------------ the floor

BAD_FLOORS: list[tuple[str, Names, type[Exception], str]] = [
    ("size", {"size": 0}, ValueError, "size"),
    ("tile", {"tile": -1}, ValueError, "tile"),
    ("tile nan", {"tile": float("nan")}, ValueError, "tile"),
    ("height", {"height": float("inf")}, ValueError, "height"),
    ("colors", {"colors": ("#fff",)}, ValueError, "two colors"),
    ("color", {"colors": ("#fff", "white")}, ValueError, "colors"),
    ("texture list", {"texture": [[0]]}, TypeError, "texture"),
    ("texture type", {"texture": np.zeros((4, 4, 3))}, TypeError, "texture"),
    ("texture shape", {"texture": np.zeros((4, 4), np.uint8)}, ValueError, "texture"),
    ("texture empty", {"texture": np.zeros((0, 4, 3), np.uint8)}, ValueError, "texture"),
    ("speed text", {"speed": "fast"}, TypeError, "speed"),
    ("speed two", {"speed": (1, 2)}, ValueError, "speed"),
    ("speed nan", {"speed": float("nan")}, ValueError, "speed"),
    ("uv", {"uv": "scroll"}, TypeError, "uv"),
]


@pytest.mark.parametrize(
    ("case", "options", "error", "match"), BAD_FLOORS, ids=[bad[0] for bad in BAD_FLOORS]
)
def test_bad_floors(case: str, options: Names, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        Floor(**options)


def test_a_floor_must_be_one() -> None:
    with pytest.raises(TypeError, match="floor is int; expected a Floor, True or False"):
        render(waving(), floor=1)
    plain = render(waving(), floor=True)
    assert np.array_equal(plain, render(waving(), floor=Floor()))
    assert not np.array_equal(plain, render(waving(), floor=False))
    assert np.array_equal(render(waving(), floor=False), render(waving()))


def place(model: Any, floor: Floor, clip: Any = None, time: float = 0.0, **options: Any) -> Any:
    poser = Poser(model)
    motion = None if clip is None else poser.motion(clip)
    return Ground(poser, floor).plane(Moment(motion, time, **options))


@pytest.mark.parametrize("up", ["+X", "-X", "+Y", "-Y", "+Z", "-Z"])
def test_the_floor_lies_under_the_lowest_point(up: str) -> None:
    model = load(builders.chain(6, step=0.3), up=up)
    axis, sign = "XYZ".index(up[1]), 1 if up[0] == "+" else -1
    floor = place(model, Floor(), "curl")
    times = np.linspace(0, model.clips["curl"].duration, 200)
    points = model.deform(model.palette("curl", times, affine=True), normals=False)[0]
    lowest = (points[..., axis] * sign).min()
    assert abs(floor.center[axis] * sign - lowest) < 0.01 * np.ptp(points)
    assert floor.right[axis] == floor.near[axis] == 0
    upward = np.zeros(3)
    upward[axis] = sign
    assert np.allclose(np.cross(floor.near, floor.right) / np.linalg.norm(floor.near) ** 2, upward)


def test_the_floor_hides_nothing_above_it() -> None:
    model = skinpy.character()
    with Renderer(model, size=(120, 120)) as bare, Renderer(model, size=(120, 120), floor=Floor()) as floored:
        a, b = bare.frame("walk", 0.3).astype(int), floored.frame("walk", 0.3).astype(int)
    solid = a[..., 3] == 255
    assert (np.abs(a - b)[solid].max(axis=1) > 2).mean() < 0.01
    assert (b[..., 3] > 0).sum() > 1.5 * solid.sum()


def test_the_floor_is_not_seen_from_below() -> None:
    model = skinpy.character()
    below = Camera.look_at((0, -3, 5), (0, 0.8, 0), fov=40)
    a, b = (render(model, "walk", 0.3, (64, 64), camera=below, floor=f) for f in (None, Floor()))
    assert (a == b).all()


def test_the_floor_of_a_skeleton_and_of_glass() -> None:
    skeleton = load(builders.chain(5, step=0.5, skinned=False))
    assert (render(skeleton, size=(64, 64), floor=Floor())[..., 3] > 0).mean() > 0.3
    glass = one_square((1, 1, 1, 0.3), alphaMode="BLEND", doubleSided=True)
    camera = Camera.look_at((0, 3, 10), (0, 0, 0), fov=20)
    picture = render(glass, size=(64, 64), camera=camera, floor=Floor(colors=("#f00", "#f00")))
    assert picture[32, 32, 0] > picture[32, 32, 2] + 20  # seen through the glass
    assert picture[32, 32, 1] > picture[40, 5, 1] + 20  # which is drawn over it


def test_floors_from_an_image_or_colors() -> None:
    camera = Camera.look_at((0, 10, 0.1), (0, 0, 0), fov=20)
    options: Names = {"size": (64, 64), "camera": camera}
    model = one_square(doubleSided=True)
    red = render(model, floor=Floor(40, ("#c00000", "#c00000"), height=-1), **options)[10, 10]
    image = np.zeros((3, 5, 3), np.uint8)
    image[..., 2] = 200
    blue = render(model, floor=Floor(40, texture=image, height=-1), **options)[10, 10]
    assert red[3] == blue[3] == 255
    assert red[0] > 80 > 50 > red[1] and blue[2] > 80 > 50 > blue[1]


def ground_places(floor: Any, points: Any) -> Any:
    """Texture coordinates (N, 2) of the floor under points (N, 3)."""
    off = points - floor.center
    disc = np.stack([off @ axis / (axis @ axis) for axis in (floor.right, floor.near)], axis=1)
    return disc @ floor.uv[:2, :2].T + floor.uv[:2, 2]


@pytest.mark.parametrize("clip", ["walk", "run"])
def test_planted_feet_stand_still_on_the_floor(clip: str) -> None:
    """Where a foot touches, the texture under it stays the same from frame to frame."""
    model = skinpy.character()
    duration, floor = model.clips[clip].duration, Floor(tile=0.25)
    height = float(place(model, floor, clip).center[1])
    slips = []
    for time in np.linspace(0, 3 * duration, 97):
        later = time + 0.01
        before, after = (model.deform(model.palette(clip, t), normals=False)[0] for t in (time, later))
        planted = np.maximum(before[:, 1], after[:, 1]) < height + 0.004
        here = ground_places(place(model, floor, clip, time), before[planted])
        there = ground_places(place(model, floor, clip, later), after[planted])
        slip = (there - here + 1) % 2 - 1  # coordinates are modulo 2
        slips.append(np.abs(slip) * 0.5)  # a repetition is two tiles of 0.25
    slip = np.concatenate(slips) / 0.01
    assert len(slip) > 100
    assert np.median(slip) < 0.05  # m/s; the feet themselves pass at 0.74 and 2.1


@pytest.mark.parametrize(("clip", "speed"), [("walk", 0.74), ("run", 2.1), ("wave", 0.0)])
def test_the_bundled_character_walks_as_fast_as_it_was_made_to(clip: str, speed: float) -> None:
    assert np.allclose(ground_velocity(skinpy.character(), clip), (0, 0, speed), atol=0.01)


def stepping(velocity: Any, *, mesh: bool = False, noise: float = 0.0) -> Any:
    """Two feet that alternately slide back on the ground at -velocity and swing forth above it."""
    period, steps = 1.0, 60
    times = np.linspace(0, period, steps + 1)
    rng = np.random.default_rng(3)
    paths = []
    for shift in (0.0, 0.5):
        phase = (times / period + shift) % 1.0
        on = phase < 0.6
        along = np.where(on, 0.3 - phase, -0.3 + (phase - 0.6) * 1.5)
        up = np.where(on, 0.0, 0.25 * np.sin((phase - 0.6) / 0.4 * np.pi))
        path = along[:, None] * np.asarray(velocity, float) * period
        path[:, 1] += up + rng.normal(0, noise, len(path))
        path[:, 0] += 0.2 if shift else -0.2
        paths.append(path)
    hips = np.tile([0.0, 1.0, 0.0], (steps + 1, 1))
    clip = skinpy.Clip.from_arrays(
        "go",
        times=times,
        joints=["hips", "left", "right"],
        translation=np.stack([hips, paths[0] - hips, paths[1] - hips], axis=1),
    )
    rest = np.tile(np.eye(4), (3, 1, 1))
    rest[0, 1, 3] = 1.0
    rest[1:, :3, 3] = (-0.2, -1, 0), (0.2, -1, 0)
    points = np.array([[0, 1.6, 0], [-0.2, 0, 0], [0.2, 0, 0], [-0.2, 0, 0.01], [0.2, 0, 0.01]])
    return skinpy.Model.from_arrays(
        ["hips", "left", "right"],
        [-1, 0, 0],
        rest,
        positions=points if mesh else np.zeros((0, 3)),
        faces=[(0, 1, 3), (0, 2, 4)] if mesh else np.zeros((0, 3), int),
        joints=np.array([[0], [1], [2], [1], [2]])[: len(points) if mesh else 0],
        weights=np.ones((len(points) if mesh else 0, 1)),
        clips=[clip],
    )


@pytest.mark.parametrize("mesh", [True, False])
@pytest.mark.parametrize("velocity", [(0, 0, 1.0), (0.7, 0, -0.4), (0, 0, 0.15)])
def test_ground_velocity_of_known_steps(velocity: Any, mesh: bool) -> None:
    model = stepping(velocity, mesh=mesh, noise=1e-4)
    speed = np.linalg.norm(velocity)
    assert np.linalg.norm(ground_velocity(model) - velocity) < 0.03 * speed
    baked = bake_vertices(model, 0, 30) if mesh else None
    if baked is not None:
        assert np.linalg.norm(ground_velocity(model, baked) - velocity) < 0.05 * speed


@pytest.mark.filterwarnings("error")
def test_what_swings_far_beyond_its_size_has_no_ground_velocity() -> None:
    """Joints 1e5 away from a mesh of 0.6: between two looks nothing is near the lowest place."""
    model = skinpy.load(builders.far_away().glb(), format="glb")
    assert np.array_equal(ground_velocity(model), np.zeros(3))


def test_what_does_not_walk_has_no_ground_velocity() -> None:
    still = one_square()
    assert (ground_velocity(still) == 0).all()
    assert ground_velocity(still).shape == (3,)


@pytest.mark.parametrize("loop", ["wrap", "clamp", "once", "pingpong"])
def test_the_floor_stops_with_the_clip(loop: str) -> None:
    model, floor = skinpy.character(), Floor(speed=1.5, tile=1.0, size=2.0)
    duration = model.clips["walk"].duration
    seconds = {"wrap": 1.4, "clamp": 1.0, "once": 1.0, "pingpong": 0.6}[loop] * duration
    still = place(model, floor, "walk", 0.0, loop=loop)
    moved = place(model, floor, "walk", 1.4 * duration, loop=loop)
    shift = (moved.uv - still.uv)[:2, 2]
    assert np.allclose((shift - (0, 1.5 * seconds / 2) + 0.5) % 1 - 0.5, 0, atol=1e-9)


def test_the_floor_goes_with_the_root_but_its_pattern_stays() -> None:
    model, floor = skinpy.character(), Floor(speed=None, tile=0.3)
    root = np.eye(4)
    root[:3, 3] = (5, 2, -3)
    a, b = place(model, floor, "walk"), place(model, floor, "walk", root=root)
    assert np.allclose(b.center - a.center, (5, 2, -3))
    points = np.array([[1.0, 2.0, 3.0], [-4.0, 0.0, 0.5]])
    apart = ground_places(a, points) - ground_places(b, points)
    assert np.allclose(apart / 2, np.round(apart / 2), atol=1e-9)
    pinned = place(model, Floor(height=0.25), "walk", root=root)
    assert pinned.center[1] == 0.25


def test_a_floor_animation_comes_on_top() -> None:
    model = skinpy.character()
    plain = place(model, Floor(speed=None), None, 2.0).uv
    turned = place(model, Floor(speed=None, uv=UVAnimation(rotate=0.5)), None, 2.0).uv
    matrix = np.asarray(UVAnimation(rotate=0.5).sample(2.0), float) @ plain
    assert np.allclose(turned[:2, :2], matrix[:2, :2])
    assert np.allclose((turned - matrix)[:2, 2] / 2, np.round((turned - matrix)[:2, 2] / 2))


def test_a_moving_floor_sends_nothing(traffic: Traffic) -> None:
    model = skinpy.character()
    baked = bake_vertices(model, "walk", 10)
    with Renderer(model, size=(32, 32), floor=Floor(speed=0.74)) as renderer:
        first = renderer.frame(baked, 0.0)
        before = renderer.uploaded_bytes
        assert (renderer.frame(baked, baked.duration) != first).any()
        assert renderer.uploaded_bytes == before == traffic.bytes


def test_a_floor_leaves_nothing_on_the_gpu() -> None:
    def draw_once() -> None:
        model = waving()
        render(model, size=(16, 16), floor=Floor())
        with Renderer(model, size=(16, 16), floor=Floor()) as renderer:
            renderer.frame()

    draw_once()
    gc.collect()
    before = living_objects()
    for _ in range(5):
        draw_once()
    gc.collect()
    assert living_objects() == before


def test_the_command_line_draws_a_floor(tmp_path: Any) -> None:
    image = pytest.importorskip("PIL.Image")
    pictures = []
    for options in ([], ["--floor"]):
        path = tmp_path / f"walk{len(options)}.png"
        assert main(["demo", "-o", str(path), "--size", "64x48", *options]) == 0
        with image.open(path) as picture:
            pictures.append(np.asarray(picture))
    assert (pictures[0][47, :, 3] == 0).all()
    assert (pictures[1][47, :, 3] > 0).all()
