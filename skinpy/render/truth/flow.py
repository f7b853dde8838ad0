"""Which moment the layer "flow" goes to."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..moment import Moment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from ..camera import Camera
    from ..posing import PoseLike

_FLOW_SECONDS = 1 / 30  # from one frame to the next, unless the caller says otherwise


class Flow(NamedTuple):
    """The flow arguments of `Renderer.render`, without their prefix; None is an argument not given."""

    to: float | None
    pose: PoseLike | None
    root: ArrayLike | None
    camera: Camera | None


def next_moment(names: Sequence[str], now: Moment, flow: Flow) -> Moment | None:
    """The moment that the flow from `now` goes to; None without the layer "flow" among `names`.

    Raises ValueError if the flow arguments do not fit each other, `names` or `now`.
    """
    if "flow" not in names:
        given = [f"flow_{name}" for name, value in flow._asdict().items() if value is not None]
        if given:
            raise ValueError(
                f"{given[0]} is given, but aov does not have 'flow'; add it, or leave out {given[0]}"
            )
        return None
    if now.pose is None:
        if flow.pose is not None:
            raise ValueError("flow_pose is given without pose; expected flow_to for the flow of a clip")
        time = now.time + _FLOW_SECONDS if flow.to is None else flow.to
        return now._replace(time=time, root=now.root if flow.root is None else flow.root)
    if flow.to is not None:
        raise ValueError("flow_to is given together with pose; expected flow_pose for the flow of a pose")
    if flow.root is not None:
        raise ValueError("flow_root is given together with pose; a pose has its own root transform")
    if flow.pose is None and flow.camera is None:
        raise ValueError("aov has 'flow', but a pose has no next one; expected flow_pose or flow_camera")
    return now._replace(pose=now.pose if flow.pose is None else flow.pose)
