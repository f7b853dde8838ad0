"""Models and clips for test_simd.py: all that a clip can hold, drawn at random or chosen to be awkward.

Channels are laid out one by one, so that values reach the core as they are: an importer would mend some."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import builders
import numpy as np
from twin import Rig, motion_of

from skinpy import Clip, Model
from skinpy.clip import Channel
from skinpy.clips.edit import derived

Rng = np.random.Generator
LINK = 0.3  # length of a joint
PATHS = ("translation", "rotation", "scale")


@dataclass
class Case:
    """A model, the clips for it, and the twin of both."""

    model: Model
    clips: list[Clip]
    rig: Rig

    @property
    def depth(self) -> int:
        return self.rig.depth()


# ---- skeletons ----------------------------------------------------------------------------------------


def unit(q: Any) -> Any:
    return np.asarray(q) / np.linalg.norm(q, axis=-1, keepdims=True)


def skeleton(
    rng: Rng,
    joints: int,
    *,
    chain: bool = False,
    roots: int = 1,
    sheared: float = 0.0,
    squeezed: float = 0.0,
    mirrored: float = 0.0,
) -> tuple[Any, Any]:
    """Parents (J,) and rest matrices (J,4,4); the last three are shares of the joints that are so."""
    parents = np.array([-1 if j < roots else j - 1 if chain else int(rng.integers(j)) for j in range(joints)])
    rest = np.empty((joints, 4, 4))
    for j in range(joints):
        scale = rng.uniform(0.8, 1.25, 3) if rng.random() < squeezed else np.ones(3)
        if rng.random() < mirrored:
            scale[rng.integers(3)] *= -1
        turn = builders.quaternions(rng, 1, 0.6)[0] if rng.random() < 0.8 else (0, 0, 0, 1)
        offset = unit(rng.normal(size=3)) * LINK
        shear = np.eye(4)
        if rng.random() < sheared:
            shear[0, 1], shear[1, 2] = rng.uniform(-0.5, 0.5, 2)
        rest[j] = builders.matrix_of(offset, turn, scale) @ shear
    return parents, rest


def model_of(parents: Any, rest: Any, *, targets: int = 0) -> Model:
    """One triangle of vertices at every other joint, in an order that is not the joints'."""
    joints = np.arange(len(parents))[::-2]
    globals_ = np.array(rest)
    for j, parent in enumerate(parents):
        if parent >= 0:
            globals_[j] = globals_[parent] @ rest[j]
    corners = np.concatenate([np.zeros((1, 3)), np.eye(3)[:2] * LINK])
    positions = np.concatenate([globals_[j, :3, 3] + corners for j in joints])
    return Model.from_arrays(
        [f"j{j}" for j in range(len(parents))],
        parents,
        rest,
        positions=positions,
        faces=np.arange(len(positions)).reshape(-1, 3),
        joints=np.repeat(joints, 3)[:, None],
        weights=np.ones((len(positions), 1)),
        targets={f"t{n}": np.full((len(positions), 3), 0.1) for n in range(targets)},
    )


# ---- times --------------------------------------------------------------------------------------------


def uniform_line(rng: Rng, duration: float) -> Any:
    return np.linspace(0.0, duration, int(rng.integers(4, 30)))


def ragged_line(rng: Rng, duration: float) -> Any:
    """Keys anywhere, the first one after the start and the last one before the end."""
    return np.sort(rng.uniform(0.05, 0.9, int(rng.integers(2, 25)))) * duration


def crowded_line(rng: Rng, duration: float) -> Any:
    """Most keys in a hundredth of the clip."""
    inside = 0.4 + 0.01 * np.sort(rng.random(20))
    return np.concatenate([[0.0], inside, [1.0]]) * duration


def bunched_line(rng: Rng, duration: float) -> Any:
    """Even, but for six keys where there is room for one: more than are looked at together, and few enough
    to be looked at one after another."""
    even = np.linspace(0.0, 1.0, 20)
    return np.sort(np.concatenate([even, rng.choice(even[1:-1]) + 1e-3 * (1 + np.arange(6))])) * duration


LINES = (uniform_line, ragged_line, crowded_line)

