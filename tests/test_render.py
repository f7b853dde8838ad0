"""Pictures: the results of the GPU, the composition of frames, and the thread and memory of OpenGL.

Everything runs on whatever OpenGL there is (Mesa's software renderer in CI). OpenGL's error state is looked
at after each test.
"""

from __future__ import annotations

import gc
import io
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time as clock
import warnings
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import builders
import numpy as np
import pytest
from builders import Gltf
from conftest import HANGS

import skinpy
from skinpy.errors import GraphicsError, ShaderError

pytest.importorskip("moderngl", reason="moderngl (the extra `view`) draws the pictures")

import moderngl

from skinpy.output.picture import flatten
from skinpy.render import Camera, Renderer, render
from skinpy.render.gpu import context as gl
from skinpy.render.gpu import shader as shaders
from skinpy.render.gpu import target
from skinpy.render.scene import palette as transports
from skinpy.render.scene import skeleton as skeletons

# Seen from +Z, 2 units high and wide: a square of half the size covers the middle of the picture.
FRONT = Camera.look_at((0, 0, 10), fov=2 * np.degrees(np.arctan(0.1)))


pytestmark = pytest.mark.usefixtures("opengl")


def load(file: Gltf, **options: Any) -> Any:
    return skinpy.load(file.glb(), format="glb", **options)


# ------------------------------------------------------------------------------------------------ models


class PictureGltf(Gltf):
    """A glTF writer that also knows images, which stand in the buffer as PNG."""

    def __init__(self) -> None:
        super().__init__()
        self.images: list[dict[str, Any]] = []

    def image(self, pixels: Any) -> int:
        """(h, w, 4) uint8; gives the number of its texture."""
        image = pytest.importorskip("PIL.Image")
        data = io.BytesIO()
        image.fromarray(np.asarray(pixels, np.uint8)).save(data, "PNG")
        return self.raw_image(data.getvalue())

    def raw_image(self, data: bytes) -> int:
        view = self._view(np.frombuffer(data, np.uint8))
        self.images.append({"bufferView": view, "mimeType": "image/png"})
        return len(self.images) - 1

    def material(self, color: Any = (1, 1, 1, 1), texture: int | None = None, **options: Any) -> int:
        surface: dict[str, Any] = {"baseColorFactor": [float(c) for c in color]}
        if texture is not None:
            surface["baseColorTexture"] = {"index": texture}
        self.materials.append({"pbrMetallicRoughness": surface, **options})
        return len(self.materials) - 1

    def document(self) -> dict[str, Any]:
        out = super().document()
        if self.images:
            out["images"] = self.images
            out["textures"] = [{"source": i} for i in range(len(self.images))]
        return out


def square(
    file: Gltf, material: int | None, *, z: float = 0.0, half: float = 0.5, back: bool = False, **place: Any
) -> int:
    """A square that faces +Z (or -Z), with texture coordinates that start at its top left."""
    p = np.array([[-half, half, z], [-half, -half, z], [half, -half, z], [half, half, z]])
    uv = np.array([[0, 0], [0, 1], [1, 1], [1, 0]], float)
    faces = np.array([[0, 1, 2], [0, 2, 3]])
    normals = np.tile([0.0, 0.0, -1.0 if back else 1.0], (4, 1))
    faces = faces[:, ::-1] if back else faces
    mesh = file.mesh(file.primitive(p, faces, normals=normals, uvs=uv, material=material))
    return file.node(f"square{len(file.nodes)}", mesh=mesh, **place)


def one_square(color: Any = (1, 1, 1, 1), **options: Any) -> Any:
    file = PictureGltf()
    square(file, file.material(color, **options))
    return load(file)


def waving() -> Any:
    """A skinned tube with one clip."""
    return load(builders.chain(6, step=0.3))


# ------------------------------------------------------------------------------------------------ arguments

