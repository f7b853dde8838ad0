"""Deep trees where this process has next to no stack: nothing of it calls itself once for each level."""

import resource
import subprocess
import sys
from pathlib import Path

import builders
import make_hostile
import pytest
from conftest import HANGS

STACK = 256 << 10  # bytes, as of `ulimit -s 256`
JOINTS = 8_000  # each level of a recursion takes 48 bytes at least
LEVELS = 5_000  # of the BVH, each of which Assimp's reader calls itself for

PROGRAM = """
import resource, sys
assert resource.getrlimit(resource.RLIMIT_STACK)[0] == {stack}
import numpy as np
import skinpy
deep, bvh, saved = sys.argv[1:]
model = skinpy.load(deep, limits=skinpy.Limits(seconds=200))
assert len(model.skeleton.names) >= {joints}
for clip in (None, *model.clips):
    assert np.isfinite(model.palette(clip, [0.0, 0.1])).all()
    model.pose(clip, 0.1).palette(), model.joint_positions(clip, 0.1), model.globals(clip, 0.1)
model.deform(model.palette(None, 0.0))
model.check()
model.save(saved)
again = skinpy.load(saved)
assert bytes(memoryview(again._block)) == bytes(memoryview(model._block))
assert again.skeleton.parents.tolist() == model.skeleton.parents.tolist()
other = skinpy.load(bvh, limits=skinpy.Limits(seconds=200))
assert len(other.skeleton.names) >= {levels}
other.palette(None, 0.0), other.check()
print("done")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of the stack is set as on Linux")
def test_deep_trees_with_a_stack_of_256_kib(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("deep.glb", "deep.bvh", "saved.skn")]
    paths[0].write_bytes(builders.chain(JOINTS, step=0.001).glb())
    paths[1].write_bytes(make_hostile.deep_bvh(LEVELS))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(stack=STACK, joints=JOINTS, levels=LEVELS), *paths],
        capture_output=True,
        text=True,
        timeout=HANGS,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (STACK, STACK)),
    )
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    assert done.stdout == "done\n"
