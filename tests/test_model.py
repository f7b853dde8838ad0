"""Models as objects: assets, reports, clips of elsewhere, keeping, immutability, threads."""

import copy
import gc
import pickle
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path
from typing import Any

import import_cases
import numpy as np
import pytest
from conftest import HANGS

import skinpy
from skinpy import _block, _core

IDENTITY = np.eye(4, dtype=np.float32)


@pytest.fixture(scope="module")
def model() -> skinpy.Model:
    return skinpy.character()


def chain(names: str = "abc") -> skinpy.Model:
    """Joints one above the other, a triangle on them."""
    rest = np.tile(IDENTITY, (len(names), 1, 1))
    rest[1:, 1, 3] = 1
    return skinpy.Model.from_arrays(
        list(names),
        list(range(-1, len(names) - 1)),
        rest,
        positions=[[0, 0, 0], [1, 0, 0], [0, 1, 0]],
        faces=[[0, 1, 2]],
        joints=[[0], [1], [1]],
        weights=[[1]] * 3,
    )


def turning(joints: str = "abc", name: str = "turn") -> skinpy.Clip:
    """A quarter turn about z of every joint within a second."""
    keys = np.zeros((2, len(joints), 4))
    keys[0, :, 3] = 1
    keys[1] = (0, 0, np.sqrt(0.5), np.sqrt(0.5))
    return skinpy.Clip.from_arrays(name, times=[0, 1], joints=list(joints), rotation=keys)


def nodding(model: skinpy.Model) -> skinpy.Clip:
    """A clip that holds the last joint of `model` turned."""
    keys = [[[0, 0, 0.6, 0.8]]] * 2
    return skinpy.Clip.from_arrays("nod", fps=1, joints=[model.skeleton.names[-1]], rotation=keys)


# ---- the block's records ---------------------------------------------------------------------------


def test_records_have_the_sizes_of_the_core(model: skinpy.Model) -> None:
    sections = {name: _block.section(model._block, name) for name in model._block.sections}
    sections["REPORT"] = np.zeros(1, _block.RECORDS["REPORT"])
    sections["INFO"] = sections["INFO"].copy()
    sections["INFO"]["targets"] = 1
    sections["TARGETS"] = np.zeros(1, _block.RECORDS["TARGETS"])
    sections["CLIPS"] = sections["CLIPS"].copy()
    sections["CLIPS"]["event_count"][0], sections["CLIPS"]["first_event"][1:] = 1, 1
    sections["EVENTS"] = np.zeros(1, _block.RECORDS["EVENTS"])
    block = _block.pack(sections, model.mesh.slots.shape[1])
    assert set(_block.RECORDS) <= set(block.sections)
    for name, record in _block.RECORDS.items():
        assert block.sections[name][2] == record.itemsize


def test_sections_are_aligned_and_inside(model: skinpy.Model) -> None:
    for offset, rows, stride in model._block.sections.values():
        assert offset % 64 == 0 and offset + rows * stride <= model._block.nbytes


def test_a_changed_block_is_refused(model: skinpy.Model) -> None:
    data = bytearray(_block.memory(model._block))
    offset, rows, _ = model._block.sections["JOINT_PARENTS"]
    np.frombuffer(data, np.int32, rows, offset)[3] = 3
    with pytest.raises(skinpy.LoadError, match="joint 3 has parent 3"):
        skinpy.load(bytes(data))
    with pytest.raises(skinpy.LoadError, match="bytes"):
        skinpy.load(bytes(data)[:-64])


# ---- assets -----------------------------------------------------------------------------------------


def test_assets_are_read_only_views(model: skinpy.Model) -> None:
    arrays = [
        *(getattr(model.skeleton, n) for n in ("parents", "translation", "rotation", "scale", "rest_local")),
        model.skeleton.rest_global,
        *(getattr(model.mesh, n) for n in ("positions", "normals", "uvs", "slots", "weights", "faces")),
        model.mesh.interleaved,
        model.skin.joints,
        model.skin.inverse_bind,
        model.clips[0].channels[0].times,
        model.clips[0].channels[0].values,
    ]
    for array in arrays:
        assert not array.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True


