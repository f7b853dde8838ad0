"""What is measured on one model: every job against every peer that is here, after a check that both sides
compute the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import skinpy
from skinpy import _core

from . import memory
from .assimp_side import Assimp
from .baked import bake, film_times
from .measure import Pair, Work, alternate
from .memory import load_here
from .models import rig_of
from .numpy_side import NumpyModel
from .peers import Peers
from .threads import two_against_one

INSTANCES = 1000
MANY = 5000  # instances for two threads, beside the 1,000
#: What peers may differ by, of the largest number in a palette. UsdSkel keeps scales as half floats.
TOLERANCES = {"NumPy": 1e-5, "numba": 1e-5, "UsdSkel": 1e-3, "three.js": 1e-5, "Momentum": 1e-5}
CYCLES = 400_000  # beside which deform is timed, as the clock changes from one second to the next
BIG = 500_000  # vertices from which a copy of memory is the measure of deform
WIDE = 50_000  # vertices from which deform is measured on two threads


@dataclass
class Bench:
    """One model on its way through the jobs; what is found stands in `pairs`, `facts` and `notes`."""

    model: Any
    peers: Peers
    pairs: dict[str, dict[str, Any]] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)  # peer: why it was left out of this model

    def __post_init__(self) -> None:
        model = self.model
        self.clip = model.clips[0]
        self.film = film_times(self.clip)
        self.middle = int(0.4 * len(self.film))
        self.time = float(self.film[self.middle])
        self.crowd = np.random.default_rng(0).uniform(0, 10, INSTANCES)
        slots = len(model.skin.joints)
        self.single = np.empty((slots, 3, 4), np.float32)
        self.out_film = np.empty((len(self.film), slots, 3, 4), np.float32)
        self.out = np.empty((INSTANCES, slots, 3, 4), np.float32)
        self.theirs = np.empty_like(self.out)
        self.numpy = {
            name: NumpyModel(model).tune(times)
            for name, times in (
                ("one", np.array([self.time])),
                ("film", self.film),
                ("crowd", self.crowd),
            )
        }
        self.numba = self.peers.numba(model) if self.peers.numba else None
        self.usd = self._make_usd()
        self.momentum = self.peers.momentum(model) if self.peers.momentum else None
        self.given = model.pose(self.clip, self.crowd)  # poses whose scales are 1, for Momentum
        self.given.scale = np.ones_like(self.given.scale)
        points = np.empty_like(model.mesh.positions)
        self.points = (points, np.empty_like(points))
        self.palette = model.palette(self.clip, self.time, affine=True)

    def _make_usd(self) -> Any:
        if self.peers.usd is None:
            return None
        try:
            return self.peers.usd(self.model, bake(self.model, self.clip))
        except ValueError as error:
            self.notes["UsdSkel"] = str(error)
            return None

    def add(self, job: str, rival: str, pair: Pair) -> None:
        self.pairs.setdefault(job, {})[rival] = pair.entry()

    def against(self, job: str, ours: Work, rivals: dict[str, Work | None], **options: Any) -> None:
        for rival, theirs in rivals.items():
            if theirs is not None:
                self.add(job, rival, alternate(ours, theirs, **options))

    # -- checks

    def check(self) -> None:
        """Peers give skinpy's palettes and vertices; one that does not is left out of this model, by name."""
        frames = sorted({0, self.middle, len(self.film) - 1})
        times = self.film[frames]
        want = self.model.palette(self.clip, times, affine=True)
        self._compare("NumPy", self.numpy["film"].palette(0, times), want)
        vertices = self.model.deform(self.palette)
        self._compare_vertices("NumPy", self.numpy["one"].deform(self.palette), vertices)
        if self.numba:
            self._compare("numba", self.numba.palette(0, times, np.empty_like(want)), want)
            self._compare("numba", self.numba.pose(0, self.time, np.empty_like(self.single)), self.palette)
            self._compare_vertices("numba", self.numba.deform(self.palette), vertices)
        if self.usd and not self._agrees("UsdSkel", [self.usd.palette(t) for t in times], want):
            self.usd = None
        if self.usd:
            points = self.usd.deform(self.usd.transforms(self.time))
            if not self._agrees("UsdSkel", np.array(points), vertices[0]):
                self.usd = None
        self._check_momentum()
        self._check_three(frames, want)

    def _agrees(self, rival: str, got: Any, want: Any) -> bool:
        """Notes the difference where it is too large."""
        difference = float(np.abs(np.asarray(got) - want).max() / max(np.abs(want).max(), 1e-9))
        if difference <= TOLERANCES[rival]:
            return True
        self.notes[rival] = f"differs by {difference:.1g}, of {TOLERANCES[rival]:g} allowed"
        return False

    def _compare(self, rival: str, got: Any, want: Any) -> None:
        if not self._agrees(rival, got, want):
            raise RuntimeError(f"{rival} and skinpy do not compute the same: {self.notes[rival]}")

    def _compare_vertices(self, rival: str, got: tuple[Any, Any], want: tuple[Any, Any]) -> None:
        """Normals by their median: where a mesh folds up they are of no length, and turn as they like."""
        self._compare(rival, got[0], want[0])
        self._compare(rival, np.float32([np.median(np.abs(got[1] - want[1]))]) + 1, np.float32([1]))

    def _check_momentum(self) -> None:
        """Of the poses that are given: where joints are, and vertices."""
        if self.momentum:
            states = self.momentum.globals(self.momentum.parameters(self.given))
            places = self.given.globals(affine=True)[..., 3]
            matrices = self.momentum.matrices(self.given.palette(affine=True)[0])
            want = self.model.deform(self.given.palette(affine=True)[0])[0]
            if not self._agrees("Momentum", states[..., :3], places) or not self._agrees(
                "Momentum", self.momentum.deform(matrices), want
            ):
                self.momentum = None

    def _check_three(self, frames: list[int], want: Any) -> None:
        """three.js is timed on the same occasion, in its own process."""
        self.three_seconds = 0.0
        if self.peers.three:
            seconds, got = self.peers.three(self.model, self.clip, frames, budget=0.1)
            if self._agrees("three.js", got, want):
                self.three_seconds = seconds

    # -- jobs

    def run(self) -> None:
        self.check()
        self.poses()
        self.crowds()
        self.blends()
        self.given_poses()
        self.order_of_times()
        self.vertices()
        self.threads()
        self.controller()
        self.rates_of_three()
        self.facts["error"] = self.error()

    def poses(self) -> None:
        model, clip, time, single, film = self.model, self.clip, self.time, self.single, self.film
        one, frames = np.array([time]), film.tolist()
        self.against(
            "one pose",
            lambda: model.palette(clip, time, single),
            {
                "NumPy": lambda: self.numpy["one"].palette(0, one),
                "numba": self.numba and (lambda: self.numba.pose(0, time, self.theirs[0])),
                "UsdSkel": self.usd and (lambda: self.usd.transforms(time)),
            },
        )
        theirs = np.empty_like(self.out_film)
        self.against(
            "clip at 60 Hz",
            lambda: model.palette(clip, film, self.out_film),
            {
                "NumPy": lambda: self.numpy["film"].palette(0, film),
                "numba": self.numba and (lambda: self.numba.palette(0, film, theirs)),
                "UsdSkel": self.usd and (lambda: self.usd.film(frames)),
            },
            rounds=7,
        )

    def crowds(self) -> None:
        times = self.crowd
        self.against(
            "crowd of 1,000",
            lambda: self.model.palette(self.clip, times, self.out),
            {
                "NumPy": lambda: self.numpy["crowd"].palette(0, times),
                "numba": self.numba and (lambda: self.numba.palette(0, times, self.theirs)),
                "copy": lambda: np.copyto(self.theirs, self.out),
            },
            rounds=7,
        )

    def blends(self) -> None:
        """Clips by turns where there are fewer than three; a time of its own for every clip."""
        rng = np.random.default_rng(1)
        clips = [c for c in self.model.clips if c.channels][:3]
        for count in (2, 3):
            index = rng.integers(0, len(clips), (INSTANCES, count)).astype(np.int32)
            times = rng.uniform(0, 10, (INSTANCES, count))
            weights = rng.uniform(0.1, 1, (INSTANCES, count))
            weights = (weights / weights.sum(1, keepdims=True)).astype(np.float32)
            self._blend(f"blend of {count}", (clips, index, times, weights))

    def _blend(self, job: str, work: tuple[Any, ...]) -> None:
        clips, index, times, weights = work

        def ours() -> Any:
            return self.model.crowd_palette(clips, index, times, weights=weights, out=self.out)

        numbers = np.array([self.model.clips.names.index(c.name) for c in clips], np.int32)[index]
        few = slice(0, 5)
        want = ours()[few]
        self._compare("NumPy", self.numpy["crowd"].crowd(numbers[few], times[few], weights[few]), want)
        if self.numba:
            self._compare("numba", self.numba.crowd(numbers, times, weights, self.theirs)[few], want)
        self.against(
            job,
            ours,
            {
                "NumPy": lambda: self.numpy["crowd"].crowd(numbers, times, weights),
                "numba": self.numba and (lambda: self.numba.crowd(numbers, times, weights, self.theirs)),
            },
            rounds=5,
        )

    def given_poses(self) -> None:
        """Globals of poses that are there already."""
        if self.momentum:
            parameters = self.momentum.parameters(self.given)
            out = np.empty((INSTANCES, len(self.model.skeleton.names), 3, 4), np.float32)
            rivals = {"Momentum": lambda: self.momentum.globals(parameters)}
            self.against("given poses", lambda: self.given.globals(out), rivals)

    def order_of_times(self) -> None:
        """Random times are timed as ours, the same number in order as the baseline."""
        rng = np.random.default_rng(2)
        random = rng.uniform(0, self.clip.duration, INSTANCES)
        ordered = np.sort(random)
        batch = (lambda: self._batch(random)), (lambda: self._batch(ordered))
        self.add("random batch", "in order", alternate(*batch))
        seeks = [float(t) for t in random[:200]], [float(t) for t in np.arange(200) / 60]
        single = (lambda: self._seek(seeks[0])), (lambda: self._seek(seeks[1]))
        self.add("random poses", "in order", alternate(*single))

    def _batch(self, times: Any) -> None:
        self.model.palette(self.clip, times, self.out)

    def _seek(self, times: list[float]) -> None:
        for time in times:
            self.model.palette(self.clip, time, self.single)

    def vertices(self) -> None:
        palette, count = self.palette, len(self.model.mesh.positions)
        transforms = self.usd.transforms(self.time) if self.usd else None

        def ours() -> None:
            self.model.deform(palette, out=self.points)

        matrices = self.momentum and self.momentum.matrices(self.given.palette(affine=True)[0])
        self.against(
            "deform",
            ours,
            {
                "NumPy": lambda: self.numpy["one"].deform(palette),
                "numba": self.numba and (lambda: self.numba.deform(palette)),
                "UsdSkel": self.usd and (lambda: self.usd.deform(transforms)),
                "Momentum": self.momentum and (lambda: self.momentum.deform(matrices)),
            },
            rounds=7,
        )
        if self.peers.spend_cycles:
            pair = alternate(ours, lambda: self.peers.spend_cycles(CYCLES))
            self.facts["cycles a vertex"] = float(f"{CYCLES / pair.median / count:.4g}")
        if count >= BIG:
            width = self.model.mesh.slots.shape[1]
            moved = count * (24 + 6 * width + 24)  # read: positions, normals, slots, weights; written
            source = np.ones(moved // 2, np.uint8)
            target = np.ones_like(source)
            self.add("big deform", "copy", alternate(ours, lambda: np.copyto(target, source)))
            target, source = (a[: 24 * count] for a in (target, source))
            self.add("big deform", "copy of the result", alternate(ours, lambda: np.copyto(target, source)))

    def threads(self) -> None:
        """Ours on two threads, ours on one."""
        if not hasattr(skinpy, "set_num_threads"):
            return

        many = np.random.default_rng(4).uniform(0, 10, MANY)
        large = np.empty((MANY, *self.out.shape[1:]), np.float32)
        works: dict[str, Work] = {
            "crowd of 1,000 on 2 threads": lambda: self.model.palette(self.clip, self.crowd, self.out),
            "crowd of 5,000 on 2 threads": lambda: self.model.palette(self.clip, many, large),
        }
        if len(self.model.mesh.positions) >= WIDE:
            works["deform on 2 threads"] = lambda: self.model.deform(self.palette, out=self.points)
        for job, work in works.items():
            self.add(job, "1 thread", two_against_one(work))

    def controller(self) -> None:
        """Three layers against samples on the plain path, three and one more for hierarchy and blending."""
        model, clip, controller = self.model, self.clip, skinpy.AnimationController(self.model)
        half = np.linspace(0, 1, len(model.skeleton.names)) > 0.5
        controller.play(clip)
        controller.play(clip, layer="upper", mask=skinpy.Mask.array(half), speed=0.9)
        controller.play(clip, layer="added", additive=True, weight=0.5)
        shown = _core._simd(None)

        def frame() -> None:
            controller.advance(1 / 60)
            controller.palette(self.single)

        def plain() -> None:
            for share in (0.2, 0.4, 0.6, 0.8):
                model.palette(clip, share * clip.duration, self.single)

        before = (lambda: _core._simd(shown)), (lambda: _core._simd("plain"))
        self.add("controller", "four plain palettes", alternate(frame, plain, before=before))
        _core._simd(shown)

    def rates_of_three(self) -> None:
        """Medians of two processes, so one ratio and no rounds."""
        for job, frames in (("one pose", 1), ("clip at 60 Hz", len(self.film))):
            if self.three_seconds:
                ours = self.pairs[job]["NumPy"]["seconds"]
                theirs = self.three_seconds * frames
                self.add(job, "three.js", Pair([theirs / ours], ours, theirs))

    def error(self) -> float:
        """How far 500 vertices in a crowd are off from the float64 twin of the tests, as a part of the larger
        of size and distance from the origin. 1e-6 is promised, for chains of more than 64 joints more in
        proportion; that growth is taken out here."""
        rig = rig_of(self.model)
        rows = np.linspace(0, len(rig.positions) - 1, min(500, len(rig.positions))).astype(int)
        rig.positions, rig.slots, rig.weights = rig.positions[rows], rig.slots[rows], rig.weights[rows]
        rig.normals, worst = None, 0.0
        ours = self.model.palette(self.clip, self.crowd, affine=True)
        for n in range(0, INSTANCES, INSTANCES // 5):
            want, _ = rig.deform(0, float(self.crowd[n]))
            blended = np.einsum("vk,vkij->vij", rig.weights, ours[n].astype(float)[rig.slots])
            got = np.einsum("vij,vj->vi", blended[..., :3], rig.positions) + blended[..., 3]
            reach = rig.reach(rig.globals(0, float(self.crowd[n])), want)
            worst = max(worst, float(np.abs(got - want).max()) / reach)
        return float(f"{worst / max(1.0, rig.depth() / 64):.3g}")


def load_pairs(path: Path) -> dict[str, Any]:
    """Isolated loads against loads in this process; both free the model."""
    # Many rounds: to start a process takes half as long again, or as little, from one second to the next.
    pair = alternate(lambda: skinpy.load(path), lambda: load_here(path), rounds=60, budget=2.0)
    return {"isolated load": {"in this process": pair.entry()}}


def measure_format(path: Path) -> dict[str, Any]:
    """What isolation adds to the load of a model in another format."""
    return {"model": path.name, "pairs": load_pairs(path), "facts": {"file bytes": path.stat().st_size}}


def measure_model(path: Path, origin: str, peers: Peers, assimp: Assimp, tiny: Path) -> dict[str, Any]:
    """One row of the results."""
    model = skinpy.load(path)
    row: dict[str, Any] = {
        "model": path.stem if origin == "generated" else path.name,
        "origin": origin,
        "joints": len(model.skeleton.names),
        "slots": len(model.skin.joints),
        "vertices": len(model.mesh.positions),
        "influences": float(
            f"{(model.mesh.weights > 0).sum(1).mean() if len(model.mesh.weights) else 0:.3g}"
        ),
    }
    load = alternate(lambda: load_here(path), lambda: assimp.load(path), rounds=15, budget=1.0)
    row["pairs"], row["facts"], row["notes"] = {"load": {"Assimp": load.entry()}} | load_pairs(path), {}, {}
    row["facts"]["file bytes"] = path.stat().st_size
    row["facts"]["peak bytes"] = memory.peak("skinpy", tiny, path)
    row["facts"]["Assimp's peak bytes"] = memory.peak("assimp", tiny, path)
    if len(model.clips) and model.clips[0].channels and row["vertices"]:
        bench = Bench(model, peers)
        bench.run()
        row["pairs"] |= bench.pairs
        row["facts"] |= bench.facts | clip_memory(model, assimp, path)
        row["notes"] = bench.notes
    return row


def clip_memory(model: Any, assimp: Assimp, path: Path) -> dict[str, Any]:
    """Bytes of the first clip, stored and compiled (it has been played by now), and of Assimp's keys."""
    clip, keys = model.clips[0], assimp.keys(path)
    found = {"clip bytes": clip.nbytes, "compiled bytes": getattr(clip, "compiled_nbytes", None)}
    if keys and keys[0].bytes:
        found["Assimp's key bytes"] = keys[0].bytes
        found["constant tracks"] = float(f"{keys[0].constant / keys[0].tracks:.3g}")
        found["repeated keys"] = float(f"{keys[0].repeated / keys[0].bytes:.3g}")
    return found


def measure_lines(triplets: Iterator[tuple[str, tuple[bytes, bytes, bytes]]]) -> list[dict[str, Any]]:
    """Clips whose channels have their own times against one with a common line: our time over our time."""
    rows = []
    for name, files in triplets:
        shared, copies, parts = (skinpy.load(data, format="glb") for data in files)
        row: dict[str, Any] = {"model": name, "joints": len(shared.skeleton.names), "pairs": {}}
        for case, model in (("copies", copies), ("parts", parts)):
            row["pairs"][f"{case}: batch"] = {"one line": _crowd_pair(model, shared).entry()}
            row["pairs"][f"{case}: one pose"] = {"one line": _pose_pair(model, shared).entry()}
            row[f"{case}: bytes"] = model.clips[0].nbytes + getattr(model.clips[0], "compiled_nbytes", 0)
        rows.append(row)
    return rows


def _crowd_pair(own: Any, shared: Any) -> Pair:
    times = np.random.default_rng(0).uniform(0, 10, INSTANCES)

    def batch(model: Any) -> Callable[[], Any]:
        out = np.empty((INSTANCES, len(model.skin.joints), 3, 4), np.float32)
        clip = model.clips[0]
        return lambda: model.palette(clip, times, out)

    return alternate(batch(own), batch(shared))


def _pose_pair(own: Any, shared: Any) -> Pair:
    def pose(model: Any) -> Callable[[], Any]:
        out = np.empty((len(model.skin.joints), 3, 4), np.float32)
        clip = model.clips[0]
        time = 0.4 * clip.duration
        return lambda: model.palette(clip, time, out)

    return alternate(pose(own), pose(shared))