BAD: list[tuple[str, Callable[[Any], Any], type[Exception], str]] = [
    ("size", lambda m: render(m, size=(0, 4)), ValueError, "size"),
    ("size of three", lambda m: render(m, size=(4, 4, 4)), TypeError, "size"),
    ("size of floats", lambda m: render(m, size=(4.5, 4)), TypeError, "size"),
    ("size none", lambda m: render(m, size=None), TypeError, "size"),
    ("size huge", lambda m: render(m, size=(1 << 20, 1)), ValueError, "at most"),
    ("samples", lambda m: Renderer(m, samples=-1), ValueError, "samples"),
    ("samples text", lambda m: Renderer(m, samples="4"), TypeError, "samples"),
    ("background text", lambda m: render(m, background="red"), ValueError, "background"),
    ("background range", lambda m: render(m, background=(0, 0, 255)), ValueError, "background"),
    ("background two", lambda m: render(m, background=(0, 0)), ValueError, "background"),
    ("background number", lambda m: render(m, background=3), TypeError, "background"),
    ("transport", lambda m: render(m, transport="pigeon"), ValueError, "transport"),
    ("time array", lambda m: render(m, time=[0.0, 1.0]), ValueError, "time"),
    ("time text", lambda m: render(m, time="0.5"), TypeError, "time is '0.5'; expected a number of seconds"),
    ("time none", lambda m: render(m, time=None), TypeError, "time is None"),
    ("camera", lambda m: render(m, camera="front"), TypeError, "camera is str; expected a Camera"),
    ("time nan", lambda m: render(m, time=float("nan")), ValueError, "time"),
    ("loop", lambda m: render(m, loop="round"), ValueError, "loop"),
    ("root", lambda m: render(m, root=np.eye(3)), ValueError, "root"),
    ("clip name", lambda m: render(m, "curll"), KeyError, "curl"),
    ("clip number", lambda m: render(m, 7), IndexError, "clip"),
    ("clip type", lambda m: render(m, 1.5), TypeError, "clip"),
    ("pose and clip", lambda m: render(m, 0, pose=m.pose()), ValueError, "pose"),
    ("pose type", lambda m: render(m, pose=3), TypeError, "pose"),
    ("palette shape", lambda m: render(m, pose=np.zeros((2, 3, 4), np.float32)), ValueError, "pose"),
    ("several poses", lambda m: render(m, pose=m.pose(0, [0.0, 1.0])), ValueError, "pose"),
    ("out list", lambda m: render(m, size=(4, 2), out=[[0]]), TypeError, "out"),
    ("out shape", lambda m: render(m, size=(4, 2), out=np.zeros((4, 2, 4), np.uint8)), ValueError, "out"),
    ("out type", lambda m: render(m, size=(4, 2), out=np.zeros((2, 4, 4), np.int8)), ValueError, "out"),
    (
        "out layout",
        lambda m: render(m, size=(4, 2), out=np.zeros((2, 8, 4), np.uint8)[:, ::2]),
        ValueError,
        "out",
    ),
]


