"""Real files against what independent engines compute for them (the shared test data's goldens).

Run as a program (`python tests/test_goldens.py`) this prints the largest error of every golden. A tolerance
here is the one that the data's README and the specification give; an error above it is a bug of ours.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from twin import GltfFile

import skinpy

# Relative to the model's size, over all times.
TIGHT = 1e-5  # glTF, BVH, .x, and FBX and DAE on their keys: float32 files and engines with float64 inside
MD5 = 1e-4  # the text format holds 9 digits and rebuilds w of every quaternion from x, y, z
LOOSE_KEYS = 3e-4  # SimpleSkin: key quaternions rounded to 3 digits, so engines differ in how they normalize
BLENDER_DAE = 1e-5  # on keys Blender's own evaluation of all influences agrees with the file to 2e-6


@dataclass
class Golden:
    """One .npz and the model it speaks of."""

    name: str
    values: dict[str, Any]
    model: Any
    path: Path
    size: float

    def clips(self) -> list[tuple[int, Any]]:
        """(number in the golden, clip of the model)."""
        return [(q, self.model.clips[int(i)]) for q, i in enumerate(self.values["clip_index"])]


def open_golden(data: Path, name: str, file: str, **options: Any) -> Golden:
    path = data / "models" / file
    with np.load(data / "goldens" / f"{name}.npz") as z:
        values = {key: z[key] for key in z.files}
    with warnings.catch_warnings():  # what is lost here (textures, vertex frames) is no matter of these tests
        warnings.simplefilter("ignore", skinpy.SkinpyWarning)
        model = skinpy.load(path, **options)
    return Golden(name, values, model, path, float(values["size"]))


# ---------------------------------------------------------------------------------------------- measures


def matrix_error(got: Any, want: Any, size: float, unit: float = 1.0) -> float:
    """The larger of the translation's error in sizes and the 3x3's error in its own largest entry or `unit`.

    A node with scale 100 above a mesh of size 0.02 has entries of 100: what their error does to a point is
    relative to the entries, not to the model's size.
    """
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    if not got.size:
        return 0.0
    linear = np.abs(got - want)[..., :3, :3].max() / max(unit, float(np.abs(want[..., :3, :3]).max()))
    return float(max(np.abs(got - want)[..., :3, 3].max() / size, linear))


def set_distance(a: Any, b: Any) -> float:
    """Largest distance from a point of either set to the nearest of the other."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    d = (a * a).sum(1)[:, None] + (b * b).sum(1)[None, :] - 2 * a @ b.T
    near = [np.linalg.norm(a - b[d.argmin(1)], axis=1), np.linalg.norm(b - a[d.argmin(0)], axis=1)]
    return float(max(n.max() for n in near))


def used_vertices(model: Any) -> Any:
    return np.unique(model.mesh.faces)


def on_keys(golden: Golden, q: int) -> Any:
    """Times at which every curve has a key: only there FBX and DAE engines have to agree."""
    return np.flatnonzero(golden.values.get(f"c{q}_on_key", np.ones(len(golden.values[f"c{q}_tau"]))))


# ---------------------------------------------------------------------------------------------- glTF


def gltf_joints(golden: Golden) -> dict[int, int]:
    """Row of the golden's nodes -> joint, by the node's place in the file, whatever its name."""
    order = GltfFile(golden.path).order()
    assert len(order) == len(golden.model.skeleton.names)
    return {row: order.index(int(i)) for row, i in enumerate(golden.values["node_gltf"]) if i >= 0}


def measure_gltf(golden: Golden) -> dict[str, float]:
    """Largest errors over all clips and times; of node matrices, palettes and positions in sizes."""
    model, z, size = golden.model, golden.values, golden.size
    truth, rows = GltfFile(golden.path), gltf_joints(golden)
    error = dict.fromkeys(("globals", "palette", "positions", "normals", "weights", "duration"), 0.0)
    # loose keys: the engines agree to 1.4e-4 sizes in all entries, the 3x3's too
    unit = size if golden.name in LOOSE else 1.0
    for q, clip in golden.clips():
        assert clip.name == truth.motions[int(z["clip_index"][q])].name
        error["duration"] = max(error["duration"], abs(clip.duration - float(z["clip_duration"][q])))
        times = z[f"c{q}_t"]
        globals_ = model.globals(clip, times)
        got, want = globals_[:, list(rows.values())], z[f"c{q}_globals"][:, list(rows)]
        error["globals"] = max(error["globals"], matrix_error(got, want, size, unit))
        palettes, weights = model.palette(clip, times), model.pose(clip, times).morph_weights
        positions, normals = model.deform(palettes, morph_weights=weights)
        for m, vertices in enumerate(parts(golden, rows)):
            assert np.array_equal(model.mesh.positions[vertices], z[f"m{m}_rest"])
            if f"c{q}_m{m}_morphw" in z:
                own = [i for i, t in enumerate(model.targets) if t.node == rows[int(z["mesh_node"][m])]]
                difference = np.abs(weights[:, own] - z[f"c{q}_m{m}_morphw"])
                error["weights"] = max(error["weights"], float(difference.max()))
            got, want = positions[:, vertices], z[f"c{q}_m{m}_pos"]
            error["positions"] = max(error["positions"], float(np.abs(got - want).max()) / size)
            if f"m{m}_ibm" in z:
                error["palette"] = max(error["palette"], palette_error(golden, q, m, palettes, rows, unit))
            if f"c{q}_m{m}_nrm" in z:
                where = uniform_vertices(model, palettes, vertices)
                wanted = z[f"c{q}_m{m}_nrm"]
                error["normals"] = max(error["normals"], angle(normals[:, vertices], wanted, where))
    return error


