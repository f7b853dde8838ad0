"""Text and files that hold data: nested text is refused by one clear error, and nothing is read that does not
belong to a file, or is larger than the file."""

import io
import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import builders
import numpy as np
import pytest

import skinpy
from skinpy import BakedTexture, LoadError, StateMachine
from skinpy.playing.recording import Recording

READERS: dict[str, Callable[[Any], Any]] = {
    "StateMachine.from_json": StateMachine.from_json,
    "Recording.from_json": Recording.from_json,
}

NESTED = [
    "[" * 100_000,
    "[" * 100_000 + "]" * 100_000,
    '{"a":' * 100_000,
    '{"a":' * 50_000 + "1" + "}" * 50_000,
    "[" * 900 + "]" * 900,
    "[" * 101 + "]" * 101,
    '[{"a":' * 60 + "1" + "}]" * 60,
]


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("text", NESTED, ids=range(len(NESTED)))
def test_nested_text(reader: str, text: str) -> None:
    with pytest.raises(ValueError, match=r"^text is '.*expected JSON") as raised:
        READERS[reader](text)
    assert len(str(raised.value)) < 250


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "1",
        "[NaN]",
        '{"a":Infinity}',
        "1" * 5000,
        "[[]]",
        '[[["play"],[],{}]]',
        "\0",
        '[["set",[],{}]]',
        '[["player",[],{"player":1}]]',
        "[1e999]",
        '{"start":"a","states":{"a":{"space":{"kind":"' + "1d" * 5000 + '"}}}}',
        '{"start":"a","states":{"a":{"space":{"kind":"1d","' + "x" * 5000 + '":1}}}}',
    ],
)
def test_text_that_is_no_such_data(reader: str, text: str) -> None:
    with pytest.raises((ValueError, TypeError, KeyError)) as raised:
        READERS[reader](text)
    assert len(str(raised.value)) < 350


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("value", [None, 1, [], {}, 1.5])
def test_what_is_no_text(reader: str, value: Any) -> None:
    with pytest.raises(TypeError, match=r"^text is .*; expected str or bytes of JSON"):
        READERS[reader](value)


