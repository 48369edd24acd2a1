"""Files that somebody or something has changed: seeded changes to checkpoints, journals and models."""
