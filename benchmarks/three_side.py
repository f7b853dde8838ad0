"""three.js in node: a rate from a process of its own, as JavaScript cannot be called from here.

It plays the clip's own keys, but cubic channels, which three.js by itself does not have, baked at 60 frames a
second: AnimationMixer, world matrices, bone matrices.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from .baked import RATE, film_times, frames

FOLDER = os.environ.get("SKINPY_NODE_MODULES", "")
PATHS = ("translation", "rotation", "scale")
EARLY = 1e-6  # seconds: three.js keeps key times in float32, and a step is to have come when its time comes


def missing() -> str:
    """Why three.js cannot be measured here; "" where it can."""
    if not shutil.which("node"):
        return "no node on PATH"
    if not FOLDER:
        return "SKINPY_NODE_MODULES is not set; it names the folder in whose node_modules three stands"
    if not (Path(FOLDER) / "node_modules" / "three").is_dir():
        return "SKINPY_NODE_MODULES names a folder without node_modules/three"
    return ""


def version() -> str:
    package = json.loads((Path(FOLDER) / "node_modules" / "three" / "package.json").read_text())
    node = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    return f"{package['version']} in node {node.strip()}"


def play(model: Any, clip: Any, check: list[int], budget: float) -> tuple[float, Any]:
    """Seconds of one frame at 60 Hz (median), and (n, S, 3, 4) palettes of the frames in `check`."""
    script = Path(__file__).with_suffix(".mjs")
    done = subprocess.run(
        ["node", str(script), FOLDER],
        input=json.dumps(scene(model, clip, check, budget)),
        capture_output=True,
        text=True,
        check=True,
    )
    answer = json.loads(done.stdout)
    matrices = np.array(answer["found"]).reshape(len(check), -1, 4, 4).swapaxes(-1, -2)
    return float(answer["seconds"]), matrices[:, :, :3]


def scene(model: Any, clip: Any, check: list[int], budget: float) -> dict[str, Any]:
    s, baked = model.skeleton, frames(model, clip, film_times(clip))
    nodes = []
    for j, parent in enumerate(np.asarray(s.parents)):
        node: dict[str, Any] = {"parent": int(parent)}
        if baked.moved[j]:
            node |= {p: np.asarray(getattr(s, p))[j].tolist() for p in PATHS}
        else:
            node["matrix"] = np.asarray(s.rest_local)[j].T.ravel().tolist()
        nodes.append(node)
    tracks = []
    for channel in clip.channels:
        if channel.path not in PATHS:
            continue
        times, values = np.asarray(channel.times), np.asarray(channel.values)
        if channel.interpolation == "cubic" and len(times) > 1:
            times, values = baked.times, getattr(baked, channel.path)[:, channel.joint]
        step = channel.interpolation == "step"
        times = np.maximum(times - EARLY, 0) if step else times
        tracks.append([channel.joint, channel.path, times.tolist(), values.ravel().tolist(), step])
    slots = [
        [int(j), m.T.ravel().tolist()]
        for j, m in zip(model.skin.joints, np.asarray(model.skin.inverse_bind), strict=True)
    ]
    return {
        "nodes": nodes,
        "tracks": tracks,
        "slots": slots,
        "duration": clip.duration + 1.0,  # so that no frame wraps
        "rate": RATE,
        "frames": len(baked.times),
        "check": check,
        "budget": budget,
    }