def test_models_never_change(model: skinpy.Model) -> None:
    with pytest.raises(AttributeError, match="never change"):
        model.skeleton = None  # type: ignore[misc]
    for part, name in ((model.mesh, "positions"), (model.skeleton, "parents"), (model.skin, "joints")):
        with pytest.raises(AttributeError, match="never change"):
            setattr(part, name, None)
    assert copy.copy(model) is model and copy.deepcopy(model) is model


def test_index_of_a_joint(model: skinpy.Model) -> None:
    for joint, name in enumerate(model.skeleton.names):
        assert model.skeleton.index(name) == joint
    with pytest.raises(KeyError, match="did you mean 'Head'"):
        model.skeleton.index("head")


def test_of_equal_names_the_first_counts() -> None:
    twins = chain("aba")
    assert twins.skeleton.index("a") == 0 and twins.skeleton.names == ("a", "b", "a")


def test_submeshes_take_up_everything(model: skinpy.Model) -> None:
    assert [v for s in model.mesh.submeshes for v in s.vertex_range] == list(range(len(model.mesh.positions)))
    assert [f for s in model.mesh.submeshes for f in s.face_range] == list(range(len(model.mesh.faces)))
    for submesh in model.mesh.submeshes:
        used = model.mesh.faces[submesh.face_range]
        assert used.min() >= submesh.vertex_range.start and used.max() < submesh.vertex_range.stop


def test_textures_decode(model: skinpy.Model) -> None:
    pytest.importorskip("PIL")
    textures = [material.texture for material in model.materials if material.texture]
    assert textures
    for texture in textures:
        image = texture.image()
        assert image.ndim == 3 and image.shape[2] == 4 and image.dtype == np.uint8


def test_a_report_is_a_sequence(model: skinpy.Model) -> None:
    entries = [skinpy.ReportEntry("a", "lost", 2, "x", "y"), skinpy.ReportEntry("b", "repaired", 1, "", "z")]
    report = skinpy.Report(entries)
    assert len(report) == 2 and list(report) == entries and report[0].code == "a"
    assert [entry.code for entry in report.lost] == ["a"]
    assert [entry.code for entry in report.repaired] == ["b"]
    assert "nothing" in repr(model.report) and "2 times" in repr(report)


@pytest.mark.filterwarnings("ignore::skinpy.SkinpyWarning")
def test_what_was_repaired_can_be_printed() -> None:
    model = skinpy.load(import_cases.bvh(("hip", "kn\udcff", "kn\udcff")), format="bvh")
    assert model.skeleton.names[1] == "kn\udcff"  # names themselves stay as they are
    (entry,) = (one for one in model.report if one.code == "duplicate_names")
    assert "kn\ufffd" in entry.first
    odd = skinpy.ReportEntry("a", "lost", 1, "b\udcff\x1b", "c\udcff\nd")
    texture = skinpy.Texture("t\udcff", "f\udcff", memoryview(b""), 0, 0)
    for shown in (entry.first, entry, model.report, model.check(), odd, skinpy.Report([odd]), texture):
        f"{shown}{shown!s}".encode()
    repr(model.report).encode()
    assert str(odd) == r"lost: c\udcff\nd (1 times, first: b\udcff\x1b)"


# ---- clips ----------------------------------------------------------------------------------------------


def test_clips_are_a_sequence_with_names(model: skinpy.Model) -> None:
    assert model.clips.names == ("walk", "run", "wave") == tuple(clip.name for clip in model.clips)
    assert "run" in model.clips and "Run" not in model.clips and model.clips["run"] in model.clips
    assert model.clips["run"] is model.clips[1] is model.clips[-2]
    assert model.clips[1:] == (model.clips[1], model.clips[2])
    assert model.clips["run"].model is model
    assert model.clips["run"] == model.clips[1] != model.clips[0]
    assert hash(model.clips["run"]) == hash(model.clips[1]) and model.clips["run"] != "run"
    assert model.clips.index("run") == model.clips.index(model.clips["run"]) == 1
    assert model.clips.count("run") == model.clips.count(model.clips["run"]) == 1 > model.clips.count("swim")
    with pytest.raises(ValueError, match="'walk'"):
        model.clips.index("walk", 1)
    with pytest.raises(IndexError):
        model.clips[3]
    with pytest.raises(KeyError, match="did you mean 'walk'"):
        model.clips["wlak"]
    with pytest.raises(TypeError):
        model.clips[1.5]  # type: ignore[call-overload]


