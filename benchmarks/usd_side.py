"""UsdSkel of usd-core: a skeleton, an animation (baked.py), skinned points; one thread.

The queries are made once, as UsdSkel's documentation asks, and the stage lies in memory. A joint may have one
slot, as a UsdSkel skeleton has one bind transform a joint.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pxr import Gf, Usd, UsdGeom, UsdSkel, Vt

from .baked import RATE, Baked


class UsdModel:
    """A loaded model and one baked clip of it on a stage."""

    def __init__(self, model: Any, baked: Baked) -> None:
        self.slots = np.asarray(model.skin.joints)
        if len(set(self.slots.tolist())) < len(self.slots):
            raise ValueError("a joint has two slots, and a UsdSkel joint has one bind transform")
        self.stage = Usd.Stage.CreateInMemory()
        self.stage.SetTimeCodesPerSecond(RATE)
        UsdSkel.Root.Define(self.stage, "/model")
        names = _joint_names(np.asarray(model.skeleton.parents))
        skeleton = self._skeleton(model, names)
        self._animation(skeleton, names, baked)
        binding, self.points = self._mesh(model, skeleton)
        self.cache = UsdSkel.Cache()  # the queries live as long as it does
        self.query = self.cache.GetSkelQuery(skeleton)
        self.skinning = self.cache.GetSkinningQuery(binding)
        self.cache.Populate(UsdSkel.Root.Get(self.stage, "/model"), Usd.TraverseInstanceProxies())
        self.skinning = self.cache.GetSkinningQuery(binding)

    def _skeleton(self, model: Any, names: list[str]) -> Any:
        skeleton = UsdSkel.Skeleton.Define(self.stage, "/model/skeleton")
        bind = np.tile(np.eye(4), (len(names), 1, 1))
        bind[self.slots] = np.linalg.inv(np.asarray(model.skin.inverse_bind, float))
        skeleton.CreateJointsAttr(names)
        skeleton.CreateBindTransformsAttr(_matrices(bind))
        skeleton.CreateRestTransformsAttr(_matrices(np.asarray(model.skeleton.rest_local, float)))
        return skeleton

    def _animation(self, skeleton: Any, names: list[str], baked: Baked) -> None:
        """Of the joints that move: with the others, too, a sheared rest matrix would be lost."""
        animation = UsdSkel.Animation.Define(self.stage, "/model/clip")
        rows = np.flatnonzero(baked.moved)
        animation.CreateJointsAttr([names[j] for j in rows])
        translations, rotations, scales = (
            animation.CreateTranslationsAttr(),
            animation.CreateRotationsAttr(),
            animation.CreateScalesAttr(),
        )
        for frame, time in enumerate(baked.times):
            at = Usd.TimeCode(time * RATE)
            translations.Set(_vectors(baked.translation[frame, rows]), at)
            rotations.Set(Vt.QuatfArray([Gf.Quatf(*map(float, q)) for q in _w_first(baked, frame, rows)]), at)
            scales.Set(Vt.Vec3hArray([Gf.Vec3h(*map(float, s)) for s in baked.scale[frame, rows]]), at)
        UsdSkel.BindingAPI.Apply(skeleton.GetPrim()).CreateAnimationSourceRel().SetTargets(
            [animation.GetPath()]
        )

    def _mesh(self, model: Any, skeleton: Any) -> tuple[Any, Any]:
        mesh = UsdGeom.Mesh.Define(self.stage, "/model/mesh")
        points = _vectors(model.mesh.positions)
        mesh.CreatePointsAttr(points)
        slots, weights = np.asarray(model.mesh.slots), np.asarray(model.mesh.weights, np.float32)
        used = max(1, int((weights > 0).any(0).sum()))  # columns that no vertex uses are left out
        binding = UsdSkel.BindingAPI.Apply(mesh.GetPrim())
        binding.CreateSkeletonRel().SetTargets([skeleton.GetPath()])
        indices = binding.CreateJointIndicesPrimvar(False, used)
        indices.Set(Vt.IntArray.FromNumpy(self.slots[slots[:, :used]].astype(np.int32).ravel()))
        shares = binding.CreateJointWeightsPrimvar(False, used)
        shares.Set(Vt.FloatArray.FromNumpy(np.ascontiguousarray(weights[:, :used]).ravel()))
        binding.CreateGeomBindTransformAttr(Gf.Matrix4d(1))
        return mesh.GetPrim(), points

    def transforms(self, time: float) -> Any:
        """Skinning transforms of every joint, as UsdSkel gives them: doubles for row vectors."""
        return self.query.ComputeSkinningTransforms(time * RATE)

    def film(self, times: list[float]) -> None:
        """Many times one after another; UsdSkel has no call for them."""
        for time in times:
            self.query.ComputeSkinningTransforms(time * RATE)

    def palette(self, time: float) -> Any:
        """(S, 3, 4), to be compared."""
        return np.array(self.transforms(time)).swapaxes(-1, -2)[self.slots][:, :3]

    def deform(self, transforms: Any) -> Any:
        """Skinned positions. UsdSkel skins in place, so it gets the rest points, copied when written to."""
        points = Vt.Vec3fArray(self.points)
        self.skinning.ComputeSkinnedPoints(transforms, points, Usd.TimeCode(0))
        return points


def _joint_names(parents: Any) -> list[str]:
    """Paths such as "j0/j3/j4", which is how UsdSkel says who the parent is."""
    names: list[str] = []
    for j, parent in enumerate(parents):
        names.append(f"{names[parent]}/j{j}" if parent >= 0 else f"j{j}")
    return names


def _matrices(m: Any) -> Any:
    """(n, 4, 4) for column vectors -> doubles for row vectors."""
    return Vt.Matrix4dArray.FromNumpy(np.ascontiguousarray(m.swapaxes(-1, -2)))


def _vectors(v: Any) -> Any:
    return Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(v, np.float32))


def _w_first(baked: Baked, frame: int, rows: Any) -> Any:
    return baked.rotation[frame, rows][:, [3, 0, 1, 2]]