def parts(golden: Golden, rows: dict[int, int]) -> list[Any]:
    """The model's vertices of every mesh of the golden."""
    out = []
    for node, primitive in zip(golden.values["mesh_node"], golden.values["mesh_prim"], strict=True):
        own = [s for s in golden.model.mesh.submeshes if s.node == rows[int(node)]]
        out.append(
            np.arange(golden.model.mesh.positions.shape[0])[to_slice(own[int(primitive)].vertex_range)]
        )
    return out


def to_slice(r: range) -> slice:
    return slice(r.start, r.stop)


def palette_error(golden: Golden, q: int, m: int, palettes: Any, rows: dict[int, int], unit: float) -> float:
    """Every (joint, inverse bind) of the file that vertices use has a slot, with the engine's matrix."""
    z, model, worst, found = golden.values, golden.model, 0.0, 0
    for i, node in enumerate(z[f"m{m}_joint"]):
        near = np.abs(model.skin.inverse_bind - z[f"m{m}_ibm"][i]).max((1, 2)) < 1e-5 * golden.size
        slots = np.flatnonzero((model.skin.joints == rows[int(node)]) & near)
        if len(slots):
            found += 1
            want = z[f"c{q}_m{m}_palette"][:, i]
            worst = max(worst, matrix_error(palettes[:, slots[0]], want, golden.size, unit))
    assert found >= len(np.unique(model.mesh.slots[model.mesh.weights > 0]))
    return worst


def uniform_vertices(model: Any, palettes: Any, vertices: Any) -> Any:
    """(T, v): where the blended 3x3 is a rotation times one scale, so both formulas for normals agree."""
    slots, weights = model.mesh.slots[vertices], np.asarray(model.mesh.weights[vertices], np.float64)
    blended = np.einsum("vk,tvkij->tvij", weights, palettes[:, slots].astype(np.float64))[..., :3, :3]
    gram = np.einsum("...ji,...jk->...ik", blended, blended)
    scale = np.trace(gram, axis1=-2, axis2=-1)[..., None, None] / 3
    return np.abs(gram - scale * np.eye(3)).max((-1, -2)) < 1e-5 * scale[..., 0, 0]


def angle(got: Any, want: Any, where: Any) -> float:
    """Largest difference of unit normals where the comparison holds; it has to hold somewhere."""
    assert where.any()
    return float(np.abs(np.asarray(got, np.float64) - want).max(-1)[where].max())


LOOSE = {"SimpleSkin"}
GLTF = {
    "Fox": ("Fox.glb", TIGHT),
    "RiggedFigure": ("RiggedFigure.glb", TIGHT),
    "SimpleSkin": ("SimpleSkin.gltf", LOOSE_KEYS),
    "interpolation_test": ("interpolation_test.gltf", TIGHT),
    "BoxAnimated": ("BoxAnimated.glb", TIGHT),
    "AnimatedMorphCube": ("AnimatedMorphCube.gltf", TIGHT),
    "SimpleMorph": ("SimpleMorph.gltf", TIGHT),
}


@pytest.mark.parametrize("name", GLTF)
def test_gltf(shared_data: Path, name: str) -> None:
    file, tolerance = GLTF[name]
    error = measure_gltf(open_golden(shared_data, name, file))
    assert max(error[k] for k in ("globals", "palette", "positions")) <= tolerance, error
    # unit vectors: float32 through a few products of matrices; half a degree would be 1e-2
    assert error["normals"] <= 2e-5, error
    assert error["weights"] <= 1e-6, error  # float32 between 0 and 1
    assert error["duration"] <= 1e-9, error  # the last key's float32 seconds