def test_channels_move_the_joints_they_name(model: skinpy.Model) -> None:
    for channel in model.clips["walk"].channels:
        assert channel.name == model.skeleton.names[channel.joint]
        assert (np.diff(channel.times) > 0).all()


def test_a_clip_is_an_animation(model: skinpy.Model) -> None:
    clip = model.clips["run"]
    assert clip.kind == "skinned" and skinpy.crane().clips[0].kind == "rigid" and turning().kind == "skinned"
    pose = clip.sample([0.1, 0.9])
    # a pose's rotations are rounded to float once more than those that go straight into a matrix
    np.testing.assert_allclose(pose.palette(), model.palette("run", [0.1, 0.9]), atol=5e-7)
    assert clip.sample([0.2, 0.3], out=pose) is pose
    np.testing.assert_allclose(pose.palette(), model.palette("run", [0.2, 0.3]), atol=5e-7)
    clamped = clip.sample(9.0, loop="clamp").palette()
    np.testing.assert_allclose(clamped, model.palette("run", clip.duration), atol=5e-7)
    with pytest.raises(ValueError, match="add_clips"):
        turning().sample(0.0)
    with pytest.raises(ValueError, match=r"\(2, 26, 3\); expected \(26, 3\)"):
        clip.sample(0.0, out=pose)
    with pytest.raises(TypeError, match="out"):
        clip.sample(0.0, out=np.zeros(3))  # type: ignore[arg-type]


def test_a_clip_of_morph_weights_alone_is_keyed() -> None:
    keys = {"times": [0, 1], "targets": ["smile"], "weights": [[0], [1]]}
    smile = skinpy.Clip.from_arrays("smile", joints=[], **keys)
    both = skinpy.Clip.from_arrays("both", joints=["a"], translation=np.zeros((2, 1, 3)), **keys)
    assert smile.kind == "keyed" and both.kind == "skinned"
    corners = {"positions": np.eye(3), "faces": [[0, 1, 2]], "joints": [[0]] * 3, "weights": [[1]] * 3}
    for place, kind in ((0, "rigid"), (1, "skinned")):  # the slot of a rigid part is a joint and the identity
        rest = np.eye(4)
        rest[0, 3] = place
        model = skinpy.Model.from_arrays(
            ["a"], [-1], rest[None], **corners, targets={"smile": np.eye(3)}, clips=[smile, both]
        )
        assert [clip.kind for clip in model.clips] == ["keyed", kind]
        assert model.clips[0].trim(0.2).kind == model.clips[0].compress().kind == "keyed"


def test_nbytes_counts_shared_times_once() -> None:
    clip = turning()
    frames = 2 + 1  # the last one twice
    assert clip.nbytes == 2 * 8 + frames * 3 * 4 * 4 and clip.compiled_nbytes == 0


def test_an_unbound_clip_is_refused_until_it_is_added() -> None:
    plain, clip = chain(), turning()
    assert clip.model is None
    with pytest.raises(ValueError, match="add_clips"):
        plain.palette(clip, 0.0)
    more = plain.add_clips(clip)
    assert len(plain.clips) == 0 and more.clips.names == ("turn",)
    with pytest.raises(ValueError, match="add_clips"):
        more.palette(clip, 0.0)
    bound = more.clips["turn"]
    assert bound.model is more
    assert np.array_equal(more.palette(bound, 0.5), more.palette("turn", 0.5))
    # A quarter turn of a lays b along -x, and b's own turn points c down.
    points = more.joint_positions("turn", 1.0, loop="clamp")
    assert np.allclose(points, [[0, 0, 0], [-1, 0, 0], [-1, -1, 0]], atol=1e-6)


def test_added_clips_share_the_memory_of_the_model(model: skinpy.Model) -> None:
    more = model.add_clips(nodding(model))
    assert more._block is model._block and more.mesh.positions.base is not None
    # A clip of the first model goes on working: both have the same skeleton.
    assert np.array_equal(more.palette(model.clips["walk"], 0.2), model.palette("walk", 0.2))


