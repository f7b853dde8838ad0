"""skinpy.check: each rule has a model that triggers it and one that does not; levels, exit codes, JSON."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import import_cases
import numpy as np
import pytest
from builders import Gltf
from conftest import ROOT, needs_checkout

import skinpy
from skinpy import Clip, Finding, Findings, Model, check
from skinpy.__main__ import main

DATA = Path(skinpy.__file__).parent / "data"
FPS = 30.0

# ---- models ------------------------------------------------------------------------------------------


def about(axis: int, degrees: np.ndarray | float) -> np.ndarray:
    """(...,4) x y z w."""
    half = np.radians(np.asarray(degrees, float)) / 2
    rotation = np.zeros((*half.shape, 4))
    rotation[..., axis], rotation[..., 3] = np.sin(half), np.cos(half)
    return rotation


def chain(
    *clips: Clip,
    names: tuple[str, ...] = ("root", "arm", "hand"),
    scale: float | tuple[float, float, float] = 1.0,
    moved: int = 3,
    flat: bool = False,
) -> Model:
    """Joints above each other, at a distance of 1 along +Y, each with a triangle; 3 high at scale 1.

    scale is the root's at rest; only the first `moved` joints move a triangle; flat adds one without area.
    """
    count = len(names)
    rest = np.tile(np.eye(4), (count, 1, 1))
    rest[1:, 1, 3] = 1.0
    rest[0, :3, :3] = np.diag(np.broadcast_to(scale, 3))
    corners = np.array([[0, 0, 0], [0.5, 0, 0], [0, 1, 0]], float)
    positions = np.concatenate([corners + [0, joint, 0] for joint in range(moved)])
    faces = np.arange(3 * moved).reshape(-1, 3)
    if flat:
        faces = np.concatenate([faces, [[0, 1, 0]]])
    return Model.from_arrays(
        names,
        np.arange(count) - 1,
        rest,
        positions=positions,
        faces=faces,
        joints=np.repeat(np.arange(moved), 3)[:, None],
        weights=np.ones((3 * moved, 1)),
        # The mesh stands in joint space of the unscaled chain, so a zero scale needs no inverse.
        inverse_bind=np.stack([translated(0, -joint, 0) for joint in range(count)]),
        clips=clips,
    )


def translated(x: float, y: float, z: float) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, 3] = x, y, z
    return matrix


def turning(
    degrees: np.ndarray, *, joint: str = "arm", fps: float = FPS, name: str = "clip", **options: str
) -> Clip:
    """A clip that turns one joint about Z, a key per frame."""
    rotation = about(2, np.asarray(degrees, float))[:, None]
    return Clip.from_arrays(name, fps=fps, joints=[joint], rotation=rotation, **options)


def moving(places: np.ndarray, *, joint: str = "root", fps: float = FPS) -> Clip:
    """A clip that moves one joint; places (N,3), the root's rest being 0."""
    return Clip.from_arrays("clip", fps=fps, joints=[joint], translation=np.asarray(places, float)[:, None])


def scaling(keys: list[float], joint: str = "hand") -> Clip:
    scale = np.repeat(np.array(keys)[:, None, None], 3, axis=2)
    return Clip.from_arrays("clip", times=np.arange(len(keys)) / 2, joints=[joint], scale=scale)


#: A smooth loop of one second: 30 degrees to each side, its last pose the first.
SWING = 30 * np.sin(np.linspace(0, 2 * np.pi, 31))


def found(model: "Model | Path", code: str, **options: int) -> list[Finding]:
    return [one for one in check(model, **options) if one.code == code]


def only(model: "Model | Path", code: str, **options: int) -> Finding:
    findings = found(model, code, **options)
    assert len(findings) == 1, findings
    return findings[0]


def test_a_sound_model_is_clean() -> None:
    findings = check(chain(turning(SWING)))
    assert len(findings) == 0 and findings == Findings([])
    assert str(findings) == "nothing found"
    assert repr(findings) == "<Findings: nothing found>"


@pytest.mark.parametrize("name", ["character", "crane", "chair"])
def test_no_false_alarm_on_the_bundled_models(name: str) -> None:
    assert not len(check(DATA / f"{name}.glb"))


# ---- joints and names --------------------------------------------------------------------------------


def test_joints_over_the_limit() -> None:
    model = chain()
    one = only(model, "joints_over_limit", joints=2)
    assert (one.level, one.joint, one.size) == ("error", "hand", 3)
    assert not found(model, "joints_over_limit", joints=3)
    assert not found(model, "joints_over_limit")


