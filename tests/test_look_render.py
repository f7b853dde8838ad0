"""Clips change what is seen: visibility of nodes, base colors and texture transforms, drawn at each time.

The pictures are those of the same file without the clip, in which the values that a slow interpolation gives
(glTF 2.0, appendix C) stand as values at rest. They are equal bit for bit where these values are.
"""

from __future__ import annotations

import base64
import copy
import io
import itertools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders import Gltf

import skinpy

pytest.importorskip("moderngl", reason="moderngl (the extra `view`) draws the pictures")
pytest.importorskip("PIL", reason="Pillow (the extra `view`) reads textures")

from skinpy.render import Camera, Overlays, Renderer, render

SIZE = (96, 72)
CAMERA = Camera(eye=(0.0, 0.0, 6.0), target=(0.0, 0.0, 0.0))
SQUARE = np.array([[-0.5, -0.5, 0], [0.5, -0.5, 0], [0.5, 0.5, 0], [-0.5, 0.5, 0]])
UVS = np.array([[0, 1], [1, 1], [1, 0], [0, 0]], float)
FACES = [[0, 1, 2], [0, 2, 3]]
VISIBILITY = "KHR_node_visibility"


def picture_uri() -> str:
    """Four colors, one in each quarter."""
    from PIL import Image

    texels = np.array([[[255, 0, 0], [0, 255, 0]], [[0, 0, 255], [255, 255, 0]]], np.uint8)
    file = io.BytesIO()
    Image.fromarray(texels.repeat(8, 0).repeat(8, 1)).save(file, "png")
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()


def board() -> Gltf:
    """Three squares, left, middle and right, the right one below the middle one, with a material each."""
    file = Gltf()
    looks: tuple[dict[str, Any], ...] = (
        {"baseColorFactor": [1, 0, 0, 1]},
        {"baseColorFactor": [0, 0, 1, 0.5]},
        {
            "baseColorTexture": {
                "index": 0,
                "extensions": {"KHR_texture_transform": {"offset": [0.25, 0.125]}},
            }
        },
    )
    for number, look in enumerate(looks):
        file.materials.append(
            {"pbrMetallicRoughness": look, "alphaMode": "BLEND" if number == 1 else "OPAQUE"}
        )
        primitive = file.primitive(SQUARE, FACES, normals=[[0, 0, 1]] * 4, uvs=UVS, material=number)
        file.node(f"n{number}", 1 if number == 2 else None, mesh=file.mesh(primitive), t=(1.2, 0, 0))
    file.nodes[0]["translation"] = [-1.2, 0, 0]
    file.nodes[1]["translation"] = [0, 0, 0]
    return file


def document(file: Gltf) -> dict[str, Any]:
    found = json.loads(file.gltf())
    found |= {"textures": [{"source": 0}], "images": [{"uri": picture_uri()}]}
    return copy.deepcopy(found)


def load(found: dict[str, Any]) -> skinpy.Model:
    return skinpy.load(json.dumps(found).encode(), format="gltf", isolate=False)


def animate(file: Gltf, **tracks: tuple[str, Any, str]) -> None:
    """A clip with a channel for each track: a pointer, values at 0, 0.5 and 1 s, and their type."""
    channels = []
    for pointer, values, dtype in tracks.values():
        channel = file.channel(0, "translation", [0, 0.5, 1], np.zeros((3, 3)))
        channel["sampler"]["output"] = file.accessor(values, dtype)
        target = {"path": "pointer", "extensions": {"KHR_animation_pointer": {"pointer": pointer}}}
        channels.append(channel | {"target": target})
    file.animation("look", *channels)


def visibility(node: int, values: list[int]) -> tuple[str, Any, str]:
    return (f"/nodes/{node}/extensions/{VISIBILITY}/visible", values, "u1")


def still(file: Gltf, shown: list[bool]) -> dict[str, Any]:
    """The file without clips, in which these nodes are visible."""
    found = document(file)
    found.pop("animations", None)
    for node, is_shown in zip(found["nodes"], shown, strict=True):
        node["extensions"] = {VISIBILITY: {"visible": is_shown}}
    return found


def animated_looks() -> skinpy.Model:
    """One square vanishes at half time, one changes its color, and the image of one moves."""
    file = board()
    at = "/materials/2/pbrMetallicRoughness/baseColorTexture/extensions/KHR_texture_transform/offset"
    color = "/materials/1/pbrMetallicRoughness/baseColorFactor"
    animate(
        file,
        left=visibility(0, [1, 0, 1]),
        middle=(color, [[0, 0, 1, 0.5], [0, 1, 0, 1], [1, 0, 0, 0.2]], "f4"),
        right=(at, [[0, 0], [0.5, 0.25], [1, 1]], "f4"),
    )
    return load(document(file))


def frame(model: skinpy.Model, *arguments: Any, **options: Any) -> Any:
    with Renderer(model, size=SIZE, floor=options.pop("floor", False), samples=0) as renderer:
        return renderer.frame(*arguments, camera=CAMERA, **options)


