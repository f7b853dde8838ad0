"""What keys and clicks do to the overlays of a stage."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...render import Overlays
from ..stage import Stage

if TYPE_CHECKING:
    from ...model import Model

_GHOSTS = (0, 1, 2, 4)  # on each side of the pose, in the order in which a key goes through them
REACH = 14.0  # points between a click and the joint that it means


def moving_joints(model: Model) -> list[int]:
    """The joints that move vertices, in ascending order: those with a slot to which a vertex gives weight."""
    mesh = model.mesh
    slots = np.unique(mesh.slots[mesh.weights > 0])
    joints: list[int] = np.unique(model.skin.joints[slots]).tolist()
    return joints


class OverlayActions:
    """Changes the overlays of a stage; `say` shows a message to the user."""

    def __init__(self, stage: Stage, say: Callable[[str], None]) -> None:
        self._stage, self._say = stage, say
        self.joint: int | None = None  #: the joint that was clicked, or whose weights were shown last

    def change(self, **values: Any) -> None:
        """Set fields of the overlays, and unset those that cannot be drawn together with them."""
        if values.get("influences"):
            values["weights"] = None  # both color the surface
        elif values.get("weights") is not None:
            values["influences"] = False
        self._stage.overlays = dataclasses.replace(self._stage.overlays or Overlays(), **values)

    def toggle(self, name: str) -> None:
        """Switch an overlay on or off."""
        self.change(**{name: not getattr(self._stage.overlays, name, False)})

    def next_ghosts(self) -> None:
        """Show more ghosts before and after the pose; after the most, none."""
        now = getattr(self._stage.overlays, "onion", 0)
        count = next((count for count in _GHOSTS if count > now), 0)
        self.change(onion=count)
        if count and self._stage.player.controller is None and self._stage.player.clip is None:
            self._say("the rest pose has no ghosts before and after; they are seen when a clip plays")

    def next_weights(self, step: int = 1) -> None:
        """Show the weights of the next joint that moves vertices, or of the previous one for `step` -1.

        After the last joint no weights are shown, and then those of the first again. The joint that was
        clicked comes first. One that moves no vertices is followed by the next that does.
        """
        model = self._stage.model
        joints = moving_joints(model)
        if not joints:
            raise ValueError("this model has no joints that move vertices")
        shown = getattr(self._stage.overlays, "weights", None)
        now = self.joint if shown is None else self._numbered(shown)
        if shown is None and now in joints:
            self.joint = now
        elif step > 0:
            self.joint = next((joint for joint in joints if now is None or joint > now), None)
        else:
            self.joint = next((joint for joint in reversed(joints) if now is None or joint < now), None)
        self.change(weights=self.joint)

    def _numbered(self, joint: str | int) -> int | None:
        """The number of a joint that overlays give by name or number; None if the model does not have it."""
        names = self._stage.model.skeleton.names
        if isinstance(joint, str):
            return names.index(joint) if joint in names else int(joint) if joint.isdecimal() else None
        return joint

    def toggle_trajectory(self) -> None:
        """Show or hide the trajectory of the joint that was clicked or whose weights are shown."""
        if self.joint is None:
            self._say("click on a joint first, or press K to show the weights of one")
            return
        shown = getattr(self._stage.overlays, "trajectories", ())
        others = tuple(joint for joint in shown if joint != self.joint)
        self.change(trajectories=others if len(others) < len(shown) else (*shown, self.joint))

    def pick(self, x: float, y: float, reach: float) -> None:
        """Show the weights of the joint at (x, y), in pixels.

        They are hidden if they are shown already, or no joint is within `reach` pixels.
        """
        joint = self._stage.joint_at(x, y, reach)
        shown = getattr(self._stage.overlays, "weights", None)
        if joint is None and shown is None:
            return
        hide = joint is None or (joint == self.joint and shown is not None)
        self.joint = joint
        self.change(weights=None if hide else joint)
        if joint is not None:
            self._say(f"joint {joint}: {self.joint_name(joint)}")

    def joint_name(self, joint: str | int) -> str:
        """The name of a joint that is given by name or number."""
        names = self._stage.model.skeleton.names
        return names[joint] if isinstance(joint, int) and 0 <= joint < len(names) else str(joint)

    def without_joints(self) -> None:
        """Remove what names joints of a model that is about to be replaced by another."""
        self.joint = None
        if self._stage.overlays is not None:
            self.change(weights=None, trajectories=())