@pytest.mark.parametrize("name", GLTF)
def test_gltf_against_the_reader(shared_data: Path, name: str) -> None:
    """All clips at many times, in and out of the loop, against the file read with json and NumPy."""
    golden = open_golden(shared_data, name, GLTF[name][0])
    model, truth = golden.model, GltfFile(golden.path)
    order = truth.order()
    rng = np.random.default_rng(1)
    for q, motion in enumerate(truth.motions):
        times = rng.uniform(-2, 3, 20) * motion.duration
        got = model.globals(q, times)
        for i, t in enumerate(times):
            want = np.array([np.eye(4) if n < 0 else truth.globals(q, t)[n] for n in order])
            size = max(1.0, float(np.abs(want).max()))
            assert np.abs(got[i] - want).max() <= TIGHT * size, (motion.name, t)


# ---------------------------------------------------------------------------------------------- COLLADA


def named_joints(golden: Golden, skip: tuple[str, ...] = ()) -> dict[int, int]:
    """Row of the golden's nodes -> joint, by name; what has no namesake must be listed in `skip`."""
    names = list(golden.model.skeleton.names)
    rows = {}
    for row, name in enumerate(golden.values["node_name"].tolist()):
        if name in skip:
            continue
        assert names.count(name) >= 1, f"{name!r} is not among {names}"
        rows[row] = names.index(name)
    return rows


def named_globals_error(golden: Golden, q: int, clip: Any, rows: dict[int, int], keys: Any) -> float:
    got = golden.model.globals(clip, golden.values[f"c{q}_tau"][keys])[:, list(rows.values())]
    return matrix_error(got, golden.values[f"c{q}_globals"][keys][:, list(rows)], golden.size)


def measure_sets(golden: Golden, clip: Any, times: Any, want: Any) -> float:
    """Largest set distance in sizes of the vertices that faces use."""
    used = used_vertices(golden.model)
    positions, _ = golden.model.deform(golden.model.pose(clip, times), normals=False)
    pairs = zip(positions[:, used], want, strict=True)
    return max((set_distance(a, b) for a, b in pairs), default=0.0) / golden.size


def measure_dae(data: Path, name: str, file: str) -> dict[str, float]:
    error = {}
    for influences, key in ((4, "c0_m0_pos"), (8, "c0_blender_pos")):
        golden = open_golden(data, name, file, max_influences=influences)
        keys = on_keys(golden, 0)
        clip = golden.model.clips[0]
        times = golden.values["c0_t"][keys]
        rows = named_joints(golden, skip=("Scene",))
        error["globals"] = named_globals_error(golden, 0, clip, rows, keys)
        error[f"positions, {influences} influences"] = measure_sets(
            golden, clip, times, golden.values[key][keys]
        )
    return error


@pytest.mark.parametrize("name", ["RiggedFigure", "box_nested_animation"])
def test_dae(shared_data: Path, name: str) -> None:
    error = measure_dae(shared_data, f"{name}_dae", f"{name}.dae")
    assert max(error.values()) <= max(TIGHT, BLENDER_DAE), error


# ---------------------------------------------------------------------------------------------- FBX


FBX = {
    "huesitos": "huesitos.fbx",
    "maya_game_sausage": "maya_game_sausage.fbx",
    "maya_game_sausage.clip1": "maya_game_sausage.fbx",
    "maya_blend_shape_cube": "maya_blend_shape_cube.fbx",  # its two blend shapes have keys at different times
}


def measure_fbx(data: Path, name: str) -> dict[str, float]:
    golden = open_golden(data, name, FBX[name])
    z, clip = golden.values, golden.model.clips[int(golden.values["clip_index"][0])]
    assert clip.name == str(z["clip_name"][0])
    keys = on_keys(golden, 0)
    rows = named_joints(golden, skip=("",))
    error = {
        "globals": named_globals_error(golden, 0, clip, rows, keys),
        "duration": abs(clip.duration - float(z["clip_duration"][0])),
    }
    error["positions"] = measure_sets(golden, clip, z["c0_t"][keys], z["c0_pos"][keys])
    for key in (k for k in z if k.startswith("obj") and k.endswith("_pos")):
        frame = z[key.replace("_pos", "_tau")][None]  # what the authoring program itself exported
        error[key] = measure_sets(golden, clip, frame, z[key][None])
    return error


@pytest.mark.parametrize("name", FBX)
def test_fbx(shared_data: Path, name: str) -> None:
    error = measure_fbx(shared_data, name)
    # the stack's stored range counts, not the last key; it is stored to 2e-11 s
    assert error.pop("duration") <= 1e-6
    assert max(error.values()) <= TIGHT, error


# ---------------------------------------------------------------------------------------------- the others


