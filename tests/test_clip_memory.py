"""What the keys of a clip take: one value for what does not move, frames of cells that the compiled form
shares for what does; and that nothing of it shows in the numbers."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import builders
import numpy as np
import pytest
from twin import Rig

import skinpy
from skinpy import _block, _core

JOINTS, KEYS = 19, 48
#: Bytes of a key of three numbers and of a quaternion in Assimp, each with its time.
VECTOR_KEY, QUATERNION_KEY = 24, 32
PATHS = ("translation", "rotation", "scale")


def walker(kind: str = "linear") -> tuple[builders.Gltf, dict[tuple[str, str], Any]]:
    """Every joint has all three tracks at 48 common times: rotations swing, every fifth joint also shifts and
    stretches. The file, and the values and tangents that it holds by joint and path, (K,C) float32."""
    rng = np.random.default_rng(5)
    file, nodes, channels = builders.Gltf(), list[int](), list[dict[str, Any]]()
    held: dict[tuple[str, str], Any] = {}
    for joint in range(JOINTS):
        nodes.append(file.node(f"j{joint}", nodes[-1] if nodes else None, t=(0, 0.2, 0)))
    corners = np.zeros((3, 4), int), np.tile((1.0, 0, 0, 0), (3, 1))
    part = file.primitive(np.eye(3), [(0, 1, 2)], joints=corners[0], weights=corners[1])
    file.node("body", mesh=file.mesh(part), skin=file.skin(nodes, builders.bind(file, nodes)))
    times = file.accessor(np.linspace(0, 2, KEYS))
    for joint, node in enumerate(nodes):
        swing = 0.4 * np.sin(np.linspace(0, 9, KEYS) + joint)
        axis = builders.quaternions(rng, 1)[0, :3]
        axis /= np.linalg.norm(axis)
        moves = (rng.normal(size=(KEYS, 3)) if joint % 5 == 0 else np.zeros((KEYS, 3))) * 0.1
        rotation = np.column_stack([np.sin(swing)[:, None] * axis, np.cos(swing)])
        for path, keys in zip(PATHS, ((0, 0.2, 0) + moves, rotation, 1 + moves), strict=True):
            slope = np.gradient(keys, axis=0) * (KEYS - 1) / 2
            tangents = (slope, slope * 0.9) if kind == "cubic" else None
            held[f"j{joint}", path] = [a.astype(np.float32) for a in (keys, *(tangents or ()))]
            channels.append(file.channel(node, path, times, keys, kind, tangents))
    file.animation("walk", *channels)
    return file, held


def loaded(file: builders.Gltf) -> skinpy.Model:
    return skinpy.load(file.glb(), format="glb")


def keys_of(clip: skinpy.Clip) -> list[tuple[Any, ...]]:
    """All that the channels hold, as bytes."""
    arrays = [(c.times, c.values, c.in_tangents, c.out_tangents) for c in clip.channels]
    return [tuple(None if a is None else (a.shape, a.dtype, a.tobytes()) for a in row) for row in arrays]


def section_of(clip: skinpy.Clip) -> Any:
    return _block.section(clip._block, "VALUES")


@pytest.fixture(scope="module")
def model() -> skinpy.Model:
    return loaded(walker()[0])


# ---- what is held -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["linear", "step", "cubic"])
def test_keys_are_those_of_the_file(kind: str) -> None:
    file, held = walker(kind)
    clip = loaded(file).clips[0]
    assert len(clip.channels) == len(held)
    for channel in clip.channels:
        arrays = [channel.values, channel.in_tangents, channel.out_tangents]
        arrays = [array for array in arrays if array is not None]
        for got, wanted in zip(arrays, held[channel.name, channel.path], strict=True):
            assert got.shape == wanted.shape and got.dtype == np.float32 and got.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("kind", ["linear", "step", "cubic"])
def test_values_are_read_only_views_of_what_is_stored(kind: str) -> None:
    clip = loaded(walker(kind)[0]).clips[0]
    moving, still = 0, 0
    for channel in clip.channels:
        for array in (channel.values, channel.in_tangents, channel.out_tangents):
            if array is None:
                continue
            assert np.shares_memory(array, section_of(clip)) and not array.flags.writeable
            with pytest.raises(ValueError, match="WRITEABLE"):
                array.flags.writeable = True
            if np.ptp(channel.values, axis=0).any():
                assert array.strides[0] % 16 == 0 and array.strides[0] > 16
                moving += 1
            else:
                assert array.strides == (0, 4)
                still += 1
    assert moving == (3 if kind == "cubic" else 1) * (JOINTS + 2 * 4) and still > moving / 2


def test_a_view_outlives_its_clip() -> None:
    values = loaded(walker()[0]).clips[0].channels[0].values
    assert values.tolist() == walker()[1]["j0", "translation"][0].tolist()


def test_weights_and_other_lines_stay_one_after_another() -> None:
    keys = np.linspace(0, 1, 5)[:, None]
    smile = skinpy.Clip.from_arrays("smile", fps=10, targets=["a"], weights=keys)
    assert smile.channels[0].values.strides == (4, 4) and smile.nbytes == 5 * 8 + 5 * 4
    calm = skinpy.Clip.from_arrays("calm", fps=10, targets=["a"], weights=keys * 0 + 0.5)
    assert calm.channels[0].values.strides == (0, 4) and calm.nbytes == 5 * 8 + 4
    file = builders.Gltf()
    nodes = [file.node("a"), file.node("b")]
    lines = ([0.0, 1.0, 2.0], [0.0, 0.5, 2.0])  # they are merged where the clip is compiled
    places = np.arange(9.0).reshape(3, 3)
    file.animation(
        "two", *(file.channel(n, "translation", t, places) for n, t in zip(nodes, lines, strict=True))
    )
    clip = loaded(file).clips[0]
    assert [channel.values.strides for channel in clip.channels] == [(12, 4)] * 2
    assert clip.nbytes == 2 * 3 * (8 + 12)


# ---- what it takes ------------------------------------------------------------------------------------


def test_each_byte_is_counted_once(model: skinpy.Model) -> None:
    moving, still = JOINTS + 2 * 4, 2 * (JOINTS - 4)
    frames = moving * (KEYS + 1) * 16  # the last one twice
    assert model.clips[0].nbytes == 8 * KEYS + frames + still * 12
    assert 4 * len(section_of(model.clips[0])) == frames + still * 12


def test_a_clip_takes_half_of_assimps_keys() -> None:
    model = loaded(walker()[0])
    clip = model.clips[0]
    stored = clip.nbytes
    model.palette(clip, 0.3)
    model.palette(clip, np.linspace(0, 2, 20))
    assert clip.nbytes == stored
    assert stored + clip.compiled_nbytes <= 0.5 * JOINTS * KEYS * (2 * VECTOR_KEY + QUATERNION_KEY)


def test_the_compiled_form_shares_the_frames(model: skinpy.Model) -> None:
    clip = model.clips[0]
    model.palette(clip, 0.3)
    if not clip.compiled_nbytes:
        pytest.skip("this processor or this build lacks AVX2")
    assert clip.compiled_nbytes < (JOINTS + 2 * 4) * (KEYS + 1) * 16


# ---- the same numbers ------------------------------------------------------------------------------------


def test_poses_are_those_of_the_twin() -> None:
    model = loaded(walker()[0])
    rig = Rig.of(model)
    for time in (0.0, 0.31, 1.999, 2.0, 2.7):
        wanted = rig.globals(0, time)
        assert np.abs(model.globals(0, time) - wanted).max() <= 1e-6 * max(1.0, np.abs(wanted).max())


def test_clips_are_kept_as_they_are(model: skinpy.Model, tmp_path: Path) -> None:
    clip = model.clips[0]
    model.save(tmp_path / "walker.skn")
    model.save(tmp_path / "walker.glb")
    copies = [
        pickle.loads(pickle.dumps(model)).clips[0],
        pickle.loads(pickle.dumps(clip)),
        skinpy.load(tmp_path / "walker.skn").clips[0],
        skinpy.load(tmp_path / "walker.skn", mmap=True).clips[0],
        skinpy.load(tmp_path / "walker.glb").clips[0],
        model.add_clips(clip, replace=True).clips[0],
    ]
    for copy in copies:
        assert keys_of(copy) == keys_of(clip) and copy.nbytes == clip.nbytes


def test_a_mapped_file_is_sampled_where_it_lies(model: skinpy.Model, tmp_path: Path) -> None:
    model.save(tmp_path / "walker.skn")
    mapped = skinpy.load(tmp_path / "walker.skn", mmap=True)
    times = np.linspace(0, 2, 33)
    assert mapped.palette(0, times).tobytes() == model.palette(0, times).tobytes()


def test_clips_for_other_joints_are_laid_out_anew(model: skinpy.Model) -> None:
    """The same joints in another order: frames are in the order of the model's joints."""
    names = list(model.skeleton.names)
    order = [names[0], *reversed(names[1:])]
    rest = np.tile(np.eye(4), (len(order), 1, 1))
    other = skinpy.Model.from_arrays(
        order,
        [-1] + [0] * (len(order) - 1),
        rest,
        positions=np.eye(3),
        faces=[[0, 1, 2]],
        joints=[[0]] * 3,
        weights=[[1]] * 3,
    )
    moved = other.add_clips(model.clips[0]).clips[0]
    assert moved.nbytes == model.clips[0].nbytes
    assert sorted(keys_of(moved), key=repr) == sorted(keys_of(model.clips[0]), key=repr)
    assert {c.values.strides[0] for c in moved.channels} == {
        c.values.strides[0] for c in model.clips[0].channels
    }