# ---- visibility ------------------------------------------------------------------------------------------

#: Values at 0, 0.5 and 1 s of the three nodes; None: no channel. A step holds the key before a time.
TRACKS = {
    "left": ([1, 0, 1], None, None),
    "middle and what is below it": (None, [0, 1, 0], None),
    "all": ([0, 1, 0], [1, 1, 0], [0, 1, 1]),
}


@pytest.mark.parametrize("name", TRACKS)
@pytest.mark.parametrize("hidden", [False, True], ids=["", "hidden at rest"])
@pytest.mark.parametrize("time", [0.0, 0.3, 0.5, 0.9, 1.0])
def test_nodes_are_drawn_while_they_are_visible(name: str, hidden: bool, time: float) -> None:
    file = board()
    tracks = TRACKS[name]
    channels = {f"n{i}": visibility(i, one) for i, one in enumerate(tracks) if one is not None}
    animate(file, **channels)
    found = document(file)
    if hidden:
        for node in found["nodes"]:
            node["extensions"] = {VISIBILITY: {"visible": False}}
    model = load(found)
    key = int(time / 0.5)
    shown = [not hidden if one is None else bool(one[key]) for one in tracks]
    expected = load(still(file, shown))
    assert (frame(model, "look", time) == frame(expected)).all()
    truth = render_truth(model, "look", time)
    visible = [shown[0], shown[1], shown[1] and shown[2]]
    assert set(np.unique(truth.submesh)) <= {-1, *np.flatnonzero([visible[0], visible[1], visible[2]])}
    assert (truth.submesh == render_truth(expected, None, 0.0).submesh).all()


def render_truth(model: skinpy.Model, clip: Any, time: float) -> Any:
    with Renderer(model, size=SIZE, samples=0) as renderer:
        return renderer.render(clip, time, aov=("submesh",), camera=CAMERA)


@pytest.mark.parametrize("overlays", [Overlays(wireframe=True), Overlays(normals=True)])
def test_overlays_leave_out_what_is_hidden(overlays: Overlays) -> None:
    """The left third of the picture is empty at first, and has its square, lines and points later."""
    file = board()
    animate(file, left=visibility(0, [0, 1, 1]))
    model = load(document(file))
    before, later = (frame(model, "look", time, overlays=overlays)[:, :28] for time in (0.0, 0.5))
    assert not before.any() and later.any()


def test_a_pose_shows_what_is_visible_at_rest() -> None:
    file = board()
    animate(file, left=visibility(0, [0, 0, 0]))
    model = load(document(file))
    assert (frame(model, pose=model.pose("look", 0.0)) == frame(load(still(file, [True] * 3)))).all()


def test_the_whole_clip_is_in_the_picture() -> None:
    """The camera sees what is visible at any time."""
    file = board()
    animate(file, left=visibility(0, [0, 1, 0]))
    found = document(file)
    found["nodes"][0]["extensions"] = {VISIBILITY: {"visible": False}}
    with Renderer(load(found), size=SIZE) as a, Renderer(load(still(file, [True] * 3)), size=SIZE) as b:
        assert a.camera("look") == b.camera()


# ---- materials -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("time", [0.0, 0.125, 0.5, 0.875, 1.0])
def test_base_colors_change(time: float) -> None:
    file = board()
    values = np.array([[1, 0, 0, 1], [0, 1, 0, 0.5], [0, 0.25, 1, 1]])
    pointer = "/materials/{}/pbrMetallicRoughness/baseColorFactor"
    animate(file, a=(pointer.format(0), values, "f4"), b=(pointer.format(1), values[::-1], "f4"))
    found = still(file, [True] * 3)
    for number, keys in ((0, values), (1, values[::-1])):
        color = [float(np.interp(time, [0, 0.5, 1], keys[:, i])) for i in range(4)]
        found["materials"][number]["pbrMetallicRoughness"]["baseColorFactor"] = color
    assert (frame(load(document(file)), "look", time) == frame(load(found))).all()


@pytest.mark.parametrize("time", [0.0, 0.25, 0.5, 0.75])
def test_textures_move(time: float) -> None:
    """Offset, rotation and scale of KHR_texture_transform, each interpolated by itself."""
    file = board()
    keys = {
        "offset": np.array([[0.25, 0.125], [0.5, 0], [1, 1]]),
        "rotation": np.array([[0], [0.5], [-0.5]]),
        "scale": np.array([[1, 1], [2, 0.5], [1, 1]]),
    }
    at = "/materials/2/pbrMetallicRoughness/baseColorTexture/extensions/KHR_texture_transform/"
    animate(file, **{name: (at + name, rows, "f4") for name, rows in keys.items()})
    found = still(file, [True] * 3)
    values: dict[str, Any] = {
        name: [float(np.interp(time, [0, 0.5, 1], column)) for column in rows.T]
        for name, rows in keys.items()
    }
    values["rotation"] = values["rotation"][0]
    use = found["materials"][2]["pbrMetallicRoughness"]["baseColorTexture"]
    use["extensions"]["KHR_texture_transform"] = values
    got, expected = frame(load(document(file)), "look", time), frame(load(found))
    # Transforms of float32 and float64 differ by 1e-7, which decides a texel at a border.
    assert (np.abs(got.astype(int) - expected).max(axis=-1) > 2).mean() < 0.002
    assert (frame(load(found)) != frame(load(still(file, [True] * 3)))).any() or time == 0.0


