"""Contacts of feet, and feet that are locked: on walks whose contacts are known, against a slow twin.

The figure walks by a solver of its own, in the plane of its legs, so where its feet are planted is known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import skinpy
from skinpy.planting.easing import envelope

Array = Any

JOINTS = {  # name: parent and position
    "Hips": (None, (0.0, 0.94, 0.0)),
    "Spine": ("Hips", (0.0, 1.1, 0.0)),
    "Neck": ("Spine", (0.0, 1.4, 0.0)),
    "Head": ("Neck", (0.0, 1.5, 0.0)),
    **{
        f"{side}{part}": (parent and parent.replace("*", side), (sign * x, y, z))
        for side, sign in (("Left", 1.0), ("Right", -1.0))
        for part, parent, (x, y, z) in (
            ("UpperArm", "Spine", (0.2, 1.35, 0.0)),
            ("LowerArm", "*UpperArm", (0.45, 1.35, 0.0)),
            ("Hand", "*LowerArm", (0.7, 1.35, 0.0)),
            ("UpperLeg", "Hips", (0.1, 0.94, 0.0)),
            ("LowerLeg", "*UpperLeg", (0.1, 0.51, 0.0)),
            ("Foot", "*LowerLeg", (0.1, 0.08, 0.0)),
            ("Toe", "*Foot", (0.1, 0.02, 0.12)),
        )
    },
}
NAMES = tuple(JOINTS)
PARENTS = [-1 if parent is None else NAMES.index(parent) for parent, _ in JOINTS.values()]
PLACES = np.array([place for _, place in JOINTS.values()])
OFFSETS = PLACES - np.where(np.array(PARENTS)[:, None] >= 0, PLACES[PARENTS], 0.0)
FEET = ["LeftFoot", "RightFoot"]
THIGH = SHIN = 0.43
ANKLE = 0.08
SIZE = 1.5  # from the soles to the head
FPS, PLANTED, STRIDE = 60.0, 0.6, 0.7


def box(low: tuple[float, float, float], high: tuple[float, float, float]) -> Array:
    return np.array(
        [[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]
    )


def figure(*, mesh: bool = True, unit: float = 1.0) -> skinpy.Model:
    """A figure 1.5 high that stands on y = 0, with boxes for its feet and toes."""
    rest = np.repeat(np.eye(4)[None], len(NAMES), axis=0)
    rest[:, :3, 3] = OFFSETS * unit
    points, owners = [np.zeros((0, 3))], [np.zeros(0, int)]
    for side, x in (("Left", 0.1), ("Right", -0.1)):
        for name, back, front in (("Foot", -0.06, 0.12), ("Toe", 0.12, 0.2)):
            points.append(box((x - 0.04, 0.0, back), (x + 0.04, 0.05, front)))
            owners.append(np.full(8, NAMES.index(side + name)))
    points.append(box((-0.1, 1.4, -0.1), (0.1, 1.5, 0.1)))
    owners.append(np.full(8, NAMES.index("Head")))
    positions, joints = np.concatenate(points) * unit, np.concatenate(owners)
    if not mesh:
        positions, joints = positions[:0], joints[:0]
    return skinpy.Model.from_arrays(
        NAMES,
        PARENTS,
        rest,
        positions=positions,
        faces=np.zeros((0, 3), int),
        joints=joints[:, None],
        weights=np.ones((len(joints), 1)),
    )


def legs(hips: Array, ankles: dict[str, Array]) -> Array:
    """Rotations (N,J,4) that bring level feet to points (N,2) of y and z; hips (N,2) too."""
    rotations = np.zeros((len(hips), len(NAMES), 4))
    rotations[..., 3] = 1.0
    for side, ankle in ankles.items():
        line = ankle - hips
        distance = np.minimum(np.linalg.norm(line, axis=1), THIGH + SHIN - 1e-9)
        ahead = np.arctan2(line[:, 1], -line[:, 0])
        bend = np.arccos(distance / (2 * THIGH))  # both links are as long
        for part, angle in (
            ("UpperLeg", -(ahead + bend)),
            ("LowerLeg", 2 * bend),
            ("Foot", ahead - bend),
        ):
            joint = NAMES.index(side + part)
            rotations[:, joint, 0], rotations[:, joint, 3] = np.sin(angle / 2), np.cos(angle / 2)
    return rotations


def stepping(times: Array, phase: float, lift: float = 0.1) -> Array:
    """The ankle (N,2), y and z, of a foot that is planted for PLANTED of each second, then steps ahead."""
    cycle = times + phase
    within = np.clip((cycle % 1.0 - PLANTED) / (1 - PLANTED), 0.0, 1.0)
    ahead = np.floor(cycle) + (1 - np.cos(np.pi * within)) / 2 - phase
    return np.stack([ANKLE + lift * np.sin(np.pi * within), STRIDE * (ahead + PLANTED / 2)], axis=1)


def walk(
    model: skinpy.Model,
    *,
    seconds: float = 3.0,
    travels: float = 1.0,
    high: float = 0.0,
    unit: float = 1.0,
    in_place: bool = False,
    fps: float = FPS,
) -> skinpy.Clip:
    """A walk whose hips go `travels` times as far as the steps, and are `high` too high."""
    times = np.arange(round(seconds * fps) + 1) / fps
    hips = np.stack([np.full(len(times), 0.88), STRIDE * times], axis=1)
    rotations = legs(hips, {"Left": stepping(times, 0.0), "Right": stepping(times, 0.5)})
    translation = np.tile(OFFSETS, (len(times), 1, 1))
    translation[:, 0] = np.stack([0 * times, 0.88 + high + 0 * times, travels * STRIDE * times], axis=1)
    if in_place:
        translation[:, 0, 2] = 0.0
    clip = skinpy.Clip.from_arrays(
        "walk", fps=fps, joints=NAMES, translation=translation * unit, rotation=rotations
    )
    return model.add_clips(clip).clips[-1]


def soles(clip: skinpy.Clip, times: Array) -> dict[str, Array]:
    """The vertices (N,16,3) of each foot and its toes."""
    model = clip.model
    assert model is not None
    vertices = model.deform(model.pose(clip, times, loop="clamp"), normals=False)[0].astype(float)
    joints = model.skin.joints[model.mesh.slots[:, 0]]
    found = {}
    for side in ("Left", "Right"):
        own = [NAMES.index(side + part) for part in ("Foot", "Toe")]
        found[side + "Foot"] = vertices[:, np.isin(joints, own)]
    return found


def slide(points: Array) -> float:
    """How far the lowest vertex of (N,V,3) moves over the ground, from one time to the next, in all."""
    lowest = (points[1:, :, 1] + points[:-1, :, 1]).argmin(axis=1)
    rows = np.arange(len(lowest))
    steps = points[rows + 1, lowest] - points[rows, lowest]
    return float(np.linalg.norm(steps[:, [0, 2]], axis=1).sum())


def inside(times: Array, intervals: Array, margin: float = 0.0) -> Array:
    """Which times (N,) are in one of the intervals (n,2)."""
    found = np.zeros(len(times), bool)
    for start, end in intervals:
        found |= (times >= start + margin) & (times <= end - margin)
    return found


def known_contacts(phase: float, seconds: float) -> Array:
    """The contacts of `stepping`, cut at the ends."""
    starts = np.arange(-1, seconds + 1) - phase
    rows = np.stack([starts, starts + PLANTED], axis=1)
    rows = np.clip(rows, 0.0, seconds)
    return rows[rows[:, 1] > rows[:, 0]]


# ------------------------------------------------------------------------------------------------ contacts


@pytest.mark.parametrize("mesh", [True, False])
def test_contacts_are_those_of_the_walk(mesh: bool) -> None:
    """To two hundredths: a foot that starts is slower than the limit for 0.013 s."""
    found = walk(figure(mesh=mesh)).contacts(FEET)
    assert list(found) == FEET
    for name, phase in (("LeftFoot", 0.0), ("RightFoot", 0.5)):
        known = known_contacts(phase, 3.0)
        assert found[name].dtype == np.float64 and found[name].shape == known.shape
        assert np.abs(found[name] - known).max() < 0.02


def test_by_default_feet_and_toes_are_looked_at() -> None:
    assert set(walk(figure()).contacts()) == {"LeftFoot", "LeftToe", "RightFoot", "RightToe"}
    assert set(skinpy.character().clips["run"].contacts()) == {"LeftFoot", "LeftToe", "RightFoot", "RightToe"}


def twin(clip: skinpy.Clip, name: str) -> Array:
    """Contacts by the definition in docs/feet.md, one time and one vertex after another; runs of samples."""
    count = round(clip.duration * 60)
    times = np.linspace(0.0, clip.duration, count + 1)
    step, points = times[1], soles(clip, times)
    heights: list[float] = []
    touching: dict[str, list[float]] = {}
    for foot in FEET:
        for vertex in range(16):
            for index in range(1, count):
                path = points[foot][index - 1 : index + 2, vertex]
                if np.linalg.norm(path[2] - path[0]) / (2 * step) < 0.25 * SIZE:
                    heights.append(path[1, 1])
    floor = np.percentile(heights, 5.0)
    for index in range(1, count):
        margins = []
        for vertex in range(16):
            path = points[name][index - 1 : index + 2, vertex]
            speed = np.linalg.norm(path[2] - path[0]) / (2 * step)
            margins.append(max(speed / (0.25 * SIZE), (path[1, 1] - floor) / (0.045 * SIZE)))
        touching.setdefault(name, []).append(min(margins))
    low = np.array(touching[name]) < 1
    edges = np.flatnonzero(np.diff(low.astype(int)))
    return np.asarray(times[1:][edges])


def test_contacts_are_those_of_a_slow_twin() -> None:
    clip = walk(figure(), travels=1.1, high=0.03, seconds=2.0)
    found = clip.contacts(FEET)
    for name in FEET:
        ends = found[name].ravel()
        ends = ends[(ends > 0.05) & (ends < 1.95)]
        wanted = twin(clip, name)
        wanted = wanted[(wanted > 0.05) & (wanted < 1.95)]
        # The twin knows the sample before each end; contacts lie at most one step behind it.
        assert len(ends) == len(wanted) and ((ends - wanted > -1e-6) & (ends - wanted < 1 / 60 + 1e-6)).all()


def test_a_raised_foot_that_keeps_still_has_no_contact() -> None:
    model = figure()
    times = np.arange(121) / 60
    hips = np.tile([0.9, 0.0], (121, 1))
    up, down = np.tile([0.4, 0.0], (121, 1)), np.tile([ANKLE, 0.0], (121, 1))
    still = skinpy.Clip.from_arrays(
        "crane", times=times, joints=NAMES, rotation=legs(hips, {"Left": up, "Right": down})
    )
    found = model.add_clips(still).clips[-1].contacts(FEET)
    assert found["LeftFoot"].shape == (0, 2) and found["RightFoot"].tolist() == [[0.0, 2.0]]


def test_nothing_has_contact_at_the_top_of_a_jump() -> None:
    model = figure()
    times = np.arange(121) / 60
    height = np.maximum(0.0, 0.3 - 4.9 * (times - 1.0) ** 2)
    translation = np.tile(OFFSETS, (121, 1, 1))
    translation[:, 0, 1] += height
    clip = skinpy.Clip.from_arrays("jump", times=times, joints=NAMES, translation=translation)
    found = model.add_clips(clip).clips[-1].contacts(FEET)
    leaves = 1 - np.sqrt(0.3 / 4.9)
    for name in FEET:
        assert np.abs(found[name] - [[0.0, leaves], [2 - leaves, 2.0]]).max() < 0.02


def test_feet_have_contact_on_stairs() -> None:
    """Each step of the walk is 0.15 higher than the one before, and planted as long as on level ground."""
    model = figure()
    times = np.arange(181) / 60
    ankles = {}
    for side, phase in (("Left", 0.0), ("Right", 0.5)):
        ankles[side] = stepping(times, phase, lift=0.15)
        ankles[side][:, 0] += 0.3 * (ankles[side][:, 1] / STRIDE - PLANTED / 2)
    hips = np.stack([0.8 + 0.3 * (times - 0.3), STRIDE * times], axis=1)
    translation = np.tile(OFFSETS, (181, 1, 1))
    translation[:, 0, 1], translation[:, 0, 2] = hips.T
    clip = skinpy.Clip.from_arrays(
        "stairs", times=times, joints=NAMES, translation=translation, rotation=legs(hips, ankles)
    )
    clip = model.add_clips(clip).clips[-1]
    found = clip.contacts(FEET)
    for name, phase in (("LeftFoot", 0.0), ("RightFoot", 0.5)):
        known = known_contacts(phase, 3.0)
        assert found[name].shape == known.shape and np.abs(found[name] - known).max() < 0.05
    locked = skinpy.lock_feet(clip)
    for name, points in soles(locked, times).items():
        for start, end in found[name]:
            low = points[inside(times, [(start, end)]), :, 1].min(axis=1)
            assert np.ptp(low) < 1e-3 and low.mean() == pytest.approx(
                soles(clip, times)[name][inside(times, [(start, end)]), :, 1].min(axis=1).mean(), abs=0.02
            )


def test_contacts_of_a_walk_in_place_go_on_over_its_end() -> None:
    clip = walk(figure(), seconds=1.0, in_place=True)
    found = clip.contacts(FEET)
    assert np.abs(found["LeftFoot"] - [[0.0, 0.6]]).max() < 0.02
    assert np.abs(found["RightFoot"] - [[0.0, 0.1], [0.5, 1.0]]).max() < 0.02
    names = [event.name for event in clip.add_contact_events(FEET).events]
    assert sorted(names) == ["LeftFoot down", "LeftFoot up", "RightFoot down", "RightFoot up"]


def test_events_are_at_the_ends_of_contacts() -> None:
    clip = walk(figure()).add_event(0.1, "breath")
    events = clip.add_contact_events(["LeftFoot"]).events
    contacts = clip.contacts(["LeftFoot"])["LeftFoot"]
    assert [event.time for event in events if event.name == "LeftFoot down"] == contacts[:, 0].tolist()
    assert [event.time for event in events if event.name == "LeftFoot up"] == contacts[:, 1].tolist()
    assert "breath" in [event.name for event in events]


# ------------------------------------------------------------------------------------------------- locking


@pytest.mark.parametrize(("travels", "high"), [(1.15, 0.0), (0.85, 0.03), (1.1, -0.03), (1.0, 0.05)], ids=str)
def test_planted_feet_keep_still_on_the_ground(travels: float, high: float) -> None:
    """At most a tenth of the slide before, soles within 1 % of the height, and no pops in the legs."""
    clip = walk(figure(), travels=travels, high=high)
    locked = skinpy.lock_feet(clip)
    contacts, times = clip.contacts(FEET), np.arange(0.0, 3.0, 1 / 97)
    before, after = soles(clip, times), soles(locked, times)
    for name in FEET:
        planted = inside(times, contacts[name], 0.02)
        assert np.abs(after[name][planted, :, 1].min(axis=1)).max() < 0.01 * SIZE
        for start, end in contacts[name]:
            one = inside(times, [(start, end)], 0.02)
            assert slide(after[name][one]) < max(0.1 * slide(before[name][one]), 1e-3)
        assert after[name][..., 1].min() > -0.002  # nowhere below the ground
    assert locked.model is clip.model and locked.duration == clip.duration
    findings = skinpy.check(clip.model.add_clips(locked, replace=True))  # type: ignore[union-attr]
    assert not [finding for finding in findings if finding.code.endswith("_pop")]


def test_limbs_keep_their_lengths_and_all_else_stays() -> None:
    clip = walk(figure(), travels=1.15)
    locked, times = skinpy.lock_feet(clip), np.linspace(0.0, 3.0, 50)
    model = clip.model
    assert model is not None
    for joint, parent in enumerate(PARENTS):
        if parent >= 0:
            apart = model.joint_positions(locked, times)[:, [joint, parent]].astype(float)
            apart = np.linalg.norm(apart[:, 0] - apart[:, 1], axis=1)
            assert np.abs(apart - np.linalg.norm(OFFSETS[joint])).max() < 1e-5
    kept = {(channel.name, channel.path): channel for channel in locked.channels}
    for channel in clip.channels:
        legs_ = channel.path == "rotation" and channel.name.endswith(("Leg", "Foot", "Toe"))
        if not legs_ and (channel.name, channel.path) != ("Hips", "translation"):
            assert np.array_equal(kept[channel.name, channel.path].values, channel.values)


def test_far_from_contacts_nothing_changes() -> None:
    """Between two contacts the correction is gone after `blend` seconds, and the hips after twice that."""
    clip = walk(figure(), travels=1.1)
    given = {"LeftFoot": clip.contacts(FEET)["LeftFoot"][1:2]}
    start, end = given["LeftFoot"][0]
    locked, times = skinpy.lock_feet(clip, joints=given, blend=0.1), np.linspace(0.0, 3.0, 181)
    model = clip.model
    assert model is not None
    moved = np.abs(model.joint_positions(locked, times) - model.joint_positions(clip, times)).max(axis=(1, 2))
    far = (times < start - 0.25) | (times > end + 0.25)
    assert moved[far].max() < 1e-5 < 0.005 < moved[~far].max()


def test_what_is_planted_already_hardly_moves() -> None:
    """2 mm: the limit of speed counts the first and last hundredths of a step as contact."""
    clip = walk(figure())
    times = np.linspace(0.0, 3.0, 181)
    before, after = soles(clip, times), soles(skinpy.lock_feet(clip), times)
    for name in FEET:
        assert np.abs(after[name] - before[name]).max() < 0.006


def test_a_loop_stays_a_loop() -> None:
    model = figure()
    clip = walk(model, seconds=1.0, in_place=True, high=0.02)
    locked = skinpy.lock_feet(clip)
    ends = model.joint_positions(locked, [0.0, 1.0], loop="clamp")
    assert np.abs(ends[1] - ends[0]).max() < 1e-5
    times = np.linspace(0.0, 1.0, 61)
    for name, phase in (("LeftFoot", 0.0), ("RightFoot", 0.5)):
        points = soles(locked, times)[name] + np.array([0.0, 0.0, STRIDE]) * times[:, None, None]
        planted = inside(times, known_contacts(phase, 1.0), 0.02)
        assert np.abs(points[planted, :, 1].min(axis=1)).max() < 1e-3
        for start, end in known_contacts(phase, 1.0):
            assert slide(points[inside(times, [(start, end)], 0.02)]) < 0.003


def test_root_motion_and_locking_go_together() -> None:
    """In the scene a clip looks the same whether its root motion is extracted before or after."""
    clip = walk(figure(), travels=1.12, high=0.02)
    model = clip.model
    assert model is not None
    inside_, times = skinpy.lock_feet(clip.extract_root_motion("Hips")), np.linspace(0.0, 3.0, 91)
    motion = inside_.root_motion
    assert motion is not None
    local = model.joint_positions(inside_, times, loop="clamp")
    moved = (
        np.einsum("nij,nkj->nki", motion.sample(times)[:, :3, :3], local)
        + motion.sample(times)[:, None, :3, 3]
    )
    plain = model.joint_positions(skinpy.lock_feet(clip), times, loop="clamp")
    assert np.abs(moved - plain).max() < 2e-4


def test_units_and_the_up_axis_do_not_matter() -> None:
    """A figure in centimeters, and one whose scene has Z up, get the same rotations."""
    plain = skinpy.lock_feet(walk(figure(), travels=1.1, high=0.02))
    large = skinpy.lock_feet(walk(figure(unit=100.0), travels=1.1, high=0.02, unit=100.0))
    for one, other in zip(plain.channels, large.channels, strict=True):
        assert (one.name, one.path) == (other.name, other.path)
        scale = 100.0 if one.path == "translation" else 1.0
        assert np.abs(one.values * scale - other.values).max() < 2e-4 * scale


def test_hips_come_down_where_a_leg_is_too_short() -> None:
    """Hips that are 6 cm too high: the legs reach the ground all the same, without being straighter."""
    clip = walk(figure(), high=0.06)
    locked, times = skinpy.lock_feet(clip), np.linspace(0.2, 2.8, 157)
    model = clip.model
    assert model is not None
    origins = model.joint_positions(locked, times).astype(float)
    for name in FEET:
        root = origins[:, NAMES.index(name.replace("Foot", "UpperLeg"))]
        reach = np.linalg.norm(origins[:, NAMES.index(name)] - root, axis=1) / (THIGH + SHIN)
        before = model.joint_positions(clip, times).astype(float)
        own = np.linalg.norm(
            before[:, NAMES.index(name)] - before[:, NAMES.index(name.replace("Foot", "UpperLeg"))], axis=1
        ) / (THIGH + SHIN)
        planted = inside(times, clip.contacts(FEET)[name])
        assert (reach[planted] < np.maximum(own[planted], 0.985) + 2e-3).all()


def test_a_figure_that_floats_comes_down_as_a_whole() -> None:
    """Hips that are 2 cm too high: the figure comes down by that much, without bending its knees.

    Where contacts are given, the feet alone come down, as far as legs reach. The positions are float32.
    """
    clip, times = walk(figure(), high=0.02), np.linspace(0.0, 3.0, 181)
    locked, given = skinpy.lock_feet(clip), skinpy.lock_feet(clip, joints=clip.contacts(FEET))
    model = clip.model
    assert model is not None
    before, after, least = (
        model.joint_positions(one, times, loop="clamp").astype(float) for one in (clip, locked, given)
    )
    assert np.abs(after - before + [0.0, 0.02, 0.0]).max() < 1e-4
    hips = NAMES.index("Hips")
    assert (before - least)[:, hips, 1].max() < 0.01


def test_hands_can_be_held() -> None:
    """A hand that drifts while it should rest on a table keeps its place, and no hips come down for it."""
    model = figure()
    times = np.arange(61) / 60
    rotation = np.zeros((61, len(NAMES), 4))
    rotation[..., 3] = 1.0
    angle = 0.4 + 0.2 * times
    for part in ("UpperArm", "LowerArm"):
        joint = NAMES.index("Left" + part)
        rotation[:, joint, 1], rotation[:, joint, 3] = np.sin(angle / 2), np.cos(angle / 2)
    clip = skinpy.Clip.from_arrays("lean", times=times, joints=NAMES, rotation=rotation)
    clip = model.add_clips(clip).clips[-1]
    locked = skinpy.lock_feet(clip, joints={"LeftHand": [[0.2, 0.8]]})
    hand = model.joint_positions(locked, times)[:, NAMES.index("LeftHand")]
    held = inside(times, [(0.2, 0.8)])
    assert np.ptp(hand[held], axis=0).max() < 1e-3
    assert not [one for one in locked.channels if one.path == "translation"]


def test_toes_stand_for_their_foot() -> None:
    clip = walk(figure(), travels=1.1)
    one, other = skinpy.lock_feet(clip, joints=["LeftToe"]), skinpy.lock_feet(clip, joints=["LeftFoot"])
    for first, second in zip(one.channels, other.channels, strict=True):
        assert np.array_equal(first.values, second.values)


def test_keys_are_at_the_old_times_and_often_enough() -> None:
    clip = walk(figure(), travels=1.1, fps=8.0)
    for channel in skinpy.lock_feet(clip).channels:
        if channel.name == "LeftUpperLeg" and channel.path == "rotation":
            assert np.isin(np.arange(25) / 8.0, channel.times).all()
            assert np.diff(channel.times).max() < 1.02 / 60


def test_a_clip_without_contacts_stays_itself() -> None:
    clip = walk(figure())
    assert skinpy.lock_feet(clip, joints={"LeftFoot": []}) is clip


# -------------------------------------------------------------------------------------------------- errors


def lone() -> skinpy.Model:
    """Three joints in one point."""
    rest = np.repeat(np.eye(4)[None], 3, axis=0)
    return skinpy.Model.from_arrays(
        ["a", "b", "c"],
        [-1, 0, 1],
        rest,
        positions=np.zeros((0, 3)),
        faces=np.zeros((0, 3), int),
        joints=np.zeros((0, 1), int),
        weights=np.zeros((0, 1)),
    )


def turning(model: skinpy.Model, joint: str) -> skinpy.Clip:
    keys = skinpy.Clip.from_arrays(
        "turn", fps=1.0, joints=[joint], rotation=[[[0, 0, 0, 1]], [[0, 0.6, 0, 0.8]]]
    )
    return model.add_clips(keys).clips[-1]


BAD: dict[str, tuple[Callable[[skinpy.Clip], object], type[Exception], str]] = {
    "an unknown joint": (lambda c: skinpy.lock_feet(c, joints=["LeftFot"]), KeyError, "LeftFoot"),
    "no joints": (lambda c: skinpy.lock_feet(c, joints=[]), ValueError, "joints is empty"),
    "a word": (lambda c: skinpy.lock_feet(c, joints="LeftFoot"), TypeError, "sequence of str"),
    "a root": (lambda c: skinpy.lock_feet(c, joints=["Hips"]), ValueError, "'Hips' has no two joints above"),
    "one limb twice": (
        lambda c: skinpy.lock_feet(c, joints=["LeftFoot", "LeftLowerLeg"]),
        ValueError,
        "both need 'LeftUpperLeg'",
    ),
    "a contact beyond the end": (
        lambda c: skinpy.lock_feet(c, joints={"LeftFoot": [[2.0, 4.0]]}),
        ValueError,
        r"joints\['LeftFoot'\]",
    ),
    "NaN": (lambda c: skinpy.lock_feet(c, joints={"LeftFoot": [[0.0, np.nan]]}), ValueError, "not finite"),
    "one number a contact": (lambda c: skinpy.lock_feet(c, joints={"LeftFoot": [0.1]}), ValueError, "shape"),
    "a negative blend": (lambda c: skinpy.lock_feet(c, blend=-0.1), ValueError, "blend is -0.1"),
    "an infinite blend": (lambda c: skinpy.lock_feet(c, blend=np.inf), ValueError, "blend is inf"),
    "a name": (lambda c: skinpy.lock_feet("walk"), TypeError, "clip is of type str"),  # type: ignore[arg-type]
    "an additive clip": (lambda c: skinpy.lock_feet(c.additive()), ValueError, "additive"),
    "contacts of an additive clip": (lambda c: c.additive().contacts(), ValueError, "additive"),
    "contacts of nothing": (lambda c: c.contacts([]), ValueError, "joints is empty"),
    "contacts of an unknown joint": (lambda c: c.contacts(["Tail"]), KeyError, "Tail"),
    "no length": (lambda c: turning(lone(), "c").contacts(["c"]), ValueError, "size 0"),
    "no feet": (
        lambda c: skinpy.lock_feet(turning(skinpy.chair(), skinpy.chair().skeleton.names[-1])),
        ValueError,
        "no feet are found whose legs",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named(case: str) -> None:
    call, error, message = BAD[case]
    with pytest.raises(error, match=message):
        call(walk(figure(), seconds=1.0))


def test_a_clip_of_no_model_is_refused() -> None:
    loose = skinpy.Clip.from_arrays("x", fps=30.0, joints=["a"], translation=np.zeros((2, 1, 3)))
    for call in (skinpy.lock_feet, skinpy.Clip.contacts, skinpy.Clip.add_contact_events):
        with pytest.raises(ValueError, match="bound to no model"):
            call(loose)


# ------------------------------------------------------------------------------------------- retargeting


def test_a_captured_figure_does_not_float() -> None:
    """The source hangs from its hips at the origin at rest, as in BVH files, and only its ankles are mapped.

    The soles of the result are within 0.3 % of the height of the ground: what is less is not moved.
    """
    target = figure()
    rest = np.repeat(np.eye(4)[None], len(NAMES), axis=0)
    rest[:, :3, 3] = OFFSETS * 17.0
    rest[0, :3, 3] = 0.0
    source = skinpy.Model.from_arrays(
        NAMES,
        PARENTS,
        rest,
        positions=np.zeros((0, 3)),
        faces=np.zeros((0, 3), int),
        joints=np.zeros((0, 1), int),
        weights=np.zeros((0, 1)),
    )
    clip = walk(source, unit=17.0)
    mapped = {name: name for name in NAMES if not name.endswith("Toe")}
    result = skinpy.retarget(clip, source, target, mapped)
    times = np.linspace(0.0, 3.0, 61)
    lowest = np.min([points[..., 1].min(axis=1) for points in soles(result, times).values()], axis=0)
    assert np.abs(lowest).max() < 0.003 * SIZE + 1e-4


def test_a_lift_begins_before_it_is_needed() -> None:
    """The curve that lifts feet and lowers hips: nowhere too low, without jumps, and gone in time.

    A spike of one frame may raise it by at most two frames' share of a ramp of 0.1 s and its tip.
    """
    times = np.arange(0.0, 4.0, 1 / 120)
    needed = np.zeros(len(times))
    needed[240] = 0.03
    needed[300:310] = np.linspace(0.01, 0.02, 10)
    curve = envelope(times, needed, 0.1)
    assert (curve >= needed).all()
    assert np.abs(np.diff(curve)).max() < 0.03 / (0.1 * 120)
    far = np.abs(times[:, None] - times[needed > 0]).min(axis=1) > 0.2 + 4 / 60
    assert far.sum() > 300 and not curve[far].any()
    assert np.array_equal(envelope(times, 0 * needed, 0.1), 0 * needed)


def test_a_blend_beyond_the_clip_is_one_of_its_length() -> None:
    clip = walk(figure(), seconds=1.0, travels=1.1)
    one, other = skinpy.lock_feet(clip, blend=1.0), skinpy.lock_feet(clip, blend=1e9)
    for first, second in zip(one.channels, other.channels, strict=True):
        assert np.array_equal(first.values, second.values)