def test_duplicate_names() -> None:
    one = only(chain(names=("root", "arm", "arm")), "duplicate_names")
    assert (one.level, one.joint, one.size) == ("warning", "arm", 2)


def test_unused_joints() -> None:
    names = ("root", "arm", "hand", "end", "tip")
    one = only(chain(names=names), "unused_joints")
    assert (one.level, one.joint, one.size) == ("note", "end", 2)
    # A clip that moves the last one uses all above it.
    assert not found(chain(turning(SWING, joint="tip"), names=names), "unused_joints")


# ---- scale -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [100.0, 0.01])
def test_a_scale_of_another_unit_at_rest(scale: float) -> None:
    one = only(chain(scale=scale), "unit_scale")
    assert (one.level, one.clip, one.joint) == ("warning", None, "root")
    assert one.size == pytest.approx(scale, rel=1e-6)


@pytest.mark.parametrize("scale", [90.0, 2.0, (100.0, 100.0, 50.0)])
def test_other_scales_are_no_unit(scale: float) -> None:
    assert not found(chain(scale=scale), "unit_scale")


def test_the_loaders_own_scale_is_no_finding(tmp_path: Path) -> None:
    """The loader scales the root of a file in centimeters; only scales of the file itself are found."""
    path = tmp_path / "cm.dae"
    path.write_bytes(import_cases.dae(meter=0.01, nodes='<node id="a"/>'))
    assert found(path, "units_converted")[0].level == "note"
    assert not found(path, "unit_scale")
    nodes = '<node id="a"><scale>100 100 100</scale></node>'
    path.write_bytes(import_cases.dae(meter=0.01, nodes=nodes))
    assert only(path, "unit_scale").joint == "a"


def test_scale_keys_of_another_unit() -> None:
    one = only(chain(scaling([100, 100, 100])), "unit_scale")
    assert (one.level, one.clip, one.joint, one.time, one.size) == ("warning", "clip", "hand", 0, 100)
    assert not found(chain(scaling([1, 100, 1])), "unit_scale")
    # Where the rest pose has the factor too, the keys add nothing.
    assert [one.clip for one in found(chain(scaling([100, 100], "root"), scale=100.0), "unit_scale")] == [
        None
    ]


def test_negative_scale() -> None:
    at_rest = only(chain(scale=(-1.0, 1.0, 1.0)), "negative_scale")
    assert (at_rest.level, at_rest.clip, at_rest.joint, at_rest.size) == ("warning", None, "root", -1)
    in_clip = only(chain(scaling([1, -2, 1])), "negative_scale")
    assert (in_clip.clip, in_clip.joint, in_clip.time, in_clip.size) == ("clip", "hand", 0.5, -2)
    assert not found(chain(scaling([1, 0.5, 1])), "negative_scale")


def test_zero_scale() -> None:
    at_rest = only(chain(scale=(1.0, 0.0, 1.0)), "zero_scale")
    assert (at_rest.level, at_rest.clip, at_rest.joint, at_rest.size) == ("warning", None, "root", 0)
    hidden = only(chain(scaling([1, 1, 0])), "zero_scale")
    assert (hidden.level, hidden.clip, hidden.time, hidden.size) == ("note", "clip", 1.0, 0)
    assert not found(chain(scaling([1, 1e-3])), "zero_scale")


# ---- faces and weights -------------------------------------------------------------------------------


def test_degenerate_faces() -> None:
    one = only(chain(flat=True), "degenerate_faces")
    assert (one.level, one.size) == ("note", 1) and "face 3" in one.message
    assert not found(chain(), "degenerate_faces")


def test_corners_on_a_line_have_no_area_but_for_roundings() -> None:
    x = np.array([10.1, 20.3, 40.7])
    for off, count in ((0.0, 1), (1e-3, 0)):
        corners = np.stack([x, x / 3 + [0, off, 0], np.zeros(3)], axis=1).astype(np.float32)
        area = np.linalg.norm(np.cross(*(corners[1:] - corners[0]).astype(float)))
        assert area > 0
        model = Model.from_arrays(
            ["root"],
            [-1],
            [np.eye(4)],
            positions=corners,
            faces=[[0, 1, 2]],
            joints=[[0]] * 3,
            weights=[[1]] * 3,
        )
        assert len(found(model, "degenerate_faces")) == count


