"""Numbers that leave the range of float32: evaluation returns them, `check` reports them, and whatever builds
something of them says by name what overflowed."""

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import DATA

import skinpy
from skinpy import Clip, Model
from skinpy.__main__ import main
from skinpy.models.overflow import find_overflow

HUGE = 3e38
NAMES = ["LeftHip", "RightHip", "c", "d"]
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0.5]])
TARGETS = {"smile": np.eye(4)[:, :3]}


def model(
    *,
    rest_translation: float = 1.0,
    rest_scale: float = 1.0,
    positions: float = 1.0,
    key_translation: float = 1.0,
    key_scale: float = 1.0,
    morph: float = 1.0,
    weight: float = 1.0,
    binds: float = 1.0,
    first: float = 0.0,
) -> Model:
    """A chain of four joints with a clip of translations, rotations, scales and weights."""
    rest = np.tile(np.eye(4), (4, 1, 1))
    rest[1:, 0, 3] = rest_translation
    rest[1:, :3, :3] *= rest_scale
    translation = np.tile(rest[:, :3, 3], (3, 1, 1))
    translation[0, 0, 1] = first
    translation[1, :, 0] += key_translation
    translation[2, :, 1] -= key_translation
    rotation = np.tile([0.0, 0, 0, 1], (3, 4, 1))
    rotation[1] = (0, 0, 0.6, 0.8)
    scale = np.tile(np.array([1.0, rest_scale, rest_scale, rest_scale])[None, :, None], (3, 1, 3))
    scale[1] *= key_scale
    clip = Clip.from_arrays(
        "go",
        times=[0, 0.5, 1],
        joints=NAMES,
        translation=translation,
        rotation=rotation,
        scale=scale,
        targets=["smile"],
        weights=[[0], [weight], [0]],
    )
    return Model.from_arrays(
        NAMES,
        [-1, 0, 1, 2],
        rest,
        positions=CORNERS * positions,
        faces=[[0, 1, 2], [1, 2, 3]],
        joints=[[0, 1], [1, 2], [2, 3], [3, 0]],
        weights=[[0.5, 0.5]] * 4,
        targets={"smile": TARGETS["smile"] * morph},
        clips=[clip],
        inverse_bind=np.tile(np.diag([binds, binds, binds, 1.0]), (4, 1, 1)),
    )


CASES: dict[str, dict[str, float]] = {
    "rest translation": {"rest_translation": HUGE},
    "rest scale": {"rest_scale": 1e20},
    "positions": {"positions": HUGE},
    "key translation": {"key_translation": HUGE},
    "first key": {"key_translation": HUGE, "first": HUGE},
    "key scale": {"key_scale": 1e20},
    "morph": {"morph": HUGE, "weight": 2.0},
    "weight": {"morph": 2.0, "weight": HUGE},
    "inverse bind": {"binds": 1e38, "positions": 100.0},
}

Build = Callable[[Model, Path], Any]
BUILDS: dict[str, Build] = {
    "as_rigid": lambda m, _: m.as_rigid(),
    "save glb": lambda m, folder: saved(m, folder / "a.glb"),
    "save skn": lambda m, folder: saved(m, folder / "a.skn"),
    "bake_vertices": lambda m, _: m.bake_vertices(0, 10),
    "bake_texture": lambda m, _: m.bake_texture(fps=10),
    "to_keyed": lambda m, _: m.bake_vertices(0, 10).to_keyed(1e-3),
    "trim": lambda m, _: m.clips[0].trim(0.1, 0.9),
    "resample": lambda m, _: m.clips[0].resample(10),
    "transform": lambda m, _: m.clips[0].transform(np.diag([4.0, 4.0, 4.0, 1.0])),
    "reverse": lambda m, _: m.clips[0].reverse(),
    "speed": lambda m, _: m.clips[0].speed(8.0),
    "cut": lambda m, _: m.clips[0].cut(0.5)[1],
    "concatenate": lambda m, _: Clip.concatenate([m.clips[0], m.clips[0].reverse()]),
    "additive": lambda m, _: m.clips[0].additive(),
    "additive to rest": lambda m, _: m.clips[0].additive("rest"),
    "mirror": lambda m, _: m.clips[0].mirror(axis="x"),
    "compress": lambda m, _: m.clips[0].compress(),
    "compress by a bound": lambda m, _: m.clips[0].compress(1e-3),
    "extract_root_motion": lambda m, _: m.clips[0].extract_root_motion(),
    "all root motion": lambda m, _: m.clips[0].extract_root_motion(translation="all"),
    "root_motion_from_feet": lambda m, _: m.clips[0].root_motion_from_feet(),
    "contacts": lambda m, _: m.clips[0].contacts(["c"]),
    "lock_feet": lambda m, _: skinpy.lock_feet(m.clips[0], joints=["c"]),
    "retarget": lambda m, _: skinpy.retarget(m.clips[0], m, m),
    "retarget to another": lambda m, _: skinpy.retarget(
        m.clips[0], m, skinpy.character(), joint_map={"LeftHip": "Hips", "c": "Spine"}
    ),
    "retarget from another": lambda m, _: skinpy.retarget(
        "walk", skinpy.character(), m, joint_map={"Hips": "LeftHip", "Spine": "c"}
    ),
    "quantize": lambda m, _: skinpy.storage.quantize(m.clips[0]).clip(),
    "compare": lambda m, _: skinpy.storage.compare(m, 0, fps=10),
    "add_clips": lambda m, _: m.add_clips(m.clips[0], replace=True),
    "add_event": lambda m, _: m.clips[0].add_event(0.5, "step"),
    "grid": lambda m, _: skinpy.render.grid(m, 4),
    "clip html": lambda m, folder: m.clips[0].to_html(folder / "a.html"),
}


