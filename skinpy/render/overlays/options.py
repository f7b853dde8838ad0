"""What may be drawn over a picture to explain it: `Overlays`, checked and read from words. No OpenGL."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from skinpy._arguments import flag, integer, whole

_MOST_GHOSTS = 16  # on each side
_ON, _OFF = ("on", "yes", "true", "1"), ("off", "no", "false", "0")


@dataclass(frozen=True, kw_only=True)
class Overlays:
    """What is drawn over, or in place of, the surface of a model, to show what moves it.

    - `skeleton`: the joints and the links to their parents, on top of everything; `names`: the joints with
      their names, as many as find room, and the legend of a colored surface (needs Pillow); `axes`: x red, y
      green and z blue of each joint.
    - `rest`: the rest pose as a ghost behind the model.
    - `boxes`: the box around the model as it is posed, and a fainter one around the whole clip.
    - `normals`: a line along the normal of each vertex. `wireframe`: the edges of the faces in place of the
      surface; together with `weights` or `influences`, on top of it.
    - `influences`: the surface in a color for how many joints move each vertex, from 1 to as many as a
      vertex can have. `weights`: the surface in the color of one joint's weight, the joint given by name or
      number; vertices that it does not move are gray. One of the two, or neither.
    - `onion`: so many ghosts of the clip before (blue) and after (orange) the time of the picture,
      `onion_step` seconds of the clip apart.
    - `trajectories`: the ways of these joints, names or numbers, through the whole clip; one name or number
      may stand without a tuple.

    Lines and letters have widths in pixels, whatever the size of model and picture. Values are equal where
    all fields are, and can be keys of a dict. Raises TypeError or ValueError for wrong values; that a joint
    is not there, or that a model has nothing to show for an overlay, is said when it is drawn.
    """

    skeleton: bool = False
    names: bool = False
    axes: bool = False
    rest: bool = False
    boxes: bool = False
    normals: bool = False
    wireframe: bool = False
    influences: bool = False
    weights: str | int | None = None
    onion: int = 0
    onion_step: float = 0.1
    trajectories: tuple[str | int, ...] = ()

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            if field.type == "bool":
                chosen = flag(f"overlay {field.name}", getattr(self, field.name))
                object.__setattr__(self, field.name, chosen)
        if self.weights is not None:
            object.__setattr__(self, "weights", _joint("weights", self.weights))
        object.__setattr__(self, "trajectories", _joints(self.trajectories))
        object.__setattr__(self, "onion", whole("overlay onion", self.onion, 0, _MOST_GHOSTS))
        if not isinstance(self.onion_step, (int, float)) or not 0 < self.onion_step < math.inf:
            raise ValueError(f"overlay onion_step is {self.onion_step!r}; expected seconds, more than 0")
        if self.influences and self.weights is not None:
            raise ValueError(
                "overlays influences and weights both color the surface; expected one of them, or neither"
            )

    def __bool__(self) -> bool:
        """Whether anything is drawn at all."""
        return self != Overlays(onion_step=self.onion_step)

    @classmethod
    def parse(cls, words: Iterable[str]) -> Overlays:
        """Overlays from words as the command line takes them, "NAME" or "NAME=VALUE" each.

        NAME is a field: "skeleton", "weights=Head", "onion=2", "trajectories=Foot"; "trajectories" may come
        several times, for several joints. A joint's number stands for it. Raises ValueError for an unknown
        name, and for a value that is not right for it.
        """
        values: dict[str, Any] = {}
        for word in words:
            name, equals, value = word.partition("=")
            fields = {field.name: field.type for field in dataclasses.fields(cls)}
            if name not in fields:
                raise ValueError(f"overlay {name!r} is unknown; expected one of {', '.join(fields)}")
            if fields[name] != "bool" and not value:
                raise ValueError(f"overlay {name} needs a value; expected {name}={_EXAMPLES[name]}")
            if name == "trajectories":
                values[name] = (*values.get(name, ()), value)
            else:
                values[name] = _value(name, fields[name], value if equals else None)
        return cls(**values)


_EXAMPLES = {"weights": "JOINT", "onion": "N", "onion_step": "SECONDS", "trajectories": "JOINT"}


def _value(name: str, kind: Any, words: str | None) -> Any:
    """The value of a field, from what stands after its equals sign; None where there is none."""
    if kind == "bool":
        chosen = _ON[0] if words is None else words.lower()
        if chosen not in (*_ON, *_OFF):
            raise ValueError(f"overlay {name} is {words!r}; expected {name}, {name}=on or {name}=off")
        return chosen in _ON
    if name == "weights":
        return words
    assert words is not None
    try:
        return int(words) if name == "onion" else float(words)
    except ValueError:
        raise ValueError(f"overlay {name} is {words!r}; expected {name}={_EXAMPLES[name]}") from None


def _joint(name: str, value: Any) -> str | int:
    if isinstance(value, str):
        return value
    return integer(f"overlay {name}", value, "the name or number of a joint")


def _joints(value: Any) -> tuple[str | int, ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        return (_joint("trajectories", value),)
    return tuple(_joint("trajectories", one) for one in value)


def check_overlays(overlays: Overlays | None) -> Overlays | None:
    """`overlays`, or None where they draw nothing. TypeError unless they are Overlays or None."""
    if overlays is not None and not isinstance(overlays, Overlays):
        raise TypeError(f"overlays is {type(overlays).__name__}; expected an Overlays, or None")
    return overlays or None