def many_influences(weights: list[float]) -> Model:
    """Eight joints in a row, 1 apart on X; one triangle that follows all, and a clip that lifts the last one.

    Beside it a triangle on the first joint, which makes the model 10 wide.
    """
    rest = np.tile(np.eye(4), (8, 1, 1))
    parents = np.full(8, 0)
    parents[0] = -1
    share = np.zeros((6, 8))
    share[:3], share[3:, 0] = weights, 1.0
    lift = np.zeros((3, 1, 3))
    lift[1, 0, 1] = 4.0
    return Model.from_arrays(
        [f"j{number}" for number in range(8)],
        parents,
        rest,
        positions=[[0, 0, 0], [1, 0, 0], [0, 1, 0], [9, 0, 0], [10, 0, 0], [9, 1, 0]],
        faces=[[0, 1, 2], [3, 4, 5]],
        joints=np.tile(np.arange(8), (6, 1)),
        weights=share,
        clips=[Clip.from_arrays("lift", times=[0, 1, 2], joints=["j7"], translation=lift)],
    )


def test_the_error_of_dropped_influences_is_measured() -> None:
    # j7 weighs 0.1 and is the fifth: lifted by 4 at 1 s it carries the vertices 0.4, without it nothing.
    one = only(many_influences([0.3, 0.25, 0.2, 0.15, 0, 0, 0, 0.1]), "influences_over_4")
    assert (one.level, one.clip, one.joint) == ("warning", "lift", "j7")
    # The 24 frames of the clip do not meet 1 s; the nearest is 1 / 23 s away, where the lift is 4 * 22 / 23.
    assert one.size == pytest.approx(0.4 * 22 / 23, rel=1e-5)
    assert one.time == pytest.approx(22 / 23) or one.time == pytest.approx(24 / 23)
    assert "5 influences" in one.message


def test_dropped_influences_that_cannot_be_seen_are_a_note() -> None:
    # 0.002 * 4 / 10 is below a thousandth of the size.
    one = only(many_influences([0.398, 0.3, 0.2, 0.1, 0, 0, 0, 0.002]), "influences_over_4")
    assert one.level == "note" and one.size == pytest.approx(0.008 * 22 / 23, rel=1e-4)
    assert not found(many_influences([0.4, 0.3, 0.2, 0, 0, 0, 0, 0.1]), "influences_over_4")


def test_a_file_is_loaded_with_all_influences(tmp_path: Path) -> None:
    many_influences([0.3, 0.25, 0.2, 0.15, 0, 0, 0, 0.1]).save(tmp_path / "many.glb")
    one = only(tmp_path / "many.glb", "influences_over_4")
    assert one.size == pytest.approx(0.4 * 22 / 23, rel=1e-5)
    # Of a model that has lost them the report knows how many vertices.
    lost = only(skinpy.load(tmp_path / "many.glb"), "influences_dropped")
    assert (lost.level, lost.size) == ("warning", 3)


# ---- the report --------------------------------------------------------------------------------------


def box_file(weights: list[float] | None = None, times: list[float] | None = None, names: int = 2) -> bytes:
    """A skinned triangle on two joints, as glTF."""
    file = Gltf()
    root = file.node("root")
    tip = file.node("tip", root, t=(0, 1, 0))
    skin = file.skin([root, tip], [np.eye(4), translated(0, -1, 0)])
    primitive = file.primitive(
        [[0, 0, 0], [1, 0, 0], [0, 1, 0]],
        [[0, 1, 2]],
        normals=[[0, 0, 1]] * 3,
        joints=[[0, 1, 0, 0]] * 3,
        weights=[weights or [0.5, 0.5, 0, 0]] * 3,
    )
    file.node("body", mesh=file.mesh(primitive), skin=skin)
    for _ in range(names - 1):
        file.animation(
            "turn", file.channel(tip, "rotation", times or [0, 1, 2], about(2, np.array([0, 9, 0])))
        )
    return file.glb()


@pytest.mark.parametrize(
    ("data", "code", "level", "size"),
    [
        (box_file([0.3, 0.3, 0, 0]), "weights_normalized", "warning", 3),
        (box_file([0.0, 0.0, 0, 0]), "vertices_unweighted", "warning", 3),
        (box_file([1.2, -0.2, 0, 0]), "weights_repaired", "error", 3),
        (box_file(times=[0, 2, 1]), "key_times_repaired", "error", 1),
        (box_file(names=3), "duplicate_clip_names", "warning", 1),
    ],
)
def test_what_loading_repaired_is_found(
    tmp_path: Path, data: bytes, code: str, level: str, size: float
) -> None:
    sound, broken = tmp_path / "sound.glb", tmp_path / "broken.glb"
    sound.write_bytes(box_file())
    broken.write_bytes(data)
    assert not found(sound, code)
    one = only(broken, code)
    assert (one.level, one.size) == (level, size)