def saved(model: Model, path: Path) -> Model:
    model.save(path)
    return skinpy.load(path)


def numbers_of(built: Any) -> list[Any]:
    """All arrays of numbers in what was built."""
    if isinstance(built, Clip):
        motion = [] if built.root_motion is None else [built.root_motion.values]
        keys = [(one.values, one.in_tangents, one.out_tangents) for one in built.channels]
        return [*motion, *(array for key in keys for array in key if array is not None)]
    if isinstance(built, Model):
        arrays = [
            built.mesh.positions,
            built.mesh.normals,
            built.skin.inverse_bind,
            built.skeleton.rest_local,
        ]
        return [*arrays, *(array for clip in built.clips for array in numbers_of(clip))]
    if isinstance(built, skinpy.kinds.VertexAnimation):
        return [built.frames]
    if isinstance(built, skinpy.BakedTexture):
        return [built.data]
    return []


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("error::RuntimeWarning", "ignore::skinpy.SkinpyWarning")
def test_what_is_built_is_finite_or_refused_by_name(case: str, build: str, tmp_path: Path) -> None:
    subject = model(**CASES[case])
    try:
        built = BUILDS[build](subject, tmp_path)
    except ValueError as error:
        words = str(error)
    else:
        assert all(np.isfinite(array).all() for array in numbers_of(built))
        return
    assert "float32 (3.4e38)" in words and "section" not in words
    assert any(repr(name) in words for name in (*NAMES, "go", "walk"))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_check_reports_it(case: str) -> None:
    subject = model(**CASES[case])
    findings = [one for one in subject.check() if one.code == "overflow"]
    with np.errstate(all="ignore"):
        shown = [subject.deform(subject.pose())[0]]
        pose = subject.pose(0, np.linspace(0, 1, 41), loop="clamp")
        shown += [pose.palette(), subject.deform(pose)[0]]
    assert any(not np.isfinite(one).all() for one in shown) == bool(findings)
    assert findings
    for one in findings:
        assert one.level == "error" and one.joint in NAMES and "float32" in one.message
        assert (one.clip is None) == (one.time is None)


def test_the_shared_case() -> None:
    path = DATA / "cases/overflow_unreported.gltf"
    if not path.exists():
        pytest.skip("SKINPY_DATA: no file cases/overflow_unreported.gltf")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", skinpy.SkinpyWarning)
        found = skinpy.check(path)
    (one,) = found.errors
    assert (one.code, one.clip, one.joint) == ("overflow", None, "nodes[1]")


def test_bounds_hold_for_models_of_all_sizes() -> None:
    """Nothing is posed where no result can overflow; near the limit the poses decide."""
    for size in (1.0, 1e10, 1e30, 1e34):
        subject = model(rest_translation=size, positions=size, key_translation=size)
        assert find_overflow(subject, subject.clips[0]) is None
        assert not [one for one in subject.check() if one.code == "overflow"]
    subject = model(rest_translation=9e37, positions=1.0)
    assert np.isfinite(subject.pose().globals()).all()
    assert find_overflow(subject, None) is None


def test_info_says_that_the_rest_pose_has_no_size(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model(**CASES["rest scale"]).save(tmp_path / "a.skn")
    assert main(["info", str(tmp_path / "a.skn")]) == 0
    words = capsys.readouterr().out
    assert "rest pose beyond float32 ('skinpy check' names the joint)" in words and "nan" not in words


def test_a_mirrored_joint_is_named() -> None:
    """The mirror takes (1, 1, 0) to the x axis, on which it is longer than float32 can hold."""
    moves = np.broadcast_to([3.4e38, 3.4e38, 0], (2, 1, 3))
    huge = Clip.from_arrays("huge", times=[0, 1], joints=["c"], translation=moves)
    with pytest.raises(ValueError, match=r"clip 'huge' overflows: the translation of 'c' at 0 s"):
        model().add_clips(huge).clips["huge"].mirror(axis=(1 - 2**0.5, 1, 0))


def test_a_camera_for_a_clip_of_centuries_takes_no_time() -> None:
    """Of a small model it took 12 s, because millions of poses were looked at."""
    pytest.importorskip("moderngl")
    slow = Clip.from_arrays("slow", times=[0, 1e10], joints=["c"], translation=np.eye(3)[:2, None])
    start = time.perf_counter()
    model().add_clips(slow).render("slow", 0.0, size=(16, 16))
    assert time.perf_counter() - start < 6


def test_a_page_of_a_clip_without_end_is_refused_in_few_words(tmp_path: Path) -> None:
    endless = Clip.from_arrays("endless", times=[0, 1e300], joints=["c"], translation=np.zeros((2, 1, 3)))
    with pytest.raises(ValueError, match=r"clips take [0-9.e+]+ MB of frames") as caught:
        model().add_clips(endless).to_html(tmp_path / "a.html")
    assert len(str(caught.value)) < 250


def test_a_picture_of_it_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"clip 'go' overflows at .*joint '.*float32"):
        model(rest_translation=HUGE).render(0, 0.5, size=(16, 16))


@pytest.mark.parametrize(
    ("scale", "words"),
    [(3e38, "the scale of joint 'b'"), (1e39, "the inverse of the global transform of joint 'b'")],
)
def test_arrays_whose_products_overflow(scale: float, words: str) -> None:
    rest = np.tile(np.eye(4), (2, 1, 1))
    rest[1, :3, :3] = scale if scale < 1e39 else np.eye(3) / scale
    with pytest.raises(ValueError, match=f"^rest overflows: {words}"):
        Model.from_arrays(
            ["a", "b"],
            [-1, 0],
            rest,
            positions=np.eye(3),
            faces=[[0, 1, 2]],
            joints=[[0]] * 3,
            weights=[[1]] * 3,
        )
