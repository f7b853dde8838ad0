"""Files above 1 MiB: Assimp reads them from their descriptor, in whatever pieces it likes."""

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import import_cases as cases
import numpy as np
import opened_files
import pytest
from test_import import load

import skinpy

SIDE = 200  # points along each side of a grid: 40,000 in all
LARGE = 1 << 20


def grid() -> tuple[Any, Any]:
    """Points on a wavy sheet, three decimals each, and two triangles for each cell."""
    u, v = np.meshgrid(np.arange(SIDE), np.arange(SIDE), indexing="ij")
    points = np.stack([u, v, 3.0 * np.sin(u / 7.0) * np.cos(v / 5.0)], -1).reshape(-1, 3).round(3)
    a = (u * SIDE + v)[:-1, :-1].reshape(-1)
    b, c, d = a + 1, a + SIDE, a + SIDE + 1
    return points, np.concatenate([np.stack([a, c, b], 1), np.stack([b, c, d], 1)])


def rows(form: str, values: Any) -> str:
    return "\n".join(form.format(*row) for row in values.tolist())


def obj_text() -> bytes:
    points, faces = grid()
    return (rows("v {:.3f} {:.3f} {:.3f}", points) + "\n" + rows("f {} {} {}", faces + 1) + "\n").encode()


def ply_text() -> bytes:
    points, faces = grid()
    head = f"ply\nformat ascii 1.0\nelement vertex {len(points)}\n"
    head += "".join(f"property float {axis}\n" for axis in "xyz")
    head += f"element face {len(faces)}\nproperty list uchar int vertex_indices\nend_header\n"
    return (head + rows("{:.3f} {:.3f} {:.3f}", points) + "\n" + rows("3 {} {} {}", faces) + "\n").encode()


def stl_bytes() -> bytes:
    points, faces = grid()
    record = np.zeros(len(faces), [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")])
    record["normal"] = (0.0, 0.0, 1.0)
    record["corners"] = points[faces]
    return bytes(80) + np.uint32(len(faces)).tobytes() + record.tobytes()


def dae_text() -> bytes:
    """The nodes stand behind a comment longer than what is read at first."""
    text = cases.dae(nodes='<node id="Rig_Arm" name="arm"/><node id="Rig_Hand" name="hand"/>')
    at = text.index(b"<library_visual_scenes")
    return text[:at] + b"<!-- " + b"- " * LARGE + b"-->" + text[at:]


FILES = {"obj": obj_text, "ply": ply_text, "stl": stl_bytes, "dae": dae_text}


@pytest.mark.parametrize("kind", FILES)
def test_path_and_bytes_give_the_same(tmp_path: Path, kind: str) -> None:
    """Bytes lie in memory whole; the same file under a path must not differ from them in a bit."""
    data = FILES[kind]()
    assert len(data) > LARGE
    path = tmp_path / f"model.{kind}"  # as bytes are called: OBJ names its mesh after the file
    path.write_bytes(data)
    from_path, from_bytes = load(path), skinpy.load(data, format=kind)
    assert bytes(memoryview(from_path._block)) == bytes(memoryview(from_bytes._block))


@pytest.mark.parametrize("join", [True, False])
@pytest.mark.parametrize("kind", FILES)
def test_both_processes_give_the_same(tmp_path: Path, kind: str, join: bool) -> None:
    path = tmp_path / f"model.{kind}"
    path.write_bytes(FILES[kind]())
    apart = load(path, join_vertices=join)
    here = load(path, join_vertices=join, isolate=False, allow_formats=[kind])
    assert bytes(memoryview(apart._block)) == bytes(memoryview(here._block))
    corners = 6 * (SIDE - 1) ** 2  # each face has its own in these two
    assert kind not in ("obj", "stl") or len(apart.mesh.positions) == (SIDE * SIDE if join else corners)


def test_all_curves_of_a_large_obj_file_are_counted(tmp_path: Path) -> None:
    """It is read in windows of 8,192 bytes, which end within lines of 13 bytes."""
    path = tmp_path / "model.obj"
    path.write_bytes(obj_text() + b"curv 0 1 1 2\n" * 5000)
    (entry,) = (entry for entry in load(path).report if entry.code == "geometry_ignored")
    assert entry.count == 5000


def test_rigid_parts_are_joined_each_for_itself(tmp_path: Path) -> None:
    """Their influences are made when all of them are joined."""
    points, faces = grid()
    pieces = np.array_split(faces, 3)
    text = [rows("v {:.3f} {:.3f} {:.3f}", points)]
    text += [f"o piece{i}\n" + rows("f {} {} {}", piece + 1) for i, piece in enumerate(pieces)]
    path = tmp_path / "model.obj"
    path.write_text("\n".join(text))
    apart, here = load(path), load(path, isolate=False)
    assert bytes(memoryview(apart._block)) == bytes(memoryview(here._block))
    mesh = apart.mesh
    assert [len(part.vertex_range) for part in mesh.submeshes] == [len(np.unique(piece)) for piece in pieces]
    assert len({part.node for part in mesh.submeshes}) == 3
    for part in mesh.submeshes:
        own = slice(part.vertex_range.start, part.vertex_range.stop)
        assert (apart.skin.joints[mesh.slots[own, 0]] == part.node).all()
        assert (mesh.weights[own] == [1.0, 0.0, 0.0, 0.0]).all()


@pytest.mark.parametrize("make", [obj_text, ply_text, stl_bytes])
def test_every_point_arrives(tmp_path: Path, make: Callable[[], bytes]) -> None:
    """Against the grid itself; decimals come within one unit in the last place of float32, at most 200."""
    kind = make.__name__.split("_")[0]
    (tmp_path / f"large.{kind}").write_bytes(make())
    mesh = load(tmp_path / f"large.{kind}").mesh
    points, faces = grid()
    assert len(mesh.positions) == len(points)
    assert np.abs(mesh.positions[mesh.faces] - points[faces]).max() <= 200 * 2.0**-23


def test_names_behind_the_head(tmp_path: Path) -> None:
    """What the importer reads itself, it reads to the end."""
    (tmp_path / "large.dae").write_bytes(dae_text())
    assert load(tmp_path / "large.dae").skeleton.names[-2:] == ("arm", "hand")


def test_no_descriptor_stays_open(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.obj", tmp_path / "bad.fbx"
    good.write_bytes(obj_text())
    bad.write_bytes(b"Kaydara FBX Binary  \0\x1a\0" + bytes(2 * LARGE))
    load(good)
    gc.collect()  # what other tests left open in circles must not go meanwhile
    before = len(opened_files.open_files())
    load(good)
    with pytest.raises(skinpy.LoadError):
        load(bad)
    assert len(opened_files.open_files()) == before
