"""Crowds on the GPU: where the shader puts every vertex of every instance, what a frame sends and how often
it draws, and how the pictures are put together.

Truth is `Model.deform` of each instance's palette, moved by its placement in float64. All on whatever OpenGL
there is; its error state is looked at after each test.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from typing import Any

import builders
import numpy as np
import pytest

import skinpy
from skinpy.__main__ import main
from skinpy.errors import GraphicsError

pytest.importorskip("moderngl", reason="moderngl (the extra `view`) draws the pictures")

import moderngl
from conftest import data_file
from test_render import (
    FRONT,
    MODELS,
    PictureGltf,
    living_objects,
    load,
    one_square,
    reach,
    square,
    waving,
)
from test_render_kinds import morphing

from skinpy.render import Camera, Crowd, Floor, Renderer, grid
from skinpy.render.crowd import instances
from skinpy.render.gpu import context as gl
from skinpy.render.gpu import uploads

pytestmark = pytest.mark.usefixtures("opengl")

Rng = np.random.Generator
CHARACTER = str(skinpy.__path__[0]) + "/data/character.glb"


# ---- uploads and draw calls --------------------------------------------------------------------------


class Traffic:
    """Counts the calls of moderngl itself: sizes of uploads, and draw calls."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sent: list[int] = []
        self.draws: list[tuple[int, int]] = []  # vertices and instances
        for kind in (moderngl.Buffer, moderngl.Texture, moderngl.TextureArray):
            self._watch(monkeypatch, kind, "write", 0)
        self._watch(monkeypatch, moderngl.Context, "buffer", 0)
        self._watch(monkeypatch, moderngl.Context, "texture", 2)
        render = moderngl.VertexArray.render

        def watched(this: Any, mode: Any = None, vertices: int = -1, **options: Any) -> Any:
            self.draws.append((vertices, options.get("instances", 1)))
            return render(this, mode, vertices, **options)

        monkeypatch.setattr(moderngl.VertexArray, "render", watched)

    def _watch(self, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, place: int) -> None:
        real = getattr(owner, name)

        def watched(this: Any, *arguments: Any, **options: Any) -> Any:
            data = arguments[place] if len(arguments) > place else options.get("data")
            if data is not None:
                self.sent.append(memoryview(data).nbytes)
            return real(this, *arguments, **options)

        monkeypatch.setattr(owner, name, watched)

    def clear(self) -> None:
        self.sent.clear()
        self.draws.clear()


@pytest.fixture
def traffic(monkeypatch: pytest.MonkeyPatch) -> Traffic:
    return Traffic(monkeypatch)


def triangle() -> skinpy.Model:
    """One triangle that two joints rotate, in two clips."""
    turn = np.zeros((3, 1, 4))
    turn[:, 0, 2:] = (0, 1), (0.6, 0.8), (0, 1)
    clips = [skinpy.Clip.from_arrays(f"turn{n}", fps=2 + n, joints=["tip"], rotation=turn) for n in range(2)]
    return skinpy.Model.from_arrays(
        ["root", "tip"],
        [-1, 0],
        np.tile(np.eye(4), (2, 1, 1)),
        positions=[[0, 0, 0], [1, 0, 0], [0, 1, 0]],
        faces=[[0, 1, 2]],
        joints=[[0], [1], [1]],
        weights=np.ones((3, 1)),
        clips=clips,
    )


def test_ten_thousand_instances_send_16_bytes_each(traffic: Traffic) -> None:
    model = triangle()
    rng = np.random.default_rng(0)
    index, time = rng.integers(0, 2, 10_000), rng.uniform(0, 5, 10_000)
    with Crowd(model, grid(model, 10_000), baked=model.bake_texture(), size=(8, 8), samples=0) as crowd:
        crowd.frame(index, time)
        for step in range(2):
            before = crowd.uploaded_bytes
            traffic.clear()
            crowd.frame(index, time + step)
            assert crowd.uploaded_bytes - before == 160_000
            assert traffic.sent == [160_000]
            assert traffic.draws == [(3, 10_000), (3, 1)]  # the last one makes the picture from the samples