def measure_bvh(data: Path) -> dict[str, float]:
    golden = open_golden(data, "sinusoidal_bvh", "sinusoidal.bvh")
    z, model, clip = golden.values, golden.model, golden.model.clips[0]
    rows = named_joints(golden, skip=("__scene",))
    positions = model.joint_positions(clip, z["c0_t"])[:, list(rows.values())]
    blender = z["c0_blender_origin"][:, list(rows)]
    got = model.globals(clip, z["c0_t"])[:, list(rows.values())]
    return {
        "globals": matrix_error(got, z["c0_globals"][:, list(rows)], golden.size),
        "joint positions": float(np.nanmax(np.abs(positions - blender))) / golden.size,
        "duration": abs(clip.duration - float(z["clip_duration"][0])),
    }


def test_bvh(shared_data: Path) -> None:
    error = measure_bvh(shared_data)
    # "Frame Time: 0.0166667" has six digits and stands for 1/60: engines round 119 frames differently
    assert error.pop("duration") <= 5e-6
    assert max(error.values()) <= TIGHT, error
    model = open_golden(shared_data, "sinusoidal_bvh", "sinusoidal.bvh").model
    assert model.mesh.positions.shape == (0, 3) and len(model.skin.joints) == 0


def measure_x(data: Path) -> dict[str, float]:
    golden = open_golden(data, "BCN_Epileptic_x", "BCN_Epileptic.X")
    z, clip = golden.values, golden.model.clips[0]
    rows = named_joints(golden)
    everything = np.arange(len(z["c0_tau"]))
    return {
        "globals": named_globals_error(golden, 0, clip, rows, everything),
        # both sides are mirrored from the left-handed file: z -> -z
        "positions": measure_sets(golden, clip, z["c0_tau"], z["c0_pos"]),
    }


def test_x(shared_data: Path) -> None:
    error = measure_x(shared_data)
    assert max(error.values()) <= TIGHT, error


def measure_md5(data: Path) -> dict[str, float]:
    golden = open_golden(data, "RiggedFigure_md5", "RiggedFigure.md5mesh")
    z, model, clip = golden.values, golden.model, golden.model.clips[0]
    # the converter called the skin's joint number i "J{i}"
    joints = [model.skeleton.index(f"J{i}") for i in range(len(z["m0_joint"]))]
    got, want = model.globals(clip, z["c0_t"])[:, joints], z["c0_globals"][:, z["m0_joint"]]
    return {
        "joint positions": float(np.abs(got - want)[..., :3, 3].max()) / golden.size,
        "rotations": float(np.abs(got - want)[..., :3, :3].max()),
        "positions": measure_sets(golden, clip, z["c0_t"], z["c0_m0_pos"]),
        "duration": abs(clip.duration - float(z["clip_duration"][0])),
    }


def test_md5(shared_data: Path) -> None:
    error = measure_md5(shared_data)
    assert error.pop("duration") <= 1e-6
    assert max(error.values()) <= MD5, error


def measure_md2(data: Path) -> dict[str, float]:
    golden = open_golden(data, "faerie_md2", "faerie.md2")
    model = golden.model
    z_up_to_y_up = np.array([[1, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]])
    first = np.asarray(golden.values["frames"][0], np.float64) @ z_up_to_y_up[:3, :3].T
    used = used_vertices(model)
    positions, _ = model.deform(model.pose(), normals=False)
    named = np.unique(golden.values["tri"])
    return {
        "globals": matrix_error(model.globals(None, 0.0)[0], z_up_to_y_up, golden.size),
        "first frame": set_distance(positions[used], first[named]) / golden.size,
    }


def test_md2(shared_data: Path) -> None:
    """The root turns the file's Z up to Y up; the mesh is the first frame."""
    error = measure_md2(shared_data)
    assert max(error.values()) <= TIGHT, error


def test_every_golden_is_used(shared_data: Path) -> None:
    known = {*GLTF, *FBX, "RiggedFigure_dae", "box_nested_animation_dae"}
    known |= {"sinusoidal_bvh", "BCN_Epileptic_x", "RiggedFigure_md5", "faerie_md2"}
    assert {p.stem for p in (shared_data / "goldens").glob("*.npz")} == known


# ---------------------------------------------------------------------------------------------- the table


def report(data: Path) -> None:
    rows: dict[str, dict[str, float]] = {
        n: measure_gltf(open_golden(data, n, f)) for n, (f, _) in GLTF.items()
    }
    for name in ("RiggedFigure", "box_nested_animation"):
        rows[f"{name}.dae"] = measure_dae(data, f"{name}_dae", f"{name}.dae")
    rows |= {name: measure_fbx(data, name) for name in FBX}
    rows |= {
        "bvh": measure_bvh(data),
        "x": measure_x(data),
        "md5": measure_md5(data),
        "md2": measure_md2(data),
    }
    for name, error in rows.items():
        print(f"{name:24}", ", ".join(f"{k} {v:.1e}" for k, v in error.items()))


if __name__ == "__main__":
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    report(Path(os.environ.get("SKINPY_DATA") or default))
