"""Channels and events of clips, and how clips are made from arrays and from other clips."""
