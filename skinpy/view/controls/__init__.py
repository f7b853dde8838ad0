"""What the keys and clicks of windows and live views do to a stage."""
