"""What makes the same mode cheaper: pruning, fading, resting, the tail."""
