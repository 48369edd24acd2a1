"""The draws, and what they say."""