def test_channels_that_match_no_joint(recwarn: pytest.WarningsRecorder) -> None:
    stray = Clip.from_arrays(
        "stray", fps=30, joints=["arm", "wing"], rotation=np.tile([0, 0, 0, 1.0], (3, 2, 1))
    )
    model = chain().add_clips(stray)
    assert recwarn.pop(skinpy.SkinpyWarning)
    one = only(model, "channels_dropped")
    assert one.level == "error" and "wing" in one.message
    assert not found(chain(turning(SWING)), "channels_dropped")


def test_a_clip_without_ticks_per_second(tmp_path: Path) -> None:
    guessed, named = tmp_path / "guessed.x", tmp_path / "named.x"
    guessed.write_bytes(import_cases.x_file(keys=((0, 0), (50, 2))))
    named.write_bytes(import_cases.x_file(ticks=10, keys=((0, 0), (50, 2))))
    assert only(guessed, "ticks_per_second_assumed").level == "warning"
    assert not found(named, "ticks_per_second_assumed")


def test_every_report_code_has_a_level_and_a_remedy() -> None:
    needs_checkout()
    from skinpy.checking.report import _MEANING, _OWN

    table = (ROOT / "csrc" / "import" / "import_report.h").read_text(encoding="utf-8")
    codes = set(re.findall(r"ROW\((\w+), SK_(?:LOST|REPAIRED)", table)) | {"joints_matched"}
    assert len(codes) > 30
    assert codes == set(_MEANING) | _OWN


# ---- lengths -----------------------------------------------------------------------------------------


def test_short_and_empty_clips() -> None:
    short = only(chain(turning([0, 10, 0], fps=1000)), "short_clip")
    assert (short.level, short.clip) == ("warning", "clip") and short.size == pytest.approx(0.002)
    assert not found(chain(turning([0, 10, 0], fps=30)), "short_clip")
    assert not found(chain(turning([5])), "short_clip"), "one key is one pose"


def test_a_clip_without_channels() -> None:
    empty = Clip.from_arrays("still", fps=30, joints=[], rotation=np.zeros((2, 0, 4)))
    one = only(chain().add_clips(empty), "empty_clip")
    assert (one.level, one.clip) == ("note", "still")
    assert not found(chain(turning(SWING)), "empty_clip")


# ---- flips and pops ----------------------------------------------------------------------------------


def signed(clip: Clip, *keys: int) -> Clip:
    values = clip.channels[0].values.copy()
    values[list(keys)] *= -1
    return Clip.from_arrays(
        clip.name,
        fps=FPS,
        joints=["arm"],
        rotation=values[:, None],
        interpolation=clip.channels[0].interpolation,
    )


def test_quaternion_flips() -> None:
    one = only(chain(signed(turning(SWING), 10, 11)), "quaternion_flip")
    assert (one.level, one.clip, one.joint, one.size) == ("note", "clip", "arm", 2)
    assert one.time == pytest.approx(10 / FPS)
    assert not found(chain(turning(SWING)), "quaternion_flip")
    assert not found(chain(signed(turning(SWING, interpolation="step"), 10, 11)), "quaternion_flip")


def test_flips_of_a_cubic_curve_are_a_warning(tmp_path: Path) -> None:
    keys = about(2, np.array([0.0, 20, 0]))
    keys[1] *= -1
    for name, values in (("flip", keys), ("sound", np.abs(keys))):
        file = Gltf()
        root = file.node("root")
        flat = (np.zeros((3, 4)), np.zeros((3, 4)))
        file.animation("turn", file.channel(root, "rotation", [0, 1, 2], values, "cubic", flat))
        (tmp_path / f"{name}.glb").write_bytes(file.glb())
    one = only(tmp_path / "flip.glb", "quaternion_flip")
    assert (one.level, one.joint, one.time, one.size) == ("warning", "root", 1.0, 2)
    assert not found(tmp_path / "sound.glb", "quaternion_flip")


def test_a_single_wrong_rotation_key_pops() -> None:
    degrees = SWING.copy()
    degrees[12] += 60
    one = only(chain(turning(degrees)), "rotation_pop")
    assert (one.level, one.clip, one.joint) == ("warning", "clip", "arm")
    assert one.time in (pytest.approx(12 / FPS), pytest.approx(13 / FPS))
    # 60 degrees, and the swing moves on by at most 30 sin(12 degrees) = 6.3 meanwhile.
    assert one.size == pytest.approx(60, abs=6.3)


