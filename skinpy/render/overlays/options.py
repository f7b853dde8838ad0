"""The options of overlays, checked, and read from the words of a command line. No OpenGL."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from skinpy._arguments import brief, flag, integer, items_of, positive, text, whole

_MAX_GHOSTS = 16  # on each side
_ON, _OFF = ("on", "yes", "true", "1"), ("off", "no", "false", "0")


@dataclass(frozen=True, kw_only=True)
class Overlays:
    """What is drawn over the surface of a model, or in place of it, to show what moves the model.

    Lines and letters have widths in pixels, whatever the size of model and picture. Two values are equal
    where all their fields are, and a value can be the key of a dict. Whether the model has the joints, and
    something to show for each overlay, is checked when it is drawn.

    Parameters
    ----------
    skeleton : bool, default False
        The joints, and lines to their parents, on top of everything.
    names : bool, default False
        The joints with as many of their names as find room, and the legend of a colored surface. Needs
        Pillow.
    axes : bool, default False
        The axes of each joint: x red, y green, z blue.
    rest : bool, default False
        The rest pose as a ghost behind the model.
    boxes : bool, default False
        The box around the posed model, and a fainter one around the whole clip.
    normals : bool, default False
        A line along the normal of each vertex.
    wireframe : bool, default False
        The edges of the faces in place of the surface, or on top of it together with `weights` or
        `influences`.
    influences : bool, default False
        The surface in a color for how many joints move each vertex.
    weights : str or int, optional
        The surface in the color of the weight of one joint, a name or an index. Vertices that the joint does
        not move are gray.
    onion : int, default 0
        Number of ghosts of the clip before (blue) and after (orange) the time of the picture, at most 16.
    onion_step : float, seconds, default 0.1
        Time in the clip from ghost to ghost.
    trajectories : tuple of str or int, default ()
        Joints, names or indices, whose trajectories through the whole clip are drawn. A single joint needs
        no tuple.

    Raises
    ------
    TypeError
        If a value has the wrong type.
    ValueError
        If a number is out of range, or `influences` and `weights` are both given.

    Examples
    --------
    >>> overlays = skinpy.render.Overlays(skeleton=True, onion=2, trajectories="foot.L")
    >>> bool(overlays), bool(skinpy.render.Overlays())
    (True, False)
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
        object.__setattr__(self, "onion", whole("overlay onion", self.onion, 0, _MAX_GHOSTS))
        positive("overlay onion_step", self.onion_step, "seconds, more than 0")
        if self.influences and self.weights is not None:
            raise ValueError(
                "overlays influences and weights both color the surface; expected one of them, or neither"
            )

    def __bool__(self) -> bool:
        """Return whether anything is drawn at all."""
        return self != Overlays(onion_step=self.onion_step)

    @classmethod
    def parse(cls, words: Iterable[str]) -> Overlays:
        """Return the overlays that words of a command line describe.

        Parameters
        ----------
        words : iterable of str
            "NAME" or "NAME=VALUE" each, where NAME is a field: "skeleton", "weights=Head", "onion=2",
            "trajectories=Foot". "trajectories" may occur several times, for several joints. A joint is given
            by its name or its index.

        Returns
        -------
        Overlays
            The overlays.

        Raises
        ------
        ValueError
            If a name is unknown, or a value does not fit its name.

        Examples
        --------
        >>> skinpy.render.Overlays.parse(["skeleton", "onion=2"]).onion
        2
        """
        values: dict[str, Any] = {}
        for word in items_of("words", words, "a sequence of str"):
            name, equals, value = text("words", word, "a sequence of str").partition("=")
            fields = {field.name: field.type for field in dataclasses.fields(cls)}
            if name not in fields:
                raise ValueError(
                    f"overlay {brief(name)} is unknown; expected one of {', '.join(fields)} in words"
                )
            if fields[name] != "bool" and not value:
                raise ValueError(f"overlay {name} needs a value; expected {name}={_EXAMPLES[name]}")
            if name == "trajectories":
                values[name] = (*values.get(name, ()), value)
            else:
                values[name] = _value(name, fields[name], value if equals else None)
        return cls(**values)


_EXAMPLES = {"weights": "JOINT", "onion": "N", "onion_step": "SECONDS", "trajectories": "JOINT"}


def _value(name: str, kind: Any, words: str | None) -> Any:
    """The value of a field from the words after its equals sign; None is a field without one."""
    if kind == "bool":
        chosen = _ON[0] if words is None else words.lower()
        if chosen not in (*_ON, *_OFF):
            raise ValueError(f"overlay {name} is {brief(words)}; expected {name}, {name}=on or {name}=off")
        return chosen in _ON
    if name == "weights":
        return words
    assert words is not None
    try:
        return int(words) if name == "onion" else float(words)
    except ValueError:
        raise ValueError(f"overlay {name} is {brief(words)}; expected {name}={_EXAMPLES[name]}") from None


def _joint(name: str, value: Any) -> str | int:
    if isinstance(value, str):
        return value
    return integer(f"overlay {name}", value, "the name or number of a joint")


def _joints(value: Any) -> tuple[str | int, ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        return (_joint("trajectories", value),)
    return tuple(_joint("trajectories", one) for one in value)


_NONE = Overlays()


def chosen_names(overlays: Overlays) -> list[str]:
    """The names of the overlays that are set."""
    fields = [field for field in dataclasses.fields(overlays) if field.name != "onion_step"]
    return [field.name for field in fields if getattr(overlays, field.name) != field.default]


def without(overlays: Overlays, names: Iterable[str]) -> Overlays:
    """The overlays with those of some names unset."""
    defaults: dict[str, Any] = {name: getattr(_NONE, name) for name in names}
    return dataclasses.replace(overlays, **defaults)


def check_overlays(overlays: Overlays | None) -> Overlays | None:
    """`overlays`, or None where they draw nothing. TypeError unless they are Overlays or None."""
    if overlays is not None and not isinstance(overlays, Overlays):
        raise TypeError(f"overlays is {type(overlays).__name__}; expected an Overlays, or None")
    return overlays or None