def test_added_clips_find_joints_by_name() -> None:
    with pytest.warns(skinpy.SkinpyWarning, match="'x'"):
        more = chain("cba").add_clips(turning("axc"))
    joints = [channel.name for channel in more.clips[0].channels]
    (entry,) = more.report
    assert (entry.code, entry.severity, entry.count) == ("channels_dropped", "lost", 1)
    assert joints == ["a", "c"] and [c.joint for c in more.clips[0].channels] == [2, 0]
    with pytest.raises(ValueError, match="no joint"):
        chain().add_clips(turning("xyz"))


def test_clips_without_joint_names_go_by_number() -> None:
    keys = np.tile(np.array([0.0, 0, 0, 1]), (2, 3, 1))
    clip = skinpy.Clip.from_arrays("plain", fps=1, rotation=keys)
    assert [c.joint for c in chain().add_clips(clip).clips[0].channels] == [0, 1, 2]
    with pytest.raises(ValueError, match="3 unnamed joints"):
        chain("abcd").add_clips(clip)


def test_added_clips_that_lose_shear_are_reported() -> None:
    rest = np.tile(IDENTITY, (2, 1, 1))
    rest[1, 0, 1] = 0.7
    clip = turning("ab")
    with pytest.warns(skinpy.SkinpyWarning, match="shear"):
        model = skinpy.Model.from_arrays(
            ["a", "b"],
            [-1, 0],
            rest,
            positions=[[0, 0, 0]],
            faces=[],
            joints=[[0]],
            weights=[[1]],
            clips=[clip],
        )
    (entry,) = model.report
    assert (entry.code, entry.count, entry.first) == ("shear_lost", 1, "'b'")
    assert list(pickle.loads(pickle.dumps(model)).report) == [entry]


def test_some_clips_of_a_source() -> None:
    source = chain().add_clips([turning(), turning(name="other")])
    assert chain().add_clips(source, names=["other"]).clips.names == ("other",)
    with pytest.raises(KeyError, match="did you mean 'turn'"):
        chain().add_clips(source, names=["trun"])
    with pytest.raises(TypeError, match="names"):
        chain().add_clips(source, names="turn")


def test_names_that_are_taken(tmp_path: Path) -> None:
    once = chain().add_clips(turning())
    again = once.add_clips(turning())
    assert again.clips.names == ("turn", "turn.2")
    assert once.add_clips(turning(), replace=True).clips.names == ("turn",)
    path = tmp_path / "moves.skn"
    once.save(path)
    assert once.add_clips(path).clips.names == ("turn", "moves|turn")
    assert once.add_clips([chain().add_clips(turning(name="b")), path]).clips.names == (
        "turn",
        "b",
        "moves|turn",
    )
    with pytest.raises(TypeError, match="source"):
        once.add_clips(3)  # type: ignore[arg-type]


# ---- keeping ---------------------------------------------------------------------------------------------


def test_save_and_pickle_join_added_clips(tmp_path: Path, model: skinpy.Model) -> None:
    more = model.add_clips(nodding(model))
    more.save(tmp_path / "more.skn")
    for again in (
        skinpy.load(tmp_path / "more.skn"),
        skinpy.load(tmp_path / "more.skn", mmap=True),
        skinpy.load((tmp_path / "more.skn").read_bytes()),
        pickle.loads(pickle.dumps(more)),
    ):
        assert again.clips.names == (*model.clips.names, "nod")
        for name in again.clips.names:
            assert np.array_equal(again.palette(name, [0.1, 0.5]), more.palette(name, [0.1, 0.5]))
        assert [m.name for m in again.materials] == [m.name for m in model.materials]
        assert list(again.report) == list(model.report)


def test_save_leaves_nothing_half_written(tmp_path: Path, model: skinpy.Model) -> None:
    with pytest.raises(ValueError, match="obj"):
        model.save(tmp_path / "model.obj")
    with pytest.raises(FileNotFoundError):
        model.save(tmp_path / "no" / "model.skn")
    (tmp_path / "folder.skn").mkdir()
    with pytest.raises(OSError, match="directory"):
        model.save(tmp_path / "folder.skn")
    assert [path.name for path in tmp_path.iterdir()] == ["folder.skn"]


