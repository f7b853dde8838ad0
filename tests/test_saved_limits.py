"""What a saved model may take while it is loaded: no more than its file, within the limit of file_bytes."""

import os
from pathlib import Path

import numpy as np
import pytest

import skinpy
from skinpy import _block, _core


def put_sparse(path: Path, size: int) -> Path:
    """A file that begins as a saved model does, and then has nothing in it."""
    path.write_bytes(_block.MAGIC)
    os.truncate(path, size)
    return path


@pytest.mark.parametrize("name", ["a.skn", "a.glb", "a.obj", "a"])
def test_a_large_file_that_begins_as_a_saved_model(tmp_path: Path, name: str) -> None:
    """By whatever name: the limit of the importer is no reason to read it as a saved one."""
    path = put_sparse(tmp_path / name, 1 << 40)
    with pytest.raises(skinpy.LimitExceeded, match="file_bytes") as error:
        skinpy.load(path)
    assert str(path) in str(error.value)
    put_sparse(path, 5000)
    with pytest.raises(skinpy.LimitExceeded, match="the limit of file_bytes is 4999"):
        skinpy.load(path, limits=skinpy.Limits(file_bytes=4999))
    with pytest.raises(skinpy.LoadError) as broken:
        skinpy.load(path)
    assert type(broken.value) is skinpy.LoadError


def test_a_saved_model_in_bytes(tmp_path: Path) -> None:
    skinpy.character().save(tmp_path / "a.skn")
    data = (tmp_path / "a.skn").read_bytes()
    with pytest.raises(
        skinpy.LimitExceeded, match=f"file_bytes is {len(data) - 1}; allow it with .*={len(data)}"
    ):
        skinpy.load(data, limits=skinpy.Limits(file_bytes=len(data) - 1))
    assert skinpy.load(data, limits=skinpy.Limits(file_bytes=len(data))).skeleton.names


def test_a_saved_model_under_another_name(tmp_path: Path) -> None:
    skinpy.character().save(tmp_path / "a.skn")
    os.rename(tmp_path / "a.skn", tmp_path / "a.glb")
    assert np.array_equal(skinpy.load(tmp_path / "a.glb").palette(0, 0.3), skinpy.character().palette(0, 0.3))


def test_names_that_share_a_long_text(tmp_path: Path) -> None:
    """A small block must not become gigabytes of strings."""
    model = skinpy.character()
    sections = {name: np.array(_block.section(model._block, name)) for name in model._block.sections}
    long = len(sections["TEXT"])
    sections["TEXT"] = np.concatenate([sections["TEXT"], np.full(8 << 20, ord("a"), np.uint8)])
    for count, fits in ((8, True), (20, False)):
        sections["JOINT_NAMES"][:count]["offset"] = long
        sections["JOINT_NAMES"][:count]["length"] = 8 << 20
        if fits:
            _block.pack(sections, int(sections["INFO"]["influences"][0]))
            continue
        with pytest.raises(skinpy.LoadError, match=r"the strings have \d+ bytes together; at most \d+ are"):
            _block.pack(sections, int(sections["INFO"]["influences"][0]))


def test_a_block_is_read_from_an_open_file(tmp_path: Path) -> None:
    skinpy.character().save(tmp_path / "a.skn")
    data = (tmp_path / "a.skn").read_bytes()
    with open(tmp_path / "a.skn", "rb", buffering=0) as file:
        assert bytes(memoryview(_core.Block.read(file.fileno(), len(data)))) == data  # type: ignore[arg-type]
        with pytest.raises(skinpy.LoadError):  # the file is at its end
            _core.Block.read(file.fileno(), len(data))
        file.seek(0)
        assert _core.Block.read(file.fileno(), 10 * len(data)).nbytes == len(data)
        with pytest.raises(ValueError, match="size is -1; expected 0 or more"):
            _core.Block.read(file.fileno(), -1)
    with pytest.raises(OSError, match="Bad file descriptor"):
        _core.Block.read(-1, 100)
    with pytest.raises(MemoryError):
        _core.Block.read(0, 2**62)
