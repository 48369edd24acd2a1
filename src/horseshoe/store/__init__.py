"""Models on disk: plain JSON with a digest, exact to the last bit, read without trust."""