def test_a_cut_in_a_rotation_pops() -> None:
    degrees = SWING / 10
    degrees[20:] += 45
    one = only(chain(turning(degrees)), "rotation_pop")
    assert one.time == pytest.approx(20 / FPS) and one.size == pytest.approx(45, abs=0.7)


def test_a_translation_that_jumps() -> None:
    places = np.zeros((31, 3))
    places[:, 0] = 0.1 * np.sin(np.linspace(0, 2 * np.pi, 31))
    assert not found(chain(moving(places)), "translation_pop")
    places[15:, 0] += 1.0
    one = only(chain(moving(places)), "translation_pop")
    assert (one.level, one.joint) == ("warning", "root")
    assert one.time == pytest.approx(0.5) and one.size == pytest.approx(1.0, abs=0.03)


def test_a_jump_is_measured_in_model_units() -> None:
    """Under a root of scale 100, 0.3 are 30 of the 300 that the model is high."""
    places = np.tile([0.0, 1.0, 0.0], (31, 1))
    places[15:, 0] += 0.3
    one = only(chain(moving(places, joint="arm"), scale=100.0), "translation_pop")
    assert (one.joint, one.time) == ("arm", 0.5) and one.size == pytest.approx(30, rel=1e-5)


@pytest.mark.parametrize(
    "degrees",
    [
        90 * np.sin(np.linspace(0, 8 * np.pi, 31)),  # fast, but as fast everywhere
        np.concatenate([np.zeros(10), [4, 30, 62, 84, 90], np.full(10, 90)]),  # a quick turn, eased
        np.concatenate([np.zeros(10), [27, 53, 55], np.full(10, 55)]),  # in two frames, and it goes on
        np.concatenate([np.zeros(10), [15], np.zeros(10)]),  # too little to be seen as a jump
        np.zeros(31),
    ],
)
def test_quick_movements_do_not_pop(degrees: np.ndarray) -> None:
    assert not found(chain(turning(degrees)), "rotation_pop")


def test_step_keys_and_quick_poses_between_slow_ones_do_not_pop() -> None:
    cut = np.concatenate([np.zeros(10), np.full(10, 80)])
    assert found(chain(turning(cut)), "rotation_pop")
    assert not found(chain(turning(cut, interpolation="step")), "rotation_pop")
    posed = Clip.from_arrays(
        "clip",
        times=[0, 1, 2, 2.08, 3, 4],
        joints=["arm"],
        rotation=about(2, np.array([0, 0, 0, 50, 50, 50]))[:, None],
    )
    assert not found(chain(posed), "rotation_pop")


def test_many_findings_of_a_rule_are_cut_short() -> None:
    names = tuple(f"j{number}" for number in range(12))
    degrees = np.concatenate([np.zeros(10), np.full(10, 80)])
    rotation = np.repeat(about(2, degrees)[:, None], 12, axis=1)
    model = chain(Clip.from_arrays("clip", fps=FPS, joints=names, rotation=rotation), names=names)
    pops = found(model, "rotation_pop")
    assert len(pops) == 8 and "and 4 more joints" in pops[-1].message


# ---- loops -------------------------------------------------------------------------------------------


def test_a_cycle_that_lacks_its_last_pose() -> None:
    one = only(chain(turning(SWING[:-1])), "loop_seam")
    assert (one.level, one.clip) == ("warning", "clip")
    assert one.time == pytest.approx(29 / FPS)
    # The seam is the step from frame 29 to 30: 30 degrees * sin(12 degrees) at the arm, whose farthest vertex
    # is the tip of the hand, 2 away.
    angle = np.radians(30 * np.sin(np.radians(12)))
    assert one.size == pytest.approx(2 * 2 * np.sin(angle / 2), rel=1e-4)
    assert one.joint == "hand" and f"{np.degrees(angle):.3g} degrees" in one.message
    assert not found(chain(turning(SWING)), "loop_seam")


def test_a_clip_that_is_no_loop_has_a_note() -> None:
    one = only(chain(turning(np.linspace(0, 90, 31))), "loop_open")
    assert one.level == "note" and one.size == pytest.approx(2 * np.sqrt(2), rel=1e-4)
    assert "90 degrees" in one.message
    assert not found(chain(turning(np.linspace(0, 90, 31))), "loop_seam")


