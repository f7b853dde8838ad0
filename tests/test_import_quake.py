"""Frames of .md3 and of Quake's .mdl, one by one and all of them.

The truth is NumPy from the formats of id Software (Quake III, 1999; Quake, 1996). Assimp gives the first
frame alone, whichever is asked for.
"""

import struct
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_import import codes, entry, load
from test_import_iqm import Z_UP

import skinpy
from skinpy.kinds import VertexAnimation

Array = Any
EXACT = 1e-6
CORNERS = np.array([[0, 0, 0], [4, 0, 0], [0, 4, 0], [4, 4, 1]], float)
FACES = [(0, 1, 2), (1, 3, 2)]
FRAMES = np.stack([CORNERS * scale + (0, 0, 2 * i) for i, scale in enumerate((1, 2, 1, 3))])
NORMAL = 64, 0  # down and around, of 255: a quarter turn from up


def md3(frames: Array = FRAMES, surfaces: int = 1) -> bytes:
    """Surfaces with the same vertices."""
    count = len(frames)
    names = b"".join(struct.pack("<10f16s", *[0] * 10, f"f{i}".encode()) for i in range(count))
    shader = struct.pack("<64sI", b"red", 0)
    triangles = b"".join(struct.pack("<3I", *face) for face in FACES)
    uvs = np.zeros((len(CORNERS), 2), "<f4").tobytes()
    rows = b"".join(
        struct.pack("<3h2B", *np.round(point * 64).astype(int).tolist(), *NORMAL)
        for frame in frames
        for point in frame
    )
    at = np.cumsum([108, len(shader), len(triangles), len(uvs), len(rows)]).tolist()
    head = struct.pack("<4s64sI4I", b"IDP3", b"thing", 0, count, 1, len(CORNERS), len(FACES))
    surface = head + struct.pack("<5I", at[1], at[0], at[2], at[3], at[4]) + shader + triangles + uvs + rows
    start = 108 + len(names)
    places = (108, start, start, start + surfaces * len(surface))
    header = struct.pack("<4sI64si8I", b"IDP3", 15, b"thing", 0, count, 0, surfaces, 0, *places)
    return header + names + surface * surfaces + bytes(16)


def simple(frame: Array) -> bytes:
    points = b"".join(struct.pack("<4B", *np.round(point / 0.5).astype(int).tolist(), 0) for point in frame)
    return struct.pack("<8B16s", *[0] * 8, b"frame") + points


def mdl(frames: Array = FRAMES, group: int = 0, images: int = 1) -> bytes:
    """`group`: so many poses in each frame, of which the first is the frame's; images: those of a skin."""
    counts = (1, 4, 4, len(CORNERS), len(FACES), len(frames))
    head = struct.pack("<4si3f3ff3f6i2if", b"IDPO", 6, *[0.5] * 3, *[0.0] * 3, 10, 0, 0, 0, *counts, 0, 0, 1)
    skin = struct.pack("<i", 0) + bytes(16)
    if images > 1:
        skin = struct.pack(f"<ii{images}f", 1, images, *range(images)) + bytes(16 * images)
    body = struct.pack("<3i", 0, 1, 1) * len(CORNERS)
    body += b"".join(struct.pack("<4i", 1, *face) for face in FACES)
    for frame in frames:
        poses = [simple(frame)] + [simple(frame * 0)] * (group - 1)
        if group:
            body += struct.pack(f"<ii8B{group}f", 1, group, *[0] * 8, *range(group)) + b"".join(poses)
        else:
            body += struct.pack("<i", 0) + poses[0]
    return head + skin + body + bytes(64)


FILES = {"md3": md3, "mdl": mdl}


def shown(model: Any) -> Array:
    """Positions of the corners of the first two triangles, in their order."""
    positions = model.deform(model.pose(), normals=False)[0]
    return positions[model.mesh.faces[:2]].reshape(-1, 3)