def test_palettes_go_in_one_write(traffic: Traffic) -> None:
    model = skinpy.character()
    slots = len(model.skin)
    with Crowd(model, grid(model, 100), size=(8, 8), samples=0) as crowd:
        crowd.frame(0, np.arange(100.0))
        before = crowd.uploaded_bytes
        traffic.clear()
        crowd.frame(1, np.arange(100.0))
        assert crowd.uploaded_bytes - before == sum(traffic.sent)
    rows = -(-100 * slots // 256)  # whole rows of 256 slots
    assert traffic.sent == [rows * 256 * 48]
    materials = [sum(len(s.face_range) for s in model.mesh.submeshes if s.material == m) for m in range(3)]
    assert sorted(traffic.draws) == sorted([(3 * faces, 100) for faces in materials] + [(3, 1)])


def test_everything_else_is_sent_once(traffic: Traffic) -> None:
    model = triangle()
    baked = model.bake_texture()
    with Crowd(model, grid(model, 50), baked=baked, size=(8, 8), floor=Floor()) as crowd:
        assert crowd.uploaded_bytes == sum(traffic.sent)
        assert baked.nbytes in traffic.sent  # the texture
        assert 50 * 48 in traffic.sent  # the placements
        traffic.clear()
        before = crowd.uploaded_bytes
        crowd.frame(0, 0.3)
        assert traffic.sent == [50 * 16]
        traffic.clear()
        crowd.place(grid(model, 50, spacing=3.0))
        assert traffic.sent == [50 * 48]
        assert crowd.uploaded_bytes == before + 50 * 64


# ---- where the vertices are ----------------------------------------------------------------------------


def placements(rng: Rng, count: int) -> Any:
    """Random placements (N, 3, 4): rotated and scaled, some mirrored, some not uniformly."""
    linear = rng.normal(size=(count, 3, 3))
    linear += np.where(rng.random(count) < 0.5, 2.0, -2.0)[:, None, None] * np.eye(3)
    return np.concatenate([linear, rng.uniform(-20, 20, (count, 3, 1))], axis=2)


def placed(places: Any, points: Any, normals: Any) -> tuple[Any, Any]:
    """float64: (N, V, 3) positions and normals, each instance moved by its placement."""
    linear = places[..., :3].astype(float)
    moved = np.einsum("nij,nvj->nvi", linear, points.astype(float)) + places[:, None, :, 3]
    turned = np.einsum("nji,nvj->nvi", np.linalg.inv(linear), normals.astype(float))
    length = np.linalg.norm(turned, axis=-1, keepdims=True)
    return moved, turned / np.where(length > 0, length, 1.0)


def conditions(model: skinpy.Model, palettes: Any, places: Any) -> Any:
    """(N, V): how much the inverse transposes enlarge the rounding of the numbers they are made of."""
    weights, slots = model.mesh.weights.astype(float), model.mesh.slots
    blended = np.einsum("vk,nvkij->nvij", weights, palettes[:, slots][..., :3].astype(float))
    skin = np.linalg.svd(blended, compute_uv=False)
    place = np.linalg.svd(places[..., :3].astype(float), compute_uv=False)
    grown = skin[..., 0] / np.maximum(skin[..., 2], 1e-30)
    return grown * (place[:, 0] / place[:, 2])[:, None]


def assert_agrees(model: skinpy.Model, got: Any, palettes: Any, places: Any, bound: float = 0.0) -> None:
    """Positions within 1e-6 of the reach of either space, and the distance `bound` in the model's own space.

    Three roundings more than one character takes (the placement's row and sum), so twice its 1e-6.
    """
    points, normals = model.deform(palettes)
    want = placed(places, points, normals)
    stretch = np.linalg.svd(places[..., :3].astype(float), compute_uv=False)[:, 0]
    for n in range(len(places)):
        limit = 2e-6 * (stretch[n] * reach(model, points[n]) + reach(model, want[0][n]))
        assert np.linalg.norm(got[0][n] - want[0][n], axis=-1).max() <= limit + stretch[n] * bound
    if not bound:
        error = np.abs(got[1] - want[1]).max(axis=-1)
        assert (error <= 2e-6 * conditions(model, palettes, places)).all()


CROWDS: dict[str, Callable[[], skinpy.Model]] = {
    name: (lambda make=make, options=options: load(make(), **options))
    for name, (make, options) in MODELS.items()
} | {"character": skinpy.character, "crane": skinpy.crane, "chair": skinpy.chair}


@pytest.mark.parametrize("name", CROWDS)
def test_palettes_agree_with_deform(name: str) -> None:
    model = CROWDS[name]()
    rng = np.random.default_rng(3)
    count = 5
    places = placements(rng, count).astype(np.float32)
    with Crowd(model, places, size=(8, 8)) as crowd:
        index = rng.integers(0, len(model.clips), count)
        time = rng.uniform(0, 2, count)
        palettes = np.stack([model.palette(int(i), t, affine=True) for i, t in zip(index, time, strict=True)])
        got = crowd.skinned_vertices(index, time)
        assert_agrees(model, got, palettes, places)
        whole = np.zeros((*palettes.shape[:2], 4, 4), np.float32)
        whole[..., :3, :], whole[..., 3, 3] = palettes, 1
        for own in (palettes, whole):
            assert_agrees(model, crowd.skinned_vertices(palettes=own), palettes, places)


@pytest.mark.parametrize("name", CROWDS)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_baked_agrees_with_the_baked_palette(name: str, dtype: Any) -> None:
    """The shader against `BakedTexture.palette`, and against the clips themselves within the stated error."""
    model = CROWDS[name]()
    if dtype == "float16" and name == "far away":
        dtype = "float32"  # beyond float16: test_baking.py
    rng = np.random.default_rng(4)
    count = 6
    baked = model.bake_texture(fps=15, dtype=dtype)
    places = placements(rng, count).astype(np.float32)
    index = rng.integers(0, len(model.clips), count)
    time = rng.uniform(0, 3, count)
    time[:2] = 0.0, model.clips[int(index[1])].duration  # the ends too
    palettes = np.stack([baked.palette(int(i), t) for i, t in zip(index, time, strict=True)])
    with Crowd(model, places, baked=baked, size=(8, 8)) as crowd:
        got = crowd.skinned_vertices(index, time)
    assert_agrees(model, got, palettes, places)
    exact = np.stack([model.palette(int(i), t, affine=True) for i, t in zip(index, time, strict=True)])
    assert_agrees(model, got, exact, places, bound=1.02 * baked.error())


@pytest.mark.filterwarnings("ignore::skinpy.SkinpyWarning")  # for missing textures of a file
@pytest.mark.parametrize(
    "file", ["Fox.glb", "huesitos.fbx", "RiggedFigure.dae", "BCN_Epileptic.X", "interpolation_test.gltf"]
)
def test_real_models_agree(file: str) -> None:
    model = skinpy.load(data_file("models", file))
    rng = np.random.default_rng(5)
    places = placements(rng, 4).astype(np.float32)
    index, time = rng.integers(0, len(model.clips), 4), rng.uniform(0, 5, 4)
    baked = model.bake_texture(fps=30)
    with Crowd(model, places, size=(8, 8)) as crowd:
        exact = model.crowd_palette(list(model.clips), index, time, affine=True)
        assert_agrees(model, crowd.skinned_vertices(index, time), exact, places)
    with Crowd(model, places, baked=baked, size=(8, 8)) as crowd:
        own = baked.palettes(baked.instances(index, time))
        assert_agrees(model, crowd.skinned_vertices(index, time), own, places)


def test_frames_in_several_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    model = waving()
    slots = len(model.skin)
    baked = model.bake_texture(fps=60, limit=64)
    assert baked.columns == 2
    assert baked.data.shape[1] == 6 * slots
    places = grid(model, 64)
    time = np.linspace(0, model.clips[0].duration, 64)
    with Crowd(model, places, baked=baked, size=(8, 8)) as crowd:
        got = crowd.skinned_vertices(0, time)
    assert_agrees(model, got, baked.palette(0, time), places)
    monkeypatch.setattr(uploads, "table_limits", lambda context: (32, 8))
    monkeypatch.setattr(instances, "table_limits", lambda context: (32, 8))
    with pytest.raises(GraphicsError, match=r"GL_MAX_TEXTURE_SIZE 32.*bake_texture\(limit=32\)"):
        Crowd(model, places, baked=baked)


def test_larger_crowds_take_wider_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    model = waving()
    places = grid(model, 40)
    time = np.linspace(0, 1, 40)
    monkeypatch.setattr(instances, "_SLOTS_PER_ROW", (2, 8))
    monkeypatch.setattr("skinpy.render.crowd.crowd.table_limits", lambda context: (32, 8))
    with Crowd(model, places, size=(8, 8)) as crowd:  # 240 slots: 120 rows of 2 are too many, 30 of 8 are not
        assert crowd.uploaded_bytes > 0
        got = crowd.skinned_vertices(0, time)
    assert_agrees(model, got, model.palette(0, time, affine=True), places)
    with pytest.raises(GraphicsError, match=r"60 instances take 360 slots.*room for 256.*SIZE 32"):
        Crowd(model, grid(model, 60))


def test_blends_of_clips() -> None:
    model = skinpy.character()
    rng = np.random.default_rng(6)
    places = placements(rng, 4).astype(np.float32)
    index = np.array([[0, 1], [2, 0], [1, -1], [0, 0]])
    time, weights = rng.uniform(0, 1, (4, 2)), rng.uniform(0.1, 1, (4, 2))
    palettes = model.crowd_palette(list(model.clips), index, time, weights=weights, affine=True)
    with Crowd(model, places, size=(8, 8)) as crowd:
        got = crowd.skinned_vertices(index, time, weights=weights)
        assert_agrees(model, got, palettes, places)
        palettes = model.crowd_palette(
            list(model.clips), index, np.full((4, 2), 0.3), weights=weights, affine=True
        )
        assert_agrees(model, crowd.skinned_vertices(index, 0.3, weights=weights), palettes, places)


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize(
    ("index", "time", "weights"),
    [
        ([[0, 1]], 0.3, [[0.25, 0.75]]),
        (0, [[0.1, 0.6]], [[0.25, 0.75]]),
        (np.zeros((3, 2), int), [[0.1, 0.6]], [[0.25, 0.75]]),
        ([0, 1, 2], np.ones((3, 2)), [[0.25, 0.75]]),
        ([[0, 1]], [0.1, 0.2, 0.3], None),
        ([[0, 1]], [0.4], 2.0),
        ([2], 0.4, None),
    ],
)
def test_one_row_counts_for_all_instances(count: int, index: Any, time: Any, weights: Any) -> None:
    model = skinpy.character()
    index, time = (a[:count] if np.ndim(a) and len(a) > 1 else a for a in (index, time))
    tables = [np.asarray(a)[..., None] if np.ndim(a) < 2 else np.asarray(a) for a in (index, time)]
    columns = max(table.shape[-1] for table in tables)
    whole = [np.broadcast_to(table, (count, columns)) for table in tables]
    shares = None if weights is None else np.broadcast_to(weights, (count, columns))
    want = model.crowd_palette(list(model.clips), *whole, weights=shares, affine=True)
    places = grid(model, count)
    with Crowd(model, places, size=(8, 8)) as crowd:
        assert_agrees(model, crowd.skinned_vertices(index, time, weights=weights), want, places)


def test_clips_of_the_callers_choice() -> None:
    model = skinpy.character()
    short = model.clips["walk"].trim(0.1, 0.6)
    places = grid(model, 2)
    for baked in (None, model.bake_texture(["run", short], 30)):
        clips = None if baked is not None else ["run", short]
        with Crowd(model, places, baked=baked, clips=clips, size=(8, 8)) as crowd:
            assert crowd.clips == ("run", "walk")
            got = crowd.skinned_vertices([1, 0], 0.2)
        want = np.stack([model.palette(clip, 0.2, affine=True) for clip in (short, "run")])
        bound = 0.0 if baked is None else 1.02 * baked.error()
        assert_agrees(model, got, want, places, bound)


@pytest.mark.parametrize("is_baked", [False, True])
def test_morph_targets_have_the_weights_of_all(is_baked: bool) -> None:
    model = morphing(2, vertices=50, targets=5)
    weights = np.linspace(-1, 1, 5)
    places = placements(np.random.default_rng(1), 3).astype(np.float32)
    time = np.array([0.0, 0.4, 1.0])
    baked = model.bake_texture(fps=10) if is_baked else None
    palettes = model.palette(0, time, affine=True) if baked is None else baked.palette(0, time)
    for given in (None, weights):
        with Crowd(model, places, baked=baked, size=(8, 8), morph_weights=given) as crowd:
            got = crowd.skinned_vertices(0, time)
        want = placed(places, *model.deform(palettes, morph_weights=given))
        for n in range(3):
            assert np.abs(got[0][n] - want[0][n]).max() <= 4e-6 * reach(model, want[0][n])


def test_moved_crowds() -> None:
    model = waving()
    first, second = (placements(np.random.default_rng(s), 3).astype(np.float32) for s in (1, 2))
    palettes = model.palette(0, np.zeros(3), affine=True)
    with Crowd(model, first, size=(8, 8)) as crowd:
        assert_agrees(model, crowd.skinned_vertices(), palettes, first)
        crowd.place(second)
        assert_agrees(model, crowd.skinned_vertices(), palettes, second)
        with pytest.raises(ValueError, match="4 instances; the crowd has 3"):
            crowd.place(grid(model, 4))


# ---- pictures --------------------------------------------------------------------------------------------


def test_a_crowd_of_one_is_the_picture_of_one() -> None:
    model = skinpy.character()
    camera = Camera.frame(model.bounds("run"))
    with Renderer(model, size=(120, 90)) as renderer:
        want = renderer.frame("run", 0.2, camera=camera)
    baked = model.bake_texture(["run"], 40)  # 0.2 s is one of its frames
    for texture, number in ((None, 1), (baked, 0)):
        with Crowd(model, np.eye(4)[None], baked=texture, size=(120, 90)) as crowd:
            got = crowd.frame(number, 0.2, camera=camera)
        assert np.abs(got.astype(int) - want).max() <= 2
        assert got[..., 3].any()


@pytest.mark.parametrize("is_baked", [False, True])
def test_each_instance_stands_at_its_own_place(is_baked: bool) -> None:
    """Squares in three of the four corners of a view 2 units wide."""
    model = one_square()
    if is_baked:
        model = model.add_clips(skinpy.Clip.from_arrays("still", fps=1, translation=np.zeros((2, 1, 3))))
    places = np.tile(np.eye(4), (3, 1, 1))
    places[:, :3, :3] *= 0.4
    places[:, :2, 3] = (-0.5, 0.5), (0.5, 0.5), (0.5, -0.5)
    baked = model.bake_texture() if is_baked else None
    with Crowd(model, places, baked=baked, size=(64, 64)) as crowd:
        alpha = crowd.frame(camera=FRONT)[..., 3]
    assert [int(alpha[r, c]) for r, c in ((16, 16), (16, 48), (48, 48), (48, 16), (32, 32))] == [255] * 3 + [
        0
    ] * 2


def test_a_mirrored_instance_shows_its_front() -> None:
    """A mirroring placement reverses the winding of single-sided faces, but the front stays the front."""
    model = one_square((1, 0, 0, 1))
    places = np.stack([np.diag([0.4, 0.4, 0.4, 1.0]), np.diag([-0.4, 0.4, 0.4, 1.0])])
    places[:, 0, 3] = -0.5, 0.5
    with Crowd(model, places, size=(64, 64)) as crowd:
        picture = crowd.frame(camera=FRONT)
    assert picture[32, 16, 3] == picture[32, 48, 3] == 255
    assert np.abs(picture[32, 16].astype(int) - picture[32, 48]).max() < 40  # the highlight alone


def test_blended_instances_lie_over_one_another() -> None:
    file = PictureGltf()
    square(file, file.material((1, 1, 1, 0.5), alphaMode="BLEND"))
    model = load(file)
    places = np.tile(np.eye(4), (2, 1, 1))
    places[:, 0, 3] = -0.3, 0.3
    with Crowd(model, places, size=(64, 64)) as crowd:
        alpha = crowd.frame(camera=FRONT)[..., 3].astype(int)
    assert abs(alpha[32, 10] - 128) <= 1
    assert abs(alpha[32, 32] - 191) <= 1  # 1 - 0.5 * 0.5


def test_all_of_the_crowd_is_in_the_picture() -> None:
    model = skinpy.character()
    with Crowd(model, grid(model, 9), size=(160, 120), samples=0) as crowd:
        seen = crowd.frame(np.arange(9) % 3, np.linspace(0, 2, 9))[..., 3] > 0
    assert not (seen[0].any() or seen[-1].any() or seen[:, 0].any() or seen[:, -1].any())
    rows, columns = np.nonzero(seen)
    assert np.ptp(columns) > 0.6 * 160 or np.ptp(rows) > 0.6 * 120


def test_the_floor_lies_under_all() -> None:
    model = skinpy.character()
    with Crowd(model, grid(model, 4), size=(80, 60), floor=Floor()) as crowd:
        crowd.frame()
        picture, again = crowd.frame(0, 0.0), crowd.frame(0, 7.0)
    assert (picture[50, :, 3] == 255).all()
    assert (picture[59, ::20] == again[59, ::20]).all()


@pytest.mark.parametrize("is_baked", [False, True])
def test_each_instance_has_the_shadow_of_one(is_baked: bool) -> None:
    """Each of four figures, far apart, has the shadow of a single figure."""
    model = skinpy.character()
    places = grid(model, 4, spacing=6.0)
    camera, size = Camera.look_at((0.0, 1.4, 1.6), (0.0, 0.1, 0.1), fov=38), (96, 72)
    floor = {"colors": ("#cccccc", "#cccccc"), "size": 200.0, "speed": None}
    pictures: dict[float, Any] = {}
    for strength in (0.0, 0.7):
        alone = Renderer(model, size=size, samples=0, floor=Floor(**floor, shadow=strength))
        baked = model.bake_texture("walk", 50) if is_baked else None
        clips = None if is_baked else ["walk"]
        options = {"size": size, "samples": 0, "floor": Floor(**floor, shadow=strength)}
        with alone, Crowd(model, places, baked=baked, clips=clips, **options) as crowd:
            own = [alone.frame("walk", 0.3, camera=camera)]
            for place in places[:, :, 3]:
                at = Camera.look_at(camera.eye + place, camera.target + place, fov=38)
                own.append(crowd.frame(0, 0.3, camera=at))
        pictures[strength] = np.stack(own)[..., :3].astype(int)
    darker = (pictures[0.0] - pictures[0.7]).max(axis=-1)
    assert darker[0].max() > 60 and (darker[0] > 20).sum() > 60
    assert darker.min() > -2  # nothing gets lighter
    for one in darker[1:]:
        assert (one > 20).sum() == pytest.approx((darker[0] > 20).sum(), rel=0.1)
        assert np.abs(one - darker[0])[darker[0] == 0].mean() < 0.1
        assert np.corrcoef(one.ravel(), darker[0].ravel())[0, 1] > 0.98


def test_shadows_are_one_draw_call_and_send_nothing(traffic: Traffic) -> None:
    model = triangle()
    draws, sent = [], []
    for shadow in (0.0, 0.7):
        with Crowd(model, grid(model, 50), size=(8, 8), samples=0, floor=Floor(shadow=shadow)) as crowd:
            crowd.frame()
            traffic.clear()
            crowd.frame()
            draws.append(traffic.draws.copy())
            sent.append(traffic.sent.copy())
    assert sent[0] == sent[1]
    assert [sum(instances == 50 for _, instances in calls) for calls in draws] == [1, 2]


def test_shadows_of_crowds_that_are_scaled_or_moved() -> None:
    """In centimeters a crowd has the shadows that it has in meters, also after it was moved apart."""
    model = skinpy.character()
    seen = []
    for scale in (1.0, 100.0):
        places = grid(model, 4)
        places *= scale
        camera = Camera.look_at(np.multiply((3.0, 3.0, 5.0), scale), (0.0, 0.0, 0.0), fov=38)
        floor = Floor(size=40 * scale, tile=1.0 * scale)
        with Crowd(model, places, clips=["walk"], size=(96, 72), samples=0, floor=floor) as crowd:
            one = [crowd.frame(0, 0.3, camera=camera)]
            apart = places.copy()
            apart[:, :, 3] *= 12  # takes a larger map
            crowd.place(apart)
            crowd.frame(0, 0.3)
            crowd.place(places)
            one.append(crowd.frame(0, 0.3, camera=camera))
        assert np.array_equal(one[0], one[1])
        seen.append(one[0].astype(int))
    assert np.abs(seen[0] - seen[1]).mean() < 0.5


def test_a_grid_stands_on_the_ground_and_apart() -> None:
    model = skinpy.character()
    for count in (1, 2, 7, 9, 100):
        places = grid(model, count, spacing=2.0)
        assert places.shape == (count, 3, 4)
        assert (places[:, :, :3] == np.eye(3)).all()
        spots = places[:, :, 3]
        assert (spots[:, 1] == 0).all()
        assert np.abs(spots[:, 0].min() + spots[:, 0].max()) < 1e-6
        gaps = np.linalg.norm(spots[:, None] - spots, axis=-1) + np.eye(count) * 9
        assert gaps.min() >= 2.0 - 1e-6 or count == 1
        assert (np.diff(spots[:, 2]) >= 0).all()  # from the back to the front
    wide = model.bounds()[1, 0] - model.bounds()[0, 0]
    assert grid(model, 2)[1, 0, 3] - grid(model, 2)[0, 0, 3] == pytest.approx(1.25 * wide, rel=1e-5)


@pytest.mark.parametrize(("up", "height"), [("+Y", 1), ("+Z", 2), ("-X", 0)])
def test_any_axis_may_be_up(up: str, height: int) -> None:
    model = load(builders.chain(6, step=0.3), up=up)
    places = grid(model, 5)
    assert (places[:, height, 3] == 0).all()
    spots = np.delete(places[..., 3], height, axis=1)
    assert (np.ptp(spots, axis=0) > 0).all()
    with Crowd(model, places, size=(64, 48), samples=0) as crowd:
        seen = crowd.frame(0, np.linspace(0, 1, 5))[..., 3] > 0
    assert seen.any()
    assert not (seen[0].any() or seen[-1].any() or seen[:, 0].any() or seen[:, -1].any())


# ---- arguments ------------------------------------------------------------------------------------------


def crowd(model: Any, count: int = 2, **options: Any) -> Crowd:
    return Crowd(model, grid(model, count), size=(8, 8), **options)


BAD: list[tuple[str, Callable[[Any], Any], type[Exception], str]] = [
    ("placements shape", lambda m: Crowd(m, np.eye(3)), ValueError, r"placements has shape \(3, 3\)"),
    ("placements 4x4", lambda m: Crowd(m, np.eye(4)), ValueError, r"placements has shape \(4, 4\)"),
    ("no placements", lambda m: Crowd(m, np.zeros((0, 3, 4))), ValueError, "at least one"),
    ("placements nan", lambda m: Crowd(m, np.full((1, 3, 4), np.nan)), ValueError, "placements"),
    ("projective", lambda m: Crowd(m, np.ones((1, 4, 4))), ValueError, "affine"),
    ("placements words", lambda m: Crowd(m, [["a"]]), TypeError, "placements"),
    ("baked type", lambda m: crowd(m, baked=3), TypeError, "BakedTexture"),
    ("baked of another", lambda m: crowd(m, baked=waving().bake_texture()), ValueError, "another model"),
    ("baked and clips", lambda m: crowd(m, baked=m.bake_texture(), clips=[0]), ValueError, "together"),
    ("clips type", lambda m: crowd(m, clips="curl"), TypeError, "sequence"),
    ("clips name", lambda m: crowd(m, clips=["crul"]), KeyError, "curl"),
    ("size", lambda m: Crowd(m, grid(m, 1), size=(0, 1)), ValueError, "size"),
    ("samples", lambda m: crowd(m, samples=-1), ValueError, "samples"),
    ("floor", lambda m: crowd(m, floor=1), TypeError, "Floor"),
    ("background", lambda m: crowd(m, background="red"), ValueError, "background"),
    ("morph weights", lambda m: crowd(m, morph_weights=[1.0]), ValueError, "morph_weights"),
    ("index", lambda m: crowd(m).frame(7), ValueError, "clip_index"),
    ("index baked", lambda m: crowd(m, baked=m.bake_texture()).frame(7), ValueError, "clip_index"),
    ("weights shape", lambda m: crowd(m).frame(weights=[[1]] * 3), ValueError, r"weights has shape \(3, 1\)"),
    ("weights ragged", lambda m: crowd(m).frame(weights=[[1], [1, 2]]), ValueError, "weights is ragged"),
    ("index shape", lambda m: crowd(m).frame([0, 0, 0]), ValueError, r"clip_index has shape \(3,\)"),
    (
        "index shape baked",
        lambda m: crowd(m, baked=m.bake_texture()).frame([0, 0, 0]),
        ValueError,
        r"clip_index has shape \(3,\); expected one number or \(2,\)",
    ),
    (
        "time shape baked",
        lambda m: crowd(m, baked=m.bake_texture()).frame(0, [0.0] * 3),
        ValueError,
        r"time has shape \(3,\)",
    ),
    ("time nan", lambda m: crowd(m).frame(0, np.nan), ValueError, "time"),
    ("time nan baked", lambda m: crowd(m, baked=m.bake_texture()).frame(0, np.nan), ValueError, "time"),
    ("loop", lambda m: crowd(m).frame(loop="round"), ValueError, "loop"),
    ("ragged", lambda m: crowd(m).frame([[0], [0, 0]]), ValueError, "clip_index is ragged"),
    (
        "weights baked",
        lambda m: crowd(m, baked=m.bake_texture()).frame(weights=[1.0, 1.0]),
        ValueError,
        "weights, palettes and rotation",
    ),
    ("palettes", lambda m: crowd(m).frame(palettes=np.zeros((2, 5, 3, 4))), ValueError, "palettes has shape"),
    ("out", lambda m: crowd(m).frame(out=np.zeros((8, 8, 3), np.uint8)), ValueError, "out"),
    ("grid", lambda m: grid(m, 0), ValueError, "count is 0"),
    ("grid type", lambda m: grid(m, 1.5), TypeError, "count is 1.5; expected a whole number"),
    ("spacing", lambda m: grid(m, 2, spacing=0), ValueError, "spacing"),
]


@pytest.mark.parametrize(("case", "call", "error", "match"), BAD, ids=[b[0] for b in BAD])
def test_bad_arguments(case: str, call: Callable[[Any], Any], error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        call(waving())


def test_a_model_without_a_mesh_is_refused() -> None:
    file = builders.chain(3, skinned=False)
    for node in file.nodes:
        node.pop("mesh", None)
    file.meshes.clear()
    with pytest.raises(ValueError, match="no mesh"):
        Crowd(load(file), np.eye(4)[None])


# ---- threads and lifetimes --------------------------------------------------------------------------


def test_threads_may_share_a_crowd() -> None:
    model = waving()
    with crowd(model, 5) as shared:
        want = [shared.skinned_vertices(0, t)[0] for t in (0.1, 0.5)]
        got: dict[int, Any] = {}

        def work(n: int) -> None:
            got[n] = all((shared.skinned_vertices(0, (0.1, 0.5)[n])[0] == want[n]).all() for _ in range(10))

        workers = [threading.Thread(target=work, args=(n,)) for n in range(2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert got == {0: True, 1: True}


@pytest.mark.parametrize("how", ["close", "drop"])
def test_nothing_is_left_on_the_gpu(how: str) -> None:
    def draw_once() -> None:
        model = waving()
        for baked in (None, model.bake_texture(fps=5)):
            shown = crowd(model, baked=baked, floor=Floor())
            shown.frame()
            if how == "close":
                shown.close()

    draw_once()
    gc.collect()
    before = living_objects()
    for _ in range(3):
        draw_once()
    gc.collect()
    assert living_objects() == before


def test_a_closed_crowd_says_so() -> None:
    shown = crowd(waving())
    shown.close()
    shown.close()
    with pytest.raises(GraphicsError, match="closed"):
        shown.frame()
    assert gl.call(lambda context: context.error) == "GL_NO_ERROR"


# ---- the command line ----------------------------------------------------------------------------------


def alpha_of(path: Any) -> Any:
    image = pytest.importorskip("PIL.Image")
    with image.open(path) as picture:
        return np.asarray(picture)[..., 3]


def test_the_command_line_draws_a_crowd(tmp_path: Any) -> None:
    options = ["--size", "64x48", "-o"]
    one, many = tmp_path / "one.png", tmp_path / "many.png"
    assert main(["render", CHARACTER, "--crowd", "1", *options, str(one)]) == 0
    assert main(["render", CHARACTER, "--crowd", "6", "--clip", "run", "--floor", *options, str(many)]) == 0
    assert 0 < (alpha_of(one) == 255).mean() < 0.5
    assert (alpha_of(many)[40] > 0).all()


def test_the_command_line_draws_a_crowd_at_rest(tmp_path: Any) -> None:
    path = tmp_path / "squares.glb"
    file = PictureGltf()
    square(file, file.material())
    path.write_bytes(file.glb())
    assert main(["render", str(path), "--crowd", "4", "-o", str(tmp_path / "o.png")]) == 0
    assert (alpha_of(tmp_path / "o.png") == 255).any()


@pytest.mark.parametrize("count", ["0", "-1", "many", "1.5"])
def test_a_crowd_of_none_is_a_usage_error(
    count: str, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["render", CHARACTER, f"--crowd={count}", "-o", str(tmp_path / "o.png")])
    assert stop.value.code == 2
    assert "expected a whole number, 1 or more" in capsys.readouterr().err
