"""Channels of visibility and materials: kept by all that keeps clips, and no part of a pose."""

import pickle
from pathlib import Path

import numpy as np
import pytest

import skinpy
from skinpy import _block
from skinpy._types import Array

#: The paths of looks with the values of their two keys, which are 0 and 1 second.
LOOKS: dict[str, list[list[float]]] = {
    "visibility": [[1], [0]],
    "base_color_factor": [[1, 0, 0, 1], [0, 1, 0, 0.5]],
    "metallic_factor": [[0], [1]],
    "emissive_factor": [[0, 0, 0], [1, 0.5, 0.25]],
    "uv_offset": [[0, 0], [0.5, 0]],
    "uv_rotation": [[0], [1]],
}


def channel_rows(sections: dict[str, Array]) -> Array:
    """Channels of the looks for joint 1 and material 0, with keys behind those of the sections."""
    rows = np.zeros(len(LOOKS), _block.RECORDS["CHANNELS"])
    rows["in_tangents"] = rows["out_tangents"] = _block.NO_ARRAY
    values = [np.float32(keys).ravel() for keys in LOOKS.values()]
    for row, path in zip(rows, LOOKS, strict=True):
        row["path"] = _block.PATHS.index(path)
        row["joint"] = 1 if path == "visibility" else 0
        row["interpolation"] = 0 if path == "visibility" else 1
    rows["key_count"] = 2
    rows["stride"] = [len(one) // 2 for one in values]
    rows["times"] = len(sections["TIMES"])
    rows["values"] = len(sections["VALUES"]) + np.cumsum([0, *map(len, values)])[:-1]
    sections["TIMES"] = np.append(sections["TIMES"], [0.0, 1.0])
    sections["VALUES"] = np.concatenate([sections["VALUES"], *values]).astype(np.float32)
    return rows


@pytest.fixture(scope="module")
def plain() -> skinpy.Model:
    """A model whose clip "walk" moves joints alone."""
    return skinpy.character()


@pytest.fixture(scope="module")
def model(plain: skinpy.Model) -> skinpy.Model:
    """The same model, where "walk" has a channel of each look as well."""
    sections = {name: _block.section(plain._block, name) for name in plain._block.sections}
    count = int(sections["CLIPS"]["channel_count"][0])
    rows = channel_rows(sections)
    sections["CHANNELS"] = np.insert(sections["CHANNELS"], count, rows)
    sections["CLIPS"] = sections["CLIPS"].copy()
    sections["CLIPS"]["channel_count"][0] += len(rows)
    sections["CLIPS"]["first_channel"][1:] += len(rows)
    return skinpy.Model(_block.pack(sections, plain.mesh.slots.shape[1]))


def looks(clip: skinpy.Clip) -> dict[str, tuple[int | None, int | None, list[list[float]]]]:
    return {
        one.path: (one.joint, one.material, one.values.tolist()) for one in clip.channels if not one.poses
    }


def test_channels_of_looks_name_their_joint_or_material(model: skinpy.Model) -> None:
    expected = {p: (1, None, v) if p == "visibility" else (None, 0, v) for p, v in LOOKS.items()}
    assert looks(model.clips["walk"]) == expected
    found = {channel.path: channel for channel in model.clips["walk"].channels}
    assert found["visibility"].name == model.skeleton.names[1]
    assert found["uv_offset"].name == model.materials[0].name and found["uv_offset"].target is None


@pytest.mark.parametrize("simd", ["plain", None])
def test_poses_ignore_looks(
    model: skinpy.Model, plain: skinpy.Model, simd: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = np.linspace(0, 1, 7)
    if simd:
        monkeypatch.setenv("SKINPY_SIMD", simd)
    for name in ("translation", "rotation", "scale", "morph_weights"):
        poses = [getattr(one.pose("walk", times), name) for one in (model, plain)]
        np.testing.assert_array_equal(*poses)
    np.testing.assert_array_equal(model.palette("walk", times), plain.palette("walk", times))
    assert model.clips["walk"].kind == plain.clips["walk"].kind


def test_looks_are_kept(model: skinpy.Model, plain: skinpy.Model, tmp_path: Path) -> None:
    walk = model.clips["walk"]
    expected = looks(walk)
    model.save(tmp_path / "a.skn")
    assert looks(skinpy.load(tmp_path / "a.skn").clips["walk"]) == expected
    assert looks(pickle.loads(pickle.dumps(model)).clips["walk"]) == expected
    assert looks(pickle.loads(pickle.dumps(walk)).trim(0, walk.duration)) != {}
    assert looks(plain.add_clips(walk, replace=True).clips["walk"]) == expected
    assert looks(walk.extract_root_motion()) == expected
    assert looks(walk.compress()) == expected
    assert looks(skinpy.storage.quantize(walk).clip())["visibility"] == expected["visibility"]


def test_looks_of_one_clip_hold_their_rest_in_others(model: skinpy.Model) -> None:
    """The walk has channels of visibility, material values and texture transforms, and the run has none."""
    walk, run = model.clips["walk"], model.clips["run"]
    whole = skinpy.Clip.concatenate([walk, run, walk])
    for start in (0.0, walk.duration + run.duration):
        shown, wanted = whole.material_values(start + 0.3)[0], walk.material_values(0.3)[0]
        assert shown.keys() == wanted.keys()
        assert all(np.abs(shown[path] - wanted[path]).max() <= 1e-6 for path in wanted)
    material, shown = model.materials[0], whole.material_values(walk.duration + 0.3)[0]
    assert shown["base_color_factor"] == pytest.approx(material.base_color)
    assert shown["metallic_factor"] == pytest.approx([material.metallic_factor])
    assert shown["emissive_factor"] == pytest.approx(material.emissive_factor)
    assert np.abs(shown["uv_transform"] - np.array(material.uv_transform)).max() <= 1e-6
    assert [bool(whole.visible_joints(time)[1]) for time in (0.3, walk.duration + 0.3)] == [True, True]


def test_looks_are_cut_and_resampled(model: skinpy.Model) -> None:
    walk = model.clips["walk"]
    cut = {one.path: one for one in walk.trim(0.0, 0.5).channels if not one.poses}
    np.testing.assert_allclose(cut["uv_offset"].values, [[0, 0], [0.25, 0]], atol=1e-6)
    assert cut["visibility"].values.tolist() == [[1], [1]]
    often = {one.path: one for one in walk.resample(4).channels if not one.poses}
    np.testing.assert_allclose(often["metallic_factor"].values[:, 0], [0, 0.25, 0.5, 0.75, 1], atol=1e-6)
    assert often["visibility"].interpolation == "step"


def test_a_mirrored_clip_hides_the_other_side(model: skinpy.Model) -> None:
    names = model.skeleton.names
    walk = model.clips["walk"]
    mirrored = looks(walk.mirror(axis="x", pairs={names[1]: names[2]}))
    assert mirrored["visibility"] == (2, None, LOOKS["visibility"])
    assert mirrored["uv_offset"] == looks(walk)["uv_offset"]


def test_differences_and_retargeted_clips_have_no_looks(model: skinpy.Model) -> None:
    walk = model.clips["walk"]
    assert looks(walk.additive()) == {}
    assert looks(skinpy.retarget(walk, model, model)) == {}


def test_materials_of_added_clips_are_matched_by_name(model: skinpy.Model, plain: skinpy.Model) -> None:
    sections = {name: _block.section(plain._block, name) for name in plain._block.sections}
    pool = _block.TextPool(sections["TEXT"].tobytes())
    sections["MATERIALS"] = sections["MATERIALS"].copy()
    sections["MATERIALS"]["name"] = pool.names([f"other {n}" for n in range(len(sections["MATERIALS"]))])
    sections["TEXT"] = pool.section()
    other = skinpy.Model(_block.pack(sections, plain.mesh.slots.shape[1]))
    with pytest.warns(skinpy.SkinpyWarning, match="move nothing"):
        added = other.add_clips(model.clips["walk"], replace=True)
    assert list(looks(added.clips["walk"])) == ["visibility"]
    assert {entry.code: entry.count for entry in added.report}["channels_dropped"] == len(LOOKS) - 1