def test_clips_and_poses_pickle(model: skinpy.Model) -> None:
    clip = pickle.loads(pickle.dumps(model.clips["run"]))
    assert clip.name == "run" and clip.model is not None
    assert np.array_equal(clip.model.palette(clip, 0.2), model.palette("run", 0.2))
    free = pickle.loads(pickle.dumps(turning()))
    assert free.model is None and free.duration == 1.0
    pose = model.pose("run", [0.1, 0.2], root=np.diag([2, 2, 2, 1]))
    assert np.array_equal(pickle.loads(pickle.dumps(pose)).palette(), pose.palette())
    other = copy.copy(pose)
    other.translation[...] = 0
    assert not np.array_equal(other.translation, pose.translation)


# ---- loading ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"max_influences": 0}, ValueError),
        ({"max_influences": 9}, ValueError),
        ({"up": "W"}, ValueError),
        ({"format": 3}, TypeError),
        ({"speed": 1}, TypeError),
    ],
)
def test_bad_options(options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error, match=next(iter(options))):
        skinpy.load(b"x", **options)


def test_what_is_no_path_and_no_bytes() -> None:
    with pytest.raises(TypeError, match="path_or_bytes is of type int"):
        skinpy.load(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"name": 5}, TypeError, "name is 5"),
        ({"joints": [0, 1]}, TypeError, "joints holds 0"),
        ({"joints": "ab"}, TypeError, "joints is of type str"),
        ({"translation": "x"}, TypeError, "translation has dtype"),
        ({"translation": np.full((2, 2, 3), 1e300)}, ValueError, "translation holds"),
        ({"translation": None}, ValueError, "none came"),
        ({"fps": "x"}, TypeError, "fps is 'x'"),
    ],
)
def test_clip_arguments_are_named(options: dict[str, Any], error: type[Exception], words: str) -> None:
    given = {"name": "c", "fps": 1, "translation": np.zeros((2, 2, 3)), **options}
    with pytest.raises(error, match=words):
        skinpy.Clip.from_arrays(given.pop("name"), **given)


def test_out_of_deform_is_two_arrays() -> None:
    model = chain()
    out = np.empty((3, 3), np.float32)
    for pair, place in (((out, None), 1), ((None, out), 0)):
        with pytest.raises(TypeError, match=rf"out\[{place}\] is None"):
            model.deform(model.palette(), out=pair)  # type: ignore[arg-type]
    assert model.deform(model.palette(), normals=False, out=(out, None))[0] is out


