"""Small files that load wrong elsewhere, with the values that their formats' specifications give.

They are the shared cases about loading (shared data, cases/README.md, which says why each value is right);
what its other rows say is tested where its subject is. The strip of most of them is six vertices, x in
{0, 1} and y in {0, 2, 4}: joint 0 moves y 0, joint 1 at (0, 2, 0) moves y 4, and both move y 2 by halves.
Joint 1 turns about z from 0 to 90 degrees in a second, that of a second figure from 0 to -90.
Positions are within 1e-5 of the size of a case, the tolerance that the README states.
"""

import math
import warnings

import numpy as np
import pytest
from conftest import data_file
from rig_conventions import RIGS

import skinpy
from skinpy.__main__ import main

BENT = [(0, 0), (1, 0), (0, 2), (0.5, 2.5), (-2, 2), (-2, 3)]
BENT_AWAY = [(0, 0), (1, 0), (0, 2), (0.5, 1.5), (2, 2), (2, 1)]


def load(name: str) -> skinpy.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", skinpy.SkinpyWarning)  # tests read the report itself
        return skinpy.load(data_file("cases", name))


def lost(model: skinpy.Model) -> dict[str, str]:
    return {entry.code: entry.first for entry in model.report if entry.severity == "lost"}


def in_plane(points: list[tuple[float, float]], x: float = 0.0) -> np.ndarray:
    return np.array([(a + x, b, 0.0) for a, b in points])


def distinct(points: np.ndarray) -> np.ndarray:
    """Points without those that repeat, in an order that does not depend on the order given."""
    _, first = np.unique(np.round(points, 3) + 0.0, axis=0, return_index=True)
    return points[first]


def assert_shows(model: skinpy.Model, clip: int | None, time: float, expected: np.ndarray) -> None:
    """The faces of the posed model use the expected points; in which order is the reader's affair."""
    pose = model.pose() if clip is None else model.pose(clip, time, loop="clamp")
    positions, _ = model.deform(pose, normals=False)
    shown = distinct(positions[np.unique(model.mesh.faces)])
    np.testing.assert_allclose(shown, distinct(expected), rtol=0, atol=1e-5 * np.abs(expected).max())


# ---- glTF ----------------------------------------------------------------------------------------


def test_wrapping_of_textures_is_that_of_their_samplers() -> None:
    model = load("sampler_wrap.gltf")  # glTF 2.0, 3.8.4.3
    wraps = {material.name: material.wrap for material in model.materials}
    assert wraps["clamp"] == ("clamp_to_edge", "clamp_to_edge")
    others = [wrap for name, wrap in wraps.items() if name != "clamp"]
    assert others == [("mirrored_repeat", "mirrored_repeat")]
    assert {material.mag_filter for material in model.materials} == {"nearest"}
    assert not lost(model)


def test_a_required_look_is_shown_or_named() -> None:
    model = load("specular_glossiness.gltf")
    red = model.materials[0].base_color == pytest.approx((1, 0, 0, 1))
    assert red or any("pbrSpecularGlossiness" in first for first in lost(model).values())


def test_pointers_of_animations_to_what_plays() -> None:
    model = load("animation_pointer.gltf")  # KHR_animation_pointer
    turned = model.globals("turn", 1.0, loop="clamp")[model.skeleton.index("board")]
    np.testing.assert_allclose(
        turned[:2, :2], [[math.cos(1), -math.sin(1)], [math.sin(1), math.cos(1)]], atol=1e-5
    )
    assert model.pose("morph", 1.0, loop="clamp").morph_weights == pytest.approx([1.0])
    (animation,) = model.clips["scroll"].uv_animations.values()
    at = [animation.sample(time) @ (0.25, 0.0, 1.0) for time in (0.0, 1.0)]
    np.testing.assert_allclose(at[1] - at[0], (0.5, 0, 0), atol=1e-5)
    assert not lost(model)


def test_textures_in_webp() -> None:
    model = load("texture_webp.gltf")  # EXT_texture_webp
    texture = model.materials[0].texture
    assert texture is not None
    red, green, blue, _ = texture.image().reshape(-1, 4).mean(axis=0)
    assert red > 240 and max(green, blue) < 15  # a lossy image
    assert not lost(model)


# ---- COLLADA -------------------------------------------------------------------------------------


def test_an_instance_of_a_node_below_another_one_of_a_library() -> None:
    assert_shows(load("instance_of_nested_node.dae"), None, 0, np.array([(0, 2, 0), (1, 2, 0), (0, 3, 0)]))


def test_animations_without_clips_play_together() -> None:
    model = load("two_animations.dae")
    (clip,) = model.clips
    assert (clip.name, clip.duration) == ("clip0", pytest.approx(2.0))
    joints = [model.skeleton.index(name) for name in ("left", "right")]
    ends = model.globals(clip, [1.0, 2.0], loop="clamp")[:, joints][..., :2, 3]
    np.testing.assert_allclose(ends, [[(1, 2), (-0.5, 1.5)], [(1, 2), (-1, 3)]], atol=1e-5)


def test_a_skin_without_bind_shape_matrix() -> None:
    assert_shows(load("skin_without_bind_shape.dae"), None, 0, np.array([(3, 0, 0), (4, 0, 0), (3, 1, 0)]))