def test_travel_is_no_seam() -> None:
    """A loop that moves its character over the ground closes, apart from the travel."""
    seconds = np.linspace(0, 1, 31)
    walk = Clip.from_arrays(
        "clip",
        fps=FPS,
        joints=["root", "arm"],
        translation=np.stack([seconds[:, None] * [2.0, 0, 0], np.tile([0, 1.0, 0], (31, 1))], axis=1),
        rotation=np.stack([np.tile([0, 0, 0, 1.0], (31, 1)), about(2, SWING)], axis=1),
    )
    codes = {one.code for one in check(chain(walk))}
    assert not codes & {"loop_seam", "loop_open", "loop_velocity"}


def test_a_velocity_that_changes_at_the_seam() -> None:
    """Half a swing and back without the other half: |sin|, which changes its velocity only at the ends."""
    bounce = 60 * np.sin(np.linspace(0, np.pi, 61))
    one = only(chain(turning(bounce)), "loop_velocity")
    # 60 degrees * pi / 2 s a second at each end, at most 2 from the arm's origin.
    assert one.size == pytest.approx(2 * 2 * np.radians(60) * np.pi / 2, rel=0.02)
    assert (one.level, one.joint) == ("warning", "hand")
    assert not found(chain(turning(SWING)), "loop_velocity")
    assert not found(chain(turning([0, 60, 0], fps=1)), "loop_velocity"), "it bounces inside as well"


# ---- feet --------------------------------------------------------------------------------------------


def steps(travel: float, stride: float) -> Model:
    """Two feet that stand in turn for half a second each, with the body 2 above: a traveling walk.

    While a foot stands it goes back by `stride` to the body, which moves on by `travel` in that time; the
    feet stand still where both are equal. It then comes forward, lifted by 0.4.
    """
    count = 61
    phase = np.linspace(0, 1, count)
    body = np.stack([2 * travel * phase, np.full(count, 2.0), np.zeros(count)], axis=-1)
    feet = []
    for shift in (0.0, 0.5):
        at = (phase + shift) % 1.0
        stands = at <= 0.5
        x = np.where(stands, 0.5 - 2 * at, 2 * at - 1.5) * stride
        y = np.where(stands, 0.0, 0.4 * np.sin(2 * np.pi * (at - 0.5)))
        feet.append(np.stack([x, y - 2.0, np.full(count, 0.3 - shift)], axis=-1))
    clip = Clip.from_arrays(
        "walk", times=phase, joints=["body", "left", "right"], translation=np.stack([body, *feet], axis=1)
    )
    rest = np.tile(np.eye(4), (3, 1, 1))
    rest[:, :3, 3] = [[0, 2, 0], [0, -2, 0.3], [0, -2, -0.3]]
    sole = np.array([[-0.1, 0, 0], [0.1, 0, 0], [0, 0, 0.1], [0, 0.1, 0]])
    positions = np.concatenate([sole + [0, 2, 0], sole + [0, 0, 0.3], sole + [0, 0, -0.3]])
    face = np.array([[0, 1, 2], [0, 1, 3]])
    return Model.from_arrays(
        ["body", "left", "right"],
        [-1, 0, 0],
        rest,
        positions=positions,
        faces=np.concatenate([face, face + 4, face + 8]),
        joints=np.repeat([0, 1, 2], 4)[:, None],
        weights=np.ones((12, 1)),
        clips=[clip],
    )


def test_feet_that_slide() -> None:
    one = only(steps(travel=1.0, stride=0.5), "foot_slide")
    # The body goes 2 a second, and a planted foot 1 of them back.
    assert (one.level, one.clip) == ("warning", "walk")
    assert one.size == pytest.approx(1.0, abs=0.05)


def test_feet_that_stand_and_walks_in_place_and_what_flies_do_not_slide() -> None:
    assert not found(steps(travel=1.0, stride=1.0), "foot_slide")
    assert not found(steps(travel=0.0, stride=1.0), "foot_slide")
    glide = np.linspace(0, 1, 31)[:, None] * [3.0, 0, 0]
    assert not found(chain(moving(glide)), "foot_slide")
    ways = np.stack([glide, *(np.tile([0, 1.0, 0], (31, 1)) for _ in range(2))], axis=1)
    flying = Clip.from_arrays("clip", fps=FPS, joints=["root", "arm", "hand"], translation=ways)
    assert not found(chain(flying), "foot_slide")
    tumbling = Clip.from_arrays(
        "clip",
        fps=FPS,
        joints=["root"],
        translation=glide[:, None],
        rotation=about(2, np.linspace(0, -400, 31))[:, None],
    )
    assert not found(chain(tumbling), "foot_slide")


