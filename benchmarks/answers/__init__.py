"""The answers of many small fits and posterior runs, recorded, so that two versions can be compared."""