# ---- keys ---------------------------------------------------------------------------------------------

Keys = Callable[[Rng, str, int, Any], Any]


def near_keys(rng: Rng, path: str, count: int, rest: Any) -> Any:
    """Around the rest pose; the signs of neighboring quaternions are anything."""
    if path == "translation":
        return rest + rng.normal(size=(count, 3)) * 0.1 * LINK
    if path == "scale":
        return rest * rng.uniform(0.85, 1.2, (count, 3))
    turns = np.stack([product(rest, q) for q in builders.quaternions(rng, count, 0.7)])
    return turns * rng.choice([-1.0, 1.0], (count, 1))


def far_keys(rng: Rng, path: str, count: int, rest: Any) -> Any:
    """Rotations up to 180 degrees apart, and exactly that; scales through 0 to the other side."""
    if path == "translation":
        return rng.normal(size=(count, 3)) * LINK
    if path == "scale":
        return rng.uniform(-1.2, 1.2, (count, 3))
    turns = unit(rng.normal(size=(count, 4)))
    turns[:: int(rng.integers(2, 5))] = np.eye(4)[rng.integers(4, size=1)]
    axes = rng.integers(4, size=count)
    half = rng.random(count) < 0.4
    turns[half] = np.eye(4)[axes[half]]
    return turns


def constant_keys(rng: Rng, path: str, count: int, rest: Any) -> Any:
    return np.repeat(near_keys(rng, path, 1, rest), count, axis=0)


def flipped_keys(rng: Rng, path: str, count: int, rest: Any) -> Any:
    """The same rotation over and over, with changing signs; else constant."""
    keys = constant_keys(rng, path, count, rest)
    return keys * np.where(np.arange(count) % 2, -1.0, 1.0)[:, None] if path == "rotation" else keys