def test_a_clip_without_looks_shows_the_materials_at_rest() -> None:
    file = board()
    pointer = "/materials/0/pbrMetallicRoughness/baseColorFactor"
    animate(file, a=(pointer, np.tile([0, 1, 0, 1], (3, 1)), "f4"))
    file.animation("move", file.channel(0, "translation", [0, 1], [[-1.2, 0, 0]] * 2))
    model = load(document(file))
    rest = frame(load(still(file, [True] * 3)))
    assert (frame(model, "move", 0.5) == rest).all() and (frame(model, "look", 0.5) != rest).any()
    assert (render(model, "look", 0.5, SIZE, camera=CAMERA, samples=0) == frame(model, "look", 0.5)).all()


# ---- samplers --------------------------------------------------------------------------------------------

WRAPS = {"repeat": 10497, "clamp": 33071, "mirror": 33648}


@pytest.mark.parametrize("u", WRAPS)
@pytest.mark.parametrize("v", WRAPS)
def test_textures_wrap_as_their_sampler_says(u: str, v: str) -> None:
    """A square of 3 by 3 images; nearest texels, so that colors are those of the four quarters."""
    file = Gltf()
    file.materials.append({"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}})
    primitive = file.primitive(SQUARE * 3, FACES, normals=[[0, 0, 1]] * 4, uvs=UVS * 3 - 1, material=0)
    file.node(mesh=file.mesh(primitive))
    found = document(file)
    found["samplers"] = [{"wrapS": WRAPS[u], "wrapT": WRAPS[v], "magFilter": 9728, "minFilter": 9728}]
    found["textures"] = [{"source": 0, "sampler": 0}]
    model = load(found)
    with Renderer(model, size=SIZE, samples=0) as renderer:
        truth = renderer.render(aov=("uv", "face"), camera=CAMERA)
    seen = truth.face >= 0
    at = truth.uv[seen].astype(np.float64)

    def half(x: Any, wrap: str) -> Any:
        """0 in the first half of the image, 1 in the second."""
        x = {"repeat": x % 1, "clamp": np.clip(x, 0, 1 - 1e-9), "mirror": 1 - np.abs(x % 2 - 1)}[wrap]
        return (x >= 0.5).astype(int)

    colors = np.array([[[255, 0, 0], [0, 255, 0]], [[0, 0, 255], [255, 255, 0]]])
    expected = colors[half(at[:, 1], v), half(at[:, 0], u)]
    clear = (np.abs((at * 2) % 1 - 0.5) < 0.47).all(axis=1)  # not at a border
    got = truth.picture[seen][:, :3].astype(int)
    assert clear.mean() > 0.8
    # Light dims and brightens colors: compare which channels they have.
    assert ((got > 130) == (expected > 130)).all(axis=1)[clear].all()


def drawn_with_all_filters(path: str) -> None:
    """Draw a square, larger and smaller than its image, with each choice of filters that glTF has."""
    found = json.loads(Path(path).read_text())
    for smaller, larger in itertools.product((None, 9728, 9729, 9984, 9985, 9986, 9987), (None, 9728, 9729)):
        found["samplers"] = [{"minFilter": smaller, "magFilter": larger}]
        found["samplers"][0] = {key: number for key, number in found["samplers"][0].items() if number}
        for size in ((8, 8), (64, 64)):
            assert render(load(found), size=size, samples=0).std() > 1, found["samplers"]


def test_all_filters_are_drawn(tmp_path: Path) -> None:
    """In another process, which a driver that cannot draw one of them would end."""
    file = Gltf()
    file.materials.append({"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}})
    primitive = file.primitive(SQUARE, FACES, normals=[[0, 0, 1]] * 4, uvs=UVS, material=0)
    file.node(mesh=file.mesh(primitive))
    found = document(file)
    found["textures"] = [{"source": 0, "sampler": 0}]
    path = tmp_path / "square.gltf"
    path.write_text(json.dumps(found))
    code = f"import test_look_render as t; t.drawn_with_all_filters({str(path)!r})"
    ended = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parent, check=False)
    assert ended.returncode == 0


# ---- clips of other files --------------------------------------------------------------------------------


def test_an_added_clip_shows_and_hides() -> None:
    """Its channels are bound by name to the joints of a model that animates nothing itself."""
    file = board()
    animate(file, left=visibility(0, [0, 1, 1]))
    plain = load(still(board(), [True] * 3))
    model = plain.add_clips(load(document(file)))
    assert (frame(model, "look", 0.0) == frame(load(still(board(), [False, True, True])))).all()
    assert (frame(model, "look", 0.5) == frame(plain)).all()
