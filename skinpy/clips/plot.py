"""Clip.plot: the curves of a clip."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .._arguments import brief
from .._plots import INK, new_figure, put_title, tidy
from .._text import quoted, quoted_list
from .._types import Array
from ..clip import Channel, Clip
from ..errors import unknown_name
from .evaluate import same_signs, sample_channel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..posing.kinematics import JointLike

#: Colors of the components x y z w.
_COLORS = ("#b5482f", "#3f8a4d", "#2f5f98", "#6b7785")
#: Samples of a curve over the whole clip, in addition to its keys.
_SAMPLES = 1000
#: Where a curve is sampled between any two keys.
_FRACTIONS = np.linspace(0.0, 1.0, 9)[:-1]
#: Names that an error lists.
_LABELS = {
    "translation": "translation\n(model units)",
    "rotation": "rotation\n(quaternion)",
    "scale": "scale",
    "weights": "weight",
    "visibility": "visibility",
}


def chosen(clip: Clip, joint: "JointLike | None", target: "JointLike | None") -> tuple[str, list[Channel]]:
    """A title, and the channels of the joint or the morph target; Clip.plot documents the errors."""
    if (joint is None) == (target is None):
        came = "both" if joint is not None else "neither"
        raise TypeError(f"expected exactly one of joint and target; {came} came")
    if target is not None:
        number = _index_of("target", target, clip._target_names)
        found = [one for one in clip.channels if one.target == number]
        name, what = clip._target_names[number], "morph target"
    else:
        assert joint is not None
        number = _index_of("joint", joint, clip._joint_names)
        found = [one for one in clip.channels if one.joint == number]
        name, what = clip._joint_names[number], "joint"
    if not found:
        moving = list(
            dict.fromkeys(
                one.name
                for one in clip.channels
                if getattr(one, "joint" if target is None else "target") is not None
            )
        )
        listed = quoted_list(moving) or "nothing"
        raise ValueError(
            f"no channel of clip {quoted(clip.name)} moves {what} {quoted(name)}; the clip moves {listed}; "
            "expected one of these"
        )
    return f"{quoted(clip.name)}: {what} {quoted(name)}", found


def _index_of(argument: str, value: "JointLike", names: Sequence[str]) -> int:
    """The index of a joint or target that is given by name or index; `argument` is "joint" or "target"."""
    if isinstance(value, str):
        if value not in names:
            raise unknown_name(argument, value, names)
        return names.index(value)
    try:
        number = value.__index__()
    except (AttributeError, TypeError):
        raise TypeError(f"{argument} is {brief(value)}; expected a name or an index") from None
    if not 0 <= number < len(names):
        wanted = f"expected 0 to {len(names) - 1}" if names else f"the model has no {argument}s"
        raise IndexError(f"{argument} is {brief(number)}; {wanted}")
    return number


def curve(channel: Channel, duration: float) -> tuple[Array, Array, Array]:
    """Times (N,) from 0 to the duration, the values that are played then (N,C), and the keys (K,C).

    A quaternion and its negative are the same rotation, and linear keys are played along the shorter arc.
    Each linear key has the sign that is nearer to the key before it, so that the curves do not jump.
    """
    if channel.path == "rotation" and channel.interpolation == "linear":
        channel = replace(channel, values=same_signs(channel.values).astype(np.float32))
    line = channel.times
    lines = [np.linspace(0.0, duration, _SAMPLES if duration > 0 else 1), line]
    if channel.interpolation == "step":  # the last time before each step makes its edge vertical
        lines.append(np.nextafter(line, -1.0))
    else:
        lines.append((line[:-1, None] + _FRACTIONS * np.diff(line)[:, None]).ravel())
    times = np.unique(np.concatenate(lines))
    times = times[(times >= 0) & (times <= duration)]
    return times, sample_channel(channel, times), channel.values.astype(np.float64)


def draw(clip: Clip, joint: "JointLike | None", target: "JointLike | None") -> "Figure":
    """A figure with a row of axes for each channel: curves as they are played, and dots for the keys."""
    title, channels = chosen(clip, joint, target)
    figure = new_figure(9.0, 0.9 + 2.1 * len(channels))
    rows = figure.subplots(len(channels), 1, sharex=True, squeeze=False)[:, 0]
    for axes, channel in zip(rows, channels, strict=True):
        _draw_channel(axes, channel, clip.duration)
    rows[-1].set_xlabel("seconds", color=INK)
    put_title(figure, f"{title}, {clip.duration:.3f} s")
    return figure


def _draw_channel(axes: "Axes", channel: Channel, duration: float) -> None:
    """Draw the curves and the keys of a channel."""
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
