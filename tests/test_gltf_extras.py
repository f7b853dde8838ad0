"""Events and root motion in the extras of a glTF's animations: written, read back, and distrusted."""

import json
import math
import struct
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import skinpy
from skinpy.clips.events import Motion

KEYS = [[0, 0, 0, 0, 0, 0, 0, 1], [0.7, 1, 0.1, -3, 0, 0.6, 0, 0.8]]


def two_clips() -> skinpy.Model:
    """A joint with two clips of 0.7 s, which float32 does not have; the second with events."""
    clips = [
        skinpy.Clip.from_arrays(name, times=[0, 0.7], joints=["a"], translation=np.zeros((2, 1, 3)))
        for name in ("plain", "full")
    ]
    rows = np.array(KEYS)
    clips[1] = clips[1].add_event(0.7, "end").add_event(0.1, 'ü "1"')
    clips[1] = clips[1]._with(motion=Motion(rows[:, 0], rows[:, 1:].astype(np.float32)))
    corners: dict[str, Any] = {"positions": np.eye(3), "joints": [[0]] * 3, "weights": [[1]] * 3}
    return skinpy.Model.from_arrays(["a"], [-1], np.eye(4)[None], faces=[[0, 1, 2]], clips=clips, **corners)


def document_of(path: Path) -> tuple[dict[str, Any], bytes]:
    """The JSON of a .glb, and the chunk behind it."""
    data = path.read_bytes()
    size = struct.unpack_from("<I", data, 12)[0]
    document: dict[str, Any] = json.loads(data[20 : 20 + size])
    return document, data[20 + size :]


def loaded(path: Path, extras: Any) -> skinpy.Model:
    """The model of `path` with other extras in its second animation."""
    document, rest = document_of(path)
    document["animations"][1]["extras"] = extras
    text = json.dumps(document).replace("Infinity", "1e999").encode()
    text += b" " * (-len(text) % 4)
    head = struct.pack("<4sIIII", b"glTF", 2, 20 + len(text) + len(rest), len(text), 0x4E4F534A)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", skinpy.SkinpyWarning)
        return skinpy.load(head + text + rest, format="glb")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    two_clips().save(tmp_path / "model.glb")
    return tmp_path / "model.glb"


def test_they_come_back(path: Path) -> None:
    plain, full = skinpy.load(path).clips
    assert plain.events == () and plain._motion is None
    assert [event.name for event in full.events] == ['ü "1"', "end"]
    assert full.events[0].time == 0.1 and full.events[1].time == full.duration
    assert full.duration == pytest.approx(0.7, abs=1e-7)
    assert full._motion is not None
    # The last key is the clip's end, which a glTF has in float32.
    np.testing.assert_array_equal(full._motion.times, [0, full.duration])
    np.testing.assert_array_equal(full._motion.values, np.array(KEYS, np.float32)[:, 1:])


def test_where_they_stand(path: Path) -> None:
    document, _ = document_of(path)
    plain, full = document["animations"]
    assert "extras" not in plain
    own = full["extras"]["skinpy"]
    assert own["events"][0] == {"time": 0.1, "name": 'ü "1"'}
    assert own["rootMotion"] == [KEYS[0], pytest.approx(KEYS[1])]


def test_additive_clips_are_left_out(tmp_path: Path) -> None:
    model = two_clips()
    more = model.add_clips(model.clips["full"].additive(), names=None)
    with pytest.warns(skinpy.SkinpyWarning, match=r"additive clips; left out: 'full\.2'"):
        more.save(tmp_path / "model.glb")
    assert skinpy.load(tmp_path / "model.glb").clips.names == ("plain", "full")


@pytest.mark.parametrize(
    "extras",
    [3, "skinpy", [], {}, {"skinpy": 3}, {"skinpy": []}, {"skinpy": {"events": {}, "rootMotion": "x"}},
     {"skinpy": {"events": [], "rootMotion": []}}, {"other": {"events": [{"time": 0, "name": "x"}]}}],
)  # fmt: skip
def test_what_is_of_others_is_passed_over(path: Path, extras: Any) -> None:
    model = loaded(path, extras)
    assert model.clips[1].events == () and model.clips[1]._motion is None
    assert not len(model.report)


@pytest.mark.parametrize(
    "event",
    [{}, 3, {"name": "x"}, {"time": 0.1}, {"time": -0.1, "name": "x"}, {"time": 0.71, "name": "x"},
     {"time": "0.1", "name": "x"}, {"time": 0.1, "name": 3}, {"time": 1e999, "name": "x"},
     {"time": 0.01, "name": "too early for its place"}],
)  # fmt: skip
def test_bad_events_are_left_out(path: Path, event: Any) -> None:
    good = {"time": 0.05, "name": "good"}
    model = loaded(path, {"skinpy": {"events": [good, event, good]}})
    assert model.clips[1].events == (skinpy.Event(0.05, "good"),) * 2
    (entry,) = model.report
    assert (entry.code, entry.severity, entry.count) == ("clip_extras_dropped", "lost", 1)
    assert "an event" in entry.first and "full" in entry.first


@pytest.mark.parametrize(
    "rows",
    [[3], [[]], [KEYS[0][:7]], [[*KEYS[0], 0]], [KEYS[1], KEYS[0]], [KEYS[0], KEYS[0]],
     [[0, 0, 0, 0, 0, 0, 0, 1.1]], [[0, 0, 0, 0, 0, 0, 0, 0]], [[0, 1e39, 0, 0, 0, 0, 0, 1]],
     [KEYS[0], [math.inf, 0, 0, 0, 0, 0, 0, 1]], [[0, "1", 0, 0, 0, 0, 0, 1]]],
)  # fmt: skip
def test_bad_root_motion_is_left_out(path: Path, rows: Any) -> None:
    model = loaded(path, {"skinpy": {"events": [{"time": 0, "name": "x"}], "rootMotion": rows}})
    assert model.clips[1]._motion is None and model.clips[1].events == (skinpy.Event(0.0, "x"),)
    (entry,) = model.report
    assert entry.code == "clip_extras_dropped" and "root motion" in entry.first
