"""What the build of the site puts here is no test."""

collect_ignore = ["conf.py", "gallery", "generated"]
