"""Playing clips over time: the controller with its tracks, blend spaces, state machines, recordings."""
