"""Models from open files: what `skinpy.load` does with anything that has read()."""

from __future__ import annotations

import io
import mmap
import zipfile
from pathlib import Path
from typing import Any

import pytest

import skinpy
from skinpy import LimitExceeded, Limits, LoadError

CRANE = Path(skinpy.__file__).parent / "data" / "crane.glb"
OBJ = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"


class Reader:
    """Any object with read(), in small pieces, as sockets give them."""

    def __init__(self, data: Any, name: Any = None, piece: int = 1000) -> None:
        self.data, self.piece, self.name = data, piece, name

    def read(self, size: int = -1) -> Any:
        most = min(self.piece, size) if size >= 0 else self.piece
        part, self.data = self.data[:most], self.data[most:]
        return part


def same(model: skinpy.Model, other: skinpy.Model) -> bool:
    return bytes(model._block) == bytes(other._block)


def test_every_kind_of_open_file(tmp_path: Path) -> None:
    wanted = skinpy.load(CRANE)
    data = CRANE.read_bytes()
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("folder/crane.glb", data)
    with (
        CRANE.open("rb") as buffered,
        CRANE.open("rb", buffering=0) as raw,
        zipfile.ZipFile(tmp_path / "a.zip") as archive,
        archive.open("folder/crane.glb") as member,
    ):
        files: list[Any] = [buffered, raw, member, io.BytesIO(data), Reader(data), Reader(data, 3)]
        for file in files:
            assert same(skinpy.load(file), wanted)
            assert file.read() == b""  # it is read to its end, and left open


def test_a_file_is_read_from_its_position() -> None:
    file = io.BytesIO(b"header" + CRANE.read_bytes())
    file.seek(6)
    assert same(skinpy.load(file), skinpy.load(CRANE))


def test_a_saved_model(tmp_path: Path) -> None:
    skinpy.crane().save(tmp_path / "a.skn")
    with (tmp_path / "a.skn").open("rb") as file:
        assert skinpy.load(file).clips.names == skinpy.crane().clips.names


def test_the_name_selects_the_format() -> None:
    """As that of a path does; without a suffix that tells it, the content decides."""
    for name in ("folder/A.OBJ", "a", "a.unknown", "", 5, None, b"a.obj"):
        assert len(skinpy.load(Reader(OBJ, name)).mesh.faces) == 1
    assert len(skinpy.load(Reader(OBJ, "a.glb"), format="obj").mesh.faces) == 1
    with pytest.raises(LoadError, match=r"^a\.glb: "):
        skinpy.load(Reader(OBJ, "a.glb"))
    assert same(skinpy.load(Reader(CRANE.read_bytes(), "crane.download")), skinpy.load(CRANE))
    with pytest.raises(LoadError):  # a format that is not allowed is not selected either
        skinpy.load(Reader(OBJ, "a.obj"), allow_formats=["glb"])


def test_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.obj").write_bytes(OBJ)
    words = "path_or_bytes is a file in text mode"
    with (tmp_path / "a.obj").open() as file, pytest.raises(TypeError, match=words):
        skinpy.load(file)  # type: ignore[arg-type]
    for wrong in (io.StringIO("v 0 0 0"), Reader("text")):
        with pytest.raises(TypeError, match="text mode; expected one that was opened in binary mode"):
            skinpy.load(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"read\(\) that returns list; expected bytes"):
        skinpy.load(Reader([1, 2, 3]))


def test_a_file_that_never_ends() -> None:
    """No more is read than a limit allows."""
    with open("/dev/zero", "rb") as endless, pytest.raises(LimitExceeded, match="file_bytes"):
        skinpy.load(endless, limits=Limits(file_bytes=1 << 20))
    data = CRANE.read_bytes()
    assert same(skinpy.load(Reader(data), limits=Limits(file_bytes=len(data))), skinpy.load(CRANE))
    with pytest.raises(LimitExceeded, match="file_bytes"):
        skinpy.load(Reader(data), limits=Limits(file_bytes=len(data) - 1))


def test_what_fails_while_it_is_read() -> None:
    file = CRANE.open("rb")
    file.close()
    with pytest.raises(ValueError, match="closed file"):
        skinpy.load(file)
    with pytest.raises(LoadError, match="bytes are empty"):
        skinpy.load(io.BytesIO())


def test_a_mapped_file_is_bytes() -> None:
    """It has read() too, but nothing of it needs to be copied."""
    with CRANE.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        data.seek(100)
        assert same(skinpy.load(data), skinpy.load(CRANE)) and data.tell() == 100
