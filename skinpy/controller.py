"""The controller and what it hands out: tracks, the events that it passed, recordings."""

from .playing.controller import AnimationController
from .playing.recording import Recording
from .playing.tracks import PassedEvent, Track

__all__ = ["AnimationController", "PassedEvent", "Recording", "Track"]
