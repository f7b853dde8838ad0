"""FBX files play as their authors' programs play them: all of the shared data, by what ufbx computes.

The judge is in fbx_truth.py. Run as a program (`python tests/test_fbx_truth.py`) this prints the errors of
every file.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from conftest import DATA, HAS_DATA, NO_DATA
from fbx_truth import ON_KEY, UNSCALED, FbxTruth

FOLDER = DATA / "fbx"
NAMES = sorted(path.stem for path in FOLDER.glob("*.npz")) or ["no data"]

#: What a file may lose: the codes of its report's `lost` entries. All others lose nothing.
LOSSES = {"maya_dual_quaternion_7500_ascii": {"dual_quaternions_ignored"}}


def file_of(name: str) -> Path:
    """The file beside its values, or the one of `models`."""
    own = FOLDER / f"{name}.fbx"
    return own if own.exists() else DATA / "models" / f"{name}.fbx"


def open_truth(name: str) -> FbxTruth:
    return FbxTruth(FOLDER / f"{name}.npz", file_of(name))


@pytest.fixture(scope="module", params=NAMES)
def truth(request: pytest.FixtureRequest) -> FbxTruth:
    if not (HAS_DATA and FOLDER.is_dir()):
        pytest.skip(NO_DATA)
    return open_truth(request.param)


def test_it_has_the_nodes_of_the_file(truth: FbxTruth) -> None:
    assert [node for node in truth.nodes if node not in truth.joints] == []


def test_a_node_is_one_joint(truth: FbxTruth) -> None:
    """A node is two joints only where it keeps its scale from a child: NAME/unscaled and, below it, NAME."""
    skeleton = truth.model.skeleton
    assert [name for name in skeleton.names if "$AssimpFbx$" in name] == []
    below = {
        (skeleton.names[parent], name)
        for name, parent in zip(skeleton.names, skeleton.parents, strict=True)
        if parent >= 0
    }
    for name in skeleton.names:
        assert not name.endswith(UNSCALED) or (name, name.removesuffix(UNSCALED)) in below


def test_rest(truth: FbxTruth) -> None:
    assert truth.rest_global_error() <= ON_KEY
    if truth.name not in LOSSES:
        assert truth.rest_point_error() <= ON_KEY


def test_what_is_reported_lost_is_lost() -> None:
    """Were these files right, their entries in LOSSES and in the report would have to go."""
    if not (HAS_DATA and FOLDER.is_dir()):
        pytest.skip(NO_DATA)
    for name in LOSSES:
        assert open_truth(name).rest_point_error() > 100 * ON_KEY


def test_rest_weights(truth: FbxTruth) -> None:
    weights = truth.model.pose().morph_weights
    for channel, target in truth.plain_channels():
        assert weights[target] == pytest.approx(truth.values["rest_weights"][channel], abs=1e-6)


def test_clips(truth: FbxTruth) -> None:
    """Their names in file order, and their durations."""
    assert list(truth.model.clips.names) == truth.clips
    for q, clip in enumerate(truth.model.clips):
        start, stop = truth.values[f"c{q}_range"]
        assert clip.duration == pytest.approx(stop - start, rel=1e-6, abs=1e-6)


def test_nodes_move_as_they_are_to(truth: FbxTruth) -> None:
    for q in range(len(truth.clips)):
        error = truth.clip_global_error(q)
        assert np.all(error <= truth.tolerance(q)), (
            f"clip {q} at {truth.times(q)[error.argmax()]}: {error.max()}"
        )


def test_points_move_as_they_are_to(truth: FbxTruth) -> None:
    for q in range(len(truth.clips)):
        error = truth.clip_point_error(q)
        assert np.all(error <= truth.tolerance(q)), (
            f"clip {q} at {truth.times(q)[error.argmax()]}: {error.max()}"
        )


def test_weights_move_as_they_are_to(truth: FbxTruth) -> None:
    for q in range(len(truth.clips)):
        weights = truth.model.pose(q, truth.times(q), loop="clamp").morph_weights
        for channel, target in truth.plain_channels():
            error = np.abs(weights[:, target] - truth.values[f"c{q}_weights"][:, channel])
            assert np.all(error <= truth.tolerance(q))


def test_what_plays_right_is_not_reported_lost(truth: FbxTruth) -> None:
    lost = {entry.code for entry in truth.model.report if entry.severity == "lost"}
    assert lost == LOSSES.get(truth.name, set())


# ---- what the README of the data says is to be seen by hand -----------------------------------------------


def at(truth: FbxTruth, node: str, time: float, clip: int = 0) -> list[float]:
    place: list[float] = truth.model.globals(clip, time)[truth.joints[node], :3, 3].tolist()
    return place


def test_seen_by_hand() -> None:
    if not (HAS_DATA and FOLDER.is_dir()):
        pytest.skip(NO_DATA)
    steps = open_truth("maya_anim_interpolation_7700_binary")
    seen = [at(steps, "pCube1", time)[0] for time in (0.15, 0.75, 0.95, 1.15, 1.35)]
    assert seen == pytest.approx([-1.05296, -4, -8, -8, -14], abs=1e-4)
    assert at(open_truth("synthetic_tcdefinition_0_7700_ascii"), "pCube1", 0.5)[0] == pytest.approx(2.5)
    layers = open_truth("maya_anim_layers_7500_binary")
    assert at(layers, "pCube1", 19 / 24) == pytest.approx([10, 10, 10], abs=1e-4)
    sausage = open_truth("maya_game_sausage_7500_binary_deform")
    (joint4,) = (node for node in sausage.nodes if node.endswith("/joint4"))
    assert at(sausage, joint4, 0.625) == pytest.approx([0.16741, 1.47338, 0], abs=1e-4)
    shapes = open_truth("maya_blend_inbetween_7500_binary").points(0, [119 / 24])[0]
    assert shapes.min(axis=0) == pytest.approx([-2.02796, -0.5, -0.5], abs=1e-4)
    assert shapes.max(axis=0) == pytest.approx([0.5, 1.2692, 0.65608], abs=1e-4)
    shares = open_truth("blender440_shape_weight_anim_7400_binary").points(0, [0.625])[0]
    assert shares[:, 0].max() == pytest.approx(2.3, abs=1e-4)
    skin = open_truth("maya_transformed_skin_7700_binary").points(None, [0.0])[0]
    assert skin.min(axis=0) == pytest.approx([2.24, 0.0028, -0.5], abs=1e-3)
    assert skin.max(axis=0) == pytest.approx([4.5573, 3.7692, 0.5], abs=1e-3)


def test_embedded_pictures() -> None:
    if not (HAS_DATA and FOLDER.is_dir()):
        pytest.skip(NO_DATA)
    model = open_truth("blender_293_embedded_textures_7400_binary").model
    (material,) = model.materials
    assert material.texture is not None
    assert (material.texture.format, len(material.texture.data)) == ("png", 1589)


if __name__ == "__main__":
    for name in NAMES:
        found = open_truth(name)
        clips = range(len(found.clips))
        joints = [found.rest_global_error(), *(found.clip_global_error(q).max() for q in clips)]
        points = [found.rest_point_error(), *(found.clip_point_error(q).max() for q in clips)]
        print(f"{name:60} globals {max(joints):.1e}  points {max(points):.1e}")
