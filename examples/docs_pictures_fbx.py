"""Draws the picture of docs/fbx.md: one curve of an FBX file, and the keys with which skinpy plays it.

    python examples/docs_pictures_fbx.py [-o docs/images]

Needs the extra `plot`. Only what everybody can call is used here.
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import skinpy

Array = NDArray[np.float64]

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images"
SECOND = 46_186_158_000  # FBX's units of time
CUBIC, WEIGHTED, STEP, LINEAR = 0x408, 0x3000408, 0x2, 0x4

#: Time, value, what follows, slope to the right, left slope of the next key, weights of both tangents.
KEYS = (
    (0.0, 0.0, CUBIC, 0.0, 9.0, 1 / 3, 1 / 3),
    (0.8, 2.0, WEIGHTED, 9.0, 0.0, 0.55, 0.9),
    (1.8, 1.0, STEP, 0.0, 0.0, 1 / 3, 1 / 3),
    (2.2, 2.4, LINEAR, 0.0, 0.0, 1 / 3, 1 / 3),
    (2.7, 0.6, LINEAR, 0.0, 0.0, 1 / 3, 1 / 3),
)
INK, AUTHOR, LINES, OURS = "#2b3440", "#2b3440", "#d1495b", "#1f77b4"


def numbers(name: str, values: NDArray[np.generic] | list[float]) -> str:
    listed = [str(value) for value in np.asarray(values).ravel().tolist()]
    return f"{name}: *{len(listed)} {{\n a: {','.join(listed)}\n}}\n"


def file_of_the_curve() -> bytes:
    """An FBX file, as text, of one node that the curve moves along X."""
    attributes = np.array([(key[3], key[4], 0, 0) for key in KEYS], np.float32)
    weights = [round(key[5] * 1e4) | round(key[6] * 1e4) << 16 for key in KEYS]
    attributes.view(np.int32)[:, 2] = weights
    curve = numbers("KeyTime", [round(key[0] * SECOND) for key in KEYS])
    curve += numbers("KeyValueFloat", [key[1] for key in KEYS])
    curve += numbers("KeyAttrFlags", [key[2] for key in KEYS])
    curve += numbers("KeyAttrDataFloat", attributes.view(np.int32))
    curve += numbers("KeyAttrRefCount", np.ones(len(KEYS), int))
    return f"""; FBX 7.4.0 project file
FBXHeaderExtension: {{
 FBXHeaderVersion: 1003
 FBXVersion: 7400
}}
Objects: {{
Model: 1, "Model::ball", "Null" {{
}}
AnimationStack: 2, "AnimStack::roll", "" {{
}}
AnimationLayer: 3, "AnimLayer::base", "" {{
}}
AnimationCurveNode: 4, "AnimCurveNode::T", "" {{
}}
AnimationCurve: 5, "AnimCurve::", "" {{
{curve}}}
}}
Connections: {{
 C: "OO",1,0
 C: "OO",3,2
 C: "OO",4,3
 C: "OP",4,1, "Lcl Translation"
 C: "OP",5,4, "d|X"
}}
""".encode()


def bezier(points: tuple[float, float, float, float], s: Array) -> Array:
    a, b, c, d = points
    return (1 - s) ** 3 * a + 3 * s * (1 - s) ** 2 * b + 3 * s**2 * (1 - s) * c + s**3 * d


def author(times: Array) -> Array:
    """The curve by FBX's own formulas; the parameter of a weighted span is looked up in a fine table."""
    out = np.full(len(times), KEYS[-1][1])
    for key, end in itertools.pairwise(KEYS):
        start, value, kind, right, left, own, next_ = key
        here, span = (times >= start) & (times < end[0]), end[0] - start
        u = (times[here] - start) / span
        if kind == STEP:
            out[here] = value
        elif kind == LINEAR:
            out[here] = value + u * (end[1] - value)
        else:
            table = np.linspace(0, 1, 100_001)
            s = np.interp(u, bezier((0, own, 1 - next_, 1), table), table)
            out[here] = bezier((value, value + right * own * span, end[1] - left * next_ * span, end[1]), s)
    return out


def draw(path: Path) -> None:
    from matplotlib.figure import Figure

    model = skinpy.load(file_of_the_curve(), format="fbx")
    times = np.setdiff1d(np.linspace(0, KEYS[-1][0], 4001), [key[0] for key in KEYS])
    exact = author(times)
    lines = np.interp(times, [key[0] for key in KEYS], [key[1] for key in KEYS])
    joint = model.skeleton.index("ball")
    ours = model.globals("roll", times, loop="clamp")[:, joint, 0, 3].astype(np.float64)
    (channel,) = model.clips["roll"].channels
    values = np.asarray(channel.values)[:, 0]

    figure = Figure(figsize=(8, 5.2), dpi=100, layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1])
    upper.plot(times, exact, color="#b9c2cf", linewidth=7, solid_capstyle="round", label="the author's curve")
    upper.plot(
        times, lines, color=LINES, linewidth=1.4, linestyle="--", label="straight lines between its keys"
    )
    upper.plot(times, ours, color=OURS, linewidth=1.4, label="as skinpy plays it")
    upper.plot(channel.times, values, ".", color=OURS, markersize=5, label=f"skinpy's {len(values)} keys")
    upper.plot(*np.transpose([key[:2] for key in KEYS]), "s", color=INK, markersize=7, fillstyle="none",
               label=f"the author's {len(KEYS)} keys")  # fmt: skip
    upper.set_ylabel("X")
    upper.legend(frameon=False, fontsize=9, ncols=2, loc="upper right")
    upper.set_ylim(-0.3, exact.max() + 1.6)
    away = np.abs(times[:, None] - [key[0] for key in KEYS]).min(axis=1) > 1e-3  # from the jump
    for curve, color in ((lines, LINES), (ours, OURS)):
        lower.semilogy(times[away], np.maximum(np.abs(curve - exact)[away], 1e-8), color=color, linewidth=1.2)
    lower.set_ylim(1e-8, 10)
    lower.set_ylabel("distance from\nthe author's")
    lower.set_xlabel("seconds")
    for axes in (upper, lower):
        axes.grid(color="#d5dbe3", linewidth=0.6)
        axes.set_axisbelow(True)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        axes.tick_params(colors=INK, labelsize=9)
    figure.savefig(path)
    by_lines, by_ours = (np.abs(curve - exact)[away].max() for curve in (lines, ours))
    print(f"{path}: lines are off by up to {by_lines:.2f}, skinpy by {by_ours:.1e} with {len(values)} keys")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=FOLDER, help="folder of the pictures")
    folder = parser.parse_args().output
    folder.mkdir(parents=True, exist_ok=True)
    draw(folder / "fbx-curve.png")


if __name__ == "__main__":
    main()