@pytest.mark.parametrize(("case", "call", "error", "match"), BAD, ids=[b[0] for b in BAD])
def test_bad_arguments(case: str, call: Callable[[Any], Any], error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        call(waving())


def test_a_picture_beyond_the_memory_says_what_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise moderngl.Error("the framebuffer is not complete (INCOMPLETE_ATTACHMENT)")

    monkeypatch.setattr(target.Target, "_make_framebuffers", full)
    with pytest.raises(GraphicsError, match=r"size is 61x47, .*: choose a smaller size$"):
        render(waving(), size=(61, 47))


def test_a_clip_of_another_model_is_refused() -> None:
    with pytest.raises(ValueError, match="add_clips"):
        render(waving(), waving().clips[0])


def test_a_closed_renderer_says_so() -> None:
    renderer = Renderer(waving(), size=(8, 8))
    renderer.close()
    renderer.close()
    with pytest.raises(GraphicsError, match="closed"):
        renderer.frame()


# ------------------------------------------------------------------------------------------------ the skin

MODELS: dict[str, tuple[Callable[[], Gltf], dict[str, Any]]] = {
    "chain": (lambda: builders.chain(24), {}),
    "300 joints": (lambda: builders.many_joints(300), {}),
    "eight influences": (builders.eight_influences, {"max_influences": 8}),
    "eight cut to four": (builders.eight_influences, {}),
    "one influence": (builders.eight_influences, {"max_influences": 1}),
    "shear": (builders.shear, {}),
    "two offsets": (builders.two_offsets, {}),
    "mirrored": (builders.negative_scale, {}),
    "rigid": (builders.mesh_nodes, {}),
    "far away": (builders.far_away, {}),
    **{f"seed {s}": (lambda s=s: builders.random_model(s), {}) for s in range(4)},
}


def reach(model: Any, positions: Any) -> float:
    """What api.md measures precision by: the size, or the largest distance from the origin."""
    points = np.asarray(positions, np.float64).reshape(-1, 3)
    return float(max(np.ptp(points, axis=0).max(), np.linalg.norm(points, axis=1).max()))


@pytest.mark.parametrize("transport", ["uniform", "texture"])
@pytest.mark.parametrize("name", MODELS)
def test_the_gpu_agrees_with_deform(name: str, transport: str) -> None:
    make, options = MODELS[name]
    model = load(make(), **options)
    with Renderer(model, size=(8, 8), transport=transport) as renderer:
        for clip in (None, *model.clips):
            for t in (0.0, 0.3, 0.77) if clip is not None else (0.0,):
                palette = model.palette(clip, t, affine=True)
                want = model.deform(palette)
                got = renderer.skinned_vertices(pose=palette)
                limit = 1e-6 * reach(model, want[0])
                assert np.abs(got[0] - want[0]).max() <= limit
                assert (np.abs(got[1] - want[1]).max(axis=1) <= 1e-6 * condition(model, palette)).all()


def condition(model: Any, palette: Any) -> Any:
    """How much the inverse transpose of each vertex enlarges the rounding of its input, (V,)."""
    blended = np.einsum("vk,vkij->vij", model.mesh.weights.astype(float), palette[model.mesh.slots][..., :3])
    sizes = np.linalg.svd(blended, compute_uv=False)
    return sizes[:, 0] / np.maximum(sizes[:, 2], 1e-30)


def test_a_palette_beyond_any_uniform_block() -> None:
    """Past the limit the transport changes, not the result; asking for the block there is an error."""
    file = builders.many_joints(1600)
    file.animations.clear()
    model = load(file)
    slots = len(model.skin.joints)
    assert slots > gl.call(transports.UniformPalette.capacity)
    with pytest.raises(ValueError, match="texture"):
        Renderer(model, transport="uniform")
    rng = np.random.default_rng(2)
    palette = np.asarray(model.palette(None, 0.0, affine=True)).copy()
    palette[:, :, 3] += rng.normal(size=(slots, 3)).astype(np.float32)
    with Renderer(model, size=(8, 8)) as renderer:
        got, want = renderer.skinned_vertices(pose=palette), model.deform(palette)
    assert np.abs(got[0] - want[0]).max() <= 1e-6 * reach(model, want[0])


def test_both_transports_draw_the_same_picture() -> None:
    model = waving()
    pictures = [render(model, 0, 0.7, (96, 96), transport=t) for t in ("uniform", "texture")]
    assert np.abs(pictures[0].astype(int) - pictures[1]).max() <= 1
    assert (pictures[0] == render(model, 0, 0.7, (96, 96))).all()


# ------------------------------------------------------------------------------------------------ frames


def test_default_is_the_first_clip_at_its_start() -> None:
    model = waving()
    assert (render(model, size=(64, 48)) == render(model, 0, 0.0, (64, 48))).all()
    assert (render(model, size=(64, 48)) == render(model, model.clips[0], size=(64, 48))).all()
    assert (render(model, size=(64, 48)) != render(model, "curl", 0.6, (64, 48))).any()


def test_without_clips_the_rest_pose_is_drawn() -> None:
    picture = render(one_square(), size=(64, 48))
    assert picture.shape == (48, 64, 4)
    assert picture.dtype == np.uint8
    assert picture[..., 3].max() == 255


def test_frames_are_frame_with_one_camera() -> None:
    model = waving()
    with Renderer(model, size=(64, 48), background="#102030") as renderer:
        times = np.array([0.0, 0.4, 0.8])
        for t, picture in zip(times, renderer.frames("curl", times), strict=True):
            assert (picture == renderer.frame("curl", t)).all()


def test_a_pose_or_a_palette_in_place_of_a_clip() -> None:
    model = waving()
    with Renderer(model, size=(64, 48)) as renderer:
        camera = renderer.camera("curl")
        want = renderer.frame("curl", 0.4)
        pose = model.pose("curl", 0.4)
        assert (renderer.frame(pose=pose, camera=camera) == want).all()
        for affine in (True, False):
            palette = model.palette("curl", 0.4, affine=affine)
            assert (renderer.frame(pose=palette, camera=camera) == want).all()
        assert renderer.frame(pose=pose)[..., 3].any()  # with the camera that frames the pose


def test_out_takes_the_picture() -> None:
    model = waving()
    out = np.zeros((48, 64, 4), np.uint8)
    assert render(model, size=(64, 48), out=out) is out
    assert (out == render(model, size=(64, 48))).all()


def test_the_root_transform_moves_model_and_camera_alike() -> None:
    model = waving()
    root = np.eye(4)
    root[:3, 3] = (100, -50, 7)
    with Renderer(model, size=(64, 48)) as renderer:
        moved, still = renderer.frame(0, 0.3, root=root), renderer.frame(0, 0.3)
    assert np.abs(moved.astype(int) - still).mean() < 1


@pytest.mark.parametrize("size", [(160, 40), (40, 160), (97, 61)])
@pytest.mark.parametrize("samples", [0, 4])
def test_the_whole_clip_is_in_the_picture(size: tuple[int, int], samples: int) -> None:
    model = waving()
    ever = np.zeros(size[::-1], bool)
    with Renderer(model, size=size, samples=samples) as renderer:
        for picture in renderer.frames(0, np.linspace(0, model.clips[0].duration, 9)):
            seen = picture[..., 3] > 0
            assert not (seen[0].any() or seen[-1].any() or seen[:, 0].any() or seen[:, -1].any())
            ever |= seen
    rows, columns = np.nonzero(ever)
    assert max(np.ptp(rows) / size[1], np.ptp(columns) / size[0]) > 0.8  # 0.06 is left free at each side


def test_samples_are_clamped() -> None:
    largest = gl.call(lambda context: int(context.max_samples))
    for asked in (0, 1, 2, 3, 64):
        with Renderer(one_square(), size=(8, 8), samples=asked) as renderer:
            assert renderer.samples <= min(asked, largest)
            assert renderer.samples != 1


# ------------------------------------------------------------------------------------------------ composing


def front(model: Any, size: int = 64, **options: Any) -> Any:
    return render(model, size=(size, size), camera=FRONT, **options)


def test_row_0_is_on_top_and_column_0_on_the_left() -> None:
    file = PictureGltf()
    square(file, file.material(), half=0.2, t=(-0.5, 0.5, 0))
    seen = front(load(file))[..., 3] == 255
    rows, columns = np.nonzero(seen)
    assert rows.max() < 32
    assert columns.max() < 32
    assert seen[16, 16]


def test_texture_coordinates_start_at_the_top_left() -> None:
    file = PictureGltf()
    pixels = np.zeros((2, 2, 4), np.uint8)
    pixels[..., 3] = 255
    pixels[0, 0, 0] = pixels[0, 1, 1] = pixels[1, 0, 2] = 255  # red, green / blue, black
    pixels = pixels.repeat(16, axis=0).repeat(16, axis=1)
    square(file, file.material(texture=file.image(pixels)), half=0.8)
    picture = front(load(file))
    top_left, top_right, bottom_left, bottom_right = (
        picture[r, c, :3].astype(int) for r, c in ((16, 16), (16, 48), (48, 16), (48, 48))
    )
    assert top_left.argmax() == 0
    assert top_right.argmax() == 1
    assert bottom_left.argmax() == 2
    for color in (top_left, top_right, bottom_left):
        assert color.max() > 200
        assert np.sort(color)[1] < 60  # the highlight alone
    assert bottom_right.max() < 60


@pytest.mark.parametrize("influences", [4, 8])
def test_vertex_colors_multiply_and_tangents_do_no_harm(influences: int) -> None:
    file = PictureGltf()
    node = square(file, file.material((1, 0.5, 0.25, 1)), half=0.8)
    attributes = file.meshes[0]["primitives"][0]["attributes"]
    attributes["COLOR_0"] = file.accessor(np.tile([0.0, 1.0, 0.5, 1.0], (4, 1)))
    attributes["TANGENT"] = file.accessor(np.tile([1.0, 0.0, 0.0, 1.0], (4, 1)))
    attributes["JOINTS_0"] = attributes["JOINTS_1"] = file.accessor(np.zeros((4, 4), int), "u1")
    attributes["WEIGHTS_0"] = file.accessor(np.tile([0.5, 0, 0, 0], (4, 1)))
    attributes["WEIGHTS_1"] = file.accessor(np.tile([0.5, 0, 0, 0], (4, 1)))
    file.nodes[node]["skin"] = file.skin([file.node("joint")])
    model = load(file, max_influences=influences)
    assert model.mesh.colors is not None
    assert model.mesh.tangents is not None
    got = front(model)[16, 16].astype(int)
    want = front(one_square((0, 0.5, 0.125, 1)))[32, 32]
    assert got[3] == 255
    assert np.abs(got - want).max() < 30  # the highlight is elsewhere
    assert got[1] > got[2] > got[0]


def test_an_image_that_cannot_be_decoded_is_left_out() -> None:
    pytest.importorskip("PIL")
    file = PictureGltf()
    square(file, file.material(texture=file.raw_image(b"\x89PNG\r\n\x1a\n" + b"no image" * 8)))
    model = load(file)
    with pytest.warns(skinpy.SkinpyWarning, match="not drawn"):
        picture = front(model)
    assert picture[32, 32, 3] == 255


@pytest.mark.parametrize(
    ("color", "bytes_"),
    [
        (None, (0, 0, 0, 0)),
        ("#204060", (0x20, 0x40, 0x60, 255)),
        ("#fff", (255, 255, 255, 255)),
        ("#01020380", (1, 2, 3, 128)),
        ((0.2, 0.4, 0.6), (51, 102, 153, 255)),
        ([1, 0, 0, 0.2], (255, 0, 0, 51)),
    ],
)
def test_the_background_is_the_color_asked_for(color: Any, bytes_: tuple[int, ...]) -> None:
    picture = front(one_square(), background=color)
    for corner in (picture[0, 0], picture[0, -1], picture[-1, 0], picture[-1, -1]):
        assert tuple(corner) == bytes_
    assert picture[32, 32, 3] == 255


def test_edges_have_no_fringe() -> None:
    """Straight alpha: a pixel that is half covered has the color of the inside, at half the alpha."""
    if gl.call(lambda context: context.max_samples) < 2:
        pytest.skip("this OpenGL has no multisampling")
    file = PictureGltf()
    square(file, file.material((0.8, 0.2, 0.1, 1)), r=builders.about((0, 0, 1), 20))
    picture = front(load(file), samples=4)
    partial = (picture[..., 3] > 0) & (picture[..., 3] < 255)
    assert partial.sum() > 50
    inside = picture[32, 32, :3].astype(int)
    assert np.abs(picture[partial][:, :3].astype(int) - inside).max() <= 6  # shading varies a little


def test_transparent_or_not_the_picture_is_the_same() -> None:
    """A transparent picture laid on a color is the picture drawn on that color."""
    file = PictureGltf()
    square(file, file.material((0.9, 0.3, 0.1, 0.4), alphaMode="BLEND"), r=builders.about((0, 0, 1), 30))
    square(file, file.material((0.1, 0.4, 0.8, 1)), half=0.3, z=-0.5, r=builders.about((0, 0, 1), 10))
    model = load(file)
    laid = flatten(front(model), (30, 60, 200))
    drawn = front(model, background=(30 / 255, 60 / 255, 200 / 255))[..., :3]
    assert np.abs(laid.astype(int) - drawn).max() <= 2


def test_blended_alpha() -> None:
    model = one_square((1, 1, 1, 0.5), alphaMode="BLEND", doubleSided=True)
    assert abs(int(front(model)[32, 32, 3]) - 128) <= 1
    opaque = one_square((1, 1, 1, 0.5))
    assert front(opaque)[32, 32, 3] == 255


@pytest.mark.parametrize("near_first", [True, False])
def test_blended_layers_are_drawn_from_back_to_front(near_first: bool) -> None:
    """Red glass before blue glass: red wins, whichever stands first in the file."""
    file = PictureGltf()
    places = [(0.3, (1, 0, 0, 0.7)), (-0.3, (0, 0, 1, 0.7))]
    for z, color in places if near_first else places[::-1]:
        square(file, file.material(color, alphaMode="BLEND"), t=(0, 0, z))
    pixel = front(load(file))[32, 32].astype(int)
    assert pixel[0] > pixel[2] + 60
    assert abs(pixel[3] - 255 * (1 - 0.3 * 0.3)) <= 2


def test_opaque_hides_blended_and_shows_through_it() -> None:
    file = PictureGltf()
    square(file, file.material((0, 1, 0, 0.5), alphaMode="BLEND"), t=(0, 0, -0.5))
    square(file, file.material((1, 0, 0, 1)), half=0.2)
    square(file, file.material((0, 0, 1, 0.5), alphaMode="BLEND"), half=0.1, t=(0, 0, 0.5))
    picture = front(load(file)).astype(int)
    assert picture[32, 32, 1] < 60  # behind the red one
    assert picture[32, 32, 0] > 100
    assert picture[32, 32, 2] > 100
    assert picture[32, 20, 1] > 200  # beside it


def test_masked_pixels_are_not_drawn() -> None:
    file = PictureGltf()
    pixels = np.full((32, 32, 4), 255, np.uint8)
    pixels[:, :16, 3] = 100
    square(file, file.material(texture=file.image(pixels), alphaMode="MASK", alphaCutoff=0.5), half=0.8)
    square(file, file.material(texture=0, alphaMode="MASK", alphaCutoff=0.2), half=0.2, z=-0.1)
    picture = front(load(file))
    assert picture[16, 16, 3] == 0
    assert picture[16, 48, 3] == 255
    assert picture[32, 28, 3] == 255  # the lower cutoff keeps an alpha of 100 / 255


@pytest.mark.parametrize("double_sided", [True, False])
def test_back_faces(double_sided: bool) -> None:
    file = PictureGltf()
    square(file, file.material(doubleSided=double_sided), back=True)
    pixel = front(load(file))[32, 32]
    assert pixel[3] == (255 if double_sided else 0)
    if double_sided:  # lit as if it faced us
        assert (pixel == front(one_square())[32, 32]).all()


@pytest.mark.parametrize("alpha", ["OPAQUE", "BLEND"])
def test_mirrored_parts_show_their_outside(alpha: str) -> None:
    """A negative scale reverses the winding; the front stays the front, with its light."""
    pictures = []
    for scale in ((1, 1, 1), (-1, 1, 1)):
        file = PictureGltf()
        square(file, file.material((1, 1, 1, 0.5), alphaMode=alpha), s=scale)
        pictures.append(front(load(file)))
    assert pictures[0][32, 32, 3] > 0
    assert np.abs(pictures[0].astype(int) - pictures[1]).max() <= 1


def test_vertices_without_normals_are_lit() -> None:
    model = one_square()
    palette = np.zeros((1, 3, 4), np.float32)
    palette[0, :, :3] = np.diag([1, 1, 0])  # flat: the normals' transform has rank 2
    assert front(model, pose=palette)[32, 32, :3].min() > 60


# ------------------------------------------------------------------------------------------------ skeletons


def bare_skeleton(joints: int) -> Any:
    file = builders.chain(joints, step=0.5, skinned=False)
    return load(file)


def test_a_model_without_a_mesh_shows_its_skeleton() -> None:
    model = bare_skeleton(5)
    assert len(model.mesh.positions) == 0
    with Renderer(model, size=(80, 60)) as renderer:
        picture = renderer.frame(0, 0.4)
        assert 40 < (picture[..., 3] > 0).sum() < 2000
        assert (picture != renderer.frame(0, 1.2)).any()
        assert (renderer.frame(pose=model.pose(0, 0.4), camera=renderer.camera(0)) == picture).all()
        positions, normals = renderer.skinned_vertices(0, 0.4)
    assert positions.shape == normals.shape == (0, 3)
    with pytest.raises(ValueError, match="no mesh"):
        render(model, pose=np.zeros((0, 3, 4), np.float32))


def test_a_skeleton_of_one_joint() -> None:
    file = Gltf()
    file.node("alone")
    assert (render(load(file), size=(32, 32))[..., 3] > 0).any()


def test_no_joint_at_all_gives_no_triangle() -> None:
    corners = skeletons.skeleton_corners(np.zeros((0, 3)), np.zeros(0, np.int32), 0.0)
    assert corners.shape == (0, 9)


def test_skeleton_normals_point_outwards() -> None:
    rng = np.random.default_rng(3)
    parents = np.array([-1, 0, 1, 1], np.int32)
    joints = rng.normal(size=(4, 3))
    corners = skeletons.skeleton_corners(joints, parents, 2.0).astype(np.float64).reshape(-1, 8, 3, 9)
    assert len(corners) == 3 + 4
    center = corners[..., :3].mean(axis=(1, 2))[:, None]
    outward = corners[:, :, 0, :3] - center
    assert (np.einsum("ofi,ofi->of", outward, corners[:, :, 0, 3:6]) > 0).all()
    winding = np.cross(
        corners[:, :, 1, :3] - corners[:, :, 0, :3], corners[:, :, 2, :3] - corners[:, :, 0, :3]
    )
    assert (np.einsum("ofi,ofi->of", winding, corners[:, :, 0, 3:6]) > 0).all()


# ------------------------------------------------------------------------------------------------ ownership


OBJECTS = (
    moderngl.Buffer,
    moderngl.Framebuffer,
    moderngl.Renderbuffer,
    moderngl.Texture,
    moderngl.VertexArray,
)


def living_objects() -> int:
    """OpenGL objects that Python refers to; dropped ones are freed when this returns."""
    gl.call(lambda context: None)
    assert gl.call(lambda context: len(context.objects)) == 0
    return sum(isinstance(thing, OBJECTS) for thing in gc.get_objects())


@pytest.mark.parametrize("how", ["close", "drop", "render"])
def test_nothing_is_left_on_the_gpu(how: str) -> None:
    def draw_once() -> None:
        model = waving()
        if how == "render":
            render(model, size=(16, 16))
        else:
            renderer = Renderer(model, size=(16, 16))
            renderer.frame()
            renderer.skinned_vertices()
            if how == "close":
                renderer.close()

    draw_once()
    gc.collect()  # reference cycles that other tests left must not be freed between the counts
    before = living_objects()
    for _ in range(12):
        draw_once()
    assert living_objects() == before


def test_a_failed_renderer_leaves_nothing(monkeypatch: Any) -> None:
    model = waving()
    render(model, size=(16, 16))
    gc.collect()
    before = living_objects()

    def fail(*arguments: Any) -> None:
        raise GraphicsError("here")

    monkeypatch.setattr(gl, "check", fail)
    for _ in range(3):
        with pytest.raises(GraphicsError, match="here"):
            Renderer(model, size=(16, 16))
    monkeypatch.undo()
    gc.collect()  # the traceback may hold a cycle
    assert living_objects() == before


def test_many_living_models_keep_few_scenes() -> None:
    models = [one_square() for _ in range(20)]
    for model in models[:10]:
        front(model, 8)
    gc.collect()
    before = living_objects()
    for model in models:
        front(model, 8)
    assert living_objects() == before


def test_rendering_does_not_keep_the_model_alive() -> None:
    model = waving()
    render(model, size=(16, 16))
    gone = weakref.ref(model)
    del model
    gl.call(lambda context: None)
    assert gone() is None


def test_many_threads_may_draw_at_once() -> None:
    model = waving()
    times = np.linspace(0, 1, 6)
    with Renderer(model, size=(48, 48)) as renderer:
        want = [renderer.frame(0, t) for t in times]
        wrong = []

        def work() -> None:
            for t, picture in zip(times, want, strict=True):
                if not (renderer.frame(0, t) == picture).all():
                    wrong.append(("renderer", t))
                if not (render(model, 0, t, (48, 48)) == picture).all():
                    wrong.append(("render", t))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []


def test_exceptions_come_back_to_the_caller() -> None:
    def fail(context: moderngl.Context) -> None:
        raise LookupError("here")

    with pytest.raises(LookupError, match="here"):
        gl.call(fail)
    assert gl.call(lambda context: gl.call(lambda context: 3)) == 3  # also from the thread itself


def test_an_error_that_nobody_waits_for_is_told_and_the_thread_goes_on(monkeypatch: Any) -> None:
    told: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", told.append)
    gl.graphics_thread().post(lambda context: 1 / 0)
    assert gl.call(lambda context: 1) == 1
    assert [one.exc_type for one in told] == [ZeroDivisionError]
    assert told[0].thread.name == "skinpy-graphics"


def test_interrupt_while_waiting() -> None:
    """The job itself interrupts the main thread, which waits for it, and would go on for long.

    It does so again and again, as a signal that comes before a thread has fallen asleep wakes nobody; the
    first that is seen counts.
    """
    main = threading.main_thread().ident
    assert main is not None
    seen: list[int] = []
    release, ended = threading.Event(), threading.Event()

    def interrupted(number: int, _: Any) -> None:
        if not seen:
            seen.append(number)
            raise KeyboardInterrupt

    def job(context: moderngl.Context) -> None:
        while not seen:
            signal.pthread_kill(main, signal.SIGINT)
            clock.sleep(0.05)
        release.wait(HANGS)
        ended.set()

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        with pytest.raises(KeyboardInterrupt):
            gl.call(job)
        assert not ended.is_set()
    finally:
        release.set()
        gl.call(lambda context: None)  # the job is over
        signal.signal(signal.SIGINT, before)
    assert ended.is_set()


def test_without_a_context_the_error_names_the_packages(monkeypatch: Any) -> None:
    def refuse(**settings: Any) -> Any:
        raise Exception(f"no {settings or 'display'}")

    monkeypatch.setattr(moderngl, "create_standalone_context", refuse)
    with pytest.raises(GraphicsError, match=r"egl.*display.*On Debian, install the packages libegl1, libgl1"):
        gl.create_context()


@pytest.mark.parametrize("index", ["1000", "one"])
def test_a_device_that_is_not_there_is_named(index: str, monkeypatch: Any) -> None:
    monkeypatch.setenv("GLCONTEXT_DEVICE_INDEX", index)
    monkeypatch.delenv("DISPLAY", raising=False)  # or the second attempt could succeed
    with pytest.raises(GraphicsError, match=rf"{index}.*GLCONTEXT_DEVICE_INDEX is '{index}'.*the first is 0"):
        gl.create_context()


def run_python(code: str) -> None:
    """Run code in a separate process."""
    subprocess.run([sys.executable, "-W", "error", "-c", textwrap.dedent(code)], check=True, timeout=HANGS)


def test_a_forked_process_is_told(tmp_path: Any) -> None:
    path = tmp_path / "model.glb"
    path.write_bytes(builders.chain(3).glb())
    run_python(f"""
        import os, warnings
        warnings.simplefilter("ignore")  # newer Pythons warn of a fork beside threads: that is the case here
        import skinpy
        from skinpy.render import render
        model = skinpy.load({str(path)!r})
        render(model, size=(8, 8))
        child = os.fork()
        if child == 0:
            try:
                render(model, size=(8, 8))
            except skinpy.GraphicsError as error:
                os._exit(0 if "spawn" in str(error) else 2)
            os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
    """)


def test_without_moderngl_the_error_names_the_extra() -> None:
    run_python("""
        import sys
        sys.modules["moderngl"] = None
        import skinpy
        try:
            import skinpy.render
        except ImportError as error:
            assert "skinpy-anim[view]" in str(error)
        else:
            raise AssertionError
    """)


def test_a_process_ends_while_renderers_live(tmp_path: Any) -> None:
    path = tmp_path / "model.glb"
    path.write_bytes(builders.chain(3).glb())
    run_python(f"""
        import skinpy
        from skinpy.render import Renderer, render
        model = skinpy.load({str(path)!r})
        render(model, size=(8, 8))
        kept = Renderer(model, size=(8, 8))
        kept.frame()
        kept.itself = kept
    """)


def test_importing_skinpy_loads_no_opengl() -> None:
    run_python("""
        import sys
        import skinpy
        assert not any(name.startswith(("moderngl", "skinpy.render", "PIL")) for name in sys.modules)
    """)


# ------------------------------------------------------------------------------------------------ shaders


@pytest.fixture
def sources(monkeypatch: Any) -> dict[str, str]:
    """Shader files for one test, in place of those of the package."""
    files: dict[str, str] = {}

    def read(name: str, parents: tuple[str, ...]) -> str:
        if name not in files:
            raise ShaderError(f"no {name}")
        return files[name]

    monkeypatch.setattr(shaders, "_read", read)
    return files


def test_a_compiler_error_names_file_and_line(sources: dict[str, str]) -> None:
    sources["main.vert"] = '#version 330 core\n#include "part.glsl"\nvoid main() { gl_Position = part(); }\n'
    sources["part.glsl"] = "// one\n// two\nvec4 part() { return nonsense; }\n"
    with pytest.raises(ShaderError, match=r"part\.glsl:3: .*nonsense"):
        gl.call(lambda context: shaders.build(context, "main.vert", varyings=("gl_Position",)))
    sources["part.glsl"] = "vec4 part() { return vec4(0.0); }\n"
    sources["main.frag"] = "#version 330 core\nout vec4 c;\n\nvoid main() { c = vec4(WIDTH) + wrong; }\n"
    with pytest.raises(ShaderError, match=r"main\.frag:4: .*wrong"):
        gl.call(lambda context: shaders.build(context, "main.vert", "main.frag", defines={"WIDTH": 3}))


def test_includes_by_name_and_by_define(sources: dict[str, str]) -> None:
    sources["a"] = '#version 330\n#include "b"\n#include WHICH\nend\n'
    sources["b"] = "b1\nb2"
    sources["c"] = "c1"
    source = shaders.Source("a", {"N": 4, "WHICH": "c"})
    assert source.text.splitlines() == ["#version 330", "#define N 4", "b1", "b2", "c1", "end"]
    assert source.explain("0:4(7): error: x") == "b:2: error: x"  # Mesa
    assert source.explain("0(6) : error C1: x") == "a:4: error C1: x"  # NVIDIA
    assert source.explain("ERROR: 0:5: x") == "c:1: x"  # others
    with pytest.raises(ShaderError, match="a:3: #include WHICH"):
        shaders.Source("a", {})
    sources["b"] = '#include "a"'
    with pytest.raises(ShaderError, match="includes itself"):
        shaders.Source("a", {"WHICH": "c"})


def test_a_missing_shader_file() -> None:
    with pytest.raises(ShaderError, match=r"'absent\.vert'"):
        shaders.Source("absent.vert", {})


# ------------------------------------------------------------------------------------------------ documents


def test_the_examples_of_the_page_run(tmp_path: Path, monkeypatch: Any) -> None:
    pytest.importorskip("PIL")
    page = Path(__file__).resolve().parent.parent / "docs" / "rendering.md"
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile("".join(blocks), str(page), "exec"), {})
    assert (tmp_path / "walk.png").is_file()


