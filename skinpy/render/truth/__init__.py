"""Ground truth: which face each pixel shows, and the layers of numbers that follow from that."""
