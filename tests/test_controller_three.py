"""The controller against three.js's AnimationMixer, another engine: fades, weights, speeds, loops.

Where node and the package three are there (SKINPY_NODE_MODULES: a folder with node_modules/three), both play
the same keys, and the world matrices of all nodes are compared. Key times and values are numbers that
float32, in which three.js keeps them, has too.

What both define in the same way is compared to 2e-6 (of numbers up to 4, which skinpy has in float32):
translation, scale, and rotations that are not mixed. What they define differently:

- Rotations. Three.js takes tracks one after another by slerp, skinpy normalizes the weighted sum. Of two
  tracks both results lie on the shorter arc between the two rotations, of several about one axis on that
  axis; the angle between them is known, and it is compared to 2e-6.
- Weights that sum to less than 1: three.js mixes in the rest pose, skinpy normalizes. Sums here are 1 or
  more.
- A warp: three.js takes the speed at the end of each step for the whole step, skinpy its integral. So
  three.js takes many small steps, n and 2n of them, and what they tend to (2 M(2n) - M(n)) is compared.
- A fade that another one cuts off: three.js starts it from weight 1 again, with a jump, and skinpy from where
  it is. So none is cut off here.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from conftest import HANGS
from numpy.typing import NDArray

import skinpy

MODULES = os.environ.get("SKINPY_NODE_MODULES", "")
HAS_THREE = bool(shutil.which("node")) and (Path(MODULES) / "node_modules" / "three").is_dir()
pytestmark = [
    pytest.mark.extras,
    pytest.mark.skipif(
        not HAS_THREE, reason="SKINPY_NODE_MODULES: no folder with node_modules/three, or no node"
    ),
]

Array = NDArray[np.float64]
NAMES = ["hip", "knee", "ankle", "arm", "hand"]
PARENTS = [-1, 0, 1, 0, 3]
ATOL = 2e-6


class Keys(NamedTuple):
    """One clip: times (N,), translation and scale (N,J,3), rotation (N,J,4)."""

    times: Array
    translation: Array
    rotation: Array
    scale: Array

    @property
    def duration(self) -> float:
        return float(self.times[-1])


def about(axis: Any, angle: Any) -> Array:
    """Quaternions x y z w, exact in float32."""
    unit = np.asarray(axis, float) / np.linalg.norm(axis, axis=-1, keepdims=True)
    half = np.asarray(angle, float)[..., None] / 2
    return np.concatenate([np.sin(half) * unit, np.cos(half)], -1).astype(np.float32).astype(float)


def keys(seed: int, duration: float, kind: str) -> Keys:
    """Random keys at eighths of a second, from 0 to the duration.

    Rotations: "same" at all times and in all clips, "axis" about one axis for each joint, or "free".
    """
    rng = np.random.default_rng(seed)
    middle = np.sort(rng.choice(np.arange(1, round(duration * 8)), 4, replace=False)) / 8
    times = np.array([0, *middle, duration])
    shape = (len(times), len(NAMES))
    axes = np.random.default_rng(5).normal(size=(len(NAMES), 3))
    if kind == "same":
        rotation = np.broadcast_to(about(axes, np.full(len(NAMES), 0.7)), (*shape, 4))
    elif kind == "axis":
        rotation = about(np.broadcast_to(axes, (*shape, 3)), rng.uniform(-0.8, 0.8, shape))
    else:
        rotation = about(rng.normal(size=(*shape, 3)), rng.uniform(0, 2.2, shape))
    move, stretch = rng.integers(-16, 17, (*shape, 3)) / 16, rng.integers(12, 21, (*shape, 3)) / 16
    # Scale of the leaves alone: what is scaled along the axes and then rotated has shear.
    stretch[:, [0, 1, 3]] = 1
    return Keys(times, move, rotation, stretch)


def made(clips: dict[str, Keys]) -> skinpy.Model:
    rest = np.tile(np.eye(4), (len(NAMES), 1, 1))
    rest[:, :3, 3] = [(0, 1, 0), (0, -0.5, 0), (0, -0.5, 0), (0.25, 0.25, 0), (0.5, 0, 0)]
    return skinpy.Model.from_arrays(
        NAMES,
        PARENTS,
        rest,
        positions=np.eye(3),
        faces=[[0, 1, 2]],
        joints=np.arange(3)[:, None],
        weights=np.ones((3, 1)),
        clips=[
            skinpy.Clip.from_arrays(
                name,
                times=one.times,
                joints=NAMES,
                translation=one.translation,
                rotation=one.rotation,
                scale=one.scale,
            )
            for name, one in clips.items()
        ],
    )


# ---- the same steps in both engines -------------------------------------------------------------------


def by_three(model: skinpy.Model, clips: dict[str, Keys], steps: list[list[Any]], count: int = 7) -> Array:
    """World matrices (reads, J, 4, 4); each advance goes in `count` updates of the mixer."""
    rest = model.skeleton
    nodes = [
        {
            "name": name,
            "parent": PARENTS[joint],
            "translation": rest.translation[joint].tolist(),
            "rotation": rest.rotation[joint].tolist(),
            "scale": rest.scale[joint].tolist(),
        }
        for joint, name in enumerate(NAMES)
    ]
    tracks = {
        name: {
            "duration": one.duration,
            "tracks": [
                [joint, path, one.times.tolist(), getattr(one, path)[:, number].ravel().tolist()]
                for number, joint in enumerate(NAMES)
                for path in ("translation", "rotation", "scale")
            ],
        }
        for name, one in clips.items()
    }
    counted = [[*step, count] if step[0] == "advance" else step for step in steps]
    script = Path(__file__).with_name("controller_three.mjs")
    done = subprocess.run(
        ["node", str(script), MODULES],
        input=json.dumps({"nodes": nodes, "clips": tracks, "steps": counted}),
        capture_output=True,
        text=True,
        timeout=HANGS,
    )
    assert done.returncode == 0, done.stderr
    return np.array(json.loads(done.stdout)["found"]).reshape(-1, len(NAMES), 4, 4).swapaxes(-1, -2)


def by_skinpy(model: skinpy.Model, steps: list[list[Any]]) -> Array:
    """The same from the controller."""
    controller = skinpy.AnimationController(model)
    tracks: dict[str, Any] = {}
    found = []
    for what, *rest in steps:
        if what == "play":
            name, options = rest[0], dict(rest[1])
            position = options.pop("at", None)
            start = controller.add_track if tracks else controller.play
            tracks[name] = start(name, **options)
            if position is not None:
                tracks[name].position = position
        elif what in ("cross", "cross_to"):
            _, name, seconds, warp, options = rest
            known = {key: value for key, value in options.items() if key != "at"}
            tracks[name] = controller.cross_fade(name, seconds, warp=warp, **known)
        elif what == "weight":
            tracks[rest[0]].weight = rest[1]
        elif what == "advance":
            controller.advance(rest[0])
        else:
            found.append(controller.pose().globals())
    return np.array(found, np.float64)


def watched(seconds: float, reads: int) -> list[list[Any]]:
    """Steps of odd lengths, each with a read: both engines are at no key and no end of a loop exactly."""
    lengths = np.random.default_rng(3).uniform(0.3, 1.7, reads)
    lengths *= seconds / lengths.sum()
    return [step for length in lengths.tolist() for step in (["advance", length], ["read"])]


CLIPS = {"a": 1.5, "b": 1.0, "c": 2.25}


def scene(kind: str) -> tuple[dict[str, Keys], skinpy.Model]:
    clips = {name: keys(number, length, kind) for number, (name, length) in enumerate(CLIPS.items())}
    return clips, made(clips)


def compare(steps: list[list[Any]], kind: str) -> float:
    clips, model = scene(kind)
    ours, theirs = by_skinpy(model, steps), by_three(model, clips, steps)
    assert len(ours) > 5 and np.abs(np.diff(theirs, axis=0)).max() > 0.1  # it does move
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=ATOL)
    return float(np.abs(ours - theirs).max())


# ---- one clip: loops and speeds -----------------------------------------------------------------------


@pytest.mark.parametrize("loop", ["wrap", "pingpong", "once"])
@pytest.mark.parametrize("speed", [1.0, 0.6, 1.9])
def test_loops_and_speeds(loop: str, speed: float) -> None:
    compare([["play", "a", {"loop": loop, "speed": speed}], *watched(6.3, 40)], "free")


@pytest.mark.parametrize("loop", ["wrap", "once"])
def test_backwards_from_the_end(loop: str) -> None:
    compare([["play", "a", {"loop": loop, "speed": -0.7, "at": 1.5}], *watched(5, 30)], "free")


# ---- weights ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("b", "c"), [(0.5, 0.0), (2.0, 0.75), (0.3, 5.0)])
def test_weights_of_two_and_three_tracks(b: float, c: float) -> None:
    steps = [
        ["play", "a", {"weight": 1.0, "speed": 0.8}],
        ["play", "b", {"weight": b, "speed": 1.3, "loop": "pingpong"}],
        ["play", "c", {"weight": c, "at": 0.4}],
        *watched(2, 12),
        ["weight", "a", 0.75],
        ["weight", "b", 1.5],
        *watched(2, 12),
    ]
    compare(steps, "same")


def test_rotations_about_one_axis_of_three_tracks_differ_as_slerp_and_the_mean_rotation_do() -> None:
    """Three.js: the angle is sum(w a) / sum(w). Here: that of the sum of w (cos a, sin a)."""
    clips, model = scene("axis")
    weights = {"a": 1.0, "b": 0.7, "c": 1.6}
    steps: list[list[Any]] = [["play", name, {"weight": weight}] for name, weight in weights.items()]
    lengths = watched(4, 30)
    ours = local_rotations(by_skinpy(model, steps + lengths))
    theirs = local_rotations(by_three(model, clips, steps + lengths))
    total, w = sum(weights.values()), np.array(list(weights.values()))[:, None, None]
    at = np.cumsum([step[1] for step in lengths[::2]])
    poses = [model.pose(name, at).rotation.astype(float) for name in weights]
    axis = np.random.default_rng(5).normal(size=(len(NAMES), 3))
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    half = np.array([np.arctan2((q[..., :3] * axis).sum(-1), q[..., 3]) for q in poses])
    mean = (w * half).sum(0) / total
    summed = np.arctan2((w * np.sin(2 * half)).sum(0), (w * np.cos(2 * half)).sum(0)) / 2
    known = 2 * np.abs(mean - summed)
    assert known.max() > 0.005
    np.testing.assert_allclose(angles(ours, theirs), known, rtol=0, atol=ATOL)


# ---- cross-fades --------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", ["cross", "cross_to"])
@pytest.mark.parametrize("seconds", [0.8, 2.6])
def test_cross_fade(call: str, seconds: float) -> None:
    steps = [
        ["play", "a", {"speed": 1.2}],
        *watched(1.1, 6),
        [call, "a", "c", seconds, False, {"speed": 0.9}],
        ["read"],
        *watched(seconds * 1.3, 20),
    ]
    compare(steps, "same")


def test_cross_fade_of_rotations_differs_as_slerp_and_nlerp_do() -> None:
    """Both lie on the arc between the two, at w phi and at atan2(w sin phi, 1 - w + w cos phi)."""
    clips, model = scene("free")
    fade = watched(0.9, 25)
    steps = [["play", "a", {}], ["advance", 0.6], ["cross", "a", "b", 0.9, False, {}], *fade]
    ours, theirs = by_skinpy(model, steps), by_three(model, clips, steps)
    gone = np.cumsum([step[1] for step in fade[::2]])
    one, other = (model.pose(n, t).rotation.astype(float) for n, t in (("a", 0.6 + gone), ("b", gone)))
    phi = np.arccos(np.clip(np.abs((one * other).sum(-1)), 0, 1))
    w = (gone / 0.9)[:, None]
    known = 2 * np.abs(np.arctan2(w * np.sin(phi), 1 - w + w * np.cos(phi)) - w * phi)
    assert 2 * phi.max() > 1 and known.max() > 0.01
    np.testing.assert_allclose(angles(*map(local_rotations, (ours, theirs))), known, rtol=0, atol=ATOL)


@pytest.mark.parametrize(("old", "new"), [("a", "b"), ("b", "c"), ("c", "b")])
def test_warped_cross_fade(old: str, new: str) -> None:
    clips, model = scene("same")
    phase = (0.55 / CLIPS[old]) % 1.0
    steps = [
        ["play", old, {}],
        ["advance", 0.55],
        ["cross", old, new, 1.2, True, {"at": phase * CLIPS[new]}],
        *watched(1.7, 9),
    ]
    ours = by_skinpy(model, steps)
    coarse, fine = (by_three(model, clips, steps, count) for count in (2000, 4000))
    # Their error goes down with the step, to a value that is ours.
    assert np.abs(fine - ours).max() < 0.6 * np.abs(coarse - ours).max() < 1e-3
    np.testing.assert_allclose(ours, 2 * fine - coarse, rtol=0, atol=ATOL)


# ---- rotations ----------------------------------------------------------------------------------------


def local_rotations(world: Array) -> Array:
    """(..., J, 3, 3): without the parent and without scale; only joints that have no children are scaled."""
    local = world.copy()
    for joint, parent in enumerate(PARENTS):
        if parent >= 0:
            local[..., joint, :, :] = np.linalg.inv(world[..., parent, :, :]) @ world[..., joint, :, :]
    turned = local[..., :3, :3]
    return np.asarray(turned / np.linalg.norm(turned, axis=-2, keepdims=True))


def angles(one: Array, other: Array) -> Array:
    """(...,): of the rotation from one to the other, by its sine, which is exact where it is small."""
    between = one.swapaxes(-1, -2) @ other
    skew = between - between.swapaxes(-1, -2)
    sine = np.sqrt(skew[..., 0, 1] ** 2 + skew[..., 0, 2] ** 2 + skew[..., 1, 2] ** 2) / 2
    return np.asarray(np.arcsin(np.clip(sine, 0, 1)))