# ------------------------------------------------------------------------------------------------ real files


@pytest.mark.parametrize(
    "name",
    [
        "Fox.glb",
        "RiggedFigure.glb",
        "BoxAnimated.glb",
        "BCN_Epileptic.X",
        "sinusoidal.bvh",
        "huesitos.fbx",
        "faerie.md2",
    ],
)
def test_real_files(shared_data: Any, name: str) -> None:
    """Each is drawn, whole, well into the picture, and moves where it has a clip that moves."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", skinpy.SkinpyWarning)  # some name textures that are not there
        model = skinpy.load(shared_data / "models" / name)
    with Renderer(model, size=(96, 96)) as renderer:
        duration = model.clips[0].duration if len(model.clips) else 0.0
        pictures = list(renderer.frames(None, np.linspace(0, duration, 5)))
        for picture in pictures:
            seen = picture[..., 3] > 0
            assert seen.mean() > 0.005
            assert not (seen[0].any() or seen[-1].any() or seen[:, 0].any() or seen[:, -1].any())
        palette = model.palette(None if not len(model.clips) else 0, duration * 0.4, affine=True)
        if len(palette):
            got, want = renderer.skinned_vertices(pose=palette), model.deform(palette)
            assert np.abs(got[0] - want[0]).max() <= 1e-6 * reach(model, want[0])
    moving = [p for p in pictures if (p != pictures[0]).any()]
    assert moving or name == "faerie.md2"  # its frames are vertices, not joints
