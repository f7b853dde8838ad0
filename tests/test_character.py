"""The bundled character: its script makes it, and it is what the documentation says it is.

The file is read here with nothing but struct and json, and posed by a small NumPy twin, so that
this test judges the file and not the importer.
"""

import importlib.util
import json
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import skinpy

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "examples" / "make_character.py"
FILE = Path(skinpy.__file__).parent / "data" / "character.glb"
DTYPES = {5126: "<f4", 5123: "<u2", 5121: "u1"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
# Ground speed (m/s), and the phases between which the left foot's toes are on the ground.
STEPS = {"walk": (0.74, 0.14, 0.58), "run": (2.1, 0.06, 0.31), "wave": (0.0, 0.0, 0.99)}


@pytest.fixture(scope="module")
def script() -> Any:
    spec = importlib.util.spec_from_file_location("make_character", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["make_character"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["make_character"]


class Glb:
    """The document, its accessors as arrays, and a pose of the skin."""

    def __init__(self, data: bytes) -> None:
        magic, self.version, self.total, size, kind = struct.unpack_from("<4sII I4s", data)
        assert (magic, kind) == (b"glTF", b"JSON")
        self.document = json.loads(data[20 : 20 + size])
        self.binary_size, kind = struct.unpack_from("<I4s", data, 20 + size)
        assert kind == b"BIN\0"
        self.binary = data[28 + size :]

    def array(self, number: int) -> np.ndarray:
        accessor = self.document["accessors"][number]
        view = self.document["bufferViews"][accessor["bufferView"]]
        width = WIDTHS[accessor["type"]]
        start = view["byteOffset"] + accessor.get("byteOffset", 0)
        dtype = DTYPES[accessor["componentType"]]
        return np.frombuffer(self.binary, dtype, accessor["count"] * width, start).reshape(-1, width)

    def attribute(self, name: str) -> np.ndarray:
        primitives = self.document["meshes"][0]["primitives"]
        return np.concatenate([self.array(p["attributes"][name]) for p in primitives])

    def names(self) -> list[str]:
        return [self.document["nodes"][n]["name"] for n in self.document["skins"][0]["joints"]]

    def clip(self, name: str) -> dict[str, Any]:
        return next(a for a in self.document["animations"] if a["name"] == name)

    def duration(self, name: str) -> float:
        return max(float(self.array(s["input"])[-1, 0]) for s in self.clip(name)["samplers"])

    def locals_at(self, name: str, time: float) -> tuple[np.ndarray, np.ndarray]:
        nodes = self.document["nodes"]
        move = np.array([n.get("translation", [0.0, 0.0, 0.0]) for n in nodes])
        turn = np.tile([0.0, 0.0, 0.0, 1.0], (len(nodes), 1))
        for channel in self.clip(name)["channels"]:
            sampler = self.clip(name)["samplers"][channel["sampler"]]
            times, values = self.array(sampler["input"])[:, 0], self.array(sampler["output"])
            value = np.array([np.interp(time, times, column) for column in values.T])
            node = channel["target"]["node"]
            if channel["target"]["path"] == "rotation":
                turn[node] = value / np.linalg.norm(value)
            else:
                move[node] = value
        return move, turn

    def posed(self, name: str, time: float) -> np.ndarray:
        """Vertex positions by linear blend skinning in float64."""
        move, turn = self.locals_at(name, time)
        glob = {}
        for node in [1, *range(2, len(move))]:  # parents stand before their children
            local = np.eye(4)
            local[:3, :3], local[:3, 3] = rotation(turn[node]), move[node]
            above = [n for n, other in enumerate(self.document["nodes"]) if node in other.get("children", [])]
            glob[node] = glob[above[0]] @ local if above else local
        skin = self.document["skins"][0]
        inverse = self.array(skin["inverseBindMatrices"]).reshape(-1, 4, 4).transpose(0, 2, 1)
        palette = np.stack([glob[n] for n in skin["joints"]]) @ inverse
        weights = self.attribute("WEIGHTS_0").astype(np.float64)
        blend = np.einsum("vk,vkij->vij", weights, palette[self.attribute("JOINTS_0")])
        points = self.attribute("POSITION")
        return np.einsum("vij,vj->vi", blend[:, :3, :3], points) + blend[:, :3, 3]


def rotation(q: np.ndarray) -> np.ndarray:
    x, y, z, w = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


@pytest.fixture(scope="module")
def glb() -> Glb:
    return Glb(FILE.read_bytes())


def test_script_makes_the_file(script: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert script.make_glb() == FILE.read_bytes()
    other = tmp_path / "other.glb"
    other.write_bytes(b"glTF")
    assert script.main(["--check", "-o", str(other)]) == 1
    assert "different" in capsys.readouterr().out


def test_container(glb: Glb) -> None:
    size = FILE.stat().st_size
    assert size < 300_000
    assert (glb.version, glb.total) == (2, size)
    document = glb.document
    assert document["asset"] == {"version": "2.0", "generator": "skinpy examples/make_character.py"}
    assert document["buffers"] == [{"byteLength": glb.binary_size}]
    assert "extensionsUsed" not in document
    assert "extensionsRequired" not in document
    end = 0
    for view in document["bufferViews"]:
        assert view["byteOffset"] % 4 == 0
        assert view["byteOffset"] >= end
        end = view["byteOffset"] + view["byteLength"]
    assert end <= glb.binary_size


def test_accessors_fit_their_views_and_tell_their_limits(glb: Glb) -> None:
    document = glb.document
    for number, accessor in enumerate(document["accessors"]):
        values = glb.array(number)
        view = document["bufferViews"][accessor["bufferView"]]
        offset = accessor.get("byteOffset", 0)
        assert offset % 4 == 0
        assert offset + values.nbytes <= view["byteLength"]
        assert np.all(np.isfinite(values))
        if "min" in accessor:
            np.testing.assert_array_equal(values.min(axis=0), np.float32(accessor["min"]))
            np.testing.assert_array_equal(values.max(axis=0), np.float32(accessor["max"]))
    need = {p["attributes"]["POSITION"] for p in document["meshes"][0]["primitives"]}
    need |= {s["input"] for a in document["animations"] for s in a["samplers"]}
    assert all("min" in document["accessors"][n] and "max" in document["accessors"][n] for n in need)


def test_shape(glb: Glb) -> None:
    points, normals = glb.attribute("POSITION"), glb.attribute("NORMAL")
    assert 3000 <= len(points) <= 6000
    low, high = points.min(axis=0), points.max(axis=0)
    assert low[1] == pytest.approx(0.0, abs=1e-3)  # it stands on the ground
    assert 1.6 < high[1] < 1.8  # meters
    np.testing.assert_allclose(low[0], -high[0], atol=0.01)  # as wide to the left as to the right
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-4)


def test_triangles_face_outwards(glb: Glb) -> None:
    for primitive in glb.document["meshes"][0]["primitives"]:
        points = glb.array(primitive["attributes"]["POSITION"]).astype(np.float64)
        normals = glb.array(primitive["attributes"]["NORMAL"])
        faces = glb.array(primitive["indices"]).reshape(-1, 3).astype(int)
        assert faces.max() == len(points) - 1
        a, b, c = (points[faces[:, i]] for i in range(3))
        across = np.cross(b - a, c - a)
        assert np.linalg.norm(across, axis=1).min() > 1e-8  # square meters, twice the area
        big = np.linalg.norm(across, axis=1) > 1e-6  # a sliver has no direction to speak of
        assert np.all(np.einsum("fi,fi->f", across, normals[faces].sum(axis=1))[big] > 0.0)


def test_weights_are_smooth(glb: Glb) -> None:
    joints, weights = glb.attribute("JOINTS_0"), glb.attribute("WEIGHTS_0")
    np.testing.assert_allclose(weights.sum(axis=1, dtype=np.float64), 1.0, atol=1e-6)
    assert np.all(weights >= 0.0)
    assert np.all(np.diff(weights, axis=1) <= 1e-6)  # the largest first
    assert np.all(joints[weights == 0.0] == 0)
    assert len(np.unique(joints[weights > 0.0])) >= 15
    blended = np.sum((weights[:, 0] < 0.95), dtype=int)
    assert blended > 0.25 * len(weights)
    primitive = glb.document["meshes"][0]["primitives"][0]
    count = glb.document["accessors"][primitive["attributes"]["POSITION"]]["count"]
    dense = np.zeros((count, len(glb.names())))
    for k in range(4):
        np.add.at(dense, (np.arange(count), joints[:count, k]), weights[:count, k])
    faces = glb.array(primitive["indices"]).reshape(-1, 3).astype(int)
    jump = np.abs(dense[faces] - dense[np.roll(faces, 1, axis=1)]).sum(axis=2).max() / 2.0
    assert jump < 0.8  # of the weight, which is 1, changes along the edge that changes most


def test_skeleton(glb: Glb) -> None:
    names = glb.names()
    assert len(names) == len(set(names)) >= 15
    for name in ("Hips", "Spine", "Chest", "Neck", "Head", "LeftHand", "RightFoot", "LeftToe"):
        assert name in names
    skin = glb.document["skins"][0]
    inverse = glb.array(skin["inverseBindMatrices"]).reshape(-1, 4, 4).transpose(0, 2, 1)
    rest = np.zeros((len(names), 3))
    for i, node in enumerate(skin["joints"]):
        above = [n for n, other in enumerate(glb.document["nodes"]) if node in other.get("children", [])]
        start = rest[skin["joints"].index(above[0])] if above else np.zeros(3)
        rest[i] = start + glb.document["nodes"][node]["translation"]
    np.testing.assert_allclose(inverse[:, :3, 3], -rest, atol=2e-6)


def test_clips(glb: Glb) -> None:
    assert [a["name"] for a in glb.document["animations"]] == ["walk", "run", "wave"]
    for name, (low, high) in {"walk": (1.0, 1.2), "run": (0.6, 0.8), "wave": (1.8, 2.6)}.items():
        assert low <= glb.duration(name) <= high


@pytest.mark.parametrize("name", ["walk", "run", "wave"])
def test_loops_are_closed(glb: Glb, name: str) -> None:
    duration = glb.duration(name)
    for channel in glb.clip(name)["channels"]:
        sampler = glb.clip(name)["samplers"][channel["sampler"]]
        times, values = glb.array(sampler["input"])[:, 0], glb.array(sampler["output"])
        assert times[0] == 0.0
        assert len(times) == 1 or times[-1] == np.float32(duration)
        assert np.all(np.diff(times) > 0.0)
        np.testing.assert_array_equal(values[0], values[-1])
        if channel["target"]["path"] == "rotation":
            np.testing.assert_allclose(np.linalg.norm(values, axis=1), 1.0, atol=1e-5)
            assert np.all(np.sum(values[1:] * values[:-1], axis=1) > 0.9)  # one hemisphere, small steps


@pytest.mark.parametrize("name", ["walk", "run", "wave"])
def test_loops_have_no_kick(glb: Glb, name: str) -> None:
    """Where the loop starts again no vertex changes its velocity more than it does on the way."""
    count = 56
    step = glb.duration(name) / count
    points = np.stack([glb.posed(name, step * k) for k in range(count)])
    velocity = (np.roll(points, -1, axis=0) - points) / step
    change = np.linalg.norm(velocity - np.roll(velocity, 1, axis=0), axis=2).max(axis=1)
    assert change[0] <= 1.1 * change[1:].max()


@pytest.mark.parametrize("name", ["walk", "run", "wave"])
def test_feet_are_planted(glb: Glb, name: str) -> None:
    """From the moment the foot is flat until it leaves, its toes go back with the ground."""
    speed, start, end = STEPS[name]
    duration = glb.duration(name)
    points = glb.attribute("POSITION")
    for side, sign, shift in (("Left", 1.0, 0.0), ("Right", -1.0, 0.5 if speed else 0.0)):
        toe = glb.names().index(side + "Toe")
        whole = (glb.attribute("JOINTS_0")[:, 0] == toe) & (glb.attribute("WEIGHTS_0")[:, 0] > 0.97)
        mine = np.flatnonzero(whole & (points[:, 1] < 0.003) & (points[:, 0] * sign > 0.0))
        assert len(mine) >= 4
        phases = np.linspace(start, end, 15) + shift
        feet = np.stack([glb.posed(name, float(p % 1.0) * duration)[mine] for p in phases])
        ground = np.zeros((len(phases), 1, 3))
        ground[:, 0, 2] = -speed * duration * (phases - phases[0])
        slip = feet - feet[0] - ground
        assert np.abs(slip).max() < 0.004  # m, over the whole time on the ground
        assert np.abs(feet[..., 1]).max() < 0.004


@pytest.mark.parametrize("name", ["walk", "run", "wave"])
def test_nothing_sinks_into_the_ground(glb: Glb, name: str) -> None:
    lowest = [glb.posed(name, t)[:, 1].min() for t in np.linspace(0.0, glb.duration(name), 61)]
    assert min(lowest) > -0.003  # m; between two keys a rotation is not quite the one that was solved for
    assert max(lowest) > 0.03 if name == "run" else max(lowest) < 0.003  # who runs flies


def test_knees_and_elbows_bend_one_way(glb: Glb) -> None:
    """At rest a turn about +X takes a shin back, and a forearm that hangs down comes forward by -X."""
    nodes = {n["name"]: i for i, n in enumerate(glb.document["nodes"])}
    for name in ("walk", "run", "wave"):
        for time in np.linspace(0.0, glb.duration(name), 25):
            _, turn = glb.locals_at(name, float(time))
            for side in ("Left", "Right"):
                assert rotation(turn[nodes[side + "LowerLeg"]])[2, 1] > -0.02
                assert rotation(turn[nodes[side + "LowerArm"]])[1, 2] > -0.02


def test_textures_and_materials(glb: Glb, script: Any) -> None:
    document = glb.document
    assert len(document["materials"]) >= 2
    view = document["bufferViews"][document["images"][0]["bufferView"]]
    png = glb.binary[view["byteOffset"] : view["byteOffset"] + view["byteLength"]]
    assert png == script.palette_png()
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    for primitive in document["meshes"][0]["primitives"]:
        surface = document["materials"][primitive["material"]]["pbrMetallicRoughness"]
        assert ("TEXCOORD_0" in primitive["attributes"]) == ("baseColorTexture" in surface)
        if "TEXCOORD_0" in primitive["attributes"]:
            uv = glb.array(primitive["attributes"]["TEXCOORD_0"])
            assert np.all((uv >= 0.0) & (uv <= 1.0))


@pytest.mark.parametrize("name", ["walk", "run", "wave"])
def test_skinpy_poses_it_as_the_twin_does(glb: Glb, name: str) -> None:
    model = skinpy.character()
    assert [clip.name for clip in model.clips] == ["walk", "run", "wave"]
    assert not model.report
    for time in np.linspace(0.0, 0.95 * glb.duration(name), 7):
        positions, _ = model.deform(model.palette(name, float(time)))
        # float32 against float64, and SLERP against the twin's NLERP between keys that are close
        np.testing.assert_allclose(positions, glb.posed(name, float(time)), atol=1e-4)


def test_readme_pictures_are_small() -> None:
    for name in ("character.png", "quickstart.png"):
        data = (ROOT / "docs" / "images" / name).read_bytes()
        assert data.startswith(b"\x89PNG\r\n\x1a\n")
        assert len(data) < 200_000
