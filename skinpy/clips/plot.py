"""The curves of a clip: what Clip.plot draws."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .._plots import INK, new_figure, tidy
from .._types import Array
from ..clip import Channel, Clip
from ..errors import unknown_name
from .evaluate import sample_channel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..posing.kinematics import JointLike

_COLORS = ("#b5482f", "#3f8a4d", "#2f5f98", "#6b7785")  # x y z w
_SAMPLES = 1000  # of a curve, besides its keys
_BETWEEN = np.linspace(0.0, 1.0, 9)[:-1]  # looked at from one key to the next, however near they are
_LISTED = 8  # names in an error
_LABELS = {
    "translation": "translation\n(model units)",
    "rotation": "rotation\n(quaternion)",
    "scale": "scale",
    "weights": "weight",
}


def chosen(clip: Clip, joint: "JointLike | None", target: "JointLike | None") -> tuple[str, list[Channel]]:
    """A title, and the channels of the joint or the morph target; errors as Clip.plot has them."""
    if (joint is None) == (target is None):
        raise TypeError("plot() takes either a joint or a target")
    if target is not None:
        number = _place("target", target, clip._target_names)
        found = [one for one in clip.channels if one.target == number]
        name, what = clip._target_names[number], "morph target"
    else:
        assert joint is not None
        number = _place("joint", joint, clip._joint_names)
        found = [one for one in clip.channels if one.joint == number]
        name, what = clip._joint_names[number], "joint"
    if not found:
        moving = list(
            dict.fromkeys(one.name for one in clip.channels if (one.joint is None) == (joint is None))
        )
        listed = ", ".join(map(repr, moving[:_LISTED])) or "none"
        listed += f" and {len(moving) - _LISTED} more" if len(moving) > _LISTED else ""
        raise ValueError(f"no channel of clip {clip.name!r} moves {what} {name!r}; those it moves: {listed}")
    return f"{clip.name!r}: {what} {name!r}", found


def _place(what: str, which: "JointLike", names: Sequence[str]) -> int:
    if isinstance(which, str):
        if which not in names:
            raise unknown_name(what, which, names)
        return names.index(which)
    try:
        number = which.__index__()
    except (AttributeError, TypeError):
        raise TypeError(f"{what} is {which!r}; expected a name or a number") from None
    if not 0 <= number < len(names):
        wanted = f"expected 0 to {len(names) - 1}" if names else f"the model has no {what}s"
        raise IndexError(f"{what} is {number}; {wanted}")
    return number


def curve(channel: Channel, duration: float) -> tuple[Array, Array, Array]:
    """Times (N,) from 0 to the duration, what is played then (N,C), and the keys (K,C), as curves show them.

    A quaternion and its negative are the same rotation, and linear keys are played along the shorter arc: so
    that the curve goes on without a jump, each such key has the sign in which it is nearer to the one before.
    """
    if channel.path == "rotation" and channel.interpolation == "linear":
        near = np.where((channel.values[1:] * channel.values[:-1]).sum(axis=1) < 0, -1.0, 1.0)
        signs = np.concatenate([[1.0], np.cumprod(near)])[:, None]
        channel = replace(channel, values=(channel.values * signs).astype(np.float32))
    line = channel.times
    parts = [np.linspace(0.0, duration, _SAMPLES if duration > 0 else 1), line]
    if channel.interpolation == "step":  # the last moment before the jump, so that it stands upright
        parts.append(np.nextafter(line, -1.0))
    else:
        parts.append((line[:-1, None] + _BETWEEN * np.diff(line)[:, None]).ravel())
    times = np.unique(np.concatenate(parts))
    times = times[(times >= 0) & (times <= duration)]
    return times, sample_channel(channel, times), channel.values.astype(np.float64)


def draw(clip: Clip, joint: "JointLike | None", target: "JointLike | None") -> "Figure":
    """One row of axes per channel: curves as they are played, dots for the keys."""
    title, channels = chosen(clip, joint, target)
    figure = new_figure(9.0, 0.9 + 2.1 * len(channels))
    rows = figure.subplots(len(channels), 1, sharex=True, squeeze=False)[:, 0]
    for axes, channel in zip(rows, channels, strict=True):
        _draw_channel(axes, channel, clip.duration)
    rows[-1].set_xlabel("seconds", color=INK)
    figure.suptitle(f"{title}, {clip.duration:.3f} s".replace("$", r"\$"), color=INK)
    return figure


def _draw_channel(axes: "Axes", channel: Channel, duration: float) -> None:
    times, values, keys = curve(channel, duration)
    count = len(channel.times)
    size = 5.0 if count <= 60 else 2.5
    for column in range(values.shape[1]):
        color = _COLORS[column]
        label = "xyzw"[column] if values.shape[1] > 1 else "weight"
        axes.plot(times, values[:, column], color=color, linewidth=1.4, label=label)
        axes.plot(channel.times, keys[:, column], "o", color=color, markersize=size)
    noun = "key" if count == 1 else "keys"
    axes.set_title(f"{count} {channel.interpolation} {noun}", loc="right", fontsize=9, color=INK)
    axes.set_ylabel(_LABELS[channel.path], fontsize=9, color=INK)
    axes.legend(
        loc="upper left",
        bbox_to_anchor=(0.0, 1.14),
        fontsize=8,
        frameon=False,
        labelcolor=INK,
        ncols=4,
        borderaxespad=0.0,
    )
    tidy(axes, "both")