def same(got: Array, frame: Array) -> bool:
    """Whether these are the corners of all faces, however each begins and turns."""
    want = frame[np.ravel(FACES)] @ Z_UP.T
    return all(
        np.allclose(sorted(a.tolist()), sorted(b.tolist()), atol=EXACT)
        for a, b in zip(np.reshape(got, (2, 3, 3)), want.reshape(2, 3, 3), strict=True)
    )


@pytest.mark.parametrize("format", FILES)
def test_each_frame(format: str) -> None:
    for number, frame in enumerate(FRAMES):
        model = load(FILES[format](), format, frame=number, allow_formats=(format,))
        assert same(shown(model), frame)
        assert "morph_targets_dropped" not in codes(model)
    first = load(FILES[format](), format, allow_formats=(format,))
    assert same(shown(first), FRAMES[0])
    assert entry(first, "morph_targets_dropped").count == len(FRAMES) - 1


@pytest.mark.parametrize("format", FILES)
def test_all_frames(format: str, tmp_path: Path) -> None:
    path = tmp_path / f"knight.{format}"
    path.write_bytes(FILES[format]())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", skinpy.SkinpyWarning)
        stored = VertexAnimation.load(path, allow_formats=(format,))
    assert len(stored) == len(FRAMES) and stored.name == "knight"
    assert stored.duration == pytest.approx((len(FRAMES) - 1) / 10)
    for number, frame in enumerate(FRAMES):
        positions = stored.sample(number / 10)[0]
        assert same(positions[stored.model.mesh.faces].reshape(-1, 3), frame)
    with pytest.raises(skinpy.FormatRefused, match=f'allow_formats=.*"{format}"'):
        VertexAnimation.load(path)


def test_normals() -> None:
    """Those of .md3 are two angles; for .mdl smooth ones are made."""
    got = load(md3(), "md3", frame=1, allow_formats=("md3",)).mesh.normals
    down = NORMAL[0] * 2 * np.pi / 255
    assert np.allclose(got, (np.sin(down), 0, np.cos(down)), atol=1e-5)
    flat = np.stack([CORNERS * (1, 1, 0)] * 2)
    got = load(mdl(flat), "mdl", frame=1, allow_formats=("mdl",)).mesh.normals
    assert np.allclose(got, (0, 0, -1), atol=1e-5)  # front faces are clockwise


@pytest.mark.parametrize("file", [mdl(group=3), mdl(images=2), mdl(group=1, images=3)])
def test_groups_of_mdl(file: bytes) -> None:
    """Frames of several poses, and skins of several images."""
    assert same(shown(load(file, "mdl", frame=3, allow_formats=("mdl",))), FRAMES[3])


def test_surfaces_of_md3() -> None:
    model = load(md3(surfaces=3), "md3", frame=2, allow_formats=("md3",))
    assert len(model.mesh.submeshes) == 3 and same(shown(model), FRAMES[2])


@pytest.mark.parametrize("format", FILES)
def test_frames_that_are_not_there(format: str) -> None:
    with pytest.raises(
        skinpy.LoadError, match=r"there is no frame 4; the file has 4|requested frame is not existing"
    ):
        load(FILES[format](), format, frame=4, allow_formats=(format,))


@pytest.mark.parametrize("format", FILES)
def test_files_that_are_cut_or_contradict_themselves(format: str) -> None:
    whole = FILES[format]()
    at = 100 if format == "md3" else 60
    cases = [whole[: len(whole) // 2], whole[:100]]
    cases += [whole[:at] + struct.pack("<I", value) + whole[at + 4 :] for value in (0, 2**31 - 1, 2**32 - 1)]
    for data in cases:
        with pytest.raises((skinpy.LoadError, skinpy.LimitExceeded)):
            load(data, format, frame=3, allow_formats=(format,))


def test_other_formats_called_mdl_store_no_frames(tmp_path: Path) -> None:
    path = tmp_path / "life.mdl"
    path.write_bytes(b"IDST" + bytes(400))
    with pytest.raises(skinpy.LoadError, match="no number before its extension"):
        VertexAnimation.load(path, allow_formats=("mdl",))