def resting_keys(rng: Rng, path: str, count: int, rest: Any) -> Any:
    """The rest pose's own bits for half of the time."""
    keys = near_keys(rng, path, count, rest)
    keys[: (count + 1) // 2] = rest
    return keys


def product(a: Any, b: Any) -> Any:
    """Of two quaternions x y z w."""
    x, y, z, w = np.asarray(a, np.float64)
    return np.array([[w, -z, y, x], [z, w, -x, y], [-y, x, w, z], [-x, -y, -z, w]]) @ np.asarray(b, float)


# ---- channels and clips -------------------------------------------------------------------------------


def channel(joint: int, path: str, interpolation: str, times: Any, values: Any, rng: Rng) -> Channel:
    values = np.asarray(values, np.float64)
    if path == "rotation":  # what is one already keeps its bits
        length = np.linalg.norm(values, axis=-1, keepdims=True)
        values = np.where(np.abs(length - 1) > 1e-6, values / length, values)
    tangents = [None, None]
    if interpolation == "cubic":
        if path == "rotation":  # a spline through q and -q would turn through nothing
            for k in range(1, len(values)):
                values[k] *= -1.0 if values[k] @ values[k - 1] < 0 else 1.0
        span = np.diff(times).min() if len(times) > 1 else 1.0
        tangents = [
            (rng.normal(size=values.shape) * 0.05 / max(span, 0.02)).astype(np.float32) for _ in range(2)
        ]
    return Channel(
        None if path == "weights" else joint,
        joint if path == "weights" else None,
        "",
        path,
        interpolation,
        np.asarray(times, np.float64),
        values.astype(np.float32),
        *tangents,
    )


def clip_of(model: Model, channels: Sequence[Channel], duration: float, ticks: float = 1000.0) -> Clip:
    """Bound to the model. 1e-4 of a tick is how near to a key counts as on it."""
    bare = Clip.from_arrays("bare", fps=ticks, joints=["j0"], translation=np.zeros((1, 1, 3)))
    return derived(bare, channels, duration, model=model)


def random_clip(
    rng: Rng,
    model: Model,
    *,
    lines: Sequence[Any],
    keys: Sequence[Keys],
    kinds: Sequence[str] = ("linear",),
    share: float = 0.8,
    own: bool = True,
    paths: Sequence[str] = PATHS,
    ticks: float = 1000.0,
) -> Clip:
    """`share` of all joints and paths move, along lines of their `own` or one of two that all share."""
    duration = float(rng.uniform(0.5, 3.0))
    shared = [line(rng, duration) for line in (lines[0], lines[-1])]
    rest = {path: getattr(model.skeleton, path).astype(np.float64) for path in PATHS}
    channels = []
    for joint in range(len(model.skeleton)):
        for path in paths:
            if rng.random() < share:
                line = pick(rng, lines)(rng, duration) if own else pick(rng, shared)
                values = pick(rng, keys)(rng, path, len(line), rest[path][joint])
                channels.append(channel(joint, path, pick(rng, kinds), line, values, rng))
    for target in range(len(model.targets)):
        line = pick(rng, lines)(rng, duration)
        channels.append(
            channel(target, "weights", pick(rng, kinds), line, rng.uniform(-1, 1, (len(line), 1)), rng)
        )
    return clip_of(model, channels, duration, ticks)


def pick(rng: Rng, things: Sequence[Any]) -> Any:
    return things[int(rng.integers(len(things)))]


# ---- cases ----------------------------------------------------------------------------------------------


def case(seed: int, clips: int = 2, skeleton_options: Any = None, targets: int = 0, **options: Any) -> Case:
    rng = np.random.default_rng(seed)
    wanted = {"joints": int(rng.integers(2, 40))} | (skeleton_options or {})
    model = model_of(*skeleton(rng, **wanted), targets=targets)
    made = [random_clip(rng, model, **options) for _ in range(clips)]
    return finish(model, made)


def finish(model: Model, clips: list[Clip]) -> Case:
    rig = Rig.of(model)
    rig.motions = [motion_of(clip) for clip in clips]
    return Case(model, clips, rig)


def one_key() -> Case:
    """Every channel has one key, in the middle of the clip or of no time at all."""
    rng = np.random.default_rng(50)
    model = model_of(*skeleton(rng, 11))
    clips = []
    for duration in (1.0, 0.0):
        channels = [
            channel(j, path, pick(rng, ("linear", "step", "cubic")), [0.5 * duration], values, rng)
            for j in range(11)
            for path in PATHS
            for values in [near_keys(rng, path, 1, getattr(model.skeleton, path)[j])]
        ]
        clips.append(clip_of(model, channels, duration))
    return finish(model, clips)


def unmoved() -> Case:
    """A clip without channels, and one that moves the last joint alone."""
    rng = np.random.default_rng(51)
    model = model_of(*skeleton(rng, 13, sheared=0.5))
    last = channel(12, "rotation", "linear", [0.0, 1.0], far_keys(rng, "rotation", 2, None), rng)
    return finish(model, [clip_of(model, [], 1.0), clip_of(model, [last], 1.0)])


def at_rest_with_shear() -> Case:
    """Sheared joints that stand on the rest pose's bits, on their negative, or beside them by one bit.

    Rest rotations are the identity, which interpolation between equal keys gives back bit by bit."""
    rng = np.random.default_rng(52)
    parents, rest = skeleton(rng, 24)
    shear = np.eye(4)
    shear[0, 1] = 0.4
    rest[:] = np.eye(4)
    rest[:, 1, 3] = LINK
    model = model_of(parents, rest @ shear)
    turns = model.skeleton.rotation.astype(np.float64)
    channels = []
    for j in range(24):
        how = j % 6
        turned = [turns[j], turns[j], unit(turns[j] + 0.1 * rng.normal(size=4)), turns[j]]
        if how == 0:
            turned = [0.0 - np.asarray(q) for q in turned]  # no negative zeros: arithmetic loses them
        if how in (0, 1, 2):
            kind = "step" if how < 2 else "linear"
            channels.append(channel(j, "rotation", kind, [0.1, 0.4, 0.7, 0.9], turned, rng))
        if how in (2, 3):
            place = model.skeleton.translation[j].astype(np.float64)
            channels.append(
                channel(j, "translation", "linear", [0.2, 0.5, 0.8], [place, place, place + (0, 0.1, 0)], rng)
            )
        if how == 4:
            near = np.nextafter(model.skeleton.scale[j], np.float32(2)).astype(np.float64)
            channels.append(channel(j, "scale", "linear", [0.0, 1.0], [near, near], rng))
    return finish(model, [clip_of(model, channels, 1.0)])


NEAR, ALL_KINDS = (near_keys,), ("linear", "step", "cubic")

CASES: dict[str, Callable[[], Case]] = {
    "one line": lambda: case(1, lines=[uniform_line], keys=NEAR, own=False, share=1.0),
    "bunches": lambda: case(24, lines=[bunched_line], keys=NEAR, kinds=ALL_KINDS),
    "two lines": lambda: case(2, lines=[uniform_line, ragged_line], keys=NEAR, own=False),
    "many lines": lambda: case(3, lines=LINES, keys=NEAR),
    "step": lambda: case(4, lines=LINES, keys=NEAR, kinds=("step",)),
    "cubic": lambda: case(5, lines=(uniform_line, ragged_line), keys=NEAR, kinds=("cubic",)),
    "cubic, one line": lambda: case(6, lines=[uniform_line], keys=NEAR, kinds=("cubic",), own=False),
    "constants": lambda: case(7, lines=LINES, keys=(constant_keys, near_keys), kinds=ALL_KINDS),
    "one key": one_key,
    "far keys, one line": lambda: case(8, lines=[uniform_line], keys=(far_keys,), own=False),
    "far keys, many lines": lambda: case(9, lines=LINES, keys=(far_keys,)),
    "opposite signs": lambda: case(10, lines=LINES, keys=(flipped_keys, near_keys)),
    "squeezed and mirrored": lambda: case(
        11, skeleton_options={"squeezed": 0.5, "mirrored": 0.3}, lines=LINES, keys=(*NEAR, far_keys)
    ),
    "sheared": lambda: case(12, skeleton_options={"sheared": 0.5}, lines=LINES, keys=NEAR, share=0.3),
    "at rest with shear": at_rest_with_shear,
    "unmoved": unmoved,
    "few move": lambda: case(13, lines=LINES, keys=NEAR, share=0.1),
    "rotations alone": lambda: case(14, lines=LINES, keys=NEAR, paths=("rotation",), share=1.0),
    "translations alone": lambda: case(15, lines=LINES, keys=NEAR, paths=("translation",)),
    "one joint": lambda: case(16, skeleton_options={"joints": 1}, lines=LINES, keys=NEAR, share=1.0),
    "eight joints": lambda: case(17, skeleton_options={"joints": 8}, lines=LINES, keys=NEAR, share=1.0),
    "several roots": lambda: case(18, skeleton_options={"joints": 20, "roots": 5}, lines=LINES, keys=NEAR),
    "morph targets": lambda: case(19, targets=3, lines=LINES, keys=NEAR, kinds=ALL_KINDS),
    "coarse ticks": lambda: case(20, lines=LINES, keys=(*NEAR, far_keys), ticks=25.0),
    "coarse ticks, merged": lambda: case(
        23, skeleton_options={"joints": 5}, lines=(ragged_line, uniform_line), keys=(far_keys,), ticks=25.0
    ),
    "chain of 64": lambda: case(
        21,
        1,
        skeleton_options={"joints": 64, "chain": True, "squeezed": 0.1},
        lines=LINES,
        keys=NEAR,
        paths=("translation", "rotation"),
    ),
    "chain of 200": lambda: case(
        22,
        1,
        skeleton_options={"joints": 200, "chain": True},
        lines=LINES,
        keys=NEAR,
        paths=("translation", "rotation"),
    ),
    **{
        f"random {seed}": lambda seed=seed: case(  # type: ignore[misc]
            seed,
            skeleton_options={"sheared": 0.1, "squeezed": 0.2, "mirrored": 0.1},
            targets=seed % 3,
            lines=LINES,
            keys=(near_keys, near_keys, far_keys, constant_keys, flipped_keys),
            kinds=("linear", "linear", *ALL_KINDS),
            own=seed % 2 == 0,
            share=(0.3, 0.6, 0.9)[seed % 3],
        )
        for seed in range(100, 112)
    },
}