def test_edited_clips_are_packed_too(model: skinpy.Model) -> None:
    clip = model.clips[0]
    for edited in (clip.trim(0.5, 1.5), clip.resample(30)):
        strides = [(c.values.strides[0], bool(np.ptp(c.values, axis=0).any())) for c in edited.channels]
        assert all((stride > 16) == moves and (stride == 0) != moves for stride, moves in strides)


# ---- blocks that lie ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("stride", 3, "cannot be 3 floats apart, in cells"),
        ("stride", 0, "cannot be 0 floats apart, in cells"),
        ("stride", 2**32 - 1, "are outside the block"),
        ("in_cells", 2, "cannot be"),
        ("values", 2**64 - 1, "are outside the block"),
        ("key_count", KEYS - 1, "its cells do not end in 0, or their last frame is not repeated"),
    ],
)
def test_strides_that_lie_are_refused(model: skinpy.Model, field: str, value: int, words: str) -> None:
    data = bytearray(_block.memory(model._block))
    offset, rows, _ = model._block.sections["CHANNELS"]
    channels = np.frombuffer(data, _block.RECORDS["CHANNELS"], rows, offset)
    assert channels["in_cells"][0] == 1
    channels[field][0] = value
    with pytest.raises(skinpy.LoadError, match=f"channel 0: .*{words}"):
        skinpy.load(bytes(data))


def test_still_channels_cannot_have_keys_without_end(model: skinpy.Model) -> None:
    """One line of times for many channels that store one value: what is looked through has a limit."""
    count, times = 40_000, np.arange(10_000.0)
    rows = np.zeros(count, _block.RECORDS["CHANNELS"])
    rows["key_count"] = len(times)
    rows["in_tangents"] = rows["out_tangents"] = _block.NO_ARRAY
    sections = {name: _block.section(model._block, name) for name in model._block.sections}
    clips = sections["CLIPS"].copy()
    clips["channel_count"] = count
    sections |= {"CLIPS": clips, "CHANNELS": rows, "TIMES": times, "VALUES": np.zeros(3 * count, np.float32)}
    with pytest.raises(skinpy.LoadError, match=r"do not move have \d+ keys; at most 268435456"):
        _core.Block.pack(sections, model.mesh.slots.shape[1])