@pytest.mark.parametrize("name", ["dae-two-rigs-same-sids.dae", "fbx-two-rigs-same-names.fbx"])
def test_two_figures_with_the_same_names_follow_their_own_joints(name: str) -> None:
    model = load(name)
    assert_shows(model, 0, 1.0, np.concatenate([in_plane(BENT), in_plane(BENT_AWAY, x=10)]))


def test_every_angle_runs_by_itself() -> None:
    model = load("dae-three-angle-channels.dae")  # COLLADA 1.4.1: LINEAR interpolates each output
    half = math.sqrt(0.5)
    about_x = np.array([(1, 0, 0), (0, half, -half), (0, half, half)])
    about_y = np.array([(half, 0, half), (0, 1, 0), (-half, 0, half)])
    about_z = np.array([(half, -half, 0), (half, half, 0), (0, 0, 1)])
    neck = model.globals(0, 0.5, loop="clamp")[model.skeleton.index("Neck")]
    np.testing.assert_allclose(neck[:3, :3], about_z @ about_y @ about_x, atol=1e-5)


@pytest.mark.parametrize("name", ["dae-animated-library-node.dae", "dae-weight-before-joint.dae"])
def test_a_strip_of_collada_bends(name: str) -> None:
    model = load(name)
    assert_shows(model, 0, 1.0, in_plane(BENT))
    assert not lost(model)


# ---- others --------------------------------------------------------------------------------------


def test_keys_that_step() -> None:
    model = load("fbx-step-keys.fbx")
    heights = model.globals(0, [0.0, 0.25, 0.49, 0.5], loop="clamp")[:, model.skeleton.index("A"), 1, 3]
    np.testing.assert_allclose(heights, (2, 2, 2, 7), atol=1e-4)


def test_a_file_with_more_lines_of_motion_than_it_states() -> None:
    model = load("bvh-more-frames-than-stated.bvh")
    assert model.clips[0].duration == pytest.approx(2 * 0.033333, abs=1e-6)
    hips = model.globals(0, 2 * 0.033333, loop="clamp")[model.skeleton.index("Hips")]
    np.testing.assert_allclose(hips[:3, 3], (7, 8, 9), atol=1e-4)
    (entry,) = [entry for entry in model.report if entry.code == "frame_count_repaired"]
    assert "2" in entry.first and "3" in entry.first


def test_values_of_motion_belong_to_joints_by_order() -> None:
    model = load("bvh-duplicate-joint-names.bvh")
    positions = model.globals(0, 1.0, loop="clamp")[:, :3, 3]
    for foot in ((2, 0, 0), (-2, 0, 0)):
        assert np.abs(positions - foot).max(axis=1).min() < 2e-5
    assert not lost(model)


def test_numbers_without_a_point() -> None:
    model = load("whole_numbers.x")
    board = model.globals(0, 1.0, loop="clamp")[model.skeleton.index("Board")]
    np.testing.assert_allclose(board[:3, 3], (2, 0, 0), atol=2e-5)


def test_weights_of_no_vertex() -> None:
    model = load("x-skinweights-of-no-vertex.x")
    assert_shows(model, 0, model.clips[0].duration, in_plane(BENT))
    assert not lost(model)


# ---- faults and hostile inputs ---------------------------------------------------------------------


def test_an_image_of_many_scans_is_refused_by_name() -> None:
    model = load("jpeg_scans.glb")
    (texture,) = [material.texture for material in model.materials if material.texture]
    with pytest.raises(skinpy.LimitExceeded, match=r"JPEG of \d+ scans; expected at most 32"):
        texture.image()


@pytest.mark.parametrize("name", ["escape_in_error.bvh", "escape_in_warning.gltf"])
def test_control_characters_are_printed_as_escapes(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = data_file("cases", name)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            words = str(skinpy.load(path).report)
        except skinpy.LoadError as error:
            words = str(error)
    main(["info", str(path)])
    shown = capsys.readouterr()
    for text in (words, shown.out, shown.err, *(str(one.message) for one in caught)):
        assert text.replace("\n", "").isprintable()
    assert r"\x1b]0;owned\x07" in words or "where a channel" in words


# ---- names of rigs -------------------------------------------------------------------------------


def test_a_joint_between_hips_and_thigh_is_no_thigh() -> None:
    model = load("bvh-hip-joint-before-thigh.bvh")
    pairs = dict(skinpy.match_joints(model, skinpy.character(), "auto").pairs)
    assert pairs["LeftUpLeg"] == "LeftUpperLeg"
    assert pairs["RightUpLeg"] == "RightUpperLeg"
    assert "LHipJoint" not in pairs


@pytest.mark.parametrize("name", RIGS)
def test_each_limb_of_a_rig_has_its_partner(name: str) -> None:
    rig, character = RIGS[name], skinpy.character()
    pairs = dict(skinpy.match_joints(rig.model(), character, "auto").pairs)
    limbs = {bone: joint for bone, joint in rig.bones().items() if bone.startswith(("left", "right"))}
    assert {joint: pairs[joint] for joint in limbs.values()} == {
        joint: character.humanoid[bone] for bone, joint in limbs.items()
    }
