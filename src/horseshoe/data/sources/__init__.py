"""Where large data live: files, arrays on disk, clusters."""