def test_a_file_of_a_nested_state_machine(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[" * 100_000)
    with pytest.raises(ValueError, match="expected JSON that is nested at most 100 deep"):
        StateMachine.load(tmp_path / "a.json")


@pytest.mark.parametrize(
    "data", [{}, [], 3, None, "x", {"asset": {"version": "2.0"}}, {"start": "a", "states": {}}], ids=str
)
def test_a_file_of_other_json_is_named(data: object, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(data))
    with pytest.raises((KeyError, TypeError, ValueError)) as raised:
        StateMachine.load(path)
    words = raised.value.args[0]
    assert words.startswith("the file '") and "a.json' holds no state machine: " in words
    assert words.count("a.json") == 1


@pytest.mark.parametrize("kind", ["device", "pipe"])
def test_what_may_never_end_is_not_read(kind: str, tmp_path: Path) -> None:
    """/dev/zero has no end, and would fill the memory; a pipe that nobody writes to has no beginning."""
    path = tmp_path / "a.json"
    path.symlink_to("/dev/zero") if kind == "device" else os.mkfifo(path)
    one: dict[str, Any] = {
        "rest": [np.eye(4)],
        "positions": np.eye(3),
        "faces": [[0, 1, 2]],
        "uvs": np.zeros((3, 2)),
    }
    for read in (
        lambda: StateMachine.load(path),
        lambda: BakedTexture.load(path, skinpy.crane()),
        lambda: skinpy.Model.from_arrays(
            ["a"], [-1], joints=[[0]] * 3, weights=[[1]] * 3, texture=path, **one
        ),
    ):
        with pytest.raises(ValueError, match=r"a pipe or a device; expected a regular file"):
            read()
    with pytest.raises(skinpy.LoadError, match="it is not a regular file"):
        skinpy.load(path)


def test_nested_data_of_a_glb(tmp_path: Path) -> None:
    """What the importer takes can be read, saved and cut into pieces, at the usual limit of recursion."""

    def nested(depth: int) -> Any:
        value: Any = 1
        for _ in range(depth):
            value = {"a": value}
        return value

    for depth in (120, 200):
        file = builders.chain(3)
        file.nodes[0]["extras"] = nested(depth)
        file.materials.append({"extensions": {"KHR_materials_unlit": nested(depth)}})
        data = file.glb()
        if depth > 128:
            with pytest.raises(LoadError, match="nested more than 128 deep"):
                skinpy.load(data, format="glb")
            continue
        model = skinpy.load(data, format="glb")
        assert model.skeleton.extras[0] == nested(depth)
        assert model.materials
        model.save(tmp_path / "a.glb")
        assert skinpy.load(tmp_path / "a.glb").skeleton.extras[0] == nested(depth)
        assert model.as_rigid().skeleton.extras[0] == nested(depth)


# ---- .npz files -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def baked() -> BakedTexture:
    return skinpy.crane().bake_texture(fps=5)


@pytest.fixture
def entries(baked: BakedTexture, tmp_path: Path) -> dict[str, Any]:
    baked.save(tmp_path / "good.npz")
    with np.load(tmp_path / "good.npz") as archive:
        return {name: archive[name] for name in archive.files}


def refused(path: Path, words: str) -> None:
    with pytest.raises(LoadError, match=f"holds no baked texture: .*{words}"):
        BakedTexture.load(path, skinpy.crane())


def test_it_comes_back(baked: BakedTexture, tmp_path: Path) -> None:
    baked.save(tmp_path / "a.npz")
    again = BakedTexture.load(tmp_path / "a.npz", skinpy.crane())
    np.testing.assert_array_equal(again.data, baked.data)
    assert again.clips == baked.clips


def test_unknown_missing_and_doubled_entries(entries: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, **entries, more=np.zeros(3))
    refused(path, "its entries are .*more.*; expected data, slots")
    np.savez(path, **{name: entry for name, entry in entries.items() if name != "row"})
    refused(path, "its entries are")
    np.savez(path, **entries)
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("row.npy", b"")
    refused(path, "its entries are")


def test_each_clip_needs_all_of_its_numbers(entries: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, **entries | {"fps": np.append(entries["fps"], 30.0)})
    refused(path, "its clips have 3 name, 3 row, 3 frames, 4 fps")
    np.savez(path, **entries | {"ticks_per_second": np.full(3, np.nan)})
    refused(path, "has nan ticks per second")


def test_entries_are_not_unpacked(entries: dict[str, Any], tmp_path: Path) -> None:
    """A file of some kilobytes may stand for gigabytes; save stores without compression."""
    path = tmp_path / "a.npz"
    np.savez_compressed(path, **(entries | {"data": np.zeros((1000, 1000, 4), np.float32)}))
    assert path.stat().st_size < 100_000
    refused(path, "is compressed")


def npy(shape: Any, descr: str, data: bytes = b"") -> bytes:
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(out, {"shape": shape, "fortran_order": False, "descr": descr})
    return out.getvalue() + data


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("data", npy((2**20, 2**20, 4), "<f4"), "'data' has shape"),
        ("data", npy((2**62, 2**62, 4), "<f4"), "'data' has shape"),
        ("data", npy((0, -1, -4), "<f4"), ""),
        ("data", npy((1, 1, 4), "|O", b"cos\nsystem\n(S'echo'\ntR." + bytes(32)), "'data' has shape"),
        ("data", npy((4,), "<f4", bytes(16)), "'data' has shape"),
        ("data", npy((1, 1, 4), "<f8", bytes(32)), "its data have shape"),
        ("row", npy((10**9,), "<i8"), "'row' has shape"),
        ("name", npy((3,), "<U1000000000"), ""),
        ("name", npy((1,), "<U1", b"\xff\xff\xff\xff"), ""),
        ("slots", npy((), "<U1", b"a\0\0\0"), "'slots' has shape"),
        ("slots", b"\x93NUMPY\x09\x00" + bytes(64), "another version"),
        ("slots", b"no array", ""),
        ("slots", b"", ""),
        ("slots", b"\x93NUMPY\x01\x00\xff\xff" + b"[" * 0xFFFF, ""),
    ],
)
def test_headers_are_checked_before_anything_is_read(
    name: str, content: bytes, words: str, entries: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, **{other: entry for other, entry in entries.items() if other != name})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(f"{name}.npy", content)
    refused(path, words)


def test_files_of_other_kinds(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    for content in (b"", b"PK\x03\x04", b"\x93NUMPY", json.dumps([1]).encode()):
        path.write_bytes(content)
        refused(path, "")