def test_root_motion_counts_as_travel() -> None:
    for stride, slides in ((1.0, False), (0.5, True)):
        model = steps(travel=1.0, stride=stride)
        clip = model.clips[0].extract_root_motion("body")
        again = model.add_clips(clip, replace=True)
        assert again.clips[0].root_motion is not None
        assert bool(found(again, "foot_slide")) == slides


# ---- all of it ---------------------------------------------------------------------------------------


def test_clips_that_no_pose_can_be_made_of() -> None:
    """Additive clips, clips of no length, models without a mesh, models without clips."""
    swing = chain(turning(SWING))
    assert not len(check(swing.add_clips(swing.clips[0].additive(), names=None, replace=True)))
    assert not len(check(chain(turning([0]))))
    bare = Model.from_arrays(
        ["root", "tip"],
        [-1, 0],
        [np.eye(4), translated(0, 1, 0)],
        positions=np.zeros((0, 3)),
        faces=np.zeros((0, 3), int),
        joints=np.zeros((0, 1), int),
        weights=np.zeros((0, 1)),
    )
    assert not len(check(bare))
    assert only(bare.add_clips(turning(SWING[:-1], joint="root")), "loop_seam").joint == "tip"


def test_findings_are_sorted_by_level() -> None:
    model = chain(turning(np.linspace(0, 90, 31)), names=("root", "arm", "arm"), scale=100.0, flat=True)
    findings = check(model, joints=1)
    assert [one.level for one in findings] == sorted(
        (one.level for one in findings), key=["error", "warning", "note"].index
    )
    assert [one.code for one in findings.errors] == ["joints_over_limit"]
    assert [one.code for one in findings.warnings] == ["duplicate_names", "unit_scale"]
    assert [one.code for one in findings.notes] == ["degenerate_faces", "loop_open"]
    assert findings[:2] == Findings(findings[:2]) and len(findings[:2]) == 2
    assert repr(findings) == "<Findings: 1 error, 2 warnings, 2 notes>"
    table = str(findings)
    assert [table.index(word) for word in ("errors (1)", "warnings (2)", "notes (2)")] == sorted(
        table.index(word) for word in ("errors (1)", "warnings (2)", "notes (2)")
    )
    for one in findings:
        assert one.code in table and one.message in table and one.remedy in table


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: check(chain(), joints=0), ValueError, "joints is 0"),
        (lambda: check(chain(), joints=1.5), TypeError, "joints is 1.5"),  # type: ignore[arg-type]
        (lambda: check(7), TypeError, "int"),  # type: ignore[arg-type]
        (lambda: check("missing.glb"), FileNotFoundError, "missing.glb"),
    ],
)
def test_bad_arguments(call: Callable[[], Findings], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()


def test_how_much_is_posed_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few frames of each of a hundred clips are posed, and never all at once."""
    posed: list[int] = []
    original = Model.pose

    def counting(self: Model, clip: Clip, times: np.ndarray, **options: str) -> skinpy.Pose:
        posed.append(len(times))
        return original(self, clip, times, **options)  # type: ignore[arg-type]

    model = chain(*(turning(SWING, name=f"clip{number}") for number in range(100)))
    monkeypatch.setattr("skinpy.checking.subject._MAX_POSED_IN_ALL", 100 * 20 * len(model.mesh.positions))
    monkeypatch.setattr("skinpy.models.frames._MAX_CHUNK", 3 * len(model.mesh.positions) * 4)
    monkeypatch.setattr(Model, "pose", counting)
    check(model)
    # A clip: the rotations and the vertices of its ends, four times about the seam, and three times each of a
    # third of the 20 frames that are left to it.
    assert max(posed) == 4
    assert sum(posed) <= 100 * (2 + 2 + 4 + 20)


# ---- the command line --------------------------------------------------------------------------------


def run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


def test_exit_status(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    warned = tmp_path / "warned.glb"
    chain(turning(SWING[:-1])).save(warned)
    assert run("check", DATA / "crane.glb") == 0
    assert capsys.readouterr().out == "nothing found\n"
    assert run("check", DATA / "character.glb") == 0
    assert run("check", warned) == 0
    assert "loop_seam" in capsys.readouterr().out
    assert run("check", warned, "--joints", 2) == 1
    assert "joints_over_limit" in capsys.readouterr().out
    assert run("check", tmp_path / "missing.glb") == 1
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.startswith("skinpy: ") and "missing.glb" in shown.err
    for words in (["--joints", "0"], ["--joints", "many"], ["--color"]):
        with pytest.raises(SystemExit) as stop:
            run("check", warned, *words)
        assert stop.value.code == 2


@pytest.mark.parametrize("in_buffer", [True, False])
def test_numbers_that_are_not_finite(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], in_buffer: bool
) -> None:
    """In a buffer they are repaired, which is an error; in the JSON they make the file unreadable."""
    file = Gltf()
    root = file.node("root")
    file.animation("move", file.channel(root, "translation", [0, 1], [[0, 0, 0], [np.nan, 0, 0]]))
    for accessor in file.accessors if in_buffer else ():
        del accessor["min"], accessor["max"]
    (tmp_path / "nan.glb").write_bytes(file.glb())
    assert run("check", tmp_path / "nan.glb") == 1
    shown = capsys.readouterr()
    if in_buffer:
        assert "numbers_repaired" in shown.out and shown.err == ""
    else:
        assert shown.out == "" and "not valid JSON" in shown.err


def test_json_is_stable(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "warned.glb"
    chain(turning(SWING[:-1])).save(path)
    assert run("check", path, "--json", "--joints", 2) == 1
    facts = json.loads(capsys.readouterr().out)
    assert list(facts) == ["file", "version", "counts", "findings"]
    assert facts["file"] == str(path) and facts["version"] == 1
    assert facts["counts"] == {"error": 1, "warning": 1, "note": 0}
    assert facts["findings"][0] == {
        "code": "joints_over_limit",
        "level": "error",
        "clip": None,
        "joint": "hand",
        "time": None,
        "size": 3.0,
        "message": "3 joints move vertices; the limit is 2, and the first beyond it is 'hand'",
        "remedy": "give vertices of small joints (fingers, face) to their parents, or split the mesh",
    }
    assert facts == {"file": str(path)} | check(path, joints=2).to_dict()


def test_json_has_no_infinity() -> None:
    one = Finding("loop_open", "note", "clip", None, float("nan"), float("inf"), "", "")
    assert json.dumps(Findings([one]).to_dict(), allow_nan=False).count("null") == 3


def test_names_that_are_not_utf8(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chain(names=("root", "\udcff\x1b[31m", "\udcff\x1b[31m")).save(tmp_path / "odd.skn")
    assert run("check", tmp_path / "odd.skn") == 0
    assert "\x1b" not in capsys.readouterr().out
    assert run("check", tmp_path / "odd.skn", "--json") == 0
    assert "\ufffd" in json.loads(capsys.readouterr().out)["findings"][0]["joint"]


# ---- the page ----------------------------------------------------------------------------------------


def test_every_code_is_on_the_page() -> None:
    sources = "".join(path.read_text() for path in (Path(skinpy.__file__).parent / "checking").glob("*.py"))
    codes = set(re.findall(r'\bfinding\(\s*"(\w+)"', sources)) | {
        "rotation_pop",
        "translation_pop",
        "loop_seam",
        "loop_open",
    }
    from skinpy.checking.report import _MEANING

    page = (ROOT / "docs" / "check.md").read_text(encoding="utf-8")
    levels = dict(re.findall(r"^\| `(\w+)` \| (\w+)", page, re.MULTILINE))
    assert len(codes) > 12
    assert set(levels) == codes | set(_MEANING)
    assert {code: levels[code] for code in _MEANING} == {code: level for code, (level, _) in _MEANING.items()}


def test_a_live_model_is_checked_by_the_reader_and_by_the_rules() -> None:
    model = skinpy.character()
    assert [str(f) for f in model.check()] == [str(f) for f in skinpy.check(model)]
    assert [f.code for f in model.check(joints=2)] == [f.code for f in skinpy.check(model, joints=2)]
    model.add_clips(skinpy.character())
    assert model.check() is not None
    with pytest.raises(ValueError, match="joints"):
        model.check(joints=0)


def test_a_model_whose_memory_was_spoiled_is_told_so() -> None:
    """skinpy never writes to that memory; the test uses memory of its own."""
    memory = bytearray(memoryview(skinpy.character()._block))
    block = skinpy._core.Block(memory, copy=False)
    model = skinpy.Model(block)
    assert model.check() is not None
    offset = block.sections["POSITIONS"][0]
    memory[offset : offset + 4] = np.float32(np.nan).tobytes()
    with pytest.raises(skinpy.LoadError, match="not finite"):
        model.check()