@pytest.mark.parametrize("name", ["model.glb", "model.obj", "model.bvh", "model.zzz", "model"])
def test_a_saved_model_under_another_name_is_known_by_its_content(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    skinpy.character().save(tmp_path / "model.skn")
    (tmp_path / "model.skn").rename(path)
    for mmap in (False, True):
        assert skinpy.load(path, mmap=mmap).clips.names == skinpy.character().clips.names


def test_what_can_not_be_a_path() -> None:
    with pytest.raises(ValueError, match="null"):
        skinpy.load("model\0.glb")


def test_files_that_cannot_be_loaded(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nothing"):
        skinpy.load(tmp_path / "nothing.glb")
    with pytest.raises(skinpy.LoadError, match="directory"):
        skinpy.load(tmp_path)
    (tmp_path / "broken.skn").write_bytes(_block.MAGIC + b"\0" * 100)
    with pytest.raises(skinpy.LoadError, match=r"broken\.skn: .*version"):
        skinpy.load(tmp_path / "broken.skn")
    with pytest.raises(skinpy.LoadError, match="version"):
        skinpy.load(tmp_path / "broken.skn", mmap=True)


def test_build_info() -> None:
    info = skinpy.build_info()
    assert info["version"] == skinpy.__version__ and info["numpy"] == np.__version__
    assert int(info["assimp_version"].split(".")[0]) >= 6 and info["assimp_error"] is None
    assert {"glb", "gltf", "fbx", "dae", "bvh"} <= set(info["formats"])


def test_row_vectors(model: skinpy.Model) -> None:
    columns = model.palette("walk", [0.1, 0.2])
    rows = skinpy.to_row_vectors(columns)
    assert np.shares_memory(rows, columns)
    point = np.array([0.1, 0.2, 0.3, 1], np.float32)
    assert np.allclose(point @ rows, np.einsum("...ij,j->...i", columns, point))
    assert skinpy.to_row_vectors(model.palette(affine=True)).shape[-2:] == (4, 3)


# ---- threads ---------------------------------------------------------------------------------------------


def test_long_work_runs_without_the_gil(model: skinpy.Model) -> None:
    """While one thread computes, this one goes on: it wakes up twenty times within one call of the other's.

    No thread has to give the GIL away by itself meanwhile, so that it wakes within the call only where the
    call has given it away. How long a call takes, and who runs when, is the machine's: so there are as many
    calls as are needed.
    """
    times = np.linspace(0, 10, 100_000)
    out = np.empty((len(times), len(model.skin), 3, 4), np.float32)
    call, done = 0, threading.Event()  # odd numbers while it computes
    end = time.monotonic() + HANGS

    def work() -> None:
        nonlocal call
        while not done.is_set() and time.monotonic() < end:
            call += 1
            model.palette("walk", times, out=out)
            call += 1

    before, most = sys.getswitchinterval(), 0
    thread = threading.Thread(target=work)
    sys.setswitchinterval(1000)
    try:
        thread.start()
        while most < 20 and thread.is_alive():
            seen, count = call, 0
            while call == seen and seen % 2 and count < 20:
                count += 1
                time.sleep(1e-4)  # gives the GIL away, so that the other one can end its call
            most = max(most, count)
            time.sleep(1e-4)
    finally:
        done.set()
        sys.setswitchinterval(before)
        thread.join()
    assert most == 20


def test_threads_get_the_same_bits(model: skinpy.Model) -> None:
    times = np.linspace(0, 3, 2000)
    want = model.palette("run", times)
    results: list[Any] = [None] * 4

    def work(number: int) -> None:
        results[number] = (model.palette("run", times), skinpy.character().palette("run", times[:50]))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for palettes, others in results:
        assert np.array_equal(palettes, want) and np.array_equal(others, want[:50])


# ---- lifetime --------------------------------------------------------------------------------------------


def test_dropped_models_go_at_once() -> None:
    gc.collect()  # what other tests left in circles must not go meanwhile
    before = _core._bytes_in_use()
    model = chain().add_clips(turning())
    assert model.clips[0].channels and model.skeleton.rest_global.shape == (3, 4, 4)
    watch = weakref.ref(model)
    positions, clip = model.mesh.positions, model.clips[0]
    del model
    assert watch() is clip.model  # a clip keeps its model
    del clip
    assert watch() is None and _core._bytes_in_use() > before
    assert positions[1, 0] == 1  # an array keeps the block
    del positions
    assert _core._bytes_in_use() == before


def test_names_that_are_imported_when_they_are_asked_for() -> None:
    """`import skinpy` alone leaves the controller and the like unread; every public name is there."""
    code = (
        "import sys, skinpy\n"
        "later = {f'skinpy.{name}' for name in (*skinpy._LATER.values(), 'rotation')}\n"
        "assert len(later) > 8 and not later & set(sys.modules), later & set(sys.modules)\n"
        "assert set(skinpy.__all__) <= set(dir(skinpy))\n"
        "for name in skinpy.__all__: assert getattr(skinpy, name) is getattr(skinpy, name)\n"
        "assert later <= set(sys.modules)\n"
        "assert set(skinpy._LATER) <= set(skinpy.__all__)\n"
        "try: skinpy.contoller\n"
        "except AttributeError as error: assert 'contoller' in str(error)\n"
        "else: raise SystemExit('no error')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("up", ["Y", "y", "+y", "Z", "-z", "x"])
def test_an_axis_without_a_sign_is_positive(up: str) -> None:
    """As on the command line."""
    data = (Path(skinpy.__file__).parent / "data" / "crane.glb").read_bytes()
    wanted = up.upper() if up[0] in "+-" else f"+{up.upper()}"
    assert skinpy.load(data, up=up).up == wanted
